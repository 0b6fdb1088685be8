"""Read and publish the vectors of an index: files of usearch, verified by their hashes."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from blake3 import blake3

from memory_bank.base import sqlite
from memory_bank.base.errors import IndexDamaged, StorageFailed
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

_THREADS = 1
"""Number of threads that add rows: with more, usearch ends the process where none can start."""

UNUSED_MOST = 1000
"""Number of vectors of former texts that stay in any case: another branch may have the texts."""

_PART = 1 << 20
"""Number of bytes that are hashed at a time."""


Scored: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float32]]"
"""Keys of texts, and the cosine of each."""


class VectorGeneration(NamedTuple):
    """One generation of vectors, and the hash of its file."""

    generation: int
    hash: str


class VectorSnapshot:
    """A loaded generation: vectors of one byte per dimension by the hash of their text."""

    def __init__(self, folder: Path, published: VectorGeneration) -> None:
        """Load a generation; raise IndexDamaged when its file is missing or its hash differs."""
        self.published = published
        self._file = _file(folder, published.generation)
        if _hash(self._file) != published.hash:
            raise IndexDamaged(f"{self._file} is damaged", "its vectors are rebuilt")
        self._index = self._restored(view=True)
        self.keys: NDArray[np.int64] = np.sort(np.asarray(self._index.keys).view(np.int64))

    def __len__(self) -> int:
        """Return the number of vectors."""
        return len(self.keys)

    def nearest(
        self, vector: NDArray[np.float32], limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the keys of the rows nearest to a unit vector and their cosines, best first."""
        exact = len(self) < GRAPH_FROM
        near = self._index.search(packed(vector[None])[0], limit, exact=exact).keys
        keys, scores = self.among(np.sort(np.asarray(near, np.uint64).view(np.int64)), vector)
        best, scores = top(scores, limit)
        return keys[best], scores

    def among(self, keys: NDArray[np.int64], vector: NDArray[np.float32]) -> Scored:
        """Return those of some keys that have a vector, and its cosine with a unit vector."""
        keys = keys[self.has(keys)]
        return keys, cosines(self.at(keys), vector)

    def has(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell of each key whether it has a vector."""
        return np.asarray(self._index.contains(keys.view(np.uint64)), np.bool_).reshape(-1)

    def at(self, keys: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the quantized rows of keys, each of which must have one."""
        found = self._index.get(keys.view(np.uint64))  # a list, if nothing is asked for
        return np.asarray(found, np.int8).reshape(-1, self._index.ndim)

    def changed(
        self, used: NDArray[np.int64], keys: NDArray[np.int64], vectors: NDArray[np.int8]
    ) -> Index:
        """Return a copy with more rows; if there are many that are not used, without these."""
        unused = np.setdiff1d(self.keys, used, assume_unique=True)
        many = len(unused) > max(UNUSED_MOST, len(used) // 10)
        gone = np.union1d(unused, keys) if many else keys
        kept = np.setdiff1d(self.keys, gone)
        parameters = _parameters(len(kept) + len(keys))
        if parameters == _parameters(len(self)) and len(kept) == len(self):
            index = self._restored(view=False)
            index.expansion_add = parameters[1]  # type: ignore[misc]  # not in the file
        else:  # also where rows go: usearch corrupts memory if others take their places
            index = _made(kept, self.at(kept), parameters)
        index.add(keys.view(np.uint64), vectors, threads=_THREADS)
        return index

    def _restored(self, *, view: bool) -> Index:
        """Open the file: as a view, which needs no memory, unless it has another owner."""
        from usearch.index import Index

        try:
            found = Index.restore(str(self._file), view=view)
        except RuntimeError as error:
            if view:  # refused to all but the owner
                return self._restored(view=False)
            raise self._damaged(str(error)) from error
        if found is None:
            raise self._damaged("it is gone")
        return found

    def _damaged(self, why: str) -> IndexDamaged:
        return IndexDamaged(f"{self._file} can't be read: {why}", "its vectors are rebuilt")


def top(scores: NDArray[np.float32], limit: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the indices and values of the highest scores, best first; ties by index."""
    if limit < len(scores):
        chosen = np.argpartition(-scores, limit - 1)[:limit]
    else:
        chosen = np.arange(len(scores))
    chosen = chosen[np.lexsort((chosen, -scores[chosen]))]
    return chosen, scores[chosen]


def publish(
    folder: Path,
    before: VectorSnapshot | None,
    used: NDArray[np.int64],
    keys: NDArray[np.int64],
    vectors: NDArray[np.int8],
) -> VectorGeneration:
    """Write the next generation durably, with new rows; it is used once the database names it.

    It may leave out rows of which no key is in `used`. Raises StorageFailed.
    """
    if before is None:
        generation, index = 1, _made(keys, vectors, _parameters(len(keys)))
    else:
        generation = before.published.generation + 1
        index = before.changed(used, keys, vectors)
    file = _file(folder, generation)
    try:
        index.save(str(file))
        with file.open("rb+") as stream:
            os.fsync(stream.fileno())
    except (RuntimeError, OSError) as error:
        raise StorageFailed(f"{file} can't be written: {error}") from error
    return VectorGeneration(generation, _hash(file))


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


def _parameters(rows: int) -> tuple[int, int]:
    return (_CONNECTIVITY, _EXPANSION) if rows >= GRAPH_FROM else _UNSEARCHED


def _made(keys: NDArray[np.int64], vectors: NDArray[np.int8], parameters: tuple[int, int]) -> Index:
    from usearch.index import Index

    connectivity, expansion = parameters
    index = Index(
        ndim=vectors.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=connectivity,
        expansion_add=expansion,
    )
    index.add(keys.view(np.uint64), vectors, threads=_THREADS)
    return index


def _hash(file: Path) -> str:
    hashed = blake3()
    try:
        with file.open("rb") as stream:
            while part := stream.read(_PART):
                hashed.update(part)
    except OSError as error:
        raise IndexDamaged(f"{file} is missing", "its vectors are rebuilt") from error
    return hashed.hexdigest()


_MANY = 0.2
"""Share of all passages in a scope from which all are scored: to look each up takes longer."""

_SAMPLE = 2000
"""Number of passages from which the scale of cosines is estimated."""

_WIDER = 4
"""Factor by which more rows are looked for, while too few of the nearest are in scope."""


class VectorReader:
    """What was read of an index; each call reads the state of the caller's transaction."""

    def __init__(self, folder: Path, file: Path) -> None:
        """Read the snapshots in `folder` that the database `file` names."""
        self._folder = folder
        self._file = file
        self._snapshot: VectorSnapshot | None = None
        self._postings = sqlite.Memo(Postings.load)
        self._sample = sqlite.Memo(_sampled)

    def close(self) -> None:
        """Release the snapshot; the next call reads all again."""
        self._snapshot = None

    def find(
        self, base: Connection, vector: NDArray[np.float32], limit: int, scope: Scope
    ) -> Matches:
        """Return the passages in scope with the highest cosines; raise IndexDamaged."""
        loaded = self.snapshot(base)
        if loaded is None or not limit:
            return Matches()
        sample = self._sample.of(base)
        sampled = loaded.among(_sampled(base) if sample is None else sample, vector)
        scale = scale_of(sampled[1])
        within = scope.only if scope.rows is None else scope.rows
        column = "document" if scope.rows is None else "row"
        if within is not None:
            few = len(within) <= _MANY * self._count(base, column)
            keys = keys_of(base, column, within) if few else loaded.keys
            return self._matches(base, loaded.among(keys, vector), limit, scope, scale)
        count = limit + len(scope.without)
        while True:
            count = min(count, len(loaded))
            found = self._matches(base, loaded.nearest(vector, count), limit, scope, scale)
            if len(found.rows) == limit or count == len(loaded):
                return found
            count *= _WIDER

    def vectors_of(self, base: Connection, rows: Collection[int]) -> dict[int, list[float]]:
        """Return the unit vectors of some passages by row."""
        loaded = self.snapshot(base)
        if loaded is None:
            return {}
        sql = "SELECT row, key FROM entries WHERE row IN ({})"
        table = np.array(list(chunked(base, sql, list(rows))), np.int64).reshape(-1, 2)
        table = table[loaded.has(table[:, 1])]
        vectors = unpacked(loaded.at(table[:, 1])).tolist()
        return dict(zip(table[:, 0].tolist(), vectors, strict=True))

    def _read_published(self, base: Connection) -> VectorGeneration | None:
        row = base.execute("SELECT value FROM meta WHERE key = 'published'").fetchone()
        if row is None:
            return None
        try:
            found = json.loads(row[0])
            return VectorGeneration(found["generation"], found["hash"])
        except (ValueError, TypeError, KeyError) as error:
            raise IndexDamaged(f"{self._file} is damaged: {error}", "it is rebuilt") from error

    def snapshot(self, base: Connection) -> VectorSnapshot | None:
        """Return the snapshot that the database names; raise IndexDamaged."""
        published = self._read_published(base)
        if published is None:
            return None
        loaded = self._snapshot
        if loaded is None or loaded.published != published:
            self._snapshot = None
            self._snapshot = VectorSnapshot(self._folder, published)
        return self._snapshot

    def _count(self, base: Connection, column: str) -> int:
        sql = f"SELECT count(*) FROM (SELECT DISTINCT {column} FROM entries)"
        return int(base.execute(sql).fetchone()[0])

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


def _sampled(base: Connection) -> NDArray[np.int64]:
    """Return the keys of passages, chosen by their hash; a snapshot has those of former texts."""
    (count,) = base.execute("SELECT count(*) FROM entries").fetchone()
    sql = "SELECT DISTINCT key FROM entries WHERE key % ? = 0"
    rows = base.execute(sql, (max(1, count // _SAMPLE),))
    return np.fromiter((key for (key,) in rows), np.int64)


def keys_of(base: Connection, column: str, numbers: Collection[int]) -> NDArray[np.int64]:
    """Return the keys of the passages with one of some numbers in a column."""
    sql = f"SELECT DISTINCT key FROM entries WHERE {column} IN ({{}})"
    return np.array(sorted({key for (key,) in chunked(base, sql, list(numbers))}), np.int64)


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
