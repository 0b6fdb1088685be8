"""Split a text into front matter and body, read and edit front matter, and read inline fields.

Front matter is read and written by python-frontmatter with a handler of our own: those of the
library sort keys, drop comments and line ends, and read dates and `yes` as other than text.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from itertools import islice
from operator import attrgetter
from typing import Literal

import frontmatter
from frontmatter.default_handlers import BaseHandler

from memory_bank.base import NamedTuple, lazy_pattern, toml
from memory_bank.base.dates import format_iso
from memory_bank.base.documents import Fault
from memory_bank.base.errors import UnreadableNote
from memory_bank.base.text import ESCAPED
from memory_bank.notes import yaml
from memory_bank.notes.blocks import BlockError, last_break, line_at
from memory_bank.notes.characters import BREAK
from memory_bank.notes.inline import InlineSpan, InlineText
from memory_bank.notes.merging.conflicts import OPENING, UNRESOLVED
from memory_bank.notes.relations import normalise_type
from memory_bank.notes.yaml import reread_value, write_line

Format = Literal["none", "yaml", "toml"]

MAX_LENGTH = 100_000

MAX_KEYS = 1000
"""Limits of front matter, which is not read or edited beyond them."""

_OPENING = lazy_pattern(r"\ufeff?(---|\+\+\+)[ \t]*(?:\r\n|\n|\r)")

_CLOSING = {
    "---": lazy_pattern(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)"),
    "+++": lazy_pattern(r"(?<=[\r\n])\+\+\+[ \t]*(?:\r\n|\n|\r|\Z)"),
}

_KEY = lazy_pattern(r"(?:\A|(?<=[\r\n]))[^\s#:][^\r\n:]*:(?:\s|\Z)|\A\s*\{")

_UNCLOSED_KEY = lazy_pattern(r"[ \t]*\w[\w .-]*[:=](?:\s|\Z)")

_CONFLICT = lazy_pattern(rf"(?:\A|(?<=[\r\n])){OPENING}")

_BLANK_LINE = lazy_pattern(r"[ \t]*[\r\n]")


class Split(NamedTuple):
    """The four parts of a text; joined they are the text."""

    opening: str
    block: str
    closing: str
    body: str
    format: Format = "none"


def split(text: str) -> Split:
    """Split a text into its front matter and its body.

    Front matter starts on line 1 with `---` or `+++` and ends with the next such line, or `...`.
    A `---` before a blank line is a thematic break if no line below looks like a key.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING[opening[1]].search(text, opening.end()) if opening else None
    if not opening or not closing:
        return Split("", "", "", text)
    start, end = opening.end(), closing.start()
    block = text[start:end]
    if opening[1] == "+++":
        return Split(opening[0], block, closing[0], text[closing.end() :], "toml")
    if _BLANK_LINE.match(block) and block.strip() and not _KEY.search(block):
        return Split("", "", "", text)
    return Split(opening[0], block, closing[0], text[closing.end() :], "yaml")


_NOTHING = Split("", "", "", "")


class NoteHandler(BaseHandler):
    """How python-frontmatter reads and writes one text: byte for byte as its author wrote it."""

    FM_BOUNDARY = _OPENING

    def __init__(self, parts: Split = _NOTHING) -> None:
        """Take the parts of the text that is edited; none for a new one, or to read any text."""
        super().__init__(re.compile("---"))
        self._parts = parts
        self.values: dict[str, object] = {}
        self.faults: tuple[Fault, ...] = ()
        self.error: BlockError | None = None
        """Why the block can't be read at all."""

    def split(self, text: str) -> tuple[str, str]:
        """Return the block and the body; raise ValueError if there is no front matter."""
        self._parts = split(text) if self._parts is _NOTHING else self._parts
        if self._parts.format == "none":
            raise ValueError("no front matter")
        return self._parts.block, self._parts.body

    def load(self, fm: str) -> dict[str, object]:
        """Read a block as far as it can be read."""
        try:
            self.values, self.faults = _read_block(fm, self._parts.format)
        except BlockError as error:
            self.error = error
        return self.values

    def export(self, metadata: dict[str, object], **_: object) -> str:
        """Write each key on a line of its own, lists between brackets."""
        return "".join(f"{write_line(key, value)}\n" for key, value in metadata.items())

    def format(self, post: frontmatter.Post, **_: object) -> str:
        """Put the keys that were set or removed into the text; of a new one, all.

        Raises BlockError and BadInput as `set_keys` does.
        """
        if self._parts is _NOTHING:
            return f"---\n{self.export(post.metadata)}---\n{post.content}"
        changes: dict[str, object] = {
            key: value
            for key, value in post.metadata.items()
            if key not in self.values or value is not self.values[key]
        }
        changes |= dict.fromkeys(key for key in self.values if key not in post.metadata)
        return _edit_block(self._parts, changes)


