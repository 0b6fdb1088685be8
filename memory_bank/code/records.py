"""The answers to questions about code: symbols, calls, tests, coupled files and citing notes."""

from __future__ import annotations

import re

from memory_bank.bank.backlinks import LinkShown
from memory_bank.base.named_tuple import NamedTuple


class SymbolShown(NamedTuple):
    """A symbol in an answer."""

    id: str
    name: str
    """Its qualified name in its file."""
    kind: str
    language: str
    path: str
    """Below the work tree."""
    line: int
    end_line: int
    """The line after its last."""
    signature: str
    snippet: str
    """The first sentence of its doc comment, else its signature."""


class SymbolList(NamedTuple):
    """Symbols that match a query or are in a file."""

    query: str
    result_count: int
    symbols: tuple[SymbolShown, ...]
    more: bool
    """Whether there are more than were asked for."""
    found_by: str
    """`name`, or `search` if no name matches and they were found by words and meaning."""
    problem: str | None


class CallShown(NamedTuple):
    """A call to or from a symbol."""

    written: str
    """The name as written in the call."""
    id: str | None
    """Of the other symbol; None if it isn't known."""
    name: str | None
    path: str | None
    line: int | None
    how: str | None
    """How the call was resolved: `same file`, `imported file`, `inherited` or `may call it`."""
    alike: int = 0
    """The number of symbols of that name, if it is not known which one is meant."""


class SymbolDetails(NamedTuple):
    """A symbol with its doc comment, its calls and its callers; these are found by names."""

    symbol: SymbolShown
    doc: str
    fingerprint: str
    calls: tuple[CallShown, ...]
    called_by: tuple[CallShown, ...]
    unclear_callers: int
    """The number of others that call something of its name; what they mean is not known."""
    access_count: int
    """Before this answer."""
    last_accessed_at: str
    """Before this answer; empty if it was never accessed."""
    problem: str | None
    may_call: tuple[CallShown, ...] = ()
    """These others, if they were asked for."""


class GuardShown(NamedTuple):
    """A test that guards a symbol or a file."""

    id: str
    title: str
    """What it says should happen."""
    snippet: str
    """The source line that names it."""
    test_file: str
    line: int
    how: str
    """How that is known, such as `calls it` or `imports it`."""
    confidence: float
    """The order of these, from 1 for a call; no probability."""


class GuardingTests(NamedTuple):
    """The tests of a symbol or a file, the surest first."""

    schema_version: str
    name: str
    """The symbol's qualified name, or the file's path."""
    kind: str
    """`symbol` or `file`."""
    path: str
    result_count: int
    tests: tuple[GuardShown, ...]
    more: bool
    """Whether there are more than were asked for."""
    problem: str | None


class CitingNote(NamedTuple):
    """A note that cites a symbol or a file."""

    note_id: str
    path: str
    title: str
    type: str
    created_at: str
    sentence: str
    """The sentence of its first link; its own first one if that says nothing."""
    links: tuple[LinkShown, ...]
    """Its links to the symbol or the file, with the words around each."""

    @property
    def said(self) -> str:
        """The words around its first link, or its sentence if that is a reference."""
        first = self.links[0] if self.links else None
        return first.context if first and first.kind != "reference" else self.sentence


class CoupledFile(NamedTuple):
    """A file that is coupled with the one that was asked for."""

    file: str
    """Its path below the work tree."""
    confidence: float
    """The share of the commits of the file asked for that changed this one too."""
    support: int
    """The number of these commits."""
    last_changed: str
    """When the newest of them was made; empty if there is none."""
    risk: str
    """Critical, High, Medium or Low."""
    fused_score: float
    coupling_type: str
    """temporal, static, semantic or multi."""
    snippet: str
    """All this in one sentence."""


_FOR_PROGRAMS = re.compile(r" \((?:\w+ coupling|no joint commits), type: \w+\)$")


def plain_words(sentence: str) -> str:
    """Return the sentence about a coupled file as people read it."""
    return _FOR_PROGRAMS.sub("", sentence).replace("Co-changes with", "Changes with", 1)


class CouplingAnswer(NamedTuple):
    """The files that are coupled with a file, the strongest coupling first."""

    schema_version: str
    file: str
    commits: int
    """The number of commits of the file that count."""
    result_count: int
    files: tuple[CoupledFile, ...]
    notices: tuple[str, ...]
    """What is left out of history and texts, and why."""


class RecentCommit(NamedTuple):
    """A commit that changed a file."""

    committed_at: str
    subject: str
    files: int
    """Number of files that it changed; 0 if it doesn't count for coupling."""
    id: str = ""
    lines: int = 0
    """Number of the symbol's lines that it wrote."""
    reason: str = ""
    """What its message says besides its subject."""


class ExplainedSymbol(NamedTuple):
    """A symbol with everything that has to do with it."""

    schema_version: str
    details: SymbolDetails
    """Its definition, doc comment, calls, callers and accesses."""
    tests: tuple[GuardShown, ...]
    coupled: tuple[CoupledFile, ...]
    """Files that change with its file."""
    notes: tuple[CitingNote, ...]
    """Notes that cite the symbol."""
    file_notes: tuple[CitingNote, ...]
    """Notes that cite its file."""
    rules: tuple[CitingNote, ...]
    """Notes whose `applies_to` means its file."""
    commits: tuple[RecentCommit, ...]
    """Those of its lines that say more than a subject, most lines first; then the newest."""
    notices: tuple[str, ...]
    """What is left out, and why."""


class AffectedSymbol(NamedTuple):
    """A symbol of a file, with what depends on it."""

    symbol: SymbolShown
    called_by: tuple[CallShown, ...]
    """Calls of it, without those of tests."""
    unclear_callers: int
    """The number of others that call something of its name; what they mean is not known."""
    notes: tuple[CitingNote, ...]
    access_count: int
    """Before this answer."""
    others: int = 0
    """The number of others of its name in the file: a call may mean any of them."""


class BlastRadius(NamedTuple):
    """What a change of a file may affect."""

    schema_version: str
    file: str
    symbols: tuple[AffectedSymbol, ...]
    """By line, without tests."""
    callers: tuple[str, ...]
    """The other files that call its symbols."""
    coupled: tuple[CoupledFile, ...]
    """The files that import it or changed with it in three commits: at most ten; the snippet says
    which of these holds."""
    tests: tuple[GuardShown, ...]
    """The tests that guard it."""
    notes: tuple[CitingNote, ...]
    """The notes that cite the file, but none of its symbols."""
    notices: tuple[str, ...]
    """What is left out, and why."""
    problem: str | None
