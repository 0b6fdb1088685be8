import re

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from memory_bank.frontends.lsp.buffers import UTF8, UTF16, UTF32, Buffers, Positions

TEXTS = st.text(st.sampled_from("ab😀日\u2028\x0b\r\n"), max_size=30)
CODECS = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2), UTF32: ("utf-32-le", 4)}


@given(TEXTS, st.sampled_from([UTF8, UTF16, UTF32]), st.data())
def test_a_position_is_the_line_and_the_code_units_before(
    text: str, encoding: str, data: st.DataObject
) -> None:
    offset = data.draw(st.integers(0, len(text)))
    lines = Positions(text, encoding)
    found = lines.position(offset)
    if text[offset - 1 : offset + 1] == "\r\n" and offset:
        offset -= 1  # inside of a line end is the end of the line
    before = re.split(r"\r\n|\n|\r", text[:offset])
    codec, size = CODECS[encoding]
    assert (found.line, found.character) == (len(before) - 1, len(before[-1].encode(codec)) // size)
    assert lines.offset(found) == offset


@given(TEXTS, st.integers(0, 9), st.integers(0, 99))
def test_any_position_is_an_offset_in_the_text(text: str, line: int, character: int) -> None:
    assert 0 <= Positions(text).offset(types.Position(line, character)) <= len(text)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), TEXTS), max_size=5))
def test_changes_leave_the_text_that_the_editor_has(
    text: str, changes: list[tuple[int, int, str]]
) -> None:
    buffers = Buffers()
    buffers.open(types.TextDocumentItem("file:///a.md", "markdown", 1, text))
    for version, (one, other, new) in enumerate(changes, 2):
        start, end = sorted((min(one, len(text)), min(other, len(text))))
        lines = Positions(text)
        area = lines.range(start, end)
        start, end = lines.offset(area.start), lines.offset(area.end)
        text = text[:start] + new + text[end:]
        change = types.TextDocumentContentChangePartial(area, new)
        name = types.VersionedTextDocumentIdentifier(version, "file:///a.md")
        buffers.change(types.DidChangeTextDocumentParams(name, [change]))
    assert buffers.all()["/a.md"].text == text


def test_a_change_without_a_range_is_the_whole_text() -> None:
    buffers = Buffers()
    buffers.open(types.TextDocumentItem("file:///a.md", "markdown", 1, "old"))
    name = types.VersionedTextDocumentIdentifier(2, "file:///a.md")
    change = types.TextDocumentContentChangeWholeDocument("new")
    buffers.change(types.DidChangeTextDocumentParams(name, [change]))
    assert (buffers.all()["/a.md"].text, buffers.version("file:///a.md")) == ("new", 2)
    buffers.close("file:///a.md")
    buffers.change(types.DidChangeTextDocumentParams(name, [change]))
    assert buffers.all() == {}
