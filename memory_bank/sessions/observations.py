"""Search observations of sessions, sessions and notes for rows of the index, without their text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, get_args

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.base.operation import (
    LONGEST_NAME,
    LONGEST_QUERY,
    Param,
    Tool,
    operation,
    split_list,
)
from memory_bank.base.setting_sections import HYBRID, OBSERVATION_TYPES
from memory_bank.notes import schema
from memory_bank.notes.names import file_link_name
from memory_bank.search.engine import Hit
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, entries, filters
from memory_bank.search.manifest.entries import (
    NOTES,
    OBSERVATION,
    OBSERVATIONS,
    SESSIONS,
    EntryConditions,
)
from memory_bank.search.query import Query, list_remarks, parse
from memory_bank.search.times import parse_moment
from memory_bank.sessions import views
from memory_bank.sessions.answers import (
    HINT,
    TYPES,
    IndexRow,
    ObservationRows,
    Type,
    Workflow,
)
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.note_store import NoteStore
from memory_bank.sessions.observation_rows import RowPlace, Rows, entry_place, is_session
from memory_bank.sessions.records import Observation, ObservationQuery, Order, check_type
from memory_bank.sessions.state import asked_project, bank_project, store_of

STEPS = (
    "1. search(query) returns IDs. 2. timeline(anchor=ID) returns what happened around one."
    " 3. get_observations(ids=[...]) returns the full details of those you chose."
)

MOST = 100
"""Most rows in an answer."""

When = str | float | datetime

_LONG = 2000
"""Bytes of a note from which its best section is a row instead of the whole."""

_LONGEST_HEADING = 80
"""Characters of a heading that a place can name."""

_LEAST = 6
"""Rows up to which hits are listed that are not likely to answer; with an offset all are."""

_DEPTH = 200
"""Least hits that a page is cut from."""

_KINDS = {
    "observation": frozenset([OBSERVATIONS]),
    "session": frozenset([SESSIONS]),
    "note": frozenset([NOTES]),
    "section": frozenset([NOTES]),
}


def _split_parts(arguments: Sequence[str]) -> tuple[str, ...]:
    parts = (part.strip() for words in arguments for part in words.split(","))
    return tuple(part for part in parts if part)


def _take_names(help_text: str) -> Param:
    """Return the parameter of names that are divided by commas."""
    return Param(
        help_text,
        metavar="A,B",
        read=_split_parts,
        accept=split_list,
        most=100,
        longest=LONGEST_NAME,
    )


def _read_moment(argument: Any) -> Any:  # noqa: ANN401  (of an agent)
    """Take seconds since 1970 as text."""
    number = isinstance(argument, int | float) and not isinstance(argument, bool)
    return f"{argument:f}" if number else argument


@operation(
    "session search",
    why="""
    Lists what agents' sessions did, decided and learned, one line each: id, type, time, tokens that
    its text takes, and title. Notes of the bank are listed too. `session timeline ID` then
    shows what happened around one, and `session show ID...` shows the whole text of those you
    choose. To read the best sections of notes at once, use recall.

    Without a QUERY, the newest come first. The options restrict what is searched: --concepts and
    --files take names separated by commas; of several concepts all must be there, of several files
    one.
    """,
    examples=(
        ("memory-bank session search retry payments", "what was done about it"),
        ("memory-bank session search --obs-type decision --date-start 7d", "of the last week"),
        ("memory-bank session search --files src/pay.py", "the history of a file"),
        ("memory-bank session search retry --json | jq -r '.results[].id'", "for a program"),
    ),
    view=views.view_rows,
    tool=Tool(
        "Step 1: what did past sessions do, decide, learn? IDs. For notes, `recall`.",
        "sessions",
        reads=True,
    ),
)
def search(
    bank: Bank,
    query: Annotated[
        str | None, Param(argument=True, metavar="[QUERY...]", words=True, longest=LONGEST_QUERY)
    ] = None,
    *,
    project: Annotated[
        str | None,
        Param("Only of this project", metavar="NAME", longest=1000),
    ] = None,
    type: Annotated[Type | None, Param(", ".join(TYPES), metavar="TYPE")] = None,  # noqa: A002  (the field's word)
    obs_type: Annotated[
        str | Sequence[str] | None,
        _take_names(f"Only observations: {', '.join(OBSERVATION_TYPES)}")._replace(
            only=Sequence[str], about="decision, bugfix, change …"
        ),
    ] = None,
    concepts: Annotated[Sequence[str], _take_names("Only with all these concepts")] = (),
    files: Annotated[Sequence[str], _take_names("Only about one of these files")] = (),
    date_start: Annotated[
        When | None,
        Param(
            "Since then: 7d, last week, 2026-05-08",
            metavar="WHEN",
            only=str | None,
            about="7d, last week",
            accept=_read_moment,
        ),
    ] = None,
    date_end: Annotated[
        When | None,
        Param("Before then: as --date-start", metavar="WHEN", only=str | None, accept=_read_moment),
    ] = None,
    limit: Annotated[int, Param("Most lines, 1 to 100; default: 20", metavar="N")] = 20,
    offset: Annotated[int, Param()] = 0,
    order_by: Annotated[Order, Param()] = "relevance",
) -> ObservationRows:
    """List what sessions did and learned, with ids.

    Return rows of observations, sessions and notes that match a query, without their text.

    Without a query, the newest come first. Filters apply before ranking: one of the types
    `obs_type` (then only observations are found), all of `concepts` (of notes: tags), one of
    `files` (read or modified; of notes: linked). `date_start` and `date_end` are as `since` and
    `before` of `recall`, and may be seconds or milliseconds since 1970. A long note is a row for
    its best section; with `type="note"` it is one as a whole, with `type="section"` each section
    that matches is. `limit` is clamped to 1 to 100.
    Raises BadInput for an unknown type or order, a wrong time, or a negative offset.
    """
    bank.settings.check_enabled()
    if type is not None and type not in TYPES:
        raise BadInput(f"there is no type {type!r}", f"choose one of: {', '.join(TYPES)}")
    if order_by not in get_args(Order):
        choices = f"choose one of: {', '.join(get_args(Order))}"
        raise BadInput(f"there is no order {order_by!r}", choices)
    if offset < 0:
        raise BadInput(f"the offset {offset} is negative", "give 0 or more")
    types = (obs_type,) if isinstance(obs_type, str) else tuple(obs_type or ())
    conditions = EntryConditions(
        kinds=entries.ALL if type is None else _KINDS[type],
        project=project or "",
        obs_types=tuple(map(check_type, types)),
        concepts=tuple(schema.normalise_tags(concepts)) if type == "note" else tuple(concepts),
        files=tuple(files),
        since=_seconds(date_start),
        before=_seconds(date_end),
    )
    limit = _clamp_limit(limit)
    return answer(bank, ObservationQuery(conditions, query or "", type, limit, offset, order_by))


@operation(
    "",
    view=views.view_steps,
    tool=Tool(
        """3-LAYER WORKFLOW (ALWAYS FOLLOW): 1. search(query) -> Get index with IDs (~50-100
        tokens/result) 2. timeline(anchor=ID) -> Get context around interesting results 3.
        get_observations([IDs]) -> Fetch full details ONLY for filtered IDs. NEVER fetch full
        details without filtering first. 3.8x fewer tokens, measured.""",
        "sessions",
        name="__IMPORTANT",
        reads=True,
    ),
)
def workflow() -> Workflow:
    """Say how the tools of this toolset are used together."""
    return Workflow(STEPS)


search_observations = search
"""Its name in `memory_bank`, where `search` is a package."""


@operation(
    "",
    view=views.view_rows,
    tool=Tool(
        "Step 1: what sessions decided, newest first, with IDs. In notes: `recall`.",
        "sessions",
        reads=True,
    ),
)
def decisions(
    bank: Bank,
    project: Annotated[str | None, Param(longest=1000)] = None,
    limit: Annotated[int, Param()] = 20,
) -> ObservationRows:
    """Return the newest decisions: observations of that type, and notes of type `decision`."""
    conditions = EntryConditions(
        project=project or "", obs_types=("decision",), types=("decision",)
    )
    return answer(bank, ObservationQuery(conditions, type="note", limit=_clamp_limit(limit)))


@operation(
    "",
    view=views.view_rows,
    tool=Tool(
        "Step 1: what sessions changed in a file, with IDs. Notes: `search_linked_memories`.",
        "sessions",
        reads=True,
    ),
)
def changes_for_file(
    bank: Bank,
    file: Annotated[str, Param(longest=LONGEST_NAME)],
    limit: Annotated[int, Param()] = 20,
) -> ObservationRows:
    """Return the newest observations of changes to a file, named from the project's root."""
    if not file.strip():
        raise BadInput("no file is given", "name a file from the project's root")
    conditions = EntryConditions(kinds=frozenset([OBSERVATIONS]), files=(file,), modified=True)
    return answer(bank, ObservationQuery(conditions, limit=_clamp_limit(limit)))


