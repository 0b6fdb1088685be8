"""Scores of several indices are compared by the same rarities and scales."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.search.retrievers.base import Question
from memory_bank.search.score_calibration import (
    WordCounts,
    common_scales,
    counted_words,
    measure_rarities,
)


def test_a_word_that_is_rare_in_one_index_only_is_common() -> None:
    few, many = WordCounts(10, {"queue": 1}), WordCounts(990, {"queue": 600, "lock": 1})
    alone, both = (
        measure_rarities(["queue"], [few]),
        measure_rarities(["queue", "lock"], [few, many]),
    )
    assert both["queue"] < alone["queue"]
    assert both["lock"] > both["queue"]


def test_the_best_score_of_all_limits_a_perfect_one() -> None:
    text = "redis queue lock journal"
    known = measure_rarities(counted_words(text), [WordCounts(1000, {"queue": 3, "lock": 2})])
    weak = common_scales(text, known, [{"keyword": 1.0, "notes": 1.0}])
    strong = common_scales(text, known, [{"keyword": 1.0, "notes": 1.0}, {"keyword": 3.0}])
    assert strong.scales["keyword"].perfect == pytest.approx(3 * weak.scales["keyword"].perfect)
    assert strong.scales["notes"] == weak.scales["notes"]


def test_bigrams_of_scripts_without_spaces_are_counted() -> None:
    assert counted_words("索引 grows") == ["索引", "grow"] or "索引" in counted_words("索引 grows")


def test_given_rarities_replace_those_of_an_index(
    folder: Path, opening: Callable[..., Bank]
) -> None:
    for name in ("one", "two", "three"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nqueue {name}\n", encoding="utf-8")
    bank = opening(folder)
    bank.sync()
    question = Question("queue")

    def best(rarity: float) -> float:
        return bank.read(
            lambda view: view.engine.best_scores(question._replace(rarities={"queue": rarity}))
        )["keyword"]

    assert bank.read(lambda view: view.engine.word_counts(["queue", "two", "none"])) == (
        3, {"queue": 3, "two": 1, "none": 0},
    )  # fmt: skip
    assert best(4.0) == pytest.approx(2 * best(2.0), rel=1e-4)
    assert best(2.0) > bank.read(lambda view: view.engine.best_scores(question))["keyword"]
