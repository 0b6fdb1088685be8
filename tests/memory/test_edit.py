from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import (
    BadInput,
    Conflict,
    MemoryBankError,
    NoteExists,
    NoteNotFound,
    UnreadableNote,
)
from memory_bank.memory.change import replace_in_text, set_status
from memory_bank.memory.edit import append, edit, update
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes, show
from memory_bank.memory.trash import delete

OLD = "0" * 64


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


@pytest.fixture
def note(bank: Bank) -> Callable[[str], Callable[[], str]]:
    """Write the note `a`; return what reads it."""

    def write(text: str) -> Callable[[], str]:
        file = bank.layout.root / "a.md"
        file.write_bytes(text.encode())
        return lambda: file.read_bytes().decode()

    return write


Note = Callable[[str], Callable[[], str]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "more\n"),
        ("text", "text\n\nmore\n"),
        ("text\n", "text\n\nmore\n"),
        ("text\n\n", "text\n\nmore\n"),
        ("text\r\n", "text\r\n\r\nmore\r\n"),
        ("a\rb\r", "a\rb\r\rmore\r"),
        ("\ufefftext\n", "\ufefftext\n\nmore\n"),
        ("---\nown: 1 # x\n---\n", "---\nown: 1 # x\n---\n\nmore\n"),
        ("---\nown: 1\n---", "---\nown: 1\n---\n\nmore\n"),
        ("---\nbroken: [\n---\ntext\n", "---\nbroken: [\n---\ntext\n\nmore\n"),
    ],
)
def test_a_paragraph_is_added_and_all_else_stays(
    bank: Bank, note: Note, before: str, after: str
) -> None:
    read = note(before)
    written = append(bank, "a", "\nmore\n\n")
    assert read() == after
    assert (written.path, written.changed, written.etag) == (
        "a.md",
        True,
        show(bank, "a").etag,
    )
    assert recall(bank, "more").result_count == 1


def test_several_lines_get_the_notes_line_ends(bank: Bank, note: Note) -> None:
    read = note("one\r\n")
    append(bank, "a", "two\nthree\r\nfour")
    assert read() == "one\r\n\r\ntwo\r\nthree\r\nfour\r\n"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        ("old\n", "new", "new\n"),
        ("---\nown: 1 # x\n---\nold\n", "new", "---\nown: 1 # x\n---\nnew\n"),
        ("---\nown: 1\n---\n\nold\n", "new\n\n", "---\nown: 1\n---\n\nnew\n"),
        ("---\nown: 1\n---\nold\n", "---\nother: 2\n---\nnew", "---\nother: 2\n---\nnew\n"),
        ("---\r\nown: 1\r\n---\r\nold\r\n", "new\nline", "---\r\nown: 1\r\n---\r\nnew\r\nline\r\n"),
        ("\ufeffold", "new", "\ufeffnew\n"),
    ],
)
def test_a_text_is_replaced_and_front_matter_stays(
    bank: Bank, note: Note, before: str, content: str, after: str
) -> None:
    read = note(before)
    update(bank, "a", content)
    assert read() == after


def test_a_text_is_replaced_where_it_stands(bank: Bank, note: Note) -> None:
    read = note("---\nown: 1\n---\none two\r\ntwo\n")
    edit(bank, "a", "2", old="one two")
    assert read() == "---\nown: 1\n---\n2\r\ntwo\n"
    edit(bank, "a", "", old="two\n")
    assert read() == "---\nown: 1\n---\n2\r\n"


@pytest.mark.parametrize(("count", "error"), [(1, Conflict), (2, Conflict), (4, Conflict)])
def test_a_text_that_stands_there_more_often_is_not_guessed(
    bank: Bank, note: Note, count: int, error: type[MemoryBankError]
) -> None:
    read = note("x x x")
    with pytest.raises(error, match="3 times"):
        edit(bank, "a", "y", old="x", count=count)
    assert read() == "x x x"
    edit(bank, "a", "y", old="x", count=3)
    assert read() == "y y y"
    edit(bank, "a", "z", old="y", count=0)
    assert read() == "z z z"
    with pytest.raises(NoteNotFound):
        edit(bank, "a", "y", old="x")


def test_text_typed_with_newlines_is_found_in_a_note_with_others(bank: Bank, note: Note) -> None:
    read = note("one\r\ntwo\r\nthree\r\n")
    edit(bank, "a", "1\n2", old="one\ntwo")
    assert read() == "1\r\n2\r\nthree\r\n"


SECTIONS = "intro\n\n# A\n\none\n\n## B\n\ntwo\n\n# C\n\n## B\n\nthree\n"


