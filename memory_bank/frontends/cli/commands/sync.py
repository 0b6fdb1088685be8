"""`memory-bank sync`: update the index from the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.errors import NoBank, NoRepository
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FAILED, FOUND, Call, Interrupted

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.search.index.document_changes import SyncReport


@operation(
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
    group="Look after",
)
def command(
    call: Call,
    *,
    rebuild: Annotated[bool, Param("Rebuild every index")] = False,
    compare: Annotated[bool, Param("List differences from a newly built index")] = False,
) -> int:
    """Update the index from the files."""
    from memory_bank.memory import maintenance

    if rebuild and compare:
        raise call.usage_error("choose one: --rebuild or --compare")
    try:
        with call.open() as bank:
            if compare:
                return _compare(call, bank)
            report = maintenance.sync(bank, rebuild=rebuild, progress=call.progress)
            report.code = maintenance.sync_code(bank, call.progress)
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
        _warn_of_code(call, report.code)
    return FOUND


def _synced_code(call: Call) -> bool:
    """Update the index of code without a bank; tell whether there is any that was asked for."""
    from memory_bank.memory import maintenance

    try:
        with call.open_code() as code:
            if not code.table.file.exists():
                return False
            report = maintenance.sync_codebase(code, call.progress)
    except NoRepository:
        return False
    call.answer(report, lambda report: _show_code(call, report))
    if not call.json:
        _warn_of_code(call, report)
    return True


def _warn_of_code(call: Call, report: SyncReport | None) -> None:
    if report is not None and report.problem:
        call.warn(f"code: {report.problem}")


def _compare(call: Call, bank: Bank) -> int:
    from memory_bank.memory import maintenance

    found = maintenance.compare(bank, call.progress)
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
    parts = _counted(report, "note")
    if report.unindexed:
        parts.append(f"{count(report.unindexed, 'file')} can't be indexed, see doctor")
    call.console.line(", ".join(parts), (f" in {report.seconds:.1f} s", "dim"))
    if (code := report.code) and (code.indexed or code.embedded or code.removed or code.waiting):
        _show_code(call, code)
    call.show_repaired(report.repaired)


def _show_code(call: Call, report: SyncReport) -> None:
    parts = ", ".join(_counted(report, "document"))
    call.console.line(("code: ", "bold"), parts, (f" in {report.seconds:.1f} s", "dim"))


def _counted(report: SyncReport, document: str) -> list[str]:
    parts = [f"indexed {count(report.indexed, document)}"]
    if report.embedded:
        parts.append(f"embedded {count(report.embedded, 'passage')}")
    if report.removed:
        parts.append(f"removed {count(report.removed, document)}")
    if report.waiting:
        parts.append(f"{count(report.waiting, 'passage')} without a vector")
    return parts
