"""The short text of an answer: what is worth an agent's context."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.memory.retrieval.answers import format_age
from memory_bank.memory.retrieval.ask import ask
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.retrieval.recall_bank import fit_to_tokens
from memory_bank.memory.retrieval.views import view_ask
from tests.memory.answer_texts import recall_text


def test_a_good_hit_is_shown_whole_and_a_weak_one_shortly(bank: Bank, project: Path) -> None:
    body = "A long story about tantivy. Its second part is longer. " * 12
    (project / ".memories/facts/story.md").write_text(f"# Story\n\n{body}\n")
    whole = recall(bank, "long story", detail="note", count_access=False)
    (note,) = [note for note in whole.notes if note.path == "facts/story.md"]
    weak = whole._replace(notes=(note._replace(weak=True),), answered=False)
    good = whole._replace(notes=(note._replace(weak=False),))
    assert body.strip() in recall_text(fit_to_tokens(good, 400), Quotes())
    assert 0 < recall_text(fit_to_tokens(weak, 400), Quotes()).count("long story") < 12


def test_the_best_notes_have_the_room(bank: Bank) -> None:
    answer = recall(bank, "tantivy bm25", tokens=150, count_access=False)
    texts = [bool(note.content) for note in answer.notes]
    assert len(texts) > 1
    assert texts == sorted(texts, reverse=True)
    assert texts[0]
    assert not texts[-1]
    assert f'at="{answer.notes[-1].path}:' in recall_text(answer, Quotes())


def test_weaker_matches_are_set_apart_and_an_unanswered_question_is_said(bank: Bank) -> None:
    answer = recall(bank, "whoosh tantivy bm25", mode="lexical", count_access=False)
    first, *others = (note._replace(weak=bool(rank)) for rank, note in enumerate(answer.notes))
    mixed = recall_text(answer._replace(notes=(first, *others), answered=True), Quotes())
    head, weaker = mixed.split("\nWeaker matches:\n")
    assert head.startswith(f"{len(answer.notes)} notes, best first (lexical). ")
    assert f'at="{first.path}:' in head
    assert all(f'at="{note.path}:' in weaker for note in others)
    unanswered = recall_text(answer._replace(notes=tuple(others), answered=False), Quotes())
    assert "(lexical): probably nothing in the bank answers this. What stands in" in unanswered
    assert unanswered.splitlines()[1] == "Weaker matches:"
    nothing = recall_text(answer._replace(notes=(), answered=False), Quotes())
    assert nothing.startswith("Nothing found (lexical). Try")


def test_a_heading_is_said_once(bank: Bank) -> None:
    shown = recall_text(
        recall(bank, "tantivy consequences", limit=1, tokens=500, count_access=False), Quotes()
    )
    assert shown.count("Tantivy over Whoosh") == 1


def test_a_sentence_that_is_longer_than_a_title_is_said_once(bank: Bank, project: Path) -> None:
    start = "Herons nest in the old willow by the weir"
    sentence = f"{start}, since the miller planted it for them, and nobody may cut it before August"
    (project / ".memories/herons.md").write_text(f"{sentence}, says the council.\n")
    answer = recall(bank, "where do herons nest", limit=1, tokens=500, count_access=False)
    assert answer.notes[0].title.endswith("…")
    assert recall_text(answer, Quotes()).count(start) == 1
    asked = view_ask(ask(bank, None, "where do herons nest", limit=1))
    assert write_agent(asked, Quotes()).count(start) == 1


def test_what_makes_an_answer_poorer_is_said(bank: Bank) -> None:
    answer = recall(bank, "tantivy", count_access=False)
    poor = recall_text(
        answer._replace(fallback_reason="vectors_pending", problem="busy\nnow"), Quotes()
    )
    assert (
        "lexical only: some vectors are not computed yet (fallback_reason: vectors_pending)" in poor
    )
    assert re.search(r"\nIncomplete: <(q-\w+)>busy now</\1>$", poor)
    nothing = recall_text(answer._replace(notes=(), result_count=0), Quotes())
    assert nothing == "Nothing found (hybrid). Try other or fewer words or filters."


@pytest.mark.parametrize(
    ("days", "told"),
    [(-1, "today"), (0, "today"), (1, "1 day"), (6, "6 days"), (7, "1 week"), (29, "4 weeks"),
     (30, "1 month"), (364, "12 months"), (365, "1 year"), (800, "2 years")],
)  # fmt: skip
def test_an_age_is_told_in_its_largest_unit(days: int, told: str) -> None:
    moment = datetime.now(UTC) - timedelta(days=days, minutes=1 if days >= 0 else 0)
    assert format_age(moment.isoformat()) == told
