"""The text of a passage that is embedded, and what cosines with it mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.search.retrievers.base import IndexedPassage, Scale
from memory_bank.search.retrievers.keyword.analyzer import without_block_ids

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_PERFECT = 4.0
"""Standard deviations above the mean that count as a perfect match: few cosines are higher."""

_USUAL_MEAN, _USUAL_DEVIATION, _FEW = 0.09, 0.08, 20
"""Mean and standard deviation of the cosines of a question with the passages of three banks (both
embedders differ by .02 at most), and the number of passages as many as which they count."""


def scale_of(cosines: NDArray[np.float32]) -> Scale:
    """Return the mean of a question's cosines with many passages, and that of a perfect match."""
    count = len(cosines)
    above = cosines - _USUAL_MEAN
    shift = float(above.sum()) / (count + _FEW)
    square = (float((above**2).sum()) + _FEW * _USUAL_DEVIATION**2) / (count + _FEW)
    deviation = max(square - shift**2, 1e-6) ** 0.5
    mean = _USUAL_MEAN + shift
    return Scale(mean, mean + _PERFECT * deviation)


def text_of(entry: IndexedPassage) -> str:
    """Return what is embedded of a passage: its headings and its text; see `TEXT_VERSION`.

    Headings without a letter (numbers, dates) are left out: they cost a small model five points of
    NDCG. So are block ids.
    """
    path = [entry.title, *(heading for heading in entry.headings if heading != entry.title)]
    headings = " > ".join(part for part in path if any(map(str.isalpha, part)))
    return f"{headings}\n{without_block_ids(entry.text).strip()}".strip("\n")
