"""The files by which agents' programs read a project's rules: AGENTS.md, and what leads to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from memory_bank.agents import client_files
from memory_bank.bank import program_files
from memory_bank.bank.bank import Bank
from memory_bank.bank.program_files import FileEdit
from memory_bank.base.errors import BadInput, Conflict
from memory_bank.base.filenames import FOLDER
from memory_bank.memory import rules_block
from memory_bank.memory.rules import COMMITS_UNKNOWN, ProjectRule, globs, indexed, rules
from memory_bank.memory.rules_block import FILE, FoundBlock, is_signed, signed
from memory_bank.notes.identity import slug

_CLAUDE = (".claude/CLAUDE.md", "CLAUDE.md")
"""Either makes Claude Code read no AGENTS.md that it does not import; the first is ours."""

_IMPORT = "@../AGENTS.md\n"

_GEMINI = ".gemini/settings.json"

_NAMES = ("context", "fileName")

_GEMINI_DEFAULT = "GEMINI.md"


@dataclass(frozen=True, slots=True)
class RuleFiles:
    """What is in the files, and what should be."""

    file: str
    """The file with the block."""
    block: FoundBlock
    rules: tuple[ProjectRule, ...]
    pending: tuple[ProjectRule, ...]
    """Rules that are not in the block, each with its reason."""
    left_out: tuple[str, ...]
    """Names of rules for which the block has no room."""
    edited: tuple[str, ...]
    """Files with one rule that somebody edited."""
    edits: tuple[FileEdit, ...]
    """The changes that make the files what they should be."""
    remarks: tuple[str, ...]

    @property
    def current(self) -> bool:
        """Whether the files are what they should be."""
        return self.block.state == "current" and not self.edits


def look(bank: Bank, *, remove: bool = False) -> RuleFiles:
    """Return the state of the files, and the changes that they need.

    With `remove`, the changes take out what was written. Raises BadInput outside a project.
    """
    if bank.layout.root.name != FOLDER:
        raise BadInput("this bank is in no project, whose agents could read its rules", "")
    found = rules(bank)
    settings = bank.settings
    made = rules_block.written(found.rules, settings.rules.block_bytes, settings.secrets.allow)
    wanted = "" if remove else made.text
    project = bank.layout.project
    file = program_files.in_project(project, FILE)
    before = program_files.text(file)
    after = rules_block.replaced(before, wanted)
    refused = [one._replace(waits=rules_block.REFUSED) for one in made.refused]
    folders = () if remove else settings.rules.folders
    listed = [one for one in found.rules if one not in made.refused]
    apart = list(_apart(project, listed, folders))
    edits = [FileEdit(file, before, after), *_pointers(project, wanted=bool(wanted)), *apart]
    return RuleFiles(
        str(file),
        rules_block.look(before, wanted),
        tuple(listed),
        (*refused, *found.pending),
        made.left_out,
        tuple(str(one.file) for one in apart if one.before and not is_signed(one.before)),
        tuple(one for one in edits if one.changed),
        (
            *found.limits,
            *_remarks(project, after or "", found.pending, folders),
            *filter(None, [] if remove else [unused_folders(bank, listed)]),
        ),
    )


def untold(bank: Bank) -> tuple[str, ...]:
    """Return what those rules say that count and are not in AGENTS.md, each on a line.

    One whose line has a secret is left out. Files of the bank that changed since it was asked last
    are not looked at.
    """
    if bank.layout.root.name != FOLDER:
        return ()
    found, settings = indexed(bank).rules, bank.settings
    text = rules_block.text_read(bank.layout.project)
    refused = rules_block.written(found, settings.rules.block_bytes, settings.secrets.allow).refused
    lines = text.splitlines()
    return tuple(
        whole.removeprefix("- ")
        for rule in found
        if (whole := rules_block.described(rule, whole=True)) not in lines
        and rules_block.described(rule, whole=False) not in lines
        and rule not in refused
    )


def write(found: RuleFiles, *, edited: bool = False) -> None:
    """Make the changes; raise Conflict for a block that somebody edited, unless `edited` says so.

    Raises BadInput for one that is damaged, or has a conflict of which the block is only a part.
    """
    block = found.block
    if block.state == "damaged":
        raise BadInput(
            f"{found.file} stays as it is: {block.problem}", "repair its markers by hand"
        )
    before = next((one.before for one in found.edits if str(one.file) == found.file), None)
    if block.state == "conflict" and not rules_block.is_only_in_block(before or ""):
        raise BadInput(
            f"{found.file} has a conflict beside the block of rules",
            "resolve that one first: keep either version of the block",
        )
    if block.state == "edited" and not edited:
        raise Conflict(
            f"somebody edited the block of rules in {found.file}: {' | '.join(block.added)}",
            "make notes of what is new (remember --type rule), then write it with --discard-edits",
        )
    if found.edited and not edited:
        raise Conflict(
            f"somebody edited {', '.join(found.edited)}",
            "make notes of what is new (remember --type rule), then write it with --discard-edits",
        )
    for one in found.edits:
        one.write()


def _apart(
    project: Path, found: Sequence[ProjectRule], folders: Collection[str]
) -> Iterator[FileEdit]:
    """Yield the changes of the files that have one rule each, with the files that it is for."""
    for folder, (suffix, head) in _APART.items():
        texts = dict[str, str]()
        for rule in found if folder in folders else ():
            if scopes := globs(rule):
                stem = f"{_OWN}{slug(rule.name)}"
                ends = chain([""], (f"-{number}" for number in count(2)))
                names = (f"{stem}{end}{suffix}" for end in ends)
                line = rules_block.described(rule._replace(applies_to=()), whole=True)
                texts[next(one for one in names if one not in texts)] = signed(
                    f"---\n{head(scopes)}---\n\n{line}\n"
                )
        place = program_files.in_project(project, folder)
        there = {one.name for one in place.glob(f"{_OWN}*{suffix}")}
        for name in sorted({*texts, *there}):
            file = program_files.in_project(project, f"{folder}/{name}")
            text = program_files.text(file)
            if name in texts or (text is not None and rules_block.MARKER in text):
                yield FileEdit(file, text, texts.get(name))


def _quoted(scopes: Sequence[str]) -> str:
    return "".join(f"  - {json.dumps(one)}\n" for one in scopes)


_OWN = "memory-bank-"

_APART: dict[str, tuple[str, Callable[[Sequence[str]], str]]] = {
    ".cursor/rules": (".mdc", lambda scopes: f"globs: {','.join(scopes)}\nalwaysApply: false\n"),
    ".claude/rules": (".md", lambda scopes: f"paths:\n{_quoted(scopes)}"),
    ".github/instructions": (
        ".instructions.md",
        lambda scopes: f"applyTo: {json.dumps(','.join(scopes))}\n",
    ),
}
"""By folder: the end of names, and the front matter that names a rule's files."""


