"""Make a bank of any size whose words are as rare and as frequent as those of real notes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

_SYLLABLES = "ba be bi bo ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro ta te ti to".split()
_VOCABULARY = 30_000
_TAGS = ["search", "storage", "index", "design", "bug", "plan", "api", "cli", "test", "docs"]


def make(folder: Path, notes: int, *, sections: int = 4, words: int = 90, seed: int = 1) -> int:
    """Write that many notes below a folder, linked to one another; return their bytes.

    Words follow Zipf's law (exponent 1.07, as in English); a note has a title, tags, and as many
    sections as asked for of about as many words.
    """
    rng = random.Random(seed)
    vocabulary = list(_words(random.Random(0)))
    weights = [1 / (rank + 2.7) ** 1.07 for rank in range(len(vocabulary))]
    stock = rng.choices(vocabulary, weights, k=2_000_000)
    place = total = 0
    for number in range(notes):
        if place + sections * words * 2 > len(stock):
            rng.shuffle(stock)
            place = 0
        text, place = _note(rng, stock, place, number, notes, sections, words)
        file = folder / f"area{number % 50}" / f"note-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        total += len(text.encode())
    return total


def questions(count: int, *, seed: int = 2) -> list[str]:
    """Return questions of three to six words, more of them rare than in running text."""
    rng = random.Random(seed)
    vocabulary = list(_words(random.Random(0)))
    return [
        " ".join(vocabulary[min(int(rng.paretovariate(0.35)), _VOCABULARY - 1)] for _ in range(rng.randint(3, 6)))
        for _ in range(count)
    ]


def _note(
    rng: random.Random, stock: list[str], place: int, number: int, notes: int, sections: int, words: int
) -> tuple[str, int]:
    title = " ".join(stock[place : place + 4]).capitalize()
    parts = [f"---\ntags: [{', '.join(rng.sample(_TAGS, 2))}]\ncreated_at: 2025-0{1 + number % 9}-01\n---\n# {title}\n"]
    place += 4
    for section in range(sections):
        size = rng.randint(words // 2, words * 3 // 2)
        sentence = " ".join(stock[place : place + size])
        place += size
        link = f" See [[note-{rng.randrange(notes)}]]." if rng.random() < 0.5 else ""
        parts.append(f"\n## {stock[place].capitalize()} {section}\n\n{sentence}.{link}\n")
    return "".join(parts), place


def _words(rng: random.Random) -> Iterator[str]:
    seen: set[str] = set()
    while len(seen) < _VOCABULARY:
        word = "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 4)))
        if word not in seen:
            seen.add(word)
            yield word
