"""Tell an agent in few words what it should know when its session starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, takewhile
from typing import NamedTuple

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base.errors import Busy, NoteNotFound, StorageFailed
from memory_bank.base.setting_sections import ContextSettings
from memory_bank.base.text import estimate
from memory_bank.git import repository
from memory_bank.notes.decision_records import ENDED
from memory_bank.search.index import View
from memory_bank.search.manifest import document_graph, document_rows, filters
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.search.retrievers.base import Scope
from memory_bank.sessions import note_reading
from memory_bank.sessions.compression.sentences import DECIDED, covered
from memory_bank.sessions.records import GitState, Observation, Session
from memory_bank.sessions.state import as_left, git_state, opened, project_of
from memory_bank.sessions.summaries import open_steps

MOST_TOKENS = 500
"""Estimated tokens of the text, with what quotes it."""

_MOST = {"steps": 5, "rules": 5, "learned": 8, "decisions": 6, "changed": 5}
"""Lines of each part."""

_NOTES = ("decisions", "changed")
"""Parts whose lines are titles: notes may differ in one word of it."""

_LONGEST = 300
"""Characters of a line that ends in a path: a path that was cut opens nothing."""

_LEAST_TITLE = 40
"""Characters of a title that a long path leaves."""

_LINE, _SESSIONS, _LAST = 150, 20, "Ask the tools recall and search for more."


class StartText(NamedTuple):
    """What an agent is told when its session starts."""

    text: str
    """Markdown; empty if nothing is known."""
    tokens: int


def start_text(
    bank: Bank,
    project: str = "",
    session_id: str = "",
    *,
    rules: Callable[[Bank], Sequence[str]] = lambda _: (),
    quote: Callable[[str], str] = str,
) -> StartText:
    """Return what a session should know first, in at most 500 estimated tokens.

    Open steps, rules and decisions of former sessions, what was learned and done, how many notes
    the bank has with its newest and most used decisions, and what changed since the last session.
    What concerns files with uncommitted changes comes first, then the branch that is checked out.
    What `rules` returns is told with the decisions. `quote` gets all text that comes from notes. No
    prompts are told, and no ids.
    """
    with suppress(StorageFailed, Busy), opened(bank) as store:
        if store.queue.waiting():
            from memory_bank.sessions.compress import compress_now  # start-up: it is rarely needed

            compress_now(bank)
    bank.catch_up()
    with bank.lock:
        ruled = rules(bank)
        told = bank.read(lambda view: _parts(bank, view, project, session_id, ruled))
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
    found = sessions_of(bank, view, project, limits, now)
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
    files = {file for one in recent for file in (*one.files_modified, *one.files_read)}
    changed = repository.uncommitted(bank.layout.project, files) if files else frozenset()
    recent.sort(key=lambda one: changed.isdisjoint((*one.files_modified, *one.files_read)))
    decided = [*rules, *_decided(recent, others)]
    learned = [
        placed(one.title, about(one.files_modified, one.files_read), _LINE)
        for one in recent
        if one.title not in decided
    ]
    parts = [
        ("Open steps", _lines(steps, "steps")),
        ("Rules and decisions of users and agents", _lines(decided, "rules")),
        ("Learned and done in the last sessions", _lines(learned, "learned")),
    ]
    titles = {line for _, lines in parts for line in lines}
    parts += _of_bank(bank, view, others[0] if others else None, titles)
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


def _lines(texts: Iterable[str], part: str) -> list[str]:
    kept = list[str]()
    for text in texts:
        line = cut(text.removeprefix("- "), _LINE if part != "changed" else _LONGEST)
        if line and not (line in kept if part in _NOTES else covered(line, kept, 0.8)):
            kept.append(line)
        if len(kept) >= _MOST[part]:
            break
    return [f"- {line}" for line in kept]


def sessions_of(
    bank: Bank, view: View, project: str, limits: ContextSettings, now: datetime
) -> list[Session]:
    """Return the sessions of a project, of any if it is empty, the last started first.

    The name of the bank's own project is no condition: sessions keep the name that its folder had.
    """
    if project.strip().casefold() == project_of(bank).casefold():
        project = ""
    cutoff = (now - timedelta(days=limits.date_range_days)).timestamp()
    read: list[Session] = []
    for row in _newest(view.manifest, _scope(view.manifest, note_reading.TYPE, project.strip())):
        if len(read) >= limits.session_limit or max(row.created, row.updated) < cutoff:
            break
        extra = row.data.get("extra", ())
        if "session_id" in extra and "project" in extra and (one := _read(bank, row)) is not None:
            read.append(one)
    return as_left(bank.layout.project, sorted(read, key=_newness, reverse=True))


def _newness(session: Session) -> tuple[datetime, datetime]:
    """Return when a session started, and, since that is in seconds, when it did something last."""
    did = (one.created_at for one in session.observations)
    return session.started_at, max(did, default=session.started_at)


def _read(bank: Bank, row: NoteRow) -> Session | None:
    """Return the session of a note; None if it is gone or is no session any more."""
    try:
        return note_reading.parse(row.path, bank.store.read_bytes(row.path))
    except NoteNotFound:
        return None


def placed(title: str, files: Sequence[str], limit: int) -> str:
    """Return a title on one line, with the first short one of its files unless it names one."""
    named = any(path.rpartition("/")[2] in title for path in files)
    place = next((f" ({path})" for path in files if len(path) < limit // 2 - 3), "")
    return cut(title, limit) if named else f"{cut(title, limit - len(place))}{place}"


def about(modified: tuple[str, ...], read: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that work is about: those it changed, else the only one that it read."""
    return modified or (read if len(read) == 1 else ())


