"""Tell an agent in few words what it should know when its session starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, takewhile

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base import shorten
from memory_bank.base.errors import Busy, NoteNotFound, StorageFailed
from memory_bank.base.setting_sections import ContextSettings
from memory_bank.base.text import estimate
from memory_bank.git import repository
from memory_bank.notes.decision_records import ENDED
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, entries, filters, link_rows
from memory_bank.search.manifest.entries import EntryConditions
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.search.retrievers.base import Scope
from memory_bank.sessions import note_format, note_reading
from memory_bank.sessions.compression.sentences import DECIDED, TOLD, is_covered
from memory_bank.sessions.observation_rows import RowPlace, read_places
from memory_bank.sessions.records import GitState, Observation, Session
from memory_bank.sessions.state import (
    asked_project,
    bank_project,
    git_state,
    mark_taken_back,
    open_store,
)
from memory_bank.sessions.summaries import open_steps
from memory_bank.trust.records import yield_overdue_notes

MOST_TOKENS = 500
"""Estimated tokens of the text, with what quotes it."""

_MOST = {"steps": 5, "rules": 5, "learned": 8, "decisions": 6, "changed": 5, "overdue": 5}
"""Lines of each part."""

_NOTES = ("decisions", "changed")
"""Parts whose lines are titles: notes may differ in one word of it."""

_LONGEST = 300
"""Characters of a line that ends in a path: a path that was cut opens nothing."""

_LEAST_TITLE = 40
"""Characters of a title that a long path leaves."""

# Characters of a line, and sessions that are looked through, at the start of one.
_LINE, _SESSIONS = 150, 20

ALL_TOOLS = "Ask the tools recall and search for more, get_observations for an #id (~tokens)."

FIRST_TOOLS = (
    "Ask the tools recall and search for more, `memory-bank session show ID` for an #id (~tokens)."
)
"""What is told to an agent whose server has the tools of a bundle."""

NO_TOOLS = (
    "Run `memory-bank recall WORDS` for more, `memory-bank session show ID` for an #id (~tokens)."
)
"""What is told to an agent whose program has no server of this program."""


def start_text(
    bank: Bank,
    project: str = "",
    session_id: str = "",
    *,
    rules: Callable[[Bank], Sequence[str]] = lambda _: (),
    quote: Callable[[str], str] = str,
    more: str = ALL_TOOLS,
) -> str:
    """Return what a session should know first, in at most 500 estimated tokens.

    Open steps, rules and decisions of former sessions, what was learned and done, how many notes
    the bank has with its newest and most used decisions, and what changed since the last session.
    What concerns files with uncommitted changes comes first, then the branch that is checked out.
    What `rules` returns is told with the decisions. `quote` gets all text that comes from notes. No
    prompts are told. Lines of observations and notes end in the id and the tokens of the whole; the
    last line, `more`, says how to get it. Empty if nothing is known.
    """
    with suppress(StorageFailed, Busy), open_store(bank) as store:
        if store.queue.waiting():
            from memory_bank.sessions.compress import compress_now  # start-up: it is rarely needed

            compress_now(bank)
    bank.catch_up()
    with bank.lock:
        ruled = rules(bank)
        content = bank.read(lambda view: _list_parts(bank, view, project, session_id, ruled))
    if not content:
        return ""
    head = f"# Memory of {project or bank_project(bank)}"
    while True:
        body = "\n\n".join(
            "\n".join([f"**{name}**:", *(f"- {text}{end}" for text, end in lines)])
            for name, lines in content
            if lines
        )
        text = "\n\n".join((head, quote(body), more))
        if estimate(text) <= MOST_TOKENS or not any(lines for _, lines in content):
            return text
        _drop_line(content)


Line = tuple[str, str]
"""A line of the text, and its end: the id by which `get_observations` returns the whole of it, and
its estimated tokens; empty if it is whole."""
Part = tuple[str, list[Line]]


def _drop_line(parts: list[Part]) -> None:
    """Take the last line of the longest part that has more than two, else of the last part."""
    long = [lines for _, lines in parts[1:] if len(lines) > 2]  # noqa: PLR2004 - the newest two stay
    start_lines = [lines for _, lines in parts if lines]
    (max(long, key=len) if long else start_lines[-1]).pop()


def _list_parts(
    bank: Bank, view: IndexView, project: str, session_id: str, rules: Sequence[str]
) -> list[Part]:
    limits = bank.settings.context._replace(session_limit=_SESSIONS)
    now = datetime.now(UTC)
    sessions = list_sessions(bank, view, project, limits, now)
    others_sessions = [candidate for candidate in sessions if candidate.session_id != session_id]
    steps = [(line, "") for line, _ in open_steps(others_sessions)]
    git_states = {
        observation.id: session.git
        for session in others_sessions
        for observation in session.observations
    }

    def line_of(observation: Observation, text: str) -> Line:
        block = note_format.observation_block(observation, git_states[observation.id])
        return text, f" #{observation.id} ~{estimate(block)}"

    recent = [
        observation
        for session in others_sessions
        for observation in session.observations
        if observation.created_at >= now - timedelta(days=limits.date_range_days)
    ]
    branch = (git_state(bank.layout.project) or _NO_STATE).branch
    recent.sort(key=lambda observation: observation.created_at, reverse=True)
    recent.sort(key=lambda observation: not (observation.git and observation.git.branch == branch))
    files = {
        file
        for observation in recent
        for file in (*observation.files_modified, *observation.files_read)
    }
    changed = repository.list_uncommitted(bank.layout.project, files) if files else frozenset()
    recent.sort(
        key=lambda observation: changed.isdisjoint(
            (*observation.files_modified, *observation.files_read)
        )
    )
    decided = [
        *((rule, "") for rule in rules),
        *(
            line_of(observation, text) if observation else (text, "")
            for text, observation in _list_decisions(recent, others_sessions)
        ),
    ]
    decisions = {text for text, _ in decided}
    learned = [
        line_of(
            observation,
            title_with_place(
                observation.title,
                subject_files(observation.files_modified, observation.files_read),
                _LINE,
            ),
        )
        for observation in recent
        if observation.title not in decisions
    ]
    parts = [
        ("Open steps", _choose_lines(steps, "steps")),
        ("Rules and decisions of users and agents", _choose_lines(decided, "rules")),
        ("Learned and done in the last sessions", _choose_lines(learned, "learned")),
    ]
    titles = {text for _, lines in parts for text, _ in lines}
    parts += _yield_bank_parts(bank, view, others_sessions[0] if others_sessions else None, titles)
    return parts if any(lines for _, lines in parts) else []


_NO_STATE = GitState("", "", "")


def _list_decisions(
    observations: Sequence[Observation], sessions: Sequence[Session]
) -> Iterator[tuple[str, Observation | None]]:
    """Yield what was decided, the newest first, the sentence of a rule rather than a title."""
    for observation in observations:
        rules = [
            fact.removeprefix(DECIDED) for fact in observation.facts if fact.startswith(DECIDED)
        ]
        for text in rules or ([observation.title] if observation.obs_type == "decision" else []):
            yield text, observation
    for session in sessions:  # a session whose user decided, and nothing else happened
        if session.summary and not session.observations:
            for text in session.summary.learned.split("\n"):
                yield text, None


def _choose_lines(candidates: Iterable[Line], part: str) -> list[Line]:
    """Return the first lines that say something new, shortened, as many as a part may have."""
    lines = list[Line]()
    for whole, end in candidates:
        text = cut(whole.removeprefix("- "), _LINE if part != "changed" else _LONGEST)
        texts = [earlier for earlier, _ in lines]
        if text and not (text in texts if part in _NOTES else is_covered(text, texts, TOLD)):
            lines.append((text, end))
        if len(lines) >= _MOST[part]:
            break
    return lines


def list_sessions(
    bank: Bank, view: IndexView, project: str, limits: ContextSettings, now: datetime
) -> list[Session]:
    """Return the sessions of a project, of any if it is empty, the last started first."""
    project = asked_project(bank, project)
    cutoff = (now - timedelta(days=limits.date_range_days)).timestamp()
    read: list[Session] = []
    for row in _yield_newest(view.manifest, _find_scope(view.manifest, note_reading.TYPE, project)):
        if len(read) >= limits.session_limit or max(row.created, row.updated) < cutoff:
            break
        extra = row.data.get("extra", ())
        if (
            "session_id" in extra
            and "project" in extra
            and (session := _read_session(bank, row)) is not None
        ):
            read.append(session)
    return mark_taken_back(bank.layout.project, sorted(read, key=_sort_key, reverse=True))


def sessions_with_decisions(
    bank: Bank, view: IndexView, project: str, limits: ContextSettings, now: datetime
) -> list[Session]:
    """Return the sessions of a project in which something was decided within the period."""
    entry_conditions = EntryConditions(
        kinds=frozenset([entries.OBSERVATIONS]),
        obs_types=("decision",),
        project=asked_project(bank, project),
        since=(now - timedelta(days=limits.date_range_days)).timestamp(),
    )
    decisions = entries.list_entries(view.manifest, entry_conditions, limits.observation_limit)
    numbers = [*dict.fromkeys(entry.document for entry in decisions)]
    notes = open_index.yield_notes(view.manifest, numbers)
    return [session for note in notes if (session := _read_session(bank, note)) is not None]


def _sort_key(session: Session) -> tuple[datetime, datetime]:
    """Return when a session started, and, since that is in seconds, when it did something last."""
    did = (observation.created_at for observation in session.observations)
    return session.started_at, max(did, default=session.started_at)


def _read_session(bank: Bank, row: NoteRow) -> Session | None:
    """Return the session of a note; None if it is gone or is no session any more."""
    try:
        return note_reading.parse(row.path, bank.store.read_bytes(row.path))
    except NoteNotFound:
        return None


def title_with_place(title: str, files: Sequence[str], limit: int) -> str:
    """Return a title on one line, with the first of its files for which it leaves room.

    A title that names one of its files gets none.
    """
    title = cut(title, limit)
    if any(path.rpartition("/")[2] in title for path in files):
        return title
    places = (f"{title} ({path})" for path in files)
    return next((text for text in places if len(text) <= limit), title)


def subject_files(modified: tuple[str, ...], read: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that work is about: those it changed, else the only one that it read."""
    return modified or (read if len(read) == 1 else ())


