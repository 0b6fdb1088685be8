"""A published set of vectors: immutable files, checked by hash before they are loaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

from memory_bank.embedders._numpy import np
from memory_bank.errors import IndexDamaged

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from usearch.index import Index

GRAPH_FROM = 20_000
"""Rows from which a graph index beats reading all rows (measured: 1 ms against 0.1 at 20,000)."""
_CONNECTIVITY, _EXPANSION = 16, 64
"""The graph chooses rows whose cosines are then taken from the matrix: bytes will do. They take a
third of the time of float16 with usearch's own expansion of 128, and .991 (.997) of the best 20
rows are among the 200 found, over 18,000 passages of three collections."""


_PART = 1 << 20
"""Bytes that are hashed at a time."""


class Published(NamedTuple):
    """The names and hashes of one generation of files."""

    generation: int
    rows: int
    hashes: tuple[str, ...]


class Matrix:
    """Vectors in float16, row by row, with a graph index over them when they are many."""

    def __init__(self, folder: Path, published: Published, dimension: int) -> None:
        """Load a generation; raise IndexDamaged when a file is missing or its hash differs."""
        self.generation = published.generation
        self.rows = published.rows
        files = _files(folder, published.generation)[: len(published.hashes)]
        self._stamps = {file: _stamp(file) for file in files}
        for file, wanted in zip(files, published.hashes, strict=True):
            if _hash(file) != wanted:
                raise IndexDamaged(f"{file} is damaged", "its vectors are made again")
        self.keys: NDArray[np.int64] = np.fromfile(files[1], np.int64)
        shape = (published.rows, dimension)
        # A map of a file that somebody cuts kills the process: few rows are copied, many watched.
        self._half: NDArray[np.float16] = (
            np.asarray(np.memmap(files[0], np.float16, "r", shape=shape))
            if published.rows >= GRAPH_FROM
            else np.fromfile(files[0], np.float16).reshape(shape)
        )
        self._full: NDArray[np.float32] | None = None
        self._graph: Index | None = _view(files[2]) if len(files) > 2 else None  # noqa: PLR2004

    def whole(self) -> bool:
        """Tell whether the files are still those that were checked."""
        return all(_stamp(file) == stamp for file, stamp in self._stamps.items())

    def nearest(
        self, vector: NDArray[np.float32], limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the keys of the rows nearest to a unit vector and their cosines, best first."""
        if self._graph is not None:
            slots = np.sort(self._graph.search(vector, limit).keys.astype(np.int64))
            best, scores = top(self.among(slots, vector), limit)
            return self.keys[slots[best]], scores
        if self._full is None:
            self._full = np.asarray(self._half, np.float32)
        best, scores = top(self._full @ vector, limit)
        return self.keys[best], scores

    def among(self, slots: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of chosen rows with a unit vector."""
        return np.asarray(self._half[slots], np.float32) @ vector

    def vectors(self) -> NDArray[np.float16]:
        """Return all rows."""
        return self._half


def top(scores: NDArray[np.float32], limit: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the places and values of the highest scores, best first; ties by place."""
    if limit < len(scores):
        chosen = np.argpartition(-scores, limit - 1)[:limit]
    else:
        chosen = np.arange(len(scores))
    chosen = chosen[np.lexsort((chosen, -scores[chosen]))]
    return chosen, scores[chosen]


def publish(
    folder: Path, generation: int, keys: NDArray[np.int64], vectors: NDArray[np.float16]
) -> Published:
    """Write a generation's files durably; they count once their names stand in the database."""
    matrix, names, graph = _files(folder, generation)
    _write(matrix, np.ascontiguousarray(vectors).tobytes())
    _write(names, keys.tobytes())
    files = [matrix, names]
    if len(keys) >= GRAPH_FROM:
        _build_graph(vectors).save(str(graph))
        with graph.open("rb+") as stream:
            os.fsync(stream.fileno())
        files.append(graph)
    return Published(generation, len(keys), tuple(_hash(file) for file in files))


def discard_others(folder: Path, generation: int) -> None:
    """Remove the files of other generations; one that a reader holds open on Windows stays."""
    kept = set(_files(folder, generation))
    for file in folder.glob("g*.*"):
        if file not in kept:
            try:
                file.unlink()
            except OSError:
                continue


def _files(folder: Path, generation: int) -> tuple[Path, Path, Path]:
    stem = folder / f"g{generation}"
    return stem.with_suffix(".f16"), stem.with_suffix(".keys"), stem.with_suffix(".usearch")


def _build_graph(vectors: NDArray[np.float16]) -> Index:
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION,
    )
    index.add(np.arange(len(vectors), dtype=np.uint64), np.asarray(vectors, np.float32), threads=0)
    return index


def _view(file: Path) -> Index:
    from usearch.index import Index

    graph = Index.restore(str(file), view=True)
    if graph is None:
        raise IndexDamaged(f"{file} can't be read", "its vectors are made again")
    return graph


def _write(file: Path, data: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _stamp(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _hash(file: Path) -> str:
    hashed = blake3()
    try:
        with file.open("rb") as stream:
            while part := stream.read(_PART):
                hashed.update(part)
    except OSError as error:
        raise IndexDamaged(f"{file} is missing", "its vectors are made again") from error
    return hashed.hexdigest()