@pytest.mark.parametrize(
    ("before", "heading", "after"),
    [
        (SECTIONS, "A", SECTIONS.replace("one", "NEW")),
        (SECTIONS, "a > b", SECTIONS.replace("two", "NEW")),
        (SECTIONS, "# C > ## B", SECTIONS.replace("three", "NEW")),
        ("# A\nold", "A", "# A\n\nNEW\n"),
        ("# A", "A", "# A\n\nNEW\n"),
        ("# A\r\nold\r\n# B\r\n", "A", "# A\r\n\r\nNEW\r\n\r\n# B\r\n"),
        ("A\n===\nold\n\nB\n-\nold\n", "B", "A\n===\nold\n\nB\n-\n\nNEW\n"),
        ("A\n=\nold\n", "A", "A\n=\n\nNEW\n"),
        ("A\n  ---  \nold\n", "A", "A\n  ---  \n\nNEW\n"),
        ("two\nlines\n===\nold\n", "two lines", "two\nlines\n===\n\nNEW\n"),
        ("#tag\n===\nold\n", "#tag", "#tag\n===\n\nNEW\n"),
        ("# A\n---\nold\n", "A", "# A\n\nNEW\n"),
        ("x: 1\r\n\n# A\nold\n\n# B\nkeep\n", "A", "x: 1\r\n\n# A\n\nNEW\n\n# B\nkeep\n"),
        ("x\n\n# A\r\nold\r\nold\r\n", "A", "x\n\n# A\r\n\r\nNEW\r\n"),
        ("---\nk: 1\n---\n# A\nold\n", "A", "---\nk: 1\n---\n# A\n\nNEW\n"),
    ],
)
def test_what_stands_under_a_heading_is_replaced(
    bank: Bank, note: Note, before: str, heading: str, after: str
) -> None:
    read = note(before)
    edit(bank, "a", "NEW", section=heading)
    assert read() == after


def test_a_heading_that_is_not_there_or_not_alone_is_not_guessed(bank: Bank, note: Note) -> None:
    read = note(SECTIONS)
    with pytest.raises(Conflict, match="lines 7, 13"):
        edit(bank, "a", "x", section="B")
    with pytest.raises(NoteNotFound, match="no heading 'D'") as caught:
        edit(bank, "a", "x", section="D")
    assert "A, B, C, B" in caught.value.hint
    assert read() == SECTIONS


def test_an_edit_says_what_it_replaces(bank: Bank, note: Note) -> None:
    note("x")
    for words in ({}, {"old": "x", "section": "y"}):
        with pytest.raises(BadInput):
            edit(bank, "a", "new", **words)


