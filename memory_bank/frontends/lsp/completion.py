"""What can follow at the cursor in a note: targets of links, and values of front matter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Link
from memory_bank.code.index.codebase import Codebase
from memory_bank.frontends.lsp.open_texts import Texts, leads_to, project_files, read_symbols
from memory_bank.notes.characters import BREAK
from memory_bank.notes.links import NOT_IN_WIKILINK
from memory_bank.notes.names import name_of
from memory_bank.notes.note import Note
from memory_bank.notes.schema import KNOWN_TYPES
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows

MAX_CHOICES = 200
"""Choices of one answer; the editor asks again as more is typed."""

Kind = Literal["note", "title", "alias", "heading", "block", "file", "symbol", "value"]


class Completion(NamedTuple):
    """A text that may replace the one between two offsets."""

    label: str
    kind: Kind
    text: str
    """The new text; closing brackets included where they are missing."""
    start: int
    end: int
    detail: str = ""
    typed: str = ""
    """The text that is compared with the typed one."""


Completions = tuple[Sequence[Completion], bool]
"""The choices at the cursor, and whether they are all: typing more may bring others."""


def match_typed(typed: str) -> Callable[[str], object]:
    """Return a function that tells whether a name has the typed letters in their order.

    Spaces are left out.
    """
    letters = [char for char in typed.casefold() if not char.isspace()]
    # atomic, so that time is linear
    match = re.compile("".join(f"(?>.*?{re.escape(char)})" for char in letters), re.DOTALL).match
    return lambda name: match(name.casefold())


CodeOf = Callable[[], "Codebase | None"]
"""Returns the code around the bank; asked only where symbols are completed."""

_TYPED = r"([\"']?)([^\s,\[\]{}\"']*)\Z"

_VALUE = lazy_pattern(
    r"(type|status|tags?|file_refs|symbol_refs)[ \t]*:[ \t]*(?:\[(?:[^\]\r\n]*,)?[ \t]*)?" + _TYPED
)

_ITEM = lazy_pattern(r"[ \t]*-[ \t]+" + _TYPED)

_ANY_ITEM = lazy_pattern(r"[ \t]*-[ \t]")

_KEY = lazy_pattern(r"([\w-]+)[ \t]*:[ \t]*\Z")

_REST_OF_VALUE = lazy_pattern(r"[^\s,\[\]{}\"']*")

_PLAIN = lazy_pattern(r"[\w./][\w./@+~-]*(?:#[\w.]+)?", re.ASCII)
"""Values that need no quotes in YAML."""

_STATUSES = ("active", "archived")

_MOST_ROWS = 1000

_NAMED = (
    "SELECT DISTINCT s.qualified, f.path FROM symbols AS s JOIN files AS f ON f.id = s.file"
    " WHERE NOT s.test AND s.qualified LIKE ? ESCAPE '\\'"
    " ORDER BY s.qualified LIKE ? ESCAPE '\\' DESC, s.qualified, f.path LIMIT ?"
)
"""Selects names of symbols; those that begin with the typed text come first."""


class _Typed(NamedTuple):
    """A value that is being typed."""

    key: str
    text: str
    start: int
    offset: int
    end: int
    """Offset after the value that is there."""
    quote: str


def front_matter_choices(bank: Bank, text: str, offset: int, code_of: CodeOf) -> Completions:
    """Return the choices at an offset in front matter."""
    typed = _find_typed(text, offset)
    if typed is None:
        return (), True
    if typed.key == "file_refs":
        return _complete_references(typed, ((name, "") for name in project_files(bank)))
    if typed.key == "symbol_refs":
        code = code_of()
        if code is None:
            return (), True
        if not code.table.file.exists():  # it is being read
            return (), False
        return _complete_symbols(typed, code)
    return [
        Completion(value, "value", value, typed.start, offset, typed.key, value)
        for value in _list_values(bank, typed.key)
        if value.startswith(typed.text.casefold())
    ], True


def _find_typed(text: str, offset: int) -> _Typed | None:
    """Return the value that is typed at an offset, with its key."""
    lines = text[:offset].split("\n")
    match, key = _VALUE.match(lines[-1]), ""
    if match:
        key, quote, typed = match[1], match[2], match[3]
    elif item := _ITEM.match(lines[-1]):
        key, quote, typed = _find_key_above(lines[:-1]), item[1], item[2]
    if not key:
        return None
    rest = _REST_OF_VALUE.match(text, offset)
    return _Typed(key, typed, offset - len(typed), offset, rest.end() if rest else offset, quote)


def _find_key_above(lines: list[str]) -> str:
    """Return the key of a list whose last items are the last lines."""
    for line in reversed(lines):
        if not _ANY_ITEM.match(line):
            above = _KEY.match(line.rstrip())
            return above[1] if above else ""
    return ""


def _complete_symbols(value: _Typed, code: Codebase) -> Completions:
    """Return the symbols that are no tests; those that share a name come with their files."""
    inner = value.text.rpartition("#")[2]
    with code.lock:
        rows = code.table.rows(
            _NAMED, _make_like_pattern(inner), f"{_escape_typed(inner)}%", _MOST_ROWS
        )
    files: dict[str, list[str]] = {}
    for name, path in rows:
        files.setdefault(name, []).append(path)
    names = [
        (name if len(paths) == 1 else f"{path}#{name}", path)
        for name, paths in files.items()
        for path in paths
    ]
    choices, is_complete = _complete_references(value, names, typed=inner)
    return choices, is_complete and len(rows) < _MOST_ROWS


def _make_like_pattern(typed: str) -> str:
    """Return a pattern of LIKE for names that have the letters typed in their order."""
    return "%" + "".join(f"{_escape_typed(char)}%" for char in typed)


def _escape_typed(typed: str) -> str:
    return "".join(f"\\{char}" if char in "%_\\" else char for char in typed)


def _complete_references(
    value: _Typed, names: Iterable[tuple[str, str]], typed: str | None = None
) -> Completions:
    """Return the names that fit, each with a detail, the likeliest first."""
    fits = match_typed(value.text if typed is None else typed)
    needle = value.text.casefold()
    kind = "file" if value.key == "file_refs" else "symbol"
    candidates = sorted(
        {name for name in names if fits(name[0])},
        key=lambda pair: (
            not pair[0].casefold().startswith(needle),
            needle not in pair[0].casefold(),
            pair,
        ),
    )
    choices = [
        Completion(name, kind, text, value.start, value.end, detail, name)  # type: ignore[arg-type]
        for name, detail in candidates[: MAX_CHOICES + 1]
        if (text := _write_yaml_value(name, value.quote)) is not None
    ]
    return choices[:MAX_CHOICES], len(candidates) <= MAX_CHOICES


def _write_yaml_value(name: str, quote: str) -> str | None:
    """Return a value as YAML, after a quote that was typed; None if that can't be."""
    if not quote:
        return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    return None if {"'", '"', "\\"} & set(name) else name