def cut(text: str, limit: int) -> str:
    """Return a text on one line, with an ellipsis if it is longer than the limit."""
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: max(limit - 1, 0)].rstrip()}…"[:limit]


def _of_bank(bank: Bank, view: View, last: Session | None, told: set[str]) -> Iterator[Part]:
    """Yield how many notes there are with the decisions, and what changed since a session.

    A note whose title is in the lines that were told already is not told again.
    """
    manifest = view.manifest
    sessions = _scope(manifest, note_reading.TYPE).only or frozenset()
    hidden = filters.scope(manifest, [], hidden=False).without
    numbers = document_rows.newest_numbers(manifest, Scope(without=hidden | sessions))
    old = document_graph.superseded(manifest, numbers)
    decisions = list(_valid(_newest(manifest, _scope(manifest, "decision")), old))
    used = bank.logs.access.of([one.known_as for one in decisions])
    often = [one for one in decisions if one.known_as in used]
    often.sort(key=lambda one: used[one.known_as].times, reverse=True)
    half = _MOST["decisions"] // 2
    others = _valid(open_index.numbered(manifest, numbers), old)
    named = chain(decisions[:half], often[:half], decisions[half:], others)
    changed = list[str]()
    if last:
        since = last.started_at.timestamp()
        notes = open_index.numbered(manifest, numbers)
        late = takewhile(lambda one: max(one.created, one.updated) >= since, notes)
        untold = [one for one in late if _titled(one) not in told][: _MOST["changed"]]
        told.update(map(_titled, untold))
        changed = _lines(map(_with_path, untold), "changed")
    if numbers:
        count = f"{len(numbers)} note{'s' * (len(numbers) != 1)} in the bank"
        if left := view.index.indexer.left:
            count += f" and {left} that are not indexed yet"
        lines = _lines((one.title for one in named if _titled(one) not in told), "decisions")
        yield f"{count}, the newest and most used decisions first", lines
        changed += [f"- {count}"] if changed and not lines else []
    if changed:
        yield "Changed since the last session began", changed


def _titled(note: NoteRow) -> str:
    """Return the line that tells a note by its title."""
    return f"- {cut(note.title, _LINE)}"


def _with_path(note: NoteRow) -> str:
    """Return a note's title, cut where its path would be cut otherwise."""
    place = f" ({note.path})"
    return f"{cut(note.title, max(_LINE - len(place), _LEAST_TITLE))}{place}"


def _scope(manifest: Manifest, kind: str, project: str = "") -> Scope:
    """Return the notes of a type, of any project if it is empty."""
    wanted = [Condition("type", kind), *([Condition("project", project)] if project else ())]
    return filters.scope(manifest, wanted, hidden=False)


def _newest(manifest: Manifest, scope: Scope) -> Iterator[NoteRow]:
    """Yield the notes in scope, the last created or updated first."""
    return open_index.numbered(manifest, document_rows.newest_numbers(manifest, scope))


def _valid(notes: Iterable[NoteRow], superseded: Collection[int]) -> Iterator[NoteRow]:
    """Yield the notes that hold: neither ended nor superseded."""
    return (one for one in notes if one.status not in _ENDED and one.number not in superseded)


_ENDED = ENDED | {"archived"}
