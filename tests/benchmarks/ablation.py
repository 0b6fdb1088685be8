"""What each part of the ranking brings: hybrid search with one part left out, or put in.

python -m tests.benchmarks.ablation --only sessions,scifact --keep DIR
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from memory_bank.search import ranking
from memory_bank.search.retrievers.base import Matches, Question, Scope
from memory_bank.search.retrievers.keyword import analyzer, keyword_query
from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex
from tests.benchmarks import collections
from tests.benchmarks.finding import product

NAMES = ("sessions", "scifact", "cosqa", "cacm")

_find = KeywordIndex.find


def _passages_only(index: KeywordIndex, question: Question, limit: int, scope: Scope) -> Matches:
    return Matches() if index.name == "notes" else _find(index, question, limit, scope)


Swap = tuple[Any, str, object]
PARTS: dict[str, tuple[Swap, ...]] = {
    "nothing": (),
    "words side by side": ((keyword_query, "PROXIMITY", 0.0),),
    "names weigh more": ((analyzer, "NAME_WEIGHT", 1.0),),
    "stop words dropped": ((analyzer, "STOP_WORDS", frozenset()),),
    "title, identifiers, about": ((keyword_query, "FIELDS", {"body": 1.0}),),
    "the whole note": ((KeywordIndex, "find", _passages_only),),
    "length taken back in part": ((ranking, "PASSAGE_B", 0.75),),
    "the passages beside it": ((ranking, "ADJACENT", 0.0),),
    "the weight of meaning for code": ((ranking, "_CODE_FROM", 2.0),),
}
"""What is left out, and the values that leave it out."""


@contextmanager
def swapped(swaps: tuple[Swap, ...]) -> Iterator[None]:
    """Search with other values."""
    with ExitStack() as undone:
        for owner, name, value in swaps:
            undone.enter_context(mock.patch.object(owner, name, value))
        yield


def cells(names: list[str], embedder: str, work: Path) -> Iterator[str]:
    """Yield R@5 / NDCG@10 for each piece of work."""
    for name in names:
        found = product(collections.of(name, work), embedder, "hybrid").figures
        yield f"{found['R@5']:.3f} / {found['NDCG@10']:.3f}"


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--keep", type=Path, help="keep unpacked data and indices there")
    options = parser.parse_args(words)
    names = options.only.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        work = options.keep or Path(temporary)
        print(f"\n| left out | {' | '.join(names)} |\n|---{'|---' * len(names)}|")
        for part, swaps in PARTS.items():
            with swapped(swaps):
                found = " | ".join(cells(names, options.embedder, work))
            print(f"| {part} | {found} |", flush=True)


if __name__ == "__main__":
    main()
