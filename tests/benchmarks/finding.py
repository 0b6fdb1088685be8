"""How well notes are found: recall and NDCG over collections, modes and embedders.

python -m tests.benchmarks.finding --embedder static --modes lexical,semantic,hybrid
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory_bank import Bank, open_bank, recall
from tests.benchmarks.collections import Collection, Question, beir, locomo

NAMES = ("sessions", "turns", "sessions-all", "turns-all", "scifact", "cosqa", "cacm")
DEPTH = 10


@dataclass
class Score:
    """Sums over questions."""

    questions: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, found: Sequence[str], question: Question) -> None:
        self.questions += 1
        for name, value in measures(found, question).items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def mean(self, name: str) -> float:
        return self.sums.get(name, 0.0) / max(self.questions, 1)


def measures(found: Sequence[str], question: Question) -> dict[str, float]:
    """Return recall@1/5/10, hit@5, NDCG@10 (gain = grade, discount log2) and MRR of one answer."""
    relevant = question.relevant
    gains = [relevant.get(name, 0) for name in found[:DEPTH]]
    ideal = sorted(relevant.values(), reverse=True)[:DEPTH]
    best = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(ideal))
    first = next((rank for rank, name in enumerate(found, 1) if name in relevant), 0)
    recalls = {f"R@{k}": len(set(found[:k]) & relevant.keys()) / len(relevant) for k in (1, 5, 10)}
    return {
        **recalls,
        "hit@5": float(bool(set(found[:5]) & relevant.keys())),
        "NDCG@10": sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains)) / best,
        "MRR": 1 / first if first else 0.0,
    }


def collections(name: str, work: Path) -> Iterable[Collection]:
    """Return the banks of a named piece of work."""
    kind, _, rest = name.partition("-")
    if kind in {"sessions", "turns"}:
        return locomo(kind, work, together=rest == "all")
    return [beir(kind, "test" if kind == "scifact" else "dev", work)]


def answer(bank: Bank, question: Question, mode: str) -> list[str]:
    """Return the names of the notes found."""
    answered = recall(bank, question.text, DEPTH, mode, count_access=False)
    return [Path(note.path).stem for note in answered.notes]


def measure(
    name: str, modes: Sequence[str], settings: dict[str, object], work: Path
) -> dict[str, Score]:
    """Score every mode on a named piece of work."""
    scores = {mode: Score() for mode in modes}
    for collection in collections(name, work):
        with open_bank(collection.folder, settings=settings) as bank:
            bank.sync()
            for mode in modes:
                started = time.perf_counter()
                for question in collection.questions:
                    scores[mode].add(answer(bank, question, mode), question)
                scores[mode].seconds += time.perf_counter() - started
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--modes", default="lexical,semantic,hybrid")
    parser.add_argument("--fusion", default="scores")
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--work", type=Path, help="keep unpacked data and indices here")
    options = parser.parse_args()
    settings: dict[str, object] = {
        "memory.embedder": options.embedder,
        "search.fusion": options.fusion,
        "memory.recency_boost_factor": 1.0,
    }
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        print("| work | mode | R@1 | R@5 | R@10 | hit@5 | NDCG@10 | MRR | ms |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name in options.only.split(","):
            found = measure(name, options.modes.split(","), settings, work)
            for mode, score in found.items():
                figures = [
                    f"{score.mean(m):.3f}"
                    for m in ("R@1", "R@5", "R@10", "hit@5", "NDCG@10", "MRR")
                ]
                spent = f"{1000 * score.seconds / max(score.questions, 1):.1f}"
                print("|", " | ".join([name, mode, *figures, spent]), "|", flush=True)


if __name__ == "__main__":
    main()