CHANGES: dict[str, Callable[..., object]] = {
    "append": lambda bank, **more: append(bank, "a", "more", **more),
    "update": lambda bank, **more: update(bank, "a", "new", **more),
    "edit": lambda bank, **more: edit(bank, "a", "new", old="text", **more),
    "section": lambda bank, **more: edit(bank, "a", "new", section="T", **more),
    "status": lambda bank, **more: set_status(bank, "a", "archived", **more),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_note_that_changed_since_it_was_read_is_not_changed(
    bank: Bank, note: Note, change: Callable[..., object]
) -> None:
    read = note("# T\n\ntext\n")
    with pytest.raises(Conflict):
        change(bank, if_match=OLD)
    with pytest.raises((Conflict, NoteExists)):
        change(bank, if_match="")
    assert read() == "# T\n\ntext\n"
    change(bank, if_match=show(bank, "a").etag)
    assert read() != "# T\n\ntext\n"


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_not_there_is_said(bank: Bank, change: Callable[..., object]) -> None:
    with pytest.raises(NoteNotFound):
        change(bank)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("data", [b"# T\n\ntext caf\xe9\n", "# T\n\ntext\n".encode("utf-16")])
def test_a_file_that_is_not_utf8_is_never_rewritten(
    bank: Bank, folder: Path, change: Callable[..., object], data: bytes
) -> None:
    (folder / "a.md").write_bytes(data)
    with pytest.raises(UnreadableNote):
        change(bank)
    assert (folder / "a.md").read_bytes() == data


def test_front_matter_that_can_not_be_parsed_is_never_rewritten(bank: Bank, note: Note) -> None:
    text = "---\ntags: [a\nid: x\n---\n# T\n\ntext\n"
    read = note(text)
    with pytest.raises(UnreadableNote):
        set_status(bank, "a", "archived")
    assert read() == text
    edit(bank, "a", "new", old="text")
    assert read() == text.replace("text", "new")


@pytest.mark.parametrize("content", ["", " \n"])
def test_empty_content_is_refused(bank: Bank, note: Note, content: str) -> None:
    read = note("text")
    for change in (append, update):
        with pytest.raises(BadInput, match="content must not be empty"):
            change(bank, "a", content)
    assert read() == "text"


@pytest.mark.parametrize("content", ["a\0b", "a\ud800"])
def test_text_that_no_note_can_hold_is_refused(bank: Bank, note: Note, content: str) -> None:
    read = note("text")
    with pytest.raises(BadInput):
        append(bank, "a", content)
    with pytest.raises(BadInput):
        edit(bank, "a", content, old="text")
    assert read() == "text"


@pytest.mark.parametrize("head", ["modified: 2020-01-01", "created_at: 2020-01-01", "id: abc"])
def test_when_it_was_updated_is_answered_and_not_written(bank: Bank, note: Note, head: str) -> None:
    read = note(f"---\n{head}\n---\ntext\n")
    start = datetime.now(UTC).replace(microsecond=0)
    append(bank, "a", "more")
    assert read() == f"---\n{head}\n---\ntext\n\nmore\n"
    assert datetime.fromisoformat(show(bank, "a").updated_at) >= start
    assert list_notes(bank).notes[0].updated_at == show(bank, "a").updated_at
    assert [found.path for found in list_notes(bank, since=start).notes] == ["a.md"]


def test_an_archived_note_is_not_found_and_comes_back(bank: Bank, note: Note) -> None:
    read = note("kestrel\n")
    set_status(bank, "a", "archived")
    assert recall(bank, "kestrel").result_count == 0
    assert recall(bank, "kestrel", include_archived=True).notes[0].meta.status == "archived"
    assert recall(bank, "kestrel status:archived").result_count == 1
    set_status(bank, "a", "active")
    assert recall(bank, "kestrel").result_count == 1
    assert read().endswith("kestrel\n")
    with pytest.raises(BadInput):
        set_status(bank, "a", "gone")


def test_a_change_that_changes_nothing_says_so(bank: Bank, note: Note) -> None:
    read = note("---\nid: x\n---\ntext\n")
    written = edit(bank, "a", "text", old="text")
    assert not written.changed
    assert read() == "---\nid: x\n---\ntext\n"


def test_a_change_that_is_repeated_after_a_delete_meets_no_other_note(
    bank: Bank, note: Note
) -> None:
    note("# A script\n")
    other = bank.layout.root / "a-bd92.md"
    other.write_text("# Another script\n")
    delete(bank, "a")
    assert show(bank, "a").path == "a-bd92.md"
    calls: list[Callable[[], object]] = [
        lambda: delete(bank, "a"),
        lambda: append(bank, "a", "more"),
        lambda: edit(bank, "a", "One", old="Another"),
        lambda: set_status(bank, "a", "archived"),
        lambda: rename(bank, "a", "b"),
    ]
    for call in calls:
        with pytest.raises(NoteNotFound) as caught:
            call()
        assert "a-bd92" in str(caught.value.hint)
    assert other.read_text() == "# Another script\n"


@pytest.mark.parametrize(
    "new", ["## Testing\n\nnew", "## Testing ##\r\nnew", "Testing\n-------\n\nnew", "new"]
)
def test_the_heading_of_a_section_is_written_once(bank: Bank, note: Note, new: str) -> None:
    note("# Plan\n\n## Testing\n\nold\n\n## Last\n")
    edit(bank, "a", new, section="Testing")
    assert (bank.layout.root / "a.md").read_text() == "# Plan\n\n## Testing\n\nnew\n\n## Last\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "edited"),
    [
        ("# A\n\nalpha\nbeta\r\ngamma\n", "beta\ngamma", "B\nG", "# A\n\nalpha\nB\r\nG\n"),
        ("a\nb\r\nc\r\nd\n", "b\nc\nd", "b\nx\nd", "a\nb\r\nx\r\nd\n"),
        ("a\r\nb\nc\r\n", "b\r\nc\n", "b\nC\n", "a\r\nb\nC\r\n"),
        ("a\nb\n", "a\r\nb", "A\r\nb", "A\nb\n"),
        ("a\rb\rc\r", "a\nb", "a\nB", "a\rB\rc\r"),
        ("\r\nx\r\nx\n", "x\n", "y\n", "\r\ny\r\ny\n"),
    ],
)
def test_line_ends_of_any_form_match_and_those_of_the_text_stay(
    text: str, old: str, new: str, edited: str
) -> None:
    assert replace_in_text(text, old, new, 0) == edited
