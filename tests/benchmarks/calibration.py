"""Fit the likelihood of answers (memory_bank/search/ranking.py), and compare it with what is.

python -m tests.benchmarks.calibration                       # what was fitted
python -m tests.benchmarks.calibration --only own --fit no   # what was not

Each bank is asked whole and in banks of some of its notes, half of which answer a question as far
as there are such notes. A question can be answered there if one of its best notes is there; where
only others of its notes are, whether it is answered is a matter of opinion, and it is left out.
Questions with an answer count as three of five.

The first two hits are fitted by logistic regression with a small ridge. The calibration error is
the mean difference between likelihood and share that answers of tenths of the first hits, by size
of bank. The AUC tells how well the first hit's likelihood tells questions with an answer. "Nothing
answers" is right in U / (U + A): the shares of questions without and with an answer for which it is
said, as if there were as many of both.
"""

import argparse
import math
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_bank.bank.bank import open_bank
from memory_bank.bank.records import ShownNote
from memory_bank.memory.retrieval.ask_hits import list_reasons
from memory_bank.memory.retrieval.recall import recall
from memory_bank.search.manifest import document_rows
from memory_bank.search.retrievers.keyword.analyzer import count_words
from tests.benchmarks import collections, projects
from tests.benchmarks.projects import Question

SIZES = {"all": (0,), "12 to 30": (12, 15, 20, 25, 30), "3 to 10": (3, 4, 5, 6, 8, 10)}
"""Numbers of notes; 0 for all."""
_BEST = 2
"""The grade of a note that answers a question by itself."""
_FIRST = 2
"""Number of hits of a question that are fitted: later ones seldom answer, however alike."""
_ANSWERABLE = 0.6
_TIMELY = frozenset(["recency", "access", "newer"])
_RIDGE = 1e-3
_STEPS = 50
_BINS = 10


class Judged(NamedTuple):
    """A hit: its features, its likelihood, and whether it answers the question."""

    features: tuple[float, float, float, float]
    """Its share of a perfect match, the logarithm of one plus the number of words, the deviations
    to the best of so many unrelated passages, 1 if first."""
    score: float
    right: bool


class Asked(NamedTuple):
    """What is known of a question that was asked in a bank."""

    size: str
    answerable: bool
    hits: Sequence[Judged]
    weak: bool
    """Whether no hit, or only weak ones, were found."""
    said: bool
    """Whether hits were found, and it was said that nothing answers."""

    @property
    def score(self) -> float:
        """The likelihood of the first hit; 0 if there is none."""
        return self.hits[0].score if self.hits else 0.0


