"""What boosts a note: that it was opened, cited or confirmed, not that it was listed."""

from pathlib import Path

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.edit import append
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show, show_section


def opened(bank: Bank, name: str = "facts/bm25") -> int:
    (row,) = bank.state.accesses([show(bank, name, count_access=False).note_id]).values() or [None]
    return row.opened if row else 0


def boosts(bank: Bank) -> set[str]:
    found = recall(bank, "bm25", count_access=False).notes
    return {note.path for note in found if any(one.source == "access" for one in note.reasons)}


def test_a_listed_note_is_counted_and_not_boosted(bank: Bank) -> None:
    for _ in range(3):
        (note, *_) = recall(bank, "bm25").notes
    assert (note.access_count, note.opened_count) == (2, 0)
    assert boosts(bank) == set()


def test_both_counts_are_named_and_the_opened_one_is_that_which_boosts(bank: Bank) -> None:
    recall(bank, "bm25")
    assert show(bank, "bm25").opened_count == 0
    shown = show(bank, "bm25", count_access=False)
    assert (shown.access_count, shown.opened_count) == (1, 1)
    (note,) = [one for one in recall(bank, "bm25").notes if one.path == "facts/bm25.md"]
    assert (note.access_count, note.opened_count) == (1, 1)
    assert "access" in {reason.source for reason in note.reasons}


def test_all_returned_notes_are_boosted_if_the_settings_say_so(project: Path) -> None:
    with open_bank(project, settings={"memory.boost_by": "returned"}) as bank:
        recall(bank, "bm25")
        assert "facts/bm25.md" in boosts(bank)


def test_a_note_that_was_read_is_boosted(bank: Bank) -> None:
    show(bank, "bm25")
    assert opened(bank) == 1
    assert boosts(bank) == {"facts/bm25.md"}
    show_section(bank, "decisions/tantivy", "Consequences")
    assert opened(bank, "decisions/tantivy") == 1


def test_a_cited_note_is_boosted(bank: Bank) -> None:
    remember(bank, "Ranking is by [[facts/bm25|BM25]], see [[no such note]].")
    assert opened(bank) == 1
    append(bank, "decisions/tantivy", "More in [[bm25#Formula]].")
    assert opened(bank) == 2


def test_the_counts_follow_a_note_and_go_with_it(bank: Bank) -> None:
    show(bank, "bm25")
    key = show(bank, "bm25", count_access=False).note_id
    bank.state.rename(key, "elsewhere")
    assert bank.state.accesses(["elsewhere"])["elsewhere"].opened == 1
    bank.state.forget(["elsewhere"])
    assert bank.state.accesses(["elsewhere"]) == {}
