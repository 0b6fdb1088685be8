"""`memory-bank site`: make the notes readable for people without the tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.rendering import count
from memory_bank.base.screen import FINDINGS, FOUND, Call

if TYPE_CHECKING:
    from memory_bank.frontends.web.written_site import Built


_OUTPUT = "memory-site"


@operation(
    "site build",
    why="""
    Writes the pages of the dashboard as files, which any web server or a project's Pages site can
    serve below any path, and which can be opened from disk: notes with who wrote them and whether
    they hold, their histories, lists, and a search. Nothing needs the tool or a server.

    Only what git has at that commit is there: no change that is not committed, no ignored note, and
    no session. A note with a secret is left out and listed, and the exit code is 1; so is a page
    that shows a former text with one. The same commit gives the same files.

    The folder must be new, empty, or made by this command before; then files that the site no
    longer has are removed. See docs/dashboard.md for a workflow that publishes it.
    """,
    examples=(
        ("memory-bank site build", f"into ./{_OUTPUT}"),
        ("memory-bank site build --output /tmp/site", "into another folder"),
        ("memory-bank site build --rev v2.0", "the notes of a release"),
    ),
)
def _build(
    call: Call,
    *,
    output: Annotated[
        str, Param("The folder to write", metavar="DIR", path="folder", shown_default=_OUTPUT)
    ] = _OUTPUT,
    rev: Annotated[str, Param("The commit, by default HEAD", metavar="REV")] = "HEAD",
) -> int:
    """Write the notes as a static site."""
    from memory_bank.frontends.web import exporting
    from memory_bank.frontends.web.written_site import build

    with call.open() as bank, exporting.exported(bank, rev) as export:
        done = build(export, Path(output), call.progress)
    call.answer(done, lambda done: _show(call, done))
    return FINDINGS if done.refused else FOUND


def _show(call: Call, done: Built) -> None:
    console = call.console
    console.line(
        ("written", "good"), f": {count(done.pages, 'page')} of {count(done.notes, 'note')} in ",
        (done.folder, "place"), f", {done.bytes / 1e6:.1f} MB, at commit {done.commit[:12]}",
    )  # fmt: skip
    if done.removed:
        console.line(f"  removed {count(len(done.removed), 'file')} of the site before")
    for one in done.refused:
        console.line((one.what, "place"), ": ", ("left out", "bad"), f": {one.reason}")


topic(
    "site",
    "Make the notes readable for people without the tool.",
    group="Share",
    why="""
    Makes a static site of the notes: pages that need neither the tool nor a server.
    """,
    examples=(("memory-bank site build", "write it"),),
)