def answer(bank: Bank, query: ObservationQuery) -> ObservationRows:
    """Compress what waits, update the index, and search it."""
    own = bank_project(bank)
    query = query._replace(conditions=_settle_conditions(bank, query.conditions))
    with bank.lock:
        compress_now(bank)
        find = _rank_hits if query.query.strip() else _list_entries
        rows, notices = bank.answer(lambda view: find(view, query, own))
    return ObservationRows(len(rows), tuple(rows), HINT, bank.problem or None, notices)


def _settle_conditions(bank: Bank, conditions: EntryConditions) -> EntryConditions:
    """Name project and files as the index does; add the notes that the log says were changed."""
    conditions = conditions._replace(
        project=asked_project(bank, conditions.project),
        files=tuple(file_link_name(file, bank.layout) for file in conditions.files),
    )
    if conditions.since is None:
        return conditions
    since = conditions.since
    with bank.lock:
        late = [name for name, when in bank.state.updates().items() if when >= since]
        changed = bank.read(lambda view: document_rows.known_as(view.manifest, late))
    return conditions._replace(changed=frozenset(changed))


def _clamp_limit(limit: int) -> int:
    return min(max(limit, 1), MOST)


def _seconds(when: When | None) -> float | None:
    if when is None or (isinstance(when, str) and not when.strip()):
        return None
    if isinstance(when, datetime):
        zoned = when if when.tzinfo else when.replace(tzinfo=UTC)
    else:
        zoned = parse_moment(when if isinstance(when, str) else f"{when:f}".rstrip("0").rstrip("."))
    return zoned.timestamp()


