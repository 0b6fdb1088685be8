"""Characters, text and markup that a reader does not see, or takes for others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_bank.bank.records import Edit, Finding
from memory_bank.base import lazy_pattern
from memory_bank.base.settings import Settings
from memory_bank.notes.characters import direction_controls, find_invisible, name_characters
from memory_bank.notes.names import find_deceptive
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import at, note_rule, problem


@note_rule(
    "error",
    "bidirectional controls show a text in another order",
    fixes=True,
)
def bidi_control(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each such character, unless text from right to left needs it."""
    if note.text.isascii():
        return
    for unseen in direction_controls(note.text):
        message = f"{unseen.named} changes the order in which text appears"
        edit = Edit(unseen.start, note.text[unseen.start : unseen.end], "")
        yield at(note, unseen.start, unseen.end, message, "remove it", edits=(edit,))


_WRITE_AS_TEXT = "write it as text, or remove it"

_TAG = lazy_pattern(r"<[a-z][^<>]*", re.IGNORECASE)

_WHITE = (
    r"(?:white|snow|ivory|transparent|#f{3,4}\b|#(?:f[c-f]){3}(?:[\da-f]{2})?\b"
    r"|rgba?\(\s{0,9}255\s{0,9}[, ]\s{0,9}255\s{0,9}[, ]\s{0,9}255"
    r"|hsla?\(\s{0,9}[\w.]{1,9}[,\s]\s{0,9}[\d.%]{1,9}[,\s]\s{0,9}100%\s{0,9}\)?|rgba\([^()]{1,40},\s{0,9}0?\.?0\s{0,9}\))"
)

_STYLE = lazy_pattern(
    rf"(?<![\w-])color\s{{0,9}}[:=]\s{{0,9}}[\"']?{_WHITE}|\bdisplay\s{{0,9}}:\s{{0,9}}none"
    r"|\bvisibility\s{0,9}:\s{0,9}(?:hidden|collapse)|\bopacity\s{0,9}:\s{0,9}0?\.?0(?![.\d])"
    r"|\bfont-size\s{0,9}:\s{0,9}[01]?(?:\.\d{1,9})?(?:px|pt|em|rem|%)?\s{0,9}(?=[;\"'!]|\Z)"
    r"|\b(?:left|top|text-indent)\s{0,9}:\s{0,9}-\d{3,9}"
    r"|\s(?:hidden|aria-hidden\s{0,9}=\s{0,9}[\"']?true)(?=[\s\"'/=>]|\Z)",
    re.IGNORECASE,
)

_FORMULA = lazy_pattern(
    rf"\\(?:text)?color\s{{0,9}}\{{\s{{0,9}}{_WHITE}|\\[hv]?phantom\s{{0,9}}\{{", re.IGNORECASE
)


