"""Edit JSON and TOML: JSON with or without comments and trailing commas.

Comments of JSON are overwritten with spaces, so that the standard library reads the text, and a
place in what it read is the same place in the file. In TOML new tables are appended to the text,
keys are changed inside one table; a change counts only when the standard library reads the wanted
value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NoReturn

from memory_bank.base import NamedTuple, lazy_pattern, toml
from memory_bank.base.errors import BadInput
from memory_bank.base.text import edit_lines
from memory_bank.notes.blocks import line_start, splice

Path = tuple[str | int, ...]
"""Keys of objects and indices of array elements, from the outermost value inwards."""

_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'  # an open one too: looked at once, not at each quote

_COMMENT = lazy_pattern(rf"{_STRING}|(//[^\r\n]*|/\*.*?\*/)|/\*.*", re.DOTALL)

_TRAILING_COMMA = lazy_pattern(rf"{_STRING}|[\[{{:,]\s*,|(,)(?=\s*[}}\]])", re.DOTALL)

_SAME_LINE_COMMENTS = lazy_pattern(r"(?:[ \t]*(?:/\*(?:[^*\r\n]|\*(?!/))*\*/|//[^\r\n]*))*")

_SPACE = lazy_pattern(r"[ \t\r\n]*")

_INDENT = lazy_pattern(r"^[ \t]+(?=\S)", re.MULTILINE)


class _Item(NamedTuple):
    """A member of an object or an element of an array, with its position."""

    key: str | int
    start: int
    value_start: int
    end: int
    comma: int | None
    value: object


class JsonFile(NamedTuple):
    """An editor of JSON of the form that one program reads; its methods raise BadInput."""

    comments: bool = False
    trailing_commas: bool = False
    byte_order_mark: bool = True

    def value_at(self, text: str, path: Path) -> object:
        """Return the value at a path; None if there is none."""
        way = self._read(text).find(path)
        return way[-1].value if len(way) > len(path) else None

    def set_value(self, text: str, path: Path, value: object) -> str:
        """Return the text with a value at a path; an index after the last element appends."""
        self._read(text)
        return edit_lines(text, lambda plain: self._read(plain).set(path, value))

    def remove(self, text: str, path: Path) -> str:
        """Return the text without a value, and without the objects that `set` made for it."""
        self._read(text)
        return edit_lines(text, lambda plain: self._read(plain).remove(path))

    def remove_keys(self, text: str, path: Path, keys: Iterable[str]) -> str:
        """Return the text without some keys of an object."""
        for key in keys:
            text = self.remove(text, (*path, key))
        return text

    def _read(self, text: str) -> _Text:
        if text.startswith("\ufeff"):
            if not self.byte_order_mark:
                _refuse(text, 0, "this program reads no byte order mark")
            text = f" {text[1:]}"
        bare = _blank(_COMMENT, text, "" if self.comments else "this program reads no comments")
        commas = "" if self.trailing_commas else "this program reads no trailing comma"
        plain = _blank(_TRAILING_COMMA, bare, commas)
        try:
            if plain.strip(" \t\r\n"):
                json.loads(plain, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            _refuse(text, error.pos, error.msg)
        except (ValueError, RecursionError) as error:
            raise BadInput(str(error)) from error
        return _Text(text, bare, plain)


class _Text(NamedTuple):
    """A text, also without comments, and also without trailing commas; all have the same length."""

    full: str
    bare: str
    plain: str

    def find(self, path: Path) -> list[_Item]:
        """Return the outermost value and the existing values along a path."""
        at = self._skip(0)
        if at == len(self.bare):
            return []
        value, end = self._value(at)
        way = [_Item("", at, at, end, None, value)]
        for key in path:
            if not isinstance(way[-1].value, dict | list):
                break
            entries = [item for item in self._items(way[-1].value_start)[0] if item.key == key]
            if len(entries) > 1:
                raise BadInput(f"{key!r} is there twice")
            if not entries:
                break
            way += entries
        return way

    def set(self, path: Path, value: object) -> str:
        way = self.find(path)
        if not way:
            return self._begin(nest_value(path, value))
        last = way[-1]
        if len(way) > len(path):
            new = self._render(value, self._margin(last.start))
            edits = [] if last.value == value else [(last.value_start, last.end, new)]
            return splice(self.full, edits)
        key, *inner = path[len(way) - 1 :]
        if not isinstance(last.value, dict if isinstance(key, str) else list):
            kind = "object with keys" if isinstance(key, str) else "array"
            where = ".".join(map(str, path[: len(way) - 1])) or "what the file holds"
            raise BadInput(f"{where} is no {kind}")
        label = f"{_dumps(key)}: " if isinstance(key, str) else ""
        return self._insert(last.value_start, label, nest_value(tuple(inner), value))

    def remove(self, path: Path) -> str:
        way = self.find(path)
        if len(way) <= len(path):
            return self.full
        item = way[-1]
        if not path:
            return self._end(item)
        items, close = self._items(way[-2].value_start)
        if len(items) == 1 and self._made_by_set(way[-2].value_start, item, close):
            return self.remove(path[:-1])
        start, comma = len(self.full[: item.start].rstrip(" \t\r\n")), item.comma
        after = item.end + (comma == item.end)
        if self.full[after : after + 1] not in ("\n", "\r") and self._ends_line_comment(start):
            start = item.start  # what follows must not become a part of the comment
        if comma is None and len(items) > 1:
            comma = items[-2].comma
        commas = [] if comma is None else [(comma, comma + 1, "")]
        return splice(self.full, [(start, item.end, ""), *commas])

    def _insert(self, start: int, label: str, value: object) -> str:
        """Append an item to the object or array at a position, formatted like its other items."""
        items, close = self._items(start)
        last = items[-1] if items else _Item("", start, start, start + 1, start, None)
        end = last.end if last.comma is None else last.comma + 1
        match = _SAME_LINE_COMMENTS.match(self.full, end)
        behind = match.end() if match else end
        margin = self._margin(last.start) + ("" if items else self._indent())
        spread = "\n" in self.full[start : items[0].start if items else close]
        # Into an empty object goes a line end on one side only: see `_made_by_set`.
        on_lines = spread == bool(items) or "//" in self.full[end:behind]
        gap = f"\n{margin}" if on_lines else " " if items else ""
        rendered = self._render(value, margin, one_line=bool(items) and not on_lines)
        comma, trailing = (",", "") if last.comma is None else ("", "," if items else "")
        new = (behind, behind, f"{gap}{label}{rendered}{trailing}")
        return splice(self.full, [(last.end, last.end, comma), new])

    def _made_by_set(self, start: int, only: _Item, close: int) -> bool:
        """Tell by its format whether `set` made the object or array for its only item."""
        before, after = self.full[start + 1 : only.start], self.full[only.end : close]
        return not before + after or all(p.isspace() and "\n" in p for p in (before, after))

    def _begin(self, value: object) -> str:
        """Put a value into an empty text; a final line end stays."""
        end = "\n" if self.full.endswith("\n") else ""
        gap = "\n" if self.full and not end else ""
        return f"{self.full}{gap}{self._render(value)}{end}"

    def _end(self, root: _Item) -> str:
        before, after = self.full[: root.start], self.full[root.end :]
        return before + after[1:] if after.startswith("\n") else before.removesuffix("\n") + after

    def _items(self, start: int) -> tuple[list[_Item], int]:
        """Return the items of the object or array at a position, and the position of its end."""
        items: list[_Item] = []
        at = self._skip(start + 1)
        while self.bare[at] not in "}]":
            first = at
            key: Any = len(items)
            if self.bare[start] == "{":
                key, at = self._value(at)
                at = self._skip(self._skip(at) + 1)
            value, end = self._value(at)
            after = self._skip(end)
            comma = after if self.bare[after] == "," else None
            items.append(_Item(key, first, at, end, comma, value))
            at = after if comma is None else self._skip(comma + 1)
        return items, at

    def _value(self, at: int) -> tuple[Any, int]:
        return json.JSONDecoder().raw_decode(self.plain, at)

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self.bare, at)
        return match.end() if match else at

    def _ends_line_comment(self, at: int) -> bool:
        comments = _COMMENT.finditer(self.full)
        return any(match.end() == at and match[0].startswith("//") for match in comments)

    def _render(self, value: object, margin: str = "", *, one_line: bool = False) -> str:
        """Format an object on several lines and an array of plain values on one."""
        inner = margin + self._indent()
        if isinstance(value, dict) and value and not one_line:
            ends = "{}"
            parts = [f"{_dumps(key)}: {self._render(item, inner)}" for key, item in value.items()]
        elif isinstance(value, list) and not one_line and _has_containers(value):
            ends = "[]"
            parts = [self._render(item, inner) for item in value]
        else:
            return _dumps(value)
        return f"{ends[0]}\n{inner}" + f",\n{inner}".join(parts) + f"\n{margin}{ends[1]}"

    def _indent(self) -> str:
        match = _INDENT.search(self.plain)
        return match[0] if match else "  "

    def _margin(self, at: int) -> str:
        """Return the indentation of the line at a position."""
        line = self.full[line_start(self.full, at) : at]
        return line[: len(line) - len(line.lstrip(" \t"))]


def _blank(pattern: re.Pattern[str], text: str, refusal: str) -> str:
    def spaces(match: re.Match[str]) -> str:
        if not match[1]:
            return match[0]
        if refusal:
            _refuse(text, match.start(1), refusal)
        return re.sub(r"[^\r\n]", " ", match[0])

    return pattern.sub(spaces, text)


def _refuse(text: str, at: int, why: str) -> NoReturn:
    line, column = len(text[:at].splitlines()) or 1, at - line_start(text, at) + 1
    raise BadInput(f"line {line}, column {column}: {why}")


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _has_containers(items: list[object]) -> bool:
    return any(isinstance(item, dict | list) for item in items)


def _dumps(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair: as \udc00


def nest_value(path: Path, value: object) -> Any:  # noqa: ANN401  (what JSON and TOML can say)
    """Return a value nested in new objects by the keys of a path; an index makes an array."""
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


_LINE = lazy_pattern(r"[^\n]*\n|[^\n]+")


class TomlFile:
    """An editor of TOML; its methods raise BadInput. Paths have keys only, no indices."""

    def value_at(self, text: str, path: Path) -> object:
        """Return the value at a path; None if there is none."""
        try:
            document: Any = toml.parse_toml(text.removeprefix("\ufeff"))
        except ValueError as error:
            raise BadInput(str(error)) from error
        for key in path:
            document = document.get(key) if isinstance(document, dict) else None
        return document

    def set_value(self, text: str, path: Path, value: object) -> str:
        """Return the text with a value at a path."""
        if self.value_at(text, path) == value:
            return text
        return self._change_text(text, path, value, toml.insert_value)

    def remove(self, text: str, path: Path) -> str:
        """Return the text without a value and the blank line before it; comments stay."""
        if self.value_at(text, path) is None:
            return text
        return self._change_text(text, path, None, _remove_tables, toml.change_value)

    def remove_keys(self, text: str, path: Path, _: Iterable[str]) -> str:
        """Return the text with a whole table turned into comments.

        Codex, the one client with TOML, does not start with a server that lacks its command.
        """
        return self._change_text(text, path, None, _comment_tables)

    def _change_text(
        self, text: str, path: Path, value: object, *edits: Callable[..., Iterator[str]]
    ) -> str:
        """Return the first edited text that parses with the wanted value."""

        def first(plain: str) -> str:
            for new in (new for edit in edits for new in edit(plain, path, value)):
                with suppress(BadInput):
                    if self.value_at(new, path) == value:
                        return new
            raise BadInput(f"{path[-1]!r} is in a form that can't be changed by a program")

        return edit_lines(text, first)


def _remove_tables(text: str, path: Path, _: object) -> Iterator[str]:
    yield _replace_tables(text, path, lambda _: "")


def _comment_tables(text: str, path: Path, _: object) -> Iterator[str]:
    yield _replace_tables(text, path, lambda line: f"# {line}" if line.strip() else line)


def _replace_tables(text: str, path: Path, replace: Callable[[str], str]) -> str:
    """Return the text with other lines for the table at a path and the tables inside it."""
    head = ""
    for table in toml.split_tables(text):
        if table.keys[: len(path)] != path:
            head += table.text + table.comments
            continue
        lines = "".join(map(replace, _LINE.findall(table.text)))
        if not lines and head.endswith("\n\n"):
            head = head[:-1]
        if not lines and not (table.text + table.comments).endswith("\n"):
            head = head.removesuffix("\n")
        head += lines + table.comments
    return head
