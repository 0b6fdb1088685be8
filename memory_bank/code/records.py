"""The answers to questions about code: symbols, calls, tests, coupled files and citing notes."""

from __future__ import annotations

from memory_bank.bank.records import ShownNote
from memory_bank.base import NamedTuple, in_json, lazy_pattern, with_schema_version
from memory_bank.code.calls import ResolvedCall
from memory_bank.code.coupled import CoupledFile
from memory_bank.code.guards import Guard
from memory_bank.code.index.database import SymbolRow


class SymbolList(NamedTuple):
    """Symbols that match a query or are in a file."""

    query: str
    result_count: int
    symbols: tuple[SymbolRow, ...]
    more: bool
    """Whether there are more than were asked for."""
    found_by: str
    """`name`, or `search` if no name matches and they were found by words and meaning."""
    problem: str | None


class SymbolDetails(NamedTuple):
    """A symbol with its callers and what else was asked for; calls are found by names."""

    symbol: SymbolRow
    called_by: tuple[ResolvedCall, ...]
    """Calls of it; of the symbols of a file, without those of tests."""
    unclear_callers: int
    """The number of others that call something of its name; what they mean is not known."""
    access_count: int
    """Before this answer."""
    last_accessed_at: str = ""
    """Before this answer; empty if it was never accessed."""
    doc: str = ""
    fingerprint: str = ""
    """Empty for one of the symbols of a file, of which only callers and notes are told."""
    calls: tuple[ResolvedCall, ...] = ()
    may_call: tuple[ResolvedCall, ...] = ()
    """The unclear callers, if they were asked for."""
    notes: tuple[ShownNote, ...] = ()
    """Notes that cite one of the symbols of a file."""
    others: int = 0
    """The number of others of its name in the file: a call may mean any of them."""
    problem: str | None = None

    @property
    def sparse(self) -> frozenset[str]:
        """The fields that JSON omits when they are empty."""
        if self.fingerprint:
            return frozenset(("notes", "others"))
        return frozenset(("last_accessed_at", "doc", "fingerprint", "calls", "may_call"))


@with_schema_version("1.0")
class GuardingTests(NamedTuple):
    """The tests of a symbol or a file, the surest first."""

    name: str
    """The symbol's qualified name, or the file's path."""
    kind: str
    """`symbol` or `file`."""
    path: str
    result_count: int
    tests: tuple[Guard, ...]
    more: bool
    """Whether there are more than were asked for."""
    problem: str | None


_FOR_PROGRAMS = lazy_pattern(r" \((?:\w+ coupling|no joint commits), type: \w+\)$")


def plain_words(sentence: str) -> str:
    """Return the sentence about a coupled file as people read it."""
    return _FOR_PROGRAMS.sub("", sentence).replace("Co-changes with", "Changes with", 1)


@in_json("file", "commits", "result_count", "files", "notices")
@with_schema_version("1.0")
class CouplingAnswer(NamedTuple):
    """The files that are coupled with a file, the strongest coupling first."""

    file: str
    commits: int
    """The number of commits of the file that count."""
    files: tuple[CoupledFile, ...]
    notices: tuple[str, ...]
    """What is left out of history and texts, and why."""

    @property
    def result_count(self) -> int:
        """The number of coupled files."""
        return len(self.files)


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


@with_schema_version("1.0")
class ExplainedSymbol(NamedTuple):
    """A symbol with everything that has to do with it."""

    details: SymbolDetails
    """Its definition, doc comment, calls, callers and accesses."""
    tests: tuple[Guard, ...]
    coupled: tuple[CoupledFile, ...]
    """Files that change with its file."""
    notes: tuple[ShownNote, ...]
    """Notes that cite the symbol."""
    file_notes: tuple[ShownNote, ...]
    """Notes that cite its file."""
    rules: tuple[ShownNote, ...]
    """Notes whose `applies_to` means its file."""
    commits: tuple[RecentCommit, ...]
    """Those of its lines that say more than a subject, most lines first; then the newest."""
    notices: tuple[str, ...]
    """What is left out, and why."""


@with_schema_version("1.0")
class BlastRadius(NamedTuple):
    """What a change of a file may affect."""

    file: str
    symbols: tuple[SymbolDetails, ...]
    """By line, without tests."""
    callers: tuple[str, ...]
    """The other files that call its symbols."""
    coupled: tuple[CoupledFile, ...]
    """The files that import it or changed with it in three commits: at most ten; the snippet says
    which of these holds."""
    tests: tuple[Guard, ...]
    """The tests that guard it."""
    notes: tuple[ShownNote, ...]
    """The notes that cite the file, but none of its symbols."""
    notices: tuple[str, ...]
    """What is left out, and why."""
    problem: str | None
