"""What can follow at the cursor in a note: targets of links, and values of front matter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from memory_bank.actions.editor.choice import MAX_CHOICES, Choice, Choices, Kind, matching
from memory_bank.actions.editor.front_matter_choices import CodeOf, front_matter_choices
from memory_bank.actions.editor.goals import goals, symbols
from memory_bank.actions.editor.project_files import project_files
from memory_bank.actions.editor.texts import Texts
from memory_bank.manifest import documents
from memory_bank.notes.block_positions import BREAK
from memory_bank.notes.names import name_of
from memory_bank.notes.note import Link, Note

_OPEN = re.compile(r"\[\[([^\[\]\r\n]*)\Z")
_REST = re.compile(r"[^\[\]|\r\n]*?(?=\]\]|\|)|")
_NOT_IN_TARGET = re.compile(r"[\[\]|#^\r\n]")


def choices(
    texts: Texts, path: str, text: str, offset: int, code_of: CodeOf = lambda: None
) -> Choices:
    """Return what can follow at an offset of an open note's text."""
    line = text.rfind("\n", 0, offset) + 1
    before = text[line:offset]
    if found := _OPEN.search(before):
        rest = _REST.match(text, offset)
        end = rest.end() if rest else offset
        closing = "" if text.startswith(("]]", "|"), end) else "]]"
        here = _Here(texts, path, found[1], line + found.start(1), end, closing)
        return _in_link(here)
    note = texts.note(path)
    if note is None or not 0 < offset < max(note.body_start, 1):
        return Choices()
    return front_matter_choices(texts.bank, text, offset, code_of)


class _Here(NamedTuple):
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
    ) -> Choice:
        shown = "" if not self.closing and "|" in text else self.closing
        return Choice(label, kind, text + shown, self.start, self.end, detail, typed or text)


def _in_link(here: _Here) -> Choices:
    if "|" in here.typed:
        return Choices()
    target, mark, part = _split(here.typed)
    if not mark:
        return _targets(here)
    link = Link(target, "wiki", 1)
    goal = goals(here.texts, here.path, [link])[0]
    note = here.texts.note(goal.path) if goal.path else None
    if note is None and not (goal.file and mark == "#"):
        return Choices()
    kind: Kind = "heading" if mark == "#" else "block"
    if note is None:
        kind, parts = "symbol", _symbols(goal.file)
    else:
        parts = _headings(note) if mark == "#" else _blocks(note)
    fits = matching(part)
    found = [
        here.choice(name, kind, here.typed[: len(here.typed) - len(part)] + name, detail)
        for name, detail in parts
        if fits(name)
    ]
    return Choices(tuple(found[:MAX_CHOICES]), len(found) <= MAX_CHOICES)


def _split(typed: str) -> tuple[str, str, str]:
    """Split what is typed at its last `#` or `^`."""
    at = max(typed.rfind("#"), typed.rfind("^"))
    if at < 0:
        return typed, "", ""
    mark = typed[at]
    first = typed.find("#") if mark == "#" else at
    target = typed[:first].partition("#")[0] if mark == "^" else typed[:first]
    return target.strip(), mark, typed[at + 1 :]


def _headings(note: Note) -> Iterator[tuple[str, str]]:
    for section in note.body.sections:
        name = section.headings[-1] if section.level else ""
        if name and not _NOT_IN_TARGET.search(name):
            yield name, " > ".join(section.headings[:-1])


def _symbols(file: str) -> Iterator[tuple[str, str]]:
    for symbol in symbols(file):
        yield symbol.qualified, symbol.signature[:80]


def _blocks(note: Note) -> Iterator[tuple[str, str]]:
    lines = BREAK.split(note.text)
    for name, line in note.body.blocks.items():
        shown = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        yield name, shown.removesuffix(f"^{name}").strip()[:80]


def _targets(here: _Here) -> Choices:
    """Return the notes by path, title and alias, and the files of the project."""
    rows = here.texts.bank.read(lambda view: documents.titles(view.manifest))
    fits = matching(here.typed)
    found: list[Choice] = []
    for key, title, aliases in rows:
        name = name_of(key)
        if _NOT_IN_TARGET.search(name) or key == here.path:
            continue
        if fits(name):
            found.append(here.choice(name, "note", name, title))
        known = {name.casefold(), name.rpartition("/")[2].casefold()}
        for kind, other in _others(title, aliases):
            if fits(other) and other.casefold() not in known:
                known.add(other.casefold())
                shown = other.replace("|", " ").replace("]", " ").replace("[", " ")
                text = f"{name}|{shown}" if here.closing or not _shown_follows(here) else name
                found.append(here.choice(other, kind, text, name, other))
    found += [
        here.choice(file, "file", file)
        for file in project_files(here.texts.bank)
        if fits(file) and not _NOT_IN_TARGET.search(file)
    ]
    typed = here.typed.casefold()
    found.sort(key=lambda one: (not one.typed.casefold().startswith(typed), one.kind == "file"))
    return Choices(tuple(found[:MAX_CHOICES]), len(found) <= MAX_CHOICES)


def _shown_follows(here: _Here) -> bool:
    """Tell whether the link has a shown text already."""
    text = here.texts.unsaved.get(here.path, "")
    return text.startswith("|", here.end)


def _others(title: str, aliases: str) -> Iterator[tuple[Kind, str]]:
    if title:
        yield "title", title
    for alias in json.loads(aliases) if aliases.startswith("[") else ():
        yield "alias", str(alias)
