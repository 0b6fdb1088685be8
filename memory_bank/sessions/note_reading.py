"""Read a session's note, which a person may have edited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache

from memory_bank.notes.dates import to_datetime
from memory_bank.notes.note import Note
from memory_bank.sessions import note_parts
from memory_bank.sessions.model import GitState, Observation, Prompt, Session, Summary
from memory_bank.sessions.note_parts import (
    OBSERVATION_KEYS,
    SUMMARY_KEYS,
    SUMMARY_TEXTS,
    Part,
    parsed,
)
from memory_bank.sessions.note_text import one_line, paragraphs, unescaped
from memory_bank.setting_sections import OBSERVATION_TYPES

TYPE = "session"
"""The type of a session's note."""
_LINKED = re.compile(r"\s*\[\[([^\[\]\n]+)\]\]|((?:\\.|[^,\\])+)")
_PROMPT = re.compile(r"prompt (\d{1,9})\Z")
_FIRST_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\S+Z)(?:\s+|\Z)")


@lru_cache(maxsize=4)
def parse(path: str, data: bytes) -> Session | None:
    """Read a session's note; None for another note. Raises UnreadableNote for a binary file.

    The last ones are kept, since most notes are read several times in a row.
    """
    return session_of(parsed(path, data))


def session_of(note: Note) -> Session | None:
    """Return the session of a note; None if it is no session's."""
    session = head_of(note)
    if session is None:
        return None
    found = note_parts.parts(note)
    prompts = prompts_of(note, session)
    return replace(
        session,
        last_prompt_number=max((prompt.prompt_number for prompt in prompts), default=0),
        prompts=prompts,
        observations=tuple(_observation(part, session) for part in found.observations),
        summary=found.summary and _summary(found.summary, session),
    )


def head_of(note: Note) -> Session | None:
    """Return what the front matter of a session's note says; None if it is no session's.

    A note without the key `project` may be one that an agent wrote in the session.
    """
    extra = note.meta.extra
    session_id = one_line(str(extra.get("session_id") or ""))
    if note.meta.type != TYPE or not session_id or extra.get("project") is None:
        return None
    started = note.meta.created_at or datetime.fromtimestamp(0, UTC)
    return Session(
        session_id=session_id,
        project=_told(extra, "project"),
        started_at=started,
        agent=note.meta.source_agent,
        ended_at=to_datetime(extra.get("ended_at") or ""),
        input_tokens=_count(extra, "input_tokens"),
        output_tokens=_count(extra, "output_tokens"),
        redactions=_count(extra, "redactions"),
        git=_git(*(_told(extra, key) for key in ("repository_id", "branch", "commit"))),
        path=note.path,
    )


def prompts_of(note: Note, session: Session) -> tuple[Prompt, ...]:
    """Return the prompts of a session's note."""
    found = note_parts.parts(note).prompts
    return tuple(_prompts(found, session)) if found else ()


def _observation(part: Part, session: Session) -> Observation:
    read = note_parts.read(part, OBSERVATION_KEYS)
    kind = read.first("obs_type").casefold()
    return Observation(
        id=part.id,
        session_id=session.session_id,
        project=session.project,
        obs_type=kind if kind in OBSERVATION_TYPES else "discovery",
        title=unescaped(part.heading),
        created_at=to_datetime(read.first("created_at")) or session.started_at,
        subtitle=read.first("subtitle"),
        facts=tuple(map(unescaped, read.values("fact"))),
        narrative=paragraphs(unescaped(read.text)),
        concepts=words(list(map(unescaped, read.values("concepts")))),
        files_read=_targets(read.values("reads")),
        files_modified=_targets(read.values("modifies")),
        prompt_number=read.number("prompt_number"),
        discovery_tokens=read.number("discovery_tokens"),
        git=_git_of(read, session),
    )


def _summary(part: Part, session: Session) -> Summary:
    read = note_parts.read(part, SUMMARY_KEYS)
    return Summary(
        id=part.id,
        session_id=session.session_id,
        project=session.project,
        created_at=to_datetime(read.first("created_at")) or session.ended_at or session.started_at,
        files_read=_targets(read.values("reads")),
        files_edited=_targets(read.values("modifies")),
        discovery_tokens=read.number("discovery_tokens"),
        git=_git_of(read, session),
        **{key: read.first(key) for key in SUMMARY_TEXTS},
    )


def _prompts(part: Part, session: Session) -> Iterator[Prompt]:
    for key, value in note_parts.read(part, frozenset()).fields:
        if number := _PROMPT.match(key):
            moment = _FIRST_MOMENT.match(value)
            at = to_datetime(moment[1]) if moment else None
            text = value[moment.end() :] if moment and at else value
            yield Prompt(
                session.session_id,
                int(number[1]),
                one_line(unescaped(text)),
                at or session.started_at,
            )


def _targets(values: Sequence[str]) -> tuple[str, ...]:
    """Return the files of some fields: links by their target, without headings and shown text."""
    found = (
        re.split(r"[|#^]", link[1])[0] if link[1] else unescaped(link[2])
        for value in values
        for link in _LINKED.finditer(value)
    )
    return tuple(dict.fromkeys(path for file in found if (path := one_line(file))))


def _git_of(read: note_parts.Read, session: Session) -> GitState | None:
    here = session.git.repository_id if session.git else ""
    return _git(read.first("repository_id") or here, read.first("branch"), read.first("commit"))


def _git(repository_id: str, branch: str, commit: str) -> GitState | None:
    return GitState(repository_id, branch, commit) if commit else None


def _told(extra: Mapping[str, object], key: str) -> str:
    value = extra.get(key)
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


def _count(extra: Mapping[str, object], key: str) -> int:
    value = extra.get(key)
    return value if isinstance(value, int) and value > 0 else 0


def words(given: Sequence[str]) -> tuple[str, ...]:
    """Return words, also several with commas between, each once."""
    parts = (one_line(part) for word in given for part in word.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))
