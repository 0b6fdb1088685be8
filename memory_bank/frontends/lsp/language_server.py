"""The language server: what it offers, and the way of a request to a worker thread and back.

The event loop never waits for a bank: requests run in threads, and one whose answer takes too long
is answered with nothing.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from memory_bank.base import __version__
from memory_bank.base.errors import MemoryBankError, NoBank, find_exhausted
from memory_bank.frontends.lsp import buffers, navigation
from memory_bank.frontends.lsp.buffers import (
    Banks,
    Buffers,
    Clock,
    Codebases,
    Editor,
    FileRequest,
    OpenBank,
    is_note,
)
from memory_bank.frontends.lsp.source_code import CodeRequest
from memory_bank.frontends.serving.shared_bank import claim_streams
from memory_bank.memory.maintenance import ChangedPaths

READ_SECONDS = 2.0
"""Seconds after which a request that changes nothing is answered with nothing."""

LIST_SECONDS = 10.0
"""Seconds that a list may take for which a person asked."""

CHANGE_SECONDS = 30.0
"""Seconds that a rename, or a new note, may take."""

_TYPING_SECONDS = 0.2
"""Seconds without a key before the problems of a text are searched."""

_RULES_SECONDS = 0.5
"""Seconds after a change of the files before all rules run."""

_RULES_SHARE = 10
"""The rules run for at most one part in so many of the time."""

_RULES_PAUSE = 60.0
"""Seconds of the longest pause between two runs of the rules."""

_CLOSE_SECONDS = 2.0

_THREADS = 4

NOTES = [
    types.FileOperationFilter(types.FileOperationPattern(glob, matches=kind), "file")
    for glob, kind in (
        ("**/*.{md,markdown}", types.FileOperationPatternKind.File),
        ("**", types.FileOperationPatternKind.Folder),
    )
]
"""Files and folders whose moves the editor reports."""

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)


class RefusedRequest(JsonRpcException):
    """A request that can't be done; the editor shows the message."""

    CODE = types.LSPErrorCodes.RequestFailed.value


