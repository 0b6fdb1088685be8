from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from markdown_it import MarkdownIt

from memory_bank.frontends.lsp import navigation
from memory_bank.notes import parsing
from memory_bank.notes.note import Meta
from tests.frontends.lsp.client import Editor, position, uri
from tests.frontends.lsp.conftest import NOTES

TANTIVY = NOTES[".memories/decisions/tantivy.md"]
WHOOSH = NOTES[".memories/decisions/whoosh.md"]
BM25 = NOTES[".memories/facts/bm25.md"]


def definition(editor: Editor, file: Path, text: str, mark: str) -> list[tuple[str, int]]:
    document = editor.open(file, text)
    params = types.DefinitionParams(document, position(text, mark, 3))
    found = editor.ask(editor.client.text_document_definition_async, params)
    return [(one.uri, one.range.start.line) for one in found]


def test_positions_behind_emoji_and_with_crlf_are_right(editor: Editor, notes: Path) -> None:
    file = notes / "decisions/whoosh.md"
    assert definition(editor, file, WHOOSH, "[[facts/bm25]]") == [(uri(notes / "facts/bm25.md"), 0)]
    hover = types.HoverParams(
        types.TextDocumentIdentifier(uri(file)), position(WHOOSH, "[[facts/bm25]]", 3)
    )
    shown = editor.ask(editor.client.text_document_hover_async, hover)
    assert shown.range == types.Range(
        position(WHOOSH, "[[facts/bm25]]"), position(WHOOSH, "[[facts/bm25]]", 14)
    )


def test_elsewhere_there_is_no_definition(editor: Editor, notes: Path) -> None:
    assert definition(editor, notes / "decisions/tantivy.md", TANTIVY, "maintained") == []
    assert definition(editor, editor.folders[0] / "README.md", WHOOSH, "[[facts/bm25]]") == []


@pytest.mark.parametrize(
    ("mark", "count"), [("# BM25", 2), ("## Ranks", 1), ("Rare words first", 0), ("scores", None)]
)
def test_references_are_those_to_the_note_or_to_its_part(
    editor: Editor, notes: Path, mark: str, count: int | None
) -> None:
    document = editor.open(notes / "facts/bm25.md", BM25)
    context = types.ReferenceContext(include_declaration=False)
    params = types.ReferenceParams(context, document, position(BM25, mark, 3))
    found = editor.ask(editor.client.text_document_references_async, params)
    assert len(found or ()) == (count or 0)
    if count == 2:
        places = {one.uri: one.range for one in found}
        assert places[uri(notes / "decisions/whoosh.md")].start == position(WHOOSH, "[[facts")


def test_other_files_have_no_notes(editor: Editor) -> None:
    source = editor.folders[0] / "src/index.py"
    document = editor.open(source)
    context = types.ReferenceContext(include_declaration=False)
    params = types.ReferenceParams(context, document, types.Position(0, 0))
    assert not editor.ask(editor.client.text_document_references_async, params)
    untitled = types.TextDocumentIdentifier("untitled:Untitled-1")
    assert not editor.ask(
        editor.client.text_document_hover_async, types.HoverParams(untitled, types.Position(0, 0))
    )


HOSTILE = st.text(st.sampled_from("a `~*_[]()<>!#\\\n\u202e|-=&;{}$+^:/.1"), max_size=40)


@given(HOSTILE, HOSTILE)
def test_nothing_of_a_note_becomes_markup(title: str, tag: str) -> None:
    note = parsing.parse("p.md", b"x")
    meta = Meta(title=f"t{title}", type="x", tags=(tag,))
    shown, _ = navigation.describe_note(note._replace(path=f"p{title}", meta=meta))
    tokens = MarkdownIt("commonmark", {"html": True}).parse(shown)
    inline = {child.type for token in tokens for child in token.children or ()}
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    assert inline <= {"text", "strong_open", "strong_close", "code_inline", "hardbreak", "text_special", "softbreak"}  # fmt: skip
    assert "\u202e" not in shown