Found = tuple[list[IndexRow], tuple[str, ...]]


def _list_entries(view: IndexView, query: ObservationQuery, own: str) -> Found:
    """Return entries by time: the answer without a query."""
    ascending = query.order_by == "date_asc"
    listed_places = entries.list_entries(
        view.manifest, query.conditions, query.limit, query.offset, ascending=ascending
    )
    places = [entry_place(entry) for entry in listed_places]
    if query.type == "section":
        places = _sections(view, places)[: query.limit]
    rows = Rows(view, own, places)
    row_list = (rows.row(_row_place_of(rows, place, query.type)) for place in places)
    return [row for row in row_list if row is not None], ()


def _sections(view: IndexView, places: Sequence[RowPlace]) -> list[RowPlace]:
    """Return the sections under a heading of some notes."""
    parts = entries.read_parts(view.manifest, [place.document for place in places])
    return [
        RowPlace(place.document, number)
        for place in places
        for number, part in parts[place.document].items()
        if part.headings
    ]


def _rank_hits(view: IndexView, query: ObservationQuery, own: str) -> Found:
    """Return hits of the words of a query, by relevance or time."""
    parsed = parse(Query(query.query, reads_times=False), filters.list_fields(view.manifest))
    scope = entries.find_scope(view.manifest, query.conditions)
    if parsed.conditions:
        matching = filters.find_scope(view.manifest, parsed.conditions, hidden=False)
        scope = entries.narrow_scope(view.manifest, scope, matching.only or ())
    last = query.offset + query.limit
    hits = view.engine.search(
        parsed.question,
        scope,
        mode=HYBRID,
        limit=max(last, _DEPTH),  # of the same hits for all pages
        now=time.time(),
        unit="sections" if query.type == "section" else "entries",
    ).hits
    if query.order_by != "relevance":
        hits = tuple(hit for hit in hits if not hit.weak) or hits
        hits = tuple(sorted(hits, key=_time_of, reverse=query.order_by == "date_desc"))
    rows = Rows(view, own, [_place_of_hit(hit) for hit in hits])
    hits = tuple(_drop_repeats(rows, hits, query.type))
    if not query.offset:
        strong = sum(not hit.weak for hit in hits)
        hits = hits[: max(strong, _LEAST)]  # weak ones come last
    page = [
        _row_place_of(rows, _place_of_hit(hit), query.type) for hit in hits[query.offset : last]
    ]
    listed = [row for place in page if (row := rows.row(place)) is not None]
    return listed, list_remarks(view.manifest, parsed.unread, parsed.conditions)


