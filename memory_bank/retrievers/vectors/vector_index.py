"""The vector index: a vector for each passage, compared by cosine.

A vector is stored by the hash of its text, so that a note that is moved, renamed or reverted needs
no new embedding. New vectors are rows of a SQLite table; when there are many, all vectors are
published as an immutable snapshot.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from memory_bank import sqlite
from memory_bank.embedders.base import Embedder, identity
from memory_bank.errors import EmbedderUnavailable, IndexDamaged, StorageFailed
from memory_bank.hints import Hint
from memory_bank.models.numpy_setup import np
from memory_bank.models.quantization import packed, unpacked
from memory_bank.models.types import Kind
from memory_bank.notes.identity import number_of
from memory_bank.retrievers.base import (
    TEXT_VERSION,
    Entry,
    Matches,
    Question,
    Scale,
    Scope,
    Unit,
)
from memory_bank.retrievers.vectors import MODES, snapshot
from memory_bank.retrievers.vectors.cosine_scale import scale_of
from memory_bank.retrievers.vectors.database import VectorDatabase
from memory_bank.retrievers.vectors.passage_text import text_of
from memory_bank.retrievers.vectors.postings import Postings
from memory_bank.retrievers.vectors.snapshot import Published, VectorSnapshot
from memory_bank.sqlite import Connection, chunked

if TYPE_CHECKING:
    from numpy.typing import NDArray

Result = TypeVar("Result")
Scored: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float32]]"
"""Keys of texts, and the cosine of each."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (row INTEGER PRIMARY KEY, document INTEGER NOT NULL, key INTEGER NOT NULL);
CREATE INDEX entries_document ON entries (document);
CREATE INDEX entries_key ON entries (key);
CREATE TABLE vectors (key INTEGER PRIMARY KEY, slot INTEGER, vector BLOB);
CREATE INDEX vectors_recent ON vectors (key) WHERE slot IS NULL;
CREATE TABLE waiting (key INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""
_TABLES_VERSION = 3
_BATCH, _MOST_AT_ONCE = 256, 2048
"""Number of texts that are embedded at a time: at first, and with a fast embedder."""
_SOON = 0.2
"""Maximum duration in seconds of a batch after which the next one is larger."""
_RECENT_MOST = 2000
"""Maximum number of vectors in the table, all of which each query reads."""
_MANY = 0.2
"""Share of all passages in a scope from which all are scored: to look each up takes longer."""
_SAMPLE = 2000
"""Number of the snapshot's vectors from which the scale of cosines is estimated."""
_USED = "key IN (SELECT key FROM entries)"
_RECENT = """
SELECT key, vector FROM vectors WHERE slot IS NULL
AND EXISTS (SELECT 1 FROM entries WHERE entries.key = vectors.key)
"""
"""Vectors in the table whose texts are still in use: others would displace passages."""


class VectorIndex:
    """The retriever of the vector index."""

    name = "vectors"
    modes = MODES
    unit: Unit = "passages"
    explanation = "its meaning"
    slow = True

    def __init__(self, folder: Path, owner: str, embedder: Embedder) -> None:
        """Use the index in `folder`; each embedder identity has its own folder."""
        self._folder = folder
        self._file = folder / "vectors.db"
        self.version = f"{_TABLES_VERSION}.{TEXT_VERSION} {identity(embedder)}"
        self.weight = embedder.weight
        self.code_weight = embedder.code_weight
        self.similarity_threshold = embedder.similarity_threshold
        self._database = VectorDatabase(
            self._file, _TABLES, _TABLES_VERSION, f"{owner} {self.version}", self._forget
        )
        self._embedder = embedder
        self._batch = _BATCH
        self._snapshot: VectorSnapshot | None = None
        self._recent: tuple[int, NDArray[np.int64], NDArray[np.float32]] | None = None
        self._postings = sqlite.Memo(Postings.load)

    def to_compact(self) -> Collection[int]:
        """Return nothing: this index has no segments."""
        return ()

    def put(self, entries: Sequence[Entry], replaced: Collection[int]) -> None:
        """Record the text of each passage; texts without a vector wait for `catch_up`."""
        with sqlite.guarded(self._file):
            base = self._database.in_transaction()
            base.executemany(
                "DELETE FROM entries WHERE document = ?", ((document,) for document in replaced)
            )
            said = [(entry, text) for entry in entries if (text := text_of(entry))]
            keys = [number_of(text) for _, text in said]
            texts = {key: text for key, (_, text) in zip(keys, said, strict=True)}
            base.executemany(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)",
                (
                    (entry.row, entry.document, key)
                    for key, (entry, _) in zip(keys, said, strict=True)
                ),
            )
            known = {
                key
                for (key,) in chunked(
                    base, "SELECT key FROM vectors WHERE key IN ({})", list(texts)
                )
            }
            base.executemany(
                "INSERT OR IGNORE INTO waiting VALUES (?, ?)",
                ((key, text) for key, text in texts.items() if key not in known),
            )

    def commit(self) -> None:
        """Make what was put durable."""
        self._database.commit()

    def catch_up(self, seconds: float) -> int:
        """Embed waiting texts for about that many seconds; return how many still wait.

        Raises EmbedderUnavailable; vectors computed until then are kept.
        """
        deadline = time.monotonic() + seconds
        with sqlite.guarded(self._file):
            base = self._database.opened()
            base.execute(f"DELETE FROM waiting WHERE NOT {_USED}")
            left = self._waiting(base)
            while left:
                if time.monotonic() >= deadline:
                    return left
                left -= self._embed_batch(base)
            (recent,) = base.execute("SELECT count(*) FROM vectors WHERE slot IS NULL").fetchone()
            if recent > _RECENT_MOST:
                (rows,) = base.execute("SELECT count(*) FROM vectors").fetchone()
                if recent > rows // 10:
                    self._publish(base)
            return 0

    def state(self) -> str:
        """Return the signatures of the database's files."""
        return self._database.state()

    def waiting(self) -> int:
        """Count the texts that have no vector yet."""
        with sqlite.guarded(self._file):
            return self._waiting(self._database.opened())

    def holds(self, entries: Mapping[int, int]) -> bool:
        """Tell whether the index has exactly these passages, embedded or waiting."""
        lost = (
            "SELECT 1 FROM entries WHERE key NOT IN (SELECT key FROM vectors)"
            " AND key NOT IN (SELECT key FROM waiting) LIMIT 1"
        )
        with sqlite.guarded(self._file):
            base = self._database.opened()
            found = dict(base.execute("SELECT row, document FROM entries"))
            return found == entries and base.execute(lost).fetchone() is None

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:
        """Return the passages with the highest cosines; raise EmbedderUnavailable."""
        vector = self._embedded([question.text], "query")[0]
        if not vector.any():
            return Matches()

        def query(base: Connection) -> Matches:
            within = scope.only if scope.rows is None else scope.rows
            column = "document" if scope.rows is None else "row"
            if within is None:
                found = self._nearest(base, vector, limit + self._entries_of(base, scope.without))
            elif len(within) > _MANY * self._count(base, column):
                found = self._scores_of_all(base, vector)
            else:
                found = self._scores_within(base, vector, column, within)
            scale = scale_of(self._sampled_cosines(base, vector))
            return self._matches(base, found, limit, scope, scale)

        return self._consistent(query)

    def check(self) -> None:
        """Raise IndexDamaged unless the index can be opened and read."""
        self._consistent(self._load_snapshot)
        self._database.check()

    def _consistent(self, query: Callable[[Connection], Result]) -> Result:
        """Run a query on one state of the database and the snapshot it names.

        If another process publishes a snapshot meanwhile and removes the old one, run it again.
        """
        with sqlite.guarded(self._file):
            base = self._database.opened()
            with _read_transaction(base):
                try:
                    return query(base)
                except IndexDamaged:
                    pass
            with _read_transaction(base):
                return query(base)

    def clear(self) -> None:
        """Remove all passages; vectors stay, since a text's vector never changes."""
        try:
            self._empty()
        except IndexDamaged:
            self.close()
            for file in self._folder.iterdir():
                file.unlink(missing_ok=True)
            self._empty()
        except OSError as error:
            raise StorageFailed(f"{self._folder} can't be written: {error.strerror}") from error

    def close(self) -> None:
        """Close the database and release the snapshot; drop what was not committed."""
        self._database.close()
        self._forget()

    def _forget(self) -> None:
        self._snapshot = self._recent = None

    def _empty(self) -> None:
        """Open the database and remove all entries; raise IndexDamaged if a file is damaged."""
        self.close()
        base = self._database.start()
        with sqlite.guarded(self._file):
            base.execute("DELETE FROM entries")
        self._database.check()
        self._load_snapshot(base)

    def _waiting(self, base: Connection) -> int:
        return int(base.execute("SELECT count(*) FROM waiting").fetchone()[0])

    def _embed_batch(self, base: Connection) -> int:
        rows = base.execute("SELECT key, text FROM waiting LIMIT ?", (self._batch,)).fetchall()
        started = time.monotonic()
        vectors = packed(self._embedded([text for _, text in rows], "passage"))
        if time.monotonic() - started < _SOON:  # give a fast embedder larger batches
            self._batch = min(2 * self._batch, _MOST_AT_ONCE)
        with sqlite.transaction(base):
            base.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, NULL, ?)",
                ((key, vector.tobytes()) for (key, _), vector in zip(rows, vectors, strict=True)),
            )
            base.executemany("DELETE FROM waiting WHERE key = ?", ((key,) for key, _ in rows))
        return len(rows)

    def _embedded(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        """Embed texts; raise EmbedderUnavailable for vectors that are not finite."""
        rows = self._embedder.embed(texts, kind)
        if not np.isfinite(rows).all():
            raise EmbedderUnavailable(
                f"the embedder {self._embedder.name} returns NaN or infinite components",
                Hint.TEST_EMBEDDER,
                "embedder_bad_answer",
            )
        return rows

    def _publish(self, base: Connection) -> None:
        """Publish all vectors of current passages as a new snapshot."""
        loaded = self._load_snapshot(base)
        rows = base.execute(
            f"SELECT key, slot, vector FROM vectors WHERE {_USED} ORDER BY key"
        ).fetchall()
        keys = np.array([key for key, _, _ in rows], np.int64)
        vectors = np.empty((len(rows), self._embedder.dimension), np.int8)
        kept = np.array([place for place, row in enumerate(rows) if row[1] is not None], np.int64)
        if loaded is not None:
            vectors[kept] = loaded.at(np.array([rows[place][1] for place in kept], np.int64))
        for place, (_, slot, blob) in enumerate(rows):
            if slot is None:
                vectors[place] = np.frombuffer(blob, np.int8)
        generation = loaded.generation + 1 if loaded else 1
        published = snapshot.publish(self._folder, generation, keys, vectors)
        record = (json.dumps(published._asdict()),)
        with sqlite.transaction(base):
            # inserted again: updated rows would keep the pages that their vectors took
            base.execute("DELETE FROM vectors")
            base.executemany(
                "INSERT INTO vectors (slot, key) VALUES (?, ?)", enumerate(keys.tolist())
            )
            base.execute("INSERT OR REPLACE INTO meta VALUES ('published', ?)", record)
        base.executescript("PRAGMA incremental_vacuum")  # `execute` would free a single page only
        sqlite.checkpoint(base)
        self._snapshot = None
        snapshot.discard_others(self._folder, generation)

    def _read_published(self, base: Connection) -> Published | None:
        row = base.execute("SELECT value FROM meta WHERE key = 'published'").fetchone()
        if row is None:
            return None
        try:
            found = json.loads(row[0])
            return Published(found["generation"], found["rows"], tuple(found["hashes"]))
        except (ValueError, TypeError, KeyError) as error:
            raise IndexDamaged(f"{self._file} is damaged: {error}", "it is rebuilt") from error

    def _load_snapshot(self, base: Connection) -> VectorSnapshot | None:
        published = self._read_published(base)
        if published is None:
            return None
        loaded = self._snapshot
        if loaded is None or loaded.generation != published.generation:
            self._snapshot = None
            self._snapshot = VectorSnapshot(self._folder, published, self._embedder.dimension)
            self._recent = None
        return self._snapshot

    def _load_recent(self, base: Connection) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        version = hash((sqlite.version(base), base.total_changes))
        if self._recent is None or self._recent[0] != version:
            rows = base.execute(_RECENT).fetchall()
            keys = np.array([key for key, _ in rows], np.int64)
            self._recent = (version, keys, self._unpacked(vector for _, vector in rows))
        return self._recent[1], self._recent[2]

    def _nearest(self, base: Connection, vector: NDArray[np.float32], limit: int) -> Scored:
        loaded = self._load_snapshot(base)
        keys, recent = self._load_recent(base)
        best, scores = snapshot.top(recent @ vector, limit)
        if loaded is None:
            return keys[best], scores
        found = loaded.nearest(vector, min(limit, loaded.rows))
        if not len(keys):
            return found
        return np.concatenate([found[0], keys[best]]), np.concatenate([found[1], scores])

    def _scores_within(
        self, base: Connection, vector: NDArray[np.float32], column: str, numbers: Collection[int]
    ) -> Scored:
        """Score every passage with one of some numbers in a column."""
        sql = (
            "SELECT DISTINCT vectors.key, slot, vector FROM entries JOIN vectors USING (key)"
            f" WHERE {column} IN ({{}})"
        )
        loaded = self._load_snapshot(base)
        rows = list(chunked(base, sql, list(numbers)))
        kept = [(key, slot) for key, slot, _ in rows if slot is not None]
        found: dict[int, float] = {}
        if kept and loaded is not None:
            slots = np.array([slot for _, slot in kept], np.int64)
            scores = loaded.among(slots, vector)
            found.update(zip((key for key, _ in kept), scores.tolist(), strict=True))
        recent = {key: blob for key, slot, blob in rows if slot is None}
        scores = self._unpacked(recent.values()) @ vector
        found.update(zip(recent, scores.tolist(), strict=True))
        return np.array(list(found), np.int64), np.array(list(found.values()), np.float32)

    def _scores_of_all(self, base: Connection, vector: NDArray[np.float32]) -> Scored:
        """Score every passage."""
        loaded = self._load_snapshot(base)
        keys, recent = self._load_recent(base)
        if loaded is None:
            return keys, recent @ vector
        scores = loaded.among(np.arange(loaded.rows), vector)
        return np.concatenate([loaded.keys, keys]), np.concatenate([scores, recent @ vector])

    def _count(self, base: Connection, column: str) -> int:
        sql = f"SELECT count(*) FROM (SELECT DISTINCT {column} FROM entries)"
        return int(base.execute(sql).fetchone()[0])

    def _sampled_cosines(
        self, base: Connection, vector: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return a vector's cosines with a sample of the snapshot and with the table's vectors."""
        loaded = self._load_snapshot(base)
        _, recent = self._load_recent(base)
        sampled = [loaded.sample(_SAMPLE) @ vector] if loaded else []
        return np.concatenate([*sampled, recent @ vector])

    def _unpacked(self, blobs: Iterable[bytes]) -> NDArray[np.float32]:
        """Return vectors of the table as unit vectors."""
        numbers = np.frombuffer(b"".join(blobs), np.int8)
        return unpacked(numbers.reshape(-1, self._embedder.dimension))

    def _entries_of(self, base: Connection, documents: Collection[int]) -> int:
        sql = "SELECT count(*) FROM entries WHERE document IN ({})"
        return sum(count for (count,) in chunked(base, sql, list(documents)))

    def _matches(
        self, base: Connection, scored: Scored, limit: int, scope: Scope, scale: Scale
    ) -> Matches:
        keys, scores = scored
        postings = self._postings.of(base) or Postings(
            chunked(base, "SELECT key, row, document FROM entries WHERE key IN ({})", keys.tolist())
        )
        which, rows, documents = postings.of(keys)
        scores = scores[which]
        if scope.rows is not None:  # of documents in scope
            wanted = np.fromiter(scope.rows, np.int64, len(scope.rows))
            inside = np.flatnonzero(np.isin(rows, wanted)).tolist()
            scores, rows, documents = scores[inside], rows[inside], documents[inside]
        if (scope.only is not None and scope.rows is None) or scope.without:
            inside = [
                place for place, document in enumerate(documents.tolist()) if document in scope
            ]
            rows, documents, scores = rows[inside], documents[inside], scores[inside]
        best = np.lexsort((rows, -scores))[:limit]
        rows, documents, scores = rows[best], documents[best], scores[best]
        return Matches(rows.tolist(), documents.tolist(), scores.tolist(), scale=scale)


@contextmanager
def _read_transaction(base: Connection) -> Iterator[None]:
    """Read one state of the database."""
    if base.in_transaction:  # of `put`: it already reads one state
        yield
        return
    base.execute("BEGIN")
    try:
        yield
    finally:
        base.rollback()  # nothing was written
