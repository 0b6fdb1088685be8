"""The toolset `code`: one question of everything, and the code beside the notes."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from memory_bank.actions import ask as asking
from memory_bank.actions import ask_results
from memory_bank.errors import NoBank, NoRepository
from memory_bank.frontends.mcp import code_text
from memory_bank.frontends.mcp.tool import Call, tool
from memory_bank.frontends.mcp.tools.bank import Query
from memory_bank.frontends.mcp.tools.sessions import several

_Kinds = Annotated[
    list[str],
    Field(max_length=20, description="symbols, notes, docs, coupling, tests"),
    BeforeValidator(several),
]


@tool(code_text.answer, reads=True, depth=2)
def ask(
    call: Call,
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
    except NoRepository:
        if missing is not None:
            raise missing from None
    return asking.ask(bank, codebase, query, limit, include)
