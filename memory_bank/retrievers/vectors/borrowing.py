"""Read vectors from other indices of the same embedder, so that no text is embedded twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank import sqlite
from memory_bank.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.models.numpy_setup import np
from memory_bank.retrievers.vectors.snapshot import Published, VectorSnapshot
from memory_bank.sqlite import Connection, chunked

if TYPE_CHECKING:
    from numpy.typing import NDArray


def borrowed(
    files: Iterable[Path], keys: Sequence[int], *, tables: str, version: int, dimension: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the vectors that other databases have of some texts: key and quantized vector.

    A database that is missing, damaged or of another version has none.
    """
    wanted = set(keys)
    for file in files:
        if not (wanted and file.is_file()):
            continue
        try:
            base = sqlite.connect(file, tables, version, make=False)
            with closing(base), sqlite.guarded(file):
                found = list(_found(base, file.parent, sorted(wanted), dimension))
        except (IndexDamaged, Busy, StorageFailed):
            continue  # they are embedded
        yield from found
        wanted.difference_update(key for key, _ in found)


def _found(
    base: Connection, folder: Path, keys: Sequence[int], dimension: int
) -> Iterator[tuple[int, bytes]]:
    base.execute("BEGIN")  # one state of the database and the snapshot that it names
    rows = list(chunked(base, "SELECT key, slot, vector FROM vectors WHERE key IN ({})", keys))
    size = dimension * np.dtype(np.int8).itemsize
    yield from ((key, blob) for key, slot, blob in rows if slot is None and len(blob) == size)
    kept = [(key, slot) for key, slot, _ in rows if slot is not None]
    published = base.execute("SELECT value FROM meta WHERE key = 'published'").fetchone()
    if kept and published is not None:
        vectors = _from_snapshot(published[0], folder, [slot for _, slot in kept], dimension)
        yield from ((key, row.tobytes()) for (key, _), row in zip(kept, vectors, strict=True))


def _from_snapshot(
    record: str, folder: Path, slots: Sequence[int], dimension: int
) -> NDArray[np.int8]:
    try:
        found = json.loads(record)
        published = Published(found["generation"], found["rows"], tuple(found["hashes"]))
        snapshot = VectorSnapshot(folder, published, dimension)
        return snapshot.at(np.array(slots, np.int64))
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise IndexDamaged(f"{folder} is damaged: {error}", "its texts are embedded") from error
