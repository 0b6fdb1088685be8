"""The tables of the queue of sessions."""

VERSION = 1
TABLES = """\
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
