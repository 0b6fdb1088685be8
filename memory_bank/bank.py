"""Open a folder of notes and wire the parts; the one place that knows all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeVar

from memory_bank import config, layout, note_rows, session_notes
from memory_bank.activity.bank_identity import bank_id
from memory_bank.activity.logs import Logs
from memory_bank.config import Settings
from memory_bank.errors import Busy, NoteNotFound
from memory_bank.index.index import EMBED_SECONDS
from memory_bank.layout import Layout
from memory_bank.notes.name_forms import of_note
from memory_bank.notes.store import Store
from memory_bank.open_index import OpenIndex, View
from memory_bank.repairs import WRITING, Reports

if TYPE_CHECKING:
    from memory_bank.index.report import Progress, SyncReport

__all__ = ["Bank", "Conditions", "View", "open_bank"]

_BUSY = "another process is indexing: the newest changes may be missing"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under what a front-end has a bank work."""

    progress: Progress | None = None
    """Who is told how far the catch-up before an answer is, if somebody wants to know."""
    embeds: Callable[[], bool] = lambda: True
    """Whether a question embeds what is new; not needed while another thread does."""
    repairs: Reports = field(default_factory=Reports)
    """Receives what was repaired and is not yet reported: `writing` or `indexing` that a
    killed process had left half done, or what was damaged or missing and made again (`manifest`,
    a retriever)."""
    notices: Reports = field(default_factory=Reports)
    """Receives what else the next answer must say."""


class Bank:
    """One bank, opened. Its parts are loaded when they are first needed.

    A bank may be used from several threads: one works at a time.
    """

    def __init__(
        self,
        place: Layout,
        settings: Settings,
        *,
        allow_secrets: bool = False,
        conditions: Conditions | None = None,
    ) -> None:
        """Open the bank at `place`; nothing is read yet."""
        self.settings = settings
        self._conditions = found = conditions or Conditions()
        self.store = Store(
            place,
            lambda: found.repairs.add(WRITING),
            lambda path: session_notes.keep_out(place, path),
            allowed=settings.secrets.allow,
            allow_secrets=allow_secrets,
        )
        self._index = OpenIndex(place, settings, lambda: self.logs, found.repairs, found.notices)
        self.source = self._index.source
        self.lock = self._index.lock
        self.read = self._index.read
        """Ask the index as it is: see `OpenIndex.read`."""
        self._logs: Logs | None = None
        self._problem = ""

    def __enter__(self) -> Self:
        """Return the bank itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the bank."""
        self.close()

    def close(self) -> None:
        """Let go of all files; the bank can be used again, which opens them anew."""
        with self.lock:
            self._index.close()
            if self._logs is not None:
                self._logs.close()
                self._logs = None

    @property
    def layout(self) -> Layout:
        """Where the parts of the bank are now."""
        return self._index.layout

    @property
    def id(self) -> str:
        """What this machine's private state of the bank is kept under."""
        return bank_id(self.layout)

    @property
    def logs(self) -> Logs:
        """What this machine remembers of how the bank is used, in its state folder."""
        if self._logs is None:
            self._logs = Logs(self.layout.state(self.id), self._conditions.repairs.add)
        return self._logs

    @property
    def problem(self) -> str:
        """Why the last answer may be poorer than it could be; empty when all was well."""
        return self._problem

    def take_repaired(self) -> list[str]:
        """Return what was repaired since somebody last asked.

        It waits for no lock: a server asks while another thread repairs.
        """
        return self._conditions.repairs.take()

    def take_healed(self) -> list[str]:
        """Return what `take_repaired` returns; its former name, for this version."""
        return self.take_repaired()

    def take_notices(self) -> list[str]:
        """Return what there is to say since somebody last asked; it waits for no lock."""
        return self._conditions.notices.take()

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

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Make the index again from the files; vectors of texts that stayed are kept."""
        with self.lock:
            before = self.take_repaired()
            self._index.discard()
            self._index.opened()
            self.take_repaired()  # made again because it was wanted
            self._conditions.repairs.add(*before)
            return self.sync(progress)

    def catch_up(self, progress: Progress | None = None, *, insist: bool = False) -> str:
        """Bring the index up to the files before a question; return the answer's `problem`.

        When another process is indexing for long, the answer comes from what is indexed so far
        and the problem says so; a change that must know all notes insists, and Busy is raised.
        """
        with self.lock:
            self._problem = ""
            if self.store.interrupted():
                with self.store.writing():
                    pass
            embeds = self._conditions.embeds()
            seconds, told = EMBED_SECONDS if embeds else 0, progress or self._conditions.progress
            try:
                report = self.read(lambda view: view.index.catch_up(seconds, told))
            except Busy:
                if insist:
                    raise
                self._problem = _BUSY
                return _BUSY
            if report is not None:
                self.store.sweep(self.source.leftover)
                self._problem = report.problem
                if report.waiting and not report.problem:
                    next_ = "run `memory-bank sync`" if embeds else "they are being made"
                    self._problem = f"{report.waiting} passages wait for their vectors: {next_}"
            return self._problem

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

    def find(self, name: str) -> str:
        """Return the path of the note that a name means; raise NoteNotFound, naming near ones.

        A name is a path with or without `.md`, a unique file name, an alias, a title or an id; a
        path may have any form that `name_forms.of_note` knows.
        """
        forms = (name, of_note(name, self.layout))  # as it stands first
        found = self.answer(lambda view: note_rows.path_named(view.manifest, forms))
        if isinstance(found, NoteNotFound):
            raise found
        return found


def open_bank(
    path: str | os.PathLike[str] | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    allow_secrets: bool = False,
    conditions: Conditions | None = None,
) -> Bank:
    """Open a bank: a folder of notes, or the `.memories` of a project; make its files on first use.

    Which one without a path: `layout.locate`. `settings` maps "section.key" to values that win over
    files and environment. With `allow_secrets`, no write is refused with SecretFound. `conditions`
    are those of a front-end. Raises NoBank, BadSetting.
    """
    place = layout.locate(path, settings=settings)
    loaded = config.load(place.root, flags=settings)
    return Bank(place, loaded, allow_secrets=allow_secrets, conditions=conditions)
