"""The vector index: a vector for each passage, compared by cosine.

A vector is stored by the hash of its text, so that a note that is moved, renamed or reverted needs
no new embedding. All vectors are one immutable file of usearch, which `catch_up` replaces.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import compress
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, TypeVar

from memory_bank.base import sqlite
from memory_bank.base.errors import EmbedderUnavailable, Hint, IndexDamaged, StorageFailed
from memory_bank.notes.identity import number_of
from memory_bank.search.embedders.base import Embedder, Kind, identity
from memory_bank.search.models.vectors import np, packed
from memory_bank.search.retrievers.base import (
    TEXT_VERSION,
    VECTORS_VERSION,
    IndexedPassage,
    Matches,
    Question,
    Scope,
    Unit,
)
from memory_bank.search.retrievers.vectors import reader
from memory_bank.search.retrievers.vectors.reader import VectorReader, text_of

if TYPE_CHECKING:  # numpy is imported from vectors alone
    from numpy.typing import NDArray

Result = TypeVar("Result")

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (row INTEGER PRIMARY KEY, document INTEGER NOT NULL, key INTEGER NOT NULL);
CREATE INDEX entries_document ON entries (document);
CREATE INDEX entries_key ON entries (key);
CREATE TABLE waiting (key INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""

_BATCH, _MOST_AT_ONCE = 256, 2048
"""Number of texts that are embedded at a time: at first, and with a fast embedder."""

_SOON = 0.2
"""Maximum duration in seconds of a batch after which the next one is larger."""

_USED = "key IN (SELECT key FROM entries)"


_SECONDS_A_ROW, _LONGEST = 25e-6, 2.0
"""Seconds of embedding for each row of the file, ten times what it takes to write it again; and
most seconds of embedding for this reason, since others wait."""

_TRIES = 4
"""Number of times that a query is run again, since the snapshot was replaced meanwhile."""

_MANY = 200
"""Waiting texts above which their pages are given back."""

_FREE_PAGES = "PRAGMA incremental_vacuum"
"""A script: `execute` would free a single page only."""


class VectorIndex:
    """The retriever of the vector index."""

    name = "vectors"
    unit: Unit = "passages"
    explanation = "its meaning"
    slow = True

    def __init__(self, folder: Path, owner: str, embedder: Embedder) -> None:
        """Use the index in `folder`; each embedder identity has its own folder."""
        self._folder = folder
        self._file = folder / "vectors.db"
        self.version = f"{VECTORS_VERSION}.{TEXT_VERSION} {identity(embedder)}"
        self.embedder = identity(embedder)
        """The identity of the embedder; only vectors of one identity can be compared."""
        self.dimension = embedder.dimension
        self.weight = embedder.weight
        self.code_weight = embedder.code_weight
        self.similarity_threshold = embedder.similarity_threshold
        self._reader = VectorReader(folder, self._file)
        self._database = VectorDatabase(
            self._file, _TABLES, VECTORS_VERSION, f"{owner} {self.version}", self._reader.close
        )
        self._embedder = embedder
        self._batch = _BATCH

    def to_compact(self) -> Collection[int]:
        """Return nothing: this index has no segments."""
        return ()

    def put(self, entries: Sequence[IndexedPassage], replaced: Collection[int]) -> None:
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
            known = self._known(base, list(texts))
            base.executemany(
                "INSERT OR IGNORE INTO waiting VALUES (?, ?)",
                ((key, text) for key, text in texts.items() if key not in known),
            )

    def commit(self) -> None:
        """Make what was put durable."""
        self._database.commit()

    def catch_up(self, seconds: float) -> int:
        """Embed waiting texts for about that many seconds; return how many still wait.

        A large file, which is written again, makes it longer, by up to two seconds.

        Raises EmbedderUnavailable; vectors computed until then are kept.
        """
        started = time.monotonic()
        with sqlite.guarded(self._file):
            base = self._database.opened()
            loaded = self._reader.snapshot(base)
            if seconds and loaded is not None:
                seconds = max(seconds, min(_LONGEST, _SECONDS_A_ROW * len(loaded)))
            base.execute(f"DELETE FROM waiting WHERE NOT {_USED}")
            some = self._waiting(base)
            new: dict[int, NDArray[np.int8]] = {}
            try:
                while len(new) < some and time.monotonic() < started + seconds:
                    new.update(self._embed_batch(base, len(new)))
            finally:
                if new:
                    self._publish(base, new)
            if some > _MANY:  # free the pages of their texts
                base.executescript(_FREE_PAGES)
            return self._waiting(base)

    def state(self) -> str:
        """Return the signatures of the database's files."""
        return self._database.state()

    def waiting(self) -> int:
        """Count the texts that have no vector yet."""
        with sqlite.guarded(self._file):
            return self._waiting(self._database.opened())

    def holds(self, entries: Mapping[int, int]) -> bool:
        """Tell whether the index has exactly these passages, embedded or waiting."""
        with sqlite.guarded(self._file):
            base = self._database.opened()
            if dict(base.execute("SELECT row, document FROM entries")) != entries:
                return False
            embedded = "SELECT DISTINCT key FROM entries WHERE key NOT IN (SELECT key FROM waiting)"
            keys = [key for (key,) in base.execute(embedded)]
            return len(self._known(base, keys)) == len(keys)

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:
        """Return the passages with the highest cosines; raise EmbedderUnavailable."""
        vector = self._embedded([question.text], "query")[0]
        if not vector.any():
            return Matches()

        return self._consistent(lambda base: self._reader.find(base, vector, limit, scope))

    def vectors_of(self, rows: Collection[int]) -> dict[int, list[float]]:
        """Return the unit vectors of some passages by row; those without one are left out."""
        return self._consistent(lambda base: self._reader.vectors_of(base, rows))

    def question_vector(self, text: str) -> list[float] | None:
        """Return the vector of a question; None if it says nothing. Raises EmbedderUnavailable."""
        vector = self._embedded([text], "query")[0]
        return vector.tolist() if vector.any() else None

    def check(self) -> None:
        """Raise IndexDamaged unless the index can be opened and read."""
        self._consistent(self._reader.snapshot)
        self._database.check()

    def _consistent(self, query: Callable[[Connection], Result]) -> Result:
        """Run a query on one state of the database and the snapshot it names.

        If another process publishes a snapshot meanwhile and removes the old one, run it again.
        """
        with sqlite.guarded(self._file):
            base = self._database.opened()
            for _ in range(_TRIES):
                with _read_transaction(base), suppress(IndexDamaged):
                    return query(base)
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
        self._reader.close()

    def _empty(self) -> None:
        """Open the database and remove all entries; raise IndexDamaged if a file is damaged."""
        self.close()
        base = self._database.start()
        with sqlite.guarded(self._file):
            base.execute("DELETE FROM entries")
        self._database.check()
        self._reader.snapshot(base)

    def _waiting(self, base: Connection) -> int:
        return int(base.execute("SELECT count(*) FROM waiting").fetchone()[0])

    def _known(self, base: Connection, keys: list[int]) -> set[int]:
        """Return those keys that have a vector."""
        loaded = self._reader.snapshot(base)
        return (
            set() if loaded is None else set(compress(keys, loaded.has(np.array(keys, np.int64))))
        )

    def _embed_batch(self, base: Connection, first: int) -> Iterator[tuple[int, NDArray[np.int8]]]:
        """Embed some waiting texts; return the key and the quantised vector of each."""
        sql = "SELECT key, text FROM waiting ORDER BY key LIMIT ? OFFSET ?"
        rows = base.execute(sql, (self._batch, first)).fetchall()
        started = time.monotonic()
        vectors = packed(self._embedded([text for _, text in rows], "passage"))
        if time.monotonic() - started < _SOON:  # give a fast embedder larger batches
            self._batch = min(2 * self._batch, _MOST_AT_ONCE)
        return zip((key for key, _ in rows), vectors, strict=True)

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

    def _publish(self, base: Connection, new: Mapping[int, NDArray[np.int8]]) -> None:
        """Publish a snapshot with new vectors of waiting texts."""
        used = np.fromiter(
            (key for (key,) in base.execute("SELECT DISTINCT key FROM entries")), np.int64
        )
        keys, vectors = np.array(list(new), np.int64), np.array(list(new.values()), np.int8)
        loaded = self._reader.snapshot(base)
        published = reader.publish(self._folder, loaded, used, keys, vectors)
        with sqlite.transaction(base):
            base.executemany("DELETE FROM waiting WHERE key = ?", ((key,) for key in new))
            record = json.dumps(published._asdict())
            base.execute("INSERT OR REPLACE INTO meta VALUES ('published', ?)", (record,))
        self._reader.close()
        reader.discard_others(self._folder, published.generation)


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


