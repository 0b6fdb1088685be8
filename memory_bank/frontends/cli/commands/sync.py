"""`memory-bank sync`: bring the index up to the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_bank import actions
from memory_bank.frontends.cli.call import FAILED, FOUND, Call
from memory_bank.frontends.cli.command import as_command
from memory_bank.frontends.rendering import count

if TYPE_CHECKING:
    from memory_bank.actions.maintenance import SyncReport
    from memory_bank.bank import Bank

GROUP = "Look after"


@as_command(
    "sync",
    why="""
    Every query brings the index up to the files by itself, for about a second; sync does all that
    is left, the vectors of many new notes for example, and checks the index on its way. So it is
    never needed, but good after a big `git pull` or in a hook.

    --rebuild makes every index anew. --compare makes a fresh index beside the one that is there,
    in a temporary folder, and names every difference: exit code 3 if there is one.
    """,
    examples=(
        ("memory-bank sync", "all that is left to do"),
        ("memory-bank sync --rebuild", "from nothing"),
        ("memory-bank sync --compare", "is the index what the files say?"),
    ),
)
@click.option("--rebuild", is_flag=True, help="Make every index anew")
@click.option("--compare", is_flag=True, help="Name what a fresh index would have otherwise")
def command(call: Call, *, rebuild: bool, compare: bool) -> int:
    """Bring the index up to the files."""
    if rebuild and compare:
        raise call.wrong("choose one: --rebuild or --compare")
    with call.open() as bank:
        if compare:
            return _compare(call, bank)
        report = actions.maintenance.sync(bank, rebuild=rebuild, progress=call.progress)
    call.answer(report, lambda report: _show(call, report))
    if not call.json:
        call.warn(report.problem)
    return FOUND


def _compare(call: Call, bank: Bank) -> int:
    found = actions.maintenance.compare(bank, call.progress)
    call.answer(found, lambda found: _show_differences(call, found.differences))
    return FAILED if found.differences else FOUND


def _show_differences(call: Call, differences: tuple[str, ...]) -> None:
    for difference in differences:
        call.page.line(difference)
    if differences:
        call.remark(
            f"{count(len(differences), 'difference')}: `memory-bank sync --rebuild` repairs"
        )
    else:
        call.page.line("the index is what a fresh one would be")


def _show(call: Call, report: SyncReport) -> None:
    parts = [f"indexed {count(report.indexed, 'note')}"]
    if report.removed:
        parts.append(f"removed {count(report.removed, 'note')}")
    if report.unindexed:
        parts.append(f"{count(report.unindexed, 'file')} can't be indexed, see doctor")
    if report.waiting:
        parts.append(f"{count(report.waiting, 'passage')} without a vector")
    call.page.line(", ".join(parts), (f" in {report.seconds:.1f} s", "dim"))
    call.show_repaired(report.repaired)
