"""Resolve relevance judgements to notes and sections, and match answers against them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import RecalledNote
from memory_bank.base.errors import (
    BadInput,
    Conflict,
    MemoryBankError,
    NoteNotFound,
    UnreadableNote,
)
from memory_bank.notes.note import section_of
from memory_bank.search.measures import Qrels

_LINE = re.compile(r"(.+):([1-9]\d*)", re.DOTALL)

_MOST_NAMED = 5

Lines = tuple[int, int]
"""First and last line of a section, 1-based and inclusive."""


@dataclass(slots=True)
class Targets:
    """The relevant notes of a query, each with its best grade."""

    qrels: Qrels
    grades: dict[str, float] = field(default_factory=dict)
    """By path."""
    sections: dict[str, list[Lines]] = field(default_factory=dict)
    """For notes judged by section, the sections of which one must be shown."""

    def shows(self, note: RecalledNote) -> bool:
        """Tell whether a result shows a relevant section of its note."""
        if note.path not in self.sections:
            return True
        shown = (note.line, *(other.line for other in note.also))
        spans = self.sections[note.path]
        return any(first <= line <= last for line in shown for first, last in spans)

    def names(self, notes: Iterable[RecalledNote]) -> list[str]:
        """Return the paths of results; with a line added if another section is relevant."""
        return [note.path if self.shows(note) else f"{note.path}:{note.line}" for note in notes]


def resolve(bank: Bank, qrels: Sequence[Qrels]) -> list[Targets]:
    """Resolve judgements to notes and sections; raise BadInput listing those that are missing.

    The index must be up to date.
    """
    found, lost = _resolved(bank, qrels)
    if lost:
        raise _lost(lost)
    return found


def resolve_known(bank: Bank, qrels: Sequence[Qrels]) -> list[Targets]:
    """Resolve judgements as `resolve`, without those that are missing."""
    return _resolved(bank, qrels)[0]


def _resolved(
    bank: Bank, qrels: Sequence[Qrels]
) -> tuple[list[Targets], list[tuple[str, MemoryBankError]]]:
    found = [Targets(one) for one in qrels]
    known: dict[str, tuple[str, Lines | None]] = {}
    lost: list[tuple[str, MemoryBankError]] = []
    for targets in found:
        for name, grade in targets.qrels.find.items():
            try:
                if name not in known:
                    known[name] = _place(bank, name)
            except (NoteNotFound, Conflict, UnreadableNote) as error:
                lost.append((targets.qrels.place_of(name), error))
                continue
            _add(targets, *known[name], grade)
    return found, lost


def _add(targets: Targets, path: str, lines: Lines | None, grade: float) -> None:
    known = path in targets.grades
    targets.grades[path] = max(grade, targets.grades.get(path, 0.0))
    if lines is None:
        targets.sections.pop(path, None)  # any section of the note is relevant
    elif not known or path in targets.sections:
        targets.sections.setdefault(path, []).append(lines)


def _place(bank: Bank, name: str) -> tuple[str, Lines | None]:
    """Resolve a name to a note, and to the lines of a section if it names one."""
    whole = _candidates(bank, name)
    if len(whole) == 1:
        return whole[0], None
    note, mark, heading = name.partition("#")
    if mark and not whole:
        path = bank.find(note)
        return path, _under(bank, path, heading)
    numbered = _LINE.fullmatch(name)
    if numbered and not whole:
        path = bank.find(numbered[1])
        return path, _around(bank, path, int(numbered[2]))
    return bank.find(name), None


def _candidates(bank: Bank, name: str) -> list[str]:
    return bank.read(lambda view: open_index.candidates(view.manifest, name))


def _under(bank: Bank, path: str, heading: str) -> Lines:
    """Return the lines of a heading's section, including its subsections."""
    sections = bank.store.read(path).body.sections
    try:
        top = section_of(sections, heading)
    except MemoryBankError as error:
        raise error.at(path) from error
    depth = len(top.headings)
    below = takewhile(
        lambda section: section.headings[:depth] == top.headings, sections[sections.index(top) :]
    )
    return top.line, max(section.end_line for section in below) - 1


def _around(bank: Bank, path: str, line: int) -> Lines:
    """Return the lines of the section that contains a line."""
    for section in bank.store.read(path).body.sections:
        if section.line <= line < section.end_line:
            return section.line, section.end_line - 1
    raise NoteNotFound(f"{path} has no section on line {line}", "name its heading: note#heading")


def _lost(lost: Sequence[tuple[str, MemoryBankError]]) -> BadInput:
    (place, error), *others = lost
    where = f"{place}: " if place else ""
    more = ", ".join(dict.fromkeys(place for place, _ in others[:_MOST_NAMED] if place))
    rest = f"; {len(others)} more" + (f", at {more}" if more else "") if others else ""
    return BadInput.after(error, f"{where}{error.message}{rest}")
