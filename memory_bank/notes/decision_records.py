"""Read decision records (ADRs) as Nygard's template, adr-tools and MADR write them.

Nygard: https://cognitect.com/blog/2011/11/15/documenting-architecture-decisions; adr-tools has
`Date:` below the title and a section `Status`; MADR 2 has `* Status:` and `* Date:` below the
title, MADR 3 and 4 have `status` and `date` in the front matter.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import unquote

from memory_bank.base.dates import to_datetime
from memory_bank.notes.relations import as_type

_NEWLINE = re.compile(r"\r\n|\n|\r")

_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")

_FIELD = re.compile(
    r"(?P<mark>[*-][ \t]+)?\**(?P<key>status|date)\**:\**[ \t]*(?P<value>\S.*)", re.IGNORECASE
)

_RELATION = re.compile(
    r"(?P<mark>[*-][ \t]+)?(?P<word>[a-z]+[ \t]+by|[a-z]+s)[ \t]+"
    r"(?:\[(?P<text>[^\]\n]+)\]\((?P<path>[^()\s]+)\)|(?:ADR[-_ ]?)?(?P<number>\d{1,5}))[ \t.]*",
    re.IGNORECASE,
)

_NUMBER = re.compile(r"(?:adr[-_ ]?)?0*(\d{1,5})(?=\D|\Z)", re.IGNORECASE)

_DAY_FIRST = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
"""Dates as early versions of adr-tools wrote them."""

_SUPERSEDED = "superseded"

_MADR = frozenset(["context and problem statement", "decision outcome"])


class DecisionRecord(NamedTuple):
    """Status, date and text of a decision record."""

    status: str
    """In lower case: proposed, accepted, rejected, deprecated, superseded …; may be empty."""
    date: datetime | None
    body: str
    """The text, with references to other records in its status as typed links."""


def read(body: str, status: str, name: str, names: Sequence[str]) -> DecisionRecord | None:
    """Read a body as a decision record; return None if it isn't one.

    A record has headings for context and decision, and a status, which is optional with the
    headings of MADR. `status` is from its front matter, `name` its path without suffix, `names` are
    those of all records.
    """
    parser = _RecordParser(name, names)
    lines = list(parser.lines(body))
    if status:
        parser.statuses.append(status)
        relation = parser.relation(status)
        if relation:
            lines = [*"\n".join(lines).rstrip("\n").split("\n"), "", relation]
    has_status = parser.statuses or parser.headings >= _MADR
    if not (has_status and parser.has_context and parser.has_decision):
        return None
    text = "\n".join(lines)
    return DecisionRecord(_status(parser.statuses), parser.date, text.rstrip("\n") + "\n")


class _RecordParser:
    """The parser of one record."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        self._folder = posixpath.dirname(name)
        self._names = names
        self.statuses: list[str] = []
        self.date: datetime | None = None
        self.headings: set[str] = set()
        self.has_context = self.has_decision = False

    def lines(self, body: str) -> Iterator[str]:
        """Yield the lines of a body; references in its status become typed links."""
        section, fence = "", ""
        for line in _NEWLINE.split(body):
            bare = line.strip()
            if bare.startswith(("```", "~~~")):
                fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
            heading = None if fence else _HEADING.fullmatch(bare)
            if heading:
                section = heading[1].rstrip("# \t").lower()
                self.headings.add(section)
                self.has_context |= section.startswith("context")
                self.has_decision |= section.startswith("decision")
            elif fence or not bare:
                pass
            elif section == "status":
                self.statuses.append(bare.lstrip("*- \t"))
                yield self.relation(bare) or line
                continue
            elif not self.has_context and (field := _FIELD.fullmatch(bare)):
                yield from self._field(line, field)
                continue
            yield line

    def _field(self, line: str, field: re.Match[str]) -> Iterator[str]:
        value = field["value"].strip("* \t")
        if field["key"].lower() == "date":
            self.date = self.date or _date(value)
            yield line
            return
        self.statuses.append(value)
        relation = self.relation(value)
        if not relation:
            yield line
            return
        mark = field["mark"] or ""
        yield f"{mark}{field['key']}: {_status([value])}"
        yield from [f"{mark}{relation}"] if mark else ["", relation]

    def relation(self, text: str) -> str:
        """Return "superseded by [ADR-0012](0012-x.md)" as a typed link; empty if it is none."""
        found = _RELATION.fullmatch(text)
        target = self._target(found) if found else ""
        if not found or not target:
            return ""
        shown = found["text"] or f"ADR-{found['number']}"
        return f"{found['mark'] or ''}{as_type(found['word'])}:: [[{target}|{shown}]]"

    def _target(self, found: re.Match[str]) -> str:
        if found["number"]:
            return self._numbered(int(found["number"]))
        path = unquote(found["path"].partition("#")[0])
        if "://" in path or not path.lower().endswith(".md"):
            return ""
        return posixpath.normpath(posixpath.join(self._folder, path[: -len(".md")]))

    def _numbered(self, number: int) -> str:
        for name in self._names:
            folder, stem = posixpath.split(name)
            found = _NUMBER.match(stem)
            if folder == self._folder and found and int(found[1]) == number:
                return name
        return ""


def _status(said: Sequence[str]) -> str:
    words = [word[0].lower() for text in said if (word := re.search(r"[^\W\d_]+", text))]
    return _SUPERSEDED if _SUPERSEDED in words else next(iter(words), "")


def _date(text: str) -> datetime | None:
    if found := _DAY_FIRST.fullmatch(text):
        day, month, year = map(int, found.groups())
        try:
            return datetime(year, month, day, tzinfo=UTC)
        except ValueError:
            return None
    return to_datetime(text)
