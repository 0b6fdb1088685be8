"""Read the 8-bit weights of a BERT from an ONNX file, without the package onnx.

The file is a message of protocol buffers; only its list of initial tensors is read. Each weight is
a matrix of int8 and a scale for each row of a table, or for each output of a layer.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_bank.base import NamedTuple
from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.search.models.vectors import np

if TYPE_CHECKING:  # numpy is imported from vectors alone
    from numpy.typing import NDArray

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


class Table(NamedTuple):
    """A table of quantised rows, of which those that are asked for are converted."""

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]

    def __getitem__(self, index: Any) -> NDArray[np.float32]:  # type: ignore[override]  # noqa: ANN401
        """Return rows as numpy does."""
        array: NDArray[np.float32] = self.rows[index] * self.scales[index]
        return array


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
    found_tensors: dict[str, Any] = {
        name.removeprefix(_PREFIX): tensor
        for name, tensor in tensors.items()
        if name.startswith(_PREFIX) and tensor.dtype == np.float32 and not _is_scale(name)
    }
    for kind in _TABLES:
        name = f"embeddings.{kind}_embeddings.weight"
        found_tensors[name] = Table(
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
        found_tensors[f"encoder.layer.{layer}.{_PARTS[part]}.weight"] = whole.T
        start += matrix.size
    return found_tensors


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
