import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.bank.bank import Bank, note_path
from memory_bank.frontends.lsp.open_texts import (
    Texts,
    read_links,
)
from memory_bank.notes import parsing
from tests.frontends.lsp.conftest import Make


def whole_links(text: str) -> list[str]:
    note = parsing.parse("a.md", text.encode())
    return [note.text[one.first : one.last] for one in read_links(note)]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("See [[facts/bm25|it]] now.", ["[[facts/bm25|it]]"]),
        ("See ![[a]] and [[b#c]].", ["[[a]]", "[[b#c]]"]),
        ("See [the note](a.md#b 'x') now.", ["[the note](a.md#b 'x')"]),
        ("See [the note][1].\n\n[1]: a.md\n", ["[the note][1]"]),
        ("> - quoted [[a]]\n> - and [[b]]\n", ["[[a]]", "[[b]]"]),
        ("| a | b |\n|---|---|\n| [[x\\|y]] | [[z]] |\n", ["[[x\\|y]]", "[[z]]"]),
        ("---\nrelated: '[[a]]'\n---\n[[b]]\n", ["[[a]]", "[[b]]"]),
        ("---\nfile_refs: [src/a.py, src/b.py]\n---\n", ["src/a.py", "src/b.py"]),
        ("`[[code]]` and\n\n    [[more code]]\n", []),
        ("😀 日本 [[a]] 😀 [[b]]\r\n[[c]]", ["[[a]]", "[[b]]", "[[c]]"]),
    ],
)
def test_a_link_has_the_offsets_of_all_of_it(text: str, links: list[str]) -> None:
    assert [one.lstrip("!") for one in whole_links(text)] == links


@given(
    st.lists(
        st.sampled_from(["[[a]]", "😀", "日", "\r\n", "\n", "x ", "[t](b.md)", "> "]), max_size=30
    )
)
def test_a_wikilink_is_where_its_offsets_say(parts: list[str]) -> None:
    for written in whole_links("".join(parts)):
        assert written in {"[[a]]", "[t](b.md)"}


def test_an_unsaved_text_comes_before_the_file(make: Make) -> None:
    texts = make({"a.md": "# Saved\n"}, a="# Unsaved\n")
    note = texts.note("a.md")
    assert note is not None
    assert note.title == "Unsaved"
    assert Texts(texts.bank).read("a.md").title == "Saved"
    assert texts.note("missing.md") is None


def test_a_file_is_a_note_if_the_bank_would_have_it(make: Make, tmp_path: Path) -> None:
    bank: Bank = make({"facts/a.md": "x"}).bank
    root = tmp_path / "project" / ".memories"
    assert note_path(bank, str(root / "facts/a.md")) == "facts/a.md"
    assert note_path(bank, str(root / "new/note.md")) == "new/note.md"
    for other in (".trash/a.md", ".index/x.md", "a.txt", "../README.md"):
        assert note_path(bank, os.path.join(root, other)) == ""


def test_the_notes_of_sessions_are_notes_wherever_they_are(make: Make) -> None:
    bank = make({"a.md": "x"}).bank
    private = bank.roots.private
    assert private is not None
    file = private.folder / "sessions" / "2026-01-01.md"
    assert note_path(bank, str(file)) == "sessions/2026-01-01.md"
