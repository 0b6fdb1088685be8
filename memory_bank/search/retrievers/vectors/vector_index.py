"""The vector index: a vector for each passage in one SQLite file, compared by cosine with usearch.

A vector is stored by the hash of its text, so that a note that is moved, renamed or reverted needs
no new embedding. A text without a vector waits for `catch_up`.

An embedder may take seconds for a bank. If the last components of its vectors are those of a quick
embedder (`quick`), these are computed first, and searched until nearly all vectors are whole.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from memory_bank.base import sqlite
from memory_bank.base.errors import EmbedderUnavailable, Hint, IndexDamaged, StorageFailed
from memory_bank.notes.identity import number_text
from memory_bank.search.embedders.base import Embedder, Kind, Vectors, identity
from memory_bank.search.retrievers.base import (
    FEW_TEXTS,
    TEXT_VERSION,
    VECTORS_VERSION,
    IndexedPassage,
    Matches,
    Question,
    Scope,
    Unit,
)
from memory_bank.search.retrievers.keyword.analyzer import clean_text

if TYPE_CHECKING:
    from memory_bank.search.retrievers.vectors.columns import Columns

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (row INTEGER PRIMARY KEY, document INTEGER NOT NULL, key INTEGER NOT NULL);
CREATE INDEX entries_document ON entries (document);
CREATE INDEX entries_key ON entries (key);
CREATE TABLE texts (key INTEGER PRIMARY KEY, vector BLOB, text TEXT);
CREATE INDEX texts_waiting ON texts (key) WHERE text IS NOT NULL
"""
"""A text is kept until its vector is whole."""

_BATCH, _QUICK_BATCH = 16, 512
"""Number of texts that are embedded at a time: 16 take a transformer .4 s."""

_WHOLE = 0.95
"""Share of the passages that must have a whole vector before these are searched."""

UNUSED_MOST = 1000
"""Number of vectors of former texts that stay: another branch may have the texts."""

_UNUSED = "key NOT IN (SELECT key FROM entries)"

_WAITING = "FROM texts WHERE text IS NOT NULL"


