"""A small part of the finding benchmark, compared with what was recorded: for CI.

python -m tests.benchmarks.short [--record]
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.benchmarks import collections
from tests.benchmarks.finding import HEADING, Score, product

RECORDED = Path(__file__).with_name("recorded.json")
NAMES = ("sessions", "scifact", "cosqa")
WAYS = ("lexical", "hybrid")
MEASURES = ("R@5", "NDCG@10")
MOST_FALL = 0.02
_EACH = 5
"""Of the questions about sessions, each fifth is asked."""
_QUESTIONS, _DOCUMENTS = 100, 1000
"""Of the public collections."""


def scores(name: str, work: Path) -> dict[str, Score]:
    """Measure the default embedder on a part of a piece of work."""
    if name == "sessions":
        talks = collections.locomo(name, work)
        return _scores([replace(one, questions=one.questions[::_EACH]) for one in talks])
    (whole,) = collections.of(name, work)
    return _scores([collections.part(whole, questions=_QUESTIONS, documents=_DOCUMENTS)])


def _scores(banks: Sequence[collections.Collection]) -> dict[str, Score]:
    return {way: product(banks, "static", way) for way in WAYS}


def recorded(name: str) -> dict[str, dict[str, float]]:
    """Return the figures that were recorded, by way and measure."""
    known: dict[str, dict[str, dict[str, float]]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return known[name]


def falls(name: str, found: dict[str, Score]) -> list[str]:
    """Say what is more than two points below what was recorded."""
    known = recorded(name)
    return [
        f"{name}, {way}: {measure} fell from {known[way][measure]:.3f} to {figure:.3f}"
        for way, score in found.items()
        for measure, figure in score.figures.items()
        if measure in MEASURES and figure < known[way][measure] - MOST_FALL
    ]


def main() -> int:
    """Measure, print, and compare; return 1 when something fell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="take these figures for the future")
    options = parser.parse_args()
    fell: list[str] = []
    record = {}
    print(HEADING)
    with tempfile.TemporaryDirectory() as work:
        for name in NAMES:
            found = scores(name, Path(work))
            for way, score in found.items():
                print(score.row(name, way), flush=True)
            record[name] = {
                way: {measure: round(score.figures[measure], 4) for measure in MEASURES}
                for way, score in found.items()
            }
            fell += [] if options.record else falls(name, found)
    if options.record:
        RECORDED.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print("\n" + ("\n".join(fell) or "nothing fell by more than two points"))
    return 1 if fell else 0


if __name__ == "__main__":
    raise SystemExit(main())
