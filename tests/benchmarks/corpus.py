"""Make a bank of any size whose words are as rare and as frequent as those of real notes."""

import random
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

_SYLLABLES = [first + second for first in "bklmnrtv" for second in "aeio"]
_VOCABULARY = 30_000
_STOCK = 500_000
_TAGS = ["search", "storage", "index", "design", "bug", "plan", "api", "cli", "test", "docs"]
_SECTIONS = 4


def make(folder: Path, notes: int, *, words: int = 90, seed: int = 1) -> int:
    """Write that many notes below a folder, linked to one another; return their bytes.

    Words follow Zipf's law (exponent 1.07, as in English). A note has a title, two tags and four
    sections of about as many words as asked for.
    """
    rng = random.Random(seed)
    stock = words_of(rng)
    total = 0
    for number in range(notes):
        text = _note(rng, stock, number, rng.randrange(notes), words)
        file = folder / f"area{number % 50}" / f"note-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        total += len(text.encode())
    return total


def words_of(rng: random.Random) -> Iterator[str]:
    """Return words without end, as rare and as frequent as in English."""
    weights = [1 / (rank + 2.7) ** 1.07 for rank in range(_VOCABULARY)]
    return cycle(rng.choices(_vocabulary(), weights, k=_STOCK))


def questions(count: int, *, seed: int = 2) -> list[str]:
    """Return questions of three to six words, more of them rare than in running text."""
    rng = random.Random(seed)
    vocabulary = _vocabulary()

    def word() -> str:
        return vocabulary[min(int(rng.paretovariate(0.35)), _VOCABULARY - 1)]

    return [" ".join(word() for _ in range(rng.randint(3, 6))) for _ in range(count)]


def _note(rng: random.Random, stock: Iterator[str], number: int, linked: int, words: int) -> str:
    tags = ", ".join(rng.sample(_TAGS, 2))
    dated = f"created_at: 2025-0{1 + number % 9}-01"
    title = " ".join(islice(stock, 4)).capitalize()
    parts = [f"---\ntags: [{tags}]\n{dated}\n---\n# {title}\n"]
    for section in range(_SECTIONS):
        heading = next(stock).capitalize()
        sentence = " ".join(islice(stock, rng.randint(words // 2, words * 3 // 2)))
        link = f" See [[note-{linked}]]." if section == 0 else ""
        parts.append(f"\n## {heading} {section}\n\n{sentence}.{link}\n")
    return "".join(parts)


def _vocabulary() -> list[str]:
    rng = random.Random(0)
    seen: dict[str, None] = {}
    while len(seen) < _VOCABULARY:
        seen["".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 4)))] = None
    return list(seen)
