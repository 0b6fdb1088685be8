"""The features of the language server: what it does at each method of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types

from memory_bank.frontends.lsp import navigation, source_code, workspace_edits
from memory_bank.frontends.lsp.buffers import ADD_NOTE, FileRequest, file_at, is_note
from memory_bank.frontends.lsp.language_server import (
    CHANGE_SECONDS,
    LIST_SECONDS,
    NOTES,
    READ_SECONDS,
    NotesServer,
)
from memory_bank.frontends.lsp.source_code import AskedCode


def built(named: str | None = None) -> NotesServer:
    """Return a server with all features; `named` is the bank of all files."""
    server = NotesServer(named)
    _add_life(server)
    _add_documents(server)
    _add_answers(server)
    _add_moves(server)
    _add_notes(server)
    return server


def _add_life(server: NotesServer) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(_: types.InitializeParams) -> None:
        encoding = server.workspace.position_encoding
        server.buffers.encoding = str(getattr(encoding, "value", encoding))

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        server.started()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders(_: types.DidChangeWorkspaceFoldersParams) -> None:
        server.started()

    @server.feature(types.EXIT)
    def leave(*_: Any) -> None:  # noqa: ANN401  (pygls passes what came)
        server.left()


def _add_documents(server: NotesServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.buffers.open(params.text_document)
        server.check(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.buffers.change(params)
        server.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.check(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.buffers.close(params.text_document.uri)
        server.check(params.text_document.uri, 0)


def _add_answers(server: NotesServer) -> None:
    def answer(
        method: str,
        of_note: Callable[[FileRequest, Any], object] | None,
        empty: object,
        *,
        of_code: Callable[[AskedCode, Any], object] | None = None,
        seconds: float = READ_SECONDS,
        options: object = None,
    ) -> None:
        """Answer a request about a file: a note, or source code if there is an answer for it."""

        @server.feature(method, options)
        async def answered(params: Any) -> object:  # noqa: ANN401  (each method has its own)
            uri = params.text_document.uri
            if of_code is not None and not is_note(uri):
                return await server.ask_code(uri, lambda asked: of_code(asked, params), empty)
            if of_note is None:
                return empty
            return await server.ask(uri, lambda asked: of_note(asked, params), empty, seconds)

    answer(
        types.TEXT_DOCUMENT_COMPLETION,
        lambda asked, params: navigation.complete(asked, params, server.codebases),
        None,
        options=types.CompletionOptions(trigger_characters=["[", "#", "^", "/"]),
    )
    answer(
        types.TEXT_DOCUMENT_DEFINITION,
        lambda asked, params: navigation.definition(asked, params, server.codebases),
        [],
    )
    answer(types.TEXT_DOCUMENT_REFERENCES, navigation.references, [], seconds=LIST_SECONDS)
    answer(
        types.TEXT_DOCUMENT_HOVER,
        navigation.hover,
        None,
        of_code=lambda asked, params: source_code.hover(asked, params, server.clock),
    )
    answer(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, navigation.symbols, [])
    answer(types.TEXT_DOCUMENT_DOCUMENT_LINK, navigation.links, [])
    answer(types.TEXT_DOCUMENT_CODE_LENS, None, [], of_code=source_code.lenses)
    answer(types.TEXT_DOCUMENT_PREPARE_RENAME, workspace_edits.prepare, None)
    answer(
        types.TEXT_DOCUMENT_RENAME,
        workspace_edits.renamed,
        None,
        seconds=CHANGE_SECONDS,
        options=types.RenameOptions(prepare_provider=True),
    )
    answer(
        types.TEXT_DOCUMENT_CODE_ACTION,
        workspace_edits.code_actions,
        [],
        of_code=source_code.code_actions,
        options=types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )

    @server.feature(types.WORKSPACE_SYMBOL)
    async def search(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        editor = server.editor()
        return await server.run(
            lambda: navigation.workspace_symbols(server.banks.opened(), editor, params.query), []
        )


def _add_moves(server: NotesServer) -> None:
    options = types.FileOperationRegistrationOptions(NOTES)

    @server.feature(types.WORKSPACE_WILL_RENAME_FILES, options)
    async def will_rename(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        if not params.files:
            return None
        uri = params.files[0].old_uri
        return await server.ask(
            uri, lambda asked: workspace_edits.moved(asked, params.files), None, CHANGE_SECONDS
        )

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, options)
    async def did_rename(params: types.RenameFilesParams) -> None:
        if params.files:
            uri = params.files[0].new_uri
            await server.ask(uri, lambda asked: workspace_edits.record(asked, params.files), None)


def _add_notes(server: NotesServer) -> None:
    @server.command(ADD_NOTE)
    async def add_note(uri: str, qualified: str) -> None:
        made = await server.ask_code(
            uri, lambda asked: source_code.add_note(asked, qualified), "", CHANGE_SECONDS
        )
        if not made:
            return
        window = server.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            shown = types.ShowDocumentParams(made, take_focus=True)
            server.window_show_document(shown)
        else:
            said = types.ShowMessageParams(types.MessageType.Info, f"made {file_at(made)}")
            server.window_show_message(said)
