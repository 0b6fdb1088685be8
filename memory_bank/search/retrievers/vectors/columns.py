"""The vectors of an index in columns, which usearch compares: what needs numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING

from memory_bank.search.models.vectors import (
    measure_cosines,
    np,
    pack_vectors,
    scale_to_unit,
    unpack_vectors,
)
from memory_bank.search.retrievers.base import Matches, Scale, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILL = (
    "SELECT row, document, key, vector, text IS NULL FROM entries JOIN texts USING (key)"
    " WHERE vector NOT NULL"
)


def last_part(vector: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    """Return the last components of a vector, as a unit vector."""
    part: NDArray[np.float32] = scale_to_unit(vector[None, -dimension:].copy())[0]
    return part


def pad_vectors(vectors: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    """Return vectors with zeros before their components."""
    rows = np.zeros((len(vectors), dimension), np.float32)
    rows[:, -vectors.shape[1] :] = vectors
    return rows


def read(blob: bytes) -> list[float]:
    """Return a stored vector as numbers."""
    components: list[float] = unpack_vectors(_numbers([blob]))[0].tolist()
    return components


def store(
    base: Connection, keys: Sequence[int], vectors: NDArray[np.float32], *, whole: bool
) -> None:
    """Store the vectors of texts in a transaction; with whole ones, the texts are not needed."""
    text = "NULL" if whole else "text"
    rows = (
        (vector.tobytes(), key) for vector, key in zip(pack_vectors(vectors), keys, strict=True)
    )
    base.executemany(f"UPDATE texts SET vector = ?, text = {text} WHERE key = ?", rows)


def _numbers(blobs: Sequence[bytes]) -> NDArray[np.int8]:
    return np.frombuffer(b"".join(blobs), np.int8).reshape(len(blobs), -1)


class Columns:
    """All passages that have a vector, in columns."""

    def __init__(self, base: Connection) -> None:
        table = base.execute(f"{FILL} ORDER BY row").fetchall()
        rows, documents, keys, blobs, whole = zip(*table, strict=True) if table else ((),) * 5
        self.rows, self.documents = np.array(rows, np.int64), np.array(documents, np.int64)
        self.whole = np.array(whole, np.bool_)
        """Which vectors are whole; the others have the quick embedder's components only."""
        self._vectors = _numbers(blobs) if blobs else np.zeros((0, 1), np.int8)
        _, texts = np.unique(np.array(keys, np.int64), return_index=True)
        self._sample = texts[:: max(1, len(texts) // _SAMPLE)]

    def nearest(
        self,
        vector: NDArray[np.float32],
        limit: int,
        scope: Scope,
        among: NDArray[np.bool_] | None = None,
    ) -> Matches:
        """Return the passages in scope with the highest cosines, best first; ties by row.

        A vector with fewer components is compared with the last ones. `among` are the places of the
        vectors that are compared.
        """
        vectors = self._vectors[:, -len(vector) :]
        sample = self._sample if among is None else self._sample[among[self._sample]]
        chosen = np.flatnonzero(self._inside(scope, among))
        if len(vectors) <= _SAMPLE:  # the scale needs the cosines of all: they need no search
            cosines = measure_cosines(vectors, vector)
            scale, scores = measure_scale(cosines[sample]), cosines[chosen]
        else:
            scale = measure_scale(measure_cosines(vectors[sample], vector))
            chosen = chosen[_search(vectors, vector, chosen, limit)] if len(chosen) else chosen
            scores = measure_cosines(vectors[chosen], vector)
        best = np.lexsort((self.rows[chosen], -scores))[:limit]
        rows, documents = self.rows[chosen][best].tolist(), self.documents[chosen][best].tolist()
        return Matches(rows, documents, scores[best].tolist(), scale=scale)

    def _inside(self, scope: Scope, among: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Return which vectors are in scope, and among some."""
        inside = np.ones(len(self.rows), np.bool_) if among is None else among.copy()
        if scope.only is not None:
            inside &= np.isin(self.documents, _array(scope.only))
        if scope.rows is not None:
            inside &= np.isin(self.rows, _array(scope.rows))
        if scope.without:
            inside &= ~np.isin(self.documents, _array(scope.without))
        return inside


def _search(
    vectors: NDArray[np.int8], vector: NDArray[np.float32], chosen: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    """Return the places among the chosen vectors, one at least, of those nearest to a vector."""
    # start-up: not of `usearch.index`, which loads a progress bar and the metadata of packages
    from usearch.compiled import MetricKind, MetricSignature, exact_search

    searched = np.ascontiguousarray(vectors if len(chosen) == len(vectors) else vectors[chosen])
    near, *_ = exact_search(
        searched,
        pack_vectors(vector[None]),
        min(limit, len(chosen)),
        metric_kind=MetricKind.Cos,
        metric_signature=MetricSignature.ArrayArraySize,
    )
    return np.asarray(near[0], np.int64)


def _array(numbers: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(numbers, np.int64)


_SAMPLE = 2000
"""Number of texts from which the scale of cosines is estimated."""

_PERFECT = 4.0
"""Standard deviations above the mean that count as a perfect match: few cosines are higher."""

_USUAL_MEAN, _USUAL_DEVIATION, _FEW = 0.09, 0.08, 20
"""Mean and standard deviation of the cosines of a question with the passages of three banks (both
embedders differ by .02 at most), and the number of passages as many as which they count."""


def measure_scale(cosines: NDArray[np.float32]) -> Scale:
    """Return the mean of a question's cosines with many passages, and that of a perfect match."""
    count = len(cosines)
    above = cosines - _USUAL_MEAN
    shift = float(above.sum()) / (count + _FEW)
    square = (float((above**2).sum()) + _FEW * _USUAL_DEVIATION**2) / (count + _FEW)
    deviation = max(square - shift**2, 1e-6) ** 0.5
    mean = _USUAL_MEAN + shift
    return Scale(mean, mean + _PERFECT * deviation)
