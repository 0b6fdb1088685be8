"""Rows of the index that agents read first: one line for an observation, a session or a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memory_bank.base import NamedTuple
from memory_bank.base.documents import Document, Section, Span, read_lines
from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.base.text import estimate
from memory_bank.notes.names import name_of
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, entries
from memory_bank.search.manifest.entries import WHOLE, DocumentEntry
from memory_bank.sessions.answers import IndexRow

OTHER = "discovery"
"""The type of an observation whose own a person has changed to an unknown word."""

SUMMARY = "sum-"

_LONG_NAME = 40
"""Characters of a note's name from which its id is shorter."""

_ONE_ROW = 30
"""Estimated tokens of a row, for the observations that a session lists."""

_READ = 20_000
"""Characters of a long note that are read to estimate its tokens."""


class RowPlace(NamedTuple):
    """What a row stands for: a document, and a section of it unless it is the whole."""

    document: int
    section: int = WHOLE


class Rows:
    """Makes rows of places, with one query for all of them."""

    def __init__(self, view: IndexView, project: str, places: Iterable[RowPlace]) -> None:
        """Read what the rows of some places need; `project` is that of notes that name none."""
        self._view = view
        self._project = project
        places = list(places)
        numbers = {place.document for place in places}
        inside = {place for place in places if place.section != WHOLE}
        self.documents = document_rows.read_documents(view.manifest, numbers)
        self.parts = entries.read_parts(view.manifest, numbers, inside)
        """Sections by document and number; of the observations, those of the places."""
        types = ((place, entries.observation_type(view.manifest, *place)) for place in inside)
        self._types = {place: kind for place, kind in types if kind is not None}

    def row(self, place: RowPlace) -> IndexRow | None:
        """Return the row of a place; None if it is gone."""
        document = self.documents.get(place.document)
        part = self.parts.get(place.document, {}).get(place.section)
        if document is None or (part is None and place.section != WHOLE):
            return None
        kind = self._types.get(place)
        if part is None:
            name = row_id(document)
            session = is_session(document)
            tokens = self._session_tokens(document) if session else self._tokens(document)
        elif kind is None:
            name = f"{row_id(document)}#{self._heading(document.number, part)}"
            tokens = _estimate_tokens(self._text(document, Span(part.line, part.end_line)))
        else:
            name, tokens = part.name, part.tokens
            kind = kind if kind in OBSERVATION_TYPES else OTHER
        return IndexRow(name, document, part, kind, self.project_of(document), tokens)

    def title(self, place: RowPlace) -> str | None:
        """Return the title of the row of a place; None if it is gone."""
        document = self.documents.get(place.document)
        part = self.parts.get(place.document, {}).get(place.section)
        if part and part.headings:
            return part.headings[-1]
        return document.title if document else None

    def project_of(self, document: Document) -> str:
        """Return the project that a note names, else the bank's."""
        entry = document.data.get("extra", {}).get(entries.PROJECT)
        return str(entry) if isinstance(entry, str | int) else self._project

    def inside(self, document: int) -> list[IndexRow]:
        """Return the rows of the observations in a document, in their order."""
        return read_places(self._view, self._project, self.observed(document))

    def is_observation(self, place: RowPlace) -> bool:
        """Tell whether a place is an observation."""
        return place in self._types

    def is_summary(self, place: RowPlace) -> bool:
        """Tell whether a place is the summary of a session."""
        part = self.parts.get(place.document, {}).get(place.section)
        return part is not None and part.name.startswith(SUMMARY)

    def observed(self, document: int) -> list[RowPlace]:
        """Return the places of the observations in a document, in their order."""
        observations = entries.list_observations(self._view.manifest, document)
        return [RowPlace(document, section) for section in observations]

    def text_around(self, document: Document) -> str:
        """Return the text of a session's note without its observations."""
        whole = self._text(document, Span(1, 1 << 40))
        inside = self.observed(document.number)
        parts = entries.read_parts(self._view.manifest, [document.number], inside)[document.number]
        observed = [parts[place.section] for place in inside]
        spans = (
            Span(part.line, part.end_line)
            for part in parts.values()
            if not any(section.line <= part.line < section.end_line for section in observed)
        )
        return "\n".join(read_lines(whole, span) for span in spans)

    def _session_tokens(self, document: Document) -> int:
        listed = _ONE_ROW * len(self.observed(document.number))
        return _estimate_tokens(self.text_around(document)) + listed

    def _tokens(self, document: Document) -> int:
        lines = [part.line for part in self.parts[document.number].values()]
        first = min(lines, default=1)
        return _estimate_tokens(self._text(document, Span(first, 1 << 40)))

    def _text(self, document: Document, span: Span) -> str:
        return self._view.source.text(document.key, document.hash, span) or ""

    def _heading(self, document: int, part: Section) -> str:
        """Return the heading of a section, with those above it if another has the same."""
        note_part = self.parts[document].values()
        sections = [section for section in note_part if section.headings[-1:] == part.headings[-1:]]
        return part.headings[-1] if len(sections) == 1 else " > ".join(part.headings)


def is_session(document: Document) -> bool:
    """Tell whether a document is the note of a session."""
    return bool(entries.read_session_id(document))


def row_id(document: Document) -> str:
    """Return the id of a note or a session as rows have it."""
    name = name_of(document.key)
    if document.id and (is_session(document) or len(name) > _LONG_NAME):
        return document.id
    return name


def read_places(view: IndexView, project: str, places: Sequence[RowPlace]) -> list[IndexRow]:
    """Return the rows of some places, without those that are gone."""
    rows = Rows(view, project, places)
    read_rows = (rows.row(place) for place in places)
    return [row for row in read_rows if row is not None]


def entry_place(entry: DocumentEntry) -> RowPlace:
    """Return the place of an entry."""
    return RowPlace(entry.document, entry.section)


def heading_place(parts: Mapping[int, Section], document: int, heading: str) -> RowPlace | None:
    """Return the place of a section by its heading, or by all its headings joined by ` > `."""
    folded = heading.casefold()
    for number, part in parts.items():
        forms = (*part.headings[-1:], " > ".join(part.headings))
        if part.headings and folded in {form.casefold() for form in forms}:
            return RowPlace(document, number)
    return None


def _estimate_tokens(text: str) -> int:
    if len(text) <= _READ:
        return estimate(text)
    return estimate(text[:_READ]) * len(text) // _READ