def cut(text: str, limit: int) -> str:
    """Return a text on one line, with an ellipsis if it is longer than the limit."""
    return shorten(" ".join(text.split()), limit)


def _yield_bank_parts(
    bank: Bank, view: IndexView, last: Session | None, titles: set[str]
) -> Iterator[Part]:
    """Yield how many notes there are with the decisions, and what changed since a session.

    A note whose title is in the lines that were told already is not told again.
    """
    manifest = view.manifest
    sessions = _find_scope(manifest, note_reading.TYPE).only or frozenset()
    hidden = filters.find_scope(manifest, [], hidden=False).without
    numbers = document_rows.newest_numbers(manifest, Scope(without=hidden | sessions))
    old = link_rows.map_superseded(manifest, numbers)
    decisions = list(_yield_valid(_yield_newest(manifest, _find_scope(manifest, "decision")), old))
    used = bank.state.accesses([row.known_as for row in decisions])
    often = [row for row in decisions if row.known_as in used]
    often.sort(key=lambda row: used[row.known_as].times, reverse=True)
    half = _MOST["decisions"] // 2
    rows = _yield_valid(open_index.yield_notes(manifest, numbers), old)
    candidates = chain(decisions[:half], often[:half], decisions[half:], rows)
    changed = list[Line]()
    if last:
        since = last.started_at.timestamp()
        notes = open_index.yield_notes(manifest, numbers)
        late = takewhile(lambda row: max(row.created, row.updated) >= since, notes)
        untold = [row for row in late if _cut_title(row) not in titles][: _MOST["changed"]]
        titles.update(map(_cut_title, untold))
        changed = _choose_lines((_describe_changed(bank, view, note) for note in untold), "changed")
    if numbers:
        count = f"{len(numbers)} note{'s' * (len(numbers) != 1)} in the bank"
        if number := view.index.indexer.left:
            count += f" and {number} that are not indexed yet"
        untold_notes = (note for note in candidates if _cut_title(note) not in titles)
        lines = _choose_lines(
            (_describe_note(bank, view, note) for note in untold_notes), "decisions"
        )
        yield f"{count}, the newest and most used decisions first", lines
        changed += [(count, "")] if changed and not lines else []
    if changed:
        yield "Changed since the last session began", changed
    if overdue := list(islice(yield_overdue_notes(manifest), _MOST["overdue"])):
        yield "Past the review date: check before use", [(note.path, "") for note in overdue]


