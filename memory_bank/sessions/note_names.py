"""The paths that the new note of a session may have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from blake3 import blake3

from memory_bank.notes.identity import slug
from memory_bank.sessions.model import Observation, Session, Summary
from memory_bank.sessions.note_format import title_of
from memory_bank.sessions.note_text import to_second

FOLDER = "sessions"
_SAFE = re.compile(r"[0-9a-z][0-9a-z_-]*", re.IGNORECASE)
_LENGTHS = (8, 12, 16, 32)
_SLUG_LIMIT = 50


def paths_of(
    session: Session, observations: Sequence[Observation], summary: Summary | None
) -> Iterator[str]:
    """Yield `sessions/YYYY/MM/DD-slug-id.md` with more and more characters of the session's id.

    The slug is of what was asked for first, else of the first observation. Of an id with
    characters that are odd in a file's name, the digits are of its hash.
    """
    title = title_of(replace(session, observations=tuple(observations), summary=summary))
    start = f"{FOLDER}/{to_second(session.started_at):%Y/%m/%d}-{slug(title, _SLUG_LIMIT)}"
    hashed = blake3(session.session_id.encode("utf-8", "replace")).hexdigest()
    plain = "".join(char for char in session.session_id.lower() if char.isalnum())
    named = plain if _SAFE.fullmatch(session.session_id) and len(plain) >= _LENGTHS[0] else hashed
    names = [*(named[:length] for length in _LENGTHS), *(hashed[:length] for length in _LENGTHS)]
    for name in dict.fromkeys(names):
        yield f"{start}-{name}.md"
