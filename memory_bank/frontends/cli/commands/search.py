"""`memory-bank search`: list observations, sessions and notes with their ids."""

from __future__ import annotations

from typing import Annotated, Literal

from memory_bank.base.operation import Param, operation
from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.frontends.cli.call import FOUND, NOTHING, Call

TYPES = ("observation", "session", "note", "section")

ORDERS = ("relevance", "date_desc", "date_asc")


def _split(given: tuple[str, ...]) -> tuple[str, ...]:
    parts = (part.strip() for words in given for part in words.split(","))
    return tuple(part for part in parts if part)


@operation(
    "search",
    why="""
    Lists what agents' sessions did, decided and learned, one line each: id, type, time, tokens that
    its text takes, and title. Notes of the bank are listed too. `timeline ID` then shows what
    happened around one, and `observations ID...` shows the whole text of those you choose. To read
    the best sections of notes at once, use recall.

    Without a QUERY, the newest come first. The options restrict what is searched: --concepts and
    --files take names separated by commas; of several concepts all must be there, of several files
    one. --decisions lists the newest decisions, in notes too, and --changes the newest changes of a
    file; they take only --limit, and --decisions also --project.
    """,
    examples=(
        ("memory-bank search retry payments", "what was done about it"),
        ("memory-bank search --obs-type bugfix,decision --date-start 7d", "of the last week"),
        ("memory-bank search --files src/pay.py --order-by date_asc", "the history of a file"),
        ("memory-bank search --changes src/pay.py", "observations that changed it"),
        ("memory-bank search retry --json | jq -r '.results[].id'", "for a program"),
    ),
    group="Sessions",
)
def command(
    call: Call,
    *,
    query: Annotated[tuple[str, ...], Param(argument=True, metavar="[QUERY...]")] = (),
    project: Annotated[str | None, Param("Only of this project", metavar="NAME")] = None,
    kind: Annotated[
        Literal["observation", "session", "note", "section"] | None,
        Param(", ".join(TYPES), flags="--type", metavar="TYPE"),
    ] = None,
    obs_type: Annotated[
        tuple[str, ...],
        Param(
            f"Only observations: {', '.join(OBSERVATION_TYPES)}",
            metavar="A,B",
            complete="observation_types",
            read=_split,
        ),
    ] = (),
    concepts: Annotated[
        tuple[str, ...], Param("Only with all these concepts", metavar="A,B", read=_split)
    ] = (),
    files: Annotated[
        tuple[str, ...], Param("Only about one of these files", metavar="A,B", read=_split)
    ] = (),
    date_start: Annotated[
        str | None, Param("Since then: 7d, last week, 2026-05-08", metavar="WHEN")
    ] = None,
    date_end: Annotated[str | None, Param("Before then: as --date-start", metavar="WHEN")] = None,
    limit: Annotated[int, Param("Most lines, 1 to 100; default: 20", metavar="N")] = 20,
    offset: Annotated[int, Param("Leave out the first N", metavar="N")] = 0,
    order_by: Annotated[
        Literal["relevance", "date_desc", "date_asc"], Param(", ".join(ORDERS), metavar="ORDER")
    ] = "relevance",
    decisions: Annotated[bool, Param("The newest decisions, in notes too")] = False,
    changes: Annotated[
        str | None, Param("The newest observations that changed a file", metavar="FILE")
    ] = None,
) -> int:
    """List what sessions did and learned, with ids."""
    from memory_bank.frontends.cli.index_view import show_index  # start-up: help needs no view
    from memory_bank.sessions import observations

    words = " ".join(query)
    others = [words, kind, obs_type, concepts, files, date_start, date_end, offset]
    if (decisions or changes is not None) and (
        (decisions and changes is not None)
        or any(others)
        or order_by != ORDERS[0]
        or (project and not decisions)
    ):
        name = "--decisions" if decisions else "--changes"
        raise call.usage_error(f"{name} can't be combined with a query or other conditions")
    with call.open() as bank:
        if decisions:
            found = observations.decisions(bank, project, limit)
        elif changes is not None:
            found = observations.changes_for_file(bank, changes, limit)
        else:
            found = observations.search(
                bank,
                words or None,
                project=project,
                type=kind,
                obs_type=obs_type,
                concepts=concepts,
                files=files,
                date_start=date_start,
                date_end=date_end,
                limit=limit,
                offset=offset,
                order_by=order_by,
            )
        call.answer(found, lambda found: show_index(call, found.results))
    call.warn(found.problem)
    call.notices(found.notices)
    if not found.results and not call.json:
        call.remark("nothing found")
    return FOUND if found.results else NOTHING