def read_metadata(parts: Split) -> tuple[dict[str, object], tuple[Fault, ...]]:
    """Return the values and faults of front matter; never raises.

    In YAML, dates, words like `yes`, and numbers that would print differently stay text; in TOML,
    dates are dates. A block that can't be parsed gives no values and a fault.
    """
    if parts.format == "none":
        return {}, _find_unclosed(parts.body)
    handler = NoteHandler(parts)
    values, _ = frontmatter.parse(parts.block, handler=handler)
    if (error := handler.error) is None:
        return values, handler.faults
    conflict = error.reason == UNRESOLVED
    reason = UNRESOLVED if conflict else f"front matter can't be parsed: {error.reason}"
    return {}, (Fault(reason, line_at(parts.block, error.index)),)


def _read_block(block: str, kind: Format) -> tuple[dict[str, object], tuple[Fault, ...]]:
    if len(block) > MAX_LENGTH:
        raise BlockError(f"longer than {MAX_LENGTH:,} characters")
    faults: list[Fault] = []
    try:
        if kind == "toml":
            values = _read_toml(block)
        else:
            values, faults = yaml.read_values(yaml.parse(block), block)
    except BlockError as error:
        if conflict := _CONFLICT.search(block):
            raise BlockError(UNRESOLVED, conflict.start()) from error
        raise
    if len(values) > MAX_KEYS:
        raise BlockError(f"more than {MAX_KEYS:,} keys")
    return values, tuple(faults)


def _find_unclosed(text: str) -> tuple[Fault, ...]:
    opening = _OPENING.match(text)
    if opening and _UNCLOSED_KEY.match(text, opening.end()):
        return (Fault("front matter opens on line 1 and is never closed"),)
    return ()


def set_keys(text: str, changes: Mapping[str, object | None]) -> str:
    """Return the text with these keys of its front matter set, or removed where None.

    Only the characters of values change: order, comments, quotes, line ends and the body stay. A
    new key is a line at the end; a text without front matter gets a block. In TOML, only top-level
    keys can be set. Raises BadInput for a value that front matter can't hold, and UnreadableNote if
    the block can't be parsed, or if the new text would not read as the old values with the changes.
    """
    parts = split(text)
    post = frontmatter.Post(parts.body, handler := NoteHandler(parts))
    old, _ = frontmatter.parse(parts.block, handler=handler)
    if handler.error:
        raise _rewrite_error("parsed", parts.block, handler.error) from handler.error
    post.metadata = {key: old[key] for key in old if key not in changes}
    post.metadata |= {key: value for key, value in changes.items() if value is not None}
    try:
        new = frontmatter.dumps(post)
        if new != text:
            _verify(new, parts, _expected_values(parts.format, old, changes))
    except BlockError as error:
        raise _rewrite_error("edited without changing more", parts.block, error) from error
    return new


def _edit_block(parts: Split, changes: Mapping[str, object]) -> str:
    match = BREAK.search(parts.opening + parts.body)
    newline = match[0] if match else "\n"
    if parts.format == "toml":
        block = _edit_toml(parts.block, changes, newline)
    else:
        block = yaml.edit(parts.block, changes, newline)
    if parts.format == "none" and block:
        mark = "\ufeff" if parts.body.startswith("\ufeff") else ""
        return f"{mark}---{newline}{block}---{newline}{parts.body.removeprefix(mark)}"
    return parts.opening + block + parts.closing + parts.body


