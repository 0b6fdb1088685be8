"""The link table: what links where, with the words around each link."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memory_bank.manifest.database import DONE, PENDING, SEPARATOR
from memory_bank.sqlite import Connection, chunked

_COLUMNS = (
    "source.id, source.path, links.line, links.kind, links.type, links.target, links.heading,"
    " links.block, links.text, links.before, links.after, links.ghost, links.ambiguous, goal.id,"
    " goal.path"
)
_FROM = (
    "FROM links JOIN notes AS source ON source.id = links.note"
    " LEFT JOIN notes AS goal ON goal.id = links.dest"
)
_LIVE = f"source.state IN ({DONE}, {PENDING})"


class LinkRow(NamedTuple):
    """One link: where it stands, what it says, and the note or ghost it leads to."""

    source: int
    source_path: str
    line: int
    kind: str
    type: str
    target: str
    heading: str
    block: str
    text: str
    before: str
    after: str
    ghost: str
    """What the target is called when no note answers to it; empty when one does."""
    ambiguous: bool
    dest: int | None
    dest_path: str


_FIELDS = LinkRow._fields


def outgoing(base: Connection, note: int) -> list[LinkRow]:
    """Return the links of a note in their order."""
    return _rows(base, "links.note = ? ORDER BY links.line, links.id", [note])


def incoming(base: Connection, note: int) -> list[LinkRow]:
    """Return the links of other notes that lead to a note."""
    where = f"links.dest = ?1 AND links.note <> ?1 AND {_LIVE} ORDER BY source.path, links.line"
    return _rows(base, where, [note])


def to_ghost(base: Connection, ghost: str) -> list[LinkRow]:
    """Return the links that lead to a ghost; upper and lower case are the same."""
    where = f"links.dest IS NULL AND lower(links.ghost) = lower(?) AND {_LIVE}"
    return _rows(base, f"{where} ORDER BY source.path, links.line", [ghost])


def all_links(base: Connection) -> list[LinkRow]:
    """Return every link of every note."""
    return _rows(base, f"{_LIVE} ORDER BY source.path, links.line, links.id", [])


def edges(base: Connection) -> list[tuple[str, str, str]]:
    """Return every edge of the graph: source path, target path or `ghost:` and its name, type."""
    sql = (
        "SELECT DISTINCT source.path, coalesce(goal.path, 'ghost:' || links.ghost), links.type"
        f" {_FROM} WHERE {_LIVE} AND NOT links.ambiguous AND links.dest IS NOT links.note"
    )
    return base.execute(sql).fetchall()


def anchors(
    base: Connection, notes: Sequence[int]
) -> tuple[set[tuple[int, str]], set[tuple[int, str]]]:
    """Return the headings and the block ids of some notes, both case folded."""
    sql = "SELECT note, headings FROM sections WHERE note IN ({})"
    headings = {
        (note, path.split(SEPARATOR)[-1].casefold()) for note, path in chunked(base, sql, notes)
    }
    sql = "SELECT note, block FROM blocks WHERE note IN ({})"
    return headings, {(note, block) for note, block in chunked(base, sql, notes)}


def _rows(base: Connection, where: str, values: Sequence[Any]) -> list[LinkRow]:
    found = base.execute(f"SELECT {_COLUMNS} {_FROM} WHERE {where}", values)
    return [_row(row) for row in found]


def _row(row: tuple[Any, ...]) -> LinkRow:
    found = dict(zip(_FIELDS, row, strict=True))
    found["ghost"] = "" if found["dest"] else found["ghost"]
    found["ambiguous"] = bool(found["ambiguous"])
    found["dest_path"] = found["dest_path"] or ""
    return LinkRow(**found)
