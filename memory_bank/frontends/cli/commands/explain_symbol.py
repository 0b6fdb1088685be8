"""`memory-bank explain-symbol`: show a symbol with everything that has to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count, unclear
from memory_bank.base.screen import FOUND, Call
from memory_bank.frontends.cli.code_view import CodeAnswerView, bank_of

if TYPE_CHECKING:
    from pathlib import Path

    from memory_bank.code.explain_symbol import ExplainedSymbol


@operation(
    "explain-symbol",
    why="""
    Shows a function, class or other symbol of the code: its signature and doc comment, what it
    calls and what calls it, the tests that guard it, the files that change with its file, the
    notes that cite it with the words around each link, and the newest commits of its file.

    NAME is a name (Bank.open), a module's path with a name (memory_bank.bank.Bank.open), a file
    with a name (bank.py#Bank.open), or an id. Calls are resolved by names, without
    types: what is called on a value leads nowhere. No bank is needed.
    """,
    examples=(
        ("memory-bank explain-symbol Bank.open", "what to know before it is changed"),
        ("memory-bank explain-symbol bank.py#main", "the one of a file"),
        ("memory-bank explain-symbol run --query retries", "notes about this first"),
        ("memory-bank explain-symbol run --json | jq -r '.tests[].title'", "for a program"),
    ),
    group="Code",
)
def command(
    call: Call,
    *,
    name: Annotated[str, Param(argument=True, complete="symbols")],
    query: Annotated[str, Param("Notes that answer it come first", metavar="TEXT")] = "",
    limit: Annotated[int, Param("Most of each kind; default: 20", metavar="N")] = 20,
) -> int:
    """Show a symbol and its calls, tests, notes and commits."""
    from memory_bank.code import explain_symbol

    with call.open_code() as code, bank_of(call) as bank:
        found = explain_symbol.explain_symbol(
            code, name, bank, query=query, limit=limit, progress=call.progress
        )
        call.answer(found, lambda shown: _show(call, code.root, shown))
    call.warn(found.details.problem)
    call.notices(found.notices)
    return FOUND


def _show(call: Call, root: Path, found: ExplainedSymbol) -> None:
    view, console, details = CodeAnswerView(call, root), call.console, found.details
    one = details.symbol
    where = view.place(one.path, one.line)
    console.line((one.name, "bold"), f"  {one.kind}  ", (where, "place"), (f"  {one.id}", "dim"))
    console.line("  ", one.signature)
    if details.doc:
        console.block(details.doc, "  ")
    if details.access_count:
        times, last = count(details.access_count, "time"), details.last_accessed_at[:10]
        console.line((f"  asked for {times}, last on {last}", "dim"))
    view.calls("calls", details.calls)
    view.calls("called by", details.called_by)
    if details.unclear_callers:
        console.line((f"  {unclear(details.unclear_callers)}", "dim"))
    view.tests(found.tests)
    view.coupled(found.coupled)
    view.notes("notes", found.notes)
    view.notes(f"notes of {one.path}", found.file_notes)
    if view.heading(f"newest commits of {one.path}", found.commits):
        rows = [(f"  {made.committed_at[:10]}", made.subject) for made in found.commits]
        console.table(("date", "subject"), rows)
