"""The tables and rows of the queue of sessions, and the list of those that were forgotten."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from memory_bank.base import NamedTuple
from memory_bank.base.errors import StorageFailed
from memory_bank.base.text import estimate
from memory_bank.sessions.records import Event, Prompt, Session, format_git, parse_git

COUNTS = ("input_tokens", "output_tokens", "redactions")
"""What a session's record counts."""

_ALL_COUNTS = (*COUNTS, "edits", "worded")

EVENT = (
    "SELECT id, session_id, tool_name, tool_input, tool_output, prompt_number, created_at, failed,"
    " cwd, tokens, batch FROM events"
)
"""Selects what `parse_event` takes."""

SESSIONS = (
    "session_id, project, started_at, agent, ended_at, input_tokens, output_tokens, redactions,"
    " git, note"
)
"""What `parse_session` takes."""

OUTLINES = (
    f"SELECT {SESSIONS}, summary <> '',"
    " (SELECT prompt_text FROM prompts AS p WHERE p.session_id = s.session_id"
    " ORDER BY prompt_number LIMIT 1),"
    " (SELECT count(*) FROM prompts AS p WHERE p.session_id = s.session_id),"
    " (SELECT count(*) FROM events AS e WHERE e.session_id = s.session_id),"
    " max(started_at, coalesce(ended_at, 0),"
    " coalesce((SELECT max(created_at) FROM prompts AS p WHERE p.session_id = s.session_id), 0),"
    " coalesce((SELECT max(created_at) FROM events AS e WHERE e.session_id = s.session_id), 0),"
    " coalesce((SELECT told_at FROM told AS t WHERE t.session_id = s.session_id"
    " AND event = 'resumed'), 0))"
    " FROM sessions AS s"
)
"""Selects `SESSIONS`, then the other fields of `Outline`."""

MESSAGE = "last_assistant_message"
"""The tool of an event that is the last text of an agent's turn."""

SESSION_STARTED = "SessionStarted"

MOST_NEWS = 10_000
"""Number of news that are kept."""

Row = tuple[Any, ...]


class Outline(NamedTuple):
    """A session without its texts, and what else is known of it."""

    session: Session
    summary: bool
    """Whether it has one."""
    first_prompt: str | None
    prompts: int
    pending: int
    """Events that wait."""
    last_moment: float
    """That of its last start, its end, its last prompt, or its last event that waits; compressed
    events are in its note."""


def create(base: Connection, session: Session, *, announced: bool = True) -> bool:
    """Store a new session and announce it, unless it is only stored again; False if it exists."""
    values = (
        session.session_id,
        session.project,
        session.started_at.timestamp(),
        session.agent,
        session.ended_at and session.ended_at.timestamp(),
        session.input_tokens,
        session.output_tokens,
        session.redactions,
        format_git(session.git),
        session.path,
    )
    marks = ", ".join("?" * len(values))
    sql = f"INSERT OR IGNORE INTO sessions ({SESSIONS}) VALUES ({marks})"
    rowcount = base.execute(sql, values).rowcount
    if rowcount and announced:
        payload = {"session_id": session.session_id, "project": session.project}
        announce(base, SESSION_STARTED, session.session_id, payload)
    return bool(rowcount)


def resume(base: Connection, session: Session) -> None:
    """Go on with a session that may have ended, and add its git state if that wasn't known."""
    moment = session.started_at.timestamp()
    sql = "UPDATE sessions SET ended_at = NULL WHERE session_id = ? AND ended_at < ?"
    base.execute(sql, (session.session_id, moment))
    sql = "INSERT OR REPLACE INTO told VALUES (?, 'resumed', ?)"
    base.execute(sql, (session.session_id, moment))
    if session.git:
        sql = "UPDATE sessions SET git = ? WHERE session_id = ? AND git = ''"
        base.execute(sql, (format_git(session.git), session.session_id))


def last_start(base: Connection, session_id: str) -> float:
    """Return when a session last started again, in seconds since 1970; 0 if it did not."""
    sql = "SELECT told_at FROM told WHERE session_id = ? AND event = 'resumed'"
    row = base.execute(sql, (session_id,)).fetchone()
    return float(row[0]) if row else 0.0


