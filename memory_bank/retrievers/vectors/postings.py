"""Which passages have which text: several may have the same one, which is embedded once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memory_bank.models.numpy_setup import np
from memory_bank.sqlite import Connection

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Postings:
    """Entries in columns sorted by key, in 24 bytes an entry."""

    def __init__(self, entries: Iterable[tuple[int, int, int]]) -> None:
        """Take key, row and document of entries."""
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
        """Return the passages with these texts: place of the key, row and document of each.

        A text may stand in several passages.
        """
        first = np.searchsorted(self._keys, keys)
        counts = np.searchsorted(self._keys, keys, "right") - first
        which = np.repeat(np.arange(len(keys)), counts)
        # the first of each key's run of entries, and how far behind it each one stands
        ends = np.cumsum(counts)
        found = first[which] + np.arange(len(which)) - (ends - counts)[which]
        return which, self._rows[found], self._notes[found]
