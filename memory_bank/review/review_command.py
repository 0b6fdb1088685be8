"""Write a review in the formats that a command names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import FailOn, Param
from memory_bank.base.rendering import document
from memory_bank.base.screen import FINDINGS, FOUND, Call
from memory_bank.base.version import __version__

if TYPE_CHECKING:
    from memory_bank.review.report import Review


FORMATS = ("terminal", "json", "markdown", "sarif", "github")


def review(
    call: Call,
    revisions: str | None = None,
    *,
    staged: bool = False,
    worktree: bool = False,
    formats: Annotated[
        Sequence[str],
        Param(
            f"{', '.join(FORMATS)}; default: terminal",
            flags="--format",
            metavar="FORMAT",
            choices=FORMATS,
        ),
    ] = (),
    outputs: Annotated[
        tuple[str, ...],
        Param(
            "Write it to a file; several formats need a file each",
            flags="--output",
            metavar="FILE",
            path="any",
        ),
    ] = (),
    every: Annotated[
        bool, Param("Every finding and claim, not the first ones", flags="--all")
    ] = False,
    fail_on: FailOn = None,
) -> int:
    """Compare two states of the notes, and write the answer in one format or several."""
    from memory_bank.review import lint
    from memory_bank.review import review as verb

    formats = _formats(call, formats, outputs)
    opened = partial(verb.opened, revisions=revisions, staged=staged, worktree=worktree)
    with call.open(opened) as bank:
        found = verb.review(bank, revisions, staged=staged, worktree=worktree)
    for shown_as, file in zip(formats, outputs, strict=False):
        from memory_bank.bank import output_files

        text = _rendered(found, shown_as)
        output_files.write(Path(file), text.encode("utf-8", "replace"))
    if not outputs:
        _show(call, found, formats[0], every=every)
    failed = lint.fails(found.worst(), fail_on or "error")
    return FINDINGS if failed else FOUND


def _formats(call: Call, given: Sequence[str], outputs: Sequence[str]) -> Sequence[str]:
    """Return the formats, one for each file, or one for stdout; raise UsageError."""
    if call.json and set(given) - {"json"}:
        raise call.usage_error("--json and --format say different things")
    formats = given or ("json" if call.json else "terminal",)
    if outputs and "terminal" in formats:
        raise call.usage_error("--output needs --format or --json")
    if len(formats) != max(len(outputs), 1):
        raise call.usage_error("several formats need an --output each, in their order")
    return formats


def _show(call: Call, review: Review, shown_as: str, *, every: bool) -> None:
    """Print a review."""
    if shown_as == "json":
        call.console.document(review)
    elif shown_as == "terminal":
        from memory_bank.review import shown

        shown.show(call, review, every=every)
        call.notices(review.notices)
    else:
        call.console.write(_rendered(review, shown_as))


def _rendered(review: Review, shown_as: str) -> str:
    """Return a review in a format for other programs, with a line end."""
    from memory_bank.review.formats import annotations, markdown, sarif

    if shown_as == "json":
        text = document(review)
    elif shown_as == "markdown":
        text = markdown.markdown(review)
    elif shown_as == "sarif":
        text = sarif.sarif(review, __version__)
    else:
        text = annotations.workflow_commands(review.findings)
    return text if text.endswith("\n") or not text else f"{text}\n"
