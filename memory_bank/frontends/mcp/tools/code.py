"""The toolset `code`: one question of everything, and the code beside the notes."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoBank, NoRepository
from memory_bank.base.operation import several
from memory_bank.code import blast_radius as radius
from memory_bank.code import explain_symbol as explaining
from memory_bank.code import symbols
from memory_bank.code.blast_radius import BlastRadius
from memory_bank.code.explain_symbol import ExplainedSymbol
from memory_bank.frontends.mcp import code_text, symbol_text
from memory_bank.frontends.mcp.tool import ToolContext, tool
from memory_bank.frontends.mcp.tools.bank import Path, Query
from memory_bank.memory import ask as asking
from memory_bank.memory import ask_results
from memory_bank.memory.ask import nothing_here

_Kinds = Annotated[
    list[str],
    Field(max_length=20, description="symbols, notes, docs, coupling, tests"),
    BeforeValidator(several),
]

_MOST = 20
"""Most calls, tests, notes … of one answer, each."""


@tool(code_text.answer, reads=True, depth=2, then=code_text.then)
def ask(
    call: ToolContext,
    *,
    query: Query,
    limit: int = 10,
    include: _Kinds = [],  # noqa: B006  (never changed)
) -> ask_results.Answer:
    """Find code, tests, docs and notes that answer a question, or files that change together."""
    bank, codebase, missing = None, None, None
    try:
        bank = call.bank
    except NoBank as error:
        missing = error
    try:
        codebase = call.code
    except NoRepository as error:
        if missing is not None:
            raise nothing_here(missing, error) from None
    return asking.ask(bank, codebase, query, limit, include)


@tool(symbol_text.symbol, reads=True)
def symbol(call: ToolContext, *, name: Path) -> symbols.SymbolDetails:
    """Show a symbol: signature, doc, what it calls and what calls it."""
    return symbols.symbol(call.code, name)


@tool(symbol_text.explained, reads=True, then=code_text.then)
def explain_symbol(call: ToolContext, *, name: Path) -> ExplainedSymbol:
    """Show a symbol with its calls, tests, coupled files and notes."""
    return explaining.explain_symbol(call.code, name, _bank(call), limit=_MOST)


@tool(symbol_text.affected, reads=True, then=code_text.then)
def blast_radius(call: ToolContext, *, file: Path) -> BlastRadius:
    """Show what a change of a file may affect: callers, coupled files, tests, notes."""
    return radius.blast_radius(call.code, file, _bank(call), limit=_MOST)


def _bank(call: ToolContext) -> Bank | None:
    """Return the bank, if there is one."""
    try:
        return call.bank
    except NoBank:
        return None
