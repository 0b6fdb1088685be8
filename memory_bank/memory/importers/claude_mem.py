"""Import the database of claude-mem (`~/.claude-mem/claude-mem.db`), which is only read.

Its tables are those of `src/services/sqlite/SessionStore.ts` in thedotmack/claude-mem; a column
that an older or newer version lacks counts as empty.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_bank.base.dates import to_datetime
from memory_bank.base.errors import BadInput
from memory_bank.base.filenames import why_outside
from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.memory.importers.base import ImportedNote
from memory_bank.memory.records import Draft, NotImported
from memory_bank.notes.identity import make_slug
from memory_bank.notes.note import Meta

SUMMARY = "the database of claude-mem (claude-mem.db)"

_HEAD = b"SQLite format 3\0"

_SUMMARY_TEXTS = {
    "request": "Request", "investigated": "Investigated", "learned": "Learned",
    "completed": "Completed", "next_steps": "Next steps", "notes": "Notes",
}  # fmt: skip

_MOST_FILES = 50
"""Files of an observation that are kept as references."""


def detect(path: Path) -> bool:
    """Return whether a path is a database with observations of claude-mem."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if file.read(len(_HEAD)) != _HEAD:
            return False
    try:
        with closing(_open_database(path)) as base:
            return {"project", "created_at_epoch"} <= set(_list_columns(base, "observations"))
    except sqlite3.Error:
        return False


def read(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each observation and each summary of a session, the oldest first."""
    try:
        with closing(_open_database(path)) as base:
            for table, make_draft in (
                ("observations", _read_observation),
                ("session_summaries", _read_summary),
            ):
                for row in _yield_rows(base, table):
                    place = f"{table} {row.get('id')}"
                    draft = make_draft(row)
                    if draft is None:
                        yield NotImported(place, "it has no text")
                    else:
                        yield ImportedNote(place, draft)
    except sqlite3.Error as error:
        raise BadInput(f"{path} can't be read: {error}", "copy it, and import the copy") from error


def _open_database(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _list_columns(base: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in base.execute(f"PRAGMA table_info({table})")]


def _yield_rows(base: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    columns = _list_columns(base, table)
    if not columns:
        return
    base.text_factory = lambda data: data.decode("utf-8", "replace")
    for row in base.execute(f"SELECT * FROM {table} ORDER BY created_at_epoch, id"):
        yield dict(zip(columns, row, strict=True))


def _read_text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return value.strip().replace("\0", "") if isinstance(value, str) else ""


def _read_list(row: Mapping[str, Any], column: str) -> list[str]:
    """Return the texts of a column with a list as JSON."""
    try:
        document = json.loads(_read_text(row, column) or "[]")
    except (ValueError, RecursionError):
        return []
    texts = document if isinstance(document, list) else []
    return [text.strip() for text in texts if isinstance(text, str) and text.strip()]


def _read_observation(row: Mapping[str, Any]) -> Draft | None:
    title = " ".join((_read_text(row, "title") or _read_text(row, "subtitle")).split())
    texts = [_read_text(row, "subtitle"), _read_text(row, "narrative") or _read_text(row, "text")]
    facts = "\n".join(f"- {' '.join(fact.split())}" for fact in _read_list(row, "facts"))
    body = "\n\n".join(text for text in (*texts, facts) if text and text != title)
    if not (body or title):
        return None
    kind = _read_text(row, "type")
    return _make_draft(row, title, body, kind if kind in OBSERVATION_TYPES else "observation")


def _read_summary(row: Mapping[str, Any]) -> Draft | None:
    parts = [f"## {name}\n\n{text}" for column, name in _SUMMARY_TEXTS.items()
             if (text := _read_text(row, column))]  # fmt: skip
    title = " ".join(_read_text(row, "request").split())[:80]
    return _make_draft(row, title, "\n\n".join(parts), "reflection") if parts else None


def _make_draft(row: Mapping[str, Any], title: str, body: str, kind: str) -> Draft:
    files = [
        *_read_list(row, "files_modified"),
        *_read_list(row, "files_edited"),
        *_read_list(row, "files_read"),
    ]
    project = _read_text(row, "project")
    folder = "observations" if kind != "reflection" else "summaries"
    name = f"{make_slug(project or 'project')}/{folder}/{row.get('id')}-{make_slug(title or kind)}"
    when = row.get("created_at_epoch")
    extra = {"project": project, "memory_session_id": _read_text(row, "memory_session_id")}
    return Draft(
        f"# {title}\n\n{body}\n" if title else f"{body}\n",
        Meta(
            type=kind,
            title=title,
            tags=tuple(_read_list(row, "concepts")),
            created_at=datetime.fromtimestamp(when / 1000, UTC)
            if isinstance(when, int) and 0 < when < 1 << 42
            else to_datetime(_read_text(row, "created_at")),
            file_refs=tuple(file for file in dict.fromkeys(files) if not why_outside(file))[
                :_MOST_FILES
            ],
            extra={key: value for key, value in extra.items() if value},
        ),
        name,
    )
