"""The features of the language server: what it does at each method of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lsprotocol import types
from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    CodeActionParams,
    FileRename,
    OptionalVersionedTextDocumentIdentifier,
    PrepareRenameParams,
    PrepareRenamePlaceholder,
    RenameFile,
    RenameFileOptions,
    RenameParams,
    ResourceOperationKind,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from memory_bank.base.errors import BadInput
from memory_bank.base.text import one_line
from memory_bank.frontends.lsp import navigation, problems, rename, source_code
from memory_bank.frontends.lsp.buffers import FileRequest, file_at, is_note
from memory_bank.frontends.lsp.language_server import (
    CHANGE_SECONDS,
    LIST_SECONDS,
    NOTES,
    READ_SECONDS,
    NotesServer,
)
from memory_bank.frontends.lsp.rename import OffsetEdit, Renameable, Renaming
from memory_bank.frontends.lsp.source_code import CodeRequest


def build_server(bank_path: str | None = None) -> NotesServer:
    """Return a server with all features; a bank at `bank_path` is that of all files."""
    server = NotesServer(bank_path)
    _add_life(server)
    _add_documents(server)
    _add_answers(server)
    _add_moves(server)
    return server


def _add_life(server: NotesServer) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(_: types.InitializeParams) -> None:
        encoding = server.workspace.position_encoding
        server.buffers.encoding = str(getattr(encoding, "value", encoding))

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        server.open_folders()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders(_: types.DidChangeWorkspaceFoldersParams) -> None:
        server.open_folders()

    @server.feature(types.EXIT)
    def leave(*_: Any) -> None:  # noqa: ANN401  (pygls passes what came)
        server.set_exit_code()


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
        of_note: Callable[[FileRequest, Any], object],
        empty: object,
        *,
        of_code: Callable[[CodeRequest, Any], object] | None = None,
        seconds: float = READ_SECONDS,
        options: object = None,
    ) -> None:
        """Answer a request about a file: a note, or source code if there is an answer for it."""

        @server.feature(method, options)
        async def answered(params: Any) -> object:  # noqa: ANN401  (each method has its own)
            uri = params.text_document.uri
            if of_code is not None and not is_note(uri):
                return await server.ask_code(uri, lambda code: of_code(code, params), empty)
            return await server.ask(
                uri, lambda file_request: of_note(file_request, params), empty, seconds
            )

    answer(
        types.TEXT_DOCUMENT_COMPLETION,
        lambda file_request, params: navigation.complete(file_request, params, server.codebases),
        None,
        options=types.CompletionOptions(trigger_characters=["[", "#", "^", "/"]),
    )
    answer(
        types.TEXT_DOCUMENT_DEFINITION,
        lambda file_request, params: navigation.find_definition(
            file_request, params, server.codebases
        ),
        [],
    )
    answer(types.TEXT_DOCUMENT_REFERENCES, navigation.find_references, [], seconds=LIST_SECONDS)
    answer(
        types.TEXT_DOCUMENT_HOVER,
        navigation.hover,
        None,
        of_code=lambda code, params: source_code.hover(code, params, server.clock),
    )
    answer(types.TEXT_DOCUMENT_PREPARE_RENAME, prepare, None)
    answer(
        types.TEXT_DOCUMENT_RENAME,
        rename_at,
        None,
        seconds=CHANGE_SECONDS,
        options=types.RenameOptions(prepare_provider=True),
    )
    answer(
        types.TEXT_DOCUMENT_CODE_ACTION,
        code_actions,
        [],
        options=types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )


def _add_moves(server: NotesServer) -> None:
    options = types.FileOperationRegistrationOptions(NOTES)

    @server.feature(types.WORKSPACE_WILL_RENAME_FILES, options)
    async def will_rename(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        if not params.files:
            return None
        uri = params.files[0].old_uri
        return await server.ask(
            uri, lambda file_request: edit_moved(file_request, params.files), None, CHANGE_SECONDS
        )

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, options)
    async def did_rename(params: types.RenameFilesParams) -> None:
        if params.files:
            uri = params.files[0].new_uri
            await server.ask(uri, lambda file_request: record(file_request, params.files), None)


_MAX_FIXES = 20


def prepare(
    file_request: FileRequest, params: PrepareRenameParams
) -> PrepareRenamePlaceholder | None:
    """Return the range and the present name of what a rename at the cursor changes."""
    renameable = _find_renameable(file_request, params.position)
    if renameable is None:
        return None
    place = file_request.range(renameable.start, renameable.end)
    return PrepareRenamePlaceholder(place, one_line(renameable.name))


def rename_at(file_request: FileRequest, params: RenameParams) -> WorkspaceEdit | None:
    """Return the edits that rename the note or heading at the cursor; raise MemoryBankError."""
    renameable = _find_renameable(file_request, params.position)
    if renameable is None:
        raise BadInput(
            "there is nothing to rename here", "put the cursor on a link, a heading or front matter"
        )
    renaming = rename.rename(file_request.texts, renameable, params.new_name)
    return _make_workspace_edit(file_request, renaming)


def _find_renameable(file_request: FileRequest, position: types.Position) -> Renameable | None:
    if not file_request.path:
        return None
    offset = file_request.offset(position)
    return rename.find_renameable(file_request.texts, file_request.path, offset)


def edit_moved(file_request: FileRequest, files: Sequence[FileRename]) -> WorkspaceEdit | None:
    """Return the edits of links for notes or folders that the editor is about to move."""
    moves = _map_moves(file_request, files)
    edits = tuple(rename.move_links(file_request.texts, moves)) if moves else ()
    return _make_workspace_edit(file_request, Renaming(edits)) if edits else None


def record(file_request: FileRequest, files: Sequence[FileRename]) -> None:
    """Record the moves of notes, so that their counts of accesses stay theirs."""
    rename.record(file_request.bank, _map_moves(file_request, files))


def _map_moves(file_request: FileRequest, files: Sequence[FileRename]) -> dict[str, str]:
    moves: dict[str, str] = {}
    for file_rename in files:
        old, new = file_at(file_rename.old_uri), file_at(file_rename.new_uri)
        if old and new:
            moves |= rename.map_moves(file_request.bank, old, new)
    return moves


def code_actions(file_request: FileRequest, params: CodeActionParams) -> list[CodeAction]:
    """Return the fixes of the problems in a range of a note."""
    if not file_request.path:
        return []
    lines = file_request.lines()
    start, end = lines.offset(params.range.start), lines.offset(params.range.end)
    saved = file_request.opened.findings.get(file_request.path, ())
    return [
        CodeAction(
            title=one_line(fix.title),
            kind=CodeActionKind.QuickFix,
            diagnostics=[
                diagnostic
                for diagnostic in params.context.diagnostics
                if diagnostic.code == fix.rule
            ],
            edit=_make_workspace_edit(
                file_request,
                Renaming((OffsetEdit(file_request.path, fix.start, fix.end, fix.text),)),
            ),
        )
        for fix in problems.list_fixes(file_request.texts, file_request.path, start, end, saved)[
            :_MAX_FIXES
        ]
    ]


def _make_workspace_edit(file_request: FileRequest, renaming: Renaming) -> WorkspaceEdit:
    """Return the edits, then the move of the file, in the form that the editor takes."""
    by_path: dict[str, list[TextEdit]] = {}
    for offset_edit in renaming.edits:
        area = file_request.range(offset_edit.start, offset_edit.end, offset_edit.path)
        by_path.setdefault(offset_edit.path, []).append(TextEdit(area, offset_edit.text))
    capabilities = file_request.editor.capabilities.workspace
    takes = capabilities.workspace_edit if capabilities else None
    operations = (takes.resource_operations if takes else None) or ()
    if renaming.new_file and ResourceOperationKind.Rename not in operations:
        hint = "use `memory-bank mv OLD NEW`"
        raise BadInput("this editor can't move files for a rename", hint)
    # Neovim 0.7 names only the operations
    if not (operations or (takes and takes.document_changes)):
        return WorkspaceEdit(
            changes={file_request.uri(path): text_edits for path, text_edits in by_path.items()}
        )
    versions = {buffer.uri: buffer.version for buffer in file_request.editor.buffers.values()}
    changes: list[TextDocumentEdit | RenameFile] = []
    for path, edits in by_path.items():
        uri = file_request.uri(path)
        document = OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri))
        changes.append(TextDocumentEdit(document, list(edits)))
    if renaming.new_file:
        old, new = map(file_request.uri_of, (renaming.old_file, renaming.new_file))
        changes.append(RenameFile(old, new, options=RenameFileOptions(overwrite=False)))
    return WorkspaceEdit(document_changes=changes)
