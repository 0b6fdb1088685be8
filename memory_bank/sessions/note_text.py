"""Write any text into a session's note so that it reads back, and is only text there.

A title or a narrative comes from a tool or an agent. Where it could start a heading, a link, a
block id, a tag, code, HTML or a field of the note, a backslash before the character prevents it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from memory_bank.base import lazy_pattern
from memory_bank.base.dates import format_iso
from memory_bank.base.text import ESCAPED

_CONTAINERS = r"^[ \t]*(?:(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))[ \t]*)*"

_RISKY = lazy_pattern(
    r"""
    \\(?=[!-/:-@\[-`{-~])         # what reading would take for an escape
    | \[(?=\[)                    # a wikilink
    | (?<=\])\(                   # a Markdown link
    | (?:^|(?<=[\s|>]))\^(?=[\w-])  # a block id
    | (?:^|(?<=[\s|>(]))\#         # a heading or a tag
    | (?<=:):(?!\w)               # a field
    """,
    re.MULTILINE | re.VERBOSE,
)

# Fences, HTML, and definitions of links; a checkbox stays.
_RISKY_START = lazy_pattern(rf"({_CONTAINERS})(```|~~~|<|\[(?![ xX]\][ \t]))", re.MULTILINE)

_UNDERLINE = lazy_pattern(r"^( {0,3})(?=(?:=+|-+)[ \t]*$)", re.MULTILINE)
"""A line that makes a heading of the one above, or that git writes into a conflict."""

# Emphasis, code, HTML and entities would vanish from the plain text of a heading.
_MARKS = lazy_pattern(r"[`*\[<]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|=(?==)|&(?=#?\w)")

_CONTROL = lazy_pattern(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")

_BREAK = lazy_pattern(r"[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
"""Line ends that Markdown does not know."""

_SURROGATE = lazy_pattern(r"[\ud800-\udfff]")


def escape_markdown(text: str) -> str:
    """Return Markdown that shows a text of one or more lines, and is nothing but text."""
    text = _RISKY.sub(r"\\\g<0>", text)
    text = _RISKY_START.sub(r"\1\\\2", text)
    return _UNDERLINE.sub(r"\1\\", text)


def escape_heading(title: str) -> str:
    """Return Markdown of a heading whose plain text is a title."""
    marked = _RISKY.sub(lambda match: f"\0{match[0]}", title)
    marked = _MARKS.sub(lambda match: f"\0{match[0]}", marked)
    return re.sub("\0+", r"\\", marked)


def unescape_markdown(text: str) -> str:
    """Return the text that Markdown from `escape_markdown` or `escape_heading` shows."""
    return ESCAPED.sub(r"\1", text)


_FIELD = lazy_pattern(r"^([ \t]*[-*+][ \t]+)([a-z_]+)(?: \d{1,9})?::[ \t]*+(.*)$")

_BLOCK_ID = lazy_pattern(r"^[ \t]*\^[\w-]+[ \t]*$")

_FOR_PROGRAMS = frozenset(
    ["obs_type", "created_at", "prompt_number", "discovery_tokens", "concepts", "commit", "branch"]
)
"""Fields that say nothing of the work."""


def show_text(text: str) -> str:
    """Return text of a session's note as people read it, in as many lines.

    Fields become sentences, without those for programs, ids of blocks, marks of links and escapes.
    """
    return unescape_markdown(
        "\n".join(map(_show_line, text.split("\n"))).replace("[[", "").replace("]]", "")
    )


def _show_line(line: str) -> str:
    match = _FIELD.match(line)
    if match is None:
        return "" if _BLOCK_ID.match(line) else line
    start, key, value = match.groups()
    if key in _FOR_PROGRAMS:
        return ""
    return f"{start}{value}" if key == "fact" else f"{start}{key.replace('_', ' ')}: {value}"


def one_line(text: str) -> str:
    """Return a text on one line: runs of white space become a space, control characters vanish."""
    return " ".join(_remove_control_characters(text).split())


def short_lines(text: str) -> str:
    """Return a text without blank lines and white space around its lines."""
    stripped = (line.strip() for line in split_paragraphs(text).split("\n"))
    return "\n".join(line for line in stripped if line)


def split_paragraphs(text: str) -> str:
    r"""Return a text with `\n` as line ends, without white space around it and at ends of lines."""
    text = _remove_control_characters(text.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def _remove_control_characters(text: str) -> str:
    """Return a text without control characters; halves of surrogate pairs become U+FFFD."""
    return _BREAK.sub(" ", _CONTROL.sub("", _SURROGATE.sub("\ufffd", text)))


def format_moment(moment: datetime) -> str:
    """Return a moment in ISO 8601, to the millisecond."""
    utc = to_millisecond(moment)
    whole = format_iso(utc)
    return f"{whole[:-1]}.{utc.microsecond // 1000:03}Z" if utc.microsecond else whole


def to_millisecond(moment: datetime) -> datetime:
    """Return a moment in UTC, cut to milliseconds."""
    utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def to_second(moment: datetime) -> datetime:
    """Return a moment in UTC, cut to seconds."""
    return to_millisecond(moment).replace(microsecond=0)
