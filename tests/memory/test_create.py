import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, BadName, NoteExists
from memory_bank.base.setting_sections import MAX_NOTE_BYTES
from memory_bank.memory.create import create
from memory_bank.memory.remember import session_note
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show


def test_a_note_is_made_at_its_name_whatever_others_say(bank: Bank) -> None:
    same = "# BM25\n\nBM25 scores a word by its rarity and damps long documents.\n"
    made = create(bank, "facts/second", same, tags=["Search"], type="Fact")
    assert made.action == "created"
    assert made.path == "facts/second.md"
    assert made.tags == ("search",)
    assert made.type == "fact"
    assert show(bank, "facts/second").etag == made.etag
    with pytest.raises(NoteExists):
        create(bank, "facts/second", "Other.")


def test_front_matter_in_a_persons_content_wins_and_is_completed(bank: Bank) -> None:
    content = "---\n# mine\ntype: plan\ntag: old\nid: abc\n---\nText without an end"
    made = create(bank, "plan", content, tags=["new"], type="journal")
    shown = show(bank, "plan")
    assert (shown.meta.type, shown.note_id, shown.meta.source_type) == ("plan", "abc", "manual")
    assert shown.meta.tags == ("old", "new")
    assert "# mine\n" in shown.content
    assert shown.content.endswith("Text without an end\n")
    assert made.created_at == shown.created_at


def test_a_rule_above_a_text_is_no_front_matter(bank: Bank) -> None:
    made = create(bank, "ruled", "---\nNote: a rule is above.\n")
    assert show(bank, made.path).body == "---\nNote: a rule is above.\n"


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("x", " \n", BadInput),
        ("../x", "Text.", BadName),
        ("x", "---\na: [\n---\nText.", BadInput),
        ("x", "z" * MAX_NOTE_BYTES, BadInput),
    ],
)
def test_what_can_be_no_note_is_refused(
    bank: Bank, name: str, content: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        create(bank, name, content)
    assert not (bank.layout.root / "x.md").exists()


def test_a_session_note_is_found_and_says_what_it_is(bank: Bank) -> None:
    made = session_note(bank, "Half of the parser is ported.", source_agent="me")
    assert made.path.startswith("sessions/")
    assert (made.type, made.source_type) == ("session", "session")
    (note,) = recall(bank, "half parser ported", limit=1, count_access=False).notes
    assert (note.path, note.meta.source_agent) == (made.path, "me")
