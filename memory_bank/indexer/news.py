"""Keep in mind which notes changed since an index was brought up to the files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.indexer.ear import Ear


class News:
    """What a bank heard of its files between two questions.

    The first question is answered by looking at the files; from the second on there is an ear,
    where the system allows one.
    """

    def __init__(self, root: Path) -> None:
        """Hear nothing yet."""
        self._root = root
        self._ear: Ear | None = None
        self._asked = self._deaf = False
        self._changed: frozenset[str] | None = None
        self._known: object = None

    def gather(self) -> None:
        """Add what was heard of since the last call."""
        heard = self._ear.heard() if self._ear else None
        if heard is None:
            self._changed = None
            self._listen()
        elif self._changed is not None:
            self._changed |= heard

    def changed(self, index: object) -> frozenset[str] | None:
        """Return the notes that an index does not have as they are now; None: any may be."""
        return self._changed if index is self._known else None

    def indexed(self, index: object) -> None:
        """Forget what was heard up to the last `gather`: an index has it."""
        self._changed, self._known = frozenset(), index

    def close(self) -> None:
        """Forget all, and hear nothing."""
        if self._ear is not None:
            self._ear.close()
            self._ear = None
        self._asked = self._deaf = False
        self._changed = self._known = None

    def _listen(self) -> None:
        if self._ear is not None:
            self._ear.close()
            self._ear = None
        if self._asked and not self._deaf:
            from memory_bank.indexer.ear import Ear

            self._ear = Ear.at(self._root)
            self._deaf = self._ear is None
        self._asked = True