def _list_values(bank: Bank, key: str) -> Iterable[str]:
    if key == "status":
        return _STATUSES
    ask: dict[str, Callable[[IndexView], dict[str, int]]] = {
        "type": lambda view: document_rows.data_counts(view.manifest, "type"),
        "tags": lambda view: document_rows.count_values(view.manifest, "tag"),
    }
    values = ask.get("tags" if key == "tag" else key)
    if values is None:
        return ()
    used = [value for value in bank.read(values) if value]
    return list(dict.fromkeys([*used, *(KNOWN_TYPES if key == "type" else ())]))


_OPEN = lazy_pattern(r"\[\[([^\[\]\r\n]*)\Z")

_REST_OF_TARGET = lazy_pattern(r"[^\[\]|\r\n]*?(?=\]\]|\|)|")


def list_choices(
    texts: Texts, path: str, text: str, offset: int, code_of: CodeOf = lambda: None
) -> Completions:
    """Return what can follow at an offset of an open note's text."""
    line = text.rfind("\n", 0, offset) + 1
    before = text[line:offset]
    if match := _OPEN.search(before):
        rest = _REST_OF_TARGET.match(text, offset)
        end = rest.end() if rest else offset
        closing = "" if text.startswith(("]]", "|"), end) else "]]"
        open_link = _OpenLink(texts, path, match[1], line + match.start(1), end, closing)
        return _complete_in_link(open_link)
    note = texts.note(path)
    if note is None or not 0 < offset < max(note.body_start, 1):
        return (), True
    return front_matter_choices(texts.bank, text, offset, code_of)


