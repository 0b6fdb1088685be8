"""`memory-bank init`: create a bank."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import click

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count, document, named
from memory_bank.base.screen import Call, place
from memory_bank.frontends.cli.text_input import interactive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_bank.bank.setup import IncludeCandidate, MadeBank


@operation(
    "init",
    why="""
    Creates `.memories/` with a settings file, in which every line is a comment, and a `.gitignore`
    for derived and private files. Both belong in git. Existing files are not changed.

    If the project has decision records, CLAUDE.md, AGENTS.md, a memory-bank/, .serena/memories/
    or a vault of Obsidian, asks on a terminal whether to include them: they are then found and
    linked like notes, but stay where they are and are read-only. --include does it without a
    question, also in an existing bank; it sets memory.include in the bank's settings.

    With --user the bank is created in your own data folder instead: for notes that belong to no
    project, or to a project whose repository you can't change. Use it with `--bank NAME`.
    """,
    examples=(
        ("memory-bank init", "in the working directory"),
        ("memory-bank init --include docs/adr --include CLAUDE.md", "with what is there"),
        ("memory-bank init ~/work/shop", "in another project"),
        ("memory-bank init --user recipes", "a bank of your own"),
    ),
    group="Start",
)
def command(
    call: Call,
    *,
    folder: Annotated[str | None, Param(argument=True, metavar="[DIR]", path="folder")] = None,
    user: Annotated[str, Param("Create a bank of your own, of this name", metavar="NAME")] = "",
    include: Annotated[
        tuple[str, ...],
        Param("Include this folder or file of the project; repeatable", metavar="PATH", path="any"),
    ] = (),
    here: Annotated[bool, Param("Create it inside a project that has a bank already")] = False,
) -> int:
    """Create a bank in a project, or one of your own."""
    from memory_bank.bank import setup

    if user and folder:
        raise call.usage_error("give a folder or --user NAME, not both")
    if not (user or here):
        _check_enclosing(call, folder)
    asks = not (call.json or user or include) and interactive()
    if asks:
        include = _chosen(call, setup.candidates(folder))
    made = setup.init(folder, user=user, include=include)

    def render(made: MadeBank) -> None:
        shown = place(made.bank)
        verb = "created" if made.created else "already exists:"
        call.console.line(f"{verb} ", (shown, "place"))
        for file in made.created:
            call.console.line("  ", (place(file), "place"))
        for path in made.included:
            call.console.line("  includes ", (named(path), "place"))
        at = f"--bank {shlex.quote(user or shown)} " if user or folder else ""
        call.console.line(
            "next: ", (f'memory-bank {at}remember "what should be known later"', "bold")
        )
        if made.created and not user:
            call.console.line("for agents: ", ("memory-bank hooks install --client NAME", "bold"))
        if made.found and not asks:
            _show_found(call, made, folder)

    call.answer(made, render)
    return 0


def _check_enclosing(call: Call, folder: str | None) -> None:
    """Ask before a bank is made inside a project that has one."""
    from memory_bank.bank import setup

    found = setup.enclosing(folder)
    if not found:
        return
    if call.json or not interactive():
        raise BadInput(
            f"this folder is part of a project that has a bank already: {place(found)}",
            "use that bank: every command finds it from here; or add --here to make another one",
        )
    call.stderr.line("This folder is part of a project that has a bank: ", (place(found), "place"))
    call.stderr.flush()
    if not click.confirm("Make another bank here?", err=True):
        raise click.Abort


def _chosen(call: Call, found: Sequence[IncludeCandidate]) -> tuple[str, ...]:
    """Ask which files and folders to include."""
    from memory_bank.bank import setup

    chosen: list[str] = []
    for one in found:
        if any(setup.covers(path, one.path) for path in chosen):
            continue
        call.stderr.flush()
        what = "" if one.path.endswith(".md") else f" ({count(one.notes, 'Markdown file')})"
        asked = f"Find {named(one.path)}{what} as notes, too? They are only read."
        if click.confirm(asked, default=True, err=True):
            chosen.append(one.path)
    return tuple(chosen)


def _show_found(call: Call, made: MadeBank, folder: str | None) -> None:
    """Say what could be included, and how."""
    paths = [one.path for one in made.found]
    at = f" {shlex.quote(place(folder))}" if folder else ""
    options = " ".join(f"--include {shlex.quote(named(path))}" for path in paths)
    line = document([*made.included, *paths], indent=None)
    call.remark(f"to find {', '.join(map(named, paths))} as notes, too, without changing them:")
    call.remark(f"  memory-bank init{at} {options}")
    call.remark(f"or in {place(made.bank)}/config.toml, below [memory]: include = {named(line)}")
