"""`memory-bank sync`: update the index from the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_bank import actions
from memory_bank.errors import NoBank, NoRepository
from memory_bank.frontends.cli.call import FAILED, FOUND, Call, Interrupted
from memory_bank.frontends.cli.command import as_command
from memory_bank.frontends.rendering import count

if TYPE_CHECKING:
    from memory_bank.actions.maintenance import SyncReport
    from memory_bank.bank import Bank

GROUP = "Look after"


@as_command(
    "sync",
    why="""
    Every query updates the index first, for about a second; sync does everything that remains, for
    example the vectors of many new notes, and checks the index. So it is never required, but
    useful after a big `git pull` or in a hook.

    --rebuild rebuilds every index. --compare builds a second index in a temporary folder and lists
    every difference: exit code 3 if there is one.
    """,
    examples=(
        ("memory-bank sync", "update the index"),
        ("memory-bank sync --rebuild", "rebuild it from the files"),
        ("memory-bank sync --compare", "does the index match the files?"),
    ),
)
@click.option("--rebuild", is_flag=True, help="Rebuild every index")
@click.option("--compare", is_flag=True, help="List differences from a newly built index")
def command(call: Call, *, rebuild: bool, compare: bool) -> int:
    """Update the index from the files."""
    if rebuild and compare:
        raise call.usage_error("choose one: --rebuild or --compare")
    try:
        with call.open() as bank:
            if compare:
                return _compare(call, bank)
            report = actions.maintenance.sync(bank, rebuild=rebuild, progress=call.progress)
            problem = actions.maintenance.sync_code(bank, call.progress)
    except NoBank:
        if rebuild or compare or not _synced_code(call):
            raise
        return FOUND
    except KeyboardInterrupt as error:
        raise Interrupted(
            "interrupted: what is indexed and embedded so far is kept",
            "`memory-bank sync` continues there",
        ) from error
    call.answer(report, lambda report: _show(call, report))
    if not call.json:
        call.warn(report.problem)
        call.warn(problem and f"code: {problem}")
    return FOUND


def _synced_code(call: Call) -> bool:
    """Update the index of code without a bank; tell whether there is any that was asked for."""
    from memory_bank.actions.maintenance import SyncReport

    try:
        with call.open_code() as code:
            if not code.table.file.exists():
                return False
            problem = actions.maintenance.sync_codebase(code, call.progress)
    except NoRepository:
        return False
    call.answer(SyncReport(problem=problem), lambda _: call.remark("the code is indexed"))
    if not call.json:
        call.warn(problem and f"code: {problem}")
    return True


def _compare(call: Call, bank: Bank) -> int:
    found = actions.maintenance.compare(bank, call.progress)
    call.answer(found, lambda found: _show_differences(call, found.differences))
    return FAILED if found.differences else FOUND


def _show_differences(call: Call, differences: tuple[str, ...]) -> None:
    for difference in differences:
        call.console.line(difference)
    if differences:
        call.remark(
            f"{count(len(differences), 'difference')}: `memory-bank sync --rebuild` repairs it"
        )
    else:
        call.console.line("the index equals a newly built one")


def _show(call: Call, report: SyncReport) -> None:
    parts = [f"indexed {count(report.indexed, 'note')}"]
    if report.embedded:
        parts.append(f"embedded {count(report.embedded, 'passage')}")
    if report.removed:
        parts.append(f"removed {count(report.removed, 'note')}")
    if report.unindexed:
        parts.append(f"{count(report.unindexed, 'file')} can't be indexed, see doctor")
    if report.waiting:
        parts.append(f"{count(report.waiting, 'passage')} without a vector")
    call.console.line(", ".join(parts), (f" in {report.seconds:.1f} s", "dim"))
    call.show_repaired(report.repaired)
