"""Tell an agent in few words what it should know when its session starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base.text import estimate
from memory_bank.git import repository
from memory_bank.notes.decision_records import ENDED
from memory_bank.search.index.index import View
from memory_bank.search.manifest import document_graph, filters
from memory_bank.sessions import context
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.compression.sentences import covered
from memory_bank.sessions.compression.wording import DECIDED
from memory_bank.sessions.notes import note_reading
from memory_bank.sessions.records import GitState, Observation, Session
from memory_bank.sessions.state import git_state, project_of
from memory_bank.sessions.summaries import open_steps

MOST_TOKENS = 500
"""Estimated tokens of the text, with what quotes it."""

_MOST = {"steps": 5, "rules": 5, "learned": 8, "decisions": 6, "changed": 5}
"""Lines of each part."""

_NOTES = ("decisions", "changed")
"""Parts whose lines are titles: notes may differ in one word of it."""

_LINE, _SESSIONS, _LAST = 150, 20, "Ask the tools recall and search for more."


@dataclass(frozen=True, slots=True)
class StartText:
    """What an agent is told when its session starts."""

    text: str
    """Markdown; empty if nothing is known."""
    tokens: int


def start_text(
    bank: Bank,
    project: str = "",
    session_id: str = "",
    *,
    rules: Sequence[str] = (),
    quote: Callable[[str], str] = str,
) -> StartText:
    """Return what a session should know first, in at most 500 estimated tokens.

    Open steps, rules and decisions of former sessions, what was learned and done, how many notes
    the bank has with its newest and most used decisions, and what changed since the last session.
    What concerns files with uncommitted changes comes first, then the branch that is checked out.
    `rules` are told with the decisions. `quote` gets all text that comes from notes. No prompts are
    told, and no ids.
    """
    compress_now(bank)
    bank.catch_up()
    with bank.lock:
        told = bank.read(lambda view: _parts(bank, view, project, session_id, rules))
    if not told:
        return StartText("", 0)
    head = f"# Memory of {project or project_of(bank)}"
    while True:
        body = "\n\n".join("\n".join([f"**{name}**:", *lines]) for name, lines in told if lines)
        text = "\n\n".join((head, quote(body), _LAST))
        if estimate(text) <= MOST_TOKENS or not any(lines for _, lines in told):
            return StartText(text, estimate(text))
        _shorten(told)


Part = tuple[str, list[str]]


def _shorten(parts: list[Part]) -> None:
    """Take the last line of the longest part that has more than two, else of the last part."""
    long = [lines for _, lines in parts[1:] if len(lines) > 2]  # noqa: PLR2004 - the newest two stay
    left = [lines for _, lines in parts if lines]
    (max(long, key=len) if long else left[-1]).pop()


def _parts(
    bank: Bank, view: View, project: str, session_id: str, rules: Sequence[str]
) -> list[Part]:
    limits = bank.settings.context._replace(session_limit=_SESSIONS)
    now = datetime.now(UTC)
    found = context.sessions_of(bank, view, project, limits, now)
    others = [one for one in found if one.session_id != session_id]
    steps = [line for line, _ in open_steps(others)]
    recent = [
        one
        for session in others
        for one in session.observations
        if one.created_at >= now - timedelta(days=limits.date_range_days)
    ]
    branch = (git_state(bank.layout.project) or _NO_STATE).branch
    recent.sort(key=lambda one: one.created_at, reverse=True)
    recent.sort(key=lambda one: not (one.git and one.git.branch == branch))
    changed = repository.uncommitted(bank.layout.project) if recent else frozenset()
    recent.sort(key=lambda one: changed.isdisjoint((*one.files_modified, *one.files_read)))
    decided = [*rules, *_decided(recent, others)]
    learned = [
        context.placed(one.title, context.about(one.files_modified, one.files_read), _LINE)
        for one in recent
        if one.title not in decided
    ]
    parts = [
        ("Open steps", _lines(steps, "steps")),
        ("Rules and decisions of users and agents", _lines(decided, "rules")),
        ("Learned and done in the last sessions", _lines(learned, "learned")),
        *_of_bank(bank, view, others[0] if others else None),
    ]
    return parts if any(lines for _, lines in parts) else []


_NO_STATE = GitState("", "", "")


def _decided(found: Sequence[Observation], sessions: Sequence[Session]) -> Iterator[str]:
    """Yield what was decided, the newest first, the sentence of a rule rather than a title."""
    for one in found:
        said = [fact.removeprefix(DECIDED) for fact in one.facts if fact.startswith(DECIDED)]
        yield from said or ([one.title] if one.obs_type == "decision" else [])
    for session in sessions:  # a session whose user decided, and nothing else happened
        if session.summary and not session.observations:
            yield from session.summary.learned.split("\n")


def _lines(texts: Sequence[str], part: str) -> list[str]:
    kept = list[str]()
    for text in texts:
        line = context.cut(text.removeprefix("- "), _LINE)
        if line and not (line in kept if part in _NOTES else covered(line, kept, 0.8)):
            kept.append(line)
        if len(kept) >= _MOST[part]:
            break
    return [f"- {line}" for line in kept]


def _of_bank(bank: Bank, view: View, last: Session | None) -> Iterator[Part]:
    """Yield how many notes there are with the decisions, and what changed since a session."""
    scope = filters.scope(view.manifest, [], hidden=False)
    rows = open_index.newest(view.manifest, scope, context.MANY)
    notes = [one for one in rows if one.type != note_reading.TYPE]
    old = document_graph.superseded(view.manifest, [one.number for one in notes])
    valid = [one for one in notes if one.number not in old and one.status not in _ENDED]
    used = bank.logs.access.of([one.known_as for one in valid])
    decisions = [one for one in valid if one.type == "decision"]
    often = [one for one in decisions if one.known_as in used]
    often.sort(key=lambda one: used[one.known_as].times, reverse=True)
    half = _MOST["decisions"] // 2
    named = [*decisions[:half], *often[:half], *decisions[half:], *valid]
    titles = [one.title for one in {one.number: one for one in named}.values()]
    if notes:
        count = f"{len(notes)} note{'s' * (len(notes) != 1)} in the bank"
        yield f"{count}, the newest and most used decisions first", _lines(titles, "decisions")
    if last:
        since = last.started_at.timestamp()
        late = [one for one in notes if max(one.created, one.updated) >= since]
        new = [f"{one.title} ({one.path})" for one in late]
        yield "Changed since the last session began", _lines(new, "changed")


_ENDED = ENDED | {"archived"}
