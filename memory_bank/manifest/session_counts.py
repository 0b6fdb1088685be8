"""Count what the notes of sessions have: observations, prompts, tokens."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from memory_bank.manifest.manifest import Manifest
from memory_bank.manifest.sections import IS_OBSERVATION, WORK_TOKENS


class SessionCounts(NamedTuple):
    """What the note of a session has."""

    prompts: int = 0
    observations: int = 0
    read: int = 0
    """Estimated tokens, to read the observations."""
    work: int = 0
    """Those of the events that they were made of."""
    last: float = 0.0
    """The time of the last observation; 0 without one."""
    summary: bool = False
    """Whether it has one."""


def session_counts(manifest: Manifest, documents: Collection[int]) -> dict[int, SessionCounts]:
    """Count what some notes of sessions have."""
    wanted = list(documents)
    observations = (
        # the plus keeps SQLite from reading the sections of all documents by their names
        f"SELECT s.document, count(*), sum(s.tokens), sum({WORK_TOKENS}), max(s.created)"
        " FROM sections AS s WHERE s.document IN ({}) AND +s.name >= 'obs-' AND"
        f" {IS_OBSERVATION} GROUP BY s.document"
    )
    prompts = (
        "SELECT document, count(DISTINCT key) FROM section_fields WHERE document IN ({})"
        " AND key GLOB 'prompt_[0-9]*' GROUP BY document"
    )
    summaries = "SELECT document FROM sections WHERE document IN ({}) AND +name GLOB 'sum-*'"
    found = dict.fromkeys(wanted, SessionCounts())
    for document, number, read, work, last in manifest.chunked(observations, wanted):
        found[document] = SessionCounts(0, number, read, work or 0, last)
    for document, number in manifest.chunked(prompts, wanted):
        found[document] = found[document]._replace(prompts=number)
    for (document,) in manifest.chunked(summaries, wanted):
        found[document] = found[document]._replace(summary=True)
    return found


def links_of_sections(manifest: Manifest, document: int, kind: str) -> dict[str, str]:
    """Map names of the sections of a document to the keys of the documents they link to.

    Only links of that type count.
    """
    sql = (
        "SELECT s.name, d.key FROM links AS l JOIN sections AS s ON s.document = l.document"
        " AND l.line >= s.line AND l.line < s.end_line JOIN documents AS d ON d.id = l.dest"
        " WHERE l.document = ? AND l.type = ? AND s.name <> ''"
    )
    return dict(manifest.execute(sql, (document, kind)))
