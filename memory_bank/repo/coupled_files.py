"""The coupling of a work tree's files as of now, from its commits, imports and texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from memory_bank.errors import Busy
from memory_bank.repo.commits import Commits
from memory_bank.repo.coupling import Coupling
from memory_bank.repo.history import History
from memory_bank.repo.likeness import Likeness
from memory_bank.repo.word_table import WordTable
from memory_bank.repo.work_tree import TreeScan


class CouplingState(NamedTuple):
    """The coupling as of one moment."""

    coupling: Coupling
    files: Collection[str]
    """The files of the work tree."""
    notices: tuple[str, ...]
    """What is left out, and why."""


class CoupledFiles:
    """The coupling of the files of one work tree; computed again when any evidence changed."""

    def __init__(self, commits: Commits, words: WordTable, *, max_files: int) -> None:
        """Open nothing yet; commits that change more than `max_files` files don't count."""
        self._commits = commits
        self._words = words
        self._max_files = max_files
        self._of: tuple[object, ...] = ()
        """What the state was computed from."""
        self._state: CouplingState | None = None

    def state(self, scan: TreeScan, imports: Mapping[str, Collection[str]]) -> CouplingState:
        """Return the coupling of the files of a scan; `imports` maps files to those they import.

        Raises StorageFailed if a database can't be used.
        """
        likeness: Likeness | None = None
        notices: list[str] = []
        try:
            likeness = self._words.refresh(scan)
            notices += self._words.notes
        except Busy:
            notices.append("another process reads the texts: their likeness is not used")
        history = self.history()
        notices += history.notes
        of = (history, likeness, imports, self._words.files)
        same = len(of) == len(self._of) and all(map(_same, of, self._of))
        if not same or self._state is None:
            files = self._words.files
            coupling = Coupling(history, files, imports=imports, likeness=likeness)
            self._state = CouplingState(coupling, files, tuple(notices))
            self._of = of
        return self._state._replace(notices=tuple(notices))

    def history(self) -> History:
        """Return the history as of now; raise StorageFailed if its database can't be used."""
        try:
            return self._commits.history(self._max_files)
        except Busy:
            return History(notes=("another process reads the commits: they are not used",))

    def close(self) -> None:
        """Close the databases."""
        self._of, self._state = (), None
        self._commits.close()
        self._words.close()


def _same(one: object, other: object) -> bool:
    """Tell whether evidence is unchanged: files are compared, all else is the same object."""
    return one == other if isinstance(one, frozenset) else one is other