def _pointers(project: Path, *, wanted: bool) -> Iterator[FileEdit]:
    """Yield the changes of files that make other programs read AGENTS.md."""
    file = program_files.in_project(project, _CLAUDE[0])
    text = program_files.text(file)
    if wanted and not any((project / name).exists() for name in _CLAUDE):
        yield FileEdit(file, None, _IMPORT)
    elif not wanted and text == _IMPORT:
        yield FileEdit(file, text, None)
    yield _gemini(program_files.in_project(project, _GEMINI), wanted=wanted)


def _gemini(file: Path, *, wanted: bool) -> FileEdit:
    """Name AGENTS.md in the settings of Gemini CLI, which else reads only GEMINI.md."""
    text, editor = program_files.text(file), client_files.mcp_client("gemini").editor
    with program_files.explained(file):
        named = editor.value_at(text, _NAMES) if text else None
        names = named if isinstance(named, list) else [named or _GEMINI_DEFAULT]
        if wanted == (FILE in names):
            return FileEdit(file, text, text)
        if wanted:
            return FileEdit(file, text, editor.set_value(text or "", _NAMES, [*names, FILE]))
        rest = [name for name in names if name != FILE]
        if rest != [_GEMINI_DEFAULT]:
            value = rest[0] if len(rest) == 1 else rest
            return FileEdit(file, text, editor.set_value(text or "", _NAMES, value))
        after = editor.remove(text or "", _NAMES)
        return FileEdit(file, text, after if after.strip() else None)


def unused_folders(bank: Bank, found: Sequence[ProjectRule]) -> str:
    """Return what to say of folders that are there and could have the rules that name files."""
    many = sum(bool(globs(rule)) for rule in found)
    project, had = bank.layout.project, bank.settings.rules.folders
    there = [one for one in _APART if one not in had and (project / one).is_dir()]
    if not (many and there):
        return ""
    which = "the rule" if many == 1 else f"each of the {many} rules"
    return (
        f"{' and '.join(there)} can have a file for {which} with applies_to: in the settings,"
        f" below [rules], folders = {json.dumps([*had, *there])}; then rules --write"
    )


def _remarks(
    project: Path, text: str, pending: tuple[ProjectRule, ...], folders: Collection[str]
) -> Iterator[str]:
    if {".claude/rules", ".github/instructions"} <= {*folders}:
        yield "Copilot reads .claude/rules, too: it has the rules of .github/instructions twice"
    size = len(text.encode())
    if size > rules_block.MOST_FILE_BYTES:
        most = rules_block.MOST_FILE_BYTES
        yield f"{FILE} has {size:,} bytes: Codex reads {most:,} of all such files together"
    claude = project / _CLAUDE[1]
    if claude.is_file() and not claude.is_symlink():
        imports = (program_files.text(claude) or "").split()
        if not {f"@{FILE}", f"@./{FILE}"} & {*imports}:
            yield f"Claude Code reads {_CLAUDE[1]} and no {FILE}: import it there with @{FILE}"
    if any(one.waits == COMMITS_UNKNOWN for one in pending):
        yield "the history of some rules is not here: fetch it all (git fetch --unshallow)"
