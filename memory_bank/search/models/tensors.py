"""Read files of weights with safetensors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

# ruff: noqa: F401, I001  (numpy is set up before safetensors imports it)
from memory_bank.search.models import vectors
from safetensors import SafetensorError
from safetensors.numpy import load_file

from memory_bank.base.errors import EmbedderUnavailable

if TYPE_CHECKING:  # numpy is imported from vectors alone
    from numpy.typing import NDArray


def read_tensors(path: Path, hint: str) -> dict[str, NDArray[Any]]:
    """Read every tensor of a safetensors file by its name.

    Raises EmbedderUnavailable when the file is missing or damaged.
    """
    try:
        return load_file(path)
    except OSError as error:
        why = error.strerror or error
        raise EmbedderUnavailable(f"{path}: can't be read: {why}", hint) from error
    except (SafetensorError, KeyError) as error:  # KeyError: a type that numpy lacks
        raise EmbedderUnavailable(f"{path}: is damaged: {error}", hint) from error
