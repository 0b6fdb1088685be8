"""The code of a work tree: its symbols, tests and documents, found by name, words and meaning."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memory_bank.bank.bank_id import bank_id
from memory_bank.bank.bank_state import BankState
from memory_bank.base import Closable, NamedTuple, paths
from memory_bank.base.documents import Document, Source, Span
from memory_bank.base.errors import BadInput, Busy, IndexDamaged, NoBank, StorageFailed
from memory_bank.base.locks import WAIT
from memory_bank.base.paths import Layout
from memory_bank.base.setting_sections import HYBRID
from memory_bank.base.settings import Settings, load
from memory_bank.code.calls import CallGraph
from memory_bank.code.commits import CodeHistory, CommitSubjects, CountedCommits
from memory_bank.code.coupled import CoupledFiles, Coupling, WordTable
from memory_bank.code.guards import TestGuards
from memory_bank.code.imports import ImportTargets
from memory_bank.code.index.database import IntentRow, SymbolRow
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.index.work_tree import (
    LANE,
    MAX_FILE_BYTES,
    SUBMODULE,
    WorkTree,
    find_work_tree,
)
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsing import ParseCache
from memory_bank.git.commits import Commit, CommitsAt
from memory_bank.git.repository import find_worktree, repository_cache, worktree_cache
from memory_bank.search.document_changes import Progress, SyncReport
from memory_bank.search.retrievers.base import Access

if TYPE_CHECKING:  # a lookup of names loads no index
    from memory_bank.code.sources import CodeLane
    from memory_bank.search.engine import Hit, SearchResult
    from memory_bank.search.index import IndexView
    from memory_bank.search.manifest.document_rows import PassageRow

Lane = Literal["files", "commits"]

LANES: tuple[Lane, ...] = ("files", "commits")


class CodeHit(NamedTuple):
    """A hit in code: a symbol, a test or a section of a document."""

    lane: Lane
    hit: Hit
    """That of the engine, with its reasons."""
    place: PassageRow
    """The passage of its symbol, test or section, or one outside of these."""
    symbol: SymbolRow | None
    """None for a test, a document, and what is outside of symbols in a file."""
    test: IntentRow | None
    language: str
    """Of its file; empty for a document."""

    @property
    def path(self) -> str:
        """Its file below the work tree; of a commit, its id."""
        return self.hit.document.key

    @property
    def span(self) -> Span:
        """The lines of its section, or of the passage that is in none."""
        section = self.place.section
        return Span(section.line, section.end_line) if self.place.ordinal >= 0 else self.place.span

    @property
    def line(self) -> int:
        """Its first line."""
        return self.span.line

    @property
    def end_line(self) -> int:
        """The line after its last."""
        return self.span.end_line

    @property
    def headings(self) -> tuple[str, ...]:
        """The parts of a symbol's name, a test's title, or the headings of a document."""
        return self.place.section.headings

    @property
    def score(self) -> float:
        """The likelihood that it answers the query, 0 to 1."""
        return self.hit.score

    @property
    def weak(self) -> bool:
        """Whether that is too low for an answer."""
        return self.hit.weak


def read_code_hits(table: SymbolTable, lane: Lane, hits: Sequence[Hit]) -> tuple[CodeHit, ...]:
    """Return the hits of a lane with the symbols, tests or sections that match best.

    A passage of code outside of these is taken only where none of them matches.
    """
    files = table.files() if lane == "files" else {}
    places = [_choose_place(hit) if hit.document.key in files else hit.best for hit in hits]
    names = [place.section.name for place in places if place.section.name]
    symbols = {row.id: row for row in table.symbols_in("s.sym", names)} if names else {}
    tests = {row.id: row for row in table.tests_in("t.sym", names)} if names else {}
    code_hits = []
    for hit, place in zip(hits, places, strict=True):
        name, path = place.section.name, hit.document.key
        language = files[path].language if path in files else ""
        code_hits.append(CodeHit(lane, hit, place, symbols.get(name), tests.get(name), language))
    return tuple(code_hits)


def _choose_place(hit: Hit) -> PassageRow:
    """Return the best passage of a hit that is in a symbol or a test, else the best one."""
    places = (hit.best, *(passage for passage, _ in hit.also))
    return next((place for place in places if place.section.name), hit.best)


EMBED_SECONDS = 1.0
"""Seconds that a query may spend on embedding new passages of all lanes."""

_WHOLE_SECONDS = 30.0
"""Seconds that a query goes on for if all passages then have vectors, as in a new repository."""

_LOCK_SECONDS = 5.0
"""Seconds that a query waits for another process that reads the files, if there are symbols."""


class Relations(NamedTuple):
    """The imports, calls and guarding tests among the symbols of one state of the table."""

    imports: ImportTargets
    calls: CallGraph
    guards: TestGuards


class Codebase(Closable):
    """The open code of one work tree. It may be used from several threads, one at a time."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        *,
        place: Layout | None = None,
        embeds: Callable[[], bool] = lambda: True,
    ) -> None:
        """Open the code of a work tree; nothing is read yet.

        `place` is the layout of its bank, whose notes are no documents of the code. `embeds` tells
        whether `catch_up` embeds new passages; not needed while another thread does.
        """
        self.root = root
        self.settings = settings
        self.layout = place
        self.shared = repository_cache(root)
        """The folder for what all work trees of the repository share."""
        self.folder = worktree_cache(root)
        self.lock = threading.RLock()
        code = settings.code
        self.tree = WorkTree(root, exclude=code.exclude, max_bytes=MAX_FILE_BYTES)
        cache = ParseCache(self.shared / "parses.db", parsing.parser_version())
        self.table = SymbolTable(self.tree, self.folder, cache)
        self._cache = cache
        self._commits = CodeHistory(root)
        self._history = CountedCommits()
        """As of the last `catch_up`."""
        self._coupled_files = CoupledFiles(self._commits, WordTable(self.table))
        self._embeds = embeds
        self._lanes: dict[Lane, CodeLane] = {}
        self._relations: tuple[int, Relations] | None = None

    def close(self) -> None:
        """Close all files; using the codebase again reopens them."""
        with self.lock:
            for lane in self._lanes.values():
                lane.close()
            self._lanes.clear()
            self._relations = None
            self.table.close()
            self._cache.close()
            self._coupled_files.close()
            if "state" in self.__dict__ and self.state is not None:
                self.state.close()

    @cached_property
    def state(self) -> BankState | None:
        """The records of accesses in the bank's private state; None without a bank."""
        if self.layout is None:
            return None
        return BankState(self.layout.state(bank_id(self.layout)))

    def check_enabled(self) -> None:
        """Raise BadInput if the settings turn code off."""
        if not self.settings.code.enabled:
            where = self.settings.origins.get("code.enabled", "the settings")
            raise BadInput("code is turned off here", "set enabled = true ({where})", where=where)

    def refresh(self, progress: Progress | None = None) -> str:
        """Read the files that changed; return why the table may be out of date, if so.

        That is enough for lookups; a search needs `catch_up`.
        """
        with self.lock:
            self.check_enabled()
            try:
                return self._refresh_table(progress)
            except IndexDamaged:
                self.table.discard()
                return self._refresh_table(progress)

    def catch_up(
        self,
        lanes: Sequence[Lane] = LANES,
        progress: Progress | None = None,
        *,
        seconds: float | None = None,
    ) -> SyncReport:
        """Update the indices of some lanes from the files before a search.

        Embeds for about that many seconds in all, by default EMBED_SECONDS, and goes on if all
        vectors are computed soon. The `problem` of the report says why the answer may be
        incomplete; it is empty if it is complete.
        """
        embeds = self._embeds()
        if seconds is None:
            seconds = EMBED_SECONDS if embeds else 0.0
        with self.lock:
            total = SyncReport(problem=self.refresh(progress))
            self._history = self.history()
            start = time.monotonic()
            end = start + seconds
            open_lanes = self._open_lanes(lanes)
            for number, lane in enumerate(open_lanes):
                # what one lane leaves, the next ones may use
                share = max(0.0, end - time.monotonic()) / (len(open_lanes) - number)
                try:
                    report = lane.read(partial(_catch_up_lane, seconds=share, progress=progress))
                except Busy:
                    total.problem = (
                        total.problem or "another process is indexing: changes may be missing"
                    )
                    continue
                total.add(report)
            if total.waiting and 0 < seconds < _WHOLE_SECONDS:
                with suppress(Busy):  # another process computes them
                    self._embed_all(open_lanes, total, progress)
            hint = "a sync computes them" if embeds else "they are being computed"
            if total.waiting and not total.problem:
                total.problem = f"{total.waiting} passages have no vectors yet: {hint}"
            total.seconds = time.monotonic() - start
            return total

    def _open_lanes(self, lanes: Sequence[Lane]) -> list[CodeLane]:
        """Return the lanes that have something to find: others get no index."""
        return [lane for lane in map(self._open_lane, lanes) if not lane.empty()]

    @staticmethod
    def _embed_all(lanes: Sequence[CodeLane], total: SyncReport, progress: Progress | None) -> None:
        """Compute all waiting vectors, if at the speed of the last second that takes not long."""
        waiting, rate = total.waiting, math.inf
        while total.waiting and total.waiting <= rate * _WHOLE_SECONDS:
            start = time.monotonic()
            report = _embed_lanes(lanes, EMBED_SECONDS)
            rate = report.embedded / (time.monotonic() - start)
            total.embedded += report.embedded
            total.waiting = report.waiting
            if progress is not None:
                progress("embedding", max(waiting - total.waiting, 0), waiting)

    def follow(self, codebase: Codebase) -> None:
        """Take over what another codebase read last, so that a search needs no `catch_up`."""
        with self.lock:
            self.table.scanned = codebase.table.scanned
            self._history = codebase._history

    def embed(self, seconds: float) -> SyncReport:
        """Embed waiting passages for about that many seconds, also those no query waits for.

        Raises Busy if another process indexes for long.
        """
        with self.lock:
            lanes = self._open_lanes(LANES)
        return _embed_lanes(lanes, seconds)

    def search(
        self,
        lane: Lane,
        text: str,
        limit: int,
        *,
        mode: str | None = None,
        now: float | None = None,
        under: str = "",
        kinds: Collection[str] = (),
        parts: bool = False,
    ) -> SearchResult[CodeHit]:
        """Return the best hits of one lane, as of the last `catch_up`.

        Each file is one hit, with its best place; with `parts`, each symbol and section is one.
        `kinds` are symbols, tests and docs; by default all.

        `text` is a query with words, phrases, exclusions, and the conditions `in:FOLDER`,
        `kind:function`, `language:python`; `under` is a folder.
        """
        from memory_bank.code.sources import TESTS_ONLY  # start-up: lookups need no index
        from memory_bank.search.engine import SearchResult

        mode = mode or HYBRID
        now = time.time() if now is None else now
        with self.lock:
            code_lane = self._open_lane(lane)
            if code_lane.empty():
                return SearchResult((), mode)
            _ = self.state  # made once: Python 3.12 does not lock a cached property
        # outside of the lock, so that lanes can be searched in parallel
        only = TESTS_ONLY if [*kinds] == ["tests"] else (LANE, ",".join(kinds))
        conditions = [(key, value) for key, value in (("in", under), only) if value]
        search_result = code_lane.search(
            text, conditions, mode=mode, limit=limit, now=now, parts=parts
        )
        with self.lock:
            hits = read_code_hits(self.table, lane, search_result.hits)
        return SearchResult(hits, search_result.mode, search_result.fallback_reason)

    def text(self, hit: CodeHit) -> str:
        """Return the lines of a hit; empty if the file has changed."""
        source = self._open_lane(hit.lane).source
        return source.text(hit.path, hit.hit.document.hash, hit.span) or ""

    def whole(self, hit: CodeHit) -> str:
        """Return the whole text of the document of a hit; empty if it has changed."""
        source = self._open_lane(hit.lane).source
        return source.text(hit.path, hit.hit.document.hash, Span(1, 1 << 40)) or ""

    def document(self, key: str) -> Document | None:
        """Return a file or another document that is searched, as it is now; None if it is none."""
        with self.lock:
            source = self._open_lane("files").source
            document = source.read(key) if key in source.scan().signatures else None
        return document if isinstance(document, Document) else None

    def lines(self, key: str, hash: str, span: Span) -> str:  # noqa: A002  (the contract's word)
        """Return some lines of a document; empty if it has changed."""
        return self._open_lane("files").source.text(key, hash, span) or ""

    def commit(self, name: str) -> Commit | None:
        """Return the commit of an id, or of the start of one; None if there is none."""
        commits = self.commits()
        return commits.commit(name) if commits else None

    def commits(self) -> CommitsAt | None:
        """Return all commits up to HEAD; None if git can't say yet, or there are none."""
        with self.lock:
            return self._commits.read_all()

    def relations(self) -> Relations:
        """Return imports, calls and guards, of the current state of the table."""
        with self.lock:
            generation = self.table.generation
            if self._relations is None or self._relations[0] != generation:
                imports = ImportTargets(self.table)
                calls = CallGraph(self.table, imports)
                guards = TestGuards(self.table, imports, calls)
                self._relations = generation, Relations(imports, calls, guards)
            return self._relations[1]

    def history(self) -> CountedCommits:
        """Return the commits up to HEAD, as far as they are known."""
        try:
            return self._commits.read_counted()
        except Busy:
            return self._history

    def coupling(self, *, refresh: bool = True) -> tuple[Coupling, tuple[str, ...]]:
        """Return the coupling of all files as of now, and what is left out; raise StorageFailed.

        Without `refresh`, files and imports are those of the last `refresh` or `catch_up`, if any.
        """
        with self.lock:
            problem = self.refresh() if refresh or self.table.scanned is None else ""
            # if git can't list the files, this raises
            scan = self.table.scanned or self.tree.scan()
            coupling, notices = self._coupled_files.read(scan, self.relations().imports.graph)
            return coupling, (*filter(None, [problem]), *notices)

    def is_note(self, path: str) -> bool:
        """Tell whether a file below the work tree is in the bank, or included in it."""
        return any(path == note or path.startswith(f"{note}/") for note in self._list_note_paths())

    def history_notes(self) -> tuple[str, ...]:
        """Return notices of what is left out of the git history, and why."""
        with self.lock:
            return self._coupled_files.history().notes

    def refused(self) -> dict[str, str]:
        """Return the files that are not indexed, with the reasons, by path."""
        with self.lock:
            submodules = dict.fromkeys(self.tree.list_submodules(), SUBMODULE)
            return {**self.table.refused(), **submodules}

    def count_access(self, symbols: Collection[str], now: float | None = None) -> str:
        """Count one more access of some symbols, by id; return why that can't be done, if so."""
        if self.state is None or not symbols:
            return ""
        return self.state.count_returned(symbols, time.time() if now is None else now)

    def accesses(self, names: Collection[str]) -> Mapping[str, Access]:
        """Return the accesses of some symbols, by id; none without a bank."""
        accesses = self.state.accesses(names) if self.state is not None else {}
        # a symbol is returned by its name: that tells as much as to open it
        return {
            name: access._replace(opened=access.times, last_opened=access.last)
            for name, access in accesses.items()
        }

    def _refresh_table(self, progress: Progress | None) -> str:
        has_files = False
        try:
            # another process may have made the table and be at its first files
            has_files = self.table.file.exists() and bool(self.table.files())
            self.table.refresh(progress, wait=_LOCK_SECONDS if has_files else WAIT)
        except Busy:
            return "another process is reading the code: the latest changes may be missing"
        except StorageFailed as error:
            if not has_files:
                raise
            return error.message
        return ""

    def _open_lane(self, name: Lane) -> CodeLane:
        if name not in self._lanes:
            from memory_bank.code import sources  # start-up: lookups need no index

            if name == "commits":
                source: Source = sources.CommitSource(self._commits.read_all)
            else:
                source = sources.list_files(
                    self.tree,
                    self.table,
                    without=self._list_note_paths(),
                    subjects=CommitSubjects(lambda: self._history),
                )
            self._lanes[name] = sources.CodeLane(
                self.root, self.folder / name, source, self.settings, self.accesses
            )
        return self._lanes[name]

    def _list_note_paths(self) -> list[str]:
        """Return the paths of the bank's notes below the work tree."""
        if self.layout is None:
            return []
        folders = [self.layout.root]
        if self.layout.prefix:  # only a bank in a project includes files
            folders += [self.layout.project / path for path in self.settings.memory.include]
        return [
            path.relative_to(self.root).as_posix()
            for path in folders
            if path.is_relative_to(self.root)
        ]