def _expected_values(
    kind: Format, old: Mapping[str, object], changes: Mapping[str, object]
) -> dict[str, object]:
    reread = _expected_toml if kind == "toml" else reread_value
    kept = {key: value for key, value in old.items() if key not in changes}
    return kept | {key: reread(value) for key, value in changes.items() if value is not None}


def _verify(new: str, parts: Split, keys: Mapping[str, object]) -> None:
    """Read the new text; raise BlockError unless it has the values of `keys` and the same body."""
    new_parts = split(new)
    if new_parts.body != (parts.body if parts.opening else parts.body.removeprefix("\ufeff")):
        raise BlockError("the front matter would end elsewhere")
    new_keys, _ = _read_block(new_parts.block, new_parts.format)
    for key in [*keys, *new_keys]:
        # As text, for 1 is equal to True and to 1.0, and nan isn't equal to itself.
        if key not in new_keys or key not in keys or repr(new_keys[key]) != repr(keys[key]):
            raise BlockError(f"key {key!r} would not say what it should")


def _rewrite_error(text: str, block: str, error: BlockError) -> UnreadableNote:
    reason = f"front matter can't be {text}: {error.reason}"
    return rewrite_error(reason, line_at(block, min(error.index, len(block))))


def rewrite_error(reason: str, line_number: int) -> UnreadableNote:
    """Return the error for a file that can't be rewritten."""
    return UnreadableNote(
        f"{reason} (line {line_number}), so the file is not rewritten",
        f"repair line {line_number:d} in an editor, then try again",
    )


def compose_text(metadata: Mapping[str, object], body: str) -> str:
    """Return the text of a new note, which ends with one newline; raise BadInput.

    Without metadata the text is the body alone, unless its first lines look like front matter.
    """
    body = body.rstrip("\r\n")
    body = f"{body}\n" if body else ""
    if not metadata and split(body).format == "none":
        return body or "\n"
    post = frontmatter.Post(body, NoteHandler())
    post.metadata = dict(metadata)  # not as keywords: `content` and `handler` are taken there
    return frontmatter.dumps(post)


MARK = "::"
"""A text without it has no fields."""

MAX_FIELDS = 100_000
"""Limit for one note, enough for 10,000 observations; further fields are read as text."""

_LONGEST = 300
"""Maximum number of characters of a value."""

_MAX_VALUES = 200
"""Maximum number of values of one field."""

_FIELD = lazy_pattern(
    r"^[ \t]*(?:\[.\][ \t]+)?[*_~]*([^\W\d_][\w /-]{0,39})[*_~]*::[*_~]*(?=\s|\[|\Z)", re.MULTILINE
)


class Field(NamedTuple):
    """A field of a line: its key in lower case with underscores, and its values."""

    row: int
    """Index of its line in the inline block."""
    key: str
    values: tuple[str, ...]
    """Split at commas outside of links and code; a link is its target."""


def yield_fields(inline: InlineText) -> Iterator[Field]:
    """Yield the fields of an inline block, in the order of its lines."""
    text = inline.text
    if MARK not in text:
        return
    row = line_start = covered = at = 0
    for match in _FIELD.finditer(text):
        start, end = match.start(1), text.find("\n", match.end())
        while at < len(inline.spans) and inline.spans[at].start <= start:
            covered = max(covered, inline.spans[at].end)
            at += 1
        if start < covered:
            continue  # inside of code that spans lines
        row += text.count("\n", line_start, start)
        line_start = start
        values = _yield_values(inline, match.end(), len(text) if end < 0 else end)
        yield Field(row, normalise_type(match[1]), tuple(islice(values, _MAX_VALUES)))


