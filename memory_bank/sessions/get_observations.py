"""Return observations, sessions and notes whole, by the ids of rows, and what is around one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any, Literal, get_args

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base.documents import Document, Span, read_lines
from memory_bank.base.errors import BadInput, Hint, NoteNotFound, UnreadableNote
from memory_bank.base.filenames import is_utf8
from memory_bank.base.operation import (
    LONGEST_NAME,
    LONGEST_QUERY,
    Param,
    Tool,
    operation,
    split_list,
)
from memory_bank.notes import parsing
from memory_bank.notes.names import link_name
from memory_bank.notes.note import Note
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, entries
from memory_bank.search.manifest.entries import (
    OBSERVATION,
    OBSERVATIONS,
    SESSIONS,
    WHOLE,
    EntryConditions,
)
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.sessions import note_reading, observations, views
from memory_bank.sessions.answers import (
    TYPES,
    Details,
    IndexRow,
    Observations,
    SessionShown,
    Timeline,
)
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.listing import names_session, show_session
from memory_bank.sessions.observation_rows import (
    SUMMARY,
    RowPlace,
    Rows,
    entry_place,
    heading_place,
    is_session,
)
from memory_bank.sessions.records import check_observation_id
from memory_bank.sessions.state import asked_project, bank_project


def resolve_ids(view: IndexView, bank: Bank, ids: Sequence[str]) -> dict[str, RowPlace]:
    """Map ids to the places that they mean, without those that mean nothing.

    An id may be that of an observation or a summary, of a session, of a note (or any name of it),
    or a note's with `#` and a heading. Raises BadInput for a number.
    """
    bare = {
        observation_id: observation_id.strip().removeprefix("#").removeprefix("^").strip()
        for observation_id in ids
    }
    names = [name for name in bare.values() if name.startswith((OBSERVATION, SUMMARY))]
    sections = entries.find_named(view.manifest, names)
    places: dict[str, RowPlace] = {}
    for text, name in bare.items():
        if name in sections:
            whole = name.startswith(SUMMARY)
            entry = sections[name]
            place: RowPlace | None = RowPlace(entry.document, WHOLE if whole else entry.section)
        else:
            place = (
                _find_session_place(view, name)
                or _find_note_place(view, bank, name)
                or _find_section_place(view, bank, name)
            )
            if place is None and not name.isdigit():
                place = _find_note_place(view, bank, name, open_index.find_nearly_named)
        if place is not None:
            places[text] = place
        elif name.isdigit():
            check_observation_id(text)
    return places


def _find_session_place(view: IndexView, name: str) -> RowPlace | None:
    rows = document_rows.find_by_field(view.manifest, entries.SESSION_ID, name.casefold())
    return next((RowPlace(row.number) for row in rows if is_session(row)), None)


def _find_note_place(
    view: IndexView,
    bank: Bank,
    name: str,
    find_names: Callable[[Manifest, str], list[str]] = open_index.find_candidates,
) -> RowPlace | None:
    """Return the only note that a name means, exactly or by a part of it."""
    if not is_utf8(name) or not name:
        return None
    forms = (name, link_name(name, bank.layout))
    paths = next(filter(None, (find_names(view.manifest, form) for form in forms)), [])
    numbers = document_rows.find_numbers(view.manifest, paths) if len(paths) == 1 else []
    return RowPlace(numbers[0]) if numbers else None


def _find_section_place(view: IndexView, bank: Bank, name: str) -> RowPlace | None:
    """Read `note#heading`; the name of a file may have `#` in it, too."""
    at = name.find("#")
    while at > 0:
        note = _find_note_place(view, bank, name[:at])
        if note is not None:
            parts = entries.read_parts(view.manifest, [note.document])[note.document]
            place = heading_place(parts, note.document, name[at + 1 :].strip())
            if place is not None:
                return place
        at = name.find("#", at + 1)
    return None


def check_ids(ids: Collection[object]) -> list[str]:
    """Return ids as texts, each once; raise BadInput for numbers, which name no observation."""
    for observation_id in ids:
        if not isinstance(observation_id, str):
            check_observation_id(observation_id)
    return list(dict.fromkeys(str(observation_id) for observation_id in ids))


MOST = 100
"""Most ids of one call."""

Order = Literal["date_desc", "date_asc"]


def accept_ids(argument: Any) -> Any:  # noqa: ANN401  (of an agent)
    """Refuse numbers as ids, and say how ids look."""
    argument = split_list(argument)
    try:
        return check_ids(argument) if isinstance(argument, list) else argument
    except BadInput as error:
        raise ValueError(f"{error.message}: {error.hint}") from error


def accept_id(argument: Any) -> Any:  # noqa: ANN401  (of an agent)
    """Refuse a number as an id, and say how ids look."""
    return argument if argument is None else accept_ids([argument])[0]


def _show_by_id(bank: Bank, ids: Sequence[str] = ()) -> Observations | SessionShown:
    """Return a session that is asked for alone, by default the last; else what the ids name."""
    if len(ids) > 1 or (ids and not names_session(bank, ids[0])):
        return get_observations(bank, ids)
    return show_session(bank, ids[0] if ids else None)


@operation(
    "session show",
    why="""
    Shows all that is known of some IDs that `session search` returned: of an observation its facts,
    files and text, of a session its summary, prompts and observations, of a note or section its
    text. IDs that name nothing are told on stderr.

    A session alone is shown whole; name it by its id, the start of the id, or its note, which
    `memory-bank show` prints as it is. Without an ID, shows the session that was started last.
    """,
    examples=(
        ("memory-bank session show", "the last session"),
        ("memory-bank session show 7f3c2d10", "the session whose id starts so"),
        ("memory-bank session show obs-3f2a9c1b7d04 obs-91c0de553a21", "two of them"),
        ("memory-bank session show obs-3f2a9c1b7d04 --json", "with every field"),
    ),
    through=_show_by_id,
    view=views.view_details,
    tool=Tool(
        "Step 3: details of the IDs you chose, in one call. Notes: `read_memory`.",
        "sessions",
        reads=True,
    ),
)
def get_observations(
    bank: Bank,
    ids: Annotated[
        Sequence[str],
        Param(
            argument=True, metavar="[ID...]", asked=True, accept=accept_ids, longest=LONGEST_NAME
        ),
    ],
    order_by: Annotated[Order | None, Param()] = None,
    limit: Annotated[int | None, Param()] = None,
    project: Annotated[str | None, Param(longest=1000)] = None,
) -> Observations:
    """Show a session, or observations, sessions and notes by id.

    Return all that is known of some observations, sessions and notes, in one batch.

    Each id that `search` returns is accepted, and each name of a note. The order is that of the ids
    unless `order_by` is given. Of ids with the same meaning, one is answered. Unknown ids, and
    those of another project if `project` is given, are in `missing`. A session has its summary, its
    prompts, and rows of its observations.
    Raises BadInput for a number as an id, more than 100 ids, or an unknown order.
    """
    bank.settings.check_enabled()
    id_texts = check_ids(ids)
    if len(id_texts) > MOST:
        raise BadInput(f"{len(id_texts)} ids are too many", f"give at most {MOST} in one call")
    if order_by is not None and order_by not in get_args(Order):
        choices = f"choose one of: {', '.join(get_args(Order))}"
        raise BadInput(f"there is no order {order_by!r}", choices)
    with bank.lock:
        compress_now(bank)
        details, missing = bank.answer(lambda view: _read(bank, view, id_texts, project))
    if order_by is not None:
        details.sort(
            key=lambda entry: (entry.row.created_at, entry.row.id),
            reverse=order_by == "date_desc",
        )
    page = tuple(details if limit is None else details[: max(limit, 1)])
    return Observations(len(page), page, tuple(missing), bank.problem or None)


def _read(
    bank: Bank, view: IndexView, ids: Sequence[str], project: str | None
) -> tuple[list[Details], list[str]]:
    """Return the details that some ids name, and the ids that name nothing."""
    places = resolve_ids(view, bank, ids)
    rows = Rows(view, bank_project(bank), places.values())
    name = asked_project(bank, project).casefold()
    notes: dict[int, Note | None] = {}
    details_of: dict[RowPlace, Details] = {}
    missing = []
    for observation_id in ids:
        place = places.get(observation_id)
        row = rows.row(place) if place is not None else None
        if place is None or row is None or name not in ("", row.project.casefold()):
            missing.append(observation_id)
            continue
        document = rows.documents[place.document]
        if place.document not in notes:
            notes[place.document] = _read_note(bank, document)
        note = notes[place.document]
        details = None if note is None else _read_details(rows, note, row, place)
        if details is None:
            missing.append(observation_id)
        else:
            details_of[place] = details
    return list(details_of.values()), missing


def _read_note(bank: Bank, document: Document) -> Note | None:
    """Read a note; None if it is gone or no text."""
    try:
        data = bank.roots.of(document.key).read(document.key)
        return None if data is None else parsing.parse(document.key, data)
    except UnreadableNote:
        return None


def _read_details(rows: Rows, note: Note, row: IndexRow, place: RowPlace) -> Details | None:
    """Return what a note says at a place; None if it is not there any more."""
    session = note_reading.read_session(note) if row.type in ("observation", "session") else None
    if session is not None and row.type == "session":
        return Details(row, session, observations=tuple(rows.inside(place.document)))
    if session is not None:
        observation = next(
            (observation for observation in session.observations if observation.id == row.id), None
        )
        return Details(row, observation) if observation else None
    content = note.body_text
    if place.section != WHOLE:
        part = rows.parts[place.document][place.section]
        content = read_lines(note.text, Span(part.line, part.end_line))
    return Details(row, content=content.strip("\n"))


_MOST_DEPTH = 50
"""Most rows before, and after."""

_WORK = frozenset([OBSERVATIONS, SESSIONS])


@operation(
    "session timeline",
    why="""
    Lists the observations and sessions just before and after an ID that `session search` returned,
    in the order of time; the line of the ID is marked. Around a note, notes are listed too. With
    --query instead of an ID, the best observation or session for it is taken.
    """,
    examples=(
        ("memory-bank session timeline obs-3f2a9c1b7d04", "three before, three after"),
        ("memory-bank session timeline --query 'retries' --depth-after 10", "what came of it"),
        ("memory-bank session timeline --query retry --json | jq .after[].id", "for a program"),
    ),
    view=views.view_timeline,
    tool=Tool(
        "Step 2: what happened around an ID, or query's best hit. Details: step 3.",
        "sessions",
        reads=True,
    ),
)
def timeline(
    bank: Bank,
    anchor: Annotated[
        str | None,
        Param(argument=True, metavar="[ID]", accept=accept_id, longest=LONGEST_NAME),
    ] = None,
    query: Annotated[
        str | None,
        Param("Take the best observation for these words", metavar="WORDS", longest=LONGEST_QUERY),
    ] = None,
    depth_before: Annotated[int, Param("Lines before; default: 3", metavar="N")] = 3,
    depth_after: Annotated[int, Param("Lines after; default: 3", metavar="N")] = 3,
    project: Annotated[
        str | None,
        Param("Only of this project", metavar="NAME", longest=1000),
    ] = None,
) -> Timeline:
    """List what happened before and after an observation.

    Return the rows just before and after an anchor, strictly older and newer, nearest first.

    The anchor is an id that `search` returned, or else the best observation or session for a
    query. Around an observation or a session are observations and sessions; around a note, or a
    section of one, also notes. Of one time, they are ordered by id. With `project`, all are of that
    project, the anchor too. Depths are clamped to 0 to 50.
    Raises BadInput without anchor and query, NoteNotFound for an unknown anchor, or if no
    observation and no session matches the query.
    """
    bank.settings.check_enabled()
    if not (anchor or query):
        raise BadInput("anchor or query required", "give an id that search returned, or words")
    entry_conditions = EntryConditions(project=asked_project(bank, project))
    with bank.lock:
        if not anchor:
            anchor = _find_best(bank, query or "", project)
        else:
            compress_now(bank)
            bank.catch_up()
        anchor_text = anchor
        depths = _clamp_depth(depth_before), _clamp_depth(depth_after)
        content = bank.read(
            lambda view: _list_rows_around(bank, view, anchor_text, entry_conditions, depths)
        )
    if content is None:
        raise NoteNotFound("Observation not found", Hint.SEARCH_IDS)
    before, row, after = content
    return Timeline(row.id, before, row, after, bank.problem or None)


def _find_best(bank: Bank, query: str, project: str | None) -> str:
    """Return the id of the observation, else of the session, that fits a query best."""
    for kind in TYPES[:2]:
        observation_rows = observations.search(bank, query, project=project, type=kind, limit=1)
        if observation_rows.results:
            return observation_rows.results[0].id
    raise NoteNotFound("No matching observation", Hint.SEARCH_IDS)


_RowsAround = tuple[tuple[IndexRow, ...], IndexRow, tuple[IndexRow, ...]]


def _list_rows_around(
    bank: Bank,
    view: IndexView,
    anchor: str,
    entry_conditions: EntryConditions,
    depths: tuple[int, int],
) -> _RowsAround | None:
    """Return the rows before an anchor, its own, and those after; None if there is no anchor."""
    place = resolve_ids(view, bank, [anchor]).get(anchor)
    own = bank_project(bank)
    row = None if place is None else Rows(view, own, [place]).row(place)
    if place is None or row is None:
        return None
    if entry_conditions.project and row.project.casefold() != entry_conditions.project.casefold():
        return None
    whole = row.type != "observation"
    start = entries.read_place(view.manifest, place.document, WHOLE if whole else place.section)
    entry_conditions = entry_conditions._replace(kinds=_WORK if row.type in _WORK else entries.ALL)
    sides = [
        [
            entry_place(entry)
            for entry in entries.list_entries(
                view.manifest, entry_conditions, depth, ascending=later, start=start
            )
        ]
        for depth, later in zip(depths, (False, True), strict=True)
    ]
    rows = Rows(view, own, [place for side in sides for place in side])
    before, after = ([rows.row(place) for place in side] for side in sides)
    return tuple(filter(None, before)), row, tuple(filter(None, after))


def _clamp_depth(depth: int) -> int:
    return min(max(depth, 0), _MOST_DEPTH)
