"""`memory-bank symbols`: list the symbols of the code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import FOUND, NOTHING, Call, place

if TYPE_CHECKING:
    from pathlib import Path

    from memory_bank.code.symbols import SymbolList


@operation(
    "symbols",
    why="""
    Lists functions, classes, methods and other symbols of the code in this git work tree,
    uncommitted changes included. With words, those whose names have them all, the closest names
    first; if there are none, those that are found by words and meaning in their code and comments.
    """,
    examples=(
        ("memory-bank symbols", "all symbols"),
        ("memory-bank symbols open bank", "whose names have both words"),
        ("memory-bank symbols --file src/index.py", "of one file or folder"),
        ("memory-bank symbols --kind class --json | jq -r '.symbols[].name'", "for a program"),
    ),
    group="Code",
)
def command(
    call: Call,
    *,
    query: Annotated[tuple[str, ...], Param(argument=True, metavar="[WORD]...")] = (),
    file: Annotated[str, Param("Only symbols of this file or folder", metavar="PATH")] = "",
    kinds: Annotated[
        tuple[str, ...], Param("Only functions, classes …", flags="--kind", metavar="KIND")
    ] = (),
    languages: Annotated[
        tuple[str, ...], Param("Only of a language", flags="--language", metavar="NAME")
    ] = (),
    tests: Annotated[bool, Param("Include tests")] = False,
    limit: Annotated[int, Param("Most symbols to list; default: 50", metavar="N")] = 50,
) -> int:
    """List functions, classes and other symbols of the code."""
    from memory_bank.code import symbols

    with call.open_code() as code:
        found = symbols.list_symbols(
            code,
            " ".join(query),
            limit,
            file=file,
            kinds=kinds,
            languages=languages,
            tests=tests,
            progress=call.progress,
        )
        call.answer(found, lambda shown: _show(call, code.root, shown))
    call.warn(found.problem)
    if call.json:
        return FOUND if found.symbols else NOTHING
    if not found.symbols:
        call.remark("no symbols")
    elif found.found_by == "search":
        call.remark("no name has these words: found by words and meaning")
    if found.more:
        call.remark(f"there are more than {limit}: use --limit, or more words")
    return FOUND if found.symbols else NOTHING


def _show(call: Call, root: Path, found: SymbolList) -> None:
    rows = [
        (place(root / one.path, one.line), one.kind, one.name, one.snippet) for one in found.symbols
    ]
    if rows:
        call.console.table(("place", "kind", "name", "about"), rows)
