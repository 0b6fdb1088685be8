"""`memory-bank git`: how git merges and shows the notes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from memory_bank.base.operation import operation, topic
from memory_bank.base.screen import FOUND, NOTHING, Call

if TYPE_CHECKING:
    from memory_bank.review.git_merges import GitSetup, Resolved


@operation(
    "git install",
    why="""
    Names memory-bank as git's merge driver of the notes, and shows their headings in diffs. Two
    lines are added to .gitattributes in the folder of the notes, which you commit; three settings
    are written to this clone (.git/config), which git never copies: every clone needs its own
    `git install`. Without it, and on servers, git merges the notes by lines, as any text.
    """,
    examples=(
        ("memory-bank git install", "in each clone"),
        ("git add .memories/.gitattributes", "then commit it"),
    ),
)
def _install(call: Call) -> int:
    """Let git merge and show notes by section in this clone."""
    from memory_bank.review import git_merges

    with call.open() as bank:
        done = git_merges.install(bank)
    call.answer(done, lambda done: _show_change(call, done, "wrote", "all of it was set before"))
    return FOUND if done.is_set else NOTHING


@operation(
    "git uninstall",
    why="""
    Removes the lines of .gitattributes and the settings of this clone that `git install` wrote.
    """,
    examples=(("memory-bank git uninstall", "git merges by lines again"),),
)
def _uninstall(call: Call) -> int:
    """Remove what `git install` wrote."""
    from memory_bank.review import git_merges

    with call.open() as bank:
        done = git_merges.uninstall(bank)
    call.answer(done, lambda done: _show_change(call, done, "removed", "nothing was set"))
    return FOUND


@operation(
    "git check",
    why="""
    Shows the attributes that git has for the notes, and the settings of this clone. The exit code
    is 1 if something is missing or different.
    """,
    examples=(("memory-bank git check", "is the merge driver set?"),),
)
def _check(call: Call) -> int:
    """Tell whether git merges and shows notes by section here."""
    from memory_bank.review import git_merges

    with call.open() as bank:
        found = git_merges.check(bank)
    call.answer(found, lambda found: _show(call, found))
    return FOUND if found.is_set else NOTHING


@operation(
    "git resolve",
    why="""
    After a merge, rebase, cherry-pick or `stash pop` with conflicts, merges the notes by section
    where that needs no decision, also if git merged them by lines. If both sides made a note of
    the same name with different texts, these become two notes: ours keeps the name, theirs gets
    the start of its id. Files that you have edited since stay as they are. The file before is
    copied to the trash, and git is not told: look at the notes, then `git add` them.

    The exit code is 1 if a conflict is left.
    """,
    examples=(("memory-bank git resolve", "after `git merge`"),),
)
def _resolve(call: Call) -> int:
    """Finish conflicts of notes that need no decision."""
    from memory_bank.review import git_merges

    with call.open() as bank:
        found = git_merges.resolve(bank)
    left = [one for one in found if one.outcome == "left"]
    call.answer({"result_count": len(found), "notes": found}, lambda _: _show_resolved(call, found))
    return NOTHING if left else FOUND


def _show(call: Call, found: GitSetup) -> None:
    for part in found.parts:
        state = ("set  ", "good") if part.is_set else ("wrong  ", "bad")
        call.console.line(state, part.name, f": {part.value}" if part.value else "")
        if part.problem:
            call.console.line("       ", part.problem)
    if not found.is_set:
        call.console.line("next: ", ("memory-bank git install", "bold"))


def _show_change(call: Call, done: GitSetup, verb: str, nothing: str) -> None:
    for part in done.parts:
        if part.name in done.written:
            where = call.place(part.name) if part.name.startswith(".") else part.name
            call.console.line(f"{verb} ", (where, "place"), f": {part.value}" if part.value else "")
    if not done.written:
        call.console.line(nothing)
    elif verb == "wrote":
        call.console.line("next: ", (f"git add {call.place('.gitattributes')}", "bold"))


def _show_resolved(call: Call, found: tuple[Resolved, ...]) -> None:
    if not found:
        call.remark("git left no conflict in a note")
    for one in found:
        if one.outcome == "merged":
            call.console.line(("merged  ", "good"), (call.place(one.path), "place"))
        elif one.outcome == "two_notes":
            call.console.line(
                ("two notes  ", "good"), (call.place(one.path), "place"),
                " and ", (call.place(one.new_path), "place"),
                ": links by this name lead to the first one",
            )  # fmt: skip
        else:
            call.console.line(("left  ", "bad"), (call.place(one.path), "place"), f": {one.reason}")
    done = [one for one in found if one.outcome != "left"]
    paths = [path for one in done for path in (one.path, one.new_path) if path]
    if paths:
        words = " ".join(shlex.quote(call.place(path)) for path in paths)
        call.console.line("next: ", (f"git add {words}", "bold"))


topic(
    "git",
    "Let git merge and show notes by section.",
    group="Review",
    why="""
    install tells git to merge notes with memory-bank; check shows whether it does; resolve
    finishes conflicts that a merge left.
    """,
    examples=(
        ("memory-bank git install", "in each clone"),
        ("memory-bank git resolve", "after a merge with conflicts"),
    ),
    options=True,
)
