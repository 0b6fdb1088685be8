"""Rewrite the links in a note's text to notes that move, and change no other character."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from urllib.parse import quote, unquote

from memory_bank.base.errors import BadInput
from memory_bank.notes.blocks import NEWLINE
from memory_bank.notes.front_matter import split
from memory_bank.notes.links import WIKILINK, decoded, locate_links, reference_link
from memory_bank.notes.note import NoteLink

# Strings and comments in a line of front matter. A string that is open at the end of the line
# continues in the next match, so that each character is read once.
_STRING = re.compile(
    r"""(?<!\w)"(?:[^"\\\r\n]|\\.)*+(?:"|\\?(?=[\r\n]|\Z))"""
    r"""|(?<!\w)'(?:[^'\r\n]|'')*+(?:'|(?=[\r\n]|\Z))|(?<!\S)\#[^\r\n]*"""
)

_MD = re.compile(r"\.md\Z", re.IGNORECASE)

_NOT_IN_WIKILINK = re.compile(r"[\[\]|#^\r\n]")

_BALANCED = re.compile(r"[^()]*(?:\([^()]*\)[^()]*)*")

# Must be escaped in a destination; `<`…`>` allows spaces and parentheses.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>\\#|]|%(?=[0-9a-fA-F]{2})|&(?=[#\w]+;)")

_UNSAFE_BARE = re.compile(rf"{_UNSAFE.pattern}|\s")


def relink(
    text: str, rename: Callable[[NoteLink], str | None], body_start: int | None = None
) -> str:
    """Rewrite the links of a note to what has moved: those for which `rename` returns a target.

    A link keeps its heading, block, text, title, angle brackets, percent-encoding, and its `.md` or
    the lack of it. In front matter, which ends at `body_start`, wikilinks are replaced. Raises
    BadInput if a wikilink can't have the new target.
    """
    parts, done = list[str](), 0
    for (start, end), target in sorted(edits(text, rename, body_start).items()):
        parts += (text[done:start], target)
        done = end
    return "".join((*parts, text[done:]))


def edits(
    text: str, rename: Callable[[NoteLink], str | None], body_start: int | None = None
) -> dict[tuple[int, int], str]:
    """Map the offsets of each target that `relink` replaces to the new text; raise BadInput."""
    body = len(text) - len(split(text).body) if body_start is None else body_start
    found: dict[tuple[int, int], str] = {}
    for link, start, end, mark in front_matter_links(text[:body]):
        if (target := rename(link)) is not None:
            found[start, end] = _in_front_matter(link, text[start:end], target, mark)
    first_line = 1 + sum(1 for _ in NEWLINE.finditer(text, 0, body))
    for link, *span in locate_links(text[body:], first_line):
        if (target := rename(link)) is not None:
            start, end = body + span[0], body + span[1]
            found[start, end] = _in_body(text, start, end, link, target)
    return found


def front_matter_links(text: str) -> Iterator[tuple[NoteLink, int, int, str]]:
    """Yield each wikilink outside comments, its target's offsets, and the quotes around it."""
    strings = list(_STRING.finditer(text))
    starts = [string.start() for string in strings]
    line, seen = 1, 0
    for found in WIKILINK.finditer(text):
        line += sum(1 for _ in NEWLINE.finditer(text, seen, found.start()))
        seen = found.start()
        around = bisect_right(starts, seen) - 1
        inside = around >= 0 and strings[around].end() > seen
        mark = strings[around][0][0] if inside else ""
        inner = _from_string(found[1], mark)
        link = reference_link(inner, line) if mark != "#" else None
        if link:
            written = re.split(r"[#^|]", found[1], maxsplit=1)[0]
            start = found.start(1) + len(written) - len(written.lstrip())
            yield link, start, start + len(written.strip()), mark


def _from_string(written: str, mark: str) -> str:
    if mark == '"':
        return re.sub(r'\\(["\\/])', r"\1", written)
    return written.replace("''", "'") if mark == "'" else written


def _in_front_matter(link: NoteLink, written: str, target: str, mark: str) -> str:
    """Return a wikilink's new target, escaped for its string of YAML."""
    target = _with_suffix(link.target, target)
    if target == link.target:
        return written
    _check_wikilink(link, target)
    if mark == '"':
        return re.sub(r'(["\\])', r"\\\1", target)
    return target.replace("'", "''") if mark == "'" else target


def _in_body(text: str, start: int, end: int, link: NoteLink, target: str) -> str:
    """Return a new target in the syntax of the old one: in a wikilink, in `<>`, or bare."""
    written = text[start:end]
    target = _with_suffix(link.target, target)
    if target == link.target:
        return written
    before = start
    while text[before - 1].isspace():
        before -= 1
    if text.startswith("[[", before - 2):
        _check_wikilink(link, target)
        return target
    unsafe = _UNSAFE if text.startswith("<", start - 1) else _UNSAFE_BARE
    if unsafe is _UNSAFE_BARE and written.isascii() and unquote(written) != written:
        return quote(target, safe="/!$*+,;=:@~")
    new = unsafe.sub(_percent, target)
    if unsafe is _UNSAFE_BARE and not _BALANCED.fullmatch(new):
        new = new.replace("(", "%28").replace(")", "%29")
    return new if decoded(new) == target else quote(target)


def _percent(found: re.Match[str]) -> str:
    return quote(found[0], safe="")


def _with_suffix(written: str, target: str) -> str:
    """Let the target end in `.md` exactly if the old one did; an empty one stays."""
    suffix = _MD.search(written)
    bare = _MD.sub("", target)
    return bare + suffix[0] if bare and suffix else bare


def _check_wikilink(link: NoteLink, target: str) -> None:
    is_empty = not (target or link.heading or link.block)
    if is_empty or target != target.strip() or _NOT_IN_WIKILINK.search(target):
        raise BadInput(
            f"[[{target}]] would not be read as a link to {target!r}",
            "choose a name without [ ] | # ^ and without spaces at its ends",
        )
