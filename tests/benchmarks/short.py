"""A small part of the benchmarks of finding and speed, compared with what was recorded: for CI.

Times are ratios to the bare libraries of the same run, so that another machine may compare.

python -m tests.benchmarks.short [--record]
"""

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.benchmarks import collections, speed
from tests.benchmarks.finding import HEADING, Score, product
from tests.benchmarks.timing import Table

RECORDED = Path(__file__).with_name("recorded.json")
NAMES = ("sessions", "scifact", "cosqa")
WAYS = ("lexical", "hybrid")
MEASURES = ("R@5", "NDCG@10")
MOST_FALL = 0.02
SPEED, BANKS, ROWS = "speed", ("1000", "own", "real"), ("warm", "sync", "edit", "cold")
"""The recorded ratios of times, and what is timed."""
SLOWER = 4 / 3
"""The most that a ratio may grow."""
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


def recorded(name: str) -> dict[str, Any]:
    """Return the figures that were recorded, by way and measure; those of speed by what was timed."""
    known: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
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


def ratios(work: Path) -> dict[str, float]:
    """Return our times as ratios to those of the bare libraries, by what was timed."""
    os.environ["MEMORY_BANK_EMBEDDER"] = "static"
    ratios: dict[str, float] = {}
    for folder in speed.banks(BANKS, work):
        table = Table()
        speed.run(folder, ROWS, table)
        ratios |= {
            f"{folder.name}: {row.work}": round(row.ratio, 2)
            for row in table.rows
            if row.ratio and "p95" not in row.work
        }
    return ratios


def slower(found: dict[str, float]) -> list[str]:
    """Say which ratios of times are more than a third above what was recorded, or were not."""
    known = recorded(SPEED)
    return [
        f"{work}: {known.get(work, 0):.2f} times as long as the libraries before, now {ratio:.2f}"
        for work, ratio in found.items()
        if ratio > SLOWER * known.get(work, 0)
    ]


def best_of(first: dict[str, float], again: dict[str, float]) -> dict[str, float]:
    """Return the lower ratio of each row: a loss is there each time, a busy minute is not."""
    return {work: min(ratio, again.get(work, ratio)) for work, ratio in first.items()}


def main() -> int:
    """Measure, print, and compare; return 1 when something fell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="take these figures for the future")
    options = parser.parse_args()
    fell: list[str] = []
    record: dict[str, dict[str, Any]] = {}
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
        record[SPEED] = ratios(Path(work).resolve())
        if not options.record and slower(record[SPEED]):
            again = ratios(Path(work).resolve())
            record[SPEED] = best_of(record[SPEED], again)
        fell += [] if options.record else slower(record[SPEED])
    if options.record:
        RECORDED.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(
        "\n"
        + ("\n".join(fell) or "nothing fell by two points, and no ratio of times grew by a third")
    )
    return 1 if fell else 0


if __name__ == "__main__":
    raise SystemExit(main())