class VectorDatabase(sqlite.Opened):
    """A SQLite file with a table `meta`; one of another `owner` counts as damaged."""

    def __init__(
        self,
        file: Path,
        tables: str,
        version: int,
        owner: str,
        closed: Callable[[], object] = lambda: None,
    ) -> None:
        """Open nothing yet.

        `closed` is called when the file is closed or was replaced, so that cached data is outdated.
        """
        super().__init__(file, tables, version)
        self._owner = owner
        self._closed = closed

    def in_transaction(self) -> Connection:
        """Return the connection, in a transaction that `commit` ends."""
        base = self.opened()
        if not base.in_transaction:
            base.execute("BEGIN IMMEDIATE")
        return base

    def commit(self) -> None:
        """Make what was written durable."""
        if self._base is not None and self._base.in_transaction:
            if not self.current():
                raise IndexDamaged(f"{self.file} was replaced", "it is rebuilt")
            with sqlite.guarded(self.file):
                self._base.execute("COMMIT")

    def start(self) -> Connection:
        """Open the file, made if missing, and set its owner."""
        self.close()
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"{self.file.parent} can't be written: {error.strerror}"
            raise StorageFailed(reason) from error
        base = super()._connect()
        with sqlite.guarded(self.file):
            base.execute("INSERT OR REPLACE INTO meta VALUES ('owner', ?)", (self._owner,))
        return self._hold(base)

    def state(self) -> str:
        """Return the signatures of the file and of its write-ahead log."""
        files = (self.file, self.file.with_name(f"{self.file.name}-wal"))
        return repr([_signature(file) for file in files])

    def check(self) -> None:
        """Raise IndexDamaged unless the file is whole."""
        with sqlite.guarded(self.file):
            (answer,) = self.opened().execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise IndexDamaged(f"{self.file} is damaged: {answer}", "it is rebuilt")

    def close(self) -> None:
        """Close the connection; drop what was not committed."""
        if self._base is not None:
            self._closed()
        super().close()

    def _connect(self) -> Connection:
        """Open the file; raise IndexDamaged if it is missing or belongs to another bank."""
        if not self.file.is_file():
            raise IndexDamaged(f"{self.file} is missing", "it is rebuilt")
        base = super()._connect()
        row = base.execute("SELECT value FROM meta WHERE key = 'owner'").fetchone()
        if row is None or row[0] != self._owner:
            base.close()
            raise IndexDamaged(f"{self.file} belongs to another bank", "it is rebuilt")
        return base


def _signature(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
