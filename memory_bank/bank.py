"""Open a folder of notes and wire the parts; the one place that knows all of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from memory_bank import config, layout, session_notes, sqlite
from memory_bank.activity.access import AccessLog
from memory_bank.activity.edits import EditLog
from memory_bank.activity.identity import bank_id
from memory_bank.activity.updates import UpdateLog
from memory_bank.config import Settings
from memory_bank.errors import (
    BadInput,
    Busy,
    IndexDamaged,
    NoteNotFound,
)
from memory_bank.index.dirty import DirtySet
from memory_bank.index.index import Index
from memory_bank.index.repairs import ACCESSES, EDITS, MANIFEST, UPDATES, WRITING
from memory_bank.layout import LEFT_ALONE, Layout
from memory_bank.locks import WAIT, locked
from memory_bank.manifest import lookup
from memory_bank.notes.store import Store

if TYPE_CHECKING:
    from memory_bank.index.report import Progress, SyncReport

_EMBED_SECONDS = 1.0
"""How long a query may embed what is new before it answers; the rest waits for `sync`."""
_WAIT = 5.0
"""How long a query waits for another process that indexes, before it answers from what is there;
where nothing is there yet, it waits as a writer does."""

_BUSY = "another process is indexing: the newest changes may be missing"
_TRIES = 20
"""How often a question is asked anew when other processes make the index anew meanwhile."""

Result = TypeVar("Result")


class Bank:
    """One bank, opened. Its parts are loaded when they are first needed.

    A bank may be used from several threads: one works at a time.
    """

    def __init__(self, place: Layout, settings: Settings, *, allow_secrets: bool = False) -> None:
        """Open the bank at `place`; nothing is read yet."""
        self.layout = place
        self.settings = settings
        self.store = Store(
            place,
            lambda: self._heal(WRITING),
            lambda path: session_notes.keep_out(place, path),
            allowed=settings.secrets.allow,
            allow_secrets=allow_secrets,
        )
        self.lock = threading.RLock()
        self.healed: list[str] = []
        """What was healed and is not yet told of: `writing` or `indexing` that a killed process had
        left half done, or what was damaged or missing and made anew (`manifest`, a retriever). Who
        tells of it takes it out: `take_healed`."""
        self.notices: list[str] = []
        """What else the next answer must say, once; taken out by `take_notices`."""
        self.problem = ""
        """Why answers may be poorer than they could be; empty when all is well."""
        self.progress: Progress | None = None
        """Who is told how far the catch-up before an answer is, if somebody wants to know."""
        self.embeds = True
        """Whether a question embeds what is new; not needed where another thread does."""
        self._index: Index | None = None
        self._access: AccessLog | None = None
        self._edits: EditLog | None = None
        self._updates: UpdateLog | None = None
        self._dirty = DirtySet(place.root)

    def __enter__(self) -> Self:
        """Return the bank itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the bank."""
        self.close()

    def close(self) -> None:
        """Let go of all files; the bank can be used again, which opens them anew."""
        with self.lock:
            self._drop()
            self._dirty.close()
            if self._access is not None:
                self._access.close()
                self._access = None
            if self._edits is not None:
                self._edits.close()
                self._edits = None
            if self._updates is not None:
                self._updates.close()
                self._updates = None

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Finish cut-short writes, index whatever differs, embed it, and check the indices."""
        with self.lock:
            with self.store.writing():
                pass
            report = self.healing(lambda index: index.indexer.sync(progress=progress))
            report.healed = self.take_healed()
            self.store.sweep(report.leftover)
            return report

    def take_healed(self) -> list[str]:
        """Return what was healed since somebody last asked.

        It waits for no lock: a server asks while another thread heals.
        """
        taken = self.healed[:]
        del self.healed[: len(taken)]
        return taken

    def take_notices(self) -> list[str]:
        """Return what there is to say since somebody last asked; it waits for no lock."""
        taken = self.notices[:]
        del self.notices[: len(taken)]
        return taken

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Make every index anew from the files; vectors of texts that stayed are kept."""
        with self.lock:
            before = self.healed[:]
            self._discard()
            _ = self.index
            self.healed[:] = before  # made anew because it was wanted
            return self.sync(progress)

    def catch_up(self, progress: Progress | None = None, *, insist: bool = False) -> None:
        """Bring the index up to the files before a question is answered.

        When another process is indexing for long, the answer comes from what is indexed so far
        and `problem` says so; a change that must know all notes insists, and Busy is raised.
        """
        with self.lock:
            self.problem = ""
            if self.store.interrupted():
                with self.store.writing():
                    pass
            self._dirty.update()
            if self._nothing_new():
                return
            try:
                report = self.healing(
                    lambda index: index.indexer.sync(
                        seconds=_EMBED_SECONDS if self.embeds else 0,
                        wait=_patience(index),
                        thorough=False,
                        paths=self._dirty.paths(index),
                        progress=progress or self.progress,
                    )
                )
            except Busy:
                if insist:
                    raise
                self.problem = _BUSY
                return
            self._dirty.clear(self._index)
            self.store.sweep(report.leftover)
            if report.problem:
                self.problem = report.problem
            elif report.waiting:
                next_ = "run `memory-bank sync`" if self.embeds else "they are being made"
                self.problem = f"{report.waiting} passages wait for their vectors: {next_}"

    def answer(self, ask: Callable[[Index], Result], progress: Progress | None = None) -> Result:
        """Bring the index up to the files and ask it; the question must change nothing."""
        with self.lock:
            self.catch_up(progress)
            return self.healing(ask)

    def embed(self, seconds: float) -> SyncReport:
        """Embed what waits for about that many seconds, so that no question has to.

        Raises Busy when another process indexes for long.
        """
        with self.lock:
            return self.healing(lambda index: index.indexer.embed(seconds))

    def _nothing_new(self) -> bool:
        """Tell whether the index is known to be up to the files, without looking at them."""
        clean = self._index is not None and self._dirty.paths(self._index) == frozenset()
        return clean and self._complete()

    def _complete(self) -> bool:
        """Tell whether every retriever has everything that the manifest knows."""
        index = self._index
        try:
            with sqlite.guarded(self.layout.manifest):
                return index is not None and index.current() and index.complete()
        except IndexDamaged:
            return False

    def healing(self, ask: Callable[[Index], Result]) -> Result:
        """Ask the index; when it turns out damaged, mend it from the files and ask again.

        When another process made it anew meanwhile, what was answered is not believed: the rows
        of two manifests don't mix.
        """
        with self.lock:
            mends: list[Callable[[Index], object]] = [Index.heal, _synced]
            first: Callable[[Index], object] = _nothing
            for _ in range(_TRIES):
                try:
                    return self._ask(first, ask)
                except IndexDamaged:
                    asked = self._index
                    if asked is not None and not asked.current():
                        first = self._caught_up  # no damage: another process made it anew
                        continue
                    if not mends:
                        raise
                    first = mends.pop(0)
                    if first is _synced:
                        self._discard()
                        self._heal(MANIFEST)
            return self._ask(first, ask)

    def _ask(self, first: Callable[[Index], object], ask: Callable[[Index], Result]) -> Result:
        known = self._index
        index = self.index
        with sqlite.guarded(self.layout.manifest):
            if known not in {None, index}:
                self._caught_up(index)
            first(index)
            found = ask(index)
        if not index.current():
            raise IndexDamaged(f"{self.layout.manifest} was replaced", "it is opened anew")
        return found

    def _caught_up(self, index: Index) -> None:
        """Fill an index that another process made, or is about to fill."""
        try:
            index.indexer.sync(seconds=_EMBED_SECONDS, wait=_patience(index), thorough=False)
        except Busy:
            self.problem = _BUSY

    @property
    def index(self) -> Index:
        """The manifest and retrievers, opened anew when their files were deleted or replaced."""
        lost = self._index is not None and not self._index.current()
        if lost:
            lost = not self.layout.manifest.exists()  # no other process made it anew
            self._drop()
        if self._index is None:
            self._make_folder()
            if lost:
                self._heal(MANIFEST)
            self._index = Index(self.layout, self.settings, self.access.of, self._heal)
        return self._index

    @property
    def access(self) -> AccessLog:
        """The log of accesses, in the state folder of this machine."""
        if self._access is None:
            folder = self.layout.state(self.id)
            self._access = AccessLog(folder, lambda: self._heal(ACCESSES))
        return self._access

    @property
    def edits(self) -> EditLog:
        """The log of which agents changed which notes, in the state folder of this machine."""
        if self._edits is None:
            self._edits = EditLog(self.layout.state(self.id), lambda: self._heal(EDITS))
        return self._edits

    @property
    def updates(self) -> UpdateLog:
        """The log of when notes were updated, in the state folder of this machine."""
        if self._updates is None:
            self._updates = UpdateLog(self.layout.state(self.id), lambda: self._heal(UPDATES))
        return self._updates

    @property
    def id(self) -> str:
        """What this machine's private state of the bank is kept under."""
        return bank_id(self.layout)

    def find(self, name: str) -> str:
        """Return the path of the note that a name means; raise NoteNotFound, naming near ones.

        A name is a path with or without `.md`, a unique file name, an alias, a title or an id; a
        path may have any form that `spelling.of_note` knows.
        """
        from memory_bank.manifest import link_resolution  # start-up: a question names no note
        from memory_bank.notes.spelling import of_note

        self.catch_up()
        found: list[str] = []
        for form in dict.fromkeys([name, of_note(name, self.layout)]):  # as it stands first
            found = found or self._answering_to(form)
        if len(found) == 1:
            return found[0]
        if found:
            raise NoteNotFound(
                f"{name!r} may mean {len(found)} notes", f"say which: {', '.join(found[:8])}"
            )
        near = self.healing(lambda index: link_resolution.similar(index.base, name))
        hint = f"did you mean {', '.join(near)}?" if near else "see `memory-bank notes`"
        raise NoteNotFound(f"there is no note {name!r}", hint)

    def _answering_to(self, name: str) -> list[str]:
        from memory_bank.manifest import link_resolution

        return self.healing(lambda index: link_resolution.candidates(index.base, name))

    def path_of(self, name: str) -> str:
        """Return the path of the new note that a name means, in any form; raise BadName."""
        from memory_bank.notes import names, spelling

        return names.path_of(spelling.of_note(name, self.layout))

    def check_enabled(self) -> None:
        """Raise BadInput when the settings turn memory off here."""
        if not self.settings.memory.enabled:
            where = self.settings.origins.get("memory.enabled", "the settings")
            raise BadInput("memory is turned off for this bank", f"set enabled = true ({where})")

    def _heal(self, what: str) -> None:
        """Keep in mind that something was healed, until it is told."""
        if what not in self.healed:
            self.healed.append(what)

    def _make_folder(self) -> None:
        """Make the folder of derived files, where it belongs now; say once if that is elsewhere."""
        self.layout = layout.at(self.layout.root)
        self.layout.make_index()
        if self.layout.first_left_alone():
            self.notices.append(LEFT_ALONE)

    def _drop(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def _discard(self) -> None:
        """Remove the manifest, when no other process is in the middle of a batch."""
        self._drop()
        self._make_folder()
        with locked(self.layout.index, make=self.layout.make_index):
            sqlite.discard(self.layout.manifest)


def _patience(index: Index) -> float:
    return _WAIT if lookup.any_done(index.base) else WAIT


def _nothing(index: Index) -> None:
    """Trust the index as it is."""


def _synced(index: Index) -> None:
    """Fill an index that was just made."""
    index.indexer.sync()


def open_bank(
    path: str | os.PathLike[str] | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    allow_secrets: bool = False,
) -> Bank:
    """Open a bank: a folder of notes, or the `.memories` of a project; make its files on first use.

    Which one without a path: `layout.locate`. `settings` maps "section.key" to values that win over
    files and environment. With `allow_secrets`, no write is refused with SecretFound. Raises
    NoBank, BadSetting.
    """
    place = layout.locate(path, settings=settings)
    return Bank(place, config.load(place.root, flags=settings), allow_secrets=allow_secrets)
