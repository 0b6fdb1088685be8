"""Show sessions on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.rendering import count, one_line

if TYPE_CHECKING:
    from memory_bank.agents.transcripts import ImportedSessions
    from memory_bank.frontends.cli.call import Call
    from memory_bank.sessions.listing import SessionRows, SessionShown
    from memory_bank.sessions.records import Observation, Summary


_MINUTE = 16
"""Characters of a time down to the minute."""

_ID = 12

_DAMAGED = ("not JSON", "line too long")
"""Reasons to leave out a line of a transcript that a person may want to look at."""

_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def show_rows(call: Call, found: SessionRows) -> None:
    """Print a line for each session."""
    if not found.sessions:
        call.remark("no session yet: see `memory-bank hooks -h`, or `memory-bank session start -h`")
        return
    call.console.table(
        ("session", "started", "project", "agent", "prompts", "observations", "waiting", "title"),
        [
            (
                one_line(row.session_id[:_ID]),
                row.started_at[:_MINUTE].replace("T", " "),
                one_line(row.project),
                one_line(row.agent),
                str(row.prompts),
                str(row.observations),
                str(row.pending),
                one_line(row.title),
            )
            for row in found.sessions
        ],
    )
    if found.total > found.count:
        call.remark(f"{count(found.total, 'session')} in all: see --limit and --offset")


def show_session(call: Call, shown: SessionShown) -> None:
    """Print a session with its prompts, summary and observations."""
    one = shown.session
    line = call.console.line
    line((one_line(shown.title), "bold"))
    where = (one.git.branch or one.git.commit[:_ID]) if one.git else ""
    git = f" on {where}" if where else ""
    ended = f" to {one.ended_at:%Y-%m-%d %H:%M}" if one.ended_at else ", goes on"
    agent = f" by {one.agent}" if one.agent else ""
    when = f"{one.started_at:%Y-%m-%d %H:%M}{ended}"
    line(one_line(f"session {one.session_id} of {one.project}{agent}, {when}{git}"))
    if one.path:
        line((call.place(one.path), "place"))
    for path in shown.notes:
        line(("note: ", "dim"), (call.place(path), "place"))
    if shown.pending:
        line(f"{count(shown.pending, 'event')} wait to be compressed")
    for prompt in one.prompts:
        line(("prompt ", "dim"), f"{prompt.prompt_number}: {one_line(prompt.prompt_text)}")
    if one.summary is not None:
        line("")
        summary_lines(call, one.summary)
    for found in one.observations:
        _observation_lines(call, found)


def _observation_lines(call: Call, found: Observation) -> None:
    line = call.console.line
    line("")
    line((found.obs_type, "dim"), f" {one_line(found.title)} ", (found.id, "dim"))
    for text in (found.subtitle, *found.facts, found.narrative):
        if text:
            line(text)
    for name, files in (("read", found.files_read), ("modified", found.files_modified)):
        if files:
            line((f"{name}: ", "dim"), one_line(", ".join(files)))


def summary_lines(call: Call, found: Summary) -> None:
    """Print the parts of a summary that say something."""
    for part in _PARTS:
        if text := getattr(found, part):
            call.console.line((f"{part.replace('_', ' ')}: ", "dim"), text)


def show_import(call: Call, done: ImportedSessions) -> None:
    """Print a line for each session that was imported, and what was not, and why."""
    line = call.console.line
    changed = [one for one in done.sessions if one.state != "unchanged"]
    for one in changed:
        verb = f"would be {one.state}" if done.dry_run else one.state
        when = one.started_at[:_MINUTE].replace("T", " ")
        line(
            f"{verb}: ",
            (one_line(one.session_id), "place"),
            f", {one.client}, {when}: {one_line(one.title)}",
        )
    for skipped in done.skipped:
        line("not imported: ", (one_line(skipped.file), "place"), f": {one_line(skipped.reason)}")
    parts = [f"{len(changed)} new or continued", f"{len(done.sessions) - len(changed)} unchanged"]
    if done.skipped:
        parts.append(f"{len(done.skipped)} not imported")
    if done.elsewhere:
        parts.append(f"{count(done.elsewhere, 'transcript')} of other projects")
    if unread := sum(one.skipped_lines.get(why, 0) for one in done.sessions for why in _DAMAGED):
        parts.append(f"{count(unread, 'line')} damaged")
    made = "" if done.dry_run else f"{count(done.observations, 'observation')} of "
    line(f"{count(len(done.sessions), 'session')}: {', '.join(parts)}")
    line(f"{made}{count(done.events, 'event')}")
