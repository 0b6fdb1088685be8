"""What comes of the lists: boosts, demotions, one entry a note."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.search.retrievers.base import Question, Scope

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
        bank.state.count_opened([f"{last}.md"], time.time())
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


BIRDS = {
    "kestrel": "# Kestrel\n\nThe kestrel hovers above the meadow and hunts voles.\n",
    "owl": "# Owl\n\n#night The owl hunts at night in the old barn.\n",
    "queue": "# Queue\n\nJobs wait in a table of the database until a worker takes them.\n",
    "heron": "# Heron\n\nThe heron stands in shallow water and waits.\n",
    **{f"filler{n}": f"# Filler {n}\n\nSomething else, number {n}.\n" for n in range(20)},
}


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_a_word_that_means_nothing_here_finds_nothing(fill: Fill, mode: str) -> None:
    answer = recall(fill(BIRDS), "nosuchzzz", mode=mode)
    assert (answer.notes, answer.answered) == ((), False)


def test_a_condition_changes_no_score(fill: Fill) -> None:
    bank = fill(BIRDS)
    whole = recall(bank, "who hunts at night", count_access=False)
    (owl,) = recall(bank, "who hunts at night", tags=["night"], count_access=False).notes
    scores = {note.path: note.relevance_score for note in whole.notes}
    assert owl.relevance_score == scores["owl.md"]


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
def test_weak_matches_come_last_and_are_not_counted(
    tmp_path: Path, fill: Fill, fusion: str
) -> None:
    fill(BIRDS).close()
    with open_bank(tmp_path, settings={"search.fusion": fusion}) as bank:
        answer = recall(bank, "which bird hunts voles above the meadow")
        assert answer.answered
        weak = [note.weak for note in answer.notes]
        assert weak == sorted(weak)
        assert weak[0] is False
        assert weak[-1] is True
        again = recall(bank, "which bird hunts voles above the meadow", count_access=False)
        assert [note.access_count for note in again.notes] == [int(not one) for one in weak]


def test_weak_matches_stand_in_the_order_of_their_likelihood_whatever_their_age(
    tmp_path: Path, fill: Fill
) -> None:
    words = ("kestrel", "vole", "meadow", "mill")
    notes = {
        f"{word}{n}": f"# Note\n\n{word} {'and many more words ' * n}\n"
        for word in words
        for n in range(4)
    }
    fill(notes).close()
    today = datetime.now(UTC).date()
    for name in list(notes)[::2]:
        (tmp_path / f"{name}.md").write_text(f"---\ncreated_at: {today}\n---\n{notes[name]}")
    with open_bank(tmp_path) as bank:
        question = "why does the kestrel that hunts a vole in the meadow rest on the old mill"
        hits = recall(bank, question, 16, "lexical", count_access=False).notes
    weak = [hit.relevance_score for hit in hits if hit.weak]
    assert len(set(weak)) == 4
    assert weak == sorted(weak, reverse=True)


def test_a_new_file_without_a_date_gets_no_boost(tmp_path: Path, fill: Fill) -> None:
    bank = fill({"old": "kestrel"})
    (tmp_path / "new.md").write_text("kestrel")
    notes = recall(bank, "kestrel", count_access=False).notes
    assert {note.path for note in notes} == {"new.md", "old.md"}
    assert "recency" not in {reason.source for note in notes for reason in note.reasons}


def test_a_boost_is_worth_few_ranks(tmp_path: Path, fill: Fill) -> None:
    notes = {f"n{n}": f"# Note\n\nkestrel {'and more words ' * n}\n" for n in range(8)}
    fill(notes).close()
    today = datetime.now(UTC).date()
    (tmp_path / "n7.md").write_text(f"---\ncreated_at: {today}\n---\n{notes['n7']}")
    with open_bank(tmp_path, settings={"search.fusion": "rrf"}) as bank:
        assert found(bank, "kestrel", mode="lexical")[0] == "n0"


SESSION = """# Birds

## Summary

- learned:: Owls hunt at dusk

^sum-00000000000a

## A kestrel hovers over the moor

- obs_type:: discovery

^obs-00000000000b

## A kestrel nests in the tower

- obs_type:: change

^obs-00000000000c

## A kestrel of mine

^obs-00000000000d
"""


def test_observations_are_found_as_entries_of_their_own(fill: Fill) -> None:
    bank = fill({"s": SESSION, "note": "# Kestrel\n\n## One\n\nkestrel\n\n## Two\n\nkestrel\n"})

    def units(unit: str, **scope: frozenset[int]) -> list[str]:
        result = bank.read(
            lambda view: view.engine.search(
                Question("kestrel"), Scope(**scope), mode="hybrid", limit=9, now=0, unit=unit
            )
        )
        return [f"{one.document.title}>{one.best.section.headings[-1][:16]}" for one in result.hits]

    assert sorted(one.partition(">")[0] for one in units("documents")) == ["Birds", "Kestrel"]
    entries = units("entries")
    assert len(entries) == 4
    assert {"Birds>A kestrel hovers", "Birds>A kestrel nests "} < set(entries)
    assert sum(one.startswith("Kestrel") for one in entries) == 1
    assert len(units("sections")) > len(entries)
    rows = bank.read(
        lambda view: view.manifest.execute(
            "SELECT row, p.document FROM passages p JOIN sections s ON ordinal = section"
            " AND s.document = p.document WHERE name = 'obs-00000000000c'"
        ).fetchall()
    )
    scope = {"rows": frozenset({rows[0][0]}), "only": frozenset({rows[0][1]})}
    for unit in ("documents", "entries", "sections"):
        assert units(unit, **scope) == ["Birds>A kestrel nests "]


def test_a_note_ranks_above_an_observation_that_fits_as_well(fill: Fill) -> None:
    text = "Kestrels are counted in May.\n"
    section = f"## Kestrels\n\n{text}\n- obs_type:: decision\n\n^obs-00000000000b\n"
    bank = fill({"a": section, "z": f"## Kestrels\n\n{text}"})
    answer = recall(bank, "when are kestrels counted", count_access=False)
    assert [note.path for note in answer.notes] == ["z.md", "a.md"]
    reason = next(one for one in answer.notes[1].reasons if one.source == "session")
    assert (reason.detail, reason.score) == ("below other notes", 0.8)
