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


def symbol(symbol_details: SymbolDetails, quotes: Quotes) -> str:
    """Show a symbol with its doc comment, calls and callers."""
    head = "A symbol; calls are resolved by names."
    return _answer(quotes, head, _details(symbol_details), (), symbol_details.problem)


def explained(found_symbol: ExplainedSymbol, quotes: Quotes) -> str:
    """Show a symbol with its calls, tests, coupled files, notes and commits, the first of each."""
    details = found_symbol.details
    lines = _details(
        details._replace(
            calls=details.calls[:_FIRST],
            called_by=details.called_by[:_FIRST],
            doc=details.doc[:_SHORT_DOC],
        )
    )
    lines += _notes("notes", found_symbol.notes[:_FIRST])
    lines += _notes("rules", found_symbol.rules[:_FIRST])
    lines += _notes("notes of its file", found_symbol.file_notes[:_FEW])
    lines += _part("commits", map(_commit, found_symbol.commits[:_FEW]))
    lines += [*_tests(found_symbol.tests[:_FIRST]), *_coupled(found_symbol.coupled[:_FEW])]
    counts = {
        "calls": len(details.calls), "callers": len(details.called_by),
        "tests": len(found_symbol.tests), "notes": len(found_symbol.notes),
    }  # fmt: skip
    more = [f"{number - _FIRST} more {text}" for text, number in counts.items() if number > _FIRST]
    head = "A symbol and what has to do with it; calls are resolved by names."
    cut = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in lines]
    notices = [*found_symbol.notices, *([f"{', '.join(more)} are left out"] if more else [])]
    return _answer(quotes, head, cut, notices, details.problem)


def _commit(commit: RecentCommit) -> str:
    reason = f": {sentence_below(commit.reason)}" if commit.reason else ""
    return f"{commit.id[:8]} {commit.committed_at[:_DAY]} {commit.subject}{reason}".strip()


def affected(blast_radius: BlastRadius, quotes: Quotes) -> str:
    """Show what a change of a file may affect."""
    lines = [blast_radius.file, *_part("symbols", map(_symbol, blast_radius.symbols))]
    lines += _part(
        "may change with it",
        (f"{partner.file} ({partner.snippet})" for partner in blast_radius.coupled),
    )
    lines += _tests(blast_radius.tests)
    for definition in blast_radius.symbols:
        lines += _notes(f"notes of {definition.symbol.name}", definition.notes)
    lines += _notes("notes of the file", blast_radius.notes)
    head = "What a change of the file may affect; calls are resolved by names."
    if len(lines) == 1:
        head = "Nothing is known to depend on the file."
    return _answer(quotes, head, lines, blast_radius.notices, blast_radius.problem)


def _details(symbol_details: SymbolDetails) -> list[str]:
    definition = symbol_details.symbol
    lines = f"{definition.path}:{definition.line}-{definition.end_line - 1}"
    doc = (
        symbol_details.doc
        if len(symbol_details.doc) <= _MOST_DOC
        else f"{symbol_details.doc[:_MOST_DOC]}…"
    )
    return [
        (
            f"{definition.name} | {definition.kind}"
            f"{f' | {lines}' if definition.path else ''} | {definition.id}"
        ),
        one_line(definition.signature),
        *([doc] if doc else []),
        *_part("calls", map(_call, symbol_details.calls)),
        *_part("called by", map(_call, symbol_details.called_by)),
        *_part("may call it", map(_call, symbol_details.may_call)),
        *(
            [unclear(unclear_callers)]
            if (unclear_callers := symbol_details.unclear_callers - len(symbol_details.may_call))
            else []
        ),
    ]


def _call(call: CallShown) -> str:
    if call.path:
        return f"{call.name} ({call.path}:{call.line})"
    return f"{call.written} ({resolved_to(call.alike)})"


def _symbol(definition: AffectedSymbol) -> str:
    entries = [_call(caller) for caller in definition.called_by[:_MOST_CALLERS]]
    more = len(definition.called_by) - len(entries)
    entries += [f"{more} more"] if more else []
    called = ", ".join(
        [
            *entries,
            *([f"{definition.unclear_callers} unclear"] if definition.unclear_callers else []),
        ]
    )
    symbol = definition.symbol
    place = f"{symbol.name} | {symbol.kind} | line {symbol.line}{one_of(definition.others)}"
    return f"{place} | called by {called}" if called else place


def _tests(tests: Sequence[GuardShown]) -> Iterator[str]:
    return _part(
        "tests", (f"{guard.title} ({guard.test_file}:{guard.line}, {guard.how})" for guard in tests)
    )


def _coupled(files: Sequence[CoupledFile]) -> Iterator[str]:
    return _part(
        "changes with",
        (
            f"{partner.file} ({partner.confidence:.0%}, {count(partner.support, 'commit')},"
            f" {partner.risk}, {partner.coupling_type})"
            for partner in files
        ),
    )


def _notes(title: str, notes: Sequence[CitingNote]) -> Iterator[str]:
    return _part(
        title,
        (
            f"{note.path}{f':{note.links[0].line}' if note.links else ''}"
            f" | {note.created_at[:_DAY]} | {note.title}"
            f"{'' if same_words(note.title, note.said) else f': {note.said}'}"
            for note in notes
        ),
    )


def _part(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a heading and lines below it; nothing if there are no lines."""
    texts = [f"- {one_line(line)}" for line in lines]
    if texts:
        yield f"{title}:"
        yield from texts


def _answer(
    quotes: Quotes, head: str, lines: Iterable[str], notices: Sequence[str], problem: str | None
) -> str:
    return quotes.answer(head, quotes.quote("\n".join(lines)), *quotes.remarks(notices, problem))


def then_of_symbol(found_symbol: ExplainedSymbol) -> str:
    """Return what to do after a symbol was explained."""
    return _NOTE_WHOLE if found_symbol.notes or found_symbol.file_notes else ""


def then_of_file(blast_radius: BlastRadius) -> str:
    """Return what to do after a file was explained."""
    return (
        _NOTE_WHOLE
        if blast_radius.notes or any(definition.notes for definition in blast_radius.symbols)
        else ""
    )
