"""`memory-bank blast-radius`: show what a change of a file may affect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import FOUND, NOTHING, Call
from memory_bank.frontends.cli.code_view import CodeAnswerView, bank_of, given_path

if TYPE_CHECKING:
    from pathlib import Path

    from memory_bank.code.blast_radius import BlastRadius


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
)
def command(
    call: Call,
    *,
    file: Annotated[str, Param(argument=True, metavar="FILE", path="any")],
    query: Annotated[str, Param("Notes that answer it come first", metavar="TEXT")] = "",
    limit: Annotated[int, Param("Most of each kind; default: 50", metavar="N")] = 50,
) -> int:
    """Show what a change of a file may affect."""
    from memory_bank.code import blast_radius

    with call.open_code() as code, bank_of(call) as bank:
        found = blast_radius.blast_radius(
            code, given_path(file), bank, query=query, limit=limit, progress=call.progress
        )
        call.answer(found, lambda shown: _show(call, code.root, shown))
    call.warn(found.problem)
    call.notices(found.notices)
    some = any((found.symbols, found.coupled, found.tests, found.notes))
    if not some and not call.json:
        call.remark(f"nothing is known to depend on {found.file}")
    return FOUND if some else NOTHING


def _show(call: Call, root: Path, found: BlastRadius) -> None:
    view, console = CodeAnswerView(call, root), call.console
    if view.heading(f"symbols of {found.file}", found.symbols):
        rows = [
            (
                f"  {view.place(found.file, one.symbol.line)}",
                one.symbol.kind,
                one.symbol.name,
                ", ".join(
                    [
                        *(view.place(each.path, each.line) for each in one.called_by if each.path),
                        *([f"{one.unclear_callers} unclear"] if one.unclear_callers else ()),
                    ]
                ),
            )
            for one in found.symbols
        ]
        console.table(("place", "kind", "name", "called from"), rows)
    view.coupled(found.coupled)
    view.tests(found.tests)
    for one in found.symbols:
        view.notes(f"notes of {one.symbol.name}", one.notes)
    view.notes(f"notes of {found.file}", found.notes)
