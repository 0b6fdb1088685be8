"""Explain a symbol, list the tests that guard one, and show what a change of a file may affect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, TypeVar

from memory_bank.bank.bank import Bank
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import StorageFailed, SymbolNotFound
from memory_bank.base.operation import LONGEST_NAME, MOST_FOR_AGENTS, Param, Tool, operation
from memory_bank.code import lookup, views
from memory_bank.code.citing_notes import CitingNotes, find_citing_notes
from memory_bank.code.commits import message_reason
from memory_bank.code.coupled import TEMPORAL, CoupledFile, Coupling
from memory_bank.code.guards import Guard
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.lookup import path_from_shell
from memory_bank.code.records import (
    BlastRadius,
    ExplainedSymbol,
    GuardingTests,
    RecentCommit,
    SymbolDetails,
)
from memory_bank.code.symbols import (
    OF_FILES,
    describe_symbol,
    existing_file,
    existing_path,
    find_row,
    is_symbol,
)
from memory_bank.git import authorship, repository
from memory_bank.git.commits import Commit
from memory_bank.search.document_changes import Progress

MOST = 1000
"""Most tests, notes, calls, files and commits of one answer, each."""

COUPLED, COMMITS = 5, 5
"""Most coupled files and commits."""

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
    row = find_row(code, bank, name)
    cited = find_citing_notes(code, bank, row.path) if row.path else CitingNotes()
    with code.lock:
        if is_symbol(row):
            row = lookup.find_symbol(code.table, name)  # another thread may have read files
        details = describe_symbol(code, row, may_call=may_call)
        guards = _list_guards(code, row)
        coupling, notices = read_coupling(code)
        uncounted = code.count_access([row.id]) if count_access and is_symbol(row) else ""
    answer_limit = AnswerLimit(limit)
    return ExplainedSymbol(
        details=details._replace(
            calls=answer_limit.cut("calls", details.calls),
            called_by=answer_limit.cut("callers", details.called_by),
            may_call=answer_limit.cut("places that may call it", details.may_call),
            problem=problem or uncounted or None,
        ),
        tests=answer_limit.cut("tests", guards),
        coupled=tuple(list_coupled_files(coupling, row.path)[: min(limit, COUPLED)]),
        notes=answer_limit.cut("notes", cited.symbols.get(row.id, ())),
        file_notes=answer_limit.cut("notes of the file", cited.file),
        rules=answer_limit.cut("rules", cited.applying),
        commits=_list_commits(code, coupling, row, min(limit, COMMITS)) if row.path else (),
        notices=(*notices, *answer_limit.notices),
    )


def _list_guards(code: Codebase, row: SymbolRow) -> list[Guard]:
    """Return the tests of a symbol, or of a file; a test or a note has none."""
    guards = code.relations().guards
    if is_symbol(row):
        return guards.of_symbol(row)
    return guards.of_file(row.path) if row.symbol.kind in OF_FILES else []


class AnswerLimit:
    """Cuts the lists of an answer to a limit, and collects notices of what it leaves out."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.notices: list[str] = []

    def cut(self, what: str, items: Sequence[Item]) -> tuple[Item, ...]:
        """Return the first items, as many as the limit allows, and note how many are left out."""
        if len(items) > self._limit:
            self.notices.append(f"{len(items) - self._limit} more {what} are left out")
        return tuple(items[: self._limit])


def read_coupling(code: Codebase) -> tuple[Coupling | None, tuple[str, ...]]:
    """Return the coupling of all files, None if it can't be read, and what is left out."""
    try:
        return code.coupling()
    except StorageFailed as error:
        return None, (error.message,)


def list_coupled_files(coupling: Coupling | None, path: str) -> list[CoupledFile]:
    """Return the files that change together with a file; one common commit is not enough."""
    if coupling is None or path not in coupling.files:
        return []
    return [
        file for file in coupling.of(path) if file.coupling_type != TEMPORAL or file.support > 1
    ]


def list_depended_files(coupling: Coupling | None, path: str) -> list[CoupledFile]:
    """Return the files that may have to change with a file; the snippet of each says why."""
    if coupling is None or path not in coupling.files:
        return []
    return coupling.list_depended(path)


