"""`memory-bank session`: list, show, start and end the sessions of agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_bank.base.records import count, one_line
from memory_bank.frontends.cli.call import FAILED, FOUND, NOTHING, Call
from memory_bank.frontends.cli.command import as_command, shared_options
from memory_bank.frontends.cli.help import Group
from memory_bank.frontends.cli.session_view import (
    show_import,
    show_rows,
    show_session,
    summary_lines,
)
from memory_bank.frontends.cli.text_input import given

if TYPE_CHECKING:
    from memory_bank.sessions.compress import Compression
    from memory_bank.sessions.forgotten import Pruned, Recovered
    from memory_bank.sessions.sessions import Started


GROUP = "Sessions"


@as_command(
    "list",
    why="""
    Lists the sessions of agents, the last started first, with the number of prompts, of
    observations and of events that wait to be compressed.
    """,
    examples=(
        ("memory-bank session list", "the last 20 sessions"),
        ("memory-bank session list --project shop --limit 5", "the last five of one project"),
    ),
)
@click.option("--project", default="", metavar="NAME", help="Only sessions of this project")
@click.option("--limit", type=click.IntRange(1), default=20, metavar="N", help="Most sessions")
@click.option("--offset", type=click.IntRange(0), default=0, metavar="N", help="Skip the first N")
def _list(call: Call, *, project: str, limit: int, offset: int) -> int:
    """List the sessions, the last started first."""
    from memory_bank.sessions import listing

    with call.open() as bank:
        found = listing.list_sessions(bank, limit, project=project, offset=offset)
        call.answer(found, lambda rows: show_rows(call, rows))
    return FOUND if found.sessions else NOTHING


@as_command(
    "show",
    why="""
    Shows a session: its prompts, summary and observations, after compressing what waits. Name it by
    its id, the start of the id, or its note, which `memory-bank show` prints as it is.
    """,
    examples=(("memory-bank session show 7f3c2d10", "the session whose id starts so"),),
)
@click.argument("session_id", metavar="SESSION")
def _show(call: Call, *, session_id: str) -> int:
    """Show the prompts, the summary and the observations of a session."""
    from memory_bank.sessions import listing

    with call.open() as bank:
        found = listing.show_session(bank, session_id)
        call.answer(found, lambda shown: show_session(call, shown))
    return FOUND


@as_command(
    "start",
    why="""
    Starts a session by hand, or resumes the one of that id. Hooks of agents' programs do it by
    themselves.
    """,
    examples=(("memory-bank session start review-4 --project shop", "start one by hand"),),
)
@click.argument("session_id", metavar="SESSION")
@click.option("--project", metavar="NAME", help="Its project [default: the repository's name]")
@click.option("--agent", default="", metavar="NAME", help="The agent's program")
def _start(call: Call, *, session_id: str, project: str | None, agent: str) -> int:
    """Start a session, or resume the one of that id."""
    from memory_bank.sessions import sessions

    def render(done: Started) -> None:
        call.console.line(f"{done.state}: session {done.session_id} of {done.project}")

    with call.open() as bank:
        call.answer(sessions.start_session(bank, session_id, project, agent), render)
    return FOUND


@as_command(
    "end",
    why="""
    Compresses what waits, and ends a session with a summary: the given text, `-` for stdin, else
    one of its prompts and observations.
    """,
    examples=(
        ("memory-bank session end 7f3c2d10-4a55", "with a summary of what is known"),
        ("memory-bank session end review-4 'Retries are in place'", "with your own words"),
    ),
)
@click.argument("session_id", metavar="SESSION")
@click.argument("summary", required=False)
def _end(call: Call, *, session_id: str, summary: str | None) -> int:
    """End a session with a summary."""
    from memory_bank.sessions import sessions

    text = given("-") if summary == "-" else summary
    with call.open() as bank:
        summary_id = sessions.end_session(bank, session_id, text)
        done = sessions.Ended(sessions.SCHEMA_VERSION, session_id, summary_id)
        call.answer(done, lambda one: call.console.line(_ended(one.summary_id)))
    return FOUND


def _ended(summary_id: str | None) -> str:
    return (
        f"ended, with the summary {summary_id}" if summary_id else "ended; nothing happened in it"
    )


@as_command(
    "summary",
    why="""
    Prints the summary of a session. With options, sets these parts of it and ends the session.
    """,
    examples=(
        ("memory-bank session summary 7f3c2d10", "print it"),
        (
            "memory-bank session summary review-4 --learned 'The gateway is slow' --next 'Measure'",
            "say what was learned and what comes next",
        ),
    ),
)
@click.argument("session_id", metavar="SESSION")
@click.option("--request", metavar="TEXT", help="What was asked for")
@click.option("--investigated", metavar="TEXT", help="What was looked at")
@click.option("--learned", metavar="TEXT", help="What was learned")
@click.option("--completed", metavar="TEXT", help="What was done")
@click.option("--next", "next_steps", metavar="TEXT", help="The next steps")
@click.option("--notes", metavar="TEXT", help="Anything else")
def _summary(call: Call, *, session_id: str, **parts: str | None) -> int:
    """Print or set the summary of a session."""
    from memory_bank.sessions import listing, sessions

    said = {key: text for key, text in parts.items() if text is not None}
    with call.open() as bank:
        if said:
            sessions.end_session(bank, session_id, said)
        shown = listing.show_session(bank, session_id)
        found = shown.session.summary
        if call.json:
            call.document({"schema_version": shown.schema_version, "summary": found})
        elif found is not None:
            summary_lines(call, found)
        else:
            call.remark("the session has no summary yet")
    return FOUND if found is not None else NOTHING


@as_command(
    "compress",
    why="""
    Makes observations of the events that wait, of all sessions or of one. Hooks, ends of sessions
    and queries about sessions do it by themselves.
    """,
    examples=(("memory-bank session compress", "all sessions"),),
)
@click.argument("session_id", metavar="[SESSION]", required=False, default="")
def _compress(call: Call, *, session_id: str) -> int:
    """Compress the events that wait into observations."""
    from memory_bank.sessions import compress

    def render(done: Compression) -> None:
        if done.busy:
            call.remark("another process compresses now")
        else:
            made = count(len(done.observations), "observation")
            call.console.line(f"{made} of {count(done.events, 'event')}")
        for reason in done.fallback_reasons:
            if ": " in reason:  # the notice has only what comes before
                call.warn(one_line(reason))
        for problem in done.problems:
            call.warn(problem)

    with call.open() as bank:
        done = compress.compress(bank, session_id)
        call.answer(done, render)
    return FAILED if done.problems else FOUND


@as_command(
    "import",
    why="""
    Makes sessions of the transcripts that agents' programs keep on this machine and that were begun
    in this project or a work tree of it. Sessions keep their times. Run it again at any time:
    nothing is imported twice, also not what hooks reported, and sessions that have grown are
    continued. Secrets and private spans are redacted.
    """,
    examples=(
        ("memory-bank session import --dry-run", "show what would be imported"),
        ("memory-bank session import --client codex --since 30d", "of one program"),
    ),
)
@click.option("--client", metavar="NAME", help="One program: claude-code, codex or gemini")
@click.option("--path", type=click.Path(), help="A file or folder with transcripts of the client")
@click.option("--since", metavar="WHEN", help="Only sessions that went on since: 30d, 2026-05-08")
@click.option("--dry-run", is_flag=True, help="Show what would be done, but write nothing")
def _import(
    call: Call, *, client: str | None, path: str | None, since: str | None, dry_run: bool
) -> int:
    """Make sessions of the transcripts of agents' programs."""
    from memory_bank.agents import transcripts

    with call.open() as bank:
        done = transcripts.import_sessions(
            bank, client, path=path, since=since, dry_run=dry_run, progress=call.progress
        )
        call.answer(done, lambda one: show_import(call, one))
    return FOUND if done.sessions else NOTHING


