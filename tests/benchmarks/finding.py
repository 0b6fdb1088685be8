"""How well notes are found: recall, NDCG and reciprocal rank, beside what else could be used.

python -m tests.benchmarks.finding --embedders static,minilm --only sessions,cacm
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.benchmarks import collections
from tests.benchmarks.collections import Collection, Question
from tests.benchmarks.evaluation import measures
from tests.benchmarks.evaluation.source import Search
from tests.benchmarks.rivals import MAKERS

DEPTH = 10
WAYS = ("lexical", "semantic", "hybrid", "rrf")
"""How the product is asked: its modes, and `hybrid` by reciprocal rank fusion."""
COLUMNS = {"R@1": "recall@1", "R@5": "recall@5", "NDCG@10": "ndcg@10", "MRR": "mrr"}
HEADING = (
    f"| work | asked by | {' | '.join(COLUMNS)} | ms |\n|---|---|{'---|' * (len(COLUMNS) + 1)}"
)

Ask = Callable[[str], Sequence[str]]


@dataclass
class Score:
    """Answers to the questions of one piece of work."""

    answers: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, ask: Ask, question: Question) -> None:
        """Ask one question and measure the answer."""
        started = time.perf_counter()
        found = ask(question.text)
        self.take(found, time.perf_counter() - started, question)

    def take(self, found: Sequence[str], seconds: float, question: Question) -> None:
        """Measure one answer."""
        self.answers.append(measures.measure(found, question.relevant))
        self.seconds.append(seconds)

    @property
    def figures(self) -> dict[str, float]:
        """The mean of each measure, by the name of its column."""
        means = measures.mean(self.answers)
        return {column: means[name] for column, name in COLUMNS.items()}

    def row(self, work: str, way: str) -> str:
        """Return a line of the table; a question's time is the median."""
        cells = [f"{100 * value:.1f}" for value in self.figures.values()]
        spent = f"{1000 * statistics.median(self.seconds):.1f}"
        return f"| {' | '.join([work, way, *cells, spent])} |"


def settings_for(embedder: str, way: str = "hybrid") -> dict[str, object]:
    """Return the settings: the notes' dates say nothing about the questions."""
    return {
        "memory.embedder": embedder,
        "search.fusion": "rrf" if way == "rrf" else "scores",
        "memory.recency_boost_factor": 1.0,
    }


def product(work: Sequence[Collection], embedder: str, way: str) -> Score:
    """Ask the product all questions of a piece of work; its documents are indexed first."""
    score = Score()
    mode = "hybrid" if way == "rrf" else way
    for one in work:
        with one.searched(settings_for(embedder, way)) as search:
            _ask_all(score, partial(_search, search, mode), one)
    return score


def others(banks: Sequence[Collection], work: Path) -> Iterator[tuple[str, Score]]:
    """Yield the scores of everything else."""
    for name, make in MAKERS.items():
        score = Score()
        for one in banks:
            try:
                rival = make(one, work)
            except LookupError as error:
                print(f"{name}: {error}", flush=True)
                break
            _ask_all(score, partial(rival.ask, limit=DEPTH), one)
        if score.answers:
            yield name, score


def rows(
    name: str, embedders: list[str], ways: Sequence[str], work: Path, split: str
) -> Iterator[str]:
    """Yield the table's lines for a piece of work."""
    banks = collections.of(name, work, split)
    name = Path(name).name
    for way, score in others(banks, work):
        yield score.row(name, way)
    for embedder in embedders:
        for way in ways:
            if way == "lexical" and embedder != embedders[0]:
                continue  # meaning is not asked: the same answers
            said = {"lexical": "lexical", "rrf": f"hybrid by ranks (rrf), {embedder}"}
            score = product(banks, embedder, way)
            yield score.row(name, f"**{said.get(way, f'{way}, {embedder}')}**")


def _search(search: Search, mode: str, text: str) -> list[str]:
    return search(text, mode, DEPTH)


def _ask_all(score: Score, ask: Ask, one: Collection) -> None:
    for question in one.questions[:3]:
        ask(question.text)  # what is loaded once is no part of a question's time
    for question in one.questions:
        score.add(ask, question)


def main() -> None:
    """Print the table for the pieces of work that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedders", default="static")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--only", default=",".join(collections.NAMES), help=collections.HELP)
    parser.add_argument("--split", default="", help=collections.SPLIT_HELP)
    parser.add_argument("--keep", type=Path, help="keep unpacked data and indices there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.keep or Path(temporary)
        print(HEADING)
        for name in options.only.split(","):
            embedders, ways = options.embedders.split(","), options.ways.split(",")
            for row in rows(name, embedders, ways, work, options.split):
                print(row, flush=True)


if __name__ == "__main__":
    main()
