"""What hangs together with a note or ghost, and the links that say why."""

from typing import NamedTuple

from memory_bank.bank import Bank
from memory_bank.errors import NoteNotFound
from memory_bank.manifest import linktable, lookup
from memory_bank.manifest.linktable import LinkRow
from memory_bank.wiring import Index

GHOST = "ghost:"


class LinkShown(NamedTuple):
    """One link with the words around it."""

    source: str
    line: int
    target: str
    """Path of a note, or `ghost:` and a name."""
    type: str
    kind: str
    context: str
    """About 100 characters on each side of the link."""
    problem: str | None = None


def node_of(bank: Bank, name: str) -> str:
    """Return the path of the note that a name means, or `ghost:` and the name of a ghost.

    Raises NoteNotFound when it is neither.
    """
    if not name.startswith(GHOST):
        try:
            return bank.find(name)
        except NoteNotFound:
            if not bank.healing(lambda index: linktable.to_ghost(index.base, name)):
                raise
    else:
        bank.catch_up()
    ghost = name.removeprefix(GHOST)
    rows = bank.healing(lambda index: linktable.to_ghost(index.base, ghost))
    if not rows:
        raise NoteNotFound(f"nothing links to {name!r}", "see `memory-bank links --ghosts`")
    return GHOST + rows[0].ghost


def joined(index: Index, node: str) -> dict[int, tuple[LinkShown, ...]]:
    """Map each note that hangs together with a note or ghost to the links that say why.

    These are the links into it, and for a note also those out of it to other notes, and those of
    others to the ghosts that it speaks of too.
    """
    if node.startswith(GHOST):
        note, out = None, []
        into = linktable.to_ghost(index.base, node.removeprefix(GHOST))
    else:
        note = lookup.note_at(index.base, node)
        number = note.number if note else -1
        out, into = linktable.outgoing(index.base, number), linktable.incoming(index.base, number)
        for ghost in dict.fromkeys(row.ghost for row in out if row.ghost and not row.ambiguous):
            into += linktable.to_ghost(index.base, ghost)
    pairs = [(row.source, row) for row in into] + [(row.dest, row) for row in out if row.dest]
    found: dict[int, list[LinkShown]] = {}
    for number, row in pairs:
        if note is None or number != note.number:
            found.setdefault(number, []).append(shown(row))
    return {number: tuple(dict.fromkeys(links)) for number, links in found.items()}


def shown(row: LinkRow, problem: str = "") -> LinkShown:
    """Return a link of the table as it is shown, with what is wrong with it."""
    text = row.text or row.target or row.heading
    return LinkShown(
        source=row.source_path,
        line=row.line,
        target=row.dest_path or GHOST + row.ghost,
        type=row.type,
        kind=row.kind,
        context=" ".join(part for part in (row.before, f"[{text}]", row.after) if part),
        problem=problem or None,
    )
