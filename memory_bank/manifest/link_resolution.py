"""Lead links to notes: which note each link means, kept right as notes come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memory_bank.errors import BadName
from memory_bank.manifest.database import DONE, GONE, PENDING
from memory_bank.manifest.link_targets import NO_NAME, PATH, known_as, spoken
from memory_bank.manifest.lookup import rest_of
from memory_bank.notes.names import key, name_of, path_of
from memory_bank.notes.scan import is_text
from memory_bank.sqlite import Connection, chunked


def names_held(base: Connection, notes: Iterable[int]) -> set[int]:
    """Return the names that these notes answer to."""
    rows = chunked(base, "SELECT DISTINCT name FROM names WHERE note IN ({})", list(notes))
    return {name for (name,) in rows}


def numbers(base: Connection, paths: Iterable[str]) -> list[int]:
    """Return the numbers of the notes at some paths, those that have one."""
    return [n for (n,) in chunked(base, "SELECT id FROM notes WHERE path IN ({})", list(paths))]


def relink(base: Connection, notes: Iterable[int], names: Iterable[int]) -> None:
    """Resolve the links of these notes, and all links that use one of these names, anew."""
    links: dict[int, tuple[int, int]] = {}
    wanted = "SELECT id, name, second_name FROM links WHERE {column} IN ({{}})"
    for column, values in (
        ("note", list(notes)),
        ("name", list(names)),
        # the first condition is that of an index, which SQLite uses for the same words only
        (f"second_name <> {NO_NAME} AND second_name", list(names)),
    ):
        for number, first, second in chunked(base, wanted.format(column=column), values):
            links[number] = (first, second)
    meaning = _meaning(base, {name for pair in links.values() for name in pair})
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
        f"SELECT DISTINCT path FROM names JOIN notes ON id = note WHERE name = ?1 AND {live}"
        " AND rank = (SELECT min(rank) FROM names WHERE name = ?1) ORDER BY path",
        (known_as(name),),
    )
    return [path for (path,) in rows]


def similar(base: Connection, name: str, most: int = 3) -> list[str]:
    """Return the names of notes that look like a name that none has."""
    from difflib import get_close_matches

    rows = base.execute(f"SELECT path, meta FROM notes WHERE state IN ({DONE}, {PENDING})")
    paths = {
        word: name_of(path)
        for path, meta in rows
        for word, _ in spoken(path, rest_of(path, meta).get("aliases", ()))
    }
    near = get_close_matches(key(name), list(paths), n=most, cutoff=0.6)
    return list(dict.fromkeys(paths[word] for word in near))


def _meaning(base: Connection, names: set[int]) -> Callable[[int], list[int]]:
    """Look up what names mean: notes of the best rank, several when ambiguous."""
    best: dict[int, tuple[int, list[int]]] = {}
    rows = chunked(base, "SELECT name, rank, note FROM names WHERE name IN ({})", sorted(names))
    for name, rank, note in rows:
        found = best.get(name)
        if found is None or rank < found[0]:
            best[name] = (rank, [note])
        elif rank == found[0]:
            found[1].append(note)
    return lambda name: best.get(name, (PATH, []))[1]


def _lead(meaning: Callable[[int], list[int]], first: int, second: int) -> tuple[int | None, int]:
    for name in (first, second):
        notes = meaning(name)
        if len(notes) == 1:
            return notes[0], 0
        if notes:
            return None, 1
    return None, 0
