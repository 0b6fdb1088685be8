"""Explain a symbol, list the tests that guard one, and show what a change of a file may affect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, TypeVar

from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import open_history
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import StorageFailed, SymbolNotFound
from memory_bank.base.operation import LONGEST_NAME, MOST_FOR_AGENTS, Param, Tool, operation
from memory_bank.code import lookup, views
from memory_bank.code.citing_notes import CitingNotes, citing_notes
from memory_bank.code.code_names import existing_file, existing_path, path_from_shell
from memory_bank.code.commits import message_reason
from memory_bank.code.coupled import TEMPORAL, CoupledFile, CouplingState
from memory_bank.code.guards import Guard
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.records import (
    BlastRadius,
    ExplainedSymbol,
    GuardingTests,
    RecentCommit,
    SymbolDetails,
)
from memory_bank.code.symbols import OF_FILES, describe_symbol, is_symbol, row_meant, view_callers
from memory_bank.git import authorship, repository
from memory_bank.git.commits import Commit
from memory_bank.search.document_changes import Progress

SCHEMA_VERSION = "1.0"

MOST = 1000
"""Most tests, notes, calls, files and commits of one answer, each."""

COUPLED, COMMITS = 5, 5
"""Most coupled files and commits."""

_SECONDS = 5.0
"""Most seconds for reading the history."""

Item = TypeVar("Item")


@operation(
    "code explain-symbol",
    why="""
    Shows a function, class or other symbol of the code: its signature and doc comment, what it
    calls and what calls it, the tests that guard it, the files that change with its file, the
    notes that cite it with the words around each link, and the newest commits of its file.

    NAME is a name (Bank.open), a module's path with a name (memory_bank.bank.Bank.open), a file
    with a name (bank.py#Bank.open), or an id. The id of any result of ask is taken, too: of a test,
    a document, a file, a note or a commit. Calls are resolved by names, without types: what is
    called on a value leads nowhere. No bank is needed.
    """,
    examples=(
        ("memory-bank code explain-symbol Bank.open", "what to know before it is changed"),
        ("memory-bank code explain-symbol bank.py#main", "the one of a file"),
        ("memory-bank code explain-symbol Bank.open --may-call", "and what may mean it"),
        ("memory-bank code explain-symbol run --json | jq -r '.tests[].title'", "for a program"),
    ),
    view=views.view_explained,
    tool=Tool(
        "When you edit a symbol: its calls, tests, files and notes. For a file, `blast_radius`.",
        "code",
        takes=("name", "may_call"),
        fixed={"limit": MOST_FOR_AGENTS},
        reads=True,
    ),
)
def explain_symbol(
    code: Codebase,
    name: Annotated[str, Param(argument=True, longest=LONGEST_NAME)],
    bank: Bank | None = None,
    *,
    limit: Annotated[int, Param("Most of each kind; default: 20", metavar="N")] = 20,
    may_call: Annotated[bool, Param("List what calls something of that name, too")] = False,
    count_access: bool = True,
    progress: Progress | None = None,
) -> ExplainedSymbol:
    """Show a symbol and its calls, tests, notes and commits.

    Return a symbol with its calls, tests, coupled files, notes and recent commits.

    `limit`, clamped to 1 to 1,000, is the most of each kind. With `may_call`, the callers of
    something of its name are listed, of which no type is known. Without a bank there are no notes.
    Unless `count_access` is false, the symbol's access count is then increased by one. Raises
    SymbolNotFound.
    """
    limit = min(max(limit, 1), MOST)
    problem = code.refresh(progress)
    row = row_meant(code, bank, name)
    cited = citing_notes(code, bank, row.path) if row.path else CitingNotes()
    with code.lock:
        if is_symbol(row):
            row = lookup.find_symbol(code.table, name)  # another thread may have read files
        details = describe_symbol(code, row, may_call=may_call)
        guards = _guards(code, row)
        state, notices = coupling_state(code)
        uncounted = code.count_access([row.id]) if count_access and is_symbol(row) else ""
    answer_limit = AnswerLimit(limit)
    return ExplainedSymbol(
        schema_version=SCHEMA_VERSION,
        details=details._replace(
            calls=answer_limit.first("calls", details.calls),
            called_by=answer_limit.first("callers", details.called_by),
            may_call=answer_limit.first("places that may call it", details.may_call),
            problem=problem or uncounted or None,
        ),
        tests=answer_limit.first("tests", guards),
        coupled=coupled_files(state, row.path, min(limit, COUPLED)),
        notes=answer_limit.first("notes", cited.symbols.get(row.id, ())),
        file_notes=answer_limit.first("notes of the file", cited.file),
        rules=answer_limit.first("rules", cited.applying),
        commits=_commits(code, state, row, min(limit, COMMITS)) if row.path else (),
        notices=(*notices, *answer_limit.said),
    )


def _guards(code: Codebase, row: SymbolRow) -> list[Guard]:
    """Return the tests of a symbol, or of a file; a test or a note has none."""
    guards = code.relations().guards
    if is_symbol(row):
        return guards.of_symbol(row)
    return guards.of_file(row.path) if row.symbol.kind in OF_FILES else []


class AnswerLimit:
    """What a limit leaves out of an answer."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.said: list[str] = []

    def first(self, text: str, items: Sequence[Item]) -> tuple[Item, ...]:
        """Return the first of some things, and record how many are left out."""
        if len(items) > self._limit:
            self.said.append(f"{len(items) - self._limit} more {text} are left out")
        return tuple(items[: self._limit])


def coupling_state(code: Codebase) -> tuple[CouplingState | None, tuple[str, ...]]:
    """Return the coupling of all files, and what is left out; None if it can't be read."""
    try:
        state = code.coupling()
    except StorageFailed as error:
        return None, (error.message,)
    return state, state.notices


def coupled_files(state: CouplingState | None, path: str, limit: int) -> tuple[CoupledFile, ...]:
    """Return the files that change with a file; one commit alone tells of none."""
    if state is None or path not in state.files:
        return ()
    coupled_rows = [
        coupled
        for coupled in state.coupling.of(path)
        if coupled.coupling_type != TEMPORAL or coupled.support > 1
    ]
    return tuple(coupled_rows[:limit])


def depended_files(state: CouplingState | None, path: str, limit: int) -> tuple[CoupledFile, ...]:
    """Return the files that may have to change with a file; the snippet says why."""
    if state is None or path not in state.files:
        return ()
    return tuple(state.coupling.depended(path)[:limit])


def _commits(
    code: Codebase, state: CouplingState | None, row: SymbolRow, limit: int
) -> tuple[RecentCommit, ...]:
    """Return the commits of a symbol that say more than a subject, and the newest of its file."""
    newest = state.coupling.history.of(row.path) if state else ()
    size = {commit.subject: commit.size for commit in newest}
    commits = [
        RecentCommit(
            seconds_to_iso(commit.written),
            commit.subject,
            size.get(commit.subject, 0),
            commit.id,
            lines,
            reason,
        )
        for commit, lines in _wrote(code, row)
        if (reason := message_reason(commit))
    ][:limit]
    subjects = {commit.subject for commit in commits}
    rest = [
        RecentCommit(seconds_to_iso(x.when), x.subject, x.size)
        for x in newest
        if x.subject not in subjects
    ]
    return tuple([*commits, *rest][:limit])


def _wrote(code: Codebase, row: SymbolRow) -> list[tuple[Commit, int]]:
    """Return the commits that wrote the lines of a symbol in HEAD, with the number of lines.

    None if its file has other lines than in HEAD, or git can't say in time.
    """
    tree, now = code.root, code.tree.read(row.path)
    head = repository.read_head_commit(tree)
    lines = authorship.blame_lines(tree, head, row.path) if head and now else None
    if not lines or not now or len(lines) != len(now.data.splitlines()):
        return []
    wrote = Counter(lines[row.symbol.line - 1 : row.symbol.end_line - 1])
    with closing(open_history(tree)) as history:
        at = history.at(head, seconds=_SECONDS)
        commits = [(at.commit(text) if at else None, count) for text, count in wrote.most_common()]
    return [(commit, count) for commit, count in commits if commit]


@operation(
    "code tests-for",
    why="""
    Lists the tests that guard a symbol or a file of the code, with what each says should happen:
    of a symbol those that call it or are named after it, of a file also its own tests and those
    that import it. A file of that name comes before a symbol. No bank is needed.
    """,
    examples=(
        ("memory-bank code tests-for Bank.open", "what must still hold when it changes"),
        ("memory-bank code tests-for src/jobs.py", "of a file"),
        (
            "memory-bank code tests-for Bank.open --json | jq -r '.tests[].test_file'",
            "for a program",
        ),
    ),
    view=views.view_tests,
)
def tests_for(
    code: Codebase,
    name: Annotated[str, Param(argument=True, metavar="SYMBOL|FILE", read=path_from_shell)],
    limit: Annotated[int, Param("Most tests; default: 100", metavar="N")] = 100,  # noqa: PT028  (no test)
) -> GuardingTests:
    """List the tests that guard a symbol or a file.

    Return the tests that guard a symbol, or a file if that is what has the name.

    That is best effort, by calls, names and imports. `limit` is clamped to 1 to 1,000. Raises
    SymbolNotFound, BadInput for a path out of the work tree, FileNotFound.
    """
    limit = min(max(limit, 1), MOST)
    with code.lock:
        problem = code.refresh()
        path = existing_file(code, name)
        guards = code.relations().guards
        if path:
            place, kind, guard_rows = path, "file", guards.of_file(path)
        else:
            row = _symbol(code, name)
            place, kind, path = row.name, "symbol", row.path
            guard_rows = guards.of_symbol(row)
    tests = tuple(guard_rows[:limit])
    more = len(guard_rows) > limit
    return GuardingTests(
        SCHEMA_VERSION, place, kind, path, len(tests), tests, more, problem or None
    )


def _symbol(code: Codebase, name: str) -> SymbolRow:
    """Return a symbol; a name that looks like a path is an unknown file."""
    try:
        return lookup.find_symbol(code.table, name)
    except SymbolNotFound:
        if "#" not in name and ("/" in name or "\\" in name):
            existing_path(code, name)
        raise


_FILES = 10
"""Most coupled files: beyond the first, a reader looks at none."""


@operation(
    "code blast-radius",
    why="""
    Shows what a change of a file may affect: its symbols and what calls each of them, the files
    that change with it, the tests that guard it, and the notes that cite it or its symbols. Read
    it before you change the file. Calls are resolved by names, without types: of `3 unclear`, it
    is not known which symbol of that name they mean. No bank is needed.
    """,
    examples=(
        ("memory-bank code blast-radius src/jobs.py", "what to look at before it changes"),
        ("memory-bank code blast-radius src/jobs.py --json | jq -r '.callers[]'", "for a program"),
    ),
    view=views.view_affected,
    tool=Tool(
        "What a change of a file may affect: callers, tests, notes. A symbol: `explain_symbol`.",
        "code",
        takes=("file",),
        fixed={"limit": MOST_FOR_AGENTS},
        reads=True,
    ),
)
def blast_radius(
    code: Codebase,
    file: Annotated[
        str,
        Param(
            argument=True, metavar="FILE", path="any", longest=LONGEST_NAME, read=path_from_shell
        ),
    ],
    bank: Bank | None = None,
    *,
    limit: Annotated[int, Param("Most of each kind; default: 50", metavar="N")] = 50,
    count_access: bool = True,
    progress: Progress | None = None,
) -> BlastRadius:
    r"""Show what a change of a file may affect.

    Return what a change of a file may affect.

    `file` is a path below the work tree, or an absolute one in it; it may have `./` and `\`. A file
    that has no symbols and that nothing names has an empty answer. `limit`, clamped to 1 to 1,000,
    is the most of each kind. Unless `count_access` is false, the
    access counts of all its symbols are then increased by one. Raises BadInput for a path out of
    the work tree, FileNotFound.
    """
    limit = min(max(limit, 1), MOST)
    with code.lock:
        problem = code.refresh(progress)
        path = existing_path(code, file)
    cited = citing_notes(code, bank, path)
    answer_limit = AnswerLimit(limit)
    with code.lock:
        rows = lookup.list_symbols(code.table, path)
        rows_by_name: dict[tuple[str, str], list[SymbolRow]] = {}
        for row in rows:
            if not row.test:
                rows_by_name.setdefault((row.symbol.qualified, row.symbol.kind), []).append(row)
        symbols = _symbols(
            code, answer_limit.first("symbols", list(rows_by_name.values())), cited, answer_limit
        )
        guards = code.relations().guards.of_file(path)
        state, notices = coupling_state(code)
        ids = dict.fromkeys(row.id for row in rows)
        uncounted = code.count_access(list(ids)) if count_access else ""
    callers = {call.path for symbol in symbols for call in symbol.called_by if call.path} - {path}
    return BlastRadius(
        schema_version=SCHEMA_VERSION,
        file=path,
        symbols=symbols,
        callers=tuple(sorted(callers)),
        coupled=depended_files(state, path, min(limit, _FILES)),
        tests=answer_limit.first("tests", guards),
        notes=answer_limit.first("notes of the file", cited.file),
        notices=(*notices, *answer_limit.said),
        problem=problem or uncounted or None,
    )


def _symbols(
    code: Codebase,
    rows_by_name: Sequence[Sequence[SymbolRow]],
    cited: CitingNotes,
    answer_limit: AnswerLimit,
) -> tuple[SymbolDetails, ...]:
    """Return symbols, each with the definitions of its name: a call may mean any of them."""
    accesses = code.accesses([rows[0].id for rows in rows_by_name])
    graph = code.relations().calls
    entries = []
    for rows in rows_by_name:
        row = rows[0]
        callers, unclear = graph.callers(row)
        calls = [call for call in callers if _is_code(call.caller)]
        access = accesses.get(row.id)
        entries.append(
            SymbolDetails(
                symbol=row,
                called_by=view_callers(
                    answer_limit.first(f"callers of {row.symbol.qualified}", calls)
                ),
                unclear_callers=len(unclear),
                notes=tuple(
                    dict.fromkeys(
                        note for symbol_row in rows for note in cited.symbols.get(symbol_row.id, ())
                    )
                ),
                access_count=access.times if access else 0,
                others=len(rows) - 1,
            )
        )
    return tuple(entries)


def _is_code(caller: object) -> bool:
    """Tell whether a caller is no test."""
    return isinstance(caller, SymbolRow) and not caller.test
