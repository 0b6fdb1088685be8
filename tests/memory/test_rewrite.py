"""A note's whole text is replaced, and nothing else."""

from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, Conflict, NoteNotFound, SecretFound, UnreadableNote
from memory_bank.memory.change import compare_text, restore_line_ends, rewrite


@pytest.fixture
def note(project: Path) -> Path:
    file = project / ".memories/n.md"
    file.write_text("---\ntype: fact\n---\n# N\n\nOne.\n")
    return file


def test_the_whole_text_is_replaced_with_the_front_matter(bank: Bank, note: Path) -> None:
    done = rewrite(bank, "n", "# M\n\nTwo.\n")
    assert note.read_text() == "# M\n\nTwo.\n"
    assert done.changed
    assert not rewrite(bank, "n", "# M\n\nTwo.\n", if_match=done.etag).changed


def test_a_note_that_changed_meanwhile_is_not_overwritten(bank: Bank, note: Path) -> None:
    etag = rewrite(bank, "n", "# N\n\nTwo.\n").etag
    note.write_text("# N\n\nThree.\n")
    for given in (etag, "none"):
        with pytest.raises(Conflict):
            rewrite(bank, "n", "# N\n\nFour.\n", if_match=given)
    found, difference = compare_text(bank, "n", "# N\n\nFour.\n")
    assert found.text == "# N\n\nThree.\n"
    assert difference is not None
    spans = [span for one in difference.sections for claim in one.claims for span in claim.spans]
    assert {(one.kind, one.text.strip()) for one in spans if one.kind != "equal"} == {
        ("delete", "Three."),
        ("insert", "Four."),
    }
    rewrite(bank, "n", "# N\n\nFour.\n", if_match=found.etag)
    assert note.read_text() == "# N\n\nFour.\n"


def test_what_no_note_may_have_is_refused(bank: Bank, note: Path) -> None:
    before = note.read_text()
    for text, error in {
        " \n": BadInput,
        "---\ntype: [\n---\n# N\n": BadInput,
        "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n": UnreadableNote,
        "# N\n\nAKIA" + "Z7Q4WJ2XK5LM3NPR\n": SecretFound,
    }.items():
        with pytest.raises(error):
            rewrite(bank, "n", text)
    assert note.read_text() == before
    with pytest.raises(NoteNotFound):
        rewrite(bank, "nothing", "x")
    note.write_text("---\ntype: [\n---\n# N\n")
    assert rewrite(bank, "n", "---\ntype: [x\n---\n# N\n").changed, "it was broken before"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("a\nb\n", "a\n", "a\nb\n"),
        ("a\nb\n", "a\r\n", "a\r\nb\r\n"),
        ("a\nx\nc", "a\r\nb\nc", "a\r\nx\nc"),
        ("a\nb\nc\n", "a\r\nb\nc\r", "a\r\nb\nc\r"),
        ("a\n", "", "a\n"),
    ],
)
def test_line_ends_stay(text: str, old: str, new: str) -> None:
    assert restore_line_ends(text, old) == new
