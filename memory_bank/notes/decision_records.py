"""Read decision records (ADRs) as Nygard's template, adr-tools and MADR write them.

Nygard: https://cognitect.com/blog/2011/11/15/documenting-architecture-decisions; adr-tools has
`Date:` below the title and a section `Status`, and writes "Superceded"; MADR 2 has `* Status:` and
`* Date:` below the title, MADR 3 and 4 have `status` and `date` in the front matter. Projects also
write a bold line, a row of a table, or a sign before the word.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import unquote

from memory_bank.base.dates import in_name, to_datetime
from memory_bank.base.plugins import pattern
from memory_bank.notes.characters import BREAK
from memory_bank.notes.names import name_of, record_name
from memory_bank.notes.note import Note, NoteLink, NoteSection
from memory_bank.notes.relations import as_type

_HEADING = pattern(r"#{1,6}[ \t]+(.*)")

_NO_WORD = r"(?:[^\w\n[\]|]*)"
"""Signs around a word: emphasis, emoji, the mark of a quote."""

_FIELD = pattern(
    rf"(?P<mark>[*+-][ \t]+)?{_NO_WORD}(?P<key>status|date)[ \t]*[*_]*:[*_]*[ \t]*(?P<value>\S.*)",
    re.IGNORECASE,
)

_CELL = pattern(r"[ \t]*[*_`]*(status|date)[*_`]*:?[*_`]*[ \t]*", re.IGNORECASE)

_SECOND_FIELD = pattern(r"\bdate\W{1,6}(\d{4}-\d\d-\d\d)", re.IGNORECASE)
"""A date behind the status on one line."""

_NUMBERED = pattern(r"\d+[.)]?[ \t]+")

_RELATION = pattern(
    r"(?P<mark>[*-][ \t]+)?(?P<word>[a-z]+[ \t]+by|[a-z]+s)[ \t]+"
    r"(?:\[(?P<text>[^\]\n]+)\]\((?P<path>[^()\s]+)\)|(?:ADR[-_ ]?)?(?P<number>\d{1,5}))[ \t.]*",
    re.IGNORECASE,
)

_NUMBER = pattern(r"(?:adr[-_ ]?)?0*(\d{1,5})(?=\D|\Z)", re.IGNORECASE)

_DATED = pattern(r"(?:19|20)\d{6}[-_]")
"""How log4brains begins names."""

_DAY_FIRST = pattern(r"(\d{1,2})/(\d{1,2})/(\d{4})")
"""Dates as early versions of adr-tools wrote them."""

_SUPERSEDED = "superseded"

ENDED = frozenset([_SUPERSEDED, "rejected", "deprecated", "obsolete", "retired", "withdrawn"])
"""Statuses of decisions that do not hold."""

USUAL = ENDED | {"proposed", "draft", "pending", "accepted", "approved", "implemented", "active"}

_IN_HEAD = pattern(r"^status[ \t]*[:=][ \t]*(\S.*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)

FOLDERS = frozenset(["adr", "adrs", "decisions", ".decisions", "decision-records", "adr-records",
                     "architecture-decisions"])  # fmt: skip
"""Names of folders, in lower case, whose files are decision records."""

_FEWEST_NUMBERED = 2

_NO_RECORDS = frozenset(["readme", "index", "toc", "template", "agents", "claude"])

_FIRST = frozenset(["on", "not", "partly", "partially", "in", "to", "work"])
"""Words that are a status only with the next one: `on hold`, `partly superseded`."""

_CHOICE = pattern(r"[|{<]|\bor\b.*\bor\b")
"""What a template's status has."""

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
        self._columns: dict[int, str] = {}
        """The columns of a table whose first row was just read."""
        self.has_context = self.has_decision = False

    def lines(self, body: str) -> Iterator[str]:
        """Yield the lines of a body; references in its status become typed links."""
        section, fence = "", ""
        for line in BREAK.split(body):
            bare = line.strip()
            if bare.startswith(("```", "~~~")):
                fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
            heading = None if fence else _HEADING.fullmatch(bare)
            if heading:
                bare = heading[1].rstrip("# \t").lower()
                section = _NUMBERED.sub("", re.sub(rf"\A{_NO_WORD}", "", bare)).rstrip(": \t")
                self.headings.add(section)
                self.has_context |= section.startswith("context")
                self.has_decision |= section.startswith("decision")
            elif fence or not bare:
                pass
            elif section == "status":
                self.statuses.append(bare.lstrip("*- \t"))
                yield self.relation(bare) or line
                continue
            elif self.has_context:
                pass
            elif field := _FIELD.fullmatch(bare):
                yield from self._field(line, field)
                continue
            elif bare.startswith("|"):
                self._row(bare)
            yield line

    def _field(self, line: str, field: re.Match[str]) -> Iterator[str]:
        value = field["value"].strip("* \t")
        if field["key"].lower() == "date":
            self.date = self.date or _date(value)
            yield line
            return
        self.statuses.append(value)
        if second := _SECOND_FIELD.search(value):
            self.date = self.date or _date(second[1])
        relation = self.relation(value)
        if not relation:
            yield line
            return
        mark = field["mark"] or ""
        yield f"{mark}{field['key']}: {_status([value])}"
        yield from [f"{mark}{relation}"] if mark else ["", relation]

    def _row(self, line: str) -> None:
        """Read a row of a table: below a row with the names, or behind the name."""
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.strip("|:- \t"):
            return
        for at, name in self._columns.items():
            if at < len(cells):
                self._value(name, cells[at])
        names = [(at, found[1].lower()) for at, cell in enumerate(cells)
                 if (found := _CELL.fullmatch(cell))]  # fmt: skip
        if len(cells) == len(("name", "value")) and len(names) == 1 and names[0][0] == 0:
            self._value(names[0][1], cells[1])
            names = []
        self._columns = dict(names)

    def _value(self, name: str, value: str) -> None:
        if name == "date":
            self.date = self.date or _date(value)
        elif value:
            self.statuses.append(value)

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
    words = [word for text in said if (word := _word(text))]
    return _SUPERSEDED if _SUPERSEDED in words else next(iter(words), "")


