"""`memory-bank rules`: the rules that hold, and the block of them in AGENTS.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from memory_bank.agents import bundle, rule_files
from memory_bank.agents.rule_files import RuleFiles
from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import has_same_words, quote_path
from memory_bank.base.screen import FINDINGS, FOUND, NOTHING, Call, show_place
from memory_bank.memory import rules
from memory_bank.memory.rules import ProjectRule

_FOR = " for it"

_WAITS_FOR = "for a commit or a review: memory-bank rules --pending"

_STATES = {
    "missing": "it is not there",
    "outdated": "its notes changed since it was written",
    "edited": "somebody edited it",
}


@operation(
    "rules",
    why="""
    A rule is a note of the type `rule`, or with `pin: true`. It counts once it is committed and, in
    a repository that has pull requests or reviewers, reviewed: any agent can write such a note.
    --pending lists those that wait, with the reason. Archived and superseded ones are none.

    A rule with `applies_to` in its front matter, a pattern of files or a list of them, is for these
    files: --for lists the rules that concern a file.

    --write puts the rules into a block of AGENTS.md, one line each, which most agents read first;
    all else in the file stays. .claude/CLAUDE.md, which only Claude Code reads, imports it, and
    .gemini/settings.json names it. Same notes, same bytes; the limit is 4,096 bytes.
    --check compares only: the exit code is 1 if something would be written, or a program would not
    see the block. A block that somebody
    edited is not overwritten without --discard-edits. --remove takes all of it out again.
    """,
    examples=(
        ("memory-bank rules", "the rules that hold"),
        ("memory-bank rules --for src/db/schema.py", "those that concern a file"),
        ("memory-bank rules --pending", "those that wait for a commit or a review"),
        ("memory-bank rules --write", "write the block; commit it"),
        ("memory-bank rules --check", "for CI and pre-commit"),
    ),
    group="Agents",
)
def list_rules(
    call: Call,
    *,
    files: Annotated[
        tuple[str, ...],
        Param("Rules that concern this file; repeatable", flags="--for", metavar="FILE"),
    ] = (),
    pending: Annotated[bool, Param("Rules that wait for a commit or a review")] = False,
    write: Annotated[bool, Param("Write the block of AGENTS.md, and what leads to it")] = False,
    check: Annotated[bool, Param("Only compare; exit with 1 if it differs")] = False,
    remove: Annotated[bool, Param("Take out what --write wrote")] = False,
    discard_edits: Annotated[bool, Param("With --write: drop edits of the block")] = False,
) -> int:
    """List the rules that hold, and keep them in AGENTS.md."""
    if sum((bool(files), pending, write, check, remove)) > 1:
        raise call.usage_error("give one of --for, --pending, --write, --check and --remove")
    if write or check or remove:
        return _keep_block(call, write=write, remove=remove, discard_edits=discard_edits)
    with call.open() as bank:
        project_rules = rules.list_rules(bank)
        chosen = project_rules.pending if pending else project_rules.rules
        if files:
            project = bank.layout.project
            chosen = rules.select_rules(chosen, [_find_path(project, file) for file in files])
    if call.json:
        call.document(
            {"result_count": len(chosen), "rules": chosen, "notices": project_rules.limits}
        )
    else:
        _show_rules(call, chosen)
        if not chosen:
            call.remark("no rule waits" if pending else "there is no rule" + _FOR * bool(files))
        if project_rules.pending and not pending:
            call.remark(f"{_count_waiting(project_rules.pending)} {_WAITS_FOR}")
        call.notices(project_rules.limits)
    return FOUND if chosen else NOTHING


def _find_path(project: object, file: str) -> str:
    """Return a file's path from the project's root: as given, or from the working directory."""
    root, path = Path(str(project)), Path(file)
    whole = Path.cwd() / path
    if path.is_absolute() or (whole.exists() and not (root / path).exists()):
        whole = whole.resolve()
        if not whole.is_relative_to(root):
            raise BadInput(f"{file} is outside of {root}", "name a file of the project")
        return whole.relative_to(root).as_posix()
    return path.as_posix().removeprefix("./")


def _show_rules(call: Call, rules: Sequence[ProjectRule]) -> None:
    for project_rule in rules:
        once = has_same_words(project_rule.title, project_rule.text)
        head = (
            (project_rule.text if once else project_rule.title)
            or project_rule.text
            or project_rule.name
        )
        scopes = (
            f"  {quote_path(', '.join(project_rule.applies_to))}" if project_rule.applies_to else ""
        )
        call.console.line((call.place(project_rule.path), "place"), f"  {head}", scopes)
        if project_rule.title and project_rule.text and not once:
            call.console.line(f"    {project_rule.text}")
        if project_rule.waits:
            call.console.line("    waits: ", (project_rule.waits, "warn"))


def _keep_block(call: Call, *, write: bool, remove: bool, discard_edits: bool) -> int:
    with call.open() as bank:
        report = rule_files.check_files(bank, remove=remove)
        if write or remove:
            rule_files.write_files(report, edited=discard_edits)
    if call.json:
        entries = {
            "file": report.file,
            "state": report.block.state,
            "edited": report.block.added,
            "rules": report.rules,
            "pending": report.pending,
            "left_out": report.left_out,
            "changed": [str(file_edit.file) for file_edit in report.edits],
            "unread": report.unread,
            "notices": report.remarks,
        }
        call.document(entries)
    else:
        _show_block(call, report, write=write, remove=remove)
        call.notices(report.remarks)
    return FOUND if write or remove or report.current else FINDINGS


def _show_block(call: Call, report: RuleFiles, *, write: bool, remove: bool) -> None:
    is_changed = write or remove
    if is_changed:
        for file_edit in report.edits:
            verb = "removed " if file_edit.after is None else "wrote "
            call.console.line(verb, (show_place(file_edit.file), "place"))
        if report.edits:
            call.remark("commit them")
        if report.edits and write and not bundle.is_there(Path(report.file).parent):
            call.remark("next, for a team's agents: memory-bank agents bundle")
        for reason in report.unread:
            call.warn(reason)
    else:
        _show_comparison(call, report)
    if (report.current and not is_changed) or (is_changed and not report.edits):
        text = "AGENTS.md has all rules" if report.rules else "there is no rule"
        call.console.line("nothing to remove" if remove else f"nothing to write: {text}")
    if report.left_out:
        names = ", ".join(map(quote_path, report.left_out))
        call.remark(f"no room in the block for {names}: archive some")
    if report.pending:
        call.remark(f"{_count_waiting(report.pending)} {_WAITS_FOR}")


def _show_comparison(call: Call, report: RuleFiles) -> None:
    block = report.block
    for reason in report.unread:
        call.console.line((reason, "bad"))
    if block.state != "current":
        problem = block.problem or _STATES[block.state]
        call.console.line(
            (show_place(report.file), "place"), ": the block of rules: ", (problem, "bad")
        )
    for line in block.added:
        call.console.line(f"  {line}")
    for file_edit in report.edits:
        if str(file_edit.file) != report.file:
            call.console.line((show_place(file_edit.file), "place"), ": would be written")
    if report.edits or report.block.state != "current":
        call.console.line("next: ", ("memory-bank rules --write", "bold"))


def _count_waiting(pending: Sequence[ProjectRule]) -> str:
    return "1 rule waits" if len(pending) == 1 else f"{len(pending)} rules wait"
