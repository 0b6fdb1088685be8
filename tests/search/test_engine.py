"""What comes of the lists: boosts, demotions, one entry a note."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank import Bank, open_bank, recall

Fill = Callable[[dict[str, str]], Bank]


@pytest.fixture
def fill(tmp_path: Path, request: pytest.FixtureRequest) -> Fill:
    def make(notes: dict[str, str]) -> Bank:
        for name, text in notes.items():
            (tmp_path / f"{name}.md").write_text(f"---\ncreated_at: 2020-01-01\n---\n{text}")
        bank = open_bank(tmp_path)
        request.addfinalizer(bank.close)
        bank.sync()
        return bank

    return make


def found(bank: Bank, query: str, limit: int = 10, mode: str = "hybrid") -> list[str]:
    answer = recall(bank, query, limit, mode, count_access=False)
    return [note.path.removesuffix(".md") for note in answer.notes]


def test_a_boost_lifts_a_note_over_the_limit(fill: Fill) -> None:
    bank = fill({f"n{number:02}": "# Note\n\nThe kestrel nests here.\n" for number in range(40)})
    last = found(bank, "kestrel", 40)[-1]
    for _ in range(5):
        bank.logs.access.add([f"{last}.md"], time.time())
    assert found(bank, "kestrel", 1) == [last]
    reasons = recall(bank, "kestrel", 1, count_access=False).notes[0].reasons
    assert "access" in {reason.source for reason in reasons}


def test_superseded_notes_make_room_for_others(fill: Fill) -> None:
    notes = {f"old{number}": f"# Kestrel {number}\n\nkestrel kestrel\n" for number in range(6)}
    notes |= {
        f"z{number}": "# Owl\n\nA kestrel was seen once beside many owls.\n" for number in range(6)
    }
    notes["new"] = (
        "# Now\n\n" + "".join(f"- supersedes:: [[old{n}]]\n" for n in range(6)) + "kestrel\n"
    )
    bank = fill(notes)
    best = found(bank, "kestrel", 3)
    assert best[0] == "new"
    answer = recall(bank, "kestrel", 13, count_access=False)
    old = [note for note in answer.notes if note.path.startswith("old")]
    assert {note.superseded_by for note in old} == {"new.md"}


def test_a_note_has_one_entry_with_its_other_sections(fill: Fill) -> None:
    sections = "".join(f"## Part {n}\n\nA kestrel, {'owl ' * n}\n\n" for n in range(6))
    bank = fill({"one": f"# Birds\n\n{sections}", "two": "# Other\n\nA kestrel.\n"})
    answer = recall(bank, "kestrel owl", count_access=False)
    assert sorted(note.path for note in answer.notes) == ["one.md", "two.md"]
    one = next(note for note in answer.notes if note.path == "one.md")
    assert len(one.also) == 3
    assert len({one.heading, *(other.heading for other in one.also)}) == 4


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_what_is_excluded_comes_in_by_no_door(fill: Fill, mode: str) -> None:
    bank = fill(
        {
            "bought": "# A\n\nShe purchased a violin in spring.\n",
            "violin": "# B\n\nShe bought a violin in autumn.\n",
            "bread": "# C\n\nHe bought bread.\n",
        }
    )
    assert "violin" not in found(bank, "who bought a violin -autumn", mode=mode)
    assert set(found(bank, '"purchased a violin" buy', mode=mode)) <= {"bought"}


def test_words_beside_one_another_win_over_words_apart(fill: Fill) -> None:
    apart = "The write of a note takes long. A folder has no lock then. "
    bank = fill(
        {
            "apart": f"{apart}\n",
            "beside": "The write lock of a note. A folder takes long then, no. \n",
        }
    )
    assert found(bank, "write lock", mode="lexical")[0] == "beside"


def test_reciprocal_ranks_remain_as_a_setting(tmp_path: Path) -> None:
    for name in ("kestrel", "owl"):
        (tmp_path / f"{name}.md").write_text(f"The {name} nests.\n")
    with open_bank(tmp_path, settings={"search.fusion": "rrf"}) as bank:
        answer = recall(bank, "kestrel", count_access=False)
    assert answer.notes[0].path == "kestrel.md"
    assert any(reason.detail == "rank 1" for reason in answer.notes[0].reasons)


def test_of_a_talk_the_turn_of_whom_the_question_names_comes_first(fill: Fill) -> None:
    said = "I painted a heron beside the lake"
    turns = {
        "t1": f"# Ann, 1\n\n{said} this morning.\n\nNext: [[t2]]\n",
        "t2": f"# Ben, 2\n\n{said} this evening.\n\nPrevious: [[t1]]\nNext: [[t3]]\n",
        "t3": f"# Ann, 3\n\n{said} this weekend.\n\nPrevious: [[t2]]\n",
    }
    bank = fill(turns)
    for mode in ("lexical", "hybrid"):
        assert found(bank, "Which bird did Ben paint?", mode=mode)[0] == "t2"
        assert found(bank, "Which bird did Ann paint?", mode=mode)[0] in {"t1", "t3"}
    reasons = recall(bank, "Which bird did Ben paint?", 1, count_access=False).notes[0].reasons
    assert "titles" in {reason.source for reason in reasons}
