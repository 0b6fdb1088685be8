"""What the verbs on sessions need of a bank: the store, the project's name, the state of git."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base.errors import BadInput
from memory_bank.base.filenames import project_name
from memory_bank.git import objects, process, repository
from memory_bank.notes.names import name_of
from memory_bank.search.manifest.entries import SESSION_ID
from memory_bank.sessions.answers import IDLE
from memory_bank.sessions.compression.sentences import COMMITTED
from memory_bank.sessions.note_store import IndexedNotes, NoteStore, check_session_id
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.queue_rows import Outline
from memory_bank.sessions.records import (
    TITLE_LIMIT,
    GitState,
    Observation,
    Session,
)
from memory_bank.sessions.redaction import Redact, redact

KindOfStore = TypeVar("KindOfStore", bound=NoteStore)

_RECENT = timedelta(hours=1)

_GIT_SECONDS = 60.0
"""Seconds for which the state of git is kept while the files of its HEAD stay the same."""


def store_of(bank: Bank, kind: type[KindOfStore]) -> KindOfStore:
    """Return the store of a bank's sessions; raise BadInput where memory is turned off."""
    bank.settings.check_enabled()
    queue = EventQueue(bank.layout.state(bank.id), bank.add_repaired)
    return kind(bank.store, queue, IndexedNotes(bank), build_redactor(bank))


@contextmanager
def open_store(bank: Bank) -> Iterator[NoteStore]:
    """Open the store of a bank's sessions for one step, in which no other thread has the bank."""
    with bank.lock:
        store = store_of(bank, NoteStore)
        try:
            yield store
        finally:
            store.close()


def find_known_session(store: NoteStore, session_id: str) -> Session:
    """Return a session; raise BadInput for an unknown one."""
    session = store.get_session(session_id)
    if session is None:
        raise BadInput(
            f"there is no session {one_line(session_id)[:60]!r}", "start it, or list the sessions"
        )
    return session


def build_redactor(bank: Bank) -> Redact:
    """Return what redacts a text by the bank's settings."""
    return partial(redact, allowed=bank.settings.secrets.allow)


def check_captured(bank: Bank) -> None:
    """Raise BadInput where nothing of sessions is stored."""
    if not bank.settings.sessions.capture:
        where = bank.settings.origins.get("sessions.capture", "the settings")
        raise BadInput(
            "sessions are not captured in this project", "set capture = true ({where})", where=where
        )


def bank_project(bank: Bank) -> str:
    """Return the name of a bank's project: of the repository's main work tree, else its folder."""
    return project_name(str(bank.layout.project))


def asked_project(bank: Bank, name: str | None) -> str:
    """Return the name of the project that an answer is limited to; empty for no limit.

    The name of a project's own folder is no limit in its bank: sessions keep the name that the
    folder had, in whatever clone, and all clones share them.
    """
    stripped = (name or "").strip()
    return "" if stripped.casefold() == bank_project(bank).casefold() else stripped


def last_moment(session: Session) -> datetime:
    """Return when something last happened in a session."""
    moments = [prompt.created_at for prompt in session.prompts]
    moments += [observation.created_at for observation in session.observations]
    return max(session.ended_at or session.started_at, *moments, session.started_at)


def is_idle(store: NoteStore, outline: Outline) -> bool:
    """Tell whether nothing has happened for long in a session that has not ended."""
    since = datetime.now(UTC) - IDLE
    if outline.last_moment >= since.timestamp():
        return False
    session = store.get_session(outline.session.session_id)
    return session is None or last_moment(session) < since


_states: dict[Path, tuple[tuple[object, ...], float, GitState | None]] = {}
"""The state of each work tree, what it was read from, and until when it holds."""


def git_state(folder: Path) -> GitState | None:
    """Return what is checked out in the work tree of a folder; None outside git.

    In one process, git is asked again when another commit or branch is checked out.
    """
    tree = repository.find_worktree(folder)
    if tree is None:
        return None
    stamp, now = _read_stamp(tree), time.monotonic()
    former_stamp, until, state = _states.get(tree, ((), 0.0, None))
    if former_stamp != stamp or until < now:
        commit = repository.read_head(tree)
        root = state.repository_id if state else repository.find_root_commit(tree)
        state = GitState(root or "", repository.read_branch(tree), commit) if commit else None
        _states[tree] = stamp, now + _GIT_SECONDS, state
    return state


def git_state_at(session: Session, when: datetime, folder: Path) -> GitState | None:
    """Return the state of git at a time of a session; what is checked out now if that is recent.

    That of an older time, as of an imported session, is the one with which the session began.
    """
    recent = datetime.now(UTC) - when < _RECENT
    return git_state(folder) if recent else session.git


def _read_stamp(tree: Path) -> tuple[object, ...]:
    """Return what changes when another commit is checked out: HEAD and its log."""
    folder = repository.git_folder(tree)
    stamps: list[object] = []
    for name in ("HEAD", "logs/HEAD"):
        try:
            stat = (folder or tree).joinpath(name).stat()
            stamps += (stat.st_mtime_ns, stat.st_ino, stat.st_size)
        except OSError:
            stamps.append(name)
    return tuple(stamps)


