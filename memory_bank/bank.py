"""Open a folder of notes and wire the parts; the one place that knows all of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from memory_bank import config, layout, note_rows, session_notes
from memory_bank.activity.access import AccessLog
from memory_bank.activity.bank_identity import bank_id
from memory_bank.activity.edits import EditLog
from memory_bank.activity.updates import UpdateLog
from memory_bank.config import Settings
from memory_bank.errors import BadInput, Busy, IndexDamaged, NoteNotFound
from memory_bank.hints import Hint
from memory_bank.index.index import EMBED_SECONDS, Index, discard
from memory_bank.index.repairs import ACCESSES, EDITS, MANIFEST, UPDATES, WRITING
from memory_bank.layout import LEFT_ALONE, Layout
from memory_bank.manifest.manifest import Manifest
from memory_bank.notes.name_forms import of_note
from memory_bank.notes.names import path_of
from memory_bank.notes.source import NotesSource
from memory_bank.notes.store import Store
from memory_bank.repo.commit_history import CommitHistory

if TYPE_CHECKING:
    from memory_bank.index.report import Progress, SyncReport
    from memory_bank.search.engine import Engine

_BUSY = "another process is indexing: the newest changes may be missing"
_TRIES = 20
"""How often a question is asked again when other processes replace the index meanwhile."""

Result = TypeVar("Result")


class View:
    """One generation of the index, as a question sees it."""

    def __init__(self, bank: Bank, index: Index) -> None:
        """Look at an index of a bank."""
        self.index = index
        self.source = bank.source
        self._bank = bank

    @property
    def manifest(self) -> Manifest:
        """What is known of the notes."""
        return self.index.manifest

    @cached_property
    def engine(self) -> Engine:
        """The ranking."""
        from memory_bank.search.engine import Engine  # start-up: many questions rank nothing

        bank = self._bank
        return Engine(self.manifest, self.index.retrievers, bank.settings, bank.access.of)


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
            lambda: self._report(WRITING),
            lambda path: session_notes.keep_out(place, path),
            allowed=settings.secrets.allow,
            allow_secrets=allow_secrets,
        )
        self.lock = threading.RLock()
        self.repaired: list[str] = []
        """What was repaired and is not yet reported: `writing` or `indexing` that a killed process
        had left half done, or what was damaged or missing and made again (`manifest`, a retriever).
        Who reports it takes it out: `take_repaired`."""
        self.notices: list[str] = []
        """What else the next answer must say, once; taken out by `take_notices`."""
        self.problem = ""
        """Why answers may be poorer than they could be; empty when all is well."""
        self.progress: Progress | None = None
        """Who is told how far the catch-up before an answer is, if somebody wants to know."""
        self.embeds = True
        """Whether a question embeds what is new; not needed where another thread does."""
        self._view: View | None = None
        self._access: AccessLog | None = None
        self._edits: EditLog | None = None
        self._updates: UpdateLog | None = None

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
            self.source.close()
            if self._access is not None:
                self._access.close()
                self._access = None
            if self._edits is not None:
                self._edits.close()
                self._edits = None
            if self._updates is not None:
                self._updates.close()
                self._updates = None

    @cached_property
    def source(self) -> NotesSource:
        """The notes, as the index reads them."""
        return NotesSource(
            self.layout.root,
            prefix=self.layout.prefix,
            max_bytes=self.settings.memory.max_note_bytes,
            history=CommitHistory(self.layout.root, lambda: self.layout.index / "commits.db"),
        )

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Finish cut-short writes, index whatever differs, embed it, and check the indices."""
        with self.lock:
            with self.store.writing():
                pass
            report = self.read(lambda view: view.index.indexer.sync(progress=progress))
            report.repaired = self.take_repaired()
            report.leftover = self.source.leftover
            self.store.sweep(report.leftover)
            return report

    def take_repaired(self) -> list[str]:
        """Return what was repaired since somebody last asked.

        It waits for no lock: a server asks while another thread repairs.
        """
        taken = self.repaired[:]
        del self.repaired[: len(taken)]
        return taken

    def take_healed(self) -> list[str]:
        """Return what `take_repaired` returns; its former name, for this version."""
        return self.take_repaired()

    def take_notices(self) -> list[str]:
        """Return what there is to say since somebody last asked; it waits for no lock."""
        taken = self.notices[:]
        del self.notices[: len(taken)]
        return taken

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Make the index again from the files; vectors of texts that stayed are kept."""
        with self.lock:
            before = self.repaired[:]
            self._discard()
            self._opened()
            self.repaired[:] = before  # made again because it was wanted
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
            seconds = EMBED_SECONDS if self.embeds else 0
            try:
                report = self.read(
                    lambda view: view.index.catch_up(seconds, progress or self.progress)
                )
            except Busy:
                if insist:
                    raise
                self.problem = _BUSY
                return
            if report is None:
                return
            self.store.sweep(self.source.leftover)
            if report.problem:
                self.problem = report.problem
            elif report.waiting:
                next_ = "run `memory-bank sync`" if self.embeds else "they are being made"
                self.problem = f"{report.waiting} passages wait for their vectors: {next_}"

    def answer(self, ask: Callable[[View], Result], progress: Progress | None = None) -> Result:
        """Bring the index up to the files and ask it; the question must change nothing."""
        with self.lock:
            self.catch_up(progress)
            return self.read(ask)

    def embed(self, seconds: float) -> SyncReport:
        """Embed what waits for about that many seconds, so that no question has to.

        Raises Busy when another process indexes for long.
        """
        return self.read(lambda view: view.index.indexer.embed(seconds))

    def read(self, ask: Callable[[View], Result]) -> Result:
        """Ask the index as it is; when it turns out damaged, repair it and ask once more.

        When another process replaced it meanwhile, what was answered is not believed: the rows of
        two manifests don't mix.
        """
        with self.lock:
            repairs = [self._repair, self._rebuild]
            for _ in range(_TRIES):
                view = None
                try:
                    view = self._opened()
                    with view.manifest.guarded():
                        found = ask(view)
                    if view.index.current():
                        return found
                except IndexDamaged:
                    if view is None or not view.index.current():
                        continue  # no damage: another process replaced it
                    if not repairs:
                        raise
                    repairs.pop(0)(view)
            raise Busy("other processes replace the index all the time", Hint.TRY_AGAIN)

    def _repair(self, view: View) -> None:
        """Refill what is damaged; make all again where the manifest is."""
        try:
            with view.manifest.guarded():
                view.index.repair()
        except IndexDamaged:
            if view.index.current():
                self._rebuild(view)

    def _rebuild(self, _: View) -> None:
        self._discard()
        self._report(MANIFEST)
        self._opened().index.indexer.sync()

    def _opened(self) -> View:
        """Return the index, opened again when its files were deleted or replaced."""
        lost = replaced = False
        if self._view is not None and not self._view.index.current():
            lost = not self.layout.manifest.exists()
            replaced = not lost  # another process made it again
            self._drop()
        if self._view is None:
            self._make_folder()
            if lost:
                self._report(MANIFEST)
            place = self.layout
            index = Index(place, self.source, self.settings, repaired=self._report)
            self._view = View(self, index)
            if lost or replaced:
                with index.manifest.guarded():
                    index.fill()
        return self._view

    @property
    def access(self) -> AccessLog:
        """The log of accesses, in the state folder of this machine."""
        if self._access is None:
            folder = self.layout.state(self.id)
            self._access = AccessLog(folder, lambda: self._report(ACCESSES))
        return self._access

    @property
    def edits(self) -> EditLog:
        """The log of which agents changed which notes, in the state folder of this machine."""
        if self._edits is None:
            self._edits = EditLog(self.layout.state(self.id), lambda: self._report(EDITS))
        return self._edits

    @property
    def updates(self) -> UpdateLog:
        """The log of when notes were updated, in the state folder of this machine."""
        if self._updates is None:
            self._updates = UpdateLog(self.layout.state(self.id), lambda: self._report(UPDATES))
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
        near = self.read(lambda view: note_rows.similar(view.manifest, name))
        hint = f"did you mean {', '.join(near)}?" if near else Hint.LIST_NOTES
        raise NoteNotFound(f"there is no note {name!r}", hint)

    def _answering_to(self, name: str) -> list[str]:
        return self.read(lambda view: note_rows.candidates(view.manifest, name))

    def path_of(self, name: str) -> str:
        """Return the path of the new note that a name means, in any form; raise BadName."""
        return path_of(of_note(name, self.layout))

    def check_enabled(self) -> None:
        """Raise BadInput when the settings turn memory off here."""
        if not self.settings.memory.enabled:
            where = self.settings.origins.get("memory.enabled", "the settings")
            raise BadInput("memory is turned off for this bank", f"set enabled = true ({where})")

    def _report(self, what: str) -> None:
        """Keep in mind that something was repaired, until it is reported."""
        if what not in self.repaired:
            self.repaired.append(what)

    def _make_folder(self) -> None:
        """Make the folder of derived files, where it belongs now; say once if that is elsewhere."""
        self.layout = layout.at(self.layout.root)
        self.layout.make_index()
        if self.layout.first_left_alone():
            self.notices.append(LEFT_ALONE)

    def _drop(self) -> None:
        if self._view is not None:
            self._view.index.close()
            self._view = None

    def _discard(self) -> None:
        """Remove the manifest, when no other process is in the middle of a batch."""
        self._drop()
        self._make_folder()
        discard(self.layout)


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
