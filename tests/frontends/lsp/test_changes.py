from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.frontends.lsp.client import Editor, position, uri
from tests.frontends.lsp.conftest import NOTES
from tests.support.waiting import until

TANTIVY = NOTES[".memories/decisions/tantivy.md"]


def applied(text: str, edits: Any) -> str:
    """Apply edits as an editor does: positions count UTF-16 units."""
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]

    def offset(at: types.Position) -> int:
        units = lines[at.line].encode("utf-16-le")[: at.character * 2]
        return starts[at.line] + len(units.decode("utf-16-le"))

    for edit in sorted(edits, key=lambda one: -offset(one.range.start)):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def test_a_rename_begins_with_the_present_name(editor: Editor, notes: Path) -> None:
    assert editor.welcome.capabilities.rename_provider.prepare_provider
    document = editor.open(notes / "decisions/tantivy.md", TANTIVY)
    params = types.PrepareRenameParams(document, position(TANTIVY, "[[facts/bm25#", 4))
    asked = editor.ask(editor.client.text_document_prepare_rename_async, params)
    assert asked.placeholder == "facts/bm25"


@pytest.mark.parametrize(
    ("mark", "name", "said"),
    [
        ("maintained", "x", "nothing to rename here"),
        ("[[facts/bm25#", "decisions/whoosh", "exists"),
        ("[[facts/bm25#", "../out", "leaves the bank"),
    ],
)
def test_a_rename_that_can_not_be_is_refused_in_words(
    editor: Editor, notes: Path, mark: str, name: str, said: str
) -> None:
    document = editor.open(notes / "decisions/tantivy.md", TANTIVY)
    params = types.RenameParams(
        position=position(TANTIVY, mark, 4), new_name=name, text_document=document
    )
    with pytest.raises(JsonRpcException, match=said):
        editor.ask(editor.client.text_document_rename_async, params)


def test_a_file_that_the_editor_moves_takes_its_links_along(editor: Editor, notes: Path) -> None:
    text = TANTIVY.replace("no longer", "no [[bm25]] 😀 [[bm25]] longer")
    editor.open(notes / "decisions/tantivy.md", text)
    move = types.FileRename(uri(notes / "facts/bm25.md"), uri(notes / "facts/okapi.md"))
    found = editor.ask(
        editor.client.workspace_will_rename_files_async, types.RenameFilesParams([move])
    )
    changed = {one.text_document.uri: one.edits for one in found.document_changes}
    assert applied(text, changed[uri(notes / "decisions/tantivy.md")]) == text.replace(
        "facts/bm25", "facts/okapi"
    ).replace("[[bm25]]", "[[okapi]]")


def test_problems_are_published_as_a_text_changes_and_have_fixes(
    editor: Editor, notes: Path
) -> None:
    file = notes / "problems.md"
    editor.open(file, "x\n")
    text = "---\ntags: [\n---\n😀 [[facts/bm25#Rank]] [[bm25]]\n"
    document = editor.type(file, text)
    version = editor.texts[file][0]
    found = until(lambda: editor.problems(file, version))
    assert {one.code for one in found} == {"bad-front-matter", "broken-link"}
    (link,) = [one for one in found if one.code == "broken-link"]
    assert link.range == types.Range(position(text, "[[facts"), position(text, " [[bm25"))
    assert (link.source, link.severity) == ("memory-bank", types.DiagnosticSeverity.Warning)
    params = types.CodeActionParams(document, link.range, types.CodeActionContext([link]))
    (action,) = editor.ask(editor.client.text_document_code_action_async, params)
    assert action.kind == types.CodeActionKind.QuickFix
    (change,) = action.edit.document_changes
    assert "[[facts/bm25#Ranks]]" in applied(text, change.edits)
    editor.type(file, "Nothing wrong\n")
    until(lambda: editor.problems(file, version + 1) == [])


def test_a_changed_file_and_all_rules_are_followed(editor: Editor, notes: Path) -> None:
    file = notes / "facts/changed.md"
    file.write_text("---\nfile_refs: [src/gone.py]\n---\n# Changed\n")
    found = until(lambda: editor.problems(file))
    assert [one.code for one in found] == ["missing-file-ref"]
    assert found[0].range.start.line == 1
    file.unlink()
    until(lambda: editor.problems(file) == [])