def open_codebase(
    path: str | os.PathLike[str] | None = None,
    *,
    bank: str | os.PathLike[str] | None = None,
    settings: Mapping[str, object] | None = None,
    embeds: Callable[[], bool] = lambda: True,
) -> Codebase:
    """Open the code of the work tree that holds a folder, by default the working directory.

    `bank` is its bank, as `open_bank` takes it; by default the one that is found from there, if
    there is one: none is needed. `embeds` is as in Codebase. Raises NoRepository, BadSetting.
    """
    start = None if path is None else Path(path)
    folder = start or Path.cwd()
    place = None
    with suppress(NoBank):
        place = paths.locate(bank, settings=settings, start=start)
    if path is None and bank is not None and place and find_worktree(place.project.resolve()):
        folder = place.project
    root = find_work_tree(folder)
    bank_settings = load(place.root if place else None, flags=settings)
    return Codebase(root, bank_settings, place=place, embeds=embeds)


def _catch_up_lane(view: IndexView, seconds: float, progress: Progress | None) -> SyncReport:
    return view.index.catch_up(seconds, progress)


def _embed_lanes(lanes: Sequence[CodeLane], seconds: float) -> SyncReport:
    """Embed waiting passages for about that many seconds in all."""
    end = time.monotonic() + seconds
    total = SyncReport()
    for number, lane in enumerate(lanes):
        share = max(0.0, end - time.monotonic()) / (len(lanes) - number)
        total.add(lane.read(partial(_embed_lane, seconds=share)))
    return total


def _embed_lane(view: IndexView, seconds: float) -> SyncReport:
    return view.index.indexer.embed(seconds)
