"""`memory-bank tests-for`: list the tests that guard a symbol or a file."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import FOUND, NOTHING, Call
from memory_bank.frontends.cli.code_view import CodeAnswerView, given_path


@operation(
    "tests-for",
    why="""
    Lists the tests that guard a symbol or a file of the code, with what each says should happen:
    a file's own tests, then those that call it, are named after it, or import it. A file of that
    name comes before a symbol. No bank is needed.
    """,
    examples=(
        ("memory-bank tests-for Bank.open", "what must still hold when it changes"),
        ("memory-bank tests-for src/jobs.py", "of a file"),
        ("memory-bank tests-for Bank.open --json | jq -r '.tests[].test_file'", "for a program"),
    ),
    group="Code",
)
def command(
    call: Call,
    *,
    name: Annotated[str, Param(argument=True, metavar="SYMBOL|FILE", complete="symbols")],
    limit: Annotated[int, Param("Most tests; default: 100", metavar="N")] = 100,
) -> int:
    """List the tests that guard a symbol or a file."""
    from memory_bank.code import tests_for

    with call.open_code() as code:
        found = tests_for.tests_for(code, given_path(name), limit)
        call.answer(found, lambda shown: CodeAnswerView(call, code.root).tests(shown.tests))
    call.warn(found.problem)
    if not call.json and not found.tests:
        call.remark(f"no test is known to guard {found.name}")
    if found.more and not call.json:
        call.remark(f"there are more than {limit}: use --limit")
    return FOUND if found.tests else NOTHING
