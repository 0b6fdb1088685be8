"""Measure how often a link that lint calls mistyped is, and how many planted ones it finds.

python -m tests.benchmarks.mistyped BANK… [--planted 200]

Of each bank, a folder of notes, the findings are printed, to be read. In a copy, a further note has
links to random notes with a letter added, left out, replaced, or swapped with the next one.
"""

import argparse
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from memory_bank.bank.bank import open_bank
from memory_bank.bank.records import Finding
from memory_bank.review.rules import links
from memory_bank.review.rules.base import RuleContext
from memory_bank.search.index import IndexView

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PLANTED = "planted-links.md"
_SHORTEST = 5


def mistyped(name: str, chance: random.Random) -> str:
    """Return a name with one mistake in its last part."""
    folder, slash, last = name.rpartition("/")
    at = chance.choice([at for at in range(len(last) - 1) if last[at : at + 2].isalpha()])
    letter = chance.choice(_LETTERS.replace(last[at].lower(), ""))
    wrong = chance.choice(
        [
            last[:at] + letter + last[at:],
            last[:at] + last[at + 1 :],
            last[:at] + letter + last[at + 1 :],
            last[:at] + last[at + 1] + last[at] + last[at + 2 :],
        ]
    )
    return f"{folder}{slash}{wrong}"


def found(folder: Path) -> list[Finding]:
    """Return the findings in a bank."""
    with open_bank(folder, settings={"memory.embedder": "none"}) as bank:
        bank.catch_up()

        def ask(view: IndexView) -> list[Finding]:
            context = RuleContext(bank, view)
            return list(links.mistyped_link(context))

        return bank.read(ask)


def planted(folder: Path, number: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Write the note with mistyped links; yield these and the notes that they mean."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    fits = [
        path
        for path in paths
        if len(Path(path).stem) >= _SHORTEST
        and any(Path(path).stem[at : at + 2].isalpha() for at in range(len(Path(path).stem) - 1))
    ]
    pairs = {mistyped(path[: -len(".md")], chance): path for path in chance.choices(fits, k=number)}
    text = "".join(f"- [[{link}]]\n" for link in pairs)
    (folder / _PLANTED).write_text(text, encoding="utf-8")
    yield from pairs.items()


def main() -> None:
    """Print the findings and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("banks", nargs="+", type=Path)
    parser.add_argument("--planted", type=int, default=200)
    options = parser.parse_args()
    for bank in options.banks:
        with tempfile.TemporaryDirectory() as temporary:
            copy = Path(shutil.copytree(bank, Path(temporary) / "notes", symlinks=True))
            before = found(copy)
            for one in before:
                print(f"{one.path}:{one.line} {one.message}")
            pairs = dict(planted(copy, options.planted, random.Random(bank.name)))
            after = [one for one in found(copy) if one.path == _PLANTED]
            right = sum(one.message.endswith(f" {pairs.get(one.words or '')}") for one in after)
        print(
            f"{bank}: {len(before)} found; of {len(pairs)} planted {right}, others {len(after) - right}"
        )


if __name__ == "__main__":
    main()
