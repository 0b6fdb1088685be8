"""The index of a bank as questions find it: opened, opened anew when replaced, and repaired."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memory_bank import note_files
from memory_bank.activity.logs import Logs
from memory_bank.config import Settings
from memory_bank.errors import StorageFailed
from memory_bank.index.index import Index, discard, empty
from memory_bank.index.reopening import ReopenedIndex
from memory_bank.layout import LEFT_ALONE, Layout
from memory_bank.notes.roots import Roots
from memory_bank.notes.source import NotesSource
from memory_bank.repairs import MANIFEST, Reports

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from memory_bank.search.engine import Engine

Result = TypeVar("Result")

_MEMORY = Path("/dev/shm")  # noqa: S108  (a folder of a random name is made in it, for this user)
"""A file system in memory, which Linux has."""
_FULL = "the disk of the index is full: until there is space, it is in {}"


class View:
    """One generation of the index, as a question sees it."""

    def __init__(self, index: Index, owner: OpenIndex) -> None:
        """Look at an index."""
        self.index = index
        self.manifest = index.manifest
        self.source = owner.source
        self._owner = owner

    @cached_property
    def engine(self) -> Engine:
        """The ranking."""
        from memory_bank.search.engine import Engine  # start-up: many questions rank nothing

        owner = self._owner
        return Engine(self.manifest, self.index.retrievers, owner.settings, owner.logs().access.of)


class OpenIndex(ReopenedIndex[View]):
    """The index of the notes at a place; its files may go, be replaced or be damaged meanwhile.

    It may be used from several threads: one works at a time.
    """

    def __init__(
        self,
        place: Layout,
        settings: Settings,
        logs: Callable[[], Logs],
        repairs: Reports,
        notices: Reports,
        roots: Roots | None = None,
    ) -> None:
        """Open nothing yet; tell `repairs` what was made again, `notices` what else to say.

        `roots` are the folders of the notes; by default, those of the bank at `place`.
        """
        super().__init__()
        self.layout = place
        self.roots = roots or note_files.roots_of(lambda: self.layout, settings)
        self.source = NotesSource(
            self.roots,
            max_bytes=settings.memory.max_note_bytes,
            in_project=place.project_has,
        )
        self.settings = settings
        self.logs = logs
        self._repairs = repairs
        self._notices = notices
        self._spare = False
        """Whether the index is elsewhere, since the disk of its own place is full."""
        self._memory: TemporaryDirectory[str] | None = None
        self._view: View | None = None

    def read(self, ask: Callable[[View], Result]) -> Result:
        """Query the index as `ReopenedIndex` does; if its disk is full, one that is elsewhere."""
        with self.lock:
            try:
                return super().read(ask)
            except StorageFailed as error:
                if self._spare or not _is_full(error):
                    raise
                for place in self._elsewhere():
                    self._drop()
                    self.layout, self._spare = place, True
                    with suppress(StorageFailed):
                        found = super().read(ask)
                        self._notices.add_once(_FULL.format(place.index))
                        return found
                self.close()
                raise

    def opened(self) -> View:
        """Return the index, opened again when its files were deleted or replaced."""
        lost = replaced = False
        if self._view is not None and not self._view.index.current():
            lost = not self.layout.manifest.exists()
            replaced = not lost  # another process made it again
            self._drop()
        if self._view is None:
            self._make_folder()
            if lost:
                self._repairs.add(MANIFEST)
            index = Index(self.layout, self.source, self.settings, repaired=self._repairs.add)
            self._view = View(index, self)
            if lost or replaced:
                with index.manifest.guarded():
                    index.fill()
        return self._view

    def include(self, settings: Settings) -> None:
        """Read the files that other settings include from now on."""
        with self.lock:
            if self.roots.included is not None:
                self.roots.included.close()
            place = self.layout
            self.roots.included = note_files.included(place, settings, lambda: self.layout.index)
            self.source.forget()

    def discard(self) -> None:
        """Remove the manifest, when no other process is in the middle of a batch."""
        self._drop()
        self._make_folder()
        discard(self.layout)

    def empty(self) -> None:
        """Remove all derived files, when no other process is in the middle of a batch."""
        with self.lock:
            self._drop()
            self._make_folder()
            empty(self.layout)

    def close(self) -> None:
        """Let go of all files; they are opened again when they are needed."""
        self._drop()
        self._spare = False
        if self._memory is not None:
            self._memory.cleanup()
            self._memory = None
        self.source.close()

    def rebuild(self) -> None:
        """Remove the manifest, and build the index again from the files."""
        self.discard()
        self._repairs.add(MANIFEST)
        self.opened().index.indexer.sync()

    def _make_folder(self) -> None:
        """Make the folder of derived files, where it belongs now; say once if that is elsewhere."""
        if not self._spare:
            self.layout = self.layout.renewed()
        self.layout.make_index()
        if self.layout.first_left_alone():
            self._notices.add(LEFT_ALONE)

    def _elsewhere(self) -> Iterator[Layout]:
        """Yield other places for the index: the last one is in memory, until it is closed."""
        yield from self.layout.spare()
        if _MEMORY.is_dir():
            from tempfile import TemporaryDirectory  # start-up: few need it

            with suppress(OSError):
                self._memory = TemporaryDirectory(prefix="memory-bank-", dir=_MEMORY)
                yield Layout(self.layout.root, Path(self._memory.name, "index"))

    def _drop(self) -> None:
        if self._view is not None:
            self._view.index.close()
            self._view = None


def _is_full(error: BaseException) -> bool:
    """Tell whether an error is that of a full disk, by what caused it."""
    cause: BaseException | None = error
    while cause is not None:
        number = cause.errno if isinstance(cause, OSError) else 0
        said = str(cause)
        if number in (errno.ENOSPC, errno.EDQUOT) or "No space left" in said or "is full" in said:
            return True
        cause = cause.__cause__
    return False
