"""How long it takes until an edit is found, at several sizes of bank.

python -m tests.benchmarks.edits --notes 1000,10000,100000 --keep DIR

The banks take turns, edit by edit: most of it is the disk's, and a disk has good and bad minutes.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from tests.benchmarks.bare import Bare
from tests.benchmarks.places import made, ready
from tests.benchmarks.timing import Table, timed

_EDITS = 24


def measure(banks: Sequence[tuple[Bank, Bare]]) -> list[tuple[float, float]]:
    """Return for each bank the medians of ours and bare, after that many edits of each."""
    spent: list[list[tuple[float, float]]] = [[] for _ in banks]
    for number in range(_EDITS):
        for (bank, bare), times in zip(banks, spent, strict=True):
            times.append(_edited(bank, bare, number))
    return [
        (statistics.median(ours for ours, _ in times), statistics.median(bare for _, bare in times))
        for times in spent
    ]


def _edited(bank: Bank, bare: Bare, number: int) -> tuple[float, float]:
    """Add a sentence to a note until it is found, and take it out again."""
    file = bare.folder / f"area{number}" / f"note-{number}.md"
    text = file.read_text(encoding="utf-8")
    word = f"xylograph{number}"
    changed = f"{text}\nIt was edited: {word}.\n"
    file.write_text(changed, encoding="utf-8")
    ours = timed(lambda: _must_find(bank, word))
    them = timed(lambda: bare.edit(file.name, changed))
    bare.settle()
    assert bare.names(word, 1)
    file.write_text(text, encoding="utf-8")
    bare.edit(file.name, text)
    bare.settle()
    bank.catch_up()
    return ours, them


def _must_find(bank: Bank, word: str) -> None:
    found = recall(bank, word, 1, "lexical", count_access=False)
    assert found.result_count == 1, f"{word} is not found"


def main() -> None:
    """Measure the sizes that are asked for, in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", default="1000,10000,100000", help="sizes: %(default)s")
    parser.add_argument("--keep", type=Path, help="make notes and indices there, and use them")
    options = parser.parse_args()
    sizes = [int(size) for size in options.notes.split(",")]
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as open_:
        work = (options.keep or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        os.environ["XDG_STATE_HOME"] = f"{work}/state"
        banks = []
        for size in sizes:
            folder, bare, _ = made(size, work)
            bank = open_.enter_context(open_bank(folder))
            ready(bank, bare)
            banks.append((bank, bare))
        found = measure(banks)
    table = Table()
    table.start(f"Edits in turns, {_EDITS} at each size")
    for size, (ours, bare_spent) in zip(sizes, found, strict=True):
        table.ratio(f"one note edited → searchable, {size} notes", ours, bare_spent, 3.0)
    longest, shortest = max(ours for ours, _ in found), min(ours for ours, _ in found)
    table.ratio("… the slowest size beside the quickest", longest, shortest, 1.5)


if __name__ == "__main__":
    main()
