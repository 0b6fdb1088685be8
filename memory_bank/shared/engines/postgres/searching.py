"""Find passages by words and by meaning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pgvector import HalfVector, SparseVector

from memory_bank.shared.engines.base import (
    AskedWord,
    Head,
    Position,
    PublishedNote,
    SharedMatch,
    SharedPassage,
    Where,
)
from memory_bank.shared.engines.postgres.connection import (
    BITS,
    MOST_COMPARED,
    IndexConnection,
    convert_errors,
)
from memory_bank.shared.word_weights import DIMENSIONS

_MOST_CHOSEN = 5000
"""Number of passages that the words that choose passages may have together."""

_EFFORT = 100
"""Candidates that the index of vectors keeps, at least (`hnsw.ef_search`)."""

_MOST_EFFORT = 1000

_MOST_SCANNED = 100_000
"""Maximum number of passages that the index of vectors gives until enough meet the conditions."""

_ROW = f'(p.repo << {BITS}) + p."row"'

_NOTE = f"(p.repo << {BITS}) + p.note"

_HEAD = "r.name, h.bank, h.commit, h.committed, h.published, h.web, h.notes, h.passages"

_OF_BANKS = """
FROM memory_bank.heads AS h JOIN memory_bank.repositories AS r ON r.repo = h.repo
WHERE h.commit <> ''
AND (%(repos)s::text[] IS NULL OR r.name = ANY(%(repos)s)
    OR EXISTS (SELECT FROM unnest(%(repos)s::text[]) AS o (name)
        WHERE o.name <> '' AND right(r.name, length(o.name) + 1) = '/' || o.name))
