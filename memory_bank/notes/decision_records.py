"""Read decision records (ADRs) as Nygard's template, adr-tools and MADR write them.

Nygard: https://cognitect.com/blog/2011/11/15/documenting-architecture-decisions; adr-tools has
`Date:` below the title and a section `Status`, and writes "Superceded"; MADR 2 has `* Status:` and
`* Date:` below the title, MADR 3 and 4 have `status` and `date` in the front matter. Projects also
write a bold line, a row of a table, or a sign before the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from urllib.parse import unquote

from memory_bank.base import lazy_pattern
from memory_bank.base.dates import date_in_name, to_datetime
from memory_bank.base.documents import Link
from memory_bank.notes.characters import BREAK
from memory_bank.notes.names import name_of, record_name
from memory_bank.notes.note import Note
from memory_bank.notes.relations import normalise_type

_HEADING = lazy_pattern(r"#{1,6}[ \t]++(.*)")

_SIGNS = lazy_pattern(r"[^\w\n[\]|]*")
"""Signs before a word: of a list, emphasis, an emoji, the mark of a quote."""

_FIELD = lazy_pattern(rf"{_SIGNS.pattern}(status|date)[ \t]*[*_]*:[*_]*[ \t]*(\S.*)", re.IGNORECASE)

_CELL = lazy_pattern(r"[ \t]*[*_`]*(status|date)[*_`]*+(?::[*_`]*+)?[ \t]*", re.IGNORECASE)

_SECOND_FIELD = lazy_pattern(r"\bdate\W{1,6}(\d{4}-\d\d-\d\d)", re.IGNORECASE)
"""A date behind the status on one line."""

_NUMBERED = lazy_pattern(r"(?<!\d)\d+[.)]?[ \t]+")

_RELATION = lazy_pattern(
    r"(?<![a-z])(?P<word>[a-z]{1,40}[ \t]{1,9}by|[a-z]{1,40}s)[ \t]+"
    r"(?:\[[^\]\n]{1,300}\]\((?P<path>[^()\s]{1,500})\)|(?:ADR[-_ ]?)?(?P<number>\d{1,5}))[ \t.]*",
    re.IGNORECASE,
)

_DATED = lazy_pattern(r"(?:19|20)\d{6}[-_]")
"""How log4brains begins names."""

_DAY_FIRST = lazy_pattern(r"(\d{1,2})/(\d{1,2})/(\d{4})")
"""Dates as early versions of adr-tools wrote them."""

_SUPERSEDED = "superseded"

ENDED = frozenset([_SUPERSEDED, "rejected", "deprecated", "obsolete", "retired", "withdrawn"])
"""Statuses of decisions that do not hold."""

USUAL = ENDED | {"proposed", "draft", "pending", "accepted", "approved", "implemented", "active"}

_IN_HEAD = lazy_pattern(r"^status[ \t]*[:=][ \t]*(\S.*)", re.IGNORECASE | re.MULTILINE)

FOLDERS = frozenset(["adr", "adrs", "decisions", ".decisions", "decision-records", "adr-records",
                     "architecture-decisions"])  # fmt: skip
"""Names of folders, in lower case, whose files are decision records."""

# Numbered files from which a folder has records.
_FEWEST_NUMBERED = 2

_NO_RECORDS = frozenset(["readme", "index", "toc", "template", "agents", "claude"])

_FIRST = frozenset(["on", "not", "partly", "partially", "in", "to", "work"])
"""Words that are a status only with the next one: `on hold`, `partly superseded`."""

_MOST_READ = 1000
"""Characters of a status that are read."""

_CHOICE = lazy_pattern(r"[|{<]|\bor\b.*\bor\b")
"""What a template's status has."""


class _RecordParser:
    """The parser of one record."""

    def __init__(self, body: str) -> None:
        self.statuses: list[str] = []
        self.date: datetime | None = None
        self._columns: dict[int, str] = {}
        """The columns of a table whose first row was just read."""
        self.has_context = self.has_decision = False
        section, fence = "", ""
        for line in map(str.strip, BREAK.split(body)):
            if line.startswith(("```", "~~~")):
                fence = "" if fence and line.startswith(fence) else fence or line[:3]
            elif fence or not line:
                pass
            elif heading := _HEADING.fullmatch(line):
                section = _NUMBERED.sub("", _SIGNS.sub("", heading[1].lower(), count=1)).rstrip(
                    "#: \t"
                )
                self.has_context |= section.startswith("context")
                self.has_decision |= section.startswith("decision")
            elif section == "status":
                self.statuses.append(line[:_MOST_READ].lstrip("*- \t"))
            elif self.has_context:
                pass
            elif field := _FIELD.fullmatch(line):
                self._read_field(field[1], field[2].strip("* \t"))
            elif line.startswith("|"):
                self._read_row(line)

    def _read_field(self, key: str, value: str) -> None:
        self._keep_value(key.lower(), value)
        if key.lower() == "status" and (second := _SECOND_FIELD.search(value)):
            self.date = self.date or _read_date(second[1])

    def _read_row(self, line: str) -> None:
        """Read a row of a table: below a row with the names, or behind the name."""
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.strip("|:- \t"):
            return
        for at, name in self._columns.items():
            if at < len(cells):
                self._keep_value(name, cells[at])
        names = [(at, match[1].lower()) for at, cell in enumerate(cells)
                 if (match := _CELL.fullmatch(cell))]  # fmt: skip
        if len(cells) == len(("name", "value")) and len(names) == 1 and names[0][0] == 0:
            self._keep_value(names[0][1], cells[1])
            names = []
        self._columns = dict(names)

    def _keep_value(self, name: str, value: str) -> None:
        if name == "date":
            self.date = self.date or _read_date(value)
        elif value:
            self.statuses.append(value[:_MOST_READ])


