"""Measure how often "nothing in the bank answers this" is right, by the size of the bank.

python -m tests.benchmarks.verdicts DIR… [--half first|second] [--times 4]

A DIR has notes/ and queries.json, as the project banks have. Banks of some random notes are made of
it; half of the notes answer one of the questions, as far as there are such notes. A question can be
answered if one of its best notes is there. The verdict is right in U / (U + A): the shares of
questions without and with an answer for which it is said, as if there were as many of both.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank.bank import open_bank
from memory_bank.memory.recall import recall

SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 0)
"""Numbers of notes; 0 for all."""
_BEST = 2
"""The grade of a note that answers a question by itself."""


class Question(NamedTuple):
    """A question, and its relevant notes with their grades."""

    text: str
    relevant: dict[str, int]

    @property
    def best(self) -> list[str]:
        """The notes that answer it by themselves."""
        return [path for path, grade in self.relevant.items() if grade >= _BEST]


class Asked(NamedTuple):
    """What is said of a question: whether it has an answer, whether notes were found, the verdict."""

    answerable: bool
    found: bool
    said: bool


def questions(folder: Path, half: str) -> list[Question]:
    """Return the questions of a bank, all or those of one half."""
    found = []
    for one in json.loads((folder / "queries.json").read_text(encoding="utf-8")):
        second = blake2b(one["id"].encode()).digest()[0] % 2
        if not half or second == (half == "second"):
            found.append(Question(one["query"], dict(one["relevant"])))
    return found


def some_notes(
    paths: Sequence[str], asked: Sequence[Question], size: int, chance: random.Random
) -> list[str]:
    """Return random notes, half of which answer a question."""
    answers = [one.best for one in asked if one.best]
    chance.shuffle(answers)
    chosen = dict.fromkeys(chance.choice(one) for one in answers[: max(1, size // 2)])
    others = [path for path in paths if path not in chosen]
    return [*chosen, *chance.sample(others, size - len(chosen))]


def ask(folder: Path, paths: Sequence[str], asked: Sequence[Question]) -> Iterator[Asked]:
    """Ask all questions in a bank of some of the notes."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / ".memories"
        for path in paths:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "notes" / path, root / path)
        with open_bank(root) as bank:
            bank.sync()
            for one in asked:
                here = [path for path in one.relevant if path in paths]
                if here and not set(here) & set(one.best):
                    continue  # whether these answer it is a matter of opinion
                answer = recall(bank, one.text, count_access=False)
                said = bool(answer.notes) and not answer.answered
                yield Asked(bool(here), bool(answer.notes), said)


def measure(folder: Path, half: str, times: int) -> Iterator[tuple[int, Asked]]:
    """Yield what is said of each question, with the wanted size of the bank."""
    notes = folder / "notes"
    paths = sorted(path.relative_to(notes).as_posix() for path in notes.rglob("*.md"))
    asked = questions(folder, half)
    chance = random.Random(f"{folder.name} {half}")
    for size in SIZES:
        for _ in range(times if size else 1):
            chosen = some_notes(paths, asked, size, chance) if size else paths
            yield from ((size, one) for one in ask(folder, chosen, asked))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--half", choices=("first", "second"), default="")
    parser.add_argument("--times", type=int, default=4, help="banks of each size")
    options = parser.parse_args()
    found = [one for path in options.folders for one in measure(path, options.half, options.times)]
    print(
        "| notes | said with an answer | said without one | right | nothing found, with | without |"
    )
    print("|---|---|---|---|---|---|")
    for size in SIZES:
        print(row(str(size or "all"), [one for wanted, one in found if wanted == size]))
    print(row("all sizes", [one for _, one in found]))


def row(title: str, some: Sequence[Asked]) -> str:
    """Return a row of the table."""
    groups = [[one for one in some if one.answerable is known] for known in (True, False)]
    said = [sum(one.said for one in group) / max(1, len(group)) for group in groups]
    empty = [sum(not one.found for one in group) / max(1, len(group)) for group in groups]
    right = f"{said[1] / sum(said):.2f}" if sum(said) else "not said"
    cells = [f"{share:.3f} of {len(group)}" for share, group in zip(said, groups, strict=True)]
    return f"| {' | '.join([title, *cells, right, *(f'{share:.2f}' for share in empty)])} |"


if __name__ == "__main__":
    main()
