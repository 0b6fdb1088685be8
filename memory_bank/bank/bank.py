"""A bank: opens a folder of notes and connects its store, index and logs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from memory_bank.bank import note_files, open_index
from memory_bank.bank.bank_id import bank_id
from memory_bank.bank.bank_state import BankState
from memory_bank.bank.open_index import OpenIndex
from memory_bank.base import Closable, paths, settings
from memory_bank.base.detached import is_at_work
from memory_bank.base.errors import BadSetting, Busy, MemoryBankError, NoteNotFound
from memory_bank.base.filenames import NOTE_SUFFIXES, SETTINGS
from memory_bank.base.paths import Layout
from memory_bank.base.repairs import WRITING, Reports
from memory_bank.base.settings import Settings, load
from memory_bank.git.file_commits import FileCommits
from memory_bank.git.objects import Revision
from memory_bank.notes.names import link_name, lookup_key, name_included
from memory_bank.notes.roots import Roots, Watched
from memory_bank.notes.storage.store import Store
from memory_bank.search.document_changes import UNLIMITED, IndexLimits, Progress, SyncReport
from memory_bank.search.index import EMBED_SECONDS, IndexView
from memory_bank.search.manifest import document_rows

Result = TypeVar("Result")


class Conditions:
    """A front-end's callbacks and reports for a bank."""

    def __init__(
        self,
        progress: Progress | None = None,
        embeds: Callable[[], bool] = lambda: True,
        repairs: Reports | None = None,
        notices: Reports | None = None,
        limits: IndexLimits = UNLIMITED,
    ) -> None:
        self.progress = progress
        """Called with the progress of long work, such as the catch-up before an answer."""
        self.embeds = embeds
        """Whether a query embeds new passages; not needed while another thread does."""
        self.repairs = repairs or Reports()
        """Receives repairs: `writing` or `indexing` that a killed process had left unfinished, or a
        damaged or missing part that was rebuilt (`manifest`, a retriever)."""
        self.notices = notices or Reports()
        """Receives other notices for the next answer."""
        self.limits = limits
        """How much is indexed at most."""