def _word(text: str) -> str:
    """Return the status that a text begins with, in lower case; empty for a template's."""
    if _CHOICE.search(re.sub(r"\(.*?\)|<!--.*", "", text)):
        return ""
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower().replace("superce", "superse"))[:2]
    if words and words[0] in _FIRST:
        return "-".join(words)
    return words[0] if words else ""


def known(note: Note) -> Note:
    """Return a note as it is, or a decision record with its type, status, date and successor.

    What its front matter says stays. Its status is that of the text, in one word.
    """
    meta = note.meta
    if meta.type.lower() not in {"", "adr", "decision"} or meta.status == "archived":
        return note
    placed = may_be_record(note.name)
    head, body = note.text[: note.body_start], note.text[note.body_start :]
    found = _IN_HEAD.search(head)  # also where a link makes it no YAML
    written = found[1].strip("\"'") if found else ""
    if not (placed or meta.type or written):
        return note
    parser = _RecordParser(note.name, ())
    for _ in parser.lines(body):
        pass
    if written:
        parser.statuses.insert(0, written)
    status = _status(parser.statuses)
    whole = parser.has_context and parser.has_decision
    if not (whole or meta.type or record_name(note.name) or status in USUAL):
        return note
    if not (meta.type or (placed and (status or whole)) or (status and whole)):
        return note
    created = meta.created_at or parser.date
    links = (*note.body.links, *_named_records(written, parser.statuses))
    return note._replace(
        meta=meta._replace(
            type=meta.type or "decision", status=status or meta.status, created_at=created
        ),
        body=note.body._replace(links=links),
    )


def may_be_record(name: str) -> bool:
    """Tell whether a note may be a decision record by its name without suffix."""
    *folders, stem = name.lower().split("/")
    if stem in _NO_RECORDS or stem.endswith("template"):
        return False
    return bool(record_name(name)) or not FOLDERS.isdisjoint(folders)


def is_numbered(name: str) -> bool:
    """Tell whether a file is named like a record: with a number, or a date (log4brains)."""
    stem = name_of(name.lower())
    if stem in _NO_RECORDS or stem.endswith("template"):
        return False
    return bool(record_name(stem) or in_name(stem) or _DATED.match(stem))


def next_number(stems: Iterable[str]) -> str:
    """Return how the name of a folder's next record begins, like `0042-`, from the names there.

    Empty unless most of them have numbers, and two at least: a name may begin with one by chance.
    """
    others = [stem for stem in stems if may_be_record(f"decisions/{stem}")]
    numbers = {stem: int(name[4:]) for stem in others if (name := record_name(stem))}
    if len(numbers) < _FEWEST_NUMBERED or len(numbers) * 2 <= len(others):
        return ""
    last = max(numbers, key=lambda stem: (numbers[stem], stem))
    start, digits, rest = re.split(r"(\d+)", last, maxsplit=1)
    between = rest[:1] if rest[:1] in {"-", "_"} else "-"
    return f"{start}{numbers[last] + 1:0{len(digits)}}{between}"


def _named_records(written: str, statuses: Sequence[str]) -> Iterator[NoteLink]:
    """Yield the links to records that the status names, but for the body's own links."""
    for text in statuses:
        for found in _RELATION.finditer(text.replace("uperce", "uperse").replace("_", " ")):
            target = f"ADR-{found['number']}" if found["number"] else unquote(found["path"] or "")
            if found["number"] or text is written:
                target, kind = target.partition("#")[0], as_type(found["word"])
                yield NoteLink(target, "markdown" if found["path"] else "wiki", 1, kind)


def says_nothing(section: NoteSection) -> bool:
    """Tell whether a section of a record has only its title, status or date."""
    name = section.headings[-1] if section.headings else ""
    plain = re.sub(rf"\A{_NO_WORD}", "", name.lower())
    if section.level > 1 and _NUMBERED.sub("", plain).rstrip(": ") in {"status", "date"}:
        return True
    lines = [line.strip() for line in BREAK.split(section.text)]
    return section.level == 1 and all(
        not line or _HEADING.fullmatch(line) or _FIELD.fullmatch(line) for line in lines
    )


def _date(text: str) -> datetime | None:
    if found := _DAY_FIRST.fullmatch(text):
        day, month, year = map(int, found.groups())
        try:
            return datetime(year, month, day, tzinfo=UTC)
        except ValueError:
            return None
    return to_datetime(text)
