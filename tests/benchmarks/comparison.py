"""Whether one way to ask beats another, question by question: the two-sided sign test.

python -m tests.benchmarks.comparison lexical hybrid --only scifact,cacm --keep DIR
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import collections
from tests.benchmarks.evaluation.significance import paired
from tests.benchmarks.finding import COLUMNS, WAYS, Score, product

HEADING = "| work | measure | {} | {} | difference | better/worse/same | p |\n|---|---|---|---|---|---|---|"


def rows(name: str, first: Score, second: Score) -> Iterator[str]:
    """Yield a line for each measure."""
    for column, measure in COLUMNS.items():
        values = [[answer[measure] for answer in score.answers] for score in (first, second)]
        found = paired(*values)
        cells = [f"{score.figures[column]:.3f}" for score in (first, second)]
        sides = f"{found.better}/{found.worse}/{found.same}"
        cells += [f"{found.difference:+.3f}", sides, f"{found.p:.3f}"]
        yield f"| {' | '.join([name, column, *cells])} |"


def main() -> None:
    """Print the table for the pieces of work that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs=2, choices=WAYS, metavar="WAY", help=", ".join(WAYS))
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--only", default="scifact", help=collections.HELP)
    parser.add_argument("--split", default="", help=collections.SPLIT_HELP)
    parser.add_argument("--keep", type=Path, help="keep unpacked data and indices there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.keep or Path(temporary)
        print(HEADING.format(*options.ways))
        for name in options.only.split(","):
            asked = collections.of(name, work, options.split)
            scores = [product(asked, options.embedder, way) for way in options.ways]
            for row in rows(Path(name).name, *scores):
                print(row, flush=True)


if __name__ == "__main__":
    main()
