import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.errors import BadInput, UnreadableNote
from memory_bank.notes import parsing
from memory_bank.notes.identity import hash_bytes

NOTE = """---
id: 4f1c9be07a52
type: decision
tags: [b, A, a]
created: 2026-01-10
---
# Title

See [[other]] and `[[code]]`. #inline

## Part

- supersedes:: [[old]] ^block1
"""


def test_a_note_is_read_whole() -> None:
    note = parsing.parse("d/a.md", NOTE.encode())
    assert (note.name, note.path, note.title) == ("d/a", "d/a.md", "Title")
    assert (note.meta.id, note.meta.type, note.meta.status) == (
        "4f1c9be07a52",
        "decision",
        "active",
    )
    assert note.meta.tags == ("b", "a", "inline")
    assert note.meta.created_at is not None
    assert [(link.target, link.type, link.line) for link in note.body.links] == [
        ("other", "mentions", 9),
        ("old", "supersedes", 13),
    ]
    assert [(section.headings, section.line) for section in note.body.sections] == [
        (("Title",), 7),
        (("Title", "Part"), 11),
    ]
    assert note.body.blocks == {"block1": 13}
    assert note.body_text.startswith("# Title")
    assert (note.etag, note.size) == (hash_bytes(NOTE.encode()), len(NOTE))
    assert note.writable
    assert note.faults == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_those_of_the_file_whatever_its_line_ends(newline: str, mark: str) -> None:
    note = parsing.parse("a.md", (mark + NOTE.replace("\n", newline)).encode())
    assert [link.line for link in note.body.links] == [9, 13]
    assert note.title == "Title"
    assert note.content_hash == parsing.parse("a.md", NOTE.encode()).content_hash
    assert not note.text.startswith("\ufeff")


def test_names_are_composed_and_paths_are_not() -> None:
    path = unicodedata.normalize("NFD", "é.md")
    note = parsing.parse(path, b"x")
    assert (note.path, note.name) == (path, "é")


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b"---\n---\n", b"---\n"])
def test_an_empty_note_is_a_note(data: bytes) -> None:
    note = parsing.parse("d/empty.md", data)
    assert note.title == "empty"
    assert note.etag == hash_bytes(data)


def test_broken_front_matter_is_a_fault_and_the_body_is_read() -> None:
    note = parsing.parse("a.md", b"---\ntags: [a\n---\n# Body\n\ntext\n")
    assert note.body.title == "Body"
    assert len(note.faults) == 1
    assert note.meta.tags == ()


def test_what_is_not_utf8_is_read_and_not_writable() -> None:
    note = parsing.parse("a.md", b"caf\xe9 text\n")
    assert "caf\ufffd text" in note.text
    assert not note.writable
    wide = parsing.parse("b.md", "# Größe\n".encode("utf-16"))
    assert wide.title == "Größe"
    assert not wide.writable


def test_a_binary_file_is_unreadable() -> None:
    with pytest.raises(UnreadableNote, match="NUL"):
        parsing.parse("a.md", b"PNG\0\0")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_note_or_unreadable(data: bytes) -> None:
    try:
        note = parsing.parse("x.md", data)
    except UnreadableNote:
        return
    assert note.size == len(data)
    if note.writable:
        assert parsing.edit_bytes(data, lambda text: text) == data


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=100))
def test_an_edit_gets_the_text_and_gives_the_bytes(text: str) -> None:
    assert parsing.edit_bytes(b"\xef\xbb\xbfold", lambda _: text) == b"\xef\xbb\xbf" + text.encode()
    assert parsing.encode_text(text) == text.encode()


def test_an_edit_of_a_file_that_is_not_utf8_is_refused_unless_it_changes_nothing() -> None:
    data = b"caf\xe9\n"
    assert parsing.edit_bytes(data, lambda text: text) == data
    with pytest.raises(UnreadableNote):
        parsing.edit_bytes(data, lambda text: text + "x")


@pytest.mark.parametrize("text", ["a\0", "\ud800"])
def test_text_that_could_not_be_read_again_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput):
        parsing.edit_bytes(b"a", lambda _: text)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("We use it, e.g. for queues. More.", "We use it, e.g. for queues"),
        ("Pin v1.2.3 of it, i.e. no later one. Then go.", "Pin v1.2.3 of it, i.e. no later one"),
        ("- **Bold** and [[a|a link]], `code`! Next", "Bold and a link, code!"),
        ("#tag #other\n\nsupersedes:: [[x]]\n\n![p](p.png)\n\nReal words", "Real words"),
        ("Wrapped\nat the end of a line. Next.", "Wrapped at the end of a line"),
        ("Met J. Smith of Acme vs. Others. Next.", "Met J. Smith of Acme vs. Others"),
        ("\u65e5\u672c\u8a9e\u306e\u6587\u3002\u6b21", "\u65e5\u672c\u8a9e\u306e\u6587"),
        ("Words first. Then more.\n\n## Part\n", "Words first"),
        ("```\ncode\n```\n\nAfter code.", "After code"),
        ("| a | b |\n|---|---|\n| c | d |\n\nAfter it.", "After it"),
        ("## Status\n\nAccepted", "slug-bd92"),
        ("$$", "slug-bd92"),
        ("", "slug-bd92"),
        ("word " * 60, "word " * 19 + "word\u2026"),
    ],
)
def test_a_note_without_a_heading_is_titled_by_its_first_sentence(text: str, title: str) -> None:
    assert parsing.parse("facts/slug-bd92.md", text.encode()).title == title
