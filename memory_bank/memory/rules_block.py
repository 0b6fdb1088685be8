"""The block of current rules in AGENTS.md: one line a rule, the same bytes for the same notes.

An agent reads the file before anything else, and some programs expand `@path` in it to the content
of a file, or leave HTML comments out of what they show; so a note's text is written such that none
of it means anything in Markdown or to them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from typing import Literal

from memory_bank.bank import written_files
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadInput, StorageFailed
from memory_bank.base.filenames import FOLDER
from memory_bank.base.text import one_line
from memory_bank.git import objects, repository
from memory_bank.memory.rules import ProjectRule, list_rules
from memory_bank.notes.characters import BREAK
from memory_bank.notes.merging import conflicts
from memory_bank.notes.secrets import secrets

FILE = "AGENTS.md"

REFUSED = "what it says looks like a secret"

BLOCK_BYTES = 4_096
"""Most bytes of the block."""

MOST_FILE_BYTES = 32_768
"""Bytes that Codex reads of all project files of instructions together; it cuts the rest."""

_BEGIN = lazy_pattern(
    r"^<!-- memory-bank rules v\d+ (?P<hash>[0-9a-f]{12})\b.*-->[ \t]*(?=\r?$)", re.MULTILINE
)

_END = lazy_pattern(r"^<!-- memory-bank rules end -->[ \t]*(?=\r?$)", re.MULTILINE)

MARKER = written_files.RULES

_FIRST = (
    "<!-- memory-bank rules v1 {hash}: written by `memory-bank rules --write`;"
    " change the notes instead -->"
)

_LAST = "<!-- memory-bank rules end -->"

_HEAD = "\n## Rules of this project\n\n"

_TAIL = (
    "\nALWAYS run `memory-bank rules --for FILE` before you change a file{more}."
    " `memory-bank show NAME` has a rule's reasons.\n\n"
)

_MORE = lazy_pattern(r": (\d+) rules? (?:is|are) not listed here")

_MOST_BYTES = 10_000_000
"""Bytes of AGENTS.md that are read; no agent reads as many."""

_DIGITS = 12
"""Digits of the hash by which the block says what it was made of."""

_LONGEST_NAME = 100

_SPECIAL = {"@": "&#64;", "`": "'", "](": "] (", "]:": "] :"}
"""What names a file to Claude Code and Gemini, opens code, or is a link or its definition."""

_HTML = lazy_pattern(r"<(?=[A-Za-z/!?])|(?<=--)>|(?<=--!)>")

_FENCE = lazy_pattern(r"~{3,}")

_STRUCTURE = lazy_pattern(r"^(?:[#>|+*=_-]+|\d{1,9}[.)](?=\s))\s*")


class WrittenBlock(NamedTuple):
    """The text of a block, and which rules are in it."""

    text: str
    """With both markers and `\\n` at its end; empty if there is no rule."""
    left_out: tuple[str, ...] = ()
    """Names of the rules for which there was no room."""
    refused: tuple[ProjectRule, ...] = ()
    """Rules whose line looks like a secret."""


State = Literal["current", "outdated", "edited", "missing", "damaged", "conflict", "unreadable"]


class FoundBlock(NamedTuple):
    """The block that a file has."""

    state: State
    added: tuple[str, ...] = ()
    """Lines that somebody wrote into it."""
    problem: str = ""
    line: int = 1
    """Where it begins."""


def read_bank_block(bank: Bank) -> FoundBlock | None:
    """Return the state of the block beside a bank, as of its revision; None if there is none."""
    try:
        text = _read_agents_file(bank) if bank.layout.root.name == FOLDER else None
    except (BadInput, StorageFailed) as error:  # a link out of the project, for one
        return FoundBlock("unreadable", problem=f"{error.message}: it is not read")
    if text is None or MARKER not in text:
        return None
    settings = bank.settings
    block = write_block(list_rules(bank).rules, BLOCK_BYTES, settings.secrets.allow).text
    return read_block(text, block)._replace(line=text.count("\n", 0, text.index(MARKER)) + 1)


def _read_agents_file(bank: Bank) -> str | None:
    """Return the text of AGENTS.md in a bank's project, as of the bank's revision."""
    layout = bank.layout
    project = layout.origin.project
    tree = repository.find_worktree(project)
    if layout.origin is layout or tree is None:
        return written_files.read_text(written_files.project_file(project, FILE))
    name = f"{layout.commit}:{repository.tree_prefix(tree, project)}{FILE}"  # no commit: staged
    blobs = objects.read_blobs(tree, objects.read_blob_ids(tree, [name]).values(), _MOST_BYTES)
    return next((data.decode("utf-8", "replace") for _, data in blobs), None)


def merge_blocks(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Return three versions of a file with one block: the lines of both sides that neither removed.

    Only what is beside the block is left to merge. Return None unless both sides have a whole block
    that nobody edited. Whether it says what the notes say is for `--check`: git may merge them
    later.
    """
    texts = [version.decode("utf-8", "surrogateescape") for version in (base, ours, theirs)]
    inner = [_inside_of_block(text) for text in texts]
    if inner[1] is None or inner[2] is None:
        return None
    base_rules, our_rules, their_rules = (_rule_lines(lines or "") for lines in inner)
    lines = [line for line in our_rules if line in their_rules or line not in base_rules]
    for line in (line for line in their_rules if line not in our_rules and line not in base_rules):
        before = their_rules[: their_rules.index(line)]
        at = max(
            (lines.index(line) + 1 for line in before if line in lines),
            default=0,
        )
        while (
            at < len(lines)
            and lines[at] not in their_rules
            and _name_of_rule(lines[at]) < _name_of_rule(line)
        ):
            at += 1
        lines.insert(at, line)
    tail = _MORE.search(inner[1])
    block = _compose_block(lines, int(tail[1]) if tail else 0)
    put = [
        _put_block(text, block) if _inside_of_block(text) is not None else text for text in texts
    ]
    first, second, third = (text.encode("utf-8", "surrogateescape") for text in put)
    return first, second, third


