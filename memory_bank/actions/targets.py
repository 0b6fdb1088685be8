"""Find the notes and lines that relevance judgements name; tell whether an answer shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from memory_bank import note_rows
from memory_bank.actions.edit import section_of
from memory_bank.actions.qrels import Qrels
from memory_bank.actions.recall import RecalledNote
from memory_bank.bank import Bank
from memory_bank.errors import BadInput, Conflict, MemoryBankError, NoteNotFound, UnreadableNote

_LINE = re.compile(r"(.+):([1-9]\d*)", re.DOTALL)
_MOST_NAMED = 5
Lines = tuple[int, int]
"""First and last line of a section, both 1-based and within."""


@dataclass(slots=True)
class Targets:
    """The notes that a query must find; a note is a target once, with its best grade."""

    qrels: Qrels
    grades: dict[str, float] = field(default_factory=dict)
    """By path."""
    sections: dict[str, list[Lines]] = field(default_factory=dict)
    """Sections of which one must be shown; a note that isn't in it may be shown by any."""

    def shows(self, note: RecalledNote) -> bool:
        """Tell whether an answer shows a note where it must."""
        if note.path not in self.sections:
            return True
        shown = (note.line, *(other.line for other in note.also))
        spans = self.sections[note.path]
        return any(first <= line <= last for line in shown for first, last in spans)

    def names(self, notes: Iterable[RecalledNote]) -> list[str]:
        """Return an answer's paths; a note that shows another section than asked for is no hit."""
        return [note.path if self.shows(note) else f"{note.path}:{note.line}" for note in notes]


def resolve(bank: Bank, qrels: Sequence[Qrels]) -> list[Targets]:
    """Find the notes and sections that judgements name; raise BadInput naming those of all lost.

    The index must be up to date.
    """
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
    if lost:
        raise _lost(lost)
    return found


def _add(targets: Targets, path: str, lines: Lines | None, grade: float) -> None:
    known = path in targets.grades
    targets.grades[path] = max(grade, targets.grades.get(path, 0.0))
    if lines is None:
        targets.sections.pop(path, None)  # the whole note will do
    elif not known or path in targets.sections:
        targets.sections.setdefault(path, []).append(lines)


def _place(bank: Bank, name: str) -> tuple[str, Lines | None]:
    """Return the note that a name means, and the lines when it names a section."""
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
    return bank.read(lambda view: note_rows.candidates(view.manifest, name))


def _under(bank: Bank, path: str, heading: str) -> Lines:
    """Return the lines under a heading, those under the headings below it included."""
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
    """Return the lines of the section that a line stands in."""
    for section in bank.store.read(path).body.sections:
        if section.line <= line < section.end_line:
            return section.line, section.end_line - 1
    raise NoteNotFound(f"{path} has no section on line {line}", "name its heading: note#heading")


def _lost(lost: Sequence[tuple[str, MemoryBankError]]) -> BadInput:
    (place, error), *others = lost
    where = f"{place}: " if place else ""
    more = ", ".join(dict.fromkeys(place for place, _ in others[:_MOST_NAMED] if place))
    rest = f"; {len(others)} more" + (f", at {more}" if more else "") if others else ""
    return BadInput(f"{where}{error.message}{rest}", error.hint)
