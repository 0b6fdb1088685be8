"""Read the link table: source, target and context of each link."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from memory_bank.manifest.link_resolution import candidates
from memory_bank.manifest.manifest import DONE, PENDING, SEPARATOR, Manifest

_COLUMNS = (
    "source.id, source.key, links.line, links.kind, links.type, links.target, links.heading,"
    " links.anchor, links.text, links.before, links.after, links.ghost, links.ambiguous, goal.id,"
    " goal.key, links.name, links.second_name"
)
_FROM = (
    "FROM links JOIN documents AS source ON source.id = links.document"
    " LEFT JOIN documents AS goal ON goal.id = links.dest"
)
_MAX_LISTED = 5
"""Maximum number of notes that the problem of an ambiguous link lists."""
_MAX_SORTED = 20
"""Number of notes that may be meant by a link up to which the nearest comes first: a hostile change
has thousands of notes of one name, and as many links to it."""
_LIVE = f"source.state IN ({DONE}, {PENDING})"


class LinkRow(NamedTuple):
    """A link with its position, its text, and the document or ghost that it leads to."""

    source: int
    source_key: str
    line: int
    kind: str
    type: str
    target: str
    heading: str
    anchor: str
    text: str
    before: str
    after: str
    ghost: str
    """Name of the target if no document has it, else empty."""
    ambiguous: bool
    dest: int | None
    dest_key: str
    names: tuple[int, int]
    """Hashes of the names that it may mean, in order."""

    @property
    def inside(self) -> bool:
        """Whether it leads to a heading or block."""
        return bool(self.heading or self.anchor)


def outgoing(manifest: Manifest, document: int) -> list[LinkRow]:
    """Return the links of a document in their order."""
    return _rows(manifest, "links.document = ? ORDER BY links.line, links.id", [document])


def incoming(manifest: Manifest, document: int) -> list[LinkRow]:
    """Return the links of other documents that lead to a document."""
    where = f"links.dest = ?1 AND links.document <> ?1 AND {_LIVE} ORDER BY source.key, links.line"
    return _rows(manifest, where, [document])


def to_ghost(manifest: Manifest, ghost: str) -> list[LinkRow]:
    """Return the links that lead to a ghost; case is ignored."""
    where = f"links.dest IS NULL AND lower(links.ghost) = lower(?) AND {_LIVE}"
    return _rows(manifest, f"{where} ORDER BY source.key, links.line", [ghost])


def to_code(manifest: Manifest, file: str, start: str) -> list[LinkRow]:
    """Return the links to the ghost of a file, case ignored, and to ghosts that start so."""
    where = (
        "links.dest IS NULL AND (lower(links.ghost) = lower(?1)"
        f" OR substr(links.ghost, 1, length(?2)) = ?2) AND {_LIVE}"
    )
    return _rows(manifest, f"{where} ORDER BY source.key, links.line", [file, start])


def to_ghosts(manifest: Manifest, documents: Sequence[int] | None = None) -> list[LinkRow]:
    """Return the links to ghosts of some documents, by default of all that are not hidden."""
    where = f"links.dest IS NULL AND NOT links.ambiguous AND links.ghost <> '' AND {_LIVE}"
    if documents is None:
        return _rows(manifest, f"{where} AND NOT source.hidden ORDER BY source.key, links.id", [])
    chosen = f"links.document IN ({','.join('?' * len(documents))})"
    return _rows(manifest, f"{where} AND {chosen} ORDER BY source.key, links.id", documents)


def all_links(manifest: Manifest) -> list[LinkRow]:
    """Return every link of every document."""
    return _rows(manifest, f"{_LIVE} ORDER BY source.key, links.line, links.id", [])


def links_of(manifest: Manifest, keys: Iterable[str]) -> list[LinkRow]:
    """Return the links of the documents with some keys."""
    sql = (
        f"SELECT {_COLUMNS} {_FROM} WHERE {_LIVE} AND source.key IN ({{}})"
        " ORDER BY source.key, links.line, links.id"
    )
    return [_row(row) for row in manifest.chunked(sql, sorted(keys))]


class Goal(NamedTuple):
    """Where a link leads, without its text."""

    dest_key: str
    """Empty if no document has its name."""
    ghost: str
    """Name of the target if no document has it, else empty."""
    ambiguous: bool
    kind: str
    inside: bool
    """Whether it leads to a heading or block."""


def goals(manifest: Manifest) -> dict[str, list[Goal]]:
    """Return where the links of each document lead, in their order; faster than all links."""
    sql = (
        "SELECT source.key, coalesce(goal.key, ''), iif(goal.id, '', links.ghost), links.ambiguous,"
        f" links.kind, links.heading <> '' OR links.anchor <> '' {_FROM} WHERE {_LIVE}"
        " ORDER BY source.key, links.line, links.id"
    )
    found: dict[str, list[Goal]] = {}
    for source, dest, ghost, ambiguous, kind, inside in manifest.execute(sql):
        goal = Goal(dest, ghost, bool(ambiguous), kind, bool(inside))
        found.setdefault(source, []).append(goal)
    return found


def edges(manifest: Manifest) -> list[tuple[str, str, str]]:
    """Return every edge of the graph: source key, target key or `ghost:NAME`, type."""
    sql = (
        "SELECT DISTINCT source.key, coalesce(goal.key, 'ghost:' || links.ghost), links.type"
        f" {_FROM} WHERE {_LIVE} AND NOT links.ambiguous AND links.dest IS NOT links.document"
    )
    return manifest.execute(sql).fetchall()


def anchors(
    manifest: Manifest, documents: Sequence[int]
) -> tuple[set[tuple[int, str]], set[tuple[int, str]]]:
    """Return the headings and the anchors of some documents, both case folded."""
    sql = "SELECT document, headings FROM sections WHERE document IN ({})"
    headings = {
        (document, path.split(SEPARATOR)[-1].casefold())
        for document, path in manifest.chunked(sql, documents)
    }
    sql = "SELECT document, anchor FROM anchors WHERE document IN ({})"
    return headings, {(document, anchor) for document, anchor in manifest.chunked(sql, documents)}


def problems(manifest: Manifest, rows: Sequence[LinkRow]) -> list[str]:
    """Return for each link what is wrong with it, empty when nothing is.

    Wrong is a target that several notes answer to, which are listed, the nearest first unless they
    are very many, and a heading or block that its note lacks. A ghost is not wrong: it may be a
    file, a person, a note to be written.
    """
    goals = sorted(
        {row.dest for row in rows if row.dest is not None and (row.heading or row.anchor)}
    )
    headings, blocks = anchors(manifest, goals) if goals else (set(), set())
    slugs = {(number, slug(text)) for number, text in headings}  # Markdown links name them so
    many = candidates(manifest, [row.names for row in rows if row.ambiguous])
    meant = {names: sorted(keys) for names, keys in many.items()}
    found = []
    for row in rows:
        last = row.heading.split("#")[-1].strip().casefold()
        if row.ambiguous:
            near = meant[row.names]
            if len(near) <= _MAX_SORTED:
                near = nearest_first(row.source_key, near)
            found.append(f"several notes answer to {row.target!r}: {listed(near)}")
        elif (
            row.dest is not None and row.anchor and (row.dest, row.anchor.casefold()) not in blocks
        ):
            found.append(f"{row.dest_key} has no block ^{row.anchor}")
        elif (
            row.dest is not None
            and last
            and (row.dest, last) not in headings
            and (row.dest, slug(last)) not in slugs
        ):
            found.append(f"{row.dest_key} has no heading {row.heading!r}")
        else:
            found.append("")
    return found


def nearest_first(source: str, keys: Iterable[str]) -> list[str]:
    """Sort keys by the number of steps from folder to folder between them and a source."""
    home = source.split("/")[:-1]

    def steps(key: str) -> tuple[int, str]:
        folders = key.split("/")[:-1]
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(home, folders, strict=False))
        shared = sum(1 for _ in pairs)
        return len(home) + len(folders) - 2 * shared, key

    return sorted(keys, key=steps)


def listed(keys: Sequence[str]) -> str:
    """Return the first keys of several, and how many more there are."""
    more = f" and {len(keys) - _MAX_LISTED:,} more" if len(keys) > _MAX_LISTED else ""
    return ", ".join(keys[:_MAX_LISTED]) + more


def slug(heading: str) -> str:
    """Return a heading's slug, by which Markdown links name it; letters keep their case."""
    kept = "".join(char for char in heading if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")


def _rows(manifest: Manifest, where: str, values: Sequence[Any]) -> list[LinkRow]:
    found = manifest.execute(f"SELECT {_COLUMNS} {_FROM} WHERE {where}", values)
    return [_row(row) for row in found]


def _row(row: tuple[Any, ...]) -> LinkRow:
    *fields, ghost, ambiguous, dest, dest_key, first, second = row
    shown = "" if dest else ghost
    rest = (shown, bool(ambiguous), dest, dest_key or "", (first, second))
    return LinkRow._make((*fields, *rest))
