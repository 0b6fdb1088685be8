"""Markup that hides text: collapsed parts, addresses with content, comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_bank.bank.findings import Finding
from memory_bank.base.settings import Settings
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import at, note_rule

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
            yield _place(note, start, end, words)
        start = end
    for found in _DEFINITION.finditer(text, note.body_start):
        if not note.in_code(found.start()):
            yield _place(note, *found.span(), found[1])


def _place(note: NoteText, start: int, end: int, words: str) -> Finding:
    fix = "write it as text, or remove it"
    place = at(note, start, end, f"a comment is not seen when rendered: {words[:80]!r}", fix)
    return place._replace(words=words[:500])