def mark_taken_back(project: Path, sessions: Sequence[Session]) -> list[Session]:
    """Return sessions in which changes that are gone again read as taken back.

    That is said only of work on the branch that is checked out here, in a work tree that was there
    before it: its files were written since, are as in the commit that was checked out then and
    still is, and no other branch, stash or work tree has them changed.
    """
    state, tree = git_state(project), repository.find_worktree(project)
    if state is None or tree is None or not state.branch:
        return list(sessions)
    captured = [
        (observation, session)
        for session in sessions
        for observation in session.observations
        if observation.git
        and (observation.git.branch, observation.git.commit) == (state.branch, state.commit)
        if observation.discovery_tokens
        and observation.files_modified
        and COMMITTED not in observation.facts
    ]
    commit_time = objects.read_commit_time(project, state.commit) if captured else 0.0
    since = max(commit_time, _find_checkout_time(tree)) if commit_time else math.inf
    open_work = {
        observation.id: observation
        for observation, session in captured
        if since
        < _find_start(observation, session)
        < _find_oldest_change(project, observation.files_modified)
    }
    files = {path for observation in open_work.values() for path in observation.files_modified}
    if not files:
        return list(sessions)
    words = ("--literal-pathspecs", "ls-files", "-z", "--", *sorted(files)[:_MOST_FILES])
    tracked = frozenset((process.run(project, *words) or "").split("\0"))
    clean = tracked - repository.list_uncommitted(project, files)
    clean -= repository.list_changed_elsewhere(project, files, commit_time)
    return [
        session._replace(
            observations=tuple(
                _mark_observation(observation)
                if observation.id in open_work and clean.issuperset(observation.files_modified)
                else observation
                for observation in session.observations
            ),
        )
        for session in sessions
    ]


def _find_checkout_time(tree: Path) -> float:
    """Return when a work tree was made, by the first line of the log of its HEAD, in seconds.

    That is never without a log, as it can't be known then.
    """
    folder = repository.git_folder(tree)
    with suppress(OSError, ValueError), (folder or tree).joinpath("logs/HEAD").open() as lines:
        return float(lines.readline().partition("\t")[0].rsplit(" ", 2)[1])
    return math.inf


def _find_oldest_change(project: Path, paths: Sequence[str]) -> float:
    """Return when the file was written that was not written for longest; 0 if one is missing."""
    try:
        return min(project.joinpath(path).lstat().st_mtime for path in paths)
    except (OSError, ValueError):
        return 0.0


def _find_start(observation: Observation, session: Session) -> float:
    moments = [
        p.created_at for p in session.prompts if p.prompt_number == observation.prompt_number
    ]
    return (moments or [session.started_at])[0].timestamp()


def _mark_observation(observation: Observation) -> Observation:
    title = f"{TAKEN_BACK}{observation.title}"
    return observation._replace(
        obs_type="discovery", title=title[: TITLE_LIMIT - 1], files_modified=()
    )


TAKEN_BACK, _MOST_FILES = "Tried and taken back: ", 500

LINK = "session"
"""The key with the link to the session's note."""

VARIABLES = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
"""Variables in which agents' programs tell their servers and commands the id of the session."""


def current_session(bank: Bank, session_id: str = "") -> tuple[str, str]:
    """Return the id and note of a session: of the id given, else of the one that goes on.

    Its note is written if need be. Both are empty if none is known, the note also if nothing of the
    session is recorded. The one that goes on is that of the environment, unless it has ended, else
    the only open one of the project. It isn't looked for where sessions are not captured. Raises
    BadInput for an unknown or wrong id, and that of a forgotten session.
    """
    if not (session_id.strip() or bank.settings.sessions.capture):
        return "", ""
    with open_store(bank) as store:
        name = check_session_id(session_id) if session_id.strip() else _find_running(bank, store)
        if session_id.strip():
            store.check_not_forgotten(name)
            find_known_session(store, name)
        session = store.get_session(name) if name else None
        return name, store.note_of(name) if session else ""


def _find_running(bank: Bank, store: NoteStore) -> str:
    """Return the id of the session that goes on; empty if that isn't known."""
    for name in VARIABLES:
        if line := one_line(os.environ.get(name, "")):
            session = store.queue.session(line)
            if store.queue.forgotten(line):
                continue
            if session is None or session.ended_at is None:
                return line  # a program may have begun another session since it set the variable
    project = bank_project(bank)
    running = [
        outline.session.session_id
        for outline in store.queue.outlines(ongoing=True)
        if outline.session.project == project and not is_idle(store, outline)
    ]
    return running[0] if len(running) == 1 else ""


def session_keys(
    session_id: str, path: str, *, private: bool, near: NoteRow | None = None
) -> dict[str, object]:
    """Return the keys that name a note's session; only those that change in `near`.

    A note that several sessions wrote has several. A tracked note gets no link: the session's note
    is on this machine only.
    """
    link = f"[[{name_of(path)}]]" if path and private else ""
    extra = near.data.get("extra", {}) if near else {}
    keys: dict[str, object] = {}
    for key, value in ((SESSION_ID, session_id), (LINK, link)):
        there = extra.get(key) or []
        entries = there if isinstance(there, list) else [there]
        if value and value not in entries:
            keys[key] = [*entries, value] if entries else value
    return keys