def _inside_of_block(text: str) -> str | None:
    """Return what is inside the block of a text; None unless the block is whole and not edited."""
    begins, ends = list(_BEGIN.finditer(text)), list(_END.finditer(text))
    if len(begins) != 1 or len(ends) != 1 or begins[0].end() > ends[0].start():
        return None
    inner = _unify_line_ends(text[begins[0].end() : ends[0].start()])
    return inner if begins[0]["hash"] == _hash(inner) else None


def _name_of_rule(line: str) -> str:
    """Return the name of a rule's note in its line."""
    return line.rpartition(" [")[2]


def _rule_lines(inner: str) -> list[str]:
    return [line for line in inner.split("\n") if line.startswith("- ")]


def write_block(
    rules: Sequence[ProjectRule], most: int, allowed: Collection[str] = ()
) -> WrittenBlock:
    """Return the block of some rules, of at most that many bytes.

    Rules that are pinned or for some files come first, with their text; the others are named as
    long as there is room, then get their texts as far as they fit. `allowed` are hashes of values
    that are no secrets.
    """
    lines = {
        rule: (describe_rule(rule, whole=True), describe_rule(rule, whole=False)) for rule in rules
    }
    refused = tuple(rule for rule in rules if secrets.find("\n".join(lines[rule]), allowed))
    chosen = [rule for rule in rules if rule not in refused]
    if not chosen:
        return WrittenBlock("", (), refused)
    room = most - len(_compose_block([], len(chosen)).encode())
    order = sorted(
        chosen,
        key=lambda rule: (
            not rule.pinned,
            not rule.applies_to,
            rule.path,
        ),
    )
    lines_by_rule: dict[ProjectRule, str] = {}
    for rule in order:
        forms = [0, 1] if rule.pinned or rule.applies_to else [1]
        for line in (lines[rule][form] for form in forms):
            if rule not in lines_by_rule and (size := len(line.encode()) + 1) <= room:
                lines_by_rule[rule], room = line, room - size
    for rule, line in lines_by_rule.items():
        whole_line = lines[rule][0]
        if (size := len(whole_line.encode()) - len(line.encode())) <= room:
            lines_by_rule[rule], room = whole_line, room - size
    names = tuple(rule.name for rule in chosen if rule not in lines_by_rule)
    listed = [lines_by_rule[rule] for rule in chosen if rule in lines_by_rule]
    return WrittenBlock(_compose_block(listed, len(names)), names, refused)


