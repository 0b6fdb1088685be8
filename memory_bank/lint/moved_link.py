"""Links to the former names of notes that git moved."""

import posixpath
from collections.abc import Iterator

from memory_bank.errors import BadInput
from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.lint.base import Context, Edit, Place
from memory_bank.lint.broken_link import links
from memory_bank.manifest.link_table import LinkRow
from memory_bank.notes import relink
from memory_bank.notes.link_targets import path_names
from memory_bank.notes.names import key, name_of

SUMMARY = "a link leads to a note's former name; git moved the note"
SEVERITY = "warning"
FIXES = True
_REFERENCE = "reference"


def check(bank: Context) -> Iterator[Place]:
    """Yield the links to ghosts that were the name of a note before git moved it."""
    for row, old, new in bank.once(_moved):
        what = f"leads to {old}, which git moved to {new}"
        target = written_target(bank, row, new)
        place = Place(row.source_key, row.line, what, target)
        yield place._replace(words=row.target, edits=_edits(bank, row, target))


def former_names(bank: Context) -> Iterator[LinkRow]:
    """Yield the links to the former names of notes."""
    for row, _, _ in bank.once(_moved):
        yield row


def _moved(bank: Context) -> Iterator[tuple[LinkRow, str, str]]:
    """Yield the links to former names, each with the former path and the new one."""
    prefix = bank.layout.prefix
    ghosts = [
        (row, key(name_of(row.ghost.removeprefix(prefix))))
        for row in bank.once(links)
        if row.ghost and not row.ambiguous and row.kind != _REFERENCE
    ]
    if not ghosts:
        return
    former = _former(bank, {name for _, name in ghosts})
    moved = bank.moved_notes(set(former.values()))
    for row, name in ghosts:
        old = former.get(name, "")
        if new := moved.get(old):
            yield row, old, new


def _edits(bank: Context, row: LinkRow, target: str) -> tuple[Edit, ...] | None:
    """Return the changes that give a link its new target; None if it can't have that."""
    note = bank.note(row.source_key)
    if note is None:
        return None
    same = row.line, row.target
    try:
        found = relink.edits(
            note.text,
            lambda link: target if (link.line, link.target) == same else None,
            note.body_start,
        )
    except BadInput:
        return None
    return tuple(Edit(at, note.text[at:end], new) for (at, end), new in found.items()) or None


def _former(bank: Context, wanted: set[str]) -> dict[str, str]:
    """Map names to the former paths of the notes that had them, if only one had."""
    there = set(bank.files)
    found: dict[str, dict[int, set[str]]] = {}
    for path in bank.committed():
        if path.endswith(NOTE_SUFFIXES) and path not in there:
            for name, rank in path_names(path, ()):
                if name in wanted:
                    found.setdefault(name, {}).setdefault(rank, set()).add(path)
    best = {name: paths[min(paths)] for name, paths in found.items()}
    return {name: next(iter(paths)) for name, paths in best.items() if len(paths) == 1}


def written_target(bank: Context, row: LinkRow, new: str) -> str:
    """Return a link's new target."""
    if row.kind == "markdown":
        here = posixpath.dirname(bank.roots.place(row.source_key))
        return posixpath.relpath(bank.roots.place(new), here or ".")
    return name_of(new)
