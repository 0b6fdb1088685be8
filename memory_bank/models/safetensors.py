"""Read a safetensors file: an 8-byte length, a JSON header, and the numbers, mapped not read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memory_bank.errors import EmbedderUnavailable
from memory_bank.models.numpy_setup import np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_TYPES = {"F16": "<f2", "F32": "<f4", "I64": "<i8"}


def read(path: Path, hint: str) -> dict[str, NDArray[Any]]:
    """Map every tensor of a file by its name; raise EmbedderUnavailable when it is damaged."""
    try:
        data = np.asarray(np.memmap(path, np.uint8, "r"))
        start = 8 + int.from_bytes(data[:8].tobytes(), "little")
        header = json.loads(data[8:start].tobytes())
        header.pop("__metadata__", None)
        return {name: _tensor(data[start:], entry) for name, entry in header.items()}
    except OSError as error:
        raise EmbedderUnavailable(f"{path}: can't be read: {error.strerror}", hint) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbedderUnavailable(f"{path}: is damaged: {error}", hint) from error


def _tensor(numbers: NDArray[np.uint8], entry: dict[str, Any]) -> NDArray[Any]:
    first, last = entry["data_offsets"]
    return numbers[first:last].view(_TYPES[entry["dtype"]]).reshape(entry["shape"])
