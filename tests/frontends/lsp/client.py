"""An editor: pygls's own client, with a real server process, and the files that it has open."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

from tests.frontends.cli.conftest import command, environment
from tests.support.homes import name_homes

Result = TypeVar("Result")
CAN = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(
            document_changes=True,
            resource_operations=[types.ResourceOperationKind.Rename],
        ),
        file_operations=types.FileOperationClientCapabilities(will_rename=True),
    ),
    text_document=types.TextDocumentClientCapabilities(
        rename=types.RenameClientCapabilities(prepare_support=True),
    ),
)


def uri(file: Path) -> str:
    return str(from_fs_path(str(file)))


def position(text: str, mark: str, inside: int = 0) -> types.Position:
    """Return where `mark` is in a text, and so many characters behind its start, in UTF-16."""
    at = text.index(mark) + inside
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return types.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)


class Editor:
    """A client with a server process. Its methods wait for the answer."""

    def __init__(self, *folders: Path, home: Path, capabilities: types.ClientCapabilities = CAN, words: tuple[str, ...] = ("--stdio",), before: tuple[str, ...] = ()) -> None:  # fmt: skip
        self.folders = folders
        self.home = home
        self.diagnostics: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.texts: dict[Path, tuple[int, str]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client = LanguageClient("test-editor", "1")
        self._add_features()
        where = folders[0] if folders else home
        self._run(
            self.client.start_io(
                *command([*before, "serve", "lsp", *words]),
                cwd=where,
                env={**environment(), **name_homes(home)},
            )
        )
        hello = types.InitializeParams(
            process_id=os.getpid(),
            capabilities=capabilities,
            workspace_folders=[types.WorkspaceFolder(uri(one), one.name) for one in folders],
        )
        try:
            self.welcome = self.ask(self.client.initialize_async, hello)
        except BaseException:
            self.__exit__()
            raise
        self.tell(self.client.initialized, types.InitializedParams())

    def ask(self, question: Callable[[Any], Coroutine[Any, Any, Result] | Any], params: Any) -> Any:
        async def asked() -> Any:
            try:
                return await question(params)
            except JsonRpcException as error:
                error.add_note(str(error.data))  # where the server failed
                raise

        return self._run(asked())

    def tell(self, notification: Callable[[Any], None], params: Any) -> None:
        async def told() -> None:
            notification(params)

        self._run(told())

    def open(self, file: Path, text: str | None = None) -> types.TextDocumentIdentifier:
        """Open a file, with its own text or an unsaved one."""
        text = file.read_bytes().decode() if text is None else text
        if file in self.texts:
            return self.type(file, text)
        self.texts[file] = (1, text)
        document = types.TextDocumentItem(uri(file), "markdown", 1, text)
        self.tell(self.client.text_document_did_open, types.DidOpenTextDocumentParams(document))
        return types.TextDocumentIdentifier(uri(file))

    def type(self, file: Path, text: str) -> types.TextDocumentIdentifier:
        """Replace the text of an open file, as one change of the part that differs."""
        version, before = self.texts[file]
        start = _alike(before, text)
        rest = _alike(before[start:][::-1], text[start:][::-1])
        end = len(before) - rest
        area = types.Range(_at(before, start), _at(before, end))
        change = types.TextDocumentContentChangePartial(area, text[start : len(text) - rest])
        self.texts[file] = (version + 1, text)
        name = types.VersionedTextDocumentIdentifier(version + 1, uri(file))
        self.tell(
            self.client.text_document_did_change, types.DidChangeTextDocumentParams(name, [change])
        )
        return types.TextDocumentIdentifier(uri(file))

    def problems(self, file: Path, version: int | None = None) -> list[types.Diagnostic] | None:
        """Return the last problems of a file, if they are those of a version."""
        found = self.diagnostics.get(uri(file))
        if found is None or (version is not None and found.version != version):
            return None
        return list(found.diagnostics)

    def leave(self, *, politely: bool = True, hang_up: bool = False) -> int:
        """End the server, and return its exit code."""
        process = self.client._server
        assert process is not None
        if politely:
            self.ask(self.client.shutdown_async, None)
        if hang_up:
            assert process.stdin is not None
            self._loop.call_soon_threadsafe(process.stdin.close)
        else:
            self.tell(self.client.exit, None)
        code = self._run(asyncio.wait_for(process.wait(), 60))
        self._run(self.client.stop())
        self.stderr = self._run(process.stderr.read()).decode() if process.stderr else ""
        self._end_loop()
        return int(code)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End what a failed test left."""
        if self._loop.is_closed():
            return
        process = self.client._server
        if process is not None and process.returncode is None:
            process.kill()
            self._run(process.wait())
        with suppress(Exception):  # it says that it was killed
            self._run(self.client.stop())
        self._end_loop()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def _add_features(self) -> None:
        client = self.client

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = params

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts start with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _at(text: str, offset: int) -> types.Position:
    before = text[:offset]
    if text[offset - 1 : offset + 1] == "\r\n":
        before = text[: offset - 1]  # a position is never inside of a line end
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)
