"""The files by which agents' programs read a project's rules: AGENTS.md, and what leads to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from memory_bank.agents import client_files, clients
from memory_bank.agents.clients.base import leads_to, read_texts
from memory_bank.bank import written_files
from memory_bank.bank.bank import Bank
from memory_bank.bank.written_files import FileEdit
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, Conflict
from memory_bank.base.filenames import FOLDER
from memory_bank.git import repository
from memory_bank.memory import rules_block
from memory_bank.memory.rules import (
    COMMITS_UNKNOWN,
    ProjectRule,
    ProjectRules,
    list_indexed_rules,
    list_rules,
)
from memory_bank.memory.rules_block import FILE, FoundBlock

_CLAUDE = ".claude/CLAUDE.md"
"""A file that Claude Code reads beside any other CLAUDE.md, and no other program does."""

_IMPORT = "@../AGENTS.md"

_MARKED = f"<!-- {rules_block.MARKER}: the next line leads Claude Code to them -->"
"""The line above the import in a file that has something else."""

_GEMINI = ".gemini/settings.json"

_LED = ("CLAUDE.md", "GEMINI.md")
"""A project with such a file has people with the program, who need the file that leads there."""

_NAMES = ("context", "fileName")

_GEMINI_DEFAULT = "GEMINI.md"


class RuleFiles(NamedTuple):
    """What is in the files, and what should be."""

    file: str
    """The file with the block."""
    block: FoundBlock
    rules: tuple[ProjectRule, ...]
    pending: tuple[ProjectRule, ...]
    """Rules that are not in the block, each with its reason."""
    left_out: tuple[str, ...]
    """Names of rules for which the block has no room."""
    edits: tuple[FileEdit, ...]
    """The changes that make the files what they should be."""
    remarks: tuple[str, ...]
    unread: tuple[str, ...] = ()
    """Why programs of the project would not see the block, though the files are written."""

    @property
    def current(self) -> bool:
        """Whether the files are what they should be, and each program sees the block."""
        return self.block.state == "current" and not (self.edits or self.unread)


def check_files(bank: Bank, *, remove: bool = False) -> RuleFiles:
    """Return the state of the files, and the changes that they need.

    With `remove`, the changes take out what was written. Raises BadInput outside a project.
    """
    if bank.layout.root.name != FOLDER:
        raise BadInput("this bank is in no project, whose agents could read its rules", "")
    # what is taken out asks for no rules, of which git must know the reviews
    project_rules = ProjectRules((), ()) if remove else list_rules(bank)
    settings = bank.settings
    written_block = rules_block.write_block(
        project_rules.rules, rules_block.BLOCK_BYTES, settings.secrets.allow
    )
    text = "" if remove else written_block.text
    project = bank.layout.project
    file = written_files.project_file(project, FILE)
    before = written_files.read_text(file)
    after = rules_block.replace_block(before, text)
    refused = [
        project_rule._replace(waits=rules_block.REFUSED) for project_rule in written_block.refused
    ]
    listed = [
        project_rule
        for project_rule in project_rules.rules
        if project_rule not in written_block.refused
    ]
    leading = list(_plan_pointers(project, add=bool(text)))
    edits = [FileEdit(file, before, after), *leading]
    changed = tuple(file_edit for file_edit in edits if file_edit.changed)
    led = [
        file_edit.file
        for file_edit, name in zip(leading, _LED, strict=True)
        if (project / name).is_file()
    ]
    needed = [file, *led] if text else []
    return RuleFiles(
        str(file),
        rules_block.read_block(before, text),
        tuple(listed),
        (*refused, *project_rules.pending),
        written_block.left_out,
        changed,
        (*project_rules.limits, *_yield_remarks(after or "", project_rules.pending)),
        tuple(_explain_unread(project, text, needed, written=not changed)),
    )


def _explain_unread(
    project: Path, rule: str, needed: Sequence[Path], *, written: bool
) -> Iterator[str]:
    """Yield why a clone of the project, or a program in it, would not see the block.

    What programs load is looked at once the files are `written`.
    """
    tree = repository.find_worktree(project) if rule else None
    for file in needed:
        if tree and file.exists() and repository.is_ignored(tree, file):
            yield f"git ignores {file.relative_to(project)}: no clone has it; track it"
    lines = set(rule.splitlines()) if written else set()
    for name in clients.list_clients(clients.INSTRUCTIONS) if lines else ():
        texts = clients.load_texts(name, project)
        if lines <= {line for text in texts.values() for line in text.splitlines()}:
            continue
        title = client_files.hook_client(name).title
        files = ", ".join(os.path.relpath(file, project) for file in texts) or "nothing"
        cut = f", of all together {rules_block.MOST_FILE_BYTES:,} bytes"
        more = cut if any(file.name == FILE for file in texts) else f" and no {FILE}"
        yield f"{title} does not see the block: it reads {files}{more}"


def list_unread_rules(bank: Bank, client: str) -> tuple[str, ...]:
    """Return what those rules say that count and that a client has not read, each on a line.

    It has read those that stand in a file of instructions that its program loads. One whose line
    has a secret is left out. Files of the bank that changed since it was asked last are not looked
    at.
    """
    if bank.layout.root.name != FOLDER:
        return ()
    project_rules, settings = list_indexed_rules(bank).rules, bank.settings
    texts = clients.load_texts(client, bank.layout.project).values()
    refused = rules_block.write_block(
        project_rules, rules_block.BLOCK_BYTES, settings.secrets.allow
    ).refused
    lines = {line for text in texts for line in text.splitlines()}
    return tuple(
        whole.removeprefix("- ")
        for rule in project_rules
        if (whole := rules_block.describe_rule(rule, whole=True)) not in lines
        and rules_block.describe_rule(rule, whole=False) not in lines
        and rule not in refused
    )


def write_files(rule_files: RuleFiles, *, edited: bool = False) -> None:
    """Make the changes; raise Conflict for a block that somebody edited, unless `edited` says so.

    Raises BadInput for one that is damaged, or has a conflict of which the block is only a part.
    """
    block = rule_files.block
    if block.state == "damaged":
        raise BadInput(
            f"{rule_files.file} stays as it is: {block.problem}", "repair its markers by hand"
        )
    before = next(
        (
            file_edit.before
            for file_edit in rule_files.edits
            if str(file_edit.file) == rule_files.file
        ),
        None,
    )
    if block.state == "conflict" and not rules_block.is_only_in_block(before or ""):
        raise BadInput(
            f"{rule_files.file} has a conflict beside the block of rules",
            "resolve that one first: keep either version of the block",
        )
    if block.state == "edited" and not edited:
        raise Conflict(
            f"somebody edited the block of rules in {rule_files.file}: {' | '.join(block.added)}",
            "make notes of what is new (remember --type rule), then write it with --discard-edits",
        )
    for file_edit in rule_files.edits:
        file_edit.write()


def _plan_pointers(project: Path, *, add: bool) -> Iterator[FileEdit]:
    """Yield the changes of files that make other programs read AGENTS.md."""
    yield _plan_claude_file(written_files.project_file(project, _CLAUDE), project, add=add)
    yield _plan_gemini_file(written_files.project_file(project, _GEMINI), add=add)


def _plan_claude_file(file: Path, project: Path, *, add: bool) -> FileEdit:
    """Import AGENTS.md for Claude Code, which else reads none beside a CLAUDE.md.

    Nothing is needed where a CLAUDE.md of the project is a link to it, or imports it.
    """
    text = written_files.read_text(file)
    newline = "\r\n" if text and "\r\n" in text else "\n"
    ours = f"{newline}{_MARKED}{newline}{_IMPORT}{newline}"
    theirs = text and text.replace(ours, "", 1)
    if text is not None and text.strip() == _IMPORT and len(text) <= len(_IMPORT) + len(newline):
        theirs = None
    goal = project / FILE
    read = read_texts(project, [project / "CLAUDE.md"], imports=True)
    if not add or leads_to(goal, {**read, file: theirs or ""}):
        return FileEdit(file, text, theirs)
    return FileEdit(file, text, f"{_IMPORT}\n" if theirs is None else theirs + ours)


def _plan_gemini_file(file: Path, *, add: bool) -> FileEdit:
    """Name AGENTS.md in the settings of Gemini CLI, which else reads only GEMINI.md."""
    text, editor = written_files.read_text(file), client_files.mcp_client("gemini").editor
    with written_files.explain_errors(file):
        entry = editor.value_at(text, _NAMES) if text else None
        names = entry if isinstance(entry, list) else [entry or _GEMINI_DEFAULT]
        if add == (FILE in names):
            return FileEdit(file, text, text)
        if add:
            return FileEdit(file, text, editor.set_value(text or "", _NAMES, [*names, FILE]))
        rest = [name for name in names if name != FILE]
        if rest != [_GEMINI_DEFAULT]:
            value = rest[0] if len(rest) == 1 else rest
            return FileEdit(file, text, editor.set_value(text or "", _NAMES, value))
        after = editor.remove(text or "", _NAMES)
        return FileEdit(file, text, after if after.strip() else None)


def _yield_remarks(text: str, pending: tuple[ProjectRule, ...]) -> Iterator[str]:
    size = len(text.encode())
    if size > rules_block.MOST_FILE_BYTES:
        most = rules_block.MOST_FILE_BYTES
        yield f"{FILE} has {size:,} bytes: Codex reads {most:,} of all such files together"
    if any(project_rule.waits == COMMITS_UNKNOWN for project_rule in pending):
        yield "the history of some rules is not here: fetch it all (git fetch --unshallow)"
