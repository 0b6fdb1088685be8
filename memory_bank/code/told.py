"""Compact text of symbols and of what has to do with them, for agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memory_bank.base.rendering import count, one_of, resolved_to, same_words, unclear
from memory_bank.base.text import Quotes, one_line
from memory_bank.code.records import (
    AffectedSymbol,
    BlastRadius,
    CallShown,
    CitingNote,
    CoupledFile,
    ExplainedSymbol,
    GuardShown,
    RecentCommit,
    SymbolDetails,
)
from memory_bank.notes.sections import sentence_below

_NOTE_WHOLE = "`read_memory` shows a note whole."

_DAY = 10
"""Characters of the date in a timestamp."""

_MOST_DOC = 1500
"""Most characters of a doc comment."""

_SHORT_DOC = 400

_FIRST, _FEW = 6, 3
"""Most things of a kind in the explanation of a symbol, which an agent reads at a glance."""

_LONGEST = 240
"""Most characters of a line of it."""

_MOST_CALLERS = 5
"""Most callers that are named of each symbol of a file."""


def symbol(found: SymbolDetails, quotes: Quotes) -> str:
    """Show a symbol with its doc comment, calls and callers."""
    head = "A symbol; calls are resolved by names."
    return _answer(quotes, head, _details(found), (), found.problem)


def explained(found: ExplainedSymbol, quotes: Quotes) -> str:
    """Show a symbol with its calls, tests, coupled files, notes and commits, the first of each."""
    details = found.details
    lines = _details(
        details._replace(
            calls=details.calls[:_FIRST],
            called_by=details.called_by[:_FIRST],
            doc=details.doc[:_SHORT_DOC],
        )
    )
    lines += _notes("notes", found.notes[:_FIRST])
    lines += _notes("rules", found.rules[:_FIRST])
    lines += _notes("notes of its file", found.file_notes[:_FEW])
    lines += _part("commits", map(_commit, found.commits[:_FEW]))
    lines += [*_tests(found.tests[:_FIRST]), *_coupled(found.coupled[:_FEW])]
    counts = {
        "calls": len(details.calls), "callers": len(details.called_by),
        "tests": len(found.tests), "notes": len(found.notes),
    }  # fmt: skip
    more = [f"{number - _FIRST} more {what}" for what, number in counts.items() if number > _FIRST]
    head = "A symbol and what has to do with it; calls are resolved by names."
    cut = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in lines]
    notices = [*found.notices, *([f"{', '.join(more)} are left out"] if more else [])]
    return _answer(quotes, head, cut, notices, details.problem)


def _commit(one: RecentCommit) -> str:
    reason = f": {sentence_below(one.reason)}" if one.reason else ""
    return f"{one.id[:8]} {one.committed_at[:_DAY]} {one.subject}{reason}".strip()


def affected(found: BlastRadius, quotes: Quotes) -> str:
    """Show what a change of a file may affect."""
    lines = [found.file, *_part("symbols", map(_symbol, found.symbols))]
    lines += _part("may change with it", (f"{one.file} ({one.snippet})" for one in found.coupled))
    lines += _tests(found.tests)
    for one in found.symbols:
        lines += _notes(f"notes of {one.symbol.name}", one.notes)
    lines += _notes("notes of the file", found.notes)
    head = "What a change of the file may affect; calls are resolved by names."
    if len(lines) == 1:
        head = "Nothing is known to depend on the file."
    return _answer(quotes, head, lines, found.notices, found.problem)


def _details(found: SymbolDetails) -> list[str]:
    one = found.symbol
    doc = found.doc if len(found.doc) <= _MOST_DOC else f"{found.doc[:_MOST_DOC]}…"
    return [
        f"{one.name} | {one.kind} | {one.path}:{one.line}-{one.end_line - 1} | {one.id}",
        one_line(one.signature),
        *([doc] if doc else []),
        *_part("calls", map(_call, found.calls)),
        *_part("called by", map(_call, found.called_by)),
        *_part("may call it", map(_call, found.may_call)),
        *([unclear(left)] if (left := found.unclear_callers - len(found.may_call)) else []),
    ]


def _call(one: CallShown) -> str:
    if one.path:
        return f"{one.name} ({one.path}:{one.line})"
    return f"{one.written} ({resolved_to(one.alike)})"


def _symbol(one: AffectedSymbol) -> str:
    shown = [_call(caller) for caller in one.called_by[:_MOST_CALLERS]]
    more = len(one.called_by) - len(shown)
    shown += [f"{more} more"] if more else []
    called = ", ".join(
        [*shown, *([f"{one.unclear_callers} unclear"] if one.unclear_callers else [])]
    )
    place = f"{one.symbol.name} | {one.symbol.kind} | line {one.symbol.line}{one_of(one.others)}"
    return f"{place} | called by {called}" if called else place


def _tests(tests: Sequence[GuardShown]) -> Iterator[str]:
    return _part("tests", (f"{one.title} ({one.test_file}:{one.line}, {one.how})" for one in tests))


def _coupled(files: Sequence[CoupledFile]) -> Iterator[str]:
    return _part(
        "changes with",
        (
            f"{one.file} ({one.confidence:.0%}, {count(one.support, 'commit')},"
            f" {one.risk}, {one.coupling_type})"
            for one in files
        ),
    )


def _notes(title: str, notes: Sequence[CitingNote]) -> Iterator[str]:
    return _part(
        title,
        (
            f"{one.path}{f':{one.links[0].line}' if one.links else ''} | {one.created_at[:_DAY]}"
            f" | {one.title if same_words(one.title, one.said) else f'{one.title}: {one.said}'}"
            for one in notes
        ),
    )


def _part(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a heading and lines below it; nothing if there are no lines."""
    shown = [f"- {one_line(line)}" for line in lines]
    if shown:
        yield f"{title}:"
        yield from shown


def _answer(
    quotes: Quotes, head: str, lines: Iterable[str], notices: Sequence[str], problem: str | None
) -> str:
    return quotes.answer(head, quotes.quote("\n".join(lines)), *quotes.remarks(notices, problem))


def then_of_symbol(found: ExplainedSymbol) -> str:
    """Return what to do after a symbol was explained."""
    return _NOTE_WHOLE if found.notes or found.file_notes else ""


def then_of_file(found: BlastRadius) -> str:
    """Return what to do after a file was explained."""
    return _NOTE_WHOLE if found.notes or any(one.notes for one in found.symbols) else ""
