"""Lead links to notes: which note each link means, kept right as notes come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memory_bank.errors import BadName
from memory_bank.manifest.database import GONE
from memory_bank.manifest.targets import ALIAS, PATH
from memory_bank.notes.names import key, name_of, path_of
from memory_bank.notes.scan import is_text
from memory_bank.sqlite import Connection, chunked


def names_held(base: Connection, notes: Iterable[int]) -> set[str]:
    """Return the keys that these notes answer to."""
    rows = chunked(base, "SELECT DISTINCT key FROM names WHERE note IN ({})", list(notes))
    return {name for (name,) in rows}


def numbers(base: Connection, paths: Iterable[str]) -> list[int]:
    """Return the numbers of the notes at some paths, those that have one."""
    return [n for (n,) in chunked(base, "SELECT id FROM notes WHERE path IN ({})", list(paths))]


def relink(base: Connection, notes: Iterable[int], names: Iterable[str]) -> None:
    """Resolve the links of these notes, and all links that use one of these keys, anew."""
    links: dict[int, tuple[str, str]] = {}
    wanted = "SELECT id, key, second_key FROM links WHERE {column} IN ({{}})"
    for column, values in (
        ("note", list(notes)),
        ("key", list(names)),
        # the first condition is that of an index, which SQLite uses for the same words only
        ("second_key <> '' AND second_key", list(names)),
    ):
        for number, first, second in chunked(base, wanted.format(column=column), values):
            links[number] = (first, second)
    meaning = _meaning(base, {name for pair in links.values() for name in pair if name})
    base.executemany(
        "UPDATE links SET dest = ?, ambiguous = ? WHERE id = ?",
        ((*_lead(meaning, first, second), number) for number, (first, second) in links.items()),
    )


def candidates(base: Connection, name: str) -> list[str]:
    """Return the paths of the notes that a name means: one, or several when it is ambiguous."""
    if not is_text(name):
        return []
    try:
        exact = path_of(name)
    except BadName:
        exact = ""
    live = f"state <> {GONE}"
    for path in (name, exact):  # as it stands first: names of old files may be odd
        if base.execute(f"SELECT 1 FROM notes WHERE path = ? AND {live}", (path,)).fetchone():
            return [path]
    rows = base.execute(
        f"SELECT DISTINCT path FROM names JOIN notes ON id = note WHERE key = ?1 AND {live}"
        " AND rank = (SELECT min(rank) FROM names WHERE key = ?1) ORDER BY path",
        (key(name),),
    )
    return [path for (path,) in rows]


def similar(base: Connection, name: str, most: int = 3) -> list[str]:
    """Return the names of notes that look like a name that none has."""
    from difflib import get_close_matches

    rows = base.execute(
        f"SELECT key, path FROM names JOIN notes ON notes.id = note WHERE rank <= {ALIAS}"
    )
    paths = {word: name_of(path) for word, path in rows}
    near = get_close_matches(key(name), list(paths), n=most, cutoff=0.6)
    return list(dict.fromkeys(paths[word] for word in near))


def _meaning(base: Connection, names: set[str]) -> Callable[[str], list[int]]:
    """Look up what names mean: notes of the best rank, several when ambiguous."""
    best: dict[str, tuple[int, list[int]]] = {}
    rows = chunked(base, "SELECT key, rank, note FROM names WHERE key IN ({})", sorted(names))
    for name, rank, note in rows:
        found = best.get(name)
        if found is None or rank < found[0]:
            best[name] = (rank, [note])
        elif rank == found[0]:
            found[1].append(note)
    return lambda name: best.get(name, (PATH, []))[1]


def _lead(meaning: Callable[[str], list[int]], first: str, second: str) -> tuple[int | None, int]:
    for name in (first, second):
        notes = meaning(name) if name else []
        if len(notes) == 1:
            return notes[0], 0
        if notes:
            return None, 1
    return None, 0