def count_waiting(base: Connection, session_id: str) -> int:
    """Return the estimated tokens of a session's events that are in no batch."""
    sql = "SELECT coalesce(sum(tokens), 0) FROM events WHERE session_id = ? AND batch = ''"
    return int(base.execute(sql, (session_id,)).fetchone()[0])


def last_number(base: Connection, session_id: str) -> int:
    """Return the number of a session's last prompt; 0 before the first."""
    sql = "SELECT max(prompt_number) FROM prompts WHERE session_id = ?"
    return int(base.execute(sql, (session_id,)).fetchone()[0] or 0)


def put_prompt(base: Connection, prompt: Prompt, key: str = "") -> tuple[int, bool]:
    """Store a prompt, which gets the next number if it has none.

    Returns its number and whether it was new: a second prompt of the session with the same key is
    not stored, unless the key is empty.
    """
    session_id = prompt.session_id
    if key:
        sql = "SELECT prompt_number FROM prompt_keys WHERE session_id = ? AND key = ?"
        if row := base.execute(sql, (session_id, key)).fetchone():
            return int(row[0]), False
    number = prompt.prompt_number or last_number(base, session_id) + 1
    values = session_id, number, prompt.prompt_text, prompt.created_at.timestamp()
    stored = base.execute("INSERT OR IGNORE INTO prompts VALUES (?, ?, ?, ?)", values).rowcount
    if key and stored:
        base.execute("INSERT INTO prompt_keys VALUES (?, ?, ?)", (session_id, key, number))
    return number, bool(stored)


def redact(base: Connection, session_id: str, secrets: Collection[str]) -> None:
    """Replace secrets in the texts of a session, also as they are written in JSON."""
    for secret in sorted(secrets, key=len, reverse=True):
        forms = {
            secret,
            *(
                json.dumps(secret, ensure_ascii=ensure_ascii)[1:-1]
                for ensure_ascii in (True, False)
            ),
        }
        for form in forms:
            for table, column in _TEXTS:
                base.execute(
                    f"UPDATE {table} SET {column} = replace({column}, ?, '[redacted]')"
                    f" WHERE session_id = ? AND instr({column}, ?)",
                    (form, session_id, form),
                )


_TEXTS = (
    ("prompts", "prompt_text"),
    ("events", "tool_input"),
    ("events", "tool_output"),
    ("events", "cwd"),
)


def put_event(base: Connection, event: Event) -> tuple[int, bool]:
    """Store an event; return its id and whether it was new.

    An agent may say the same at the end of several turns, so the key of a message has its prompt.
    """
    session_id = event.session_id
    number = event.prompt_number or last_number(base, session_id)
    key = f"{event.key} {number}" if event.tool_name == MESSAGE else event.key
    if key:
        sql = "SELECT event_id FROM event_keys WHERE session_id = ? AND key = ?"
        if row := base.execute(sql, (session_id, key)).fetchone():
            return int(row[0]), False
    rows = base.execute(
        "INSERT INTO events (session_id, tool_name, tool_input, tool_output, prompt_number,"
        " created_at, failed, cwd, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            event.tool_name,
            event.tool_input,
            event.tool_output,
            number,
            event.created_at.timestamp(),
            event.failed,
            event.cwd,
            estimate(event.tool_input) + estimate(event.tool_output),
        ),
    )
    event_id = int(rows.lastrowid or 0)
    if key:
        base.execute("INSERT INTO event_keys VALUES (?, ?, ?)", (session_id, key, event_id))
    return event_id, True


def count(base: Connection, session_id: str, counts: Mapping[str, int]) -> None:
    """Add to counts of a session."""
    for name in _ALL_COUNTS:
        if added := counts.get(name, 0):
            sql = f"UPDATE sessions SET {name} = {name} + ? WHERE session_id = ?"
            base.execute(sql, (added, session_id))


def change(base: Connection, session_id: str, values: Mapping[str, object]) -> int:
    """Set fields of a session; return how many sessions there were."""
    names = ", ".join(f"{name} = ?" for name in values)
    sql = f"UPDATE sessions SET {names} WHERE session_id = ?"
    return base.execute(sql, (*values.values(), session_id)).rowcount if values else 1


def announce(base: Connection, kind: str, session_id: str, payload: Mapping[str, object]) -> int:
    """Add to the news and drop the oldest; return the number."""
    sql = "INSERT INTO news (kind, session_id, payload, created_at) VALUES (?, ?, ?, ?)"
    text = json.dumps(payload, ensure_ascii=False)
    number = base.execute(sql, (kind, session_id, text, time.time())).lastrowid or 0
    base.execute("DELETE FROM news WHERE id <= ?", (number - MOST_NEWS,))
    return number


