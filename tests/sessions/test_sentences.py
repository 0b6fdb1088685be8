"""Sentences of users and agents: what decides, what is next, and what says something at all."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from memory_bank.sessions.compression import sentences
from tests.support.growth import times_as_long

ROWS = [
    (kind, row, pattern)
    for file in sentences.TABLES
    for kind, found in sentences.read_table(file).items()
    if isinstance(found, list)
    for row, pattern in sentences.compile_rows(kind)
]


@pytest.mark.parametrize(("kind", "row", "pattern"), ROWS)
def test_each_row_of_the_tables_finds_its_example(
    kind: str, row: Mapping[str, Any], pattern: re.Pattern[str]
) -> None:
    assert row.keys() <= {"language", "of", "in", "score", "pattern", "example", "says"}, kind
    found = pattern.search(row["example"])
    assert found is not None
    if "says" in row:
        assert [text for text in found.groups() if text is not None] == row["says"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Done. The cache is emptied when the settings change. More.", "The cache is emptied when the settings change."),
        ("Fixed: `run()` waits for the lock, e.g. on Windows.", "run() waits for the lock, e.g. on Windows."),
        ("## Result\n\n- **The lock** is held by `run()`, not by the queue\n- more", "The lock is held by run(), not by the queue"),
        ("Hello! What can I do?", ""),
        ("Committed.", ""),
        ("```\ncode is not a sentence at all here\n```", ""),
        ("The guard takes 2 ** 8 as its limit, always.", "The guard takes 2 ** 8 as its limit, always."),
    ],
)  # fmt: skip
def test_the_first_sentence_that_says_something_is_told(text: str, told: str) -> None:
    assert sentences.find_telling(text) == told


@pytest.mark.parametrize(
    ("text", "decides", "plans"),
    [
        ("Use tabs instead of spaces. Thanks!", 1, 0),
        ("Should we use tabs instead of spaces?", 0, 0),
        ("It never ends, and it fails.", 0, 0),
        ("Wir nehmen ab jetzt nur noch SQLite.", 1, 0),
        ("The next page shows the list.", 0, 0),
        ("Next: write the changelog, then tag it.", 0, 1),
        ("Als nächstes die Übersicht übersetzen.", 0, 1),
        ("Ensuite, traduire la page.", 0, 1),
    ],
)
def test_what_decides_and_what_is_next(text: str, decides: int, plans: int) -> None:
    assert (len(sentences.find_decided(text)), len(sentences.find_planned(text))) == (
        decides,
        plans,
    )


def test_a_step_is_done_when_a_later_text_has_most_of_its_words() -> None:
    step = "Translate the overview page into German"
    assert sentences.is_covered(step, ["The overview page is in German"])
    assert not sentences.is_covered(step, ["Fix the price list", "German tests"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["a ", "key is ", "never ", "we ", "- ", "**", "next ", "`", "[a]("]
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    import time

    def took(size: int) -> float:
        began = time.process_time()
        text = unit * (size // len(unit))
        sentences.find_decided(text), sentences.find_planned(text), sentences.find_telling(text)
        return time.process_time() - began

    assert times_as_long(took, 5_000, 20_000, enough=0.3, most=7) <= 7
