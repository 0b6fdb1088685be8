"""What the search page shows: hits of all kinds with reasons, and what they can be narrowed by."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.memory.retrieval.ask import ask
from memory_bank.memory.retrieval.ask_hits import (
    ask_hits,
    list_reasons,
    mark_words,
)
from memory_bank.memory.retrieval.recall import recall
from memory_bank.search.retrievers.base import Reason

KEY = "AKIA" + "QZ7WLMR4T2VXKD3B"


@pytest.fixture
def root(project: Path, git: Callable[..., str]) -> Path:
    (project / "src/index.py").write_text(
        f'def build_index():\n    """Build the tantivy index with {KEY} here."""\n    return 1\n'
    )
    git(project, "commit", "-qam", "Say what is built")
    return project


@pytest.fixture
def bank(root: Path) -> Iterator[Bank]:
    with open_bank(root / ".memories") as opened:
        yield opened


@pytest.fixture
def code(root: Path) -> Iterator[Codebase]:
    with open_codebase(root, bank=root / ".memories") as opened:
        yield opened


def test_hits_of_all_kinds_have_places_and_reasons(bank: Bank, code: Codebase) -> None:
    found = ask_hits(bank, code, "tantivy index")
    hits = {(one.kind, one.path): one for one in (*found.hits, *found.weaker)}
    hit = hits["notes", "decisions/tantivy.md"]
    note = hit.note
    assert note
    assert (note.meta.type, note.meta.tags, note.trust) == (
        "decision",
        ("architecture", "search"),
        "human",
    )
    assert note.created_at == "2026-01-10T10:00:00Z"
    assert hit.why.parts[0][0] == "words"
    assert sum(share for _, share in hit.why.parts) == pytest.approx(1, abs=0.03)
    symbol = hits["symbols", "src/index.py"]
    assert symbol.line == 1
    assert symbol.why.reasons
    assert sum(hit.kind == "notes" for hit in (*found.hits, *found.weaker)) >= 2


def test_a_superseded_note_names_its_successor(bank: Bank) -> None:
    hits = {one.path: one.note for one in ask_hits(bank, None, "whoosh").hits if one.note}
    assert hits["decisions/whoosh.md"].superseded_by == "decisions/tantivy.md"
    assert hits["decisions/tantivy.md"].superseded_by is None


def test_secrets_of_files_are_not_in_snippets(bank: Bank, code: Codebase) -> None:
    found = ask_hits(bank, code, "build tantivy index", kinds=["symbols", "docs"])
    texts = ["".join(piece.text for piece in one.snippet) for one in (*found.hits, *found.weaker)]
    assert texts
    assert not [one for one in texts if KEY in one]
    assert [one for one in texts if "Build the tantivy index with" in one]


def test_conditions_of_notes_leave_out_the_other_kinds(bank: Bank, code: Codebase) -> None:
    found = ask_hits(bank, code, "tantivy type:decision")
    assert {one.kind for one in found.hits} == {"notes"}
    found = ask_hits(bank, code, "index language:python")
    assert {one.kind for one in (*found.hits, *found.weaker)} <= {"symbols", "tests", "coupling"}
    found = ask_hits(bank, code, "tantivy type:decision", kinds=["symbols"])
    assert found.hits == ()
    assert found.remarks[0].startswith("only notes can meet type:")
    with pytest.raises(BadInput, match="there is no kind 'people'"):
        ask_hits(bank, code, "tantivy type:decision", kinds=["people"])


def test_what_is_not_there_is_missed_only_if_it_was_asked_for(bank: Bank, code: Codebase) -> None:
    assert ask_hits(bank, None, "tantivy").remarks == ()
    assert ask_hits(None, code, "index").remarks == ()
    said = ask_hits(bank, None, "tantivy", kinds=["symbols"]).remarks
    assert said == ("symbols not searched: there is no git repository here",)


def test_an_empty_query_finds_nothing_but_counts_topics_of_the_bank(bank: Bank) -> None:
    found = ask_hits(bank, None, " ")
    assert (found.hits, found.weaker) == ((), ())
    assert found.tags["search"] == 2
    assert ask_hits(bank, None, "maintained type:decision in:decisions").tags["search"] == 1


def test_there_may_be_more_hits_than_asked_for(bank: Bank) -> None:
    assert ask_hits(bank, None, "whoosh", 1).more
    assert not ask_hits(bank, None, "whoosh", 50).more


def test_words_of_the_query_are_marked() -> None:
    pieces = mark_words("Whoosh <b>is</b> slow", "whooshes slow")
    assert "".join(one.text for one in pieces) == "Whoosh <b>is</b> slow"
    assert [one.text for one in pieces if one.marked] == ["Whoosh", "slow"]
    assert mark_words("", "whoosh") == ()


def test_reasons_fall_into_groups_that_fill_the_bar() -> None:
    found = list_reasons(
        [
            Reason("keyword", "its words", 0.4),
            Reason("vectors", "its meaning", 0.2),
            Reason("recency", "boost", 1.25),
        ]
    )
    assert [(group, round(share, 2)) for group, share in found.parts] == [
        *(("words", 0.53), ("meaning", 0.27), ("boosts", 0.2))
    ]
    assert [one.source for one in found.factors] == ["recency"]
    lowered = list_reasons(
        [Reason("keyword", "its words", 0.4), Reason("stale", "it changed", 0.5)]
    )
    assert lowered.parts == (("words", 1.0),)
    assert list_reasons([Reason("conditions", "meets them all", 1.0)]).parts == ()
    assert list_reasons([]).parts == ()


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("why did we choose Tantivy over Whoosh", True),
        ("who waters the plants in the office on Fridays", False),
    ],
)
def test_recall_ask_and_the_dashboard_give_one_verdict(
    bank: Bank, code: Codebase, question: str, answered: bool
) -> None:
    assert recall(bank, question).answered == answered
    assert ask(bank, None, question).answered == answered
    assert ask(bank, code, question).answered == answered
    page = ask_hits(bank, code, question)
    assert bool(page.hits) == answered
    if not answered:
        assert all(hit.weak for hit in page.weaker)
