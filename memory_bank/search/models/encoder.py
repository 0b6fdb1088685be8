"""The forward pass of a BERT encoder in numpy, with exact GELU, for texts of one length."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.search.embedders.base import Vectors
from memory_bank.search.models.vectors import np

if TYPE_CHECKING:  # numpy is imported from vectors alone
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Weights = Mapping[str, NDArray[Any]]

_EPSILON = np.float32(1e-12)  # layer_norm_eps of the models that we know

# Abramowitz & Stegun 7.1.26: erf within 1.5e-7, which float32 can't tell from exact.
_ERF_P = np.float32(0.3275911)

_ERF_A = tuple(
    np.float32(a) for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
)


@dataclass(frozen=True, slots=True)
class Bert:
    """An encoder over named weights; calling it gives the mean of the last layer's tokens."""

    weights: Weights
    heads: int
    layers: int

    @classmethod
    def of(cls, weights: Weights, heads: int, where: str, hint: str) -> Bert:
        """Count the layers; raise EmbedderUnavailable when a weight is missing."""
        numbers = {int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer.")}
        missing = sorted(_names(len(numbers)) - weights.keys())
        if missing:
            raise EmbedderUnavailable(f"{where}: has no {missing[0]}", hint)
        return cls(weights, heads, len(numbers))

    def __call__(self, ids: NDArray[np.int64]) -> Vectors:
        """Return the mean token vector of each text, shape (texts, dimension), not of length 1."""
        hidden = self._embed(ids)
        for layer in range(self.layers):
            prefix = f"encoder.layer.{layer}."
            hidden = self._attend(hidden, prefix)
            wide = _gelu(self._linear(hidden, prefix + "intermediate.dense"))
            narrow = self._linear(wide, prefix + "output.dense")
            hidden = self._normalise(hidden + narrow, prefix + "output.LayerNorm")
        return cast("Vectors", hidden.mean(axis=1, dtype=np.float32))

    def _embed(self, ids: NDArray[np.int64]) -> Floats:
        words, positions, types = (
            self.weights[f"embeddings.{kind}_embeddings.weight"]
            for kind in ("word", "position", "token_type")
        )
        summed = words[ids] + (positions[: ids.shape[1]] + types[0])
        return self._normalise(summed, "embeddings.LayerNorm")

    def _attend(self, hidden: Floats, prefix: str) -> Floats:
        texts, tokens, dimension = hidden.shape
        size = dimension // self.heads

        def split(part: str) -> Floats:
            rows = self._linear(hidden, f"{prefix}attention.self.{part}")
            return rows.reshape(texts, tokens, self.heads, size).transpose(0, 2, 1, 3)

        scores = split("query") @ split("key").swapaxes(-1, -2)
        scores *= np.float32(1 / math.sqrt(size))
        context = _softmax(scores) @ split("value")
        joined = context.transpose(0, 2, 1, 3).reshape(texts, tokens, dimension)
        output = self._linear(joined, prefix + "attention.output.dense")
        return self._normalise(hidden + output, prefix + "attention.output.LayerNorm")

    def _linear(self, rows: Floats, name: str) -> Floats:
        # One product for all texts: a stack of them would be many small ones.
        flat = rows.reshape(-1, rows.shape[-1]) @ self.weights[name + ".weight"].T
        flat += self.weights[name + ".bias"]
        return flat.reshape(*rows.shape[:-1], -1)

    def _normalise(self, rows: Floats, name: str) -> Floats:
        rows = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.einsum("btd,btd->bt", rows, rows)[..., None] / np.float32(rows.shape[-1])
        rows /= np.sqrt(spread + _EPSILON)
        rows *= self.weights[name + ".weight"]
        rows += self.weights[name + ".bias"]
        return rows


def _softmax(scores: Floats) -> Floats:
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def _gelu(x: Floats) -> Floats:
    """Return x * (1 + erf(x / sqrt(2))) / 2, with few temporaries: it is a third of the work."""
    z = np.abs(x)
    z *= np.float32(math.sqrt(0.5))
    t: Floats = np.reciprocal(_ERF_P * z + np.float32(1))
    np.square(z, out=z)
    np.negative(z, out=z)
    np.exp(z, out=z)  # of -z²
    tail = _ERF_A[0] * t
    for a in _ERF_A[1:]:
        tail += a
        tail *= t
    tail *= z
    np.subtract(1, tail, out=tail)  # erf(|x| / sqrt(2))
    np.copysign(tail, x, out=tail)
    tail += 1
    tail *= x
    tail *= np.float32(0.5)
    return tail


def _names(layers: int) -> set[str]:
    tables = ("word", "position", "token_type")
    names = {f"embeddings.{kind}_embeddings.weight" for kind in tables}
    parts = [
        *(f"attention.self.{part}" for part in ("query", "key", "value")),
        *("attention.output.dense", "attention.output.LayerNorm"),
        *("intermediate.dense", "output.dense", "output.LayerNorm"),
    ]
    modules = [f"encoder.layer.{layer}.{part}" for layer in range(layers) for part in parts]
    for module in ("embeddings.LayerNorm", *modules):
        names |= {f"{module}.weight", f"{module}.bias"}
    return names
