"""Characters, text and markup that a reader does not see, or takes for others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_bank.bank.findings import Edit, Finding
from memory_bank.base.settings import Settings
from memory_bank.notes.characters import direction_controls, invisible, named
from memory_bank.notes.names import deceptive
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import at, note_rule, problem


@note_rule(
    "error",
    "a text has bidirectional controls, so that it appears in another order than it is read",
    fixes=True,
)
def bidi_control(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each such character, unless text from right to left needs it."""
    if note.text.isascii():
        return
    for one in direction_controls(note.text):
        message = f"{one.named} changes the order in which text appears"
        edit = Edit(one.start, note.text[one.start : one.end], "")
        yield at(note, one.start, one.end, message, "remove it")._replace(edits=(edit,))


_TAG = re.compile(r"<[a-z][^<>]*", re.IGNORECASE)

_WHITE = (
    r"(?:white|snow|ivory|transparent|#f{3,4}\b|#(?:f[c-f]){3}(?:[\da-f]{2})?\b"
    r"|rgba?\(\s{0,9}255\s{0,9}[, ]\s{0,9}255\s{0,9}[, ]\s{0,9}255"
    r"|hsla?\(\s{0,9}[\w.]{1,9}[,\s]\s{0,9}[\d.%]{1,9}[,\s]\s{0,9}100%\s{0,9}\)?|rgba\([^()]{1,40},\s{0,9}0?\.?0\s{0,9}\))"
)

_STYLE = re.compile(
    rf"(?<![\w-])color\s{{0,9}}[:=]\s{{0,9}}[\"']?{_WHITE}|\bdisplay\s{{0,9}}:\s{{0,9}}none"
    r"|\bvisibility\s{0,9}:\s{0,9}(?:hidden|collapse)|\bopacity\s{0,9}:\s{0,9}0?\.?0(?![.\d])"
    r"|\bfont-size\s{0,9}:\s{0,9}[01]?(?:\.\d{1,9})?(?:px|pt|em|rem|%)?\s{0,9}(?=[;\"'!]|\Z)"
    r"|\b(?:left|top|text-indent)\s{0,9}:\s{0,9}-\d{3,9}"
    r"|\s(?:hidden|aria-hidden\s{0,9}=\s{0,9}[\"']?true)(?=[\s\"'/=>]|\Z)",
    re.IGNORECASE,
)

_FORMULA = re.compile(
    rf"\\(?:text)?color\s{{0,9}}\{{\s{{0,9}}{_WHITE}|\\[hv]?phantom\s{{0,9}}\{{", re.IGNORECASE
)


