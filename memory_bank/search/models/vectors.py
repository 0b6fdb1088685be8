"""numpy with BLAS in one thread, and rows of vectors: of files, normalised, quantised, of a model.

All modules import numpy from here: OpenBLAS reads its variable once, when numpy is loaded. With two
threads and the other core busy, a product of 0.3 ms waits 8 ms for its second half; and
`import numpy` gets slower.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.search.embedders.base import Vectors

_VARIABLE = "OPENBLAS_NUM_THREADS"

_chosen_by_user = _VARIABLE in os.environ

os.environ.setdefault(_VARIABLE, "1")

import numpy as np  # noqa: E402  (the variable must be there first)

if not _chosen_by_user:
    del os.environ[_VARIABLE]  # child processes choose for themselves

__all__ = [
    "encode",
    "join_vectors",
    "measure_cosines",
    "np",
    "pack_vectors",
    "read_tensors",
    "scale_to_unit",
    "unpack_vectors",
]

if TYPE_CHECKING:  # numpy is imported from vectors alone
    from numpy.typing import NDArray

    Encoder = Callable[[NDArray[np.int64]], Vectors]
    """Token ids, shape (texts, tokens), to rows that need not have length 1."""


_TYPES = {"F16": np.float16, "F32": np.float32, "I64": np.int64}


def read_tensors(path: Path, hint: str) -> dict[str, NDArray[Any]]:
    """Map every tensor of a safetensors file by its name: all processes share the file's pages.

    Raises EmbedderUnavailable when the file is missing or damaged.
    """
    try:
        data = np.asarray(np.memmap(path, np.uint8, "r"))
        start = 8 + int.from_bytes(data[:8].tobytes(), "little")
        return {
            name: data[start:][slice(*tensor["data_offsets"])]
            .view(_TYPES[tensor["dtype"]])
            .reshape(tensor["shape"])
            for name, tensor in json.loads(data[8:start].tobytes()).items()
            if name != "__metadata__"
        }
    except OSError as error:
        raise EmbedderUnavailable(f"{path}: can't be read: {error.strerror}", hint) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise EmbedderUnavailable(f"{path}: is damaged: {error!r}", hint) from error


def scale_to_unit(rows: Vectors) -> Vectors:
    """Scale rows to length 1, in place; a row of zeros stays one."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths[lengths == 0] = 1
    rows /= lengths[:, None].astype(np.float32)
    return rows


def join_vectors(rows: Vectors, right: Vectors, share: float) -> Vectors:
    """Put rows of length 1 side by side, the second ones scaled by `share`, as rows of length 1."""
    return scale_to_unit(np.hstack([rows, np.float32(share) * right]))


def pack_vectors(rows: Vectors) -> NDArray[np.int8]:
    """Quantise rows to int8, scaled by the largest component: cosines stay within .005."""
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=1e-9)
    numbers: NDArray[np.int8] = np.rint(rows * (127 / largest)).astype(np.int8)
    return numbers


def unpack_vectors(rows: NDArray[np.int8]) -> Vectors:
    """Return quantised rows as rows of length 1."""
    return scale_to_unit(rows.astype(np.float32))


def measure_cosines(rows: NDArray[np.int8], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of each quantised row with a vector of length 1; 0 for a row of zeros."""
    numbers = rows.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
    cosines: NDArray[np.float32] = numbers @ vector / np.maximum(lengths, 1)
    return cosines


def encode(
    ids: Sequence[Sequence[int]], encoder: Encoder, *, dimension: int, tokens: int
) -> Vectors:
    """Run token ids through a model, at most `tokens` at a time; no ids give a row of zeros.

    Only texts of equal length share a run, without padding, so that a vector does not depend on the
    batch. With tokens = 0 each text runs alone.
    """
    by_length: dict[int, list[int]] = {}
    for index, token_ids in enumerate(ids):
        by_length.setdefault(len(token_ids), []).append(index)
    rows = np.zeros((len(ids), dimension), np.float32)
    for length, indices in by_length.items():
        if not length:
            continue
        together = max(1, tokens // length)
        for start in range(0, len(indices), together):
            chosen = indices[start : start + together]
            rows[chosen] = encoder(np.array([ids[index] for index in chosen], np.int64))
    return scale_to_unit(rows)
