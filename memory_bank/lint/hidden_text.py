"""Text that is rendered so that nobody sees it."""

import re
from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place, at
from memory_bank.notes.note_text import NoteText

SUMMARY = "text is rendered unseen: white, transparent, of size 0, or not displayed"
SEVERITY = "warning"
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


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
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


def _place(note: NoteText, start: int, end: int) -> Place:
    words = note.text[start:end].strip()
    message = f"text is not seen when rendered: {words[:80]!r}"
    return at(note, start, end, message, "write it as text, or remove it")._replace(words=words)
