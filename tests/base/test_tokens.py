"""The estimate of tokens against counts of a real tokenizer: o200k_base, recorded beside the texts."""

import json
import statistics
import time
from pathlib import Path

import pytest

from memory_bank.base.text import estimate

COUNTED = json.loads((Path(__file__).parent / "token_counts.json").read_text(encoding="utf-8"))
KINDS = sorted({row["kind"] for row in COUNTED})


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_near_the_real_number(kind: str) -> None:
    rows = [row for row in COUNTED if row["kind"] == kind]
    errors = [abs(estimate(row["text"]) / row["tokens"] - 1) for row in rows]
    assert len(rows) > 1
    assert statistics.median(errors) <= 0.1, "the median error is at most a tenth"
    assert max(errors) <= 0.2


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), (" ", 1), ("a", 1), ("hello world", 2), ("12345678", 5), ("🙂", 2), ("\ud800", 1), ("नमस्ते दुनिया", 6)],
)  # fmt: skip
def test_short_and_odd_texts_have_tokens_too(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@pytest.mark.parametrize("unit", ["word ", "x", "é", "字", "=", "\n", "🙂", "a1.", "\x01"])
def test_a_long_text_takes_milliseconds(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    began = time.process_time()
    assert estimate(text) > 0
    assert time.process_time() - began < 0.5