def _place_of_hit(hit: Hit) -> RowPlace:
    return RowPlace(hit.document.number, hit.best.ordinal)


def _drop_repeats(rows: Rows, hits: Sequence[Hit], type: str | None) -> Iterator[Hit]:  # noqa: A002  (the field's word)
    """Leave out a session titled as one of its observations, unless its summary fits better.

    This comes before a page is cut, so that each page is full, and no page repeats another's rows.
    """
    places = [_place_of_hit(hit) for hit in hits]
    titles = {place: rows.title(_row_place_of(rows, place, type)) for place in places}
    observed = {(titles[place], place.document) for place in places if rows.is_observation(place)}
    above = set[tuple[str | None, int]]()
    for hit, place in zip(hits, places, strict=True):
        key = titles[place], place.document
        document = rows.documents.get(place.document)
        is_whole = document and is_session(document) and not rows.is_observation(place)
        if not is_whole or key not in (above if rows.is_summary(place) else observed):
            yield hit
            above.add(key)


def _time_of(hit: Hit) -> tuple[float, str]:
    section = hit.best.section
    observed = section.name.startswith(OBSERVATION) and section.created
    return section.created if observed else hit.document.created, section.name


def _row_place_of(rows: Rows, place: RowPlace, type: str | None) -> RowPlace:  # noqa: A002  (the field's word)
    """Return what a row shows for a place: the section of a long note, else the whole."""
    whole = RowPlace(place.document)
    document = rows.documents.get(place.document)
    if document is None or place == whole or rows.is_observation(place) or type == "section":
        return place
    parts = rows.parts[place.document]
    if is_session(document) or type == "note" or document.size < _LONG or len(parts) == 1:
        return whole
    part = parts[place.section]
    heading = " > ".join(part.headings)
    sections = [section for section in parts.values() if section.headings == part.headings]
    return place if 0 < len(heading) <= _LONGEST_HEADING and len(sections) == 1 else whole


class SearchedStore(NoteStore):
    """The store of a bank's sessions with a search, which implements `SessionStore`."""

    bank: Bank

    def search_observations(self, query: ObservationQuery) -> list[Observation]:
        """Return the observations that meet all conditions, as ordered by the query.

        Without words, `relevance` means the newest first.
        """
        conditions = query.conditions._replace(kinds=frozenset([OBSERVATIONS]))
        rows = answer(self.bank, query._replace(conditions=conditions, type="observation")).results
        return self.get_observations([row.id for row in rows])


def session_store(bank: Bank) -> SearchedStore:
    """Return the store of a bank's sessions.

    It is used by one thread at a time; `close` it in the end. Raises BadInput where memory is
    turned off.
    """
    store = store_of(bank, SearchedStore)
    store.bank = bank
    return store