class Bank(Closable):
    """An open bank. Its parts are loaded on first use.

    A bank may be used from several threads, one at a time.
    """

    def __init__(
        self,
        place: Layout,
        settings: Settings,
        *,
        allow_secrets: bool = False,
        conditions: Conditions | None = None,
        load: Callable[[Path], Settings] | None = None,
        roots: Roots | None = None,
    ) -> None:
        """Open the bank at `place`; nothing is read yet.

        `load` reads the settings of a folder of notes, again after a change of their files.
        `roots` are the folders of the notes of a copy, which nobody may change.
        """
        self.settings = settings
        self._load = load
        self._roots = roots
        self.revision: Revision | None = None
        """Which revision a copy is of; None for the bank itself."""
        self.edits_of: Bank | None = None
        """The bank whose record of what agents wrote a copy has; None for its own."""
        self._files = note_files.settings_files(place)
        self._loaded = note_files.bank_signature(self._files)
        self._conditions = conditions = conditions or Conditions()
        self._index = OpenIndex(
            place,
            settings,
            lambda: self.state,
            conditions.repairs,
            conditions.notices,
            roots,
            limits=conditions.limits,
        )
        self.roots = self._index.roots
        self.store = Store(
            place,
            lambda: conditions.repairs.add(WRITING),
            self._placed,
            roots=self.roots,
            allowed=settings.secrets.allow,
            allow_secrets=allow_secrets,
        )
        self.source = self._index.source
        self.lock = self._index.lock
        self.read = self._index.read
        """Query the index without updating it: see `OpenIndex.read`."""
        self._state: BankState | None = None
        self.problem = ""
        """Why the last answer may be incomplete; empty if it is complete."""
        self.waiting = 0
        """The number of passages that had no vector, or no whole one, at the last answer."""

    def close(self) -> None:
        """Close all files; using the bank again reopens them."""
        with self.lock:
            self._index.close()
            if self._state is not None:
                self._state.close()
                self._state = None

    @property
    def layout(self) -> Layout:
        """The paths of the bank's parts."""
        return self._index.layout

    @property
    def id(self) -> str:
        """The name of the folder with this machine's private state of the bank."""
        return bank_id(self.layout)

    @property
    def state(self) -> BankState:
        """This machine's records of how the bank is used, in its state folder."""
        if self._state is None:
            self._state = BankState(self.layout.state(self.id), self._conditions.repairs.add)
        return self._state

    @property
    def edits(self) -> BankState:
        """This machine's record of what agents wrote."""
        return (self.edits_of or self).state

    @property
    def is_hurried(self) -> bool:
        """Whether an answer has to come in a short time: see `IndexLimits`."""
        return bool(self._conditions.limits)

    def commits(self, path: str) -> FileCommits | None:
        """Return the commits of the files beside a note; None if it is private to this machine."""
        return cast("FileCommits | None", self.roots.of(path).history)

    def _placed(self, path: str) -> None:
        """Prepare the place of a new note; raise NoteReadOnly in a copy."""
        if self._roots is not None:
            self._roots.check_writable(path)
        note_files.keep_out(self.layout, path)

    def add_repaired(self, text: str) -> None:
        """Add a repair that the next answer reports."""
        self._conditions.repairs.add(text)

    def take_repaired(self) -> list[str]:
        """Return the repairs since the last call.

        It takes no lock, so that a server can call it while another thread repairs.
        """
        return self._conditions.repairs.take()

    def add_notice(self, text: str) -> None:
        """Add a notice to the next answer; its text is ours, not that of a file."""
        self._conditions.notices.add(text)

    def take_notices(self) -> list[str]:
        """Return the other notices since the last call; it takes no lock."""
        return self._conditions.notices.take()

    @property
    def progress(self) -> Progress | None:
        """What is called with the progress of long work."""
        return self._conditions.progress

    def counted(self, text: str, items: Sequence[Result]) -> Iterator[Result]:
        """Yield items, and report how many of them are done."""
        tell = self.progress or (lambda *_: None)
        for number, entry in enumerate(items):
            tell(text, number, len(items))
            yield entry
        if items:
            tell(text, len(items), len(items))

    def settings_in(self, folder: Path) -> Settings:
        """Return the settings that the bank would have if its notes were in another folder.

        Raises BadSetting.
        """
        return settings.load(folder) if self._load is None else self._load(folder)

    def folders(self) -> list[Path]:
        """Return the folders in which its notes are made: its own, and the private one."""
        return [root.folder for root in self.roots.written()]

    def watched(self) -> list[Watched]:
        """Return the folders whose changes may change notes."""
        return [folder for root in self.roots.all() for folder in root.watched()]

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Finish interrupted writes, index and embed whatever differs, and check the indices."""
        with self.lock:
            self._include()
            with self.store.writing():
                pass
            report = self.read(lambda view: view.index.indexer.sync(progress=progress))
            report.repaired = self.take_repaired()
            report.leftover = self.source.leftover
            self.store.sweep(report.leftover)
            return report

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Rebuild the index from the files; vectors of unchanged texts are kept."""
        with self.lock:
            before = self.take_repaired()
            self._index.discard()
            self._index.opened()
            self.take_repaired()  # a requested rebuild is not a repair
            self._conditions.repairs.add(*before)
            return self.sync(progress)

    def empty_index(self) -> None:
        """Remove all derived files, so that no removed text is in them; the next query rebuilds."""
        self._index.empty()

    def catch_up(
        self, progress: Progress | None = None, *, insist: bool = False, meaning: bool = True
    ) -> str:
        """Update the index from the files before a query; return the answer's `problem`.

        If another process indexes for long, the problem says that the answer may be incomplete;
        with `insist`, for changes that must know all notes, Busy is raised instead. What is not
        asked by `meaning` leaves a few new passages for the next question that is.
        """
        with self.lock:
            self.problem = ""
            self._include()
            if self.store.interrupted():
                with self.store.writing():
                    pass
            embeds = self._conditions.embeds()
            embeds = embeds and not is_at_work(self.layout.index)
            seconds, progress = (
                EMBED_SECONDS if embeds else 0,
                progress or self._conditions.progress,
            )
            try:
                report = self.read(
                    lambda view: view.index.catch_up(seconds, progress, meaning=meaning)
                )
            except Busy:
                if insist:
                    raise
                self.problem = open_index.BUSY
                return open_index.BUSY
            self.store.sweep(self.source.leftover)
            self.problem = report.problem
            self.waiting = report.waiting
            if (unindexed := self.unindexed()) and not report.problem:
                self.problem = f"{unindexed} notes are not indexed yet: they are being indexed"
            if report.waiting and not self.problem:
                total = self.read(lambda view: document_rows.count_passages(view.manifest))
                indexed = max(total - report.waiting, 0)
                self.problem = f"by meaning: {indexed:,} of {total:,} passages so far"
            return self.problem

    def unindexed(self) -> int:
        """Return how many notes were left to another process when the index was updated last."""
        return self.read(lambda view: view.index.indexer.left)

    def _include(self) -> None:
        """Apply a change of the settings that say which files of the project are notes.

        While a settings file can't be read, what was included stays.
        """
        if self._load is None or self._loaded == (now := note_files.bank_signature(self._files)):
            return
        self._loaded = now
        try:
            loaded = self._load(self.layout.root)
        except BadSetting:
            return
        memory_settings = self.settings.memory
        if loaded.memory.include != memory_settings.include:
            memory_settings = memory_settings._replace(include=loaded.memory.include)
            origins = {**self.settings.origins, **loaded.origins}
            self.settings = self.settings._replace(memory=memory_settings, origins=origins)
            self._index.include(self.settings)

    def answer(
        self, ask: Callable[[IndexView], Result], progress: Progress | None = None
    ) -> Result:
        """Update the index from the files and query it; the query must change nothing."""
        with self.lock:
            self.catch_up(progress)
            return self.read(ask)

    def embed(self, seconds: float) -> SyncReport:
        """Embed pending passages for about that many seconds, so that no query has to.

        Raises Busy if another process indexes for long.
        """
        return self.read(lambda view: view.index.indexer.embed(seconds))

    def find(self, name: str, *, exactly: bool = False, changing: bool = False) -> str:
        """Return the path of a note by its name; raise NoteNotFound, listing similar names.

        A name is a path with or without `.md`, a unique file name, an alias, a title or an id; a
        path may have any form that `names.of_note` accepts. Unless `exactly`, as for links, so is
        the number of a decision record, a name without the start of an id, and the unique start of
        a name or an id. Before a note is `changing`, the name of a deleted one is no such start: a
        call that is repeated must not change another note.
        """
        forms = [name, link_name(name, self.layout)]  # the unchanged name first
        if outside := name_included(name, self.layout):
            forms.append(outside)
        if private := self.roots.key_of(forms[1]):
            forms.append(private)

        def ask(*, exactly: bool) -> str | NoteNotFound:
            return self.answer(
                lambda view: open_index.find_path(view.manifest, forms, exactly=exactly)
            )

        answer = ask(exactly=exactly or changing)
        if changing and isinstance(answer, NoteNotFound) and not self._has_deleted(forms):
            answer = ask(exactly=False)
        if isinstance(answer, NoteNotFound):
            raise answer
        return answer

    def _has_deleted(self, forms: Iterable[str]) -> bool:
        """Return whether the trash has a note of a name, whole or without its folders."""
        ends = tuple(f"/{lookup_key(form)}" for form in forms)
        return any(f"/{lookup_key(note.path)}".endswith(ends) for note in self.store.list_trashed())

    def count_opened(self, names: Iterable[str]) -> None:
        """Count that notes were opened, cited or confirmed; what is no note is left out.

        It never raises: an answer must not fail for it.
        """
        if self.revision is not None:
            return
        with suppress(MemoryBankError), self.lock:
            keys = {key for name in names if (key := self._key(name))}
            if keys:
                self.state.count_opened(sorted(keys), time.time())

    def _key(self, name: str) -> str:
        try:
            path = self.find(name, exactly=True)
        except MemoryBankError:
            return ""
        row = self.read(lambda view: open_index.note_at(view.manifest, path))
        return row.known_as if row else ""