def _list_commits(
    code: Codebase, coupling: Coupling | None, row: SymbolRow, limit: int
) -> tuple[RecentCommit, ...]:
    """Return the commits of a symbol that say more than a subject, and the newest of its file."""
    newest = coupling.history.of(row.path) if coupling else ()
    sizes = {commit.subject: commit.size for commit in newest}
    commits = [
        RecentCommit(
            seconds_to_iso(commit.written),
            commit.subject,
            sizes.get(commit.subject, 0),
            commit.id,
            lines,
            reason,
        )
        for commit, lines in _count_written_lines(code, row)
        if (reason := message_reason(commit))
    ][:limit]
    subjects = {commit.subject for commit in commits}
    subject_only = [
        RecentCommit(seconds_to_iso(commit.when), commit.subject, commit.size)
        for commit in newest
        if commit.subject not in subjects
    ]
    return tuple([*commits, *subject_only][:limit])


def _count_written_lines(code: Codebase, row: SymbolRow) -> list[tuple[Commit, int]]:
    """Return the commits that wrote the lines of a symbol in HEAD, each with its number of lines.

    There are none if the file has other lines than in HEAD, or git can't say in time.
    """
    tree, file = code.root, code.tree.read(row.path)
    head = repository.read_head_commit(tree)
    commit_ids = authorship.blame_lines(tree, head, row.path) if head and file else None
    if not commit_ids or not file or len(commit_ids) != len(file.data.splitlines()):
        return []
    line_counts = Counter(commit_ids[row.symbol.line - 1 : row.symbol.end_line - 1])
    commits = code.commits()
    return [
        (commit, count)
        for commit_id, count in line_counts.most_common()
        if commits and (commit := commits.commit(commit_id))
    ]


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
            title, kind, rows = path, "file", guards.of_file(path)
        else:
            row = _find_symbol(code, name)
            title, kind, path = row.name, "symbol", row.path
            rows = guards.of_symbol(row)
    tests = tuple(rows[:limit])
    is_cut = len(rows) > limit
    return GuardingTests(title, kind, path, len(tests), tests, is_cut, problem or None)


def _find_symbol(code: Codebase, name: str) -> SymbolRow:
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
            argument=True,
            metavar="FILE",
            path="any",
            longest=LONGEST_NAME,
            read=path_from_shell,
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
    cited = find_citing_notes(code, bank, path)
    answer_limit = AnswerLimit(limit)
    with code.lock:
        rows = lookup.list_symbols(code.table, path)
        rows_by_name: dict[tuple[str, str], list[SymbolRow]] = {}
        for row in rows:
            if not row.test:
                rows_by_name.setdefault((row.symbol.qualified, row.symbol.kind), []).append(row)
        symbols = _describe_symbols(
            code, answer_limit.cut("symbols", list(rows_by_name.values())), cited, answer_limit
        )
        guards = code.relations().guards.of_file(path)
        coupling, notices = read_coupling(code)
        ids = dict.fromkeys(row.id for row in rows)
        uncounted = code.count_access(list(ids)) if count_access else ""
    callers = {call.path for symbol in symbols for call in symbol.called_by if call.path} - {path}
    return BlastRadius(
        file=path,
        symbols=symbols,
        callers=tuple(sorted(callers)),
        coupled=tuple(list_depended_files(coupling, path)[: min(limit, _FILES)]),
        tests=answer_limit.cut("tests", guards),
        notes=answer_limit.cut("notes of the file", cited.file),
        notices=(*notices, *answer_limit.notices),
        problem=problem or uncounted or None,
    )


def _describe_symbols(
    code: Codebase,
    rows_by_name: Sequence[Sequence[SymbolRow]],
    cited: CitingNotes,
    answer_limit: AnswerLimit,
) -> tuple[SymbolDetails, ...]:
    """Return symbols, each with the definitions of its name: a call may mean any of them."""
    accesses = code.accesses([rows[0].id for rows in rows_by_name])
    graph = code.relations().calls
    symbols = []
    for rows in rows_by_name:
        row = rows[0]
        callers, unclear = graph.callers(row)
        calls = [call for call in callers if isinstance(call.row, SymbolRow) and not call.row.test]
        access = accesses.get(row.id)
        symbols.append(
            SymbolDetails(
                symbol=row,
                called_by=answer_limit.cut(f"callers of {row.symbol.qualified}", calls),
                unclear_callers=len(unclear),
                notes=tuple(
                    {
                        (note.path, note.links): note
                        for definition in rows
                        for note in cited.symbols.get(definition.id, ())
                    }.values()
                ),
                access_count=access.times if access else 0,
                others=len(rows) - 1,
            )
        )
    return tuple(symbols)