def some_notes(
    paths: Sequence[str], asked: Sequence[Question], size: int, chance: random.Random
) -> list[str]:
    """Return random notes, half of which answer a question."""
    answers = [best for one in asked if (best := _best(one))]
    chance.shuffle(answers)
    chosen = dict.fromkeys(chance.choice(one) for one in answers[: max(1, size // 2)])
    others = [path for path in paths if path not in chosen]
    return [*chosen, *chance.sample(others, min(size - len(chosen), len(others)))]


def ask(
    notes: Path, paths: Sequence[str], asked: Sequence[Question], size: str, way: tuple[str, str]
) -> Iterator[Asked]:
    """Ask all questions in a bank of some notes; `way` is a mode and an embedder."""
    mode, embedder = way
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / ".memories"
        for path in paths:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(notes / path, root / path)
        with open_bank(root, settings={"memory.embedder": embedder}) as bank:
            bank.sync()
            passages = bank.read(lambda view: document_rows.count_passages(view.manifest))
            chance = math.sqrt(2 * math.log(1 + passages))
            for one in asked:
                here = [path for path in one.relevant if path in paths]
                if here and not set(here) & set(_best(one)):
                    continue
                answer = recall(bank, one.text, 10, mode, count_access=False)
                words = math.log(1 + count_words(one.text))
                hits = [
                    Judged(
                        (relevance(note), words, chance, float(not rank)),
                        note.relevance_score,
                        one.relevant.get(note.path, 0) > 0,
                    )
                    for rank, note in enumerate(answer.notes)
                ]
                weak = all(note.weak for note in answer.notes)
                yield Asked(size, bool(here), hits, weak, bool(hits) and not answer.answered)


def measure(work: Path, name: str, way: tuple[str, str], times: int) -> Iterator[Asked]:
    """Yield what is known of each question, in a bank of each size."""
    folder = collections.unpacked("projects", work) / "projects"
    notes, asked = projects.notes(folder, name, work), projects.questions(folder, name)
    paths = sorted(path.relative_to(notes).as_posix() for path in notes.rglob("*.md"))
    chance = random.Random(name)
    for title, sizes in SIZES.items():
        for size in sizes:
            for _ in range(times if size else 1):
                chosen = some_notes(paths, asked, size, chance) if size else paths
                yield from ask(notes, chosen, asked, title, way)


def relevance(note: ShownNote) -> float:
    """Return the share of a perfect match: the sum of a hit's parts times its factors.

    Factors for age and use say nothing of what a note answers.
    """
    parts = list_reasons(note.reasons)
    factors = (part.score for part in parts.factors if part.source not in _TIMELY)
    return sum(part.score for part in parts.reasons) * math.prod(factors)


def weights(found: Sequence[Asked]) -> NDArray[np.float64]:
    """Return what each question counts: each size as much, most of it for those with an answer."""
    counts = Counter((one.size, one.answerable) for one in found)
    shares = {True: _ANSWERABLE, False: 1 - _ANSWERABLE}
    return np.array([shares[one.answerable] / counts[one.size, one.answerable] for one in found])


def fit(found: Sequence[Asked]) -> list[float]:
    """Return the coefficients: constant, and one for each feature."""
    pairs = list(zip(found, weights(found), strict=True))
    judged = [(hit, weight) for one, weight in pairs for hit in one.hits[:_FIRST]]
    rows = np.array([hit.features for hit, _ in judged])
    right, counted = np.array([(hit.right, weight) for hit, weight in judged]).T
    mean, spread = np.average(rows, axis=0, weights=counted), rows.std(0) + 1e-9
    table = np.c_[np.ones(len(rows)), (rows - mean) / spread]
    ridge = _RIDGE * counted.sum() * np.diag([1e-9, 1.0, 1.0, 1.0, 1.0])
    found_weights: NDArray[np.float64] = np.zeros(5)
    for _ in range(_STEPS):  # Newton's method
        likely = 1 / (1 + np.exp(-table @ found_weights))
        slope = table.T @ (counted * (right - likely)) - ridge @ found_weights
        curve = (table * (counted * likely * (1 - likely))[:, None]).T @ table + ridge
        found_weights = found_weights + np.linalg.solve(curve, slope)
    scaled = found_weights[1:] / spread
    return [float(found_weights[0] - scaled @ mean), *map(float, scaled)]


def error(found: Sequence[Asked]) -> float:
    """Return the calibration error of the first hits."""
    counted = weights(found)
    first = [(one.score, bool(one.hits) and one.hits[0].right) for one in found]
    score, right = np.array(first).T
    order = np.argsort(score, kind="stable")
    tenths = np.minimum((np.cumsum(counted[order]) / counted.sum() * _BINS).astype(int), _BINS - 1)
    parts = [order[tenths == one] for one in range(_BINS)]
    return float(sum(abs((counted[part] * (score - right)[part]).sum()) for part in parts)) / float(
        counted.sum()
    )


def row(title: str, found: Sequence[Asked]) -> str:
    """Return a line of the table."""
    yes, no = ([one for one in found if one.answerable is known] for known in (True, False))
    pairs = [(y.score > n.score) + 0.5 * (y.score == n.score) for y in yes for n in no]
    weak = [sum(one.weak for one in some) / len(some) for some in (yes, no)]
    said = [sum(one.said for one in some) / len(some) for some in (yes, no)]
    right = f"{said[1] / sum(said):.2f}" if sum(said) else "not said"
    figures = [error(found), sum(pairs) / len(pairs), *weak, *said]
    cells = [title, f"{len(yes)}, {len(no)}", *(f"{one:.3f}" for one in figures), right]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the coefficients, then a table for each mode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument(
        "--only", default="adr,shop,wild", help=f"banks: {', '.join(projects.NAMES)}"
    )
    parser.add_argument("--times", type=int, default=1, help="banks of each size")
    parser.add_argument("--fit", choices=("yes", "no"), default="yes")
    parser.add_argument("--keep", type=Path, help="keep unpacked data there")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or Path(temporary)).resolve()
        for mode in ("hybrid", "lexical", *(["semantic"] if options.fit == "yes" else [])):
            way = mode, options.embedder
            banks = [measure(work, name, way, options.times) for name in options.only.split(",")]
            found[mode] = [one for asked in banks for one in asked]
    if options.fit == "yes":
        for said, some in (
            ("with words", [*found["hybrid"], *found["lexical"]]),
            ("meaning alone", found["semantic"]),
        ):
            print(f"{said}: {', '.join(f'{value:.2f}' for value in fit(some))}")
    print("\n| | with, without an answer | calibration error | AUC | weak, with | without", end="")
    print(" | nothing answers, with | without | right |\n|---|---|---|---|---|---|---|---|---|")
    for mode in ("hybrid", "lexical"):
        for size in SIZES:
            print(row(f"{mode}, {size}", [one for one in found[mode] if one.size == size]))
        print(row(f"{mode}, together", found[mode]))


def _best(question: Question) -> list[str]:
    """Return the notes that answer a question by themselves."""
    return [path for path, grade in question.relevant.items() if grade >= _BEST]


if __name__ == "__main__":
    main()
