"""Compact text of stale citations and of confirmed notes, for agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.base.rendering import count
from memory_bank.base.text import Quotes, one_line

if TYPE_CHECKING:
    from memory_bank.memory.confirm import Confirmation
    from memory_bank.trust.stale_report import Citation, StaleReport


_MOST = 50
"""Number of citations that are shown."""

_COMMITS = 3
"""Number of commits of a citation that are shown."""

_ID, _DAY = 12, 10


def stale(found: StaleReport, quotes: Quotes) -> str:
    """Show a line for each stale citation, with its commits and the target to write."""
    stale, moved = len(found.stale), len(found.citations) - len(found.stale)
    head = f"{count(stale, 'citation')} of code stale." + (f" {moved} moved." if moved else "")
    notices = [f"Notice: {quotes.inside(one_line(notice))}" for notice in found.notices]
    if not found.citations:
        return "\n".join([head, *notices])
    ordered = [one for some in found.by_group.values() for one in some]
    lines = [line for one in ordered[:_MOST] for line in _citation(one)]
    if len(found.citations) > _MOST:
        lines.append(f"and {len(found.citations) - _MOST} more")
    advice = "Confirm, edit or archive each note."
    return "\n".join([f"{head} {advice} {quotes.notice}", quotes.quote("\n".join(lines)), *notices])


def confirmed(done: Confirmation, quotes: Quotes) -> str:
    """Say which notes were confirmed."""
    lines = []
    for note in done.notes:
        warning = f" warning: {one_line(note.warning)}" if note.warning else ""
        lines.append(f"{one_line(note.path)}{warning}")
    head = f"{count(len(done.notes), 'note')} confirmed as of {done.commit[:_ID]}."
    return "\n".join([f"{head} {quotes.notice}", quotes.quote("\n".join(lines))])


def _citation(one: Citation) -> Iterator[str]:
    fix = f", write {one_line(one.fix)}" if one.fix else ""
    since = f" since {one.since_date[:_DAY] or one.since[:_ID]}" if one.since else ""
    names = f": {one_line(', '.join(one.names))}" if one.names else ""
    yield f"{one_line(one.path)}:{one.line} {one_line(one.target)} {one.state}{since}{names}{fix}"
    for commit in one.commits[:_COMMITS]:
        yield one_line(
            f"  {commit.id[:_ID]} {commit.date[:_DAY]} {commit.author}: {commit.subject}"
        )
    if len(one.commits) > _COMMITS:
        yield f"  and {len(one.commits) - _COMMITS} more commits"
    if one.remark:
        yield f"  {one_line(one.remark)}"
