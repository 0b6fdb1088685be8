"""Search a bank's notes, and read the sections found."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.actions.authors import editors
from memory_bank.actions.linked_notes import LinkShown, linked, node_of
from memory_bank.bank import Bank, View
from memory_bank.errors import BadInput
from memory_bank.manifest import filters
from memory_bank.manifest.documents import PassageRow
from memory_bank.note_rows import BY_HAND, note_of
from memory_bank.notes.dates import iso_of
from memory_bank.notes.name_forms import of_file
from memory_bank.notes.note import Entity
from memory_bank.search import remarks, snippets
from memory_bank.search.engine import Hit, SearchResult
from memory_bank.search.hits import Reason
from memory_bank.search.query import Query, conditions, parse
from memory_bank.setting_sections import MODES
from memory_bank.source import Section, Span

if TYPE_CHECKING:
    from memory_bank.index.report import Progress

SCHEMA_VERSION = "1.0"
MOST = 100
"""Most notes in an answer."""
_CHANGING = "notes kept changing during the search: some may be missing"
_WORDLESS = "no linking note contains these words; showing all notes that link to it"
SECTION, INDEX = "section", "index"
DETAILS = (SECTION, INDEX)
"""What an answer has of each note: its best section, or no text."""
_TRIES = 5
"""Attempts to get an answer during which no note changes."""


class Also(NamedTuple):
    """Another section of a note that matches."""

    line: int
    heading: str
    snippet: str
    relevance_score: float


class RecalledNote(NamedTuple):
    """A note in an answer, with its best section."""

    note_id: str
    path: str
    """Relative to the bank."""
    line: int
    """1-based line of the file where the matching passage starts."""
    title: str
    heading: str
    """The headings above the passage, outermost first, joined by ` > `."""
    content: str
    """The whole matching section."""
    snippet: str
    tags: tuple[str, ...]
    type: str
    status: str
    file_refs: tuple[str, ...]
    symbol_refs: tuple[str, ...]
    entity_refs: tuple[Entity, ...]
    source_type: str
    source_agent: str
    edited_by: tuple[str, ...]
    """Agents that are known to have changed it, without its author."""
    created_at: str
    access_count: int
    """Before this answer."""
    last_accessed_at: str
    """Before this answer; empty if it was never accessed."""
    relevance_score: float
    """The likelihood that it answers the query, 0 to 1."""
    reasons: tuple[Reason, ...]
    also: tuple[Also, ...]
    weak: bool = False
    """Whether that likelihood is too low for an answer."""
    superseded_by: str | None = None
    links: tuple[LinkShown, ...] | None = None
    """Links to the note or ghost of `linked_to`, the most relevant first."""


class Recalled(NamedTuple):
    """An answer: notes by relevance, the mode used, and problems of the search."""

    schema_version: str
    query: str
    mode_used: str
    fallback_reason: str | None
    result_count: int
    notes: tuple[RecalledNote, ...]
    problem: str | None = None
    answered: bool = True
    """Whether any note is more than a weak match."""
    notices: tuple[str, ...] = ()
    """How words of time restricted the answer, and what may be mistyped in the query."""


def recall(
    bank: Bank,
    query: str,
    limit: int | None = None,
    mode: str | None = None,
    *,
    offset: int = 0,
    detail: str = SECTION,
    tags: Sequence[str] = (),
    type: str | None = None,  # noqa: A002  (the field's word)
    since: str | datetime | None = None,
    before: str | datetime | None = None,
    linked_to: str | None = None,
    include_archived: bool = False,
    min_score: float = 0.0,
    count_access: bool = True,
    progress: "Progress | None" = None,
) -> Recalled:
    """Return the notes that match a query, best first, each once with its best section.

    `limit` is clamped to 1 to 100; the best `offset` notes are left out. With the detail `index`,
    notes come without their text. Notes need all of `tags`. Filters apply before ranking. With
    `linked_to`, the name of a note or ghost (such as a source file), only notes that link to it,
    with those links, the most relevant link first; if none matches the query, all of them. Words of
    time in the query (`last week`) restrict it as `since` and `before` do, unless these are given;
    if no note of that time matches, all dates are searched. `notices` says both.
    Notes whose `relevance_score` is below `min_score` are left out; those too unlikely to answer
    come last, marked as weak. Unless `count_access` is false, the access counts of the others are
    then increased by one.
    Raises BadInput for an unknown mode, detail or time, a negative `offset` or a `min_score` beyond
    1, NoteNotFound for a `linked_to` that is neither a note nor a file.
    """
    bank.settings.check_enabled()
    mode = mode or bank.settings.search.mode
    if mode not in MODES:
        raise BadInput(f"there is no mode {mode!r}", f"choose one of: {', '.join(MODES)}")
    if detail not in DETAILS:
        raise BadInput(f"there is no detail {detail!r}", f"choose one of: {', '.join(DETAILS)}")
    if offset < 0:
        raise BadInput(f"the offset {offset} is negative", "count from 0")
    if not 0 <= min_score <= 1:
        raise BadInput(f"{min_score} is no likelihood", "give one from 0 to 1")
    wanted = _Wanted(
        query=query,
        conditions=conditions(tags=tags, types=type, since=since, before=before),
        mode=mode,
        limit=min(max(bank.settings.search.limit if limit is None else limit, 1), MOST) + offset,
        archived=include_archived,
        node="" if linked_to is None else node_of(bank, linked_to),
        min_score=min_score,
        times=since is None and before is None,
        texts=detail != INDEX,
    )
    with bank.lock:
        answer, hits = _linked_or_found(bank, wanted, progress)
        if offset:
            notes, hits = answer.notes[offset:], hits[offset:]
            answer = answer._replace(notes=notes, result_count=len(notes))
        used = [hit.document.known_as for hit in hits if not hit.weak]
        if not (count_access and used):
            return answer
        uncounted = bank.logs.access.add(used, time.time())
        return answer._replace(problem=answer.problem or uncounted or None)


class _Wanted(NamedTuple):
    query: str
    conditions: tuple[filters.Condition, ...]
    mode: str
    limit: int
    archived: bool
    node: str
    """The note or ghost that hits must link to; empty for any."""
    min_score: float
    times: bool
    """Whether words of time in the query restrict it."""
    kinds: bool = True
    """Whether a question without a subject is restricted to the type that it asks for."""
    words: str = ""
    """The words to sort links by if the query is empty."""
    texts: bool = True
    """Whether the text of notes is returned."""


class _Answer(NamedTuple):
    recalled: Recalled
    hits: list[Hit]
    """Of the notes in the answer."""
    query: Query

    @property
    def good(self) -> bool:
        """Tell whether a hit is likely to answer the query."""
        return bool(self.hits) and self.recalled.answered


def _linked_or_found(
    bank: Bank, wanted: _Wanted, progress: "Progress | None"
) -> tuple[Recalled, list[Hit]]:
    """Search; if no note that links to the target matches the query, list all that do."""
    answer, hits, _ = _of_that_time(bank, wanted, progress)
    if wanted.node and wanted.query and not hits:
        every = wanted._replace(query="", words=wanted.query)
        answer, hits, _ = _answer(bank, every, progress)
        problem = answer.problem or (_WORDLESS if hits else None)
        answer = answer._replace(query=wanted.query, problem=problem)
    return answer, hits


def _of_that_time(bank: Bank, wanted: _Wanted, progress: "Progress | None") -> _Answer:
    """Search the notes of the time that the query names; if none answers it, those of all dates.

    The caller holds the bank's lock.
    """
    found = _answer(bank, wanted, progress)
    times = found.query.times
    if times is None:
        return found
    kind = found.query.kind
    if kind:
        others = _answer(bank, wanted._replace(kinds=False), progress)
        found = _first(found, others, wanted.limit) if found.good else others
    notice = remarks.restricted(times, kind if found.good and found.query.kind else "")
    if not found.good:
        others = _answer(bank, wanted._replace(times=False), progress)
        if others.good or not found.hits:
            found, notice = others, remarks.lifted(times)
    if not found.hits:
        return found
    notices = (notice, *found.recalled.notices)
    return found._replace(recalled=found.recalled._replace(notices=notices))


def _first(first: _Answer, others: _Answer, limit: int) -> _Answer:
    """Put the notes of one answer before the others of a second one."""
    pairs = {
        note.note_id: (note, hit)
        for one in (first, others)
        for note, hit in zip(one.recalled.notes, one.hits, strict=True)
    }
    best = list(pairs.values())[:limit]
    notes = tuple(note for note, _ in best)
    recalled = first.recalled._replace(notes=notes, result_count=len(notes))
    return first._replace(recalled=recalled, hits=[hit for _, hit in best])


def _answer(bank: Bank, wanted: _Wanted, progress: "Progress | None") -> _Answer:
    """Search, and read the sections found; repeat if a note changed in between.

    The caller holds the bank's lock.
    """
    for _ in range(_TRIES):
        problem = bank.catch_up(progress)
        found, changed = bank.read(lambda view: _checked_search(bank, view, wanted))
        if None not in found.notes and not changed:
            break
    else:
        problem = problem or _CHANGING
    kept = tuple(note for note in found.notes if note is not None)
    answer = Recalled(
        schema_version=SCHEMA_VERSION,
        query=wanted.query,
        mode_used=found.result.mode,
        fallback_reason=found.result.fallback_reason or None,
        result_count=len(kept),
        notes=kept,
        answered=not all(note.weak for note in kept),
        problem=problem or None,
        notices=found.notices,
    )
    pairs = zip(found.result.hits, found.notes, strict=True)
    return _Answer(answer, [hit for hit, note in pairs if note is not None], found.query)


class _Found(NamedTuple):
    result: SearchResult
    notes: list[RecalledNote | None]
    """One for each hit; None if its file changed since it was indexed."""
    query: Query
    notices: tuple[str, ...]


def _checked_search(bank: Bank, view: View, wanted: _Wanted) -> tuple[_Found, bool]:
    """Search, and tell whether another process changed the index meanwhile.

    Its manifest and its retrievers may then disagree about a note, which hides it.
    """
    manifest = view.manifest
    before = manifest.version()
    found = _search(bank, view, wanted)
    return found, manifest.version() != before or manifest.unfinished()


def _search(bank: Bank, view: View, wanted: _Wanted) -> _Found:
    known = filters.fields(view.manifest) if ":" in wanted.query else ()
    parsed = parse(wanted.query, known, times=wanted.times, kinds=wanted.kinds)
    conditions = (*parsed.conditions, *wanted.conditions)
    required = [_with_link_names(bank, one) for one in conditions]
    written = bank.logs.updates.all() if any(one.key == "since" for one in required) else {}
    within = filters.scope(view.manifest, required, hidden=wanted.archived, written=written)
    links = linked(view, wanted.node) if wanted.node else None
    text = parsed.question.text
    found = view.engine.search(
        parsed.question,
        within if links is None else within.narrowed(links),
        mode=wanted.mode,
        limit=wanted.limit,
        min_score=wanted.min_score,
        now=time.time(),
    )
    by_note = {
        number: _sorted(into, wanted.words or text) for number, into in (links or {}).items()
    }
    edited = editors(bank, [note_of(hit.document) for hit in found.hits])
    notes = [
        _recalled(view, hit, text, edited[hit.document.key], by_note.get(hit.document.number))
        for hit in found.hits
    ]
    notices = remarks.remarks(view.manifest, parsed.unread, conditions)
    if not wanted.texts:
        notes = [note and note._replace(content="", snippet="", also=()) for note in notes]
    return _Found(found, notes, parsed, notices)


def _with_link_names(bank: Bank, condition: filters.Condition) -> filters.Condition:
    """Return a condition with its file names in the form that links use."""
    if condition.key != "links" or not isinstance(condition.value, str):
        return condition
    files = (of_file(file, bank.layout) for file in condition.value.split(","))
    return condition._replace(value=",".join(files))


def _sorted(links: Sequence[LinkShown], text: str) -> tuple[LinkShown, ...]:
    """Return links sorted by the number of the query's words around them, descending."""
    return tuple(sorted(links, key=lambda link: -snippets.count_words(text, link.context)))