class _OpenLink(NamedTuple):
    """A link that is being typed."""

    texts: Texts
    path: str
    typed: str
    start: int
    """Offset behind its opening brackets."""
    end: int
    closing: str

    def choice(
        self, label: str, kind: Kind, text: str, detail: str = "", typed: str = ""
    ) -> Completion:
        ending = "" if not self.closing and "|" in text else self.closing
        return Completion(label, kind, text + ending, self.start, self.end, detail, typed or text)


def _complete_in_link(open_link: _OpenLink) -> Completions:
    if "|" in open_link.typed:
        return (), True
    target, mark, part = _split_typed(open_link.typed)
    if not mark:
        return _complete_targets(open_link)
    link = Link(target, "wiki", 1)
    goal = leads_to(open_link.texts, open_link.path, [link])[0]
    note = open_link.texts.note(goal.path) if goal.path else None
    if note is None and not (goal.file and mark == "#"):
        return (), True
    kind: Kind = "heading" if mark == "#" else "block"
    if note is None:
        kind, parts = "symbol", _yield_symbols(goal.file)
    else:
        parts = _yield_headings(note) if mark == "#" else _yield_blocks(note)
    fits = match_typed(part)
    completions = [
        open_link.choice(
            name, kind, open_link.typed[: len(open_link.typed) - len(part)] + name, detail
        )
        for name, detail in parts
        if fits(name)
    ]
    return completions[:MAX_CHOICES], len(completions) <= MAX_CHOICES


def _split_typed(typed: str) -> tuple[str, str, str]:
    """Split what is typed at its last `#` or `^`."""
    at = max(typed.rfind("#"), typed.rfind("^"))
    if at < 0:
        return typed, "", ""
    mark = typed[at]
    first = typed.find("#") if mark == "#" else at
    target = typed[:first].partition("#")[0] if mark == "^" else typed[:first]
    return target.strip(), mark, typed[at + 1 :]


def _yield_headings(note: Note) -> Iterator[tuple[str, str]]:
    for section in note.body.sections:
        name = section.headings[-1] if section.level else ""
        if name and not NOT_IN_WIKILINK.search(name):
            yield name, " > ".join(section.headings[:-1])


def _yield_symbols(file: str) -> Iterator[tuple[str, str]]:
    for symbol in read_symbols(file):
        yield symbol.qualified, symbol.signature[:80]


def _yield_blocks(note: Note) -> Iterator[tuple[str, str]]:
    lines = BREAK.split(note.text)
    for name, line in note.body.blocks.items():
        line_text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        yield name, line_text.removesuffix(f"^{name}").strip()[:80]


def _complete_targets(open_link: _OpenLink) -> Completions:
    """Return the notes by path, title and alias, and the files of the project."""
    rows = open_link.texts.bank.read(lambda view: document_rows.read_titles(view.manifest))
    fits = match_typed(open_link.typed)
    completions: list[Completion] = []
    for key, title, aliases in rows:
        name = name_of(key)
        if NOT_IN_WIKILINK.search(name) or key == open_link.path:
            continue
        if fits(name):
            completions.append(open_link.choice(name, "note", name, title))
        names = {name.casefold(), name.rpartition("/")[2].casefold()}
        for kind, other in _yield_titles(title, aliases):
            if fits(other) and other.casefold() not in names:
                names.add(other.casefold())
                words = other.replace("|", " ").replace("]", " ").replace("[", " ")
                text = f"{name}|{words}" if open_link.closing or not _has_text(open_link) else name
                completions.append(open_link.choice(other, kind, text, name, other))
    completions += [
        open_link.choice(file, "file", file)
        for file in project_files(open_link.texts.bank)
        if fits(file) and not NOT_IN_WIKILINK.search(file)
    ]
    typed = open_link.typed.casefold()
    completions.sort(
        key=lambda completion: (
            not completion.typed.casefold().startswith(typed),
            completion.kind == "file",
        )
    )
    return completions[:MAX_CHOICES], len(completions) <= MAX_CHOICES


def _has_text(open_link: _OpenLink) -> bool:
    """Return whether the link has a shown text already."""
    text = open_link.texts.unsaved.get(open_link.path, "")
    return text.startswith("|", open_link.end)


def _yield_titles(title: str, aliases: str) -> Iterator[tuple[Kind, str]]:
    if title:
        yield "title", title
    for alias in json.loads(aliases) if aliases.startswith("[") else ():
        yield "alias", str(alias)
