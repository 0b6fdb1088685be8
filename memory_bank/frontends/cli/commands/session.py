"""`memory-bank session`: list, show, start and end the sessions of agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.rendering import count, one_line
from memory_bank.frontends.cli.call import FAILED, FOUND, NOTHING, Call
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


@operation(
    "session list",
    why="""
    Lists the sessions of agents, the last started first, with the number of prompts, of
    observations and of events that wait to be compressed.
    """,
    examples=(
        ("memory-bank session list", "the last 20 sessions"),
        ("memory-bank session list --project shop --limit 5", "the last five of one project"),
    ),
)
def _list(
    call: Call,
    *,
    project: Annotated[str, Param("Only sessions of this project", metavar="NAME")] = "",
    limit: Annotated[int, Param("Most sessions", metavar="N", least=1)] = 20,
    offset: Annotated[int, Param("Skip the first N", metavar="N", least=0)] = 0,
) -> int:
    """List the sessions, the last started first."""
    from memory_bank.sessions import listing

    with call.open() as bank:
        found = listing.list_sessions(bank, limit, project=project, offset=offset)
        call.answer(found, lambda rows: show_rows(call, rows))
    return FOUND if found.sessions else NOTHING


@operation(
    "session show",
    why="""
    Shows a session: its prompts, summary and observations, after compressing what waits. Name it by
    its id, the start of the id, or its note, which `memory-bank show` prints as it is.
    """,
    examples=(("memory-bank session show 7f3c2d10", "the session whose id starts so"),),
)
def _show(
    call: Call, *, session_id: Annotated[str, Param(argument=True, metavar="SESSION")]
) -> int:
    """Show the prompts, the summary and the observations of a session."""
    from memory_bank.sessions import listing

    with call.open() as bank:
        found = listing.show_session(bank, session_id)
        call.answer(found, lambda shown: show_session(call, shown))
    return FOUND


@operation(
    "session start",
    why="""
    Starts a session by hand, or resumes the one of that id. Hooks of agents' programs do it by
    themselves.
    """,
    examples=(("memory-bank session start review-4 --project shop", "start one by hand"),),
)
def _start(
    call: Call,
    *,
    session_id: Annotated[str, Param(argument=True, metavar="SESSION")],
    project: Annotated[
        str | None, Param("Its project [default: the repository's name]", metavar="NAME")
    ] = None,
    agent: Annotated[str, Param("The agent's program", metavar="NAME")] = "",
) -> int:
    """Start a session, or resume the one of that id."""
    from memory_bank.sessions import sessions

    def render(done: Started) -> None:
        call.console.line(f"{done.state}: session {done.session_id} of {done.project}")

    with call.open() as bank:
        call.answer(sessions.start_session(bank, session_id, project, agent), render)
    return FOUND


@operation(
    "session end",
    why="""
    Compresses what waits, and ends a session with a summary: the given text, `-` for stdin, else
    one of its prompts and observations.
    """,
    examples=(
        ("memory-bank session end 7f3c2d10-4a55", "with a summary of what is known"),
        ("memory-bank session end review-4 'Retries are in place'", "with your own words"),
    ),
)
def _end(
    call: Call,
    *,
    session_id: Annotated[str, Param(argument=True, metavar="SESSION")],
    summary: Annotated[str | None, Param(argument=True)] = None,
) -> int:
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


@operation(
    "session summary",
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
def _summary(
    call: Call,
    *,
    session_id: Annotated[str, Param(argument=True, metavar="SESSION")],
    request: Annotated[str | None, Param("What was asked for", metavar="TEXT")] = None,
    investigated: Annotated[str | None, Param("What was looked at", metavar="TEXT")] = None,
    learned: Annotated[str | None, Param("What was learned", metavar="TEXT")] = None,
    completed: Annotated[str | None, Param("What was done", metavar="TEXT")] = None,
    next_steps: Annotated[
        str | None, Param("The next steps", flags="--next", metavar="TEXT")
    ] = None,
    notes: Annotated[str | None, Param("Anything else", metavar="TEXT")] = None,
) -> int:
    """Print or set the summary of a session."""
    from memory_bank.sessions import listing, sessions

    parts = {
        "request": request,
        "investigated": investigated,
        "learned": learned,
        "completed": completed,
        "next_steps": next_steps,
        "notes": notes,
    }
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


@operation(
    "session compress",
    why="""
    Makes observations of the events that wait, of all sessions or of one. Hooks, ends of sessions
    and queries about sessions do it by themselves.
    """,
    examples=(("memory-bank session compress", "all sessions"),),
)
def _compress(
    call: Call, *, session_id: Annotated[str, Param(argument=True, metavar="[SESSION]")] = ""
) -> int:
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


@operation(
    "session import",
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
def _import(
    call: Call,
    *,
    client: Annotated[
        str | None, Param("One program: claude-code, codex or gemini", metavar="NAME")
    ] = None,
    path: Annotated[
        str | None, Param("A file or folder with transcripts of the client", path="any")
    ] = None,
    since: Annotated[
        str | None, Param("Only sessions that went on since: 30d, 2026-05-08", metavar="WHEN")
    ] = None,
    dry_run: Annotated[bool, Param("Show what would be done, but write nothing")] = False,
) -> int:
    """Make sessions of the transcripts of agents' programs."""
    from memory_bank.agents import transcripts

    with call.open() as bank:
        done = transcripts.import_sessions(
            bank, client, path=path, since=since, dry_run=dry_run, progress=call.progress
        )
        call.answer(done, lambda one: show_import(call, one))
    return FOUND if done.sessions else NOTHING


@operation(
    "session prune",
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
def _prune(
    call: Call,
    *,
    older: Annotated[str, Param("Older than this: 90d, 2026-05-08", metavar="WHEN")],
    dry_run: Annotated[bool, Param("Show what would be done, but change nothing")] = False,
) -> int:
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


@operation(
    "session recover",
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


topic(
    "session",
    "List, show and end the sessions of agents.",
    group="Sessions",
    why="""
    A session is one agent's working period, kept as a note: what was asked for, what was done and
    learned, and a summary. Without a subcommand, lists the sessions.
    """,
    examples=(("memory-bank session", "list the last sessions"),),
    default="session list",
    options=True,
)
