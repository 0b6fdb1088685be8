"""Notes that are made to keep the indexer busy."""

import time
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.doctor import doctor

pytestmark = pytest.mark.slow

LINES = {
    "wikilinks": ("[[a{}]] ", "of the signs [ ` <"),
    "links": ("[x](y{}.md) ", "of the signs [ ` <"),
    "list": ("- [[a{}]]\n", "lines, more than 200,000"),
}


def indexed(bank: Path, text: str) -> tuple[float, list[str]]:
    """Return the processor seconds until the note is found by its words, and its faults."""
    (bank / "big.md").write_text(f"---\ntags: [big]\n---\n{text}\n\nstill water\n")
    began = time.process_time()
    with open_bank(bank) as opened:
        found = recall(opened, "still water", mode="lexical")
        took = time.process_time() - began
        assert [note.path for note in found.notes] == ["big.md"]
        return took, [one.message for one in doctor(opened).findings if one.rule == "fault"]


@pytest.mark.parametrize("name", LINES)
def test_a_note_of_400_000_links_is_listed_with_the_reason_why_it_is_skipped(
    folder: Path, name: str
) -> None:
    unit, reason = LINES[name]
    text = "".join(unit.replace("{}", str(i)) for i in range(400_000))
    assert len(text) > 4_000_000
    (folder / "big.md").write_text(text + "\n\nstill water\n")
    (folder / "small.md").write_text("still water\n")
    began = time.process_time()
    with open_bank(folder) as bank:
        found = recall(bank, "still water", mode="lexical")
        took = time.process_time() - began
        skipped = doctor(bank).findings[0]
    assert [note.path for note in found.notes] == ["small.md"]
    assert took < 10
    assert (skipped.rule, skipped.path) == ("unindexed", "big.md")
    assert reason in skipped.message
    assert skipped.message.endswith("in more than 4,000,000 bytes")


@pytest.mark.torture
@pytest.mark.parametrize("name", LINES)
def test_a_note_beyond_the_bounds_of_parsing_is_found_by_its_words(folder: Path, name: str) -> None:
    unit, reason = LINES[name]
    text = "".join(unit.replace("{}", str(i)) for i in range(800_000))
    took, faults = indexed(folder, text[:3_900_000])
    assert took < 10
    assert len(faults) == 1
    assert reason in faults[0]


def test_a_note_of_30_000_links_is_found_by_its_words(folder: Path) -> None:
    took, faults = indexed(folder, "".join(f"[[a{i}]] " for i in range(30_000)))
    assert took < 10
    assert faults == ["only the first 20,000 of 30,000 links were read"]


def test_hostile_front_matter_keeps_no_other_note_from_being_found(folder: Path) -> None:
    (folder / "bad.md").write_text(f"+++\n{'a.' * 500_000}a = 1\n+++\ndeep water\n")
    (folder / "good.md").write_text("# Good\n\nstill water\n")
    with open_bank(folder) as bank:
        found = recall(bank, "water", mode="lexical")
        fault = doctor(bank).findings[0]
    assert {note.path for note in found.notes} == {"bad.md", "good.md"}
    assert (fault.path, fault.message) == (
        "bad.md",
        "front matter can't be parsed: longer than 100,000 characters",
    )
