"""`memory-bank review`: show what a change does to the notes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import FailOn, Param, operation
from memory_bank.base.rendering import document
from memory_bank.base.screen import FINDINGS, FOUND, Call
from memory_bank.base.version import __version__

if TYPE_CHECKING:
    from memory_bank.review.report import Review


FORMATS = ("terminal", "json", "markdown", "sarif", "github", "gitlab")


@operation(
    "review",
    why="""
    Shows what a change does to the notes: claims, keys and links added, changed and removed by
    section; links that break; notes made orphans; similar, superseded and archived notes; tokens;
    findings of the lint rules, new or not. Two dots compare with the merge base, as a pull request
    does. One revision is compared with the work tree, as by `git diff`. By default, the change is
    that of HEAD since the merge base with the default branch. No program of the repository runs.
    """,
    examples=(
        ("memory-bank review", "what this branch changes"),
        ("memory-bank review --worktree", "the same, with what is not committed"),
        ("memory-bank review --staged", "what the next commit changes"),
        ("memory-bank review v1.0..HEAD --all", "every claim since a release"),
        ("memory-bank review --format sarif --output review.sarif", "for a program"),
        (
            "memory-bank review --format github --output a --format sarif --output b",
            "two of them, of one run",
        ),
    ),
    group="Review",
)
def command(
    call: Call,
    *,
    revisions: Annotated[str | None, Param(argument=True, metavar="[BASE..HEAD]")] = None,
    staged: Annotated[bool, Param("What is staged, compared with HEAD")] = False,
    worktree: Annotated[bool, Param("The work tree in place of HEAD")] = False,
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
    """Show what a change does to the notes."""
    from memory_bank.review import lint
    from memory_bank.review import review as actions

    formats = _formats(call, formats, outputs)
    opened = partial(actions.opened, revisions=revisions, staged=staged, worktree=worktree)
    with call.open(opened) as bank:
        review = actions.review(bank, revisions, staged=staged, worktree=worktree)
    for shown_as, file in zip(formats, outputs, strict=False):
        from memory_bank.bank import output_files

        text = _rendered(review, shown_as)
        output_files.write(Path(file), text.encode("utf-8", "replace"))
    if not outputs:
        _show(call, review, formats[0], every=every)
    failed = lint.fails(review.worst(), fail_on or "error")
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
        from memory_bank.frontends.cli import review_view

        review_view.show(call, review, every=every)
        call.notices(review.notices)
    else:
        call.console.write(_rendered(review, shown_as))


def _rendered(review: Review, shown_as: str) -> str:
    """Return a review in a format for other programs, with a line end."""
    from memory_bank.review.formats import annotations, code_quality, markdown, sarif

    if shown_as == "json":
        text = document(review)
    elif shown_as == "markdown":
        text = markdown.markdown(review)
    elif shown_as == "sarif":
        text = sarif.sarif(review, __version__)
    elif shown_as == "github":
        text = annotations.workflow_commands(review.findings)
    else:
        text = code_quality.code_quality(review.findings)
    return text if text.endswith("\n") or not text else f"{text}\n"
