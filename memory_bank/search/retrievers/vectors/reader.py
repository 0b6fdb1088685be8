"""Read the vectors of an index: of its verified snapshot, and of its table of recent ones."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from blake3 import blake3

from memory_bank.base import sqlite
from memory_bank.base.errors import IndexDamaged
from memory_bank.base.sqlite import chunked
from memory_bank.search.models.vectors import cosines, np, packed, unpacked
from memory_bank.search.retrievers.base import IndexedPassage, Matches, Scale, Scope
from memory_bank.search.retrievers.keyword.analyzer import without_block_ids

if TYPE_CHECKING:  # numpy is imported from vectors alone
    from numpy.typing import NDArray
    from usearch.index import Index


GRAPH_FROM = 20_000
"""Number of rows from which the graph is searched, and below which all rows are (1 ms)."""

_CONNECTIVITY, _EXPANSION = 16, 64
"""Parameters of the graph. It selects 200 rows, which are then ranked by their cosines: .996 of the
best 20 rows and .970 of the best 200 (MiniLM: .999 and .980) are among them, over 17,228 passages
of three collections. If usearch quantizes the floats itself, .947 and .958 of the best 200 are."""

_UNSEARCHED = 2, 1
"""Parameters of a graph that is not searched: made of 20,000 rows in .08 s in place of 4.2 s."""

_PART = 1 << 20
"""Number of bytes that are hashed at a time."""


class VectorGeneration(NamedTuple):
    """One generation of vectors, and the hash of its file."""

    generation: int
    rows: int
    hash: str


class VectorSnapshot:
    """A loaded generation: vectors of one byte per dimension by the hash of their text."""

    def __init__(self, folder: Path, published: VectorGeneration) -> None:
        """Load a generation; raise IndexDamaged when its file is missing or its hash differs."""
        self.generation = published.generation
        self.rows = published.rows
        file = _file(folder, published.generation)
        if _hash(file) != published.hash:
            raise IndexDamaged(f"{file} is damaged", "its vectors are rebuilt")
        self._index = _view(file)
        self.keys: NDArray[np.int64] = np.sort(np.asarray(self._index.keys).view(np.int64))
        self._sample: NDArray[np.float32] | None = None

    def nearest(
        self, vector: NDArray[np.float32], limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the keys of the rows nearest to a unit vector and their cosines, best first."""
        exact = self.rows < GRAPH_FROM
        near = self._index.search(packed(vector[None])[0], limit, exact=exact).keys
        keys = np.sort(np.asarray(near, np.uint64).view(np.int64))
        best, scores = top(self.among(keys, vector), limit)
        return keys[best], scores

    def among(self, keys: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of chosen rows with a unit vector."""
        return cosines(self.at(keys), vector)

    def sample(self, count: int) -> NDArray[np.float32]:
        """Return evenly spaced rows as unit vectors: all, if there are at most `count`."""
        if self._sample is None:
            self._sample = unpacked(self.at(self.keys[:: max(1, self.rows // count)]))
        return self._sample

    def at(self, keys: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return chosen rows, quantized; raise KeyError if one is not there."""
        named = keys.view(np.uint64)
        if not np.all(self._index.contains(named)):  # `get` would return whatever is there
            raise KeyError("a vector is missing")
        found = self._index.get(named)  # a list, if nothing is asked for
        return np.asarray(found, np.int8).reshape(-1, self._index.ndim)


def top(scores: NDArray[np.float32], limit: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the indices and values of the highest scores, best first; ties by index."""
    if limit < len(scores):
        chosen = np.argpartition(-scores, limit - 1)[:limit]
    else:
        chosen = np.arange(len(scores))
    chosen = chosen[np.lexsort((chosen, -scores[chosen]))]
    return chosen, scores[chosen]


def publish(
    folder: Path, generation: int, keys: NDArray[np.int64], vectors: NDArray[np.int8]
) -> VectorGeneration:
    """Write a generation's file durably; it is used once the database names it."""
    from usearch.index import Index

    connectivity, expansion = (
        (_CONNECTIVITY, _EXPANSION) if len(keys) >= GRAPH_FROM else _UNSEARCHED
    )
    index = Index(
        ndim=vectors.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=connectivity,
        expansion_add=expansion,
    )
    index.add(keys.view(np.uint64), vectors, threads=0)
    file = _file(folder, generation)
    index.save(str(file))
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())
    return VectorGeneration(generation, len(keys), _hash(file))


def discard_others(folder: Path, generation: int) -> None:
    """Remove the files of other generations; one that a reader holds open on Windows stays."""
    for file in folder.glob("g*.*"):
        if file.stem != f"g{generation}":
            try:
                file.unlink()
            except OSError:
                continue


def _file(folder: Path, generation: int) -> Path:
    return folder / f"g{generation}.usearch"


def _view(file: Path) -> Index:
    from usearch.index import Index

    graph = Index.restore(str(file), view=True)
    if graph is None:
        raise IndexDamaged(f"{file} can't be read", "its vectors are rebuilt")
    return graph


def _hash(file: Path) -> str:
    hashed = blake3()
    try:
        with file.open("rb") as stream:
            while part := stream.read(_PART):
                hashed.update(part)
    except OSError as error:
        raise IndexDamaged(f"{file} is missing", "its vectors are rebuilt") from error
    return hashed.hexdigest()


Scored: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float32]]"
"""Keys of texts, and the cosine of each."""

