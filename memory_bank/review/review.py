"""Review what a change does to the notes of a bank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from memory_bank.bank import written_files
from memory_bank.bank.bank import Bank
from memory_bank.base import __version__
from memory_bank.base.operation import FailOn, Param, Tool, operation
from memory_bank.base.rendering import count, render_document
from memory_bank.base.screen import FINDINGS, FOUND, Call
from memory_bank.base.view import write_view
from memory_bank.git import repository
from memory_bank.review import lint, review_markdown, sarif, views
from memory_bank.review.compared_banks import compare_banks, list_unread_notes, open_side
from memory_bank.review.records import Review
from memory_bank.review.revision_range import resolve_sides
from memory_bank.review.sarif import workflow_commands

FORMATS = ("terminal", "json", "markdown", "sarif", "github")


def _review_in_formats(
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
    formats = _choose_formats(call, formats, outputs)
    with call.open() as bank:
        report = review(bank, revisions, staged=staged, worktree=worktree)
        root = bank.layout.root
        uncommitted: set[str] = set()
        if not (revisions or staged or worktree):
            uncommitted = {*repository.list_uncommitted(root), *repository.list_untracked(root)}
        notes = sum(name.endswith(".md") for name in uncommitted)
    for form, file in zip(formats, outputs, strict=False):
        text = _render_format(report, form)
        written_files.write_file(Path(file), text.encode("utf-8", "replace"))
    if not outputs:
        _show_review(call, report, formats[0], every=every)
        if notes and formats[0] == "terminal":
            is_are = "is" if notes == 1 else "are"
            call.remark(
                f"{count(notes, 'note')} {is_are} not committed: memory-bank review --worktree"
            )
    failed = lint.is_failure(report.worst, fail_on or "error")
    return FINDINGS if failed else FOUND


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
    through=_review_in_formats,
    view=views.view_review,
    tool=Tool(
        """Show what a change does to the notes: claims, broken links, similar notes, lint findings.
        By default, that of this branch.""",
        "review",
        aside=True,
        reads=True,
    ),
)
def review(
    bank: Bank,
    revisions: Annotated[
        str | None,
        Param(
            argument=True, metavar="[BASE..HEAD]", longest=1000, about="BASE..HEAD, or one revision"
        ),
    ] = None,
    *,
    staged: Annotated[bool, Param("What is staged, compared with HEAD")] = False,
    worktree: Annotated[bool, Param("The work tree in place of HEAD")] = False,
) -> Review:
    """Show what a change does to the notes.

    Compare the notes of two revisions, and return what changed and what it breaks.

    See `review_range.sides` for the revisions. Neither the work tree nor the bank's private state
    changes, and no access is counted. Raises NoRepository and BadInput.
    """
    base, head = resolve_sides(bank.layout.root, revisions, staged=staged, worktree=worktree)
    unread_notes = list_unread_notes(bank, base, head)
    with (
        open_side(bank, base, unread_notes) as before,
        open_side(bank, head, unread_notes) as after,
    ):
        return compare_banks(bank, before, after, base, head, unread_notes)


def _choose_formats(call: Call, path: Sequence[str], outputs: Sequence[str]) -> Sequence[str]:
    """Return the formats, one for each file, or one for stdout; raise UsageError."""
    if call.json and set(path) - {"json"}:
        raise call.usage_error("--json and --format say different things")
    formats = path or ("json" if call.json else "terminal",)
    if outputs and "terminal" in formats:
        raise call.usage_error("--output needs --format or --json")
    if len(formats) != max(len(outputs), 1):
        raise call.usage_error("several formats need an --output each, in their order")
    return formats


def _show_review(call: Call, report: Review, form: str, *, every: bool) -> None:
    """Print a review."""
    if form == "json":
        call.console.document(report)
    elif form == "terminal":
        write_view(call, report, views.view_review(report, call=call, every=every))
    else:
        call.console.write(_render_format(report, form))


def _render_format(report: Review, form: str) -> str:
    """Return a review in a format for other programs, with a line end."""
    if form == "json":
        text = render_document(report)
    elif form == "markdown":
        text = review_markdown.render_review(report)
    elif form == "sarif":
        text = sarif.render_log(report, __version__)
    else:
        text = workflow_commands(report.findings)
    return text if text.endswith("\n") or not text else f"{text}\n"
