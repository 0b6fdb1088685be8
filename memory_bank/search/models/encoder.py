"""Run an encoder: a BERT in numpy, with exact GELU, for texts of one length, or onnxruntime.

Its 8-bit weights are read without the package onnx: the ONNX file is a message of protocol
buffers, of which only the list of initial tensors is read. Each weight is a matrix of int8 and a
scale for each row of a table, or for each output of a layer.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memory_bank.base import NamedTuple
from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.search.embedders.base import Vectors
from memory_bank.search.models.vectors import np

if TYPE_CHECKING:
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


_MOST_THREADS = 4  # of small matrices more threads wait longer than they work

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}

_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})


class ModelSession:
    """A loaded model; calling it returns each text's vector, not normalised."""

    def __init__(self, path: Path, hint: str, *, by_cls: bool = False) -> None:
        self._path, self._hint, self._by_cls = path, hint, by_cls
        runtime: Any = import_module("onnxruntime")
        # Its errors have no common base class but Exception.
        state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        kinds = [kind for kind in vars(state).values() if isinstance(kind, type)]
        self._errors: tuple[type[Exception], ...] = (
            ValueError,  # what its Python part raises
            *(kind for kind in kinds if issubclass(kind, Exception)),
        )
        try:
            self._session = runtime.InferenceSession(
                str(path), _options(runtime), providers=["CPUExecutionProvider"]
            )
        except self._errors as error:
            raise self._broken(error) from error
        self._inputs = {item.name: item for item in self._session.get_inputs()}
        if "input_ids" not in self._inputs or self._inputs.keys() - _KNOWN_INPUTS:
            names = ", ".join(self._inputs)
            raise EmbedderUnavailable(f"{path}: is no text model: it asks for {names}", hint)
        outputs = [item.name for item in self._session.get_outputs()]
        # an exporter that adds this output has put the model's own pooling into the graph
        whole = "sentence_embedding"
        self._output = whole if whole in outputs else outputs[0]

    def __call__(self, ids: NDArray[np.int64]) -> Vectors:
        """Return rows of shape (texts, dimension); raise EmbedderUnavailable when it can't run."""
        tokens = ids.shape[1]
        try:
            (rows,) = self._session.run([self._output], self._feed(ids))
        except self._errors as error:
            raise self._broken(error) from error
        if rows.ndim == 3:  # noqa: PLR2004  (texts, tokens, dimension)
            # the rest is padding
            rows = rows[:, 0] if self._by_cls else rows[:, :tokens].mean(axis=1)
        if rows.ndim != 2 or len(rows) != len(ids):  # noqa: PLR2004  (texts, dimension)
            raise self._broken(f"gives an output of shape {rows.shape}")
        if not np.isfinite(rows).all():
            raise self._broken("gives components that are no numbers")
        return np.asarray(rows, np.float32)

    def _feed(self, ids: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the inputs of the model; pad them if it has a fixed length."""
        texts, tokens = ids.shape
        length = self._inputs["input_ids"].shape[1]
        filled = length if isinstance(length, int) else tokens
        fill = ((0, 0), (0, max(0, filled - tokens)))
        feed = {
            "input_ids": np.pad(ids[:, :filled], fill),
            "attention_mask": np.pad(np.ones_like(ids[:, :filled]), fill),
            "token_type_ids": np.zeros((texts, filled), np.int64),
            "position_ids": np.tile(np.arange(filled), (texts, 1)),
        }
        return {
            name: feed[name].astype(_INTEGERS.get(item.type, np.int64), copy=False)
            for name, item in self._inputs.items()
        }

    def _broken(self, why: object) -> EmbedderUnavailable:
        words = " ".join(str(why).split())[:300]
        return EmbedderUnavailable(f"{self._path}: the model can't be used: {words}", self._hint)


def _options(runtime: Any) -> Any:  # noqa: ANN401  (onnxruntime is optional: no types)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = min(_MOST_THREADS, _processors())
    options.inter_op_num_threads = 1
    # Threads that spin between runs waste processor time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # its errors are raised; it need not print them as well
    return options


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_GRAPH, _INITIALIZER = 7, 5  # fields of ModelProto and GraphProto

_DIMENSION, _TYPE, _NAME, _RAW = 1, 2, 8, 9  # fields of TensorProto

_TYPES = {1: np.float32, 3: np.int8, 7: np.int64}

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5  # kinds of fields

_PREFIX = "inner."

_TABLES = ("word", "position")

_PARTS = (
    *(f"attention.self.{part}" for part in ("query", "key", "value")),
    *("attention.output.dense", "intermediate.dense", "output.dense"),
)
"""The matrices of a layer, in the order of the file, where they have numbers for names."""


class QuantisedTable(NamedTuple):
    """A table of quantised rows, of which those that are asked for are converted."""

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]

    def __getitem__(self, index: Any) -> NDArray[np.float32]:  # type: ignore[override]  # noqa: ANN401
        """Return rows as numpy does."""
        rows: NDArray[np.float32] = self.rows[index] * self.scales[index]
        return rows


def read(path: Path, hint: str) -> dict[str, Any]:
    """Return the weights by the names that they have in `model.safetensors`.

    Raises EmbedderUnavailable when the file is missing or damaged.
    """
    try:
        with path.open("rb") as file:
            tensors = dict(
                _tensors(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
            )
    except OSError as error:
        raise EmbedderUnavailable(f"{path}: can't be read: {error.strerror}", hint) from error
    except (IndexError, ValueError) as error:
        raise EmbedderUnavailable(f"{path}: is damaged: {error}", hint) from error
    try:
        return _name_tensors(tensors)
    except KeyError as error:
        raise EmbedderUnavailable(f"{path}: has no {error}", hint) from error


def _name_tensors(tensors: dict[str, NDArray[Any]]) -> dict[str, Any]:
    weights_by_name: dict[str, Any] = {
        name.removeprefix(_PREFIX): tensor
        for name, tensor in tensors.items()
        if name.startswith(_PREFIX) and tensor.dtype == np.float32 and not _is_scale(name)
    }
    for kind in _TABLES:
        name = f"embeddings.{kind}_embeddings.weight"
        weights_by_name[name] = QuantisedTable(
            tensors[f"{_PREFIX}{name}_q"], tensors[f"{_PREFIX}{name}_scale"]
        )
    matrices = [name for name in tensors if name.endswith("_q") and not name.startswith(_PREFIX)]
    # one array for all: numpy asks for large pages from 4 MB on, which cost a third of the time
    weights = np.empty(sum(tensors[name].size for name in matrices), np.float32)
    start = 0
    for number, name in enumerate(matrices):
        layer, part = divmod(number, len(_PARTS))
        matrix, scale = tensors[name], tensors[f"{name.removesuffix('_q')}_scale"]
        # the file has a column for each output, safetensors a row
        whole = weights[start : start + matrix.size].reshape(matrix.shape)
        np.multiply(matrix, scale, out=whole)
        weights_by_name[f"encoder.layer.{layer}.{_PARTS[part]}.weight"] = whole.T
        start += matrix.size
    return weights_by_name


def _is_scale(name: str) -> bool:
    return name.endswith("_scale")


def _tensors(model: memoryview) -> Iterator[tuple[str, NDArray[Any]]]:
    for field, graph in _fields(model):
        for inner, message in _fields(graph) if field == _GRAPH else ():
            if inner == _INITIALIZER:
                tensor = _tensor(message)
                if tensor is not None:
                    yield tensor


def _tensor(message: memoryview) -> tuple[str, NDArray[Any]] | None:
    shape: list[int] = []
    kind, name, raw = 0, "", None
    for field, value in _fields(message):
        if field == _DIMENSION:
            shape += [value] if isinstance(value, int) else value.tolist()
        elif field == _TYPE:
            kind = value
        elif field == _NAME:
            name = bytes(value).decode()
        elif field == _RAW:
            raw = value
    if raw is None or kind not in _TYPES:
        return None
    return name, np.frombuffer(raw, _TYPES[kind]).reshape(shape)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field: a number, or bytes."""
    place, end = 0, len(message)
    while place < end:
        tag, place = _varint(message, place)
        kind = tag & 7
        if kind == _VARINT:
            value, place = _varint(message, place)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            size, place = _varint(message, place)
        elif kind in {_FOUR_BYTES, _EIGHT_BYTES}:
            size = 4 if kind == _FOUR_BYTES else 8
        else:
            raise ValueError("is no ONNX file")
        yield tag >> 3, message[place : place + size]
        place += size


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:  # noqa: PLR2004  (the last one)
            return value, place