_MANY = 0.2
"""Share of all passages in a scope from which all are scored: to look each up takes longer."""

_SAMPLE = 2000
"""Number of the snapshot's vectors from which the scale of cosines is estimated."""

_RECENT = """
SELECT key, vector FROM vectors WHERE vector IS NOT NULL
AND EXISTS (SELECT 1 FROM entries WHERE entries.key = vectors.key)
"""
"""Vectors in the table whose texts are still in use: others would displace passages."""


class VectorReader:
    """What was read of an index; each call reads the state of the caller's transaction."""

    def __init__(self, folder: Path, file: Path, dimension: int) -> None:
        """Read the snapshots in `folder` that the database `file` names."""
        self._folder = folder
        self._file = file
        self._dimension = dimension
        self._snapshot: VectorSnapshot | None = None
        self._recent: tuple[int, NDArray[np.int64], NDArray[np.float32]] | None = None
        self._postings = sqlite.Memo(Postings.load)

    def close(self) -> None:
        """Release the snapshot; the next call reads all again."""
        self._snapshot = self._recent = None

    def find(
        self, base: Connection, vector: NDArray[np.float32], limit: int, scope: Scope
    ) -> Matches:
        """Return the passages in scope with the highest cosines; raise IndexDamaged."""
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

    def vectors_of(self, base: Connection, rows: Collection[int]) -> dict[int, list[float]]:
        """Return the unit vectors of some passages by row."""
        sql = "SELECT row, key, vector FROM entries JOIN vectors USING (key) WHERE row IN ({})"
        loaded = self.snapshot(base)
        found = list(chunked(base, sql, list(rows)))
        kept = [(row, key) for row, key, blob in found if blob is None]
        recent = {row: blob for row, _, blob in found if blob is not None}
        vectors = dict(zip(recent, self._unpacked(recent.values()).tolist(), strict=True))
        if kept and loaded is not None:
            keys = np.array([key for _, key in kept], np.int64)
            rest = unpacked(loaded.at(keys)).tolist()
            vectors.update(zip((row for row, _ in kept), rest, strict=True))
        return vectors

    def _read_published(self, base: Connection) -> VectorGeneration | None:
        row = base.execute("SELECT value FROM meta WHERE key = 'published'").fetchone()
        if row is None:
            return None
        try:
            found = json.loads(row[0])
            return VectorGeneration(found["generation"], found["rows"], found["hash"])
        except (ValueError, TypeError, KeyError) as error:
            raise IndexDamaged(f"{self._file} is damaged: {error}", "it is rebuilt") from error

    def snapshot(self, base: Connection) -> VectorSnapshot | None:
        """Return the snapshot that the database names; raise IndexDamaged."""
        published = self._read_published(base)
        if published is None:
            return None
        loaded = self._snapshot
        if loaded is None or loaded.generation != published.generation:
            self._snapshot = None
            self._snapshot = VectorSnapshot(self._folder, published)
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
        loaded = self.snapshot(base)
        keys, recent = self._load_recent(base)
        best, scores = top(recent @ vector, limit)
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
            "SELECT DISTINCT vectors.key, vector FROM entries JOIN vectors USING (key)"
            f" WHERE {column} IN ({{}})"
        )
        loaded = self.snapshot(base)
        rows = list(chunked(base, sql, list(numbers)))
        recent = {key: blob for key, blob in rows if blob is not None}
        scores = self._unpacked(recent.values()) @ vector
        keys = np.array([key for key, blob in rows if blob is None], np.int64)
        if len(keys) and loaded is not None:
            scores = np.concatenate([loaded.among(keys, vector), scores])
        else:
            keys = np.empty(0, np.int64)
        return np.concatenate([keys, np.array(list(recent), np.int64)]), scores

    def _scores_of_all(self, base: Connection, vector: NDArray[np.float32]) -> Scored:
        """Score every passage."""
        loaded = self.snapshot(base)
        keys, recent = self._load_recent(base)
        if loaded is None:
            return keys, recent @ vector
        scores = loaded.among(loaded.keys, vector)
        return np.concatenate([loaded.keys, keys]), np.concatenate([scores, recent @ vector])

    def _count(self, base: Connection, column: str) -> int:
        sql = f"SELECT count(*) FROM (SELECT DISTINCT {column} FROM entries)"
        return int(base.execute(sql).fetchone()[0])

    def _sampled_cosines(
        self, base: Connection, vector: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return a vector's cosines with a sample of the snapshot and with the table's vectors."""
        loaded = self.snapshot(base)
        _, recent = self._load_recent(base)
        sampled = [loaded.sample(_SAMPLE) @ vector] if loaded else []
        return np.concatenate([*sampled, recent @ vector])

    def _unpacked(self, blobs: Iterable[bytes]) -> NDArray[np.float32]:
        """Return vectors of the table as unit vectors."""
        numbers = np.frombuffer(b"".join(blobs), np.int8)
        return unpacked(numbers.reshape(-1, self._dimension))

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


class Postings:
    """Entries in columns sorted by key; 24 bytes for each entry."""

    def __init__(self, entries: Iterable[tuple[int, int, int]]) -> None:
        """Take entries of key, row and document."""
        table = np.array(list(entries), np.int64).reshape(-1, 3)
        table = table[np.argsort(table[:, 0], kind="stable")]
        self._keys, self._rows, self._notes = (np.ascontiguousarray(part) for part in table.T)

    @classmethod
    def load(cls, base: Connection) -> Postings:
        """Read all entries."""
        return cls(base.execute("SELECT key, row, document FROM entries"))

    def of(
        self, keys: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the passages with these keys: index of its key, row and document of each."""
        first = np.searchsorted(self._keys, keys)
        counts = np.searchsorted(self._keys, keys, "right") - first
        which = np.repeat(np.arange(len(keys)), counts)
        # index of the first entry of each key, plus the offset of each entry from it
        ends = np.cumsum(counts)
        found = first[which] + np.arange(len(which)) - (ends - counts)[which]
        return which, self._rows[found], self._notes[found]


_PERFECT = 4.0
"""Standard deviations above the mean that count as a perfect match: few cosines are higher."""

_USUAL_MEAN, _USUAL_DEVIATION, _FEW = 0.09, 0.08, 20
"""Mean and standard deviation of the cosines of a question with the passages of three banks (both
embedders differ by .02 at most), and the number of passages as many as which they count."""


def scale_of(cosines: NDArray[np.float32]) -> Scale:
    """Return the mean of a question's cosines with many passages, and that of a perfect match."""
    count = len(cosines)
    above = cosines - _USUAL_MEAN
    shift = float(above.sum()) / (count + _FEW)
    square = (float((above**2).sum()) + _FEW * _USUAL_DEVIATION**2) / (count + _FEW)
    deviation = max(square - shift**2, 1e-6) ** 0.5
    mean = _USUAL_MEAN + shift
    return Scale(mean, mean + _PERFECT * deviation)


def text_of(entry: IndexedPassage) -> str:
    """Return what is embedded of a passage: its headings and its text; see `TEXT_VERSION`.

    Headings without a letter (numbers, dates) are left out: they cost a small model five points of
    NDCG. So are block ids.
    """
    path = [entry.title, *(heading for heading in entry.headings if heading != entry.title)]
    headings = " > ".join(part for part in path if any(map(str.isalpha, part)))
    return f"{headings}\n{without_block_ids(entry.text).strip()}".strip("\n")