@as_command(
    "prune",
    why="""
    Moves the private notes of sessions to the trash to which nothing was added since a time, and
    removes what waits of them. `trash empty` deletes them for good, `restore` brings them back.
    Notes in the project's own folder stay.
    """,
    examples=(
        ("memory-bank session prune --older 90d --dry-run", "show what would be removed"),
        ("memory-bank session prune --older 90d", "sessions of the last three months stay"),
    ),
)
@click.option("--older", required=True, metavar="WHEN", help="Older than this: 90d, 2026-05-08")
@click.option("--dry-run", is_flag=True, help="Show what would be done, but change nothing")
def _prune(call: Call, *, older: str, dry_run: bool) -> int:
    """Move the notes of old sessions to the trash."""
    from memory_bank.sessions import forgotten

    def render(done: Pruned) -> None:
        for path in done.paths:
            call.console.line(path)
        verb = "would be moved" if dry_run else "moved"
        call.remark(f"{count(done.count, 'session')} {verb} to the trash")
        if done.kept:
            call.remark(f"kept in the project's own folder: {count(done.kept, 'old session')}")

    with call.open() as bank:
        done = forgotten.prune(bank, older, dry_run=dry_run)
        call.answer(done, render)
    return FOUND if done.count else NOTHING


@as_command(
    "recover",
    why="""
    The private state of a bank is named by the first commit of its repository. If that was
    rewritten (`git filter-repo`, `git commit --amend` of it), notes of former sessions are no
    longer found. This moves them, and what waits of these sessions, to the place of the others.
    Only do it if the sessions that `doctor` names are of this project.
    """,
    examples=(("memory-bank session recover", "bring back the sessions that `doctor` names"),),
)
def _recover(call: Call) -> int:
    """Bring back sessions after a rewrite of the first commit."""
    from memory_bank.sessions import forgotten

    def render(done: Recovered) -> None:
        call.remark(f"{count(done.notes, 'note')} of former sessions moved here")
        for path in done.kept:
            call.remark(f"stays, since there is a note of this path: {path}")

    with call.open() as bank:
        done = forgotten.recover(bank)
        call.answer(done, render)
    return FOUND if done.ids else NOTHING


command = Group(
    "session",
    help="List, show and end the sessions of agents.",
    why="""
    A session is one agent's working period, kept as a note: what was asked for, what was done and
    learned, and a summary. Without a subcommand, lists the sessions.
    """,
    examples=(("memory-bank session", "list the last sessions"),),
    default=_list,
    commands={
        made.name or "": made
        for made in (_list, _show, _start, _end, _summary, _compress, _import, _prune, _recover)
    },
    params=shared_options(),
)
