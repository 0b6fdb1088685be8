"""List what was done just before and after an observation."""

from __future__ import annotations

from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, Hint, NoteNotFound
from memory_bank.base.operation import Param, Tool, operation
from memory_bank.search.index import View
from memory_bank.search.manifest import entries
from memory_bank.search.manifest.entries import OBSERVATIONS, SESSIONS, WHOLE, EntryConditions
from memory_bank.sessions import observations, shown, told
from memory_bank.sessions.answers import SCHEMA_VERSION, TYPES, IndexRow, Timeline
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.get_observations import one_id, resolved
from memory_bank.sessions.observation_rows import Rows, place_of
from memory_bank.sessions.state import project_of

MOST = 50
"""Most rows before, and after."""

_WORK = frozenset([OBSERVATIONS, SESSIONS])


@operation(
    "timeline",
    why="""
    Lists the observations and sessions just before and after an ID that search returned, in the
    order of time; the line of the ID is marked. Around a note, notes are listed too. With --query
    instead of an ID, the best observation or session for it is taken.
    """,
    examples=(
        ("memory-bank timeline obs-3f2a9c1b7d04", "three before, three after"),
        ("memory-bank timeline --query 'retry payments' --depth-after 10", "what came of it"),
        ("memory-bank timeline obs-3f2a9c1b7d04 --json | jq -r '.after[].id'", "for a program"),
    ),
    group="Sessions",
    show=shown.timeline,
    tool=Tool(
        "Step 2: what happened around an ID, or query's best hit. Details: step 3.",
        "sessions",
        told.timeline,
        reads=True,
    ),
)
def timeline(
    bank: Bank,
    anchor: Annotated[
        str | None,
        Param(argument=True, metavar="[ID]", complete="observations", accept=one_id, longest=2000),
    ] = None,
    query: Annotated[
        str | None,
        Param("Take the best observation for these words", metavar="WORDS", longest=10_000),
    ] = None,
    depth_before: Annotated[int, Param("Lines before; default: 3", metavar="N")] = 3,
    depth_after: Annotated[int, Param("Lines after; default: 3", metavar="N")] = 3,
    project: Annotated[
        str | None, Param("Only of this project", metavar="NAME", longest=1000)
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
    own = project_of(bank)
    wanted = EntryConditions()
    if project:
        same = project.casefold() == own.casefold()
        wanted = EntryConditions(project=project.strip(), own=same)
    with bank.lock:
        if not anchor:
            anchor = _best(bank, query or "", project)
        else:
            compress_now(bank)
            bank.catch_up()
        given = anchor
        depths = _clamped(depth_before), _clamped(depth_after)
        found = bank.read(lambda view: _around(bank, view, given, wanted, depths))
    if found is None:
        raise NoteNotFound("Observation not found", Hint.SEARCH_IDS)
    before, row, after = found
    version = SCHEMA_VERSION
    return Timeline(version, row.id, before, row, after, bank.problem or None)


def _best(bank: Bank, query: str, project: str | None) -> str:
    """Return the id of the observation, else of the session, that fits a query best."""
    for kind in TYPES[:2]:
        found = observations.search(bank, query, project=project, type=kind, limit=1)
        if found.results:
            return found.results[0].id
    raise NoteNotFound("No matching observation", Hint.SEARCH_IDS)


_Found = tuple[tuple[IndexRow, ...], IndexRow, tuple[IndexRow, ...]]


def _around(
    bank: Bank, view: View, anchor: str, wanted: EntryConditions, depths: tuple[int, int]
) -> _Found | None:
    """Return the rows before an anchor, its own, and those after; None if there is no anchor."""
    place = resolved(view, bank, [anchor]).get(anchor)
    own = project_of(bank)
    row = None if place is None else Rows(view, own, [place]).row(place)
    if place is None or row is None:
        return None
    if wanted.project and row.project.casefold() != wanted.project.casefold():
        return None
    whole = row.type != "observation"
    start = entries.place(view.manifest, place.document, WHOLE if whole else place.section)
    wanted = wanted._replace(kinds=_WORK if row.type in _WORK else entries.ALL)
    sides = [
        [
            place_of(entry)
            for entry in entries.listed(view.manifest, wanted, depth, ascending=later, start=start)
        ]
        for depth, later in zip(depths, (False, True), strict=True)
    ]
    rows = Rows(view, own, [one for side in sides for one in side])
    before, after = ([rows.row(one) for one in side] for side in sides)
    return tuple(filter(None, before)), row, tuple(filter(None, after))


def _clamped(depth: int) -> int:
    return min(max(depth, 0), MOST)
