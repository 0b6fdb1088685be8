"""The forward pass in numpy, against one written token by token."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.search.models import encoder
from memory_bank.search.models.vectors import encode, np
from tests.search.embedders import fakes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

HEADS = 3
WEIGHTS = fakes.bert_weights()


def _norm(row: Numbers, name: str) -> Numbers:
    mean = float(sum(row)) / len(row)
    spread = sum((x - mean) ** 2 for x in row) / len(row)
    scaled: Numbers = np.array([(x - mean) / math.sqrt(spread + 1e-12) for x in row])
    return scaled * WEIGHTS[f"{name}.weight"] + WEIGHTS[f"{name}.bias"]


def _line(row: Numbers, name: str) -> Numbers:
    matrix, bias = WEIGHTS[f"{name}.weight"], WEIGHTS[f"{name}.bias"]
    product: Numbers = np.array([np.dot(out.astype(np.float64), row) for out in matrix])
    return product + bias


def _attention(rows: list[Numbers], prefix: str) -> list[Numbers]:
    size = len(rows[0]) // HEADS
    query, key, value = (
        [_line(row, f"{prefix}attention.self.{part}") for row in rows]
        for part in ("query", "key", "value")
    )
    found = []
    for asking in query:
        row = np.zeros_like(asking)
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            weights = [math.exp(np.dot(asking[part], k[part]) / math.sqrt(size)) for k in key]
            for weight, told in zip(weights, value, strict=True):
                row[part] += weight / sum(weights) * told[part]
        found.append(row)
    return found


def _reference(ids: list[int]) -> Numbers:
    """Run the encoder one token at a time, in float64."""
    words, places, types = (
        WEIGHTS[f"embeddings.{kind}_embeddings.weight"].astype(np.float64)
        for kind in ("word", "position", "token_type")
    )
    rows = [
        _norm(words[id_] + places[place] + types[0], "embeddings.LayerNorm")
        for place, id_ in enumerate(ids)
    ]
    for layer in range(2):
        prefix = f"encoder.layer.{layer}."
        told = _attention(rows, prefix)
        for place, row in enumerate(rows):
            out = _line(told[place], f"{prefix}attention.output.dense")
            middle = _norm(row + out, f"{prefix}attention.output.LayerNorm")
            wide = _line(middle, f"{prefix}intermediate.dense")
            wide = np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in wide])
            narrow = _line(wide, f"{prefix}output.dense")
            rows[place] = _norm(middle + narrow, f"{prefix}output.LayerNorm")
    found: Numbers = np.array(rows).mean(axis=0)
    return found


@pytest.fixture
def bert() -> encoder.Bert:
    """Make a small encoder."""
    return encoder.Bert.of(WEIGHTS, HEADS, "here", "hint")


@pytest.mark.parametrize("ids", [[2], [2, 3], [2, 9, 9, 14, 1, 3], list(range(20))], ids=len)
def test_equals_the_pass_by_tokens(bert: encoder.Bert, ids: list[int]) -> None:
    """Two programs, one result."""
    assert np.abs(bert(np.array([ids]))[0] - _reference(ids)).max() < 1e-5


def test_batches_of_one_length_change_nothing(bert: encoder.Bert) -> None:
    """Texts are sorted by length, run together, and put back in their order."""
    random = np.random.default_rng(1)
    ids = [list(map(int, random.integers(0, 20, length))) for length in (5, 0, 3, 5, 9, 3, 5, 1)]
    for tokens in (0, 10, 1000):
        rows = encode(ids, bert, dimension=24, tokens=tokens)
        for row, item in zip(rows, ids, strict=True):
            if item:
                expected = _reference(item)
                assert np.abs(row - expected / np.linalg.norm(expected)).max() < 1e-5
            else:
                assert not row.any()


def test_gelu_is_exact() -> None:
    """Within what float32 can tell, also where exp underflows."""
    x = np.concatenate([np.linspace(-9, 9, 5001), [0, -0.0, 1e-30, -300, 300]])
    expected = [v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x]
    assert np.abs(encoder._gelu(x.astype(np.float32)) - expected).max() < 2e-6


def test_a_missing_weight_is_named() -> None:
    """A file of another model is refused at once."""
    weights = {k: v for k, v in WEIGHTS.items() if "1.output.dense.bias" not in k}
    with pytest.raises(EmbedderUnavailable, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        encoder.Bert.of(weights, HEADS, "here", "hint")