class VectorIndex(sqlite.Opened):
    """The retriever of the vector index."""

    name = "vectors"
    unit: Unit = "passages"
    explanation = "its meaning"
    slow = True

    def __init__(self, folder: Path, owner: str, embedder: Embedder, problem: str = "") -> None:
        """Use the index in `folder`; each embedder identity has its own folder.

        `problem` says why another embedder, which the settings name, can't be used.
        """
        super().__init__(folder / "vectors.db", _TABLES, VECTORS_VERSION)
        self.version = f"{VECTORS_VERSION}.{TEXT_VERSION} {identity(embedder)}"
        self.embedder = identity(embedder)
        """The identity of the embedder; only vectors of one identity can be compared."""
        self.dimension = embedder.dimension
        self.problem = problem
        self._owner = f"{owner} {self.version}"
        self._embedder = embedder
        self._quick: Embedder | None = getattr(embedder, "quick", None)
        self._columns = sqlite.Memo(_columns)

    @property
    def weight(self) -> float:
        """The weight of the embedder whose vectors are searched now."""
        return self._searched.weight

    @property
    def foreign_weight(self) -> float:
        """The same for questions in another language than English."""
        return getattr(self._searched, "foreign_weight", self.weight)

    @property
    def code_weight(self) -> float:
        """The same for code."""
        return self._searched.code_weight

    @property
    def similarity_threshold(self) -> float:
        """The least cosine of a match without words, of the embedder whose vectors are searched."""
        return self._searched.similarity_threshold

    @property
    def _searched(self) -> Embedder:
        if self._quick is None:
            return self._embedder
        if not self.waiting():
            return self._embedder
        waiting, passages = self.progress()
        return self._embedder if waiting <= (1 - _WHOLE) * passages else self._quick

    def to_compact(self) -> Collection[int]:
        """Return nothing: this index has no segments."""
        return ()

    def put(self, entries: Sequence[IndexedPassage], replaced: Collection[int]) -> None:
        """Record the text of each passage, which waits for `catch_up` unless it has a vector.

        Of more than a few, a quick embedder makes its part of the vectors now.
        """
        with sqlite.convert_errors(self.file):
            base = self.opened()
            if not base.in_transaction:
                base.execute("BEGIN IMMEDIATE")
            numbers = ((document,) for document in replaced)
            base.executemany("DELETE FROM entries WHERE document = ?", numbers)
            texts = [
                (entry, number_text(text), text)
                for entry in entries
                if (text := embedded_text(entry))
            ]
            base.executemany(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)",
                ((entry.row, entry.document, key) for entry, key, _ in texts),
            )
            base.executemany(
                "INSERT OR IGNORE INTO texts VALUES (?, NULL, ?)", (row[1:] for row in texts)
            )
            if self._waiting(base) > FEW_TEXTS:  # a note that is written needs no numpy
                self._embed_quickly(base)

    def commit(self) -> None:
        """Make what was put durable."""
        if self._base is not None and self._base.in_transaction:
            if not self.current():
                raise IndexDamaged(f"{self.file} was replaced", "it is rebuilt")
            with sqlite.convert_errors(self.file):
                self._base.execute("COMMIT")

    def catch_up(self, seconds: float) -> int:
        """Embed waiting texts for about that many seconds; return how many still wait.

        Raises EmbedderUnavailable; vectors computed until then are kept.
        """
        end = time.monotonic() + seconds
        with sqlite.convert_errors(self.file):
            base = self.opened()
            base.execute(f"DELETE FROM texts WHERE text IS NOT NULL AND {_UNUSED}")
            batch = _QUICK_BATCH if self._quick is None else _BATCH
            sql = f"SELECT key, text {_WAITING} ORDER BY key LIMIT {batch}"
            while time.monotonic() < end and (rows := base.execute(sql).fetchall()):
                from memory_bank.search.retrievers.vectors import columns  # start-up: as in `put`

                try:
                    vectors = _embed(self._embedder, [text for _, text in rows], "passage")
                except EmbedderUnavailable:
                    with sqlite.transaction(base):
                        self._embed_quickly(base)
                    raise
                with sqlite.transaction(base):
                    columns.store(base, [key for key, _ in rows], vectors, whole=True)
            base.execute(
                f"DELETE FROM texts WHERE {_UNUSED} AND key NOT IN"
                f" (SELECT key FROM texts WHERE {_UNUSED} LIMIT {UNUSED_MOST})"
            )
            return self._waiting(base)

    def _embed_quickly(self, base: Connection) -> None:
        """Give each new text a vector whose last components are those of the quick embedder."""
        quick = self._quick
        if quick is None:
            return
        from memory_bank.search.retrievers.vectors import columns  # start-up: as in `put`

        sql = f"SELECT key, text {_WAITING} AND vector IS NULL LIMIT {_QUICK_BATCH}"
        while rows := base.execute(sql).fetchall():
            vectors = columns.pad_vectors(quick.embed([text for _, text in rows]), self.dimension)
            columns.store(base, [key for key, _ in rows], vectors, whole=False)

    def state(self) -> str:
        """Return the signatures of the database's files."""
        files = (self.file, self.file.with_name(f"{self.file.name}-wal"))
        signatures = [file.stat() for file in files if file.exists()]
        return repr([(entry.st_size, entry.st_mtime_ns, entry.st_ino) for entry in signatures])

    def waiting(self) -> int:
        """Count the texts that have no whole vector yet."""
        with sqlite.convert_errors(self.file):
            return self._waiting(self.opened())

    def unsearchable(self) -> int:
        """Count the texts that have no vector at all."""
        with sqlite.convert_errors(self.file):
            sql = f"SELECT count(*) {_WAITING} AND vector IS NULL"
            return int(self.opened().execute(sql).fetchone()[0])

    def progress(self) -> tuple[int, int]:
        """Return how many passages wait for a whole vector, and how many there are."""
        with sqlite.convert_errors(self.file):
            base = self.opened()
            waiting = f"SELECT count(*) FROM entries WHERE key IN (SELECT key {_WAITING})"
            (passages,) = base.execute("SELECT count(*) FROM entries").fetchone()
            return int(base.execute(waiting).fetchone()[0]), int(passages)

    def holds(self, entries: Mapping[int, int]) -> bool:
        """Tell whether the index has exactly these passages, embedded or waiting."""
        with sqlite.convert_errors(self.file):
            base = self.opened()
            lost = "SELECT count(*) FROM entries WHERE key NOT IN (SELECT key FROM texts)"
            rows = dict(base.execute("SELECT row, document FROM entries"))
            return rows == entries and not base.execute(lost).fetchone()[0]

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:
        """Return the passages with the highest cosines; raise EmbedderUnavailable."""
        from memory_bank.search.retrievers.vectors.columns import last_part

        with sqlite.convert_errors(self.file):
            base = self.opened()
            columns = self._columns.of(base) or _columns(base)
        if not limit or not len(columns.rows):
            return Matches()
        embedder = self._searched
        vector = _embed(embedder, [question.text], "query")[0]
        if not vector.any():
            return Matches()
        if embedder is self._quick:
            return columns.nearest(vector, limit, scope)
        matches = columns.nearest(vector, limit, scope, columns.whole)
        if self._quick is None or columns.whole.all():
            return matches
        part = last_part(vector, self._quick.dimension)
        return _merge_matches(matches, columns.nearest(part, limit, scope, ~columns.whole), limit)

    def vectors_of(self, rows: Collection[int]) -> dict[int, list[float]]:
        """Return the whole unit vectors of some passages by row, of those that have one."""
        from memory_bank.search.retrievers.vectors.columns import FILL, read

        with sqlite.convert_errors(self.file):
            sql = f"{FILL} AND text IS NULL AND row IN ({{}})"
            table = list(sqlite.execute_chunked(self.opened(), sql, list(rows)))
        return {row: read(data) for row, _, _, data, _ in table}

    def question_vector(self, text: str) -> list[float] | None:
        """Return the vector of a question; None if it says nothing. Raises EmbedderUnavailable."""
        vector = _embed(self._embedder, [text], "query")[0]
        return vector.tolist() if vector.any() else None

    def check(self) -> None:
        """Raise IndexDamaged unless the index can be opened and read."""
        with sqlite.convert_errors(self.file):
            (answer,) = self.opened().execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise IndexDamaged(f"{self.file} is damaged: {answer}", "it is rebuilt")

    def clear(self) -> None:
        """Remove all passages; vectors stay, since a text's vector never changes."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._empty()
            except IndexDamaged:
                self.close()
                sqlite.discard(self.file)
                self._empty()
        except OSError as error:
            raise StorageFailed(f"{self.file} can't be written: {error.strerror}") from error

    def _empty(self) -> None:
        self.close()
        base = self._hold(super()._connect())
        with sqlite.convert_errors(self.file):
            base.execute("INSERT OR REPLACE INTO meta VALUES ('owner', ?)", (self._owner,))
            base.execute("DELETE FROM entries")
        self.check()

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

    def _waiting(self, base: Connection) -> int:
        return int(base.execute(f"SELECT count(*) {_WAITING}").fetchone()[0])


def _embed(embedder: Embedder, texts: Sequence[str], kind: Kind) -> Vectors:
    """Embed texts; raise EmbedderUnavailable for vectors that are not finite."""
    from memory_bank.search.models.vectors import np  # start-up: as in `put`

    rows = embedder.embed(texts, kind)
    if not np.isfinite(rows).all():
        raise EmbedderUnavailable(
            f"the embedder {embedder.name} returns NaN or infinite components",
            Hint.TEST_EMBEDDER,
            "embedder_bad_answer",
        )
    return rows


def _columns(base: Connection) -> Columns:
    from memory_bank.search.retrievers.vectors.columns import Columns  # start-up: as in `put`

    return Columns(base)


def _merge_matches(matches: Matches, others_matches: Matches, limit: int) -> Matches:
    """Merge matches by other vectors, whose scores are first brought to the scale of these."""
    low, high = others_matches.scale
    factor = (matches.scale.perfect - matches.scale.unrelated) / (high - low)
    start = matches.scale.unrelated
    moved = (match._replace(score=start + (match.score - low) * factor) for match in others_matches)
    best = sorted([*matches, *moved], key=lambda match: (-match.score, match.row))
    return Matches.of(best[:limit], matches.scale)


def embedded_text(passage: IndexedPassage) -> str:
    """Return what is embedded of a passage: its headings and its text; see `TEXT_VERSION`.

    Headings without a letter (numbers, dates) are left out: they cost a small model five points of
    NDCG. So are block ids and the targets of links.
    """
    path = [passage.title, *(heading for heading in passage.headings if heading != passage.title)]
    headings = " > ".join(part for part in path if any(map(str.isalpha, part)))
    return f"{headings}\n{clean_text(passage.text).strip()}".strip("\n")
