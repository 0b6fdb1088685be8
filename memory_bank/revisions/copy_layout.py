"""The folders of a copy of a bank."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path

from memory_bank.layout import Layout, private_folder, without_links

_PROJECT, _INDEX, _STATE = "project", "index", "state"


class CopyLayout(Layout):
    """The folders of a copy of a bank as of another revision, all of them in one folder."""

    def __init__(
        self,
        slot: Path,
        origin: Layout,
        names: Callable[[], Collection[str]] = frozenset,
        commit: str = "",
    ) -> None:
        """Keep the copy of the bank at `origin` in the folder `slot`.

        `names` returns the paths of all files that the project had, below the project. `commit` is
        that of the revision; empty for what is staged.
        """
        super().__init__((project_in(slot) / origin.prefix).resolve(), index_in(slot))
        self.slot = slot
        self._origin = origin
        self._names = names
        self._commit = commit

    @property
    def origin(self) -> Layout:
        """The layout of the bank itself."""
        return self._origin

    @property
    def commit(self) -> str:
        """The commit whose files these are; empty for staged ones."""
        return self._commit

    def listed(self) -> Collection[str]:
        """Return the files that the project had, and the folders above them."""
        return self._paths

    def renewed(self) -> Layout:
        """Return the same layout: it is never elsewhere."""
        return self

    def make_index(self) -> None:
        """Make the folder of derived files; nobody else can have made it."""
        without_links(private_folder(self.index))

    def state(self, bank_id: str) -> Path:
        """Return a folder of the copy in place of the bank's private state, so that this stays."""
        del bank_id
        return self.slot / _STATE

    def unused_indices(self) -> list[Path]:
        """Return no folders: the copy has one index."""
        return []

    def project_has(self, path: str) -> bool:
        """Tell whether the project had a file or folder at a path below it."""
        return path in self._paths

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The files, and the folders above them."""
        found: set[str] = set()
        for name in self._names():
            while name and name not in found:
                found.add(name)
                name = name.rpartition("/")[0]  # noqa: PLW2901  (the folder above it)
        return frozenset(found)


def index_in(slot: Path) -> Path:
    """Return the folder of a copy's derived files."""
    return slot / _INDEX


def project_in(slot: Path) -> Path:
    """Return the folder of a copy's project."""
    return slot / _PROJECT