def parse_session(row: Row) -> Session:
    """Return the session of a row, without its prompts."""
    ended = None if row[4] is None else parse_time(row[4])
    counts = dict(zip(COUNTS, row[5:8], strict=True))
    return Session(
        row[0],
        row[1],
        parse_time(row[2]),
        row[3],
        ended,
        git=parse_git(row[8]),
        path=row[9],
        **counts,
    )


def parse_event(row: Row) -> Event:
    """Return the event of a row."""
    return Event._make((*row[:6], parse_time(row[6]), bool(row[7]), row[8], ""))


def parse_time(seconds: float) -> datetime:
    """Return a time of seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


VERSION = 2

_TOLD = """\
CREATE TABLE told (
    session_id TEXT NOT NULL,
    event TEXT NOT NULL,
    told_at REAL NOT NULL,
    PRIMARY KEY (session_id, event)
) WITHOUT ROWID"""

UPGRADES: dict[int, str] = {1: _TOLD}
"""The statement that brings a queue of a version to the next one."""

TABLES = f"""\
{_TOLD};
CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    agent TEXT NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    redactions INTEGER NOT NULL DEFAULT 0,
    git TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    asked INTEGER NOT NULL DEFAULT 0,
    edits INTEGER NOT NULL DEFAULT 0,
    worded INTEGER NOT NULL DEFAULT 0,
    shown TEXT NOT NULL DEFAULT '[]',
    summary TEXT NOT NULL DEFAULT ''
);
CREATE TABLE prompts (
    session_id TEXT NOT NULL,
    prompt_number INTEGER NOT NULL,
    prompt_text TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (session_id, prompt_number)
);
CREATE TABLE prompt_keys (
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    prompt_number INTEGER NOT NULL,
    PRIMARY KEY (session_id, key)
) WITHOUT ROWID;
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    tool_input TEXT NOT NULL,
    tool_output TEXT NOT NULL,
    prompt_number INTEGER NOT NULL,
    created_at REAL NOT NULL,
    failed INTEGER NOT NULL,
    cwd TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    batch TEXT NOT NULL DEFAULT ''
);
CREATE INDEX events_of_session ON events (session_id, id);
CREATE TABLE event_keys (
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    event_id INTEGER NOT NULL,
    PRIMARY KEY (session_id, key)
) WITHOUT ROWID;
CREATE TABLE received (
    client TEXT PRIMARY KEY,
    event TEXT NOT NULL,
    created_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE news (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    session_id TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at REAL NOT NULL
)"""

COLUMNS = {
    "sessions": "session_id, project, agent, started_at, ended_at, input_tokens, output_tokens,"
    " redactions, git, note, asked, edits, worded, shown, summary",
    "prompts": "session_id, prompt_number, prompt_text, created_at",
    "prompt_keys": "session_id, key, prompt_number",
    "event_keys": "session_id, key, event_id",
    "events": "session_id, tool_name, tool_input, tool_output, prompt_number, created_at, failed,"
    " cwd, tokens, batch",
}
"""The columns of the tables that another queue takes over; events get new ids there."""


_FORGOTTEN = "forgotten-sessions"
"""A file of ids, one on a line, so that it outlives a damaged queue; read at each event."""


def list_forgotten(folder: Path) -> frozenset[str]:
    """Return the ids of the forgotten sessions of a bank, by its private state."""
    try:
        with open(folder / _FORGOTTEN, encoding="utf-8") as file:  # noqa: PTH123  (start-up)
            return frozenset(file.read().split("\n")) - {""}
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        raise StorageFailed(
            f"{folder / _FORGOTTEN} can't be read", "check the file: it has an id on each line"
        ) from error


def add_forgotten(folder: Path, session_id: str) -> None:
    """Add a session, durably; raise StorageFailed."""
    if session_id in list_forgotten(folder):
        return
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(folder / _FORGOTTEN, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(handle, "ab") as file:  # noqa: PTH123
            file.write(f"{session_id}\n".encode())
            file.flush()
            os.fsync(handle)
    except OSError as error:
        raise StorageFailed(f"{folder / _FORGOTTEN} can't be written: {error.strerror}") from error
