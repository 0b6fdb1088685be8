"""Show what a change of a file may affect: callers of its symbols, coupled files, tests, notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.base.operation import MOST_FOR_AGENTS, Param, Tool, operation
from memory_bank.code import lookup, shown, told
from memory_bank.code.citing_notes import CitingNotes, citing_notes
from memory_bank.code.code_names import file_of
from memory_bank.code.explain_symbol import AnswerLimit, coupling_state, depended_files
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.records import AffectedSymbol, BlastRadius
from memory_bank.code.symbols import callers_shown, symbol_shown
from memory_bank.code.tests_for import guards_shown
from memory_bank.search.document_changes import Progress

SCHEMA_VERSION = "1.0"

_FILES = 10
"""Most coupled files: beyond the first, a reader looks at none."""

MOST = 1000
"""Most symbols, coupled files, tests and notes of one answer, each."""


@operation(
    "blast-radius",
    why="""
    Shows what a change of a file may affect: its symbols and what calls each of them, the files
    that change with it, the tests that guard it, and the notes that cite it or its symbols. Read
    it before you change the file. Calls are resolved by names, without types: of `3 unclear`, it
    is not known which symbol of that name they mean. No bank is needed.
    """,
    examples=(
        ("memory-bank blast-radius src/jobs.py", "what to look at before it changes"),
        ("memory-bank blast-radius src/jobs.py --json | jq -r '.callers[]'", "for a program"),
    ),
    group="Code",
    show=shown.affected,
    tool=Tool(
        "What a change of a file may affect: callers, tests, notes. A symbol: `explain_symbol`.",
        "code",
        told.affected,
        takes=("file",),
        fixed={"limit": MOST_FOR_AGENTS},
        reads=True,
        then=told.then_of_file,
    ),
)
def blast_radius(
    code: Codebase,
    file: Annotated[
        str, Param(argument=True, metavar="FILE", path="any", longest=2000, read=shown.given_path)
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
        path = file_of(code, file)
    cited = citing_notes(code, bank, path)
    left = AnswerLimit(limit)
    with code.lock:
        rows = lookup.in_file(code.table, path)
        named: dict[tuple[str, str], list[SymbolRow]] = {}
        for row in rows:
            if not row.test:
                named.setdefault((row.symbol.qualified, row.symbol.kind), []).append(row)
        symbols = _symbols(code, left.first("symbols", list(named.values())), cited, left)
        guards = code.relations().guards.of_file(path)
        state, notices = coupling_state(code)
        ids = dict.fromkeys(row.id for row in rows)
        uncounted = code.count_access(list(ids)) if count_access else ""
    callers = {call.path for one in symbols for call in one.called_by if call.path} - {path}
    return BlastRadius(
        schema_version=SCHEMA_VERSION,
        file=path,
        symbols=symbols,
        callers=tuple(sorted(callers)),
        coupled=depended_files(state, path, min(limit, _FILES)),
        tests=guards_shown(left.first("tests", guards)),
        notes=left.first("notes of the file", cited.file),
        notices=(*notices, *left.said),
        problem=problem or uncounted or None,
    )


def _symbols(
    code: Codebase, named: Sequence[Sequence[SymbolRow]], cited: CitingNotes, left: AnswerLimit
) -> tuple[AffectedSymbol, ...]:
    """Return symbols, each with the definitions of its name: a call may mean any of them."""
    accesses = code.accesses([same[0].id for same in named])
    graph = code.relations().calls
    found = []
    for same in named:
        row = same[0]
        callers = graph.callers(row)
        calls = [call for call in callers.known if _is_code(call.caller)]
        access = accesses.get(row.id)
        found.append(
            AffectedSymbol(
                symbol=symbol_shown(row),
                called_by=callers_shown(left.first(f"callers of {row.symbol.qualified}", calls)),
                unclear_callers=callers.unclear,
                notes=tuple(
                    dict.fromkeys(note for one in same for note in cited.symbols.get(one.id, ()))
                ),
                access_count=access.times if access else 0,
                others=len(same) - 1,
            )
        )
    return tuple(found)


def _is_code(caller: object) -> bool:
    """Tell whether a caller is no test."""
    return isinstance(caller, SymbolRow) and not caller.test
