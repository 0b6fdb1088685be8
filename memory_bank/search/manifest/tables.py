"""Compare the tables of two manifests; find documents by anchors; count observations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from memory_bank.base import NamedTuple
from memory_bank.search.manifest.entries import IS_OBSERVATION, WORK_TOKENS
from memory_bank.search.manifest.manifest import DONE, HASH, PENDING, UNREADABLE, Manifest

_TABLES = {
    "documents": (
        f"SELECT key, state, size, {HASH}, reason, known_as, title, created, updated, hidden,"
        " content, data FROM documents"
    ),
    "fields": (
        "SELECT documents.key, fields.key, value FROM fields JOIN documents ON id = document"
    ),
    "names": "SELECT key, name, rank FROM names JOIN documents ON id = document",
    "sections": (
        "SELECT key, ordinal, line, end_line, headings, name, sections.created, tokens"
        " FROM sections JOIN documents ON id = document"
    ),
    "section_fields": (
        "SELECT documents.key, ordinal, section_fields.key, value FROM section_fields"
        " JOIN documents ON id = document"
    ),
    "passages": (
        "SELECT key, section, line, end_line FROM passages"
        " JOIN documents ON documents.id = document"
    ),
    "anchors": "SELECT key, anchor, line FROM anchors JOIN documents ON id = document",
    "links": (
        "SELECT source.key, links.line, links.type, links.target, links.heading, links.anchor,"
        " links.ghost, links.ambiguous, goal.key FROM links"
        " JOIN documents AS source ON source.id = links.document"
        " LEFT JOIN documents AS goal ON goal.id = links.dest"
    ),
    "faults": "SELECT key, line, faults.reason FROM faults JOIN documents ON id = document",
    "refused": "SELECT key, reason FROM refused",
}


def yield_differences(ours: Manifest, fresh: Manifest) -> Iterator[str]:
    """Yield a description of each difference between a manifest and a fresh one."""
    for table, sql in _TABLES.items():
        indexed, from_files = set(ours.execute(sql)), set(fresh.execute(sql))
        for row in sorted(indexed - from_files, key=repr):
            yield f"{table}: indexed, but not in the files: {_words(row)}"
        for row in sorted(from_files - indexed, key=repr):
            yield f"{table}: in the files, but not indexed: {_words(row)}"
    (unfinished,) = ours.execute(
        f"SELECT count(*) FROM documents WHERE state NOT IN ({DONE}, {UNREADABLE})"
    ).fetchone()
    if unfinished:
        yield f"documents: {unfinished} are not finished"


def _words(row: tuple[object, ...]) -> str:
    return ", ".join(str(value)[:80] for value in row if value not in {None, ""})


def keys_with(manifest: Manifest, anchors: Sequence[str]) -> dict[str, str]:
    """Map those of some anchors that a live document has to its key; the first of several."""
    sql = (
        "SELECT anchor, key FROM anchors JOIN documents ON documents.id = document"
        f" WHERE state IN ({DONE}, {PENDING}) AND anchor IN ({{}})"
    )
    folded = [anchor.casefold() for anchor in anchors]
    keys = dict(sorted(manifest.chunked(sql, folded), reverse=True))  # the first one stays
    return {
        anchor: keys[name] for anchor, name in zip(anchors, folded, strict=True) if name in keys
    }


class SessionCounts(NamedTuple):
    """What the note of a session has."""

    prompts: int = 0
    observations: int = 0
    read_tokens: int = 0
    """Estimated, to read the observations."""
    work_tokens: int = 0
    """Those of the events that they were made of."""
    last: float = 0.0
    """The time of the last observation; 0 without one."""
    summary: bool = False
    """Whether it has one."""


def session_counts(manifest: Manifest, documents: Collection[int]) -> dict[int, SessionCounts]:
    """Count what some notes of sessions have."""
    numbers = list(documents)
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
    counts = dict.fromkeys(numbers, SessionCounts())
    for document, number, read, work, last in manifest.chunked(observations, numbers):
        counts[document] = SessionCounts(0, number, read, work or 0, last)
    for document, number in manifest.chunked(prompts, numbers):
        counts[document] = counts[document]._replace(prompts=number)
    for (document,) in manifest.chunked(summaries, numbers):
        counts[document] = counts[document]._replace(summary=True)
    return counts


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
