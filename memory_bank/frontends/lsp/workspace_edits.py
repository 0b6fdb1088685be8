"""Answers that change files: renames and code actions. The editor applies them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    CodeActionParams,
    CreateFile,
    CreateFileOptions,
    FileRename,
    OptionalVersionedTextDocumentIdentifier,
    Position,
    PrepareRenameParams,
    PrepareRenamePlaceholder,
    Range,
    RenameFile,
    RenameFileOptions,
    RenameParams,
    ResourceOperationKind,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
    WorkspaceEditClientCapabilities,
)

from memory_bank.base.errors import BadInput
from memory_bank.base.text import one_line
from memory_bank.frontends.lsp import destinations, problems, rename
from memory_bank.frontends.lsp.buffers import FileRequest, file_at
from memory_bank.frontends.lsp.rename import OffsetEdit, Renaming

_MAX_FIXES = 20


def prepare(asked: FileRequest, params: PrepareRenameParams) -> PrepareRenamePlaceholder | None:
    """Return what a rename at the cursor changes, and its present name."""
    if not asked.path:
        return None
    what = rename.renameable(asked.texts, asked.path, asked.offset(params.position))
    if what is None:
        return None
    return PrepareRenamePlaceholder(asked.range(what.start, what.end), one_line(what.name))


def renamed(asked: FileRequest, params: RenameParams) -> WorkspaceEdit | None:
    """Return the edits that rename the note or heading at the cursor; raise MemoryBankError."""
    offset = asked.offset(params.position)
    what = rename.renameable(asked.texts, asked.path, offset) if asked.path else None
    if what is None:
        raise BadInput(
            "there is nothing to rename here", "put the cursor on a link, a heading or front matter"
        )
    return _workspace_edit(asked, rename.rename(asked.texts, what, params.new_name))


def moved(asked: FileRequest, files: Sequence[FileRename]) -> WorkspaceEdit | None:
    """Return the edits of links for notes or folders that the editor is about to move."""
    moves = _moves(asked, files)
    edits = tuple(rename.moved(asked.texts, moves)) if moves else ()
    return _workspace_edit(asked, Renaming(edits)) if edits else None


def record(asked: FileRequest, files: Sequence[FileRename]) -> None:
    """Record the moves of notes, so that their counts of accesses stay theirs."""
    rename.record(asked.bank, _moves(asked, files))


def _moves(asked: FileRequest, files: Sequence[FileRename]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in files:
        old, new = file_at(one.old_uri), file_at(one.new_uri)
        if old and new:
            found |= rename.moves_of(asked.bank, old, new)
    return found


def code_actions(asked: FileRequest, params: CodeActionParams) -> list[CodeAction]:
    """Return the fixes of the problems in a range of a note."""
    if not asked.path:
        return []
    lines = asked.lines()
    start, end = lines.offset(params.range.start), lines.offset(params.range.end)
    saved = asked.opened.findings.get(asked.path, ())
    found = [
        CodeAction(
            title=one_line(fix.title),
            kind=CodeActionKind.QuickFix,
            diagnostics=[one for one in params.context.diagnostics if one.code == fix.rule],
            edit=_workspace_edit(
                asked, Renaming((OffsetEdit(asked.path, fix.start, fix.end, fix.text),))
            ),
        )
        for fix in problems.fixes(asked.texts, asked.path, start, end, saved)[:_MAX_FIXES]
    ]
    return [*found, *_new_notes(asked, start, end)]


def _new_notes(asked: FileRequest, start: int, end: int) -> list[CodeAction]:
    """Return the actions that make a note of a wikilink's target that no note has."""
    note = asked.texts.note(asked.path)
    if note is None or not _can(asked, ResourceOperationKind.Create):
        return []
    found = []
    for written, goal in destinations.written_goals(asked.texts, asked.path, note):
        if written.first <= end and start <= written.last and written.link.kind == "wiki":
            path = destinations.new_note(asked.bank, goal)
            if not path:
                continue
            title, start_of_file = Path(path).stem, Range(Position(0, 0), Position(0, 0))
            uri = asked.uri(path)
            edit = WorkspaceEdit(
                document_changes=[
                    CreateFile(uri, options=CreateFileOptions(ignore_if_exists=True)),
                    _document_edit(uri, None, [TextEdit(start_of_file, f"# {title}\n")]),
                ]
            )
            name = one_line(f"Create the note {path}")
            found.append(CodeAction(title=name, kind=CodeActionKind.QuickFix, edit=edit))
    return found


def _workspace_edit(asked: FileRequest, renaming: Renaming) -> WorkspaceEdit:
    """Return the edits, then the move of the file, in the form that the editor takes."""
    by_path: dict[str, list[TextEdit]] = {}
    for one in renaming.edits:
        area = asked.range(one.start, one.end, one.path)
        by_path.setdefault(one.path, []).append(TextEdit(area, one.text))
    if not _takes_document_changes(asked):
        if renaming.new_file:
            raise _no_moves()
        return WorkspaceEdit(changes={asked.uri(path): some for path, some in by_path.items()})
    changes: list[TextDocumentEdit | CreateFile | RenameFile] = []
    for path, edits in by_path.items():
        uri = asked.uri(path)
        version = next(
            (one.version for one in asked.editor.buffers.values() if one.uri == uri), None
        )
        changes.append(_document_edit(uri, version, edits))
    if renaming.new_file:
        if not _can(asked, ResourceOperationKind.Rename):
            raise _no_moves()
        new = asked.uri_of(renaming.new_file)
        options = RenameFileOptions(overwrite=False)
        changes.append(RenameFile(asked.uri_of(renaming.old_file), new, options=options))
    return WorkspaceEdit(document_changes=changes)


def _document_edit(uri: str, version: int | None, edits: Sequence[TextEdit]) -> TextDocumentEdit:
    return TextDocumentEdit(OptionalVersionedTextDocumentIdentifier(uri, version), list(edits))


def _can(asked: FileRequest, operation: ResourceOperationKind) -> bool:
    """Tell whether the editor makes or moves files; Neovim 0.7 names only these operations."""
    takes = _takes(asked)
    return takes is not None and operation in (takes.resource_operations or ())


def _takes_document_changes(asked: FileRequest) -> bool:
    takes = _takes(asked)
    return takes is not None and bool(takes.document_changes or takes.resource_operations)


def _takes(asked: FileRequest) -> WorkspaceEditClientCapabilities | None:
    capabilities = asked.editor.capabilities.workspace
    return capabilities.workspace_edit if capabilities else None


def _no_moves() -> BadInput:
    return BadInput("this editor can't move files for a rename", "use `memory-bank mv OLD NEW`")