def _choose_status(texts: Sequence[str]) -> str:
    words = [word for text in texts if (word := _read_status(text))]
    return _SUPERSEDED if _SUPERSEDED in words else next(iter(words), "")


def _read_status(text: str) -> str:
    """Return the status that a text begins with, in lower case; empty for a template's."""
    if _CHOICE.search(re.sub(r"\([^()\n]*\)|<!--.*", "", text)):
        return ""
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower().replace("superce", "superse"))[:2]
    if words and words[0] in _FIRST:
        return "-".join(words)
    return words[0] if words else ""


def read_decision(note: Note) -> Note:
    """Return a note unchanged, or a decision record with its type, status, date and successor.

    The values of its front matter stay. Its status is that of the text, in one word.
    """
    meta = note.meta
    if meta.type.lower() not in {"", "adr", "decision"} or meta.status == "archived":
        return note
    is_placed = may_be_record(note.name)
    head, body = note.text[: note.body_start], note.body_text
    match = _IN_HEAD.search(head)  # also where a link makes it no YAML
    status_text = match[1][:_MOST_READ].rstrip().strip("\"'") if match else ""
    if not (is_placed or meta.type or status_text):
        return note
    parser = _RecordParser(body)
    if status_text:
        parser.statuses.insert(0, status_text)
    status = _choose_status(parser.statuses)
    has_sections = parser.has_context and parser.has_decision
    if not (has_sections or meta.type or record_name(note.name) or status in USUAL):
        return note
    if not (meta.type or (is_placed and (status or has_sections)) or (status and has_sections)):
        return note
    created = meta.created_at or parser.date
    links = (*note.body.links, *_yield_named_records(status_text, parser.statuses))
    return note._replace(
        meta=meta._replace(
            type=meta.type or "decision", status=status or meta.status, created_at=created
        ),
        body=note.body._replace(links=links),
    )


def may_be_record(name: str) -> bool:
    """Return whether a note may be a decision record by its name without suffix."""
    *folders, stem = name.lower().split("/")
    if stem in _NO_RECORDS or stem.endswith("template"):
        return False
    return bool(record_name(name)) or not FOLDERS.isdisjoint(folders)


def is_numbered(name: str) -> bool:
    """Return whether a file is named like a record: with a number, or a date (log4brains)."""
    stem = name_of(name.lower())
    if stem in _NO_RECORDS or stem.endswith("template"):
        return False
    return bool(record_name(stem) or date_in_name(stem) or _DATED.match(stem))


def next_number(stems: Iterable[str]) -> str:
    """Return how the name of a folder's next record begins, like `0042-`, from the names there.

    Return an empty text unless most names, and at least two, have numbers, since a name may begin
    with a number by chance.
    """
    records = [stem for stem in stems if may_be_record(f"decisions/{stem}")]
    numbers = {stem: int(name[4:]) for stem in records if (name := record_name(stem))}
    if len(numbers) < _FEWEST_NUMBERED or len(numbers) * 2 <= len(records):
        return ""
    last = max(numbers, key=lambda stem: (numbers[stem], stem))
    start, digits, rest = re.split(r"(\d+)", last, maxsplit=1)
    between = rest[:1] if rest[:1] in {"-", "_"} else "-"
    return f"{start}{numbers[last] + 1:0{len(digits)}}{between}"


def _yield_named_records(written: str, statuses: Sequence[str]) -> Iterator[Link]:
    """Yield the links to records that the status names, except links that the body has."""
    for text in statuses:
        for match in _RELATION.finditer(text.replace("uperce", "uperse").replace("_", " ")):
            target = f"ADR-{match['number']}" if match["number"] else unquote(match["path"] or "")
            if match["number"] or text is written:
                target, kind = target.partition("#")[0], normalise_type(match["word"])
                yield Link(target, "markdown" if match["path"] else "wiki", 1, kind)


def _read_date(text: str) -> datetime | None:
    if match := _DAY_FIRST.fullmatch(text):
        day, month, year = map(int, match.groups())
        try:
            return datetime(year, month, day, tzinfo=UTC)
        except ValueError:
            return None
    return to_datetime(text)
