"""Tell an agent what earlier sessions learned, when its session starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Annotated, Any

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadInput
from memory_bank.base.operation import LONGEST_NAME, REQUIRED, Param, Tool, operation
from memory_bank.base.setting_sections import ContextSettings
from memory_bank.base.text import estimate
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, entries, filters, link_rows
from memory_bank.search.manifest.filters import Condition
from memory_bank.sessions import note_format, note_reading, views
from memory_bank.sessions.answers import Injected
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.compression.sentences import TOLD, is_covered
from memory_bank.sessions.records import Observation, Session, check_type
from memory_bank.sessions.start import (
    cut,
    list_sessions,
    sessions_with_decisions,
    subject_files,
    title_with_place,
)
from memory_bank.sessions.state import bank_project, last_moment
from memory_bank.sessions.summaries import open_steps

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

_NOT_IN_NAME = lazy_pattern(r"[^\w.-]+")

Quote = Callable[[str], str]
"""Returns a text as quoted data."""


class ContextRow(NamedTuple):
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
    files: tuple[str, ...] = ()
    """What it changed, else the one file that it is about."""


class Contents(NamedTuple):
    """What a context may tell; `shortened` leaves out what does not fit."""

    project: str
    now: datetime
    """In UTC."""
    rows: tuple[ContextRow, ...] = ()
    """The newest first."""
    next_steps: str = ""
    """Of the last session."""
    still_open: str = ""
    """Next steps of earlier sessions that nobody did since."""
    changed: tuple[tuple[str, str, bool], ...] = ()
    """Notes that were added or changed since the last session, the newest first: their paths and
    titles, and whether they are superseded."""
    explained: bool = True
    """Whether legend and column key are told."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.rows or f"{self.next_steps}{self.still_open}".strip() or self.changed)


def context_text(contents: Contents, max_tokens: int, quote: Quote) -> str:
    """Return the context as Markdown, of at most that many estimated tokens.

    Older rows are left out first, then changed notes, next steps, and the legend. `quote` gets all
    text that comes from notes.
    """
    text = ""
    for shorter in _shorten_contents(contents):
        text = _write_context(shorter, quote, _NOTHING if contents.empty else _NO_ROOM)
        if estimate(text) <= max_tokens:
            break
    return text


def count_economics(rows: Sequence[ContextRow]) -> str:
    """Return what reading the observations among some rows costs and saves, in tokens."""
    counted = [row for row in rows if row.kind != REQUEST]
    read, work = (
        sum(row.read_tokens for row in counted),
        sum(row.work_tokens for row in counted),
    )
    text = (
        f"**Context Economics**: Loading: {len(counted)} observations ({read:,} tokens to read);"
        f" work behind them: {work:,} tokens"
    )
    if work > read > 0:
        text += f"; saving: {work - read:,} tokens ({(work - read) / work:.0%})"
    return text