def _recalled(
    view: View,
    hit: Hit,
    text: str,
    edited_by: tuple[str, ...],
    links: tuple[LinkShown, ...] | None,
) -> RecalledNote | None:
    """Read a hit's section from its file; None if the file changed since it was indexed."""
    note = note_of(hit.document)
    section = hit.best.section
    content = _text(view, hit, Span(section.line, section.end_line))
    if content is None:
        return None
    return RecalledNote(
        note_id=note.key,
        path=note.path,
        line=hit.best.line,
        title=note.title,
        heading=_heading(section),
        content=content,
        snippet=_snippet(view, hit, hit.best, text),
        tags=note.tags,
        type=note.type,
        status=note.status,
        file_refs=tuple(note.rest.get("file_refs", ())),
        symbol_refs=tuple(note.rest.get("symbol_refs", ())),
        entity_refs=tuple(Entity(**item) for item in note.rest.get("entity_refs", ())),
        source_type=note.source_type or BY_HAND,
        source_agent=str(note.rest.get("source_agent", "")),
        edited_by=edited_by,
        created_at=iso_of(note.created),
        access_count=hit.access.times,
        last_accessed_at=iso_of(hit.access.last) if hit.access.times else "",
        relevance_score=round(hit.score, 4),
        reasons=hit.reasons,
        also=tuple(
            Also(
                line=passage.line,
                heading=_heading(passage.section),
                snippet=_snippet(view, hit, passage, text),
                relevance_score=round(score, 4),
            )
            for passage, score in hit.also
        ),
        weak=hit.weak,
        superseded_by=hit.superseded_by or None,
        links=links,
    )


def _text(view: View, hit: Hit, span: Span) -> str | None:
    """Return lines of a hit's document; None if it changed since it was indexed."""
    return view.source.text(hit.document.key, hit.document.hash, span)


def _snippet(view: View, hit: Hit, passage: PassageRow, text: str) -> str:
    return snippets.snippet(_text(view, hit, passage.span) or "", text)


def _heading(place: Section) -> str:
    return " > ".join(place.headings)
