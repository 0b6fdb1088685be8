"""Golden queries of a bank: what must be found, kept beside its notes, and what they name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from pathlib import Path
from stat import S_ISLNK, S_ISREG

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import RecalledNote
from memory_bank.base.errors import (
    BadInput,
    BadName,
    Conflict,
    MemoryBankError,
    NoteNotFound,
    UnreadableNote,
)
from memory_bank.base.filenames import QUERIES
from memory_bank.base.setting_sections import BANK
from memory_bank.base.settings import Settings
from memory_bank.memory.retrieval.recall import recall
from memory_bank.notes.note import section_of
from memory_bank.notes.storage import files, folders
from memory_bank.search import measures
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


def resolve(bank: Bank, qrels: Sequence[Qrels], *, all_known: bool = True) -> list[Targets]:
    """Resolve judgements to notes and sections; the index must be up to date.

    Raises BadInput listing those that are missing, unless not all need be known.
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
    if lost and all_known:
        raise _lost(lost)
    return found


def _add(targets: Targets, path: str, lines: Lines | None, grade: float) -> None:
    known = path in targets.grades
    targets.grades[path] = max(grade, targets.grades.get(path, 0.0))
    if lines is None:
        targets.sections.pop(path, None)  # any section of the note is relevant
    elif not known or path in targets.sections:
        targets.sections.setdefault(path, []).append(lines)


def _place(bank: Bank, name: str) -> tuple[str, Lines | None]:
    """Resolve a name to a note, and to the lines of a section if it names one."""
    whole = bank.read(lambda view: open_index.candidates(view.manifest, name))
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


MOST_BYTES = 1_000_000
"""Maximum size of the file."""


def text_in(folder: Path, name: str = QUERIES) -> str | None:
    """Return the text of a bank's file of queries; None if there is none.

    No symbolic link is followed. Raises BadInput, which calls the file `name`.
    """
    found = folders.stat_of(folder, QUERIES)
    if found is None:
        return None
    if not S_ISREG(found.st_mode):
        kind = "a symbolic link" if S_ISLNK(found.st_mode) else "no plain file"
        raise BadInput(f"{name}: is {kind}", "make it a plain file")
    if found.st_size > MOST_BYTES:
        raise BadInput(f"{name}: larger than {MOST_BYTES:,} bytes", "remove queries")
    try:
        data = files.read_in(folder, QUERIES) or b""
        return data.decode("utf-8-sig")
    except BadName as error:
        raise BadInput(f"{name}: is a symbolic link", "make it a plain file") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: is not UTF-8", "save it as UTF-8") from error


DEPTH = 10
"""Results of a query in which a note has a rank."""

MOST_COMPARED = 200
"""Maximum number of queries that are run on two banks."""

MOST_CHARACTERS = 30_000
"""Maximum length of them together."""

_HOW = 'write it, with [[queries]] tables of `text = "…"` and `find = ["note"]`, or name a file'


def golden_queries(bank: Bank) -> list[Qrels]:
    """Return the queries of a bank; raise BadInput if it has none, or its file can't be read."""
    name = _shown(bank.layout.origin.root / QUERIES)
    text = text_in(bank.roots.bank.folder, name)
    if text is None:
        raise BadInput(f"there is no {name}", _HOW)
    return measures.parse(text, name)


def compare(before: Bank, after: Bank) -> Iterator[tuple[str, str, int, int | None]]:
    """Run the queries of the bank `after` on both, and yield the notes whose rank fell.

    Each with the query, its path, its rank before, from 1, and that after, None if it is not among
    the first results. The banks are those of two revisions. Boosts by age and use are off, so that
    the result is the same on all machines. A file of queries that can't be read gives nothing: a
    lint rule reports it. Of more than 200 queries, or 30,000 characters of them, the others are not
    run.
    """
    try:
        every = golden_queries(after)[:MOST_COMPARED]
    except MemoryBankError:
        return
    ends = accumulate(len(one.text) for one in every)
    wanted = [one for one, end in zip(every, ends, strict=True) if end <= MOST_CHARACTERS]
    with ExitStack() as opened:
        banks = [
            opened.enter_context(one.with_settings(unboosted(one.settings)))
            for one in (before, after)
        ]
        was, now = (_ranks(one, wanted) for one in banks)
    for (query, path), rank in was.items():
        if (now.get((query, path)) or DEPTH + 1) > rank:
            yield query, path, rank, now.get((query, path))


def unboosted(settings: Settings) -> Settings:
    """Return settings without boosts that differ on each machine, and the factor of stale hits.

    The boosts are those by age, use and trust.
    """
    memory = settings.memory._replace(
        recency_boost_factor=1.0,
        access_recency_weight=0.0,
        access_count_weight=0.0,
        stale_weight=1.0,
    )
    return settings._replace(memory=memory, search=settings.search._replace(trust_boost=0.0))


def _ranks(bank: Bank, queries: Sequence[Qrels]) -> dict[tuple[str, str], int]:
    """Return the ranks of the notes that each query must find, as far as it finds them."""
    ranks: dict[tuple[str, str], int] = {}
    bank.catch_up()
    for targets in resolve(bank, queries, all_known=False):
        if not targets.grades:
            continue
        text = targets.qrels.text
        found = recall(bank, text, DEPTH, count_access=False, scope=BANK, with_trust=False)
        names = targets.names(found.notes)
        ranks |= {
            (text, name): rank for rank, name in enumerate(names, 1) if name in targets.grades
        }
    return ranks


def _shown(file: Path) -> str:
    """Return a path as it is shorter: below the working directory, or whole."""
    below = os.path.relpath(file)
    return str(file) if below.startswith("..") else below