class NotesServer(LanguageServer):
    """A language server of the banks in which the editor's files are."""

    def __init__(self, bank_path: str | None = None) -> None:
        """Serve the bank at `bank_path`, or that of each file's folder; nothing is opened yet."""
        # pygls's own thread only reads stdin
        super().__init__("memory-bank", __version__, max_workers=1)
        self.banks = Banks(bank_path, self._notice_changes)
        self.codebases = Codebases()
        self.clock = Clock()
        self.buffers = Buffers()
        self.exit_code = 0
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="request")
        self._running = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shown: set[str] = set()
        """URIs of files that have diagnostics."""
        self._stale: dict[OpenBank, set[str]] = {}
        """Banks whose rules run or will run, with the paths changed since the last run began."""
        self._waiting: dict[object, asyncio.Task[None]] = {}
        """The last delayed work for each file and bank."""

    async def ask(
        self,
        uri: str,
        answer: Callable[[FileRequest], Answer],
        empty: Answer,
        seconds: float = READ_SECONDS,
    ) -> Answer:
        """Answer a request about a file in a thread; `empty` without a bank, or if it is late.

        Raises RefusedRequest if a change can't be made.
        """
        editor = self.editor()

        def work() -> Answer:
            file = buffers.path_at(uri)
            opened = self.banks.of(Path(file)) if file else None
            return empty if opened is None else answer(FileRequest(opened, editor, file))

        return await self.run(work, empty, seconds)

    async def ask_code(
        self,
        uri: str,
        answer: Callable[[CodeRequest], Answer],
        empty: Answer,
    ) -> Answer:
        """Answer a request about a source file as `ask` does; `empty` outside a work tree."""
        editor = self.editor()
        codes: list[CodeRequest] = []

        def work() -> Answer:
            file = buffers.path_at(uri)
            shared = self.codebases.of(Path(file)) if file else None
            if shared is None or not shared.enabled:
                return empty
            shared.wake()
            codes.append(CodeRequest(shared, self.banks.of(Path(file)), editor, file))
            return answer(codes[0])

        code_answer = await self.run(work, empty)
        for task in codes[0].after if codes else ():
            self._pool.submit(task)
        return code_answer

    async def run(
        self, work: Callable[[], Answer], empty: Answer, seconds: float = READ_SECONDS
    ) -> Answer:
        """Run work in a thread, and wait for it so many seconds.

        An error of a change, which has CHANGE_SECONDS, is raised as RefusedRequest; others are
        logged.
        """
        future = None
        try:
            future = asyncio.get_running_loop().run_in_executor(self._pool, self._run_counted, work)
            return await asyncio.wait_for(asyncio.shield(future), seconds)
        except TimeoutError:
            if future is not None:
                future.add_done_callback(_ignore)
            if seconds == CHANGE_SECONDS:
                raise RefusedRequest("the notes are still being indexed; try again") from None
            return empty
        except NoBank:
            return empty
        except Exception as error:
            bank_error = error if isinstance(error, MemoryBankError) else find_exhausted(error)
            if bank_error is None:
                raise
            message = "; ".join(filter(None, (bank_error.message, bank_error.hint)))
            if seconds == CHANGE_SECONDS:
                raise RefusedRequest(message) from error
            _log.warning("%s: %s", bank_error.code, message)
            return empty

    def _run_counted(self, work: Callable[[], Answer]) -> Answer:
        self._running += 1
        try:
            return work()
        finally:
            self._running -= 1

    def editor(self) -> Editor:
        """Return what is open in the editor now."""
        encoding = str(getattr(self.workspace.position_encoding, "value", "utf-16"))
        folders = list(filter(None, map(buffers.path_at, self._list_folders())))
        return Editor(self.buffers.all(), encoding, self.client_capabilities, folders)

    def _list_folders(self) -> list[str]:
        """Return the URIs of the workspace's folders."""
        folders = [folder.uri for folder in self.workspace.folders.values()]
        root = self.workspace.root_uri
        return folders or ([root] if root else [])

    def open_folders(self) -> None:
        """Open the banks of the editor's folders, in threads."""
        self._loop = asyncio.get_running_loop()
        for uri in self._list_folders():
            self.schedule(("folder", uri), 0, partial(self.ask, uri, _open, None, 60))

    def set_exit_code(self) -> None:
        """Set the exit code as the editor leaves: the protocol wants 1 without a shutdown."""
        self.exit_code = 0 if self.protocol._shutdown else 1  # noqa: SLF001  (pygls has no other way)

    def check(self, uri: str, seconds: float = _TYPING_SECONDS) -> None:
        """Publish the problems of a note soon, unless it changes again before."""
        if is_note(uri):
            self.schedule(uri, seconds, lambda: self._publish(uri))
        else:
            self.schedule(uri, seconds, lambda: self.ask_code(uri, _update, None))

    def schedule(self, key: object, seconds: float, work: Callable[[], Any]) -> None:
        """Do work after some seconds, instead of the work that waits under the same key."""
        previous = self._waiting.get(key)
        if previous is not None:
            previous.cancel()

        async def delayed() -> None:
            await asyncio.sleep(seconds)
            try:
                await work()
            except RefusedRequest as error:
                _log.warning("%s", error.message)

        task = asyncio.get_running_loop().create_task(delayed())
        self._waiting[key] = task
        task.add_done_callback(lambda task: self._forget(key, task))

    def _forget(self, key: object, task: asyncio.Task[None]) -> None:
        if self._waiting.get(key) is task:
            del self._waiting[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("delayed work failed", exc_info=error)

    async def _publish(self, uri: str) -> None:
        version = self.buffers.version(uri)
        diagnostics = await self.ask(uri, navigation.list_diagnostics, None, 20)
        if diagnostics is None or version != self.buffers.version(uri):
            return
        if diagnostics or uri in self._shown or version is not None:
            (self._shown.add if diagnostics else self._shown.discard)(uri)
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, diagnostics, version)
            )

    def _notice_changes(self, opened: OpenBank, changed: ChangedPaths) -> None:
        """Handle changed notes, of which a thread tells."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._check_all, opened, changed)

    def _check_all(self, opened: OpenBank, changed: ChangedPaths) -> None:
        for uri in self.buffers.uris():
            self.check(uri)
        is_running = opened in self._stale
        paths = (*changed.added, *changed.changed, *changed.removed)
        self._stale.setdefault(opened, set()).update(paths)
        if not is_running:
            self.schedule(opened, _RULES_SECONDS, lambda: self._run_rules(opened))

    async def _run_rules(self, opened: OpenBank) -> None:
        """Run all rules on a bank, one run at a time, and publish what they find."""
        while opened in self._stale:
            began = time.monotonic()
            paths, self._stale[opened] = self._stale[opened], set()
            await self.run(lambda: navigation.run_rules(opened), None, 600)
            for uri in self.buffers.uris():
                self.check(uri, 0)
            for path in paths:
                self.check(self.editor().uri_of(str(opened.root / path)), 0)
            await asyncio.sleep(min((time.monotonic() - began) * _RULES_SHARE, _RULES_PAUSE))
            if not self._stale[opened]:
                del self._stale[opened]

    def close(self) -> None:
        """Stop all work; work that goes on for long is ended with the process."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self.banks.close()
        self.codebases.close()
        end = time.monotonic() + _CLOSE_SECONDS
        while self._running and time.monotonic() < end:
            time.sleep(0.01)
        if self._running:
            os._exit(self.exit_code)


def serve_stdio(server: NotesServer) -> int:
    """Serve one editor over stdin and stdout until it disconnects; return the exit code.

    A signal exits the process, because nothing else ends the thread that reads stdin.
    """
    incoming, outgoing = claim_streams()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os._exit(128 + number))
    logging.getLogger("pygls").addFilter(_is_fault)
    for name in ("pygls.protocol.json_rpc", "pygls.server", "pygls.feature_manager"):
        logging.getLogger(name).addFilter(_is_fault)
    try:
        server.start_io(incoming, outgoing)
    finally:
        server.close()
    return server.exit_code


def _open(file_request: FileRequest) -> None:
    """Ask nothing: the bank has been opened for it."""


def _update(code: CodeRequest) -> None:
    """Ask nothing: the code is updated in its own thread."""


def _is_fault(record: logging.LogRecord) -> bool:
    """Return whether a log record is about a fault: a refusal is the editor's to show."""
    error = record.exc_info[1] if record.exc_info else None
    return record.levelno >= logging.ERROR and not isinstance(error, RefusedRequest)


def _ignore(future: asyncio.Future[Any]) -> None:
    """Take the result of work that nobody waits for, so that its error is not logged twice."""
    if not future.cancelled():
        future.exception()