def open_bank(
    path: str | os.PathLike[str] | None = None,
    *,
    start: Path | None = None,
    settings: Mapping[str, object] | None = None,
    allow_secrets: bool = False,
    conditions: Conditions | None = None,
) -> Bank:
    """Open a bank: a folder of notes, or the `.memories` of a project.

    `layout.locate` says which bank is the default, as seen from `start`. `settings` maps
    "section.key" to values that override files and environment. With `allow_secrets`, no write is
    refused with SecretFound. `conditions` are a front-end's. Its files are created on first use.
    Raises NoBank, BadSetting.
    """
    place = paths.locate(path, settings=settings, start=start)
    loaded = load(place.root, flags=settings)
    conditions = conditions or Conditions()
    texts = (
        f"{SETTINGS}:{setting_problem.line}: {setting_problem.message}; {setting_problem.hint}"
        for setting_problem in loaded.problems
    )
    conditions.notices.add_once(*texts)
    return Bank(
        place,
        loaded,
        allow_secrets=allow_secrets,
        conditions=conditions,
        load=partial(load, flags=settings),
    )


def note_path(bank: Bank, file: str) -> str:
    """Return the path of the note that a file is, or would be; empty for other files.

    `file` is absolute.
    """
    if not file.endswith(NOTE_SUFFIXES):
        return ""
    if private := bank.roots.key_of(file):
        return private
    layout, included = bank.layout, bank.roots.included
    for form in dict.fromkeys((os.path.normpath(file), os.path.realpath(file))):
        below = _path_below(form, layout.root)
        if below:
            return "" if any(part.startswith(".") for part in below.split("/")) else below
        if included and (below := _path_below(form, layout.project)) and included.owns(below):
            return below
    return ""


def _path_below(file: str, folder: Path) -> str:
    """Return a file's path below a folder with forward slashes; empty if it is not inside."""
    start = str(folder).rstrip(os.sep) + os.sep
    return file.removeprefix(start).replace(os.sep, "/") if file.startswith(start) else ""
