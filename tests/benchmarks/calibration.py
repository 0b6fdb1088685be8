"""Fit the likelihood of answers (memory_bank/search/ranking.py), and compare it with what is.

python -m tests.benchmarks.calibration --embedders static,minilm --keep DIR

The first three hits of the questions about project banks are fitted by logistic regression with a small
ridge, once for search with words and once for meaning alone. Then the share of hits that answer is
printed beside the mean likelihood, over all ten hits of hybrid search.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_bank.bank.bank import open_bank
from memory_bank.bank.hits import RecalledNote
from memory_bank.memory.recall import recall
from memory_bank.search.retrievers.keyword.analyzer import weighted_stems
from tests.benchmarks import collections, projects

_FIRST = 3
"""Number of hits of a question that are fitted: later ones seldom answer, however alike."""
_RIDGE = 1e-3
_STEPS = 50
_FACTORS = frozenset(["recency", "access", "supersedes"])


class Judged(NamedTuple):
    """A hit: its rank, its features, its likelihood, and whether it answers the question."""

    rank: int
    relevance: float
    words: int
    score: float
    right: bool


def hits(work: Path, names: Sequence[str], embedder: str, mode: str) -> Iterator[Judged]:
    """Yield every hit of every question."""
    folder = collections.unpacked("projects", work) / "projects"
    for name in names:
        with open_bank(
            projects.notes(folder, name, work), settings={"memory.embedder": embedder}
        ) as bank:
            bank.sync()
            for question in projects.questions(folder, name):
                words = len(weighted_stems(question.text))
                found = recall(bank, question.text, 10, mode, count_access=False).notes
                for rank, note in enumerate(found):
                    right = question.relevant.get(note.path, 0) > 0
                    yield Judged(rank, relevance(note), words, note.relevance_score, right)


def relevance(note: RecalledNote) -> float:
    """Return the share of a perfect match: the sum of a hit's parts times its factors."""
    parts = sum(one.score for one in note.reasons if one.source not in _FACTORS)
    return parts * math.prod(one.score for one in note.reasons if one.source in _FACTORS)


def fit(found: Sequence[Judged]) -> list[float]:
    """Return the coefficients: constant, relevance, logarithm of one plus the number of words."""
    rows = np.array([[one.relevance, math.log(1 + one.words)] for one in found])
    right = np.array([one.right for one in found], float)
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    table = np.c_[np.ones(len(rows)), (rows - mean) / spread]
    ridge = _RIDGE * len(rows) * np.diag([1e-9, 1.0, 1.0])
    weights: NDArray[np.float64] = np.zeros(3)
    for _ in range(_STEPS):  # Newton's method
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (right - likely) - ridge @ weights
        curve = (table * (likely * (1 - likely))[:, None]).T @ table + ridge
        weights = weights + np.linalg.solve(curve, slope)
    scaled = weights[1:] / spread
    return [float(weights[0] - scaled @ mean), *map(float, scaled)]


def main() -> None:
    """Print the coefficients, then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedders", default="static")
    parser.add_argument("--only", default="adr,shop,wild", help=f"banks: {projects.NAMES}")
    parser.add_argument("--keep", type=Path, help="keep unpacked data and indices there")
    options = parser.parse_args()
    names, embedders = options.only.split(","), options.embedders.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or Path(temporary)).resolve()
        found = {
            mode: [one for name in embedders for one in hits(work, names, name, mode)]
            for mode in ("hybrid", "lexical", "semantic")
        }
    for said, modes in (("with words", ("hybrid", "lexical")), ("meaning alone", ("semantic",))):
        first = [one for mode in modes for one in found[mode] if one.rank < _FIRST]
        print(f"{said}: {', '.join(f'{value:.2f}' for value in fit(first))}")
    print("\n| likelihood | hits | mean likelihood | share that answers |\n|---|---|---|---|")
    for tenth in range(10):
        some = [one for one in found["hybrid"] if tenth <= one.score * 10 < tenth + 1]
        if some:
            mean = sum(one.score for one in some) / len(some)
            right = sum(one.right for one in some) / len(some)
            print(
                f"| .{tenth} to {(tenth + 1) / 10:.1f} | {len(some)} | {mean:.2f} | {right:.2f} |"
            )


if __name__ == "__main__":
    main()
