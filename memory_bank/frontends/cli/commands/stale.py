"""`memory-bank stale`: list notes whose cited code changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import FailOn, Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FINDINGS, FOUND, Call

if TYPE_CHECKING:
    from memory_bank.trust.stale_report import Citation, StaleReport


_MOST_COMMITS = 5
"""Number of commits of a citation that are listed in a terminal."""

_TITLES = {
    "gone": "gone",
    "changed symbol": "changed symbols",
    "moved": "moved or renamed: write the new target",
    "changed file": "changed files",
    "touched": "cited files that changed, though not what the note names in them",
    "other": "not stale",
}

_STYLES = {"gone": "bad", "changed": "warn", "moved": "warn", "renamed": "warn"}


@operation(
    "stale",
    why="""
    Lists the citations of code in notes whose symbol changed since the section was last changed, or
    the note was confirmed: with the commits that did it. A citation of a whole file is stale if
    what the note names in it changed. Code that was only moved or renamed is not stale: the link to
    write is shown. The layout, the comments and the place of code don't count. It asks git, and
    writes nothing. With BASE..HEAD, only citations of what these commits change. A stale citation
    is a warning: the exit code is 1 with --fail-on warning. See docs/trust.md.
    """,
    examples=(
        ("memory-bank stale", "all notes, as of the last commit"),
        ("memory-bank stale --worktree", "with uncommitted changes of code"),
        ("memory-bank stale main..HEAD --fail-on warning", "for CI"),
        ("memory-bank stale --note facts/queue --all", "every citation of one note"),
        ("memory-bank stale --json | jq -r '.citations[].path'", "for a program"),
    ),
    group="Review",
)
def command(
    call: Call,
    *,
    revisions: Annotated[str | None, Param(argument=True, metavar="[BASE..HEAD]")] = None,
    worktree: Annotated[bool, Param("Count uncommitted changes of code, too")] = False,
    names: Annotated[
        tuple[str, ...], Param("Only this note; repeatable", flags="--note", metavar="NAME")
    ] = (),
    every: Annotated[bool, Param("List citations that are not stale, too", flags="--all")] = False,
    fail_on: FailOn = None,
) -> int:
    """List notes whose cited code changed."""
    from memory_bank.trust import stale

    with call.open() as bank:
        report = stale.stale(bank, revisions, names=names, worktree=worktree)
    shown = report if every else report._replace(citations=report.listed)
    call.answer(shown, lambda shown: _show(call, shown, len(report.citations)))
    call.notices(report.notices)
    failed = report.stale and fail_on in {"warning", "info"}
    return FINDINGS if failed else FOUND


def _show(call: Call, report: StaleReport, checked: int) -> None:
    console, stale, groups = call.console, len(report.stale), report.by_group
    if stale:
        notes = count(len({one.path for one in report.stale}), "note")
        said = f"{stale} of {count(checked, 'citation')} in {notes}: confirm, edit or archive"
        console.line((said, "bold"))
    else:
        console.line(("nothing is stale", "good"), f": {count(checked, 'citation')} of code")
    for group, citations in groups.items():
        console.line()
        console.line((f"{_TITLES[group]}: {len(citations)}", "bold"))
        for one in citations:
            _show_one(call, one)


def _show_one(call: Call, one: Citation) -> None:
    console = call.console
    where = (call.place(one.path, one.line), "place")
    since = f" since {one.since[:12]} {one.since_date[:10]}".rstrip() if one.commits else ""
    console.line(where, f"  {one.target} ", (one.state, _STYLES.get(one.state, "dim")), since)
    if one.names:
        console.line("    ", f"of what the note names: {', '.join(one.names)}")
    most = 1 if one.group == "touched" else _MOST_COMMITS
    for commit in one.commits[:most]:
        said = (commit.id[:12], commit.date[:10], commit.author and f"{commit.author}:")
        console.line("    ", " ".join([*filter(None, said), commit.subject]))
    if len(one.commits) > most:
        console.line(f"    and {count(len(one.commits) - most, 'commit')} more")
    if one.fix:
        console.line("    write ", (one.fix, "good"))
    if one.remark:
        console.line("    ", (one.remark, "dim"))
