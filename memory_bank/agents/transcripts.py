"""Make sessions of the transcripts that agents' programs keep on this machine."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, cast

from memory_bank.agents import clients
from memory_bank.agents.capture import capture, is_forgetting, is_own
from memory_bank.agents.clients.base import ClientModule, HookEvent, Transcript
from memory_bank.agents.hook_bank import HookBank
from memory_bank.agents.payload import digest
from memory_bank.bank.bank import Bank
from memory_bank.bank.bank_id import bank_id
from memory_bank.base import NamedTuple, in_json, paths, with_schema_version
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Piece
from memory_bank.base.view import Block, View
from memory_bank.git import repository
from memory_bank.search import times
from memory_bank.search.document_changes import Progress
from memory_bank.sessions.compress import compress
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.queue_rows import MESSAGE
from memory_bank.sessions.records import GitState, Prompt
from memory_bank.sessions.redaction import redact, redact_id
from memory_bank.sessions.sessions import end_session
from memory_bank.sessions.state import bank_project, check_captured, git_state, open_store

NEW, CONTINUED, UNCHANGED = "new", "continued", "unchanged"

_OPEN_SECONDS = 1800
"""A session whose last line is newer may go on, and is not ended."""

_WAIT = 30.0
"""Seconds to wait for another process that compresses."""

_UNIQUE = 20
"""Fewest characters of a key that no other session has, unless it is a fork."""

_TITLE, _COMPARED, _MOST_COMPARED = 100, 200, 2000


class ImportedSession(NamedTuple):
    """What was made of the transcripts of one session."""

    session_id: str
    client: str
    state: str
    """`new`, `continued` (it has grown, or hooks had captured a part of it), `unchanged`."""
    title: str
    """The start of its first prompt."""
    started_at: str
    ended_at: str
    prompts: int
    """New ones, as in the next two."""
    events: int
    observations: int
    files: tuple[str, ...]
    """Its transcripts."""
    skipped_lines: Mapping[str, int]
    """Lines that were not understood, by the reason."""


class SkippedTranscript(NamedTuple):
    """A transcript, or all of one session, of which nothing was made."""

    client: str
    file: str
    reason: str


@in_json(
    "dry_run", "sessions", "events", "observations", "elsewhere", "skipped", "fallback_reasons",
)  # fmt: skip
@with_schema_version("1.0")
@dataclass(slots=True)
class ImportedSessions:
    """The result of an import of transcripts, or of a dry run."""

    dry_run: bool = False
    sessions: list[ImportedSession] = field(default_factory=list)
    """Those of this project, the oldest first."""
    elsewhere: int = 0
    """Number of transcripts of other projects."""
    skipped: list[SkippedTranscript] = field(default_factory=list)
    fallback_reasons: list[str] = field(default_factory=list)
    """Why events were compressed by rules instead of the mode that is set."""

    @property
    def events(self) -> int:
        """New ones of all sessions."""
        return sum(session.events for session in self.sessions)

    @property
    def observations(self) -> int:
        """New ones of all sessions."""
        return sum(session.observations for session in self.sessions)


_MINUTE = 16
"""Characters of a time down to the minute."""

_DAMAGED = ("not JSON", "line too long")
"""Reasons to leave out a line of a transcript that a person may want to look at."""


def _view_imported(sessions: ImportedSessions) -> View:
    """Describe each session that was imported, and what was not, and why."""
    changed = [session for session in sessions.sessions if session.state != "unchanged"]
    lines: list[Sequence[Piece]] = []
    for session in changed:
        verb = f"would be {session.state}" if sessions.dry_run else session.state
        when = session.started_at[:_MINUTE].replace("T", " ")
        about = f", {session.client}, {when}: {session.title}"
        lines.append([f"{verb}: ", (session.session_id, "place"), about])
    lines += [
        ["not imported: ", (skipped.file, "place"), f": {skipped.reason}"]
        for skipped in sessions.skipped
    ]
    parts = [
        f"{len(changed)} new or continued",
        f"{len(sessions.sessions) - len(changed)} unchanged",
    ]
    if sessions.skipped:
        parts.append(f"{len(sessions.skipped)} not imported")
    if sessions.elsewhere:
        parts.append(f"{count(sessions.elsewhere, 'transcript')} of other projects")
    if unread := sum(
        session.skipped_lines.get(why, 0) for session in sessions.sessions for why in _DAMAGED
    ):
        parts.append(f"{count(unread, 'line')} damaged")
    text = "" if sessions.dry_run else f"{count(sessions.observations, 'observation')} of "
    lines.append([f"{count(len(sessions.sessions), 'session')}: {', '.join(parts)}"])
    lines.append([f"{text}{count(sessions.events, 'event')}"])
    return View("", [Block(lines)], code=FOUND if sessions.sessions else NOTHING)


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
    view=_view_imported,
)
def import_sessions(
    bank: Bank,
    client: Annotated[
        str | None, Param("One program: claude-code or codex", metavar="NAME")
    ] = None,
    *,
    path: Annotated[
        str | Path | None,
        Param("A file or folder with transcripts of the client", path="any", only=str | None),
    ] = None,
    since: Annotated[
        str | None, Param("Only sessions that went on since: 30d, 2026-05-08", metavar="WHEN")
    ] = None,
    dry_run: Annotated[bool, Param("Show what would be done, but write nothing")] = False,
    progress: Progress | None = None,
) -> ImportedSessions:
    """Make sessions of the transcripts of agents' programs.

    Make sessions of the transcripts of a program, or of all, that were begun in this project.

    A session keeps its times; what was imported or captured before is not stored again, and a
    session that has grown is continued. `path` is a file or folder with transcripts of one
    `client`. With `dry_run` nothing is written. Raises BadInput for an unknown client, a path that
    is missing, a `since` that is no time, and where sessions are not captured.
    """
    bank.settings.check_enabled()
    check_captured(bank)
    sessions = ImportedSessions(dry_run=dry_run)
    after = times.parse_moment(since).timestamp() if since else 0.0
    entries = _find_sessions(bank, client, path, after, sessions)
    run = _TranscriptImport(bank, sessions)
    for number, (name, parts) in enumerate(entries):
        if progress:
            progress("sessions", number, len(entries))
        try:
            run.take(name, parts)
        except MemoryBankError as error:
            sessions.skipped.append(SkippedTranscript(name, str(parts[0].file), error.message))
        except _NOT_UNDERSTOOD as error:
            reason = f"it is not understood ({type(error).__name__})"
            sessions.skipped.append(SkippedTranscript(name, str(parts[0].file), reason))
    if progress and entries:
        progress("sessions", len(entries), len(entries))
    return sessions


_NOT_UNDERSTOOD = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
"""What a transcript of an unknown form may raise: that session is skipped, all others go on."""


def _find_sessions(
    bank: Bank,
    client: str | None,
    path: str | Path | None,
    after: float,
    imported: ImportedSessions,
) -> list[tuple[str, list[Transcript]]]:
    """Return the sessions of the project with their transcripts, the oldest first."""
    sessions = dict[tuple[str, str], list[Transcript]]()
    for name in [client] if client else clients.list_clients(clients.TRANSCRIPTS):
        reader = cast("ClientModule", clients.find(name, clients.TRANSCRIPTS))
        for file in _list_files(reader, client, path):
            folder = reader.folder(file)
            if not path and not _is_here(bank, folder):
                imported.elsewhere += 1
                continue
            try:
                read = reader.read_transcript(file)
            except (OSError, *_NOT_UNDERSTOOD) as error:
                reason = getattr(error, "strerror", None) or "it can't be read"
                imported.skipped.append(SkippedTranscript(name, str(file), reason))
                continue
            if read.steps and read.ended_at >= after:
                sessions.setdefault((reader.NAME, read.session_id), []).append(read)
            elif not read.steps:
                imported.skipped.append(
                    SkippedTranscript(name, str(file), "nothing was asked or done")
                )
    ordered = sorted(sessions.items(), key=lambda entries: (entries[1][0].started_at, entries[0]))
    return [(name, parts) for (name, _), parts in ordered]


def _list_files(
    reader: ClientModule, client: str | None, path: str | Path | None
) -> Iterator[Path]:
    if path is None:
        home = {"HOME": os.path.expanduser("~")}  # noqa: PTH111 - pathlib fails without a home
        yield from reader.files({**os.environ, **home})
        return
    place = Path(path)
    if client is None:
        raise BadInput("a path needs a client", "say whose transcripts are there")
    if not place.exists():
        raise BadInput(f"{path} does not exist", "name a transcript, or a folder of them")
    yield from [place] if place.is_file() else sorted(place.rglob("*.jsonl"))


def _is_here(bank: Bank, folder: str) -> bool:
    """Tell whether a folder belongs to the bank: its project, or a work tree of it."""
    if not folder or "\0" in folder:
        return False
    project = os.path.realpath(bank.layout.project)
    real = os.path.realpath(folder)
    if os.path.isdir(real):  # noqa: PTH112
        return _find_bank_id(real) == bank.id
    return real == project or real.startswith(project + os.sep)


@lru_cache(512)
def _find_bank_id(folder: str) -> str:
    """Return the id of the bank that an agent in a folder uses; empty without one."""
    try:
        return bank_id(paths.find(Path(folder)))
    except MemoryBankError:
        return ""


class _TranscriptImport:
    """One import: what was stored before, and what is done with each session."""

    def __init__(self, bank: Bank, sessions: ImportedSessions) -> None:
        self._bank = bank
        self._done = sessions
        self._project = bank_project(bank)
        with open_store(bank) as store:
            keys = store.queue.keys()
        self._keys = {key for _, key in keys if len(key) >= _UNIQUE}
        self._of_session = dict[str, set[str]]()
        for session_id, key in keys:
            self._of_session.setdefault(session_id, set()).add(key)
        settings = bank.settings
        self._hook_bank = HookBank(
            root=str(bank.layout.root),
            state=str(bank.layout.state(bank.id)),
            project=self._project,
            capture=True,
            allowed=settings.secrets.allow,
            ask_at_stop=False,
            prompt_tokens=0,
            max_batch_tokens=settings.compression.max_batch_tokens,
        )

    def take(self, client: str, parts: list[Transcript]) -> None:
        """Import one session, of which a program may keep several transcripts."""
        first = parts[0]
        session_id = one_line(first.session_id)
        if not session_id:
            raise BadInput("its session has no id")
        with open_store(self._bank) as store:
            if store.queue.forgotten(session_id):
                raise BadInput("the session was forgotten")
            session = store.get_session(session_id)
        is_known = session_id in self._of_session
        if session and session.observations and not is_known and session.path:
            raise BadInput(f"its note {session.path} is there, but not what it was made of")
        new = list(self._yield_new(client, session_id, parts, session.prompts if session else ()))
        prompts = sum(event.kind == "prompt" for event in new)
        stored = 0
        if new and not self._done.dry_run:
            stored = self._store_events(session_id, parts, new)
        state = UNCHANGED if not new else CONTINUED if session else NEW
        prompts_of_parts = [s.prompt for part in parts for s in part.steps if s.kind == "prompt"]
        skipped = sum((part.skipped for part in parts), Counter[str]())
        self._done.sessions.append(
            ImportedSession(
                session_id=session_id,
                client=client,
                state=state,
                title=one_line(prompts_of_parts[0])[:_TITLE] if prompts_of_parts else "",
                started_at=seconds_to_iso(min(part.started_at for part in parts)),
                ended_at=seconds_to_iso(max(part.ended_at for part in parts)),
                prompts=prompts,
                events=len(new) - prompts,
                observations=stored,
                files=tuple(str(part.file) for part in parts),
                skipped_lines={reason: n for reason, n in sorted(skipped.items()) if n},
            )
        )

    def _yield_new(
        self, client: str, session_id: str, parts: list[Transcript], reported: Sequence[Prompt]
    ) -> Iterator[HookEvent]:
        """Yield what is not stored yet, in its order; a call belongs to the prompt before it."""
        prompts = dict[str, list[int]]()
        for prompt in reported:
            prompts.setdefault(self._start_of(prompt.prompt_text), []).append(prompt.prompt_number)
        inputs = Counter(key.rpartition(" ")[2] for key in self._of_session.get(session_id, ()))
        forked = False  # whether the last prompt is that of another session, which goes on here
        number = last = max((prompt.prompt_number for prompt in reported), default=0)
        for event in (step for part in parts for step in part.steps):
            step = event._replace(session_id=session_id, agent=client)
            if step.kind == "prompt":
                key, _ = redact_id(step.key, self._hook_bank.allowed)
                forked = False
                if reported_prompt := prompts.get(self._start_of(step.prompt)):
                    number = reported_prompt.pop(0)
                elif key in self._keys:
                    forked = True
                else:
                    self._add_key(key)
                    number = last = last + 1
                    yield step._replace(key=key)
            elif step.call.name == MESSAGE:
                stored = f"{step.key} {number}" in self._of_session.get(session_id, ())
                if not (forked or stored):
                    yield step._replace(prompt_number=number)
            elif is_own(step.call.name) or is_forgetting(step.call.input):
                continue
            elif key := self._find_key(session_id, step, inputs):
                cwd = step.cwd or parts[0].cwd
                yield step._replace(cwd=cwd, prompt_number=number, key=key)

    def _find_key(self, session_id: str, call: HookEvent, inputs: Counter[str]) -> str:
        """Return the key of a call; empty if it is stored.

        It is stored if its key is, also in another session, of which a program made a fork. Where
        the hooks of a program give no key, it is known by its input.
        """
        key, _ = redact_id(call.key, self._hook_bank.allowed)
        if key in self._of_session.get(session_id, ()) or key in self._keys:
            return ""
        mark = digest(call.call.name, call.call.input)
        if inputs[mark] > 0:
            inputs[mark] -= 1
            return ""
        self._add_key(key)
        return key or f"{call.created_at} {mark}"

    def _add_key(self, key: str) -> None:
        if len(key) >= _UNIQUE:
            self._keys.add(key)

    def _start_of(self, prompt: str) -> str:
        """Return the start of a prompt as it is stored, by which it is known again."""
        text, _ = redact(prompt[:_MOST_COMPARED], self._hook_bank.allowed)
        return " ".join(text.split())[:_COMPARED]

    def _store_events(self, session_id: str, parts: list[Transcript], new: list[HookEvent]) -> int:
        """Store events, make observations of them, and end the session; return how many."""
        bank = self._bank
        began = min(part.started_at for part in parts)
        ended = max(part.ended_at for part in parts)
        state = self._read_git(parts[0], began)
        queue = EventQueue(bank.layout.state(bank.id), bank.add_repaired)
        try:
            opening = HookEvent("start", session_id, new[0].agent, "", created_at=began)
            capture(self._hook_bank, queue, opening, state)
            for event in new:
                capture(self._hook_bank, queue, event)
            total = sum(part.input_tokens for part in parts)
            spent = sum(part.output_tokens for part in parts)
            queue.update(session_id, input_tokens=total, output_tokens=spent)
        finally:
            queue.close()
        result = compress(bank, session_id, wait=_WAIT)
        self._done.fallback_reasons += (
            fallback_reason
            for fallback_reason in result.fallback_reasons
            if fallback_reason not in self._done.fallback_reasons
        )
        if datetime.now(UTC).timestamp() - ended > _OPEN_SECONDS:
            end_session(bank, session_id, ended_at=datetime.fromtimestamp(ended, UTC))
        return len(result.observations)

    def _read_git(self, transcript: Transcript, began: float) -> GitState | None:
        """Return the state of git when a session began, as far as the repository still knows."""
        now = git_state(self._bank.layout.project)
        tree = repository.find_worktree(self._bank.layout.project)
        if now is None or tree is None:
            return None
        commit = transcript.commit or repository.find_commit_before(tree, began, transcript.branch)
        commit = commit or repository.find_commit_before(tree, began)
        return GitState(now.repository_id, transcript.branch, commit)
