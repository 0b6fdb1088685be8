"""The queue of what agents' sessions did, until it is compressed: a database of the state."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, cast

from memory_bank.base import sqlite
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.durable import DurableFile
from memory_bank.base.errors import BadInput
from memory_bank.base.removed_text import RemovedText
from memory_bank.base.text import estimate
from memory_bank.sessions import queue_rows
from memory_bank.sessions.queue_rows import (
    COLUMNS,
    EVENT,
    TABLES,
    VERSION,
    Outline,
)
from memory_bank.sessions.records import Event, GitState, Prompt, Session, format_git

if TYPE_CHECKING:  # a hook does not load it
    from memory_bank.base.repairs import Repaired

FILE = "sessions.db"

_WAIT = 5.0
"""Seconds to wait for another process: an agent waits for its hook."""

_LOG_PAGES = 200
"""Size from which SQLite copies its log into the database, in pages of 4 KiB."""


SESSION_ENDED = "SessionEnded"

OBSERVATION_STORED = "ObservationStored"

_ROUNDED = 1.0
"""Seconds by which times that were written and read may differ."""

_CHANGES = frozenset(
    [*queue_rows.COUNTS, "project", "agent", "ended_at", "git", "note", "asked", "summary"]
)


class EventQueue(DurableFile):
    """Sessions, prompts and events of one bank; many processes may use it, each in one thread.

    What a method has stored survives a kill and a power failure. All methods raise StorageFailed if
    the disk refuses, and Busy if another process holds the database for 5 s. A damaged database is
    renamed, and `repaired` is told its new name.
    """

    content = "the queue of sessions"
    probe = f"{EVENT} LIMIT 1"

    def __init__(self, folder: Path, repaired: Repaired = lambda _: None) -> None:
        """Keep the database in a folder, the bank's private state; nothing is opened yet."""
        super().__init__(folder / FILE, TABLES, VERSION, repaired, self._upgrade)

    def take_over(self, path: Path) -> None:
        """Add what the queue in another folder has, and delete that one; what is here stays.

        Raises StorageFailed.
        """
        former = EventQueue(path)
        if not former.file.exists():
            return
        former._rows(f"{EVENT} LIMIT 0")  # brings it to this version
        former.close()

        def work(base: Connection) -> None:
            base.execute("ATTACH ? AS former", (str(former.file),))
            try:
                with sqlite.transaction(base):
                    for table, columns in COLUMNS.items():
                        base.execute(
                            f"INSERT OR IGNORE INTO main.{table} ({columns})"
                            f" SELECT {columns} FROM former.{table}"
                        )
            finally:
                base.execute("DETACH former")

        self._run(work)
        sqlite.discard(former.file)

    def _connect(self) -> Connection:
        base = super()._connect()
        with sqlite.convert_errors(self.file):
            # the commit is on the disk when it returns, unlike in the other databases
            base.execute("PRAGMA synchronous = FULL")
            base.execute(f"PRAGMA busy_timeout = {_WAIT * 1000:.0f}")
            # hooks end without closing it, and the next one reads the whole log first
            base.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        return base

    def _upgrade(self, base: Connection) -> None:
        """Bring the queue to this version step by step, unless another process has just done so."""
        with sqlite.transaction(base):
            (answer,) = base.execute("PRAGMA user_version").fetchone()
            for version in range(answer, self._version):
                base.execute(queue_rows.UPGRADES[version])
            base.execute(f"PRAGMA user_version = {self._version}")

    def capture(
        self,
        session: Session,
        *,
        prompt: Prompt | None = None,
        prompt_key: str = "",
        event: Event | None = None,
        counts: Mapping[str, int] | None = None,
        received: str = "",
        secrets: Collection[str] = (),
    ) -> int:
        """Store a prompt or an event of a session, which is started or resumed, in one transaction.

        A prompt whose `prompt_key` the session has is not stored again.
        `counts` are added to the session's tokens, redactions, `edits` (changes of files) and
        `worded` (what the agent saved in its own words), unless nothing new was stored. `received`
        is the name of the hook's event. `secrets` are redacted in all that the queue has of the
        session, where nothing told them yet. Of a forgotten session nothing is stored.

        Returns the estimated tokens of the session's events that wait in no batch.
        """

        def work(base: Connection) -> int:
            if self.forgotten(session.session_id):
                return 0
            new = queue_rows.create(base, session)
            stored = True
            if prompt is not None:
                _, stored = queue_rows.put_prompt(base, prompt, prompt_key)
            if event is not None:
                _, stored = queue_rows.put_event(base, event)
            queue_rows.redact(base, session.session_id, secrets)
            if stored and counts:
                queue_rows.count(base, session.session_id, counts)
            if stored and not new:
                queue_rows.resume(base, session)
            if received:
                sql = "INSERT OR REPLACE INTO received VALUES (?, ?, ?)"
                base.execute(sql, (session.agent, received, time.time()))
            return queue_rows.count_waiting(base, session.session_id)

        return self._write(work)

    def create_session(self, session: Session, *, announced: bool = True) -> bool:
        """Store a new session without its observations; False if its id exists or was forgotten.

        A new one is announced, see `news`; one that was lost here and is stored again is not.
        """
        return self._write(
            lambda base: (
                not self.forgotten(session.session_id)
                and queue_rows.create(base, session, announced=announced)
            )
        )

    def update(self, session_id: str, **changes: object) -> None:
        """Set fields of a session; raise BadInput if there is none of that id.

        They are `project`, `agent`, `ended_at` (a datetime, seconds, or None to go on),
        `input_tokens`, `output_tokens`, `redactions`, `git` (a GitState or None), `note` (a path),
        `asked` (whether it was asked what it learned) and `summary` (JSON or an empty text). An end
        before the session's last start ends nothing: it started again meanwhile.
        """
        if unknown := changes.keys() - _CHANGES:
            raise BadInput(f"a session in the queue has no {', '.join(sorted(unknown))}")
        columns: dict[str, Any] = dict(changes)
        if "git" in changes:
            columns["git"] = format_git(cast("GitState | None", changes["git"]))
        if isinstance(ended := changes.get("ended_at"), datetime):
            columns["ended_at"] = ended.timestamp()

        def work(base: Connection) -> int:
            ended_at = columns.get("ended_at")
            if (
                ended_at is not None
                and queue_rows.last_start(base, session_id) > ended_at + _ROUNDED
            ):
                columns["ended_at"] = None
            return queue_rows.change(base, session_id, columns)

        if not self._write(work):
            raise BadInput(f"there is no session {session_id[:60]!r}", "start it first")

    def add_counts(self, session_id: str, **counts: int) -> None:
        """Add to `input_tokens`, `output_tokens` and `redactions` of a session that exists."""
        self._write(lambda base: queue_rows.count(base, session_id, counts))

    def session(self, session_id: str) -> Session | None:
        """Return a session with its prompts, without observations and summary; None if unknown."""
        sessions = self._sessions("WHERE session_id = ?", (session_id,))
        return sessions[0] if sessions else None

    def note(self, session_id: str) -> str:
        """Return the path of a session's note; empty if it has none."""
        return str(self._field(session_id, "note", ""))

    def sessions(self) -> list[Session]:
        """Return all sessions with their prompts, the first started first."""
        return self._sessions("", ())

    def outlines(self, *, ongoing: bool = False) -> list[Outline]:
        """Return what is known of sessions without their texts, the first started first.

        With `ongoing`, of those that have not ended.
        """
        return self._outlines("WHERE ended_at IS NULL" if ongoing else "")

    def running(self, session_id: str) -> Outline | None:
        """Return what is known of a session that has not ended; None if it has."""
        where = "WHERE ended_at IS NULL AND session_id = ?"
        return next(iter(self._outlines(where, session_id)), None)

    def _outlines(self, where: str, *values: str) -> list[Outline]:
        sql = f"{queue_rows.OUTLINES} {where} ORDER BY started_at, session_id"
        rows = self._rows(sql, values)
        return [Outline(queue_rows.parse_session(row[:10]), *row[10:]) for row in rows]

    def without_summary(self, before: float) -> list[str]:
        """Return the ids of the sessions with prompts that ended before a time without a summary.

        The process that makes it was killed.
        """
        sql = (
            "SELECT session_id FROM sessions WHERE ended_at < ? AND summary = '' AND EXISTS"
            " (SELECT 1 FROM prompts WHERE session_id = sessions.session_id) ORDER BY started_at"
        )
        return [str(row[0]) for row in self._rows(sql, (before,))]

    def asked(self, session_id: str) -> bool:
        """Tell whether a session was asked what it learned."""
        return bool(self._field(session_id, "asked", 0))

    def ask(self, session_id: str) -> bool:
        """Tell whether to ask a session what it learned, and remember that it was asked.

        That is once, if it changed files and has saved nothing in its own words.
        """
        sql = (
            "UPDATE sessions SET asked = 1 WHERE session_id = ? AND asked = 0 AND edits > 0"
            " AND worded = 0 AND summary = ''"
        )
        return self._write(lambda base: base.execute(sql, (session_id,)).rowcount) > 0

    def claim(self, session_id: str, event: str, seconds: float) -> bool:
        """Tell whether no other hook answers an event of a session; from now on this one does.

        After some `seconds` it is another event.
        """
        now = time.time()
        if self.forgotten(session_id):
            return True

        def work(base: Connection) -> bool:
            sql = "SELECT told_at FROM told WHERE session_id = ? AND event = ?"
            row = base.execute(sql, (session_id, event)).fetchone()
            if row and 0 <= now - row[0] < seconds:
                return False
            base.execute("INSERT OR REPLACE INTO told VALUES (?, ?, ?)", (session_id, event, now))
            return True

        return self._write(work)

    def shown(self, session_id: str) -> list[str]:
        """Return the names that `show` was given for a session."""
        document: list[str] = json.loads(str(self._field(session_id, "shown", "[]")))
        return document

    def show(self, session_id: str, names: Sequence[str]) -> None:
        """Remember names of what a session was shown."""

        def work(base: Connection) -> None:
            sql = "SELECT shown FROM sessions WHERE session_id = ?"
            row = base.execute(sql, (session_id,)).fetchone()
            document = [*json.loads(row[0] if row else "[]"), *names]
            sql = "UPDATE sessions SET shown = ? WHERE session_id = ?"
            base.execute(sql, (json.dumps(list(dict.fromkeys(document))), session_id))

        self._write(work)

    def received(self) -> list[dict[str, str]]:
        """Return the last event of each client, by name."""
        rows = self._rows("SELECT client, event, created_at FROM received ORDER BY client")
        return [
            {"client": client, "event": event, "created_at": seconds_to_iso(when)}
            for client, event, when in rows
        ]

    def summary(self, session_id: str) -> str:
        """Return the JSON that `update` stored as summary; empty if there is none."""
        return str(self._field(session_id, "summary", ""))

    def remove_session(self, session_id: str) -> bool:
        """Remove all that belongs to a session; tell whether there was anything.

        The texts are overwritten in the file, too.
        """

        def work(base: Connection) -> int:
            tables = ("events", "prompts", "event_keys", "prompt_keys", "told", "news", "sessions")
            return sum(
                base.execute(f"DELETE FROM {name} WHERE session_id = ?", (session_id,)).rowcount
                for name in tables
            )

        removed = self._write(work)
        if removed:
            self.scrub()
        return bool(removed)

    def store_prompt(self, prompt: Prompt) -> int:
        """Store a prompt and return its number: the next one if it has number 0."""
        return self._write(lambda base: queue_rows.put_prompt(base, prompt)[0])

    def prompts(self, session_id: str) -> list[Prompt]:
        """Return the prompts of a session, by number."""
        rows = self._rows(
            "SELECT session_id, prompt_number, prompt_text, created_at FROM prompts"
            " WHERE session_id = ? ORDER BY prompt_number",
            (session_id,),
        )
        return [Prompt(row[0], row[1], row[2], queue_rows.parse_time(row[3])) for row in rows]

    def queue(self, event: Event, key: str = "") -> int:
        """Keep an event until it is compressed; return its id, or that of the first with the key.

        A key is remembered after its event was removed.
        """
        return self._write(lambda base: queue_rows.put_event(base, event._replace(key=key))[0])

    def pending(self, session_id: str = "", limit: int | None = None) -> list[Event]:
        """Return the events of a session, or of all, oldest first; also those in a batch."""
        where, values = ("WHERE session_id = ?", (session_id,)) if session_id else ("", ())
        limited = -1 if limit is None else limit
        rows = self._rows(f"{queue_rows.EVENT} {where} ORDER BY id LIMIT ?", (*values, limited))
        return [queue_rows.parse_event(row) for row in rows]

    def waiting(self) -> dict[str, int]:
        """Return the estimated tokens of the events that wait, of each session that has any."""
        rows = self._rows("SELECT session_id, sum(tokens) FROM events GROUP BY session_id")
        return {session_id: int(tokens) for session_id, tokens in rows}

    def mark_batch(self, session_id: str, max_tokens: int) -> tuple[str, list[Event]]:
        """Make a batch of a session's oldest events; return its name and events.

        It has all events of the oldest prompt that has any, so that a turn is told as one, and
        those of later prompts while they fit `max_tokens`. Without events that are in no batch,
        the name is empty.
        """

        def work(base: Connection) -> tuple[str, list[Event]]:
            sql = f"{queue_rows.EVENT} WHERE session_id = ? AND batch = '' ORDER BY id"
            batch, tokens = os.urandom(8).hex(), 0
            entries: list[queue_rows.Row] = []
            for row in base.execute(sql, (session_id,)):
                tokens += row[9]
                if entries and tokens > max_tokens and row[5] != entries[-1][5]:
                    break
                entries.append(row)
            if not entries:
                return "", []
            ids = [(batch, row[0]) for row in entries]
            base.executemany("UPDATE events SET batch = ? WHERE id = ?", ids)
            return batch, [queue_rows.parse_event(row) for row in entries]

        return self._write(work)

    def unfinished(self, session_id: str = "") -> list[tuple[str, list[Event]]]:
        """Return the batches whose events are still here, the oldest first."""
        events: dict[str, list[Event]] = {}
        rows = self._rows(f"{queue_rows.EVENT} WHERE batch <> '' ORDER BY id")
        for row in rows:
            if session_id in ("", row[1]):
                events.setdefault(row[10], []).append(queue_rows.parse_event(row))
        return list(events.items())

    def keys(self) -> list[tuple[str, str]]:
        """Return the session and the key of all events and prompts that ever had one."""
        text = (
            "SELECT session_id, key FROM event_keys UNION SELECT session_id, key FROM prompt_keys"
        )
        rows = self._rows(text)
        return [(str(row[0]), str(row[1])) for row in rows]

    def remove(self, ids: Collection[int]) -> None:
        """Remove events whose observations are stored; their keys stay."""
        rows = [(session_id,) for session_id in ids]
        self._write(lambda base: base.executemany("DELETE FROM events WHERE id = ?", rows))

    def replace_text(self, removed: RemovedText) -> int:
        """Replace a text in all that is stored; return how many values had it."""
        count = super().replace_text(removed)

        def work(base: Connection) -> None:
            base.create_function("tokens_of", 1, estimate, deterministic=True)
            sql = "UPDATE events SET tokens = tokens_of(tool_input) + tokens_of(tool_output)"
            base.execute(sql)

        if count:
            self._write(work)
        return count

    def remove_news(self, observation_id: str) -> None:
        """Remove the news of an observation."""
        sql = "DELETE FROM news WHERE instr(payload, ?) > 0"
        self._write(lambda base: base.execute(sql, (json.dumps(observation_id),)))

    def forgotten(self, session_id: str) -> bool:
        """Tell whether a session was forgotten, so that nothing of it is stored again."""
        return session_id in queue_rows.list_forgotten(self.file.parent)

    def announce(self, kind: str, session_id: str, **payload: object) -> int:
        """Add to the news: `ObservationStored` or `SessionEnded`; return the number of the news.

        `SessionStarted` is announced by whatever creates a session here.
        """
        return self._write(lambda base: queue_rows.announce(base, kind, session_id, payload))

    def news(self, after: int = 0, limit: int = 1000) -> list[queue_rows.Row]:
        """Return the news with a number above `after`, oldest first; the oldest are dropped.

        Of each the number, the kind, the id of the session, the payload as JSON, and the time.
        """
        return self._rows(
            "SELECT id, kind, session_id, payload, created_at FROM news WHERE id > ?"
            " ORDER BY id LIMIT ?",
            (after, limit),
        )

    def last_news(self) -> int:
        """Return the number of the last news; 0 if there are none."""
        ((last,),) = self._rows("SELECT max(id) FROM news") or [(0,)]
        return int(last or 0)

    def _sessions(self, where: str, values: tuple[str, ...]) -> list[Session]:
        sql = f"SELECT {queue_rows.SESSIONS} FROM sessions {where} ORDER BY started_at, session_id"
        sessions = []
        for session in map(queue_rows.parse_session, self._rows(sql, values)):
            prompts = tuple(self.prompts(session.session_id))
            last = prompts[-1].prompt_number if prompts else 0
            sessions.append(session._replace(prompts=prompts, last_prompt_number=last))
        return sessions

    def _field(self, session_id: str, name: str, default: object) -> object:
        sql = f"SELECT {name} FROM sessions WHERE session_id = ?"
        rows = self._rows(sql, (session_id,))
        return rows[0][0] if rows else default
