"""`memory-bank restore`: list the trash, and restore deleted notes."""

from __future__ import annotations

import shlex
from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, Call
from memory_bank.frontends.cli.trash_view import show_trash


@operation(
    "restore",
    why="""
    Without a name, lists the trash, the newest first. With a name, restores the most recently
    deleted note of that name, under the same name or under another with --as. If several versions
    of it are in the trash, --version names another one; `memory-bank trash list NAME` lists them.
    """,
    examples=(
        ("memory-bank restore", "list the trash"),
        ("memory-bank restore ideas/cache", "under its old name"),
        ("memory-bank restore ideas/cache --as ideas/cache-2", "under another name"),
        ("memory-bank restore ideas/cache --version 20260508", "an older version"),
    ),
    group="Organise",
)
def command(
    call: Call,
    *,
    name: Annotated[str | None, Param(argument=True, complete="trashed")] = None,
    new: Annotated[str, Param("Restore it under another name", flags="--as", metavar="NEW")] = "",
    version: Annotated[
        str, Param("Restore the version that starts so; by default the newest", metavar="DIGITS")
    ] = "",
) -> int:
    """Restore a deleted note, or list the trash."""
    from memory_bank.memory import trash

    if name is None and (new or version):
        raise call.usage_error(f"{'--as' if new else '--version'} needs the name of a deleted note")
    with call.open() as bank:
        if name is None:
            return show_trash(call, trash.trash(bank), "the trash is empty")
        path = trash.restore(bank, name, new, version=version)
        others = [] if call.json else trash.trash(bank, name)
    if call.json:
        call.document({"path": path})
        return FOUND
    call.console.line("restored ", (call.place(path), "place"))
    if others:
        more = count(len(others), "other version")
        listed = f"memory-bank trash list {shlex.quote(others[0].path.removesuffix('.md'))}"
        call.remark(f"{more} in the trash: {listed}")
    return FOUND