AND r.name <> %(without)s
"""

_HEADS = f"""
SELECT {_HEAD} {_OF_BANKS}
ORDER BY r.name, h.bank
"""

_SIZES = f"SELECT r.repo, sum(h.passages) {_OF_BANKS} GROUP BY r.repo ORDER BY r.repo"

_MEETING = """
(%(repos)s::bigint[] IS NULL OR p.repo = ANY(%(repos)s))
AND (%(types)s::text[] IS NULL OR p.type = ANY(%(types)s))
AND p.tags @> %(tags)s::text[]
AND (%(since)s::float8 IS NULL OR greatest(p.created, p.updated) >= %(since)s)
AND (%(before)s::float8 IS NULL OR p.created < %(before)s)
AND (%(hidden)s OR NOT p.hidden)
"""

_BY_WORDS = f"""
WITH found AS MATERIALIZED (
    SELECT {_ROW} AS "row", {_NOTE} AS note,
        -(p.terms OPERATOR({{vector}}.<#>) %(asked)s::{{vector}}.sparsevec) AS score, p.length
    FROM memory_bank.passages AS p WHERE p.words && %(rare)s::integer[] AND {_MEETING}
    LIMIT {MOST_COMPARED}
)
SELECT "row", note, score, length FROM found ORDER BY score DESC, "row" LIMIT %(most)s
"""

_DISTANCE = "OPERATOR({vector}.<=>) %(asked)s::{vector}.halfvec"

_ALL = f"""
WITH found AS MATERIALIZED (
    SELECT {_ROW} AS "row", {_NOTE} AS note, 1 - (p.vector {_DISTANCE}) AS score, p.length
    FROM memory_bank.passages AS p WHERE p.vector IS NOT NULL AND {_MEETING}
)
SELECT "row", note, score, length FROM found ORDER BY score DESC, "row" LIMIT %(most)s
"""

_BY_INDEX = f"""
SELECT {_ROW}, {_NOTE}, 1 - (p.vector {_DISTANCE}), p.length FROM memory_bank.passages AS p
WHERE p.vector IS NOT NULL AND {_MEETING} ORDER BY p.vector {_DISTANCE} LIMIT %(most)s
"""

_PASSAGES = f"""
SELECT {_ROW}, {_HEAD},
    n.path, n.file, n.id, n.title, n.type, n.status, n.tags, n.created, n.updated, n.hidden, n.rest,
    n.hash, p.ordinal, p.line, p.end_line, p.headings, p.text,
    CASE WHEN p.ordinal < 0 THEN p.text ELSE (
        SELECT string_agg(s.text, E'\\n\\n' ORDER BY s.line, s."row") FROM memory_bank.passages AS s
        WHERE s.repo = p.repo AND s.note = p.note AND s.ordinal = p.ordinal) END,
    p.length
FROM memory_bank.passages AS p
JOIN memory_bank.notes AS n ON n.repo = p.repo AND n.note = p.note
JOIN memory_bank.repositories AS r ON r.repo = p.repo
JOIN memory_bank.heads AS h ON h.repo = p.repo AND h.bank = p.bank
JOIN unnest(%s::bigint[]) AS a (number) ON p.repo = a.number >> {BITS}
AND p."row" = a.number & {2**BITS - 1}
"""


class IndexSearch(IndexConnection):
    """Finds what is published; see `SharedEngine`."""

    def heads(self) -> list[Head]:
        """Return the heads of all banks."""
        self.info()
        with convert_errors(self.place):
            rows = self._connection.execute(_HEADS, _bank_parameters(Where()))
            return [Head(*row) for row in rows]

    def size(self) -> int:
        """Count the passages that may be read."""
        with convert_errors(self.place):
            sql = "SELECT coalesce(sum(passages), 0) FROM memory_bank.heads"
            row = self._connection.execute(sql).fetchone()
            return int(row[0]) if row else 0

    def frequencies(self, words: Collection[int]) -> dict[int, int]:
        """Count the passages that have each word."""
        sql = (
            "SELECT word, sum(passages) FROM memory_bank.frequencies WHERE word = ANY(%s)"
            " GROUP BY word"
        )
        with convert_errors(self.place):
            rows = self._connection.execute(sql, ([*words],))
            return {word: int(count) for word, count in rows}

    def words(
        self, question_words: Sequence[AskedWord], limit: int, where: Where
    ) -> list[SharedMatch]:
        """Return the passages with the highest BM25 scores, best first."""
        with convert_errors(self.place):
            repos, searched = self._read_scope(where)
            if not question_words or repos == []:
                return []
            weights = {word.number - 1: word.weight for word in question_words}
            rows = self._connection.execute(
                _BY_WORDS.format(vector=self._vector),
                {
                    "rare": _rare(question_words, searched),
                    "asked": SparseVector(weights, DIMENSIONS).to_text(),
                    "most": limit,
                    **_conditions(where, repos),
                },
            )
            return [SharedMatch(*row) for row in rows if row[2] > 0]

    def nearest(self, vector: Sequence[float], limit: int, where: Where) -> list[SharedMatch]:
        """Return the passages with the highest cosines, best first."""
        if not self.info().dimension:
            return []
        with convert_errors(self.place):
            repos, searched = self._read_scope(where)
            if repos == []:
                return []
            asked = HalfVector([*vector]).to_text()
            values = {"asked": asked, "most": limit, **_conditions(where, repos)}
            if searched <= MOST_COMPARED:
                rows = self._connection.execute(_ALL.format(vector=self._vector), values)
                return [SharedMatch(*row) for row in rows]
            with self._connection.transaction():
                effort = str(min(max(limit, _EFFORT), _MOST_EFFORT))
                self._connection.execute(
                    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true),"
                    " set_config('hnsw.ef_search', %s, true),"
                    " set_config('hnsw.max_scan_tuples', %s, true)",
                    (effort, str(_MOST_SCANNED)),
                )
                rows = self._connection.execute(_BY_INDEX.format(vector=self._vector), values)
                return [SharedMatch(*row) for row in rows]

    def passages(self, rows: Collection[int]) -> dict[int, SharedPassage]:
        """Return some passages with their notes, by row."""
        with convert_errors(self.place):
            return {
                row: SharedPassage(
                    row, Head(*rest[:8]), _note(rest[8:20]), Position(*rest[20:23]),
                    tuple(rest[23]), *rest[24:],
                )
                for row, *rest in self._connection.execute(_PASSAGES, ([*rows],))
            }  # fmt: skip

    def _read_scope(self, where: Where) -> tuple[list[int] | None, int]:
        """Return the repositories in which passages may be found, and the number of passages.

        None stands for all repositories.
        """
        rows = self._connection.execute(_SIZES, _bank_parameters(where)).fetchall()
        passages = sum(int(count) for _, count in rows)
        bounded = where.repos or where.without_repo or passages <= MOST_COMPARED
        return [repo for repo, _ in rows] if bounded else None, passages


def _note(entries: Sequence[Any]) -> PublishedNote:
    note = PublishedNote._make(entries)
    return note._replace(tags=tuple(note.tags), rest=_other_data(dict(note.rest)))


def _other_data(entries: dict[str, Any]) -> dict[str, Any]:
    """Return the other data of a note, in the form that our program publishes."""
    rest: dict[str, Any] = {}
    for key, value in entries.items():
        if isinstance(value, str):
            rest[key] = value
        elif isinstance(value, list):
            rest[key] = [entry for entry in value if _is_plain(entry)]
    return rest


def _is_plain(entry: object) -> bool:
    """Tell whether a value is a text, or a list or table of texts."""
    values = (
        entry if isinstance(entry, list) else entry.values() if isinstance(entry, dict) else [entry]
    )
    return all(isinstance(value, str) for value in values)


def _rare(words: Sequence[AskedWord], searched: int) -> list[int]:
    """Return the words, of which a searched passage must have one: the rarest that are cheap."""
    if searched <= MOST_COMPARED:
        return [word.number for word in words]
    entries: list[int] = []
    total = 0
    for word in sorted(words, key=lambda word: word.passages):
        total += word.passages
        if entries and total > _MOST_CHOSEN:
            break
        entries.append(word.number)
    return entries


def _bank_parameters(where: Where) -> dict[str, Any]:
    return {
        "repos": [*where.repos] or None,
        "without": where.without_repo,
    }


def _conditions(where: Where, repos: list[int] | None) -> dict[str, Any]:
    return {
        "repos": repos,
        "types": [note_type.casefold() for note_type in where.types] or None,
        "tags": [tag.casefold() for tag in where.tags],
        "since": where.since,
        "before": where.before,
        "hidden": where.hidden,
    }