@note_rule("warning", "text is rendered unseen: white, transparent, of size 0, or not displayed")
def hidden_text(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each tag or formula outside code that hides text."""
    start = note.body_start
    if "<" in note.text:
        for tag in _TAG.finditer(note.text, start):
            found = _STYLE.search(tag[0])
            if found and not note.in_code(tag.start()):
                first, last = (tag.start() + place for place in found.span())
                yield _place(note, first, last)
    if "\\" in note.text:
        for formula in _FORMULA.finditer(note.text, start):
            if not note.in_code(formula.start()):
                yield _place(note, *formula.span())


def _place(note: NoteText, start: int, end: int) -> Finding:
    words = note.text[start:end].strip()
    message = f"text is not seen when rendered: {words[:80]!r}"
    return at(note, start, end, message, "write it as text, or remove it")._replace(words=words)


@note_rule("warning", "a text has zero-width or other invisible characters", fixes=True)
def invisible_character(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each place with such characters, unless a script or an emoji needs them."""
    if note.text.isascii() and note.text.isprintable():
        return
    for one in invisible(note.text):
        place = at(note, one.start, one.end, f"{one.named} can't be seen")
        if one.removable:
            old = note.text[one.start : one.end]
            edit = Edit(one.start, old, " " * old.count(" "))
            place = place._replace(fix="remove it", edits=(edit,))
        yield place


_TARGET = re.compile(
    r"\[\[([^\[\]\r\n|#^]{1,1000})|\]\([ \t]{0,9}<?([^\s()<>]{1,1000})"
    r"|<(https?://[^\s<>]{1,1000})>|^[ ]{0,3}\[[^\[\]\r\n]{1,999}\]:[ \t]{0,9}<?(\S{1,1000})",
    re.MULTILINE | re.IGNORECASE,
)

_PATH = re.compile(r"[\w./-]+")
"""What may be a path in front matter, or have the name of a file in it."""

_NAME = re.compile(r"[\w-]+(\.[a-z]\w{0,7}\b)?")
"""Words; with the group, names of files. A pattern of names only is slow in long words."""


@note_rule(
    "warning",
    "a file's name or a link's target has letters of another script that look like Latin ones",
)
def mixed_script(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each name or target with such letters, and the letters."""
    if found := deceptive(note.path):
        yield problem(
            note.path, 1, f"the file's name has {_letters(found)}", _fix(note.path, found)
        )
    if note.text.isascii():
        return
    for start, target in _targets(note):
        if found := deceptive(target):
            message = f"the target has {_letters(found)}"
            place = at(note, start, start + len(target), message, _fix(target, found))
            yield place._replace(words=target)


def _targets(note: NoteText) -> Iterator[tuple[int, str]]:
    """Yield the targets that are written in a note, with their offsets."""
    head = len(note.parts.opening)
    for one in _references(note.head):
        if not one[0].isascii():
            yield head + one.start(), one[0]
    for one in _TARGET.finditer(note.text, note.body_start):
        number = one.lastindex or 1
        if not one[number].isascii() and not note.in_code(one.start()):
            yield one.start(number), one[number]


def _references(head: str) -> Iterator[re.Match[str]]:
    """Yield the paths and the names of files in front matter."""
    for path in _PATH.finditer(head):
        if "/" in path[0][1:-1]:
            yield path
        else:
            names = _NAME.finditer(head, path.start(), path.end())
            yield from (name for name in names if name[1])


def _letters(found: list[tuple[int, str, str]]) -> str:
    shown = [f"{named(char)}, which looks like {letter!r}" for _, char, letter in found]
    return " and ".join(dict.fromkeys(shown))


def _fix(path: str, found: list[tuple[int, str, str]]) -> str:
    letters = list(path)
    for place, _, letter in found:
        letters[place] = letter
    return f"write {''.join(letters)} if that is meant"


_DETAILS = re.compile(r"<details\b([^<>]*)>?", re.IGNORECASE)

_OPEN = re.compile(r"\bopen\b", re.IGNORECASE)


@note_rule("info", "a part of the text is collapsed, so that readers see only its summary")
def collapsed_details(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each `<details>` outside code that is not open."""
    for found in _DETAILS.finditer(note.text, note.body_start):
        if not _OPEN.search(found[1]) and not note.in_code(found.start()):
            fix = "write <details open>, or a heading"
            yield at(note, *found.span(), "what follows is collapsed", fix)


_DATA = re.compile(
    r"(?<![\w.-])data:(?:[\w.+-]{1,60}/[\w.+-]{1,80})?(?:;[\w=.+-]{1,80})*+,\S", re.IGNORECASE
)


@note_rule("warning", "an address has its content in it (data:), which nobody can review")
def data_uri(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each such address outside code."""
    if "data:" not in note.text.lower():
        return
    for found in _DATA.finditer(note.text, note.body_start):
        if not note.in_code(found.start()):
            kind = found[0][:-1]
            place = at(note, *found.span(), f"content inside an address: {kind}", "link to a file")
            yield place._replace(words=kind)


_END = "-->"

_TOOLS = re.compile(
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

_DEFINITION = re.compile(
    r"^[ ]{0,3}\[[^\[\]\r\n]{1,99}\]:[ \t]{0,9}(?:#|<>|<#>)[ \t]{1,9}([\"'(][^\r\n]{1,2000})",
    re.MULTILINE,
)
"""A definition of a link that leads nowhere, which renders as nothing."""


@note_rule("info", "a comment, which is not seen in the rendered text")
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
            yield _at(note, start, end, words)
        start = end
    for found in _DEFINITION.finditer(text, note.body_start):
        if not note.in_code(found.start()):
            yield _at(note, *found.span(), found[1])


def _at(note: NoteText, start: int, end: int, words: str) -> Finding:
    fix = "write it as text, or remove it"
    place = at(note, start, end, f"a comment is not seen when rendered: {words[:80]!r}", fix)
    return place._replace(words=words[:500])
