"""`memory-bank doctor`: check a bank and repair its index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import FailOn, Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FAILED, FINDINGS, FOUND, Call, Piece, place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_bank.review.doctor import BankHealth, CodeHealth


_FIRST = 3
"""Number of files that are named of those that are refused for the same reason."""


@operation(
    "doctor",
    why="""
    Checks the index against the files and repairs it, then lists what you must repair: files that
    are not indexed, each with the reason; front matter with errors; broken links; ids that several
    notes have; secrets in notes, by kind and line. It changes no note.
    """,
    examples=(
        ("memory-bank doctor", "list problems"),
        ("memory-bank doctor --check", "for CI: exit code 1 if there is an error"),
        ("memory-bank doctor --check --fail-on warning", "or a warning"),
        ("memory-bank doctor --json | jq .unindexed", "for a program"),
    ),
    group="Look after",
)
def command(
    call: Call,
    *,
    check: Annotated[bool, Param("Exit with 1 if there are findings, see --fail-on")] = False,
    fail_on: FailOn = None,
) -> int:
    """List what is wrong with a bank, and repair its index."""
    from memory_bank.review import doctor, lint

    if fail_on and not check:
        raise call.usage_error("--fail-on needs --check")
    with call.open() as bank:
        health = doctor.doctor(bank, call.progress)
    call.answer(health, lambda health: _show(call, health))
    if check and (health.problem or health.waiting):
        return FAILED
    failed = check and lint.fails(health.worst, fail_on or "error")
    return FINDINGS if failed else FOUND


def _show(call: Call, health: BankHealth) -> None:
    console = call.console
    console.line(
        (place(health.bank), "bold"),
        f": {count(health.notes, 'note')}, {count(health.passages, 'passage')}",
        f", embedder {health.embedder}",
    )
    for heading, rows in _lists(call, health).items():
        if rows:
            console.line((f"{heading} ({len(rows)}):", "bad"))
        for row in rows:
            console.line("  ", *row)
    call.show_repaired(health.repaired)
    _show_state(call, health)
    if health.code:
        _show_code(call, health.code)
    elif health.no_code:
        console.line(("code: ", "bold"), health.no_code)
    if health.clear:
        console.line(("all is well", "good"))


def _show_state(call: Call, health: BankHealth) -> None:
    """Print what may keep the index from being complete."""
    console = call.console
    if health.waiting:
        console.line(("waiting: ", "warn"), f"{count(health.waiting, 'passage')} without a vector")
    if health.problem:
        console.line(("problem: ", "bad"), health.problem)
    if health.left_alone:
        console.line(("index: ", "warn"), (place(health.index), "place"), f": {health.left_alone}")
    others = {
        "polling": health.polling,
        "git": health.git and f"{health.git}; dates are file dates",
        "hooks": health.hooks,
        "sessions": health.former_sessions
        and f"{health.former_sessions}; if they are this project's, bring them back:"
        " memory-bank session recover",
    }
    for name, said in others.items():
        if said:
            console.line((f"{name}: ", "warn"), said)


def _show_code(call: Call, code: CodeHealth) -> None:
    """Print a line on the code, and lines on what is not indexed of it, by reason."""
    counts = (count(code.files, "file"), count(code.symbols, "symbol"), count(code.tests, "test"))
    call.console.line(("code: ", "bold"), ", ".join(counts))
    refused: dict[str, list[str]] = {}
    for one in code.unindexed:
        refused.setdefault(one.reason, []).append(one.path)
    if code.faults:
        refused["read only in part"] = [one.path for one in code.faults]
    for reason, paths in refused.items():
        more = f" and {len(paths) - _FIRST} more" if len(paths) > _FIRST else ""
        call.console.line(f"  {reason} ({len(paths)}): {', '.join(paths[:_FIRST])}{more}")
    if code.unknown_symbols:
        call.console.line(f"  unknown symbols in notes ({len(code.unknown_symbols)}):")
    for found in code.unknown_symbols:
        where = (call.place(found.path, found.line), "place")
        call.console.line("    ", where, f"  {found.severity}: {found.message}")
    if code.problem:
        call.console.line(("code: ", "warn"), code.problem)
    for note in code.history:
        call.console.line(("history: ", "warn"), note)


def _lists(call: Call, health: BankHealth) -> dict[str, list[Sequence[Piece]]]:
    """Return the problems by heading."""

    def at(path: str, line: int | None, message: str) -> Sequence[Piece]:
        return (call.place(path, line), "place"), f"  {message}"

    lists: dict[str, list[Sequence[Piece]]] = {
        "not indexed": [at(one.path, None, one.reason) for one in health.unindexed],
        "read with faults": [at(one.path, one.line, one.reason) for one in health.faults],
        "broken links": [
            at(one.source, one.line, one.problem or "") for one in health.broken_links
        ],
        "odd names (indexed)": [at(one.path, None, one.reason) for one in health.odd_names],
        "same id in several notes": [
            (f"{same.note_id}  ", (", ".join(map(call.place, same.paths)), "place"))
            for same in health.same_ids
        ],
        "secrets in notes": [
            at(one.path, one.line, f"{one.kind} (hash {one.hash})") for one in health.secrets
        ],
    }
    for one in health.findings:
        fix = f" (fix: {one.fix})" if one.fix else ""
        lists.setdefault(one.rule, []).append(at(one.path, one.line, one.message + fix))
    return lists
