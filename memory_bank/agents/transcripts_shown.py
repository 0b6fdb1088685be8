"""Show which transcripts became sessions, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.rendering import count, one_line
from memory_bank.base.screen import FOUND, NOTHING, Call

if TYPE_CHECKING:  # the verb names the view of its answer
    from memory_bank.agents.transcripts import ImportedSessions

_MINUTE = 16
"""Characters of a time down to the minute."""


_DAMAGED = ("not JSON", "line too long")
"""Reasons to leave out a line of a transcript that a person may want to look at."""


def imported(call: Call, done: ImportedSessions) -> int:
    """Show a line for each session that was imported, and what was not, and why."""
    call.answer(done, lambda done: _imported(call, done))
    return FOUND if done.sessions else NOTHING


def _imported(call: Call, done: ImportedSessions) -> None:
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