def read_block(text: str | None, block: str) -> FoundBlock:
    """Return the state of the block in a file's text, which should be `block`."""
    if text is None:
        return FoundBlock("missing" if block else "current")
    if any(MARKER in side for side in _sides(text)[1:]):
        return FoundBlock("conflict", problem="git left a conflict in the block")
    begins, ends = list(_BEGIN.finditer(text)), list(_END.finditer(text))
    if not begins and not ends:
        return FoundBlock("missing" if block else "current")
    if len(begins) != 1 or len(ends) != 1 or begins[0].end() > ends[0].start():
        problem = f"{len(begins)} first and {len(ends)} last lines of a block"
        return FoundBlock("damaged", problem=problem)
    inner = _unify_line_ends(text[begins[0].end() : ends[0].start()])
    if begins[0]["hash"] != _hash(inner):
        lines = [*inner.split("\n")]
        parts = {*_unify_line_ends(block).split("\n"), ""}
        added = tuple(line.strip() for line in lines if line not in parts)
        return FoundBlock("edited", added)
    is_current = _unify_line_ends(text[begins[0].start() : ends[0].end()]) == block.rstrip("\n")
    return FoundBlock("current" if is_current else "outdated")


def replace_block(text: str | None, block: str) -> str | None:
    """Return a file's text with the block, or without it if `block` is empty; None for no file.

    All else stays, line ends included. A block that is not there is added at the end. Of a conflict
    of git our side is taken: the caller has checked that both differ in the block only.
    """
    if text is None:
        return block or None
    _, *sides = _sides(text)
    return _put_block(sides[0] if sides else text, block) or None


def is_only_in_block(text: str) -> bool:
    """Return whether both sides of all conflicts of a text are the same but for the block."""
    _, *sides = _sides(text)
    return bool(sides) and len({_put_block(side, "x\n") for side in sides}) == 1


def _put_block(text: str, block: str) -> str:
    begin, end = _BEGIN.search(text), _END.search(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    block = block.rstrip("\n").replace("\n", newline)
    if begin and end:
        before, after = text[: begin.start()], text[end.end() :]
        if block:
            return before + block + after
        gap = newline if after else newline * 2  # as it was added
        return before.removesuffix(gap) + after.removeprefix(newline)
    if not block:
        return text
    if not text:
        return block + newline
    return text + newline + block + newline if text.endswith("\n") else text + newline * 2 + block


def _sides(text: str) -> list[str]:
    """Return a text, and if it has conflicts, the text of each side: ours, theirs."""
    merge_conflicts = conflicts.find(text)
    if not merge_conflicts:
        return [text]
    sides: list[list[str]] = [[], []]
    part, waiting = "", list(merge_conflicts)
    for number, line in enumerate(text.split("\n"), 1):
        mark = line.rstrip("\r")
        if waiting and number >= waiting[0].line and mark in waiting[0].markers:
            part = mark[0]
            if part == ">":
                waiting.pop(0)
                part = ""
        elif part != "|":
            for side in [0] if part == "<" else [1] if part == "=" else [0, 1]:
                sides[side].append(line)
    return [text, *("\n".join(side) for side in sides)]


def _compose_block(lines: Sequence[str], number: int) -> str:
    count = "1 rule is" if number == 1 else f"{number} rules are"
    more = f": {count} not listed here" if number else ""
    inner = "\n".join(["", *_HEAD.split("\n")[1:-1], *lines, *_TAIL.format(more=more).split("\n")])
    inner = inner.rstrip("\n") + "\n\n"
    return f"{_FIRST.format(hash=_hash(inner))}{inner}{_LAST}\n"


def _hash(inner: str) -> str:
    return hashlib.blake2b(inner.encode()).hexdigest()[:_DIGITS]


def _unify_line_ends(text: str) -> str:
    return BREAK.sub("\n", text)


def describe_rule(rule: ProjectRule, *, whole: bool) -> str:
    """Return the line of a rule: what it says, its name, and the files that it is for."""
    title = rule.title
    if whole:
        folded = title.casefold().rstrip(". ")
        if rule.text and folded not in rule.text.casefold():
            title = f"{title.rstrip('.:')}: {rule.text}"
        elif rule.text:
            title = rule.text
    scopes = ", ".join(rule.applies_to)
    words = [neutralise_text(title), f"[{neutralise_text(rule.name)[:_LONGEST_NAME]}]"]
    if scopes:
        words.append(f"({neutralise_text(scopes)})")
    return " ".join(["-", *filter(None, words)])


def neutralise_text(text: str) -> str:
    """Return a text on one line, without anything that Markdown or an agent's program acts on."""
    line = " ".join(one_line(BREAK.sub(" ", text)).split())
    line = "".join(character if character.isprintable() else "\ufffd" for character in line)
    line = re.sub("|".join(map(re.escape, _SPECIAL)), lambda match: _SPECIAL[match[0]], line)
    line = _HTML.sub(lambda match: "&lt;" if match[0] == "<" else "&gt;", line)
    line = _FENCE.sub("~", line)
    while (bare := _STRUCTURE.sub("", line)) != line:
        line = bare
    return line