def _yield_values(inline: InlineText, start: int, end: int) -> Iterator[str]:
    """Yield the values between two offsets that are not empty."""
    value = ""
    for text, whole in _yield_parts(inline, start, end):
        if whole:
            value += text
            continue
        *before, last = ESCAPED.sub(_unescape_character, text).split(",")
        for part in before:
            if stripped := (value + part).strip():
                yield stripped.replace("\0", ",")[:_LONGEST]
            value = ""
        value += last
    if stripped := value.strip():
        yield stripped.replace("\0", ",")[:_LONGEST]


def _unescape_character(match: re.Match[str]) -> str:
    """Return the character that a backslash escapes; NUL stands for a comma."""
    return "\0" if match[1] == "," else match[1]


def _yield_parts(inline: InlineText, start: int, end: int) -> Iterator[tuple[str, bool]]:
    """Yield the texts between two offsets, and whether each is a link or code as a whole."""
    at = start
    start_of = attrgetter("start")
    first = bisect_left(inline.spans, start, key=start_of)
    for span in inline.spans[first : bisect_left(inline.spans, end, key=start_of)]:
        if span.start >= at and span.end <= end:
            yield inline.text[at : span.start], False
            yield _show_span(inline.text, span), True
            at = span.end
    yield inline.text[at:end], False


def _show_span(text: str, span: InlineSpan) -> str:
    """Return a link's target, the text of code, and anything else unchanged."""
    if span.kind in ("wiki", "markdown"):
        return text[slice(*span.target)].strip() or text[slice(*span.shown)]
    return text[slice(*span.shown)] if span.kind in ("code", "url") else text[span.start : span.end]


_AT = lazy_pattern(r" \(at line ([0-9]+), column [0-9]+\)\Z")


def _read_toml(block: str) -> dict[str, object]:
    """Return the values of a block, dates as dates; raise BlockError."""
    try:
        document = toml.parse_toml(block)
        repr(document)  # fails on a number of 5,000 digits, which nobody could print or compare
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        raise BlockError(_AT.sub("", str(error)), _error_offset(block, at)) from error
    except toml.TooComplex as error:
        raise BlockError(error.reason, error.index) from error
    except ValueError as error:
        raise BlockError(str(error)) from error
    return document


def _edit_toml(block: str, changes: Mapping[str, object], newline: str) -> str:
    """Return the block with these top-level keys set, or without those set to None.

    A new key follows the last top-level one. Raise BlockError for a table, a dotted key and all
    else that is not a single `key = value`.
    """
    import tomlkit
    from tomlkit.items import Item

    old = _read_toml(block)
    head = toml.split_tables(block)[0].text
    document = tomlkit.parse(head)
    for key, value in changes.items():
        is_same = key in old and repr(old[key]) == repr(_expected_toml(value))
        if is_same or (value is None and key not in old):
            continue
        if key in old and (key not in document or not _is_plain(document.item(key))):
            raise BlockError(f"key {key!r} is not a plain `key = value`")
        if value is None:
            del document[key]
            continue
        holder = tomlkit.inline_table()  # a table in it is written on one line
        holder[key] = _expected_toml(value)
        document[key] = item = holder.value.item(key)
        if key not in old and isinstance(item, Item):
            item.trivia.trail = last_break(head or block, newline)
    return document.as_string() + block[len(head) :]


def _is_plain(item: object) -> bool:
    from tomlkit.items import InlineTable, Item, Table

    return isinstance(item, InlineTable) or (isinstance(item, Item) and not isinstance(item, Table))


def _expected_toml(value: object) -> object:
    """Return the value that reading a written value gives: as for YAML, but dates are dates."""
    if isinstance(value, datetime):
        return datetime.fromisoformat(format_iso(value))
    if isinstance(value, date):
        return value
    if isinstance(value, list | tuple):
        return [_expected_toml(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _expected_toml(item) for key, item in value.items()}
    return reread_value(value)


def _error_offset(block: str, match: re.Match[str] | None) -> int:
    if not match:
        return len(block)
    starts = [0, *(line.end() for line in BREAK.finditer(block))]
    return starts[min(int(match[1]), len(starts)) - 1]