def _shorten_contents(contents: Contents) -> Iterator[Contents]:
    """Yield the contents, then ever less of them."""
    half = len(contents.rows) // 2
    yield contents
    for rows in range(len(contents.rows) - 1, half - 1, -1):
        yield contents._replace(rows=contents.rows[:rows])
    contents = contents._replace(rows=contents.rows[:half])
    for changed in range(len(contents.changed) - 1, -1, -1):
        yield contents._replace(changed=contents.changed[:changed])
    contents = contents._replace(changed=())
    for rows in range(half - 1, 0, -1):
        yield contents._replace(rows=contents.rows[:rows])
    contents = contents._replace(rows=contents.rows[:1])
    contents = contents._replace(still_open="")
    yield contents
    for limit in (_STEPS_LIMIT // 2, _STEPS_LIMIT // 4, 0):
        contents = contents._replace(next_steps=cut(contents.next_steps, limit))
        yield contents
    contents = contents._replace(explained=False)
    yield contents
    yield contents._replace(rows=())


def _write_context(contents: Contents, quote: Quote, nothing: str) -> str:
    name = _NOT_IN_NAME.sub("-", contents.project).strip("-")[:_PROJECT_LIMIT] or "project"
    while estimate(name) > _PROJECT_LIMIT:
        name = name[:-1]
    parts = [f"# [{name}] recent context, {contents.now:%Y-%m-%d}"]
    text = "\n\n".join(_write_note_parts(contents))
    if text:
        parts += [_LEGEND] * (contents.explained and bool(contents.rows))
        parts += [quote(text), count_economics(contents.rows)]
    else:
        parts.append(nothing)
    return "\n\n".join([*parts, _LAST])


def _write_note_parts(contents: Contents) -> Iterator[str]:
    """Yield the parts that are made of the text of notes."""
    for day, rows in groupby(contents.rows, lambda row: row.created_at.date()):
        yield "\n".join([f"### {day:%Y-%m-%d}", "", _TABLE, *map(_write_row, rows)])
    if contents.next_steps.strip():
        yield f"**Next steps of the last session**: {cut(contents.next_steps, _STEPS_LIMIT)}"
    if contents.still_open.strip():
        yield f"**Open since earlier sessions**: {cut(contents.still_open, _STEPS_LIMIT)}"
    if contents.changed:
        lines = [
            f"- {' '.join(path.split())}: {cut(title, TITLE_LIMIT)}{_OLD * is_old}"
            for path, title, is_old in contents.changed
        ]
        yield "\n".join(["**Notes changed since the last session**:", "", *lines])


def _write_row(row: ContextRow) -> str:
    work = f"{row.work_tokens:,}" if row.work_tokens else "-"
    mark = _OLD * row.superseded
    title = title_with_place(row.title, row.files, TITLE_LIMIT - len(mark)).replace("|", r"\|")
    return (
        f"| #{row.id} | {row.created_at:%H:%M} | {row.kind} | {title}{mark} |"
        f" ~{row.read_tokens} | {work} |"
    )


_OLD = " (superseded)"

_MOST_CHANGED = 10
"""Maximum number of changed notes that are listed."""

LEAST_TOKENS = 100
"""Tokens that a context may always have."""

_MOST_OLDER, _STEPS_SESSIONS = 3, 20
"""Open steps of earlier sessions that are told, and the sessions that are looked at for them."""


@operation(
    "session context",
    why="""
    Prints the latest observations of agents' sessions, the next steps of the last session, and the
    notes that changed since. Hooks tell it to an agent when its session starts. The settings of the
    section context say how much of it.
    """,
    examples=(("memory-bank session context", "what the next session will be told"),),
    view=views.view_context,
    tool=Tool(
        "Start with what the last sessions did and left open, where no hook tells it.",
        "sessions",
        defaults={"project": REQUIRED},
        reads=True,
    ),
)
def inject_context(
    bank: Bank,
    project: Annotated[str, Param("Only sessions of this project", metavar="NAME")] = "",
    session_id: Annotated[str, Param()] = "",
    *,
    observation_types: Annotated[Sequence[str] | None, Param()] = None,
    concepts: Annotated[Sequence[str] | None, Param(longest=LONGEST_NAME, most=1000)] = None,
    observation_limit: Annotated[int | None, Param(least=0)] = None,
    session_limit: Annotated[int | None, Param(least=0)] = None,
    days: Annotated[float | None, Param(least=0)] = None,
    max_tokens: Annotated[int | None, Param(least=LEAST_TOKENS)] = None,
    quote: Callable[[str], str] = str,
) -> Injected:
    """Print what an agent is told when its session starts.

    Return the latest observations, next steps and changed notes of a project as Markdown.

    Of former sessions, it tells what came of them, not what was asked. `project` is that of the
    sessions, any by default; `session_id` is the session that starts. The other arguments replace
    the settings `[context]`. `quote` gets all text that comes from notes and returns it as quoted
    data. Raises BadInput for an unknown type or a negative number.
    """
    bank.settings.check_enabled()
    limits = _choose_limits(
        bank.settings.context,
        observation_types=observation_types,
        concepts=concepts,
        observation_limit=observation_limit,
        session_limit=session_limit,
        date_range_days=days,
        max_tokens=max_tokens,
    )
    now = datetime.now(UTC)
    compress_now(bank)
    bank.catch_up()
    with bank.lock:
        sessions, earlier, superseded, changed = bank.read(
            lambda view: _read_parts(bank, view, project, session_id, limits, now)
        )
    newest = sessions[: limits.session_limit]
    observations = _choose_observations(newest, earlier, limits, now)
    next_steps, still_open = _join_steps(sessions, session_id) if newest else ("", "")
    contents = Contents(
        project=project or (sessions[0].project if sessions else bank_project(bank)),
        now=now,
        rows=tuple(_make_rows(newest, earlier, observations, superseded, session_id)),
        next_steps=next_steps,
        still_open=still_open,
        changed=changed,
    )
    text = context_text(contents, limits.max_tokens, quote)
    return Injected(
        context=text,
        project=contents.project,
        observation_count=len(observations),
        tokens=estimate(text),
        empty=contents.empty,
    )


def _join_steps(sessions: Sequence[Session], session_id: str) -> tuple[str, str]:
    """Return the next steps of the last session before the one that starts, and older open ones."""
    others_sessions = [session for session in sessions if session.session_id != session_id]
    steps = open_steps(others_sessions)
    last = [line for line, session in steps if session is others_sessions[0]]
    older = [line for line, session in steps if session is not others_sessions[0]][:_MOST_OLDER]
    return _join_lines(last), _join_lines(older)


def _join_lines(lines: Sequence[str]) -> str:
    return lines[0] if len(lines) == 1 else "; ".join(line.rstrip(".") for line in lines)


def _choose_limits(settings: ContextSettings, **argument: Any) -> ContextSettings:  # noqa: ANN401  (values of settings)
    limits = settings._replace(
        **{name: value for name, value in argument.items() if value is not None}
    )
    for name in ("observation_limit", "session_limit", "date_range_days"):
        if (value := getattr(limits, name)) < 0:
            raise BadInput(f"{name} = {value} is negative", "give 0 or more")
    types = tuple(check_type(observation_type) for observation_type in limits.observation_types)
    return limits._replace(observation_types=types, max_tokens=max(limits.max_tokens, LEAST_TOKENS))


def _read_parts(
    bank: Bank,
    view: IndexView,
    project: str,
    session_id: str,
    limits: ContextSettings,
    now: datetime,
) -> tuple[list[Session], list[Session], frozenset[str], tuple[tuple[str, str, bool], ...]]:
    """Return the last sessions, earlier ones, superseded observations and changed notes.

    The sessions come with the last started first; of the earlier ones, the decisions are told. The
    notes are those that changed since the last session ended.
    """
    most = max(limits.session_limit, _STEPS_SESSIONS) if limits.session_limit else 0
    read = list_sessions(bank, view, project, limits._replace(session_limit=most), now)
    last_sessions = read[: limits.session_limit]
    paths = [session.path for session in last_sessions]
    earlier: list[Session] = []
    if last_sessions and "decision" in limits.observation_types:
        decided = sessions_with_decisions(bank, view, project, limits, now)
        earlier = [session for session in decided if session.path not in paths]
        paths += [session.path for session in earlier]
    numbers = document_rows.find_numbers(view.manifest, paths)
    last = next(
        (candidate for candidate in read if candidate.session_id != session_id),
        None,
    )
    superseded = frozenset(entries.list_superseded(view.manifest, numbers))
    changed = tuple(_list_changed_notes(view, last_moment(last))) if last else ()
    return read, earlier, superseded, changed


def _list_changed_notes(view: IndexView, since: datetime) -> Iterator[tuple[str, str, bool]]:
    """Yield the notes that were added or changed after a time, the last changed first."""
    scope = filters.find_scope(view.manifest, [Condition("since", since)], hidden=False)
    rows = [
        note
        for note in open_index.newest_notes(view.manifest, scope, _MOST_CHANGED * 10)
        if note.type != note_reading.TYPE
    ][:_MOST_CHANGED]
    old = link_rows.map_superseded(view.manifest, [note.number for note in rows])
    for note in rows:
        yield note.path, note.title, note.number in old


def _choose_observations(
    sessions: Sequence[Session],
    earlier: Sequence[Session],
    limits: ContextSettings,
    now: datetime,
) -> list[Observation]:
    """Return the observations to tell, the newest first; of earlier sessions, the decisions.

    If there are too many, decisions keep half of the room.
    """
    cutoff = now - timedelta(days=limits.date_range_days)
    concepts = {concept.casefold() for concept in limits.concepts}
    observed = [observation for session in sessions for observation in session.observations]
    decided = [
        observation
        for session in earlier
        for observation in session.observations
        if _is_decision(observation)
    ]
    observations = [
        observation
        for observation in (*observed, *decided)
        if observation.obs_type in limits.observation_types
        and observation.created_at >= cutoff
        and (
            not concepts or concepts.intersection(word.casefold() for word in observation.concepts)
        )
    ]
    observations.sort(key=_sort_key, reverse=True)
    decisions = [observation for observation in observations if _is_decision(observation)][
        : limits.observation_limit // 2
    ]
    ids = {observation.id for observation in decisions}
    others_observations = [observation for observation in observations if observation.id not in ids]
    room = limits.observation_limit - len(decisions)
    return sorted([*decisions, *others_observations[:room]], key=_sort_key, reverse=True)


def _is_decision(observation: Observation) -> bool:
    return observation.obs_type == "decision"


def _sort_key(observation: Observation) -> tuple[datetime, str]:
    return observation.created_at, observation.id


def _make_rows(
    sessions: Sequence[Session],
    earlier: Sequence[Session],
    observations: Sequence[Observation],
    superseded: Collection[str],
    session_id: str,
) -> list[ContextRow]:
    """Return a row for each observation and for what came of each other session's requests.

    A session has a row of its own only for what no observation among the rows tells.
    """
    git_states = {session.session_id: session.git for session in (*sessions, *earlier)}
    rows = [
        ContextRow(
            observation.id,
            observation.created_at,
            observation.obs_type,
            observation.title,
            estimate(
                note_format.observation_block(observation, git_states[observation.session_id])
            ),
            observation.discovery_tokens,
            observation.id in superseded,
            subject_files(observation.files_modified, observation.files_read),
        )
        for observation in observations
    ]
    titles = [row.title for row in rows]
    for session in sessions:
        summary = session.summary
        if summary is None or session.session_id == session_id:
            continue
        lines = f"{summary.learned}\n{summary.completed}".split("\n")
        untold = [line.removeprefix("- ") for line in lines if line.removeprefix("- ")]
        untold = [row for row in untold if not (row[:1] == "`" or is_covered(row, titles, TOLD))]
        if untold:
            read = estimate(note_format.summary_block(summary, session.git))
            work = summary.discovery_tokens
            files = subject_files(summary.files_edited, summary.files_read)
            rows.append(
                ContextRow(
                    summary.id, session.started_at, REQUEST, untold[0], read, work, files=files
                )
            )
    return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)
