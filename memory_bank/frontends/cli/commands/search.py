"""`memory-bank search`: list observations, sessions and notes with their ids."""

from __future__ import annotations

from typing import Any

import click

from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.frontends.cli import options, shell_completion
from memory_bank.frontends.cli.call import FOUND, NOTHING, Call
from memory_bank.frontends.cli.command import as_command

GROUP = "Sessions"

TYPES = ("observation", "session", "note", "section")

ORDERS = ("relevance", "date_desc", "date_asc")


@as_command(
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
)
@click.argument("query", nargs=-1, metavar="[QUERY...]")
@click.option("--project", metavar="NAME", help="Only of this project")
@click.option("--type", "kind", type=click.Choice(TYPES), metavar="TYPE", help=", ".join(TYPES))
@click.option(
    "--obs-type",
    metavar="A,B",
    multiple=True,
    shell_complete=shell_completion.observation_types,
    help=f"Only observations: {', '.join(OBSERVATION_TYPES)}",
)
@click.option("--concepts", metavar="A,B", multiple=True, help="Only with all these concepts")
@click.option("--files", metavar="A,B", multiple=True, help="Only about one of these files")
@click.option("--date-start", metavar="WHEN", help="Since then: 7d, last week, 2026-05-08")
@click.option("--date-end", metavar="WHEN", help="Before then: as --date-start")
@options.limit(20, "Most lines, 1 to 100; default: 20")
@click.option("--offset", metavar="N", type=int, default=0, help="Leave out the first N")
@click.option(
    "--order-by",
    type=click.Choice(ORDERS),
    metavar="ORDER",
    default="relevance",
    help=", ".join(ORDERS),
)
@click.option("--decisions", is_flag=True, help="The newest decisions, in notes too")
@click.option("--changes", metavar="FILE", help="The newest observations that changed a file")
def command(call: Call, *, decisions: bool, changes: str | None, **wanted: Any) -> int:  # noqa: ANN401
    """List what sessions did and learned, with ids."""
    from memory_bank.frontends.cli.index_view import show_index  # start-up: help needs no view
    from memory_bank.sessions import observations

    query, limit = " ".join(wanted.pop("query")), wanted.pop("limit")
    lists: dict[str, Any] = {
        name: _split(wanted.pop(name)) for name in ("obs_type", "concepts", "files")
    }
    if decisions or changes is not None:
        _check(call, query, lists, wanted, decisions=decisions, changes=changes)
    with call.open() as bank:
        if decisions:
            found = observations.decisions(bank, wanted["project"], limit)
        elif changes is not None:
            found = observations.changes_for_file(bank, changes, limit)
        else:
            kind = wanted.pop("kind")
            found = observations.search(
                bank, query or None, type=kind, limit=limit, **lists, **wanted
            )
        call.answer(found, lambda found: show_index(call, found.results))
    call.warn(found.problem)
    call.notices(found.notices)
    if not found.results and not call.json:
        call.remark("nothing found")
    return FOUND if found.results else NOTHING


def _check(
    call: Call,
    query: str,
    lists: dict[str, Any],
    wanted: dict[str, Any],
    *,
    decisions: bool,
    changes: str | None,
) -> None:
    """Refuse options that a list of decisions or changes does not take."""
    others = [query, *lists.values(), wanted["kind"], wanted["date_start"], wanted["date_end"]]
    others += [wanted["offset"], None if decisions else wanted["project"]]
    if (decisions and changes is not None) or any(others) or wanted["order_by"] != ORDERS[0]:
        name = "--decisions" if decisions else "--changes"
        raise call.usage_error(f"{name} can't be combined with a query or other conditions")


def _split(given: tuple[str, ...]) -> tuple[str, ...]:
    parts = (part.strip() for words in given for part in words.split(","))
    return tuple(part for part in parts if part)
