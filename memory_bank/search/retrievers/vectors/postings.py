"""Map the keys of embedded texts to passages: several passages may have the same text."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection
from typing import TYPE_CHECKING

from memory_bank.search.models.numpy_setup import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
