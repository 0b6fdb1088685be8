"""Update, compare and watch a bank's indices; do in the background what no answer waits for.

What answers before all is indexed starts a process of low priority, which does each of `JOBS` in
turn and ends.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Annotated

from memory_bank.bank.bank import Bank, Conditions, open_bank
from memory_bank.bank.open_index import BUSY
from memory_bank.base import NamedTuple
from memory_bank.base.detached import WORK_FOLDER
from memory_bank.base.errors import Busy, NoBank, NoRepository
from memory_bank.base.locks import hold_lock
from memory_bank.base.operation import Param, Tool, operation
from memory_bank.base.paths import Layout
from memory_bank.base.repairs import describe_repairs
from memory_bank.base.screen import FOUND, Call, Interrupted
from memory_bank.base.view import write_view
from memory_bank.code.index.codebase import Codebase
from memory_bank.git import repository
from memory_bank.memory import views
from memory_bank.search.document_changes import IndexLimits, Progress, SyncReport
from memory_bank.search.index import Index, compare_indices
from memory_bank.search.manifest import document_rows

_BETWEEN = 0.01
"""Seconds between two turns of embedding, in which others may lock the bank."""


def _sync_in_command(
    call: Call,
    *,
    rebuild: bool = False,
    compare: Annotated[bool, Param("List differences from a newly built index")] = False,
    watching: Annotated[
        bool, Param("Index changes as they happen, until Ctrl-C", flags="--watch")
    ] = False,
) -> int:
    """Update the index of notes and code, compare it with a new one, or keep it up to date."""
    if rebuild + compare + watching > 1:
        raise call.usage_error("choose one: --rebuild, --compare or --watch")
    if watching:
        return _watch_in_command(call)
    try:
        with call.open() as bank:
            if compare:
                return _compare_in_command(call, bank)
            report = sync(bank, rebuild=rebuild, progress=call.progress)
            report.code = sync_code(bank, call.progress)
    except NoBank:
        if rebuild or compare or not _sync_code_alone(call):
            raise
        return FOUND
    except KeyboardInterrupt as error:
        raise Interrupted(
            "interrupted: what is indexed and embedded so far is kept",
            "the same command continues there",
        ) from error
    write_view(call, report, views.view_sync(report))
    if not call.json:
        call.show_repaired(report.repaired)
    return FOUND


def _watch_in_command(call: Call) -> int:
    """Index changes as they happen, and print a line for each batch."""

    def report(message: str) -> None:
        if call.json:
            call.console.document({"said": message}, indent=None)
        else:
            call.console.line(message)
        call.console.flush()

    with call.open() as bank, _stop_event() as stop:
        watch(bank, report, stop)
    return FOUND


@contextmanager
def _stop_event() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C and SIGTERM set; a second Ctrl-C interrupts at once."""
    stop = threading.Event()

    def request_stop(number: int, _: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    in_main = threading.current_thread() is threading.main_thread()
    handlers = (
        {number: signal.signal(number, request_stop) for number in _SIGNALS} if in_main else {}
    )
    try:
        yield stop
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _sync_code_alone(call: Call) -> bool:
    """Update the index of code without a bank; return False if there is no such index."""
    try:
        with call.open_code() as code:
            if not code.table.file.exists():
                return False
            report = sync_codebase(code, call.progress)
    except NoRepository:
        return False
    write_view(call, report, views.view_sync(report))
    return True


def _compare_in_command(call: Call, bank: Bank) -> int:
    notes, differences = compare(bank, call.progress)
    document = {"notes": notes, "differences": differences}
    return write_view(call, document, views.view_differences(differences))


@operation(
    "sync",
    why="""
    Every query updates the index first, for about a second; sync does everything that remains, for
    example the vectors of many new notes, and checks the index. So it is never required, but
    useful after a big `git pull` or in a hook.

    --rebuild rebuilds every index. --compare builds a second index in a temporary folder and lists
    every difference: exit code 3 if there is one. --watch indexes every change of a note at once,
    until Ctrl-C, and prints a line for each batch: queries of a large bank become faster.
    """,
    examples=(
        ("memory-bank sync", "update the index"),
        ("memory-bank sync --rebuild", "rebuild it from the files"),
        ("memory-bank sync --compare", "does the index match the files?"),
        ("memory-bank sync --watch", "in a terminal beside your editor"),
    ),
    group="Look after",
    through=_sync_in_command,
    view=views.view_sync,
    tool=Tool(
        """Index and embed everything that remains; with rebuild, rebuild every index from the
        files. Never needed before a search, which looks for changes itself.""",
        "maintenance",
        name="sync_memories",
        aside=True,
        repeatable=True,
    ),
)
def sync(
    bank: Bank,
    *,
    rebuild: Annotated[bool, Param("Rebuild every index")] = False,
    progress: Progress | None = None,
) -> SyncReport:
    """Update the index from the files.

    Index and embed whatever differs from the files; with `rebuild`, rebuild every index.
    """
    return bank.rebuild(progress) if rebuild else bank.sync(progress)


def sync_code(bank: Bank, progress: Progress | None = None) -> SyncReport | None:
    """Index and embed the code of the bank's work tree, if somebody has asked for it before."""
    tree = repository.find_worktree(bank.layout.project)
    if tree is None or not bank.settings.code.enabled:
        return None
    with Codebase(tree, bank.settings, place=bank.layout) as code:
        if not code.table.file.exists():
            return None
        return sync_codebase(code, progress)


def sync_codebase(code: Codebase, progress: Progress | None = None) -> SyncReport:
    """Index and embed all code."""
    report = code.catch_up(progress=progress, seconds=float("inf"))
    if report.problem:
        with suppress(Busy):
            report.embedded += code.embed(float("inf")).embedded  # also what queries don't wait for
        last = code.catch_up(seconds=0.0)
        report.problem, report.waiting = last.problem, last.waiting
    return report


def compare(bank: Bank, progress: Progress | None = None) -> tuple[int, tuple[str, ...]]:
    """Catch up, build a second index of the same files; return its notes and every difference.

    Dates from git are refreshed first, since a commit is not a difference between index and files.
    Nothing else is repaired, so that missing and superfluous entries are listed.
    """
    bank.catch_up(progress)
    bank.read(lambda view: view.index.indexer.refresh())
    with bank.lock, tempfile.TemporaryDirectory(prefix="memory-bank-") as folder:
        place = Layout(root=bank.layout.root, index=Path(folder))
        fresh = Index(place, bank.source, bank.settings)
        try:
            # no vectors are computed: only which passages have one is compared
            fresh.indexer.sync(seconds=0, progress=progress)
            differences = tuple(bank.read(lambda view: list(compare_indices(view.index, fresh))))
            notes = len(document_rows.all_keys(fresh.manifest))
        finally:
            fresh.close()
    return notes, differences


def watch(bank: Bank, say: Callable[[str], None], stop: threading.Event) -> None:
    """Index changes as they happen, and `say` a line for each batch, until `stop` is set."""
    from memory_bank.search.watch import Watcher

    with Watcher(bank.watched) as watcher:
        if watcher.polling:
            say(watcher.polling)
        say(_summarise(bank.sync()))
        while watcher.wait(stop):
            report = bank.sync()
            if report.indexed or report.removed or report.unindexed or report.repaired:
                say(_summarise(report))


class ChangedPaths(NamedTuple):
    """The paths of the notes added, removed and changed in one batch."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def follow_changes(
    bank: Bank, notify: Callable[[ChangedPaths], None], stop: threading.Event
) -> None:
    """Index changes as they happen and `notify` of each batch, until `stop` is set.

    The first batch is empty; it says that all existing files are indexed. Vectors are left to
    `embed_waiting`.
    """
    from memory_bank.search.watch import Watcher

    with Watcher(bank.watched) as watcher:
        bank.catch_up()
        hashes = bank.read(lambda view: document_rows.read_hashes(view.manifest))
        notify(ChangedPaths())
        while watcher.wait(stop):
            bank.catch_up()
            new_hashes = bank.read(lambda view: document_rows.read_hashes(view.manifest))
            if new_hashes != hashes:
                notify(_compare_hashes(hashes, new_hashes))
            hashes = new_hashes


def embed_waiting(bank: Bank, seconds: float, stop: threading.Event) -> bool:
    """Embed pending passages in turns of about `seconds`, between which others can lock the bank.

    Returns whether all passages have vectors; False if it was stopped or the index is busy.
    """
    while not stop.wait(_BETWEEN):
        try:
            report = bank.embed(seconds)
        except Busy:
            return False
        if report.problem or not report.waiting:
            return not report.problem
    return False


def _compare_hashes(old: Mapping[str, str], new: Mapping[str, str]) -> ChangedPaths:
    return ChangedPaths(
        added=tuple(path for path in new if path not in old),
        removed=tuple(path for path in old if path not in new),
        changed=tuple(path for path, etag in new.items() if old.get(path, etag) != etag),
    )


def _summarise(report: SyncReport) -> str:
    parts = {
        "indexed": report.indexed,
        "removed": report.removed,
        "not indexable": report.unindexed,
        "passages embedded": report.embedded,
        "waiting for vectors": report.waiting,
    }
    counts = ", ".join(f"{count} {text}" for text, count in parts.items() if count)
    repaired = f"; repaired: {describe_repairs(report.repaired)}" if report.repaired else ""
    return f"{counts or 'up to date'} ({report.seconds:.2f} s){repaired}"


_LOWER = 10
"""By how much its priority is lower: still enough to let go of the index's lock soon."""

_TURN = 0.5
"""Seconds of reading or embedding, after which other processes may lock the index."""

_BETWEEN_TURNS = 0.05
"""Seconds between two turns of indexing."""

_LONGEST_WAIT = 60.0
"""Seconds in which no other process lets this one index, after which it ends."""


def _embed(bank: Bank) -> None:
    embed_waiting(bank, _TURN, threading.Event())


JOBS: tuple[Callable[[Bank], object], ...] = (Bank.catch_up, _embed)
"""What is done when all notes are indexed, in this order; a job holds the index's lock for a short
time only."""


def run(root: str) -> bool:
    """Do all jobs in this process, with low priority; return False if another one does them.

    Raises MemoryBankError.
    """
    with open_bank(root) as bank, _hold_turn(bank) as is_held:
        if is_held:
            _lower_priority()
            _index_notes(root)
            for job in JOBS:
                job(bank)
        return is_held


def _index_notes(root: str) -> None:
    """Index all notes in short turns, between which others can lock the index."""
    limits = IndexLimits(_TURN)
    deadline = time.monotonic() + _LONGEST_WAIT
    with open_bank(root, conditions=Conditions(limits=limits)) as bank:
        while time.monotonic() < deadline:
            limits.renew()
            if bank.catch_up() != BUSY:
                if not bank.unindexed():
                    return
                deadline = time.monotonic() + _LONGEST_WAIT
            time.sleep(_BETWEEN_TURNS)


@contextmanager
def _hold_turn(bank: Bank) -> Iterator[bool]:
    """Hold the lock of this work, if no other process has it; yield whether it is held.

    The folder's lock goes with the process, and with the folder nothing else is lost.
    """
    folder = bank.layout.index / WORK_FOLDER

    def make() -> None:
        bank.layout.make_index()
        folder.mkdir(exist_ok=True)

    with ExitStack() as exit_stack:
        try:
            exit_stack.enter_context(hold_lock(folder, wait=0, make=make))
        except Busy:
            yield False
        else:
            yield True


def _lower_priority() -> None:
    """Let all other programs go first, where the system can do that."""
    with suppress(AttributeError, OSError):
        os.nice(_LOWER)