@note_rule("warning", "text is rendered white, transparent, tiny or not at all")
def hidden_text(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each tag or formula outside code that hides text."""
    start = note.body_start
    if "<" in note.text:
        for tag in _TAG.finditer(note.text, start):
            match = _STYLE.search(tag[0])
            if match and not note.in_code(tag.start()):
                first, last = (tag.start() + place for place in match.span())
                yield _report_hidden(note, first, last)
    if "\\" in note.text:
        for formula in _FORMULA.finditer(note.text, start):
            if not note.in_code(formula.start()):
                yield _report_hidden(note, *formula.span())


def _report_hidden(note: NoteText, start: int, end: int) -> Finding:
    words = note.text[start:end].strip()
    message = f"text is not seen when rendered: {words[:80]!r}"
    return at(note, start, end, message, _WRITE_AS_TEXT, words=words)


@note_rule("warning", "a text has invisible characters", fixes=True)
def invisible_character(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each place with such characters, unless a script or an emoji needs them."""
    if note.text.isascii() and note.text.isprintable():
        return
    for unseen in find_invisible(note.text):
        message, old = f"{unseen.named} can't be seen", note.text[unseen.start : unseen.end]
        edit = Edit(unseen.start, old, " " * old.count(" "))
        how = ("remove it", (edit,)) if unseen.removable else (None, None)
        yield at(note, unseen.start, unseen.end, message, how[0], edits=how[1])


_TARGET = lazy_pattern(
    r"\[\[([^\[\]\r\n|#^]{1,1000})|\]\([ \t]{0,9}<?([^\s()<>]{1,1000})"
    r"|<(https?://[^\s<>]{1,1000})>|^[ ]{0,3}\[[^\[\]\r\n]{1,999}\]:[ \t]{0,9}<?(\S{1,1000})",
    re.MULTILINE | re.IGNORECASE,
)

_PATH = lazy_pattern(r"[\w./-]+")
"""What may be a path in front matter, or have the name of a file in it."""

_NAME = lazy_pattern(r"[\w-]+(\.[a-z]\w{0,7}\b)?")
"""Words; with the group, names of files. A pattern of names only is slow in long words."""


@note_rule(
    "warning",
    "a name has letters that only look Latin",
)
def mixed_script(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each name or target with such letters, and the letters."""
    if words := find_deceptive(note.path):
        yield problem(
            note.path,
            1,
            f"the file's name has {_name_letters(words)}",
            _suggest_letters(note.path, words),
        )
    if note.text.isascii():
        return
    for start, target in _yield_targets(note):
        if words := find_deceptive(target):
            message = f"the target has {_name_letters(words)}"
            fix = _suggest_letters(target, words)
            yield at(note, start, start + len(target), message, fix, words=target)


def _yield_targets(note: NoteText) -> Iterator[tuple[int, str]]:
    """Yield the targets that are written in a note, with their offsets."""
    head = len(note.parts.opening)
    for match in _yield_references(note.head):
        if not match[0].isascii():
            yield head + match.start(), match[0]
    for match in _TARGET.finditer(note.text, note.body_start):
        number = match.lastindex or 1
        if not match[number].isascii() and not note.in_code(match.start()):
            yield match.start(number), match[number]


def _yield_references(head: str) -> Iterator[re.Match[str]]:
    """Yield the paths and the names of files in front matter."""
    for path in _PATH.finditer(head):
        if "/" in path[0][1:-1]:
            yield path
        else:
            names = _NAME.finditer(head, path.start(), path.end())
            yield from (name for name in names if name[1])


def _name_letters(look_alikes: list[tuple[int, str, str]]) -> str:
    texts = [
        f"{name_characters(char)}, which looks like {letter!r}" for _, char, letter in look_alikes
    ]
    return " and ".join(dict.fromkeys(texts))


def _suggest_letters(path: str, look_alikes: list[tuple[int, str, str]]) -> str:
    letters = list(path)
    for position, _, letter in look_alikes:
        letters[position] = letter
    return f"write {''.join(letters)} if that is meant"


_DETAILS = lazy_pattern(r"<details\b([^<>]*)>?", re.IGNORECASE)

_OPEN = lazy_pattern(r"\bopen\b", re.IGNORECASE)


@note_rule("info", "a part of the text is collapsed")
def collapsed_details(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each `<details>` outside code that is not open."""
    for match in _DETAILS.finditer(note.text, note.body_start):
        if not _OPEN.search(match[1]) and not note.in_code(match.start()):
            fix = "write <details open>, or a heading"
            yield at(note, *match.span(), "what follows is collapsed", fix)


_DATA = lazy_pattern(
    r"(?<![\w.-])data:(?:[\w.+-]{1,60}/[\w.+-]{1,80})?(?:;[\w=.+-]{1,80})*+,\S", re.IGNORECASE
)


@note_rule("warning", "an address contains its content (data:)")
def data_uri(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each such address outside code."""
    if "data:" not in note.text.lower():
        return
    for match in _DATA.finditer(note.text, note.body_start):
        if not note.in_code(match.start()):
            kind = match[0][:-1]
            message = f"content inside an address: {kind}"
            yield at(note, *match.span(), message, "link to a file", words=kind)


_END = "-->"

_TOOLS = lazy_pattern(
    r"/?(?:markdownlint|prettier|dprint|c?spell|spell-?checker|vale|textlint|eslint|lint|remark|rumdl"
    r"|mdformat|alex|markdown-link-check|toc|tocstop|omit (?:in|from) toc|more|excerpt|test|readme"
    r"|mermaid|memory-bank)(?![a-z])[\w-]{0,40}(?:[ ,]{1,2}MD\d{3})*"
    r"(?:[ :,]{1,2}[\w.=-]{1,40}){0,3}"
    r"|(?:begin|end)(?:[ :-]{1,3}[\w.-]{1,30}){0,2}|SPDX-License-Identifier: [\w.+-]{1,40}"
    r"|(?:start|end) doctoc generated toc please keep comment here to allow auto update"
    r"|don't edit this section, instead re-run doctoc to update"
    r"|all-contributors-\w{1,20}:(?:start|end)(?: - do not remove or modify this section)?",
    re.IGNORECASE,
)
"""Instructions for other programs: of a few words, so that nothing is said to agents."""

_DEFINITION = lazy_pattern(
    r"^[ ]{0,3}\[[^\[\]\r\n]{1,99}\]:[ \t]{0,9}(?:#|<>|<#>)[ \t]{1,9}([\"'(][^\r\n]{1,2000})",
    re.MULTILINE,
)
"""A definition of a link that leads nowhere, which renders as nothing."""


@note_rule("info", "a comment is not seen in the rendered text")
def html_comment(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each comment outside code with its words, except those for other programs."""
    text, start = note.text, note.body_start
    while (start := text.find("<!--", start)) >= 0:
        stop = text.find(_END, start)
        end = len(text) if stop < 0 else stop + len(_END)
        words = " ".join(text[start + 4 : end - 3 if stop >= 0 else end][:2000].split())
        if note.in_code(start):
            end = start + 4
        elif words and not _TOOLS.fullmatch(words):
            yield _report_comment(note, start, end, words)
        start = end
    for match in _DEFINITION.finditer(text, note.body_start):
        if not note.in_code(match.start()):
            yield _report_comment(note, *match.span(), match[1])


def _report_comment(note: NoteText, start: int, end: int, words: str) -> Finding:
    message = f"a comment is not seen when rendered: {words[:80]!r}"
    return at(note, start, end, message, _WRITE_AS_TEXT, words=words[:500])
