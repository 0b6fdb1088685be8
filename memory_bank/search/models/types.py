"""Types of model inputs and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Kind = Literal["passage", "query"]
"""The role of a text for a model."""
