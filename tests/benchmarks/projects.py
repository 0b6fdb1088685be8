"""Finding in banks of real projects: is the first note right, and does the score tell when none is?

python -m tests.benchmarks.projects --embedders static,minilm --keep DIR

Some questions have no answer: the AUC is the share of pairs of a question with an answer and one
without, of which the first one's best hit has the higher score.
"""

import argparse
import json
import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank.bank import open_bank
from memory_bank.memory.retrieval.recall import recall
from tests.benchmarks import collections

OWN = Path(__file__).with_name("own_questions.json")
"""Questions about this repository's own notes."""
NAMES = ("adr", "shop", "wild", "own")
WAYS = ("lexical", "semantic", "hybrid", "rrf")
COLUMNS = ("R@1", "R@5", "NDCG@10", "MRR")
LISTED = ("AUC", "precision", "recall", "weak only, with an answer", "without")
_DEPTH = 10
_BEST = 2.0


class Question(NamedTuple):
    """A question, its kind, and the grades of the notes that answer it, by path."""

    id: str
    text: str
    kind: str
    relevant: Mapping[str, float]


class Answer(NamedTuple):
    """The notes found, best first, and the score of the first."""

    question: Question
    found: Sequence[str]
    score: float
    strong: Sequence[str]
    """Those that are no weak matches."""

    @property
    def figures(self) -> tuple[float, ...]:
        """R@1 (a best note is first), R@5 (of at most five), NDCG@10 with gains 2^grade - 1, MRR."""
        grades, best = self.question.relevant, max(self.question.relevant.values())
        gains = [2 ** grades.get(name, 0.0) - 1 for name in self.found]
        ideal = [2**grade - 1 for grade in sorted(grades.values(), reverse=True)[:_DEPTH]]
        ranks = (rank for rank, name in enumerate(self.found, 1) if name in grades)
        return (
            float(bool(self.found) and grades.get(self.found[0]) == best),
            len(grades.keys() & set(self.found[:5])) / min(5, len(grades)),
            _dcg(gains) / _dcg(ideal),
            1 / next(ranks, math.inf),
        )


def questions(folder: Path, name: str) -> list[Question]:
    """Read the questions about a bank."""
    file = OWN if name == "own" else folder / name / "queries.json"
    return [
        Question(one["id"], one["query"], one["kind"], one["relevant"])
        for one in json.loads(file.read_text(encoding="utf-8"))
    ]


def notes(folder: Path, name: str, work: Path) -> Path:
    """Return a copy of a bank's notes below a folder, as a fresh clone has them."""
    source = Path(__file__).parents[2] / ".memories" if name == "own" else folder / name / "notes"
    target = work / "banks" / name / ".memories"
    if not target.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".index"))
    return target


def asked(work: Path, names: Sequence[str], embedder: str, way: str) -> list[Answer]:
    """Ask every question of some banks."""
    folder = collections.unpacked("projects", work) / "projects"
    found: list[Answer] = []
    mode = "hybrid" if way == "rrf" else way
    fusion = "rrf" if way == "rrf" else "scores"
    used = {"memory.embedder": embedder, "search.fusion": fusion}
    for name in names:
        with open_bank(notes(folder, name, work), settings=used) as bank:
            bank.sync()
            for question in questions(folder, name):
                hits = recall(bank, question.text, _DEPTH, mode, count_access=False).notes
                score = hits[0].relevance_score if hits else 0.0
                strong = [hit.path for hit in hits if not hit.weak]
                found.append(Answer(question, [hit.path for hit in hits], score, strong))
    return found


def auc(answers: Sequence[Answer]) -> float:
    """Return how well the first score tells questions with an answer from those without."""
    yes = [one.score for one in answers if one.question.relevant]
    no = [one.score for one in answers if not one.question.relevant]
    pairs = [(y > n) + 0.5 * (y == n) for y in yes for n in no]
    return sum(pairs) / len(pairs) if pairs else math.nan


def means(answers: Sequence[Answer]) -> list[float]:
    """Return the mean of each figure over the questions that have an answer."""
    figures = [one.figures for one in answers if one.question.relevant]
    return [sum(column) / len(figures) for column in zip(*figures, strict=True)]


def listed(answers: Sequence[Answer]) -> list[float]:
    """Return precision and recall of what is no weak match, and for how many there is none.

    These are the shares of the questions with an answer, and of those without.
    """
    right = sum(len(one.question.relevant.keys() & set(one.strong)) for one in answers)
    yes, no = (
        [one for one in answers if bool(one.question.relevant) is has] for has in (True, False)
    )
    return [
        right / max(1, sum(len(one.strong) for one in answers)),
        right / sum(len(one.question.relevant) for one in answers),
        *(sum(not one.strong for one in some) / max(1, len(some)) for some in (yes, no)),
    ]


def row(way: str, answers: Sequence[Answer]) -> str:
    """Return a line of the table."""
    values = [*means(answers), auc(answers), *listed(answers)]
    return f"| {way} | {' | '.join(f'{100 * value:.1f}' for value in values)} |"


def rows(work: Path, names: Sequence[str], embedders: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table."""
    for embedder in embedders:
        for way in WAYS:
            if way == "lexical" and embedder != embedders[0]:
                continue  # asks no embedder: the same answers
            said = way if way == "lexical" else f"{way}, {embedder}"
            yield row(said, asked(work, names, embedder, way))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedders", default="static")
    parser.add_argument("--only", default="adr,shop,wild", help=f"banks: {', '.join(NAMES)}")
    parser.add_argument("--keep", type=Path, help="keep unpacked data and indices there")
    options = parser.parse_args()
    names, embedders = options.only.split(","), options.embedders.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or Path(temporary)).resolve()
        print(f"| asked by | {' | '.join(COLUMNS + LISTED)} |")
        print(f"|---|{'---|' * len(COLUMNS + LISTED)}")
        for line in rows(work, names, embedders):
            print(line, flush=True)


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


if __name__ == "__main__":
    main()
