"""Immutable snapshots of all vectors, verified by hash when they are loaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

from memory_bank.errors import IndexDamaged
from memory_bank.models.numpy_setup import np
from memory_bank.models.quantization import cosines, packed, unpacked

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from usearch.index import Index

GRAPH_FROM = 20_000
"""Number of rows from which a graph is used (measured at 20,000: 0.1 ms, and 1 ms for all rows)."""
_CONNECTIVITY, _EXPANSION = 16, 64
"""Parameters of the graph. It selects 200 rows, which are then ranked by their cosines: .996 of the
best 20 rows and .970 of the best 200 (MiniLM: .999 and .980) are among them, over 17,228 passages
of three collections. If usearch quantizes the floats itself, .947 and .958 of the best 200 are."""
_PART = 1 << 20
"""Number of bytes that are hashed at a time."""


class Published(NamedTuple):
    """The names and hashes of one generation of files."""

    generation: int
    rows: int
    hashes: tuple[str, ...]


class VectorSnapshot:
    """A loaded generation: vectors of one byte per dimension; if many, in a graph index."""

    def __init__(self, folder: Path, published: Published, dimension: int) -> None:
        """Load a generation; raise IndexDamaged when a file is missing or its hash differs."""
        self.generation = published.generation
        self.rows = published.rows
        files = _files(folder, published.generation, published.rows)
        for file, wanted in zip(files, published.hashes, strict=True):
            if _hash(file) != wanted:
                raise IndexDamaged(f"{file} is damaged", "its vectors are rebuilt")
        self.keys: NDArray[np.int64] = np.fromfile(files[0], np.int64)
        many = published.rows >= GRAPH_FROM
        self._graph: Index | None = _view(files[1]) if many else None
        packed_rows = np.empty(0, np.int8) if many else np.fromfile(files[1], np.int8)
        self._bytes: NDArray[np.int8] = packed_rows.reshape(-1, dimension)
        self._full: NDArray[np.float32] | None = None
        self._sample: NDArray[np.float32] | None = None

    def nearest(
        self, vector: NDArray[np.float32], limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the keys of the rows nearest to a unit vector and their cosines, best first."""
        if self._graph is not None:
            near = self._graph.search(packed(vector[None])[0], limit).keys
            slots = np.sort(near.astype(np.int64))
            best, scores = top(self.among(slots, vector), limit)
            return self.keys[slots[best]], scores
        if self._full is None:
            self._full = unpacked(self._bytes)
        best, scores = top(self._full @ vector, limit)
        return self.keys[best], scores

    def among(self, slots: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of chosen rows with a unit vector."""
        return cosines(self.at(slots), vector)

    def sample(self, count: int) -> NDArray[np.float32]:
        """Return evenly spaced rows as unit vectors: all, if there are at most `count`."""
        if self._sample is None:
            step = max(1, self.rows // count)
            self._sample = unpacked(self.at(np.arange(0, self.rows, step)))
        return self._sample

    def at(self, slots: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return chosen rows, quantized."""
        if self._graph is None:
            return self._bytes[slots]
        return np.asarray(self._graph.get(slots.astype(np.uint64)), np.int8)


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
) -> Published:
    """Write a generation's files durably; they are used once the database names them."""
    files = _files(folder, generation, len(keys))
    _write(files[0], keys.tobytes())
    if len(keys) >= GRAPH_FROM:
        _build_graph(vectors).save(str(files[1]))
        with files[1].open("rb+") as stream:
            os.fsync(stream.fileno())
    else:
        _write(files[1], vectors.tobytes())
    return Published(generation, len(keys), tuple(_hash(file) for file in files))


def discard_others(folder: Path, generation: int) -> None:
    """Remove the files of other generations; one that a reader holds open on Windows stays."""
    for file in folder.glob("g*.*"):
        if file.stem != f"g{generation}":
            try:
                file.unlink()
            except OSError:
                continue


def _files(folder: Path, generation: int, rows: int) -> tuple[Path, Path]:
    """Return the files of keys and of vectors of a generation with that many rows."""
    stem = folder / f"g{generation}"
    return stem.with_suffix(".keys"), stem.with_suffix(".usearch" if rows >= GRAPH_FROM else ".i8")


def _build_graph(vectors: NDArray[np.int8]) -> Index:
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION,
    )
    index.add(np.arange(len(vectors), dtype=np.uint64), vectors, threads=0)
    return index


def _view(file: Path) -> Index:
    from usearch.index import Index

    graph = Index.restore(str(file), view=True)
    if graph is None:
        raise IndexDamaged(f"{file} can't be read", "its vectors are rebuilt")
    return graph


def _write(file: Path, data: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _hash(file: Path) -> str:
    hashed = blake3()
    try:
        with file.open("rb") as stream:
            while part := stream.read(_PART):
                hashed.update(part)
    except OSError as error:
        raise IndexDamaged(f"{file} is missing", "its vectors are rebuilt") from error
    return hashed.hexdigest()
