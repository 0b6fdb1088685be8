"""Write what an agent is told when its session starts, within a number of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from memory_bank.tokens import estimate

REQUEST = "session-request"
"""The type of a row for what came of the requests of a session."""
TITLE_LIMIT = 60
"""Maximum number of characters of a title in a row."""

_LEGEND = (
    f"**Legend:** {REQUEST} | bugfix | feature | refactor | change | discovery | decision\n\n"
    "**Column Key**: Read: tokens to read it now; Work: tokens spent on the work behind it"
)
_TABLE = "| ID | Time | T | Title | Read | Work |\n|---|---|---|---|---|---|"
_LAST = "Use MCP tools (search, get_observations) to fetch full observations on-demand."
_NOTHING = "Nothing is recorded yet."
_NO_ROOM = "Nothing fits here."
_STEPS_LIMIT = 600
"""Maximum number of characters of the next steps."""
_PROJECT_LIMIT = 40
"""Maximum number of characters, and of estimated tokens, of a project's name."""
_NOT_IN_NAME = re.compile(r"[^\w.-]+")

Quote = Callable[[str], str]
"""Returns a text as quoted data."""


@dataclass(frozen=True, slots=True)
class ContextRow:
    """An observation, or what came of a session."""

    id: str
    created_at: datetime
    """In UTC."""
    kind: str
    """The type of an observation, or `REQUEST`."""
    title: str
    read_tokens: int
    """Estimated tokens of its whole text."""
    work_tokens: int
    """Estimated tokens of the work behind it; 0 if that is unknown."""
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class ChangedNote:
    """A note that was added or changed since the agent's last session."""

    path: str
    title: str
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """What a context may tell; `shortened` leaves out what does not fit."""

    project: str
    now: datetime
    """In UTC."""
    rows: tuple[ContextRow, ...] = ()
    """The newest first."""
    next_steps: str = ""
    """Of the last session."""
    changed: tuple[ChangedNote, ...] = ()
    """The newest first."""
    explained: bool = True
    """Whether legend and column key are told."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.rows or self.next_steps.strip() or self.changed)


def context_text(contents: Contents, max_tokens: int, quote: Quote) -> str:
    """Return the context as Markdown, of at most that many estimated tokens.

    Older rows are left out first, then changed notes, next steps, and the legend. `quote` gets all
    text that comes from notes.
    """
    text = ""
    for shorter in _shortened(contents):
        text = _written(shorter, quote, _NOTHING if contents.empty else _NO_ROOM)
        if estimate(text) <= max_tokens:
            break
    return text


def economics(rows: Sequence[ContextRow]) -> str:
    """Return what reading the observations among some rows costs and saves, in tokens."""
    found = [row for row in rows if row.kind != REQUEST]
    read, work = sum(row.read_tokens for row in found), sum(row.work_tokens for row in found)
    text = (
        f"**Context Economics**: Loading: {len(found)} observations ({read:,} tokens to read);"
        f" work behind them: {work:,} tokens"
    )
    if work > read > 0:
        text += f"; saving: {work - read:,} tokens ({(work - read) / work:.0%})"
    return text


def _shortened(contents: Contents) -> Iterator[Contents]:
    """Yield the contents, then ever less of them."""
    half = len(contents.rows) // 2
    yield contents
    for rows in range(len(contents.rows) - 1, half - 1, -1):
        yield replace(contents, rows=contents.rows[:rows])
    contents = replace(contents, rows=contents.rows[:half])
    for changed in range(len(contents.changed) - 1, -1, -1):
        yield replace(contents, changed=contents.changed[:changed])
    contents = replace(contents, changed=())
    for rows in range(half - 1, 0, -1):
        yield replace(contents, rows=contents.rows[:rows])
    contents = replace(contents, rows=contents.rows[:1])
    for limit in (_STEPS_LIMIT // 2, _STEPS_LIMIT // 4, 0):
        contents = replace(contents, next_steps=_cut(contents.next_steps, limit))
        yield contents
    contents = replace(contents, explained=False)
    yield contents
    yield replace(contents, rows=())


def _written(contents: Contents, quote: Quote, nothing: str) -> str:
    name = _NOT_IN_NAME.sub("-", contents.project).strip("-")[:_PROJECT_LIMIT] or "project"
    while estimate(name) > _PROJECT_LIMIT:
        name = name[:-1]
    parts = [f"# [{name}] recent context, {contents.now:%Y-%m-%d}"]
    told = "\n\n".join(_told(contents))
    if told:
        parts += [_LEGEND] * (contents.explained and bool(contents.rows))
        parts += [quote(told), economics(contents.rows)]
    else:
        parts.append(nothing)
    return "\n\n".join([*parts, _LAST])


def _told(contents: Contents) -> Iterator[str]:
    """Yield the parts that are made of the text of notes."""
    for day, rows in groupby(contents.rows, lambda row: row.created_at.date()):
        yield "\n".join([f"### {day:%Y-%m-%d}", "", _TABLE, *map(_row, rows)])
    if contents.next_steps.strip():
        yield f"**Next steps of the last session**: {_cut(contents.next_steps, _STEPS_LIMIT)}"
    if contents.changed:
        lines = [
            f"- {_line(note.path)}: {_cut(note.title, TITLE_LIMIT)}{_mark(note.superseded)}"
            for note in contents.changed
        ]
        yield "\n".join(["**Notes changed since the last session**:", "", *lines])


def _row(row: ContextRow) -> str:
    work = f"{row.work_tokens:,}" if row.work_tokens else "-"
    mark = _mark(row.superseded)
    title = _cut(row.title, TITLE_LIMIT - len(mark)).replace("|", r"\|") + mark
    return (
        f"| #{row.id} | {row.created_at:%H:%M} | {row.kind} | {title} |"
        f" ~{row.read_tokens} | {work} |"
    )


def _mark(superseded: bool) -> str:  # noqa: FBT001  (a field's value)
    return " (superseded)" if superseded else ""


def _cut(text: str, limit: int) -> str:
    """Return a text on one line, with an ellipsis if it is longer than the limit."""
    text = _line(text)
    return text if len(text) <= limit else f"{text[: max(limit - 1, 0)].rstrip()}…"[:limit]


def _line(text: str) -> str:
    return " ".join(text.split())
