"""The features of the language server: one short function a method of the protocol."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from memory_bank.frontends.lsp import navigation, source_code, workspace_edits
from memory_bank.frontends.lsp.buffers import ADD_NOTE, file_at, is_note
from memory_bank.frontends.lsp.language_server import (
    CHANGE_SECONDS,
    LIST_SECONDS,
    NOTES,
    NotesServer,
)


def built(named: str | None = None) -> NotesServer:
    """Return a server with all features; `named` is the bank of all files."""
    server = NotesServer(named)
    _add_life(server)
    _add_documents(server)
    _add_navigation(server)
    _add_changes(server)
    _add_code(server)
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


def _add_navigation(server: NotesServer) -> None:
    triggers = types.CompletionOptions(trigger_characters=["[", "#", "^", "/"])

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, triggers)
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        uri = params.text_document.uri
        return await server.ask(
            uri, lambda asked: navigation.complete(asked, params, server.codebases), None
        )

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.Location]:
        uri = params.text_document.uri
        return await server.ask(
            uri, lambda asked: navigation.definition(asked, params, server.codebases), []
        )

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location]:
        uri = params.text_document.uri
        return await server.ask(
            uri, lambda asked: navigation.references(asked, params), [], LIST_SECONDS
        )

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        if is_note(uri):
            return await server.ask(uri, lambda asked: navigation.hover(asked, params), None)
        return await server.ask_code(
            uri, lambda asked: source_code.hover(asked, params, server.clock), None
        )

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(
        params: types.DocumentSymbolParams,
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
        uri = params.text_document.uri
        return await server.ask(uri, lambda asked: navigation.symbols(asked, params), [])

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def links(params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        uri = params.text_document.uri
        return await server.ask(uri, lambda asked: navigation.links(asked, params), [])

    @server.feature(types.WORKSPACE_SYMBOL)
    async def search(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        editor = server.editor()
        return await server.run(
            lambda: navigation.workspace_symbols(server.banks.opened(), editor, params.query),
            [],
        )


def _add_changes(server: NotesServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        uri = params.text_document.uri
        return await server.ask(uri, lambda asked: workspace_edits.prepare(asked, params), None)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        uri = params.text_document.uri
        return await server.ask(
            uri, lambda asked: workspace_edits.renamed(asked, params), None, CHANGE_SECONDS
        )

    @server.feature(
        types.WORKSPACE_WILL_RENAME_FILES, types.FileOperationRegistrationOptions(NOTES)
    )
    async def will_rename(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        if not params.files:
            return None
        uri = params.files[0].old_uri
        return await server.ask(
            uri, lambda asked: workspace_edits.moved(asked, params.files), None, CHANGE_SECONDS
        )

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, types.FileOperationRegistrationOptions(NOTES))
    async def did_rename(params: types.RenameFilesParams) -> None:
        if params.files:
            uri = params.files[0].new_uri
            await server.ask(uri, lambda asked: workspace_edits.record(asked, params.files), None)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        if not is_note(uri):
            return await server.ask_code(
                uri, lambda asked: source_code.code_actions(asked, params), []
            )
        return await server.ask(uri, lambda asked: workspace_edits.code_actions(asked, params), [])


def _add_code(server: NotesServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        if is_note(uri):
            return []
        return await server.ask_code(uri, lambda asked: source_code.lenses(asked, params), [])

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
