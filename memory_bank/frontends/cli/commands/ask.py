"""`memory-bank ask`: search notes, docs, code, tests and history with one question."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

from memory_bank.base.errors import NoBank, NoRepository
from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import FOUND, NOTHING, Call
from memory_bank.base.setting_sections import MODES

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.code.codebase import Codebase


KINDS = ("symbols", "notes", "docs", "coupling", "tests")


@operation(
    "ask",
    why="""
    Searches everything that a project knows with one question: notes of the bank, other Markdown
    of the repository, functions and classes, what tests say should happen, and files that change
    together with those found. Each result says what it is and where. To search notes only, with
    their text, use recall.

    It works in a git repository without a bank, and in a bank without a repository.
    """,
    examples=(
        ("memory-bank ask how are payments retried", "notes, code, tests"),
        ("memory-bank ask retry --include symbols,tests", "code and tests only"),
        ("memory-bank ask retry --limit 3 --json", "for a program"),
    ),
    group="Code",
)
def command(
    call: Call,
    *,
    query: Annotated[tuple[str, ...], Param(argument=True, metavar="QUERY...")],
    limit: Annotated[int, Param("Most results, 1 to 100; default: 10", metavar="N")] = 10,
    include: Annotated[
        tuple[str, ...], Param(f"Only these kinds: {', '.join(KINDS)}", metavar="A,B")
    ] = (),
    mode: Annotated[str | None, Param(", ".join(MODES), metavar="MODE", choices=MODES)] = None,
    no_count: Annotated[bool, Param("Don't count this as an access")] = False,
) -> int:
    """Search notes, docs, code and tests with one question."""
    from memory_bank.frontends.cli.ask_view import show_results  # start-up: help needs no view
    from memory_bank.memory import ask

    with ExitStack() as opened:
        bank, codebase = _opened(call, opened)
        found = ask.ask(
            bank,
            codebase,
            " ".join(query),
            limit,
            include,
            mode=mode,
            count_access=not no_count,
            progress=call.progress,
        )
        root = codebase.root if codebase is not None else None
        call.answer(found, lambda found: show_results(call, found, root))
    call.incomplete(found.fallback_reason, found.problem, mode=found.mode_used)
    if not found.results and not call.json:
        call.remark("nothing found")
    return FOUND if found.results else NOTHING


def _opened(call: Call, opened: ExitStack) -> tuple[Bank | None, Codebase | None]:
    """Open the bank and the code; raise NoBank if there is neither."""
    from memory_bank.memory import ask

    bank, codebase, missing = None, None, None
    try:
        bank = opened.enter_context(call.open())
    except NoBank as error:
        missing = error
    try:
        codebase = opened.enter_context(call.open_code())
    except NoRepository as error:
        if missing is not None:
            raise ask.nothing_here(missing, error) from None
    return bank, codebase