def _cut_title(note: NoteRow) -> str:
    """Return the text that tells a note by its title."""
    return cut(note.title, _LINE)


def _describe_note(bank: Bank, view: IndexView, note: NoteRow) -> Line:
    """Return a note's title with its id and tokens as search lists them."""
    rows = read_places(view, bank_project(bank), [RowPlace(note.number)])
    return note.title, "".join(f" #{row.id} ~{row.estimated_tokens}" for row in rows)


def _describe_changed(bank: Bank, view: IndexView, note: NoteRow) -> Line:
    """Return a note's title, cut where its path would be cut otherwise, with its tokens."""
    place = f" ({note.path})"
    title = cut(note.title, max(_LINE - len(place), _LEAST_TITLE))
    rows = read_places(view, bank_project(bank), [RowPlace(note.number)])
    return f"{title}{place}", "".join(f" ~{row.estimated_tokens}" for row in rows)


def _find_scope(manifest: Manifest, kind: str, project: str = "") -> Scope:
    """Return the notes of a type, of any project if it is empty."""
    conditions = [Condition("type", kind), *([Condition("project", project)] if project else ())]
    return filters.find_scope(manifest, conditions, hidden=False)


def _yield_newest(manifest: Manifest, scope: Scope) -> Iterator[NoteRow]:
    """Yield the notes in scope, the last created or updated first."""
    return open_index.yield_notes(manifest, document_rows.newest_numbers(manifest, scope))


def _yield_valid(notes: Iterable[NoteRow], superseded: Collection[int]) -> Iterator[NoteRow]:
    """Yield the notes that hold: neither ended nor superseded."""
    return (row for row in notes if row.status not in _ENDED and row.number not in superseded)


_ENDED = ENDED | {"archived"}
