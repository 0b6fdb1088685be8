"""Names of files and targets of links with letters that look like others."""

import re
from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place, at
from memory_bank.notes.look_alikes import deceptive
from memory_bank.notes.note_text import NoteText
from memory_bank.notes.unseen_characters import named

SUMMARY = "a file's name or a link's target has letters of another script that look like Latin ones"
SEVERITY = "warning"
_TARGET = re.compile(
    r"\[\[([^\[\]\r\n|#^]{1,1000})|\]\([ \t]{0,9}<?([^\s()<>]{1,1000})"
    r"|<(https?://[^\s<>]{1,1000})>|^[ ]{0,3}\[[^\[\]\r\n]{1,999}\]:[ \t]{0,9}<?(\S{1,1000})",
    re.MULTILINE | re.IGNORECASE,
)
_PATH = re.compile(r"[\w./-]+")
"""What may be a path in front matter, or have the name of a file in it."""
_NAME = re.compile(r"[\w-]+(\.[a-z]\w{0,7}\b)?")
"""Words; with the group, names of files. A pattern of names only is slow in long words."""


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield each name or target with such letters, and the letters."""
    if found := deceptive(note.path):
        yield Place(note.path, 1, f"the file's name has {_letters(found)}", _fix(note.path, found))
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
