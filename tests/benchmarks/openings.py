"""What boosts by accesses do to finding, by what a reader opens of an answer.

python -m tests.benchmarks.openings

Each question of the banks of real projects is asked several times in another order, and notes are
opened; then R@1 is measured. The boosts are those of the default settings, but for that of new
notes.
"""

import argparse
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from unittest import mock

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from tests.benchmarks import collections, projects
from tests.benchmarks.projects import Answer, Question

NAMES = ("adr", "shop", "wild")
_DEPTH, _READ = 10, 5
"""Notes that are returned, and how many of them a reader looks at."""

Reader = Callable[[Sequence[str], Question, random.Random], Iterator[str]]
"""Yields which of some notes are opened."""


def nothing(_found: Sequence[str], _asked: Question, _chance: random.Random) -> Iterator[str]:
    """Open nothing."""
    yield from ()


def first(found: Sequence[str], _asked: Question, _chance: random.Random) -> Iterator[str]:
    """Open the first note, right or wrong, and none after it."""
    yield from found[:1]


def on(
    found: Sequence[str], asked: Question, chance: random.Random, *, wrong: float
) -> Iterator[str]:
    """Read on to a note that answers, and open wrong ones above it with a probability."""
    for path in found[:_READ]:
        if path in asked.relevant:
            yield path
            return
        if chance.random() < wrong:
            yield path


READERS: Mapping[str, Reader] = {
    "nothing": nothing,
    "what answers": partial(on, wrong=0.0),
    "what answers, and a quarter of the wrong notes above": partial(on, wrong=0.25),
    "what answers, and all notes above": partial(on, wrong=1.0),
    "the first note": first,
}


def used(bank: Bank, asked: Sequence[Question], reader: Reader, times: int) -> list[Answer]:
    """Ask all questions several times, open notes, and ask once more."""
    chance = random.Random(0)
    for _ in range(times):
        for one in chance.sample(asked, len(asked)):
            found = [note.path for note in recall(bank, one.text, _DEPTH).notes]
            for path in reader(found, one, chance):
                show(bank, path)
    notes = [recall(bank, one.text, _DEPTH, count_access=False).notes for one in asked]
    return [
        Answer(one, [note.path for note in found], 0.0)
        for one, found in zip(asked, notes, strict=True)
    ]


def main() -> None:
    """Print R@1 for each reader, and for the setting `returned`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="how often a question is asked")
    options = parser.parse_args()
    print("| opened | R@1 |\n|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        folder = collections.unpacked("projects", work) / "projects"
        for title, reader in {**READERS, "boost_by = returned": nothing}.items():
            by = "returned" if title.startswith("boost_by") else "opened"
            settings = {"memory.recency_boost_factor": 1.0, "memory.boost_by": by}
            answers: list[Answer] = []
            place = work / str(len(list(work.iterdir())))
            with mock.patch.dict(os.environ, XDG_STATE_HOME=str(place / "state")):
                for name in NAMES:
                    notes = projects.notes(folder, name, place)
                    with open_bank(notes, settings=settings) as bank:
                        bank.sync()
                        asked = projects.questions(folder, name)
                        answers += used(bank, asked, reader, options.times)
            print(f"| {title} | {projects.means(answers)[0]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
