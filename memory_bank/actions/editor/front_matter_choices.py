"""Choices for completion in the front matter of a note: values of its keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from memory_bank.actions.editor.choice import MAX_CHOICES, Choice, Choices, matching
from memory_bank.actions.editor.project_files import project_files
from memory_bank.bank import Bank, View
from memory_bank.codebase import Codebase
from memory_bank.manifest import documents
from memory_bank.notes.schema import KNOWN_TYPES

CodeOf = Callable[[], "Codebase | None"]
"""Returns the code around the bank; asked only where symbols are completed."""

_TYPED = r"([\"']?)([^\s,\[\]{}\"']*)\Z"
_VALUE = re.compile(
    r"(type|status|tags?|file_refs|symbol_refs)[ \t]*:[ \t]*(?:\[(?:[^\]\r\n]*,)?[ \t]*)?" + _TYPED
)
_ITEM = re.compile(r"[ \t]*-[ \t]+" + _TYPED)
_ANY_ITEM = re.compile(r"[ \t]*-[ \t]")
_KEY = re.compile(r"([\w-]+)[ \t]*:[ \t]*\Z")
_REST = re.compile(r"[^\s,\[\]{}\"']*")
_PLAIN = re.compile(r"[\w./][\w./@+~-]*(?:#[\w.]+)?", re.ASCII)
"""Values that need no quotes in YAML."""
_STATUSES = ("active", "archived")
_MOST_ROWS = 1000
_NAMED = (
    "SELECT DISTINCT s.qualified, f.path FROM symbols AS s JOIN files AS f ON f.id = s.file"
    " WHERE NOT s.test AND s.qualified LIKE ? ESCAPE '\\'"
    " ORDER BY s.qualified LIKE ? ESCAPE '\\' DESC, s.qualified, f.path LIMIT ?"
)
"""Names of symbols, those first that begin as typed."""


class _Typed(NamedTuple):
    """A value that is being typed."""

    key: str
    text: str
    start: int
    offset: int
    end: int
    """Offset after the value that is there."""
    quote: str


def front_matter_choices(bank: Bank, text: str, offset: int, code_of: CodeOf) -> Choices:
    """Return the choices at an offset in front matter."""
    at = _typed_at(text, offset)
    if at is None:
        return Choices()
    if at.key == "file_refs":
        return _references(at, ((name, "") for name in project_files(bank)))
    if at.key == "symbol_refs":
        code = code_of()
        if code is None:
            return Choices()
        if not code.table.file.exists():  # it is being read
            return Choices(complete=False)
        return _symbols(at, code)
    found = (
        Choice(value, "value", value, at.start, offset, at.key, value)
        for value in _values(bank, at.key)
        if value.startswith(at.text.casefold())
    )
    return Choices(tuple(found))


def _typed_at(text: str, offset: int) -> _Typed | None:
    """Return the value that is typed at an offset, with its key."""
    lines = text[:offset].split("\n")
    found, key = _VALUE.match(lines[-1]), ""
    if found:
        key, quote, typed = found[1], found[2], found[3]
    elif item := _ITEM.match(lines[-1]):
        key, quote, typed = _key_above(lines[:-1]), item[1], item[2]
    if not key:
        return None
    rest = _REST.match(text, offset)
    return _Typed(key, typed, offset - len(typed), offset, rest.end() if rest else offset, quote)


def _key_above(lines: list[str]) -> str:
    """Return the key of a list whose last items are the last lines."""
    for line in reversed(lines):
        if not _ANY_ITEM.match(line):
            above = _KEY.match(line.rstrip())
            return above[1] if above else ""
    return ""


def _symbols(at: _Typed, code: Codebase) -> Choices:
    """Return the symbols that are no tests; of several with one name, each with its file."""
    inner = at.text.rpartition("#")[2]
    with code.lock:
        rows = code.table.rows(_NAMED, _pattern(inner), f"{_escaped(inner)}%", _MOST_ROWS)
    files: dict[str, list[str]] = {}
    for name, path in rows:
        files.setdefault(name, []).append(path)
    names = [
        (name if len(paths) == 1 else f"{path}#{name}", path)
        for name, paths in files.items()
        for path in paths
    ]
    found = _references(at, names, typed=inner)
    return found._replace(complete=found.complete and len(rows) < _MOST_ROWS)


def _pattern(typed: str) -> str:
    """Return a pattern of LIKE for names that have the letters typed in their order."""
    return "%" + "".join(f"{_escaped(char)}%" for char in typed)


def _escaped(typed: str) -> str:
    return "".join(f"\\{char}" if char in "%_\\" else char for char in typed)


def _references(at: _Typed, names: Iterable[tuple[str, str]], typed: str | None = None) -> Choices:
    """Return the names that fit, each with a detail, the likeliest first."""
    fits = matching(at.text if typed is None else typed)
    wanted = at.text.casefold()
    kind = "file" if at.key == "file_refs" else "symbol"
    found = sorted(
        {one for one in names if fits(one[0])},
        key=lambda one: (
            not one[0].casefold().startswith(wanted),
            wanted not in one[0].casefold(),
            one,
        ),
    )
    choices = [
        Choice(name, kind, text, at.start, at.end, detail, name)  # type: ignore[arg-type]
        for name, detail in found[: MAX_CHOICES + 1]
        if (text := _written(name, at.quote)) is not None
    ]
    return Choices(tuple(choices[:MAX_CHOICES]), len(found) <= MAX_CHOICES)


def _written(name: str, quote: str) -> str | None:
    """Return a value as YAML, after a quote that was typed; None if that can't be."""
    if not quote:
        return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    return None if {"'", '"', "\\"} & set(name) else name


def _values(bank: Bank, key: str) -> Iterable[str]:
    if key == "status":
        return _STATUSES
    ask: dict[str, Callable[[View], dict[str, int]]] = {
        "type": lambda view: documents.data_counts(view.manifest, "type"),
        "tags": lambda view: documents.counts(view.manifest, "tag"),
    }
    asked = ask.get("tags" if key == "tag" else key)
    if asked is None:
        return ()
    used = [value for value in bank.read(asked) if value]
    return list(dict.fromkeys([*used, *(KNOWN_TYPES if key == "type" else ())]))
