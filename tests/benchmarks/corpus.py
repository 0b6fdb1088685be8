"""Make a bank of any size whose words are as rare and as frequent as those of real notes."""

import json
import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle, islice
from pathlib import Path

_SYLLABLES = [first + second for first in "bklmnrtv" for second in "aeio"]
_VOCABULARY = 30_000
_STOCK = 500_000
_TAGS = ["search", "storage", "index", "design", "bug", "plan", "api", "cli", "test", "docs"]
_SECTIONS = 4
_FUNCTIONS = 6
"""In a file of code."""
JSON_SIZES = {5_000: "osprey", 270_000: "kestrel"}
"""Characters of notes of JSON, and a word that only each of them has."""

Code = tuple[str, str]
"""The path of a file and the name of a function in it."""


def make(
    folder: Path, notes: int, *, words: int = 90, seed: int = 1, code: Sequence[Code] = ()
) -> int:
    """Write that many notes below a folder, linked to one another; return their bytes.

    Words follow Zipf's law (exponent 1.07, as in English). A note has a title, two tags and four
    sections of about as many words as asked for, and cites some of the code.
    """
    rng = random.Random(seed)
    stock = words_of(rng)
    total = 0
    for number in range(notes):
        text = _note(rng, stock, number, rng.randrange(notes), words)
        if code:
            text = _citing(rng, text, code)
        file = folder / f"area{number % 50}" / f"note-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        total += len(text.encode())
    return total


def make_json(folder: Path) -> None:
    """Write notes that are one block of JSON, as exports and logs are."""
    stock = words_of(random.Random(3))
    for size, word in JSON_SIZES.items():
        rows: list[dict[str, object]] = []
        length = 0
        while length < size:
            rows.append({"id": len(rows), "name": next(stock), "text": " ".join(islice(stock, 9))})
            length += len(json.dumps(rows[-1], indent=1))
        text = f"# Data of the {word}\n\n```json\n{json.dumps(rows, indent=1)}\n```\n"
        (folder / f"{word}.md").write_text(text, encoding="utf-8")


def make_code(project: Path, files: int, *, seed: int = 1) -> list[Code]:
    """Write files of code below `src`; with another seed, half of the functions are others."""
    rng, code = random.Random(seed), []
    for number in range(files):
        roots = _vocabulary()[number * _FUNCTIONS : (number + 1) * _FUNCTIONS]
        names = [f"{root}_{seed if order % 2 else 1}_value" for order, root in enumerate(roots)]
        path = f"src/part{number % 12}/module{number}.py"
        text = "\n\n".join(
            f"def {name}(value):\n    return value + {rng.randrange(100)}\n" for name in names
        )
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
        code += [(path, name) for name in names]
    return code


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


def _citing(rng: random.Random, text: str, code: Sequence[Code]) -> str:
    """Return a note that cites a file and a function: in its front matter, by links, or neither."""
    (path, _), (linked, name), (_, alone) = rng.choices(code, k=3)
    head = f"---\nfile_refs: [{path}]\nsymbol_refs: [{alone}]\n"
    return (
        text.replace("---\n", head, 1),
        f"{text}\nSee [[{path}]], and [[{linked}#{name}]] does it.\n",
        f"{text}\n`{name}()` in `{linked}` does it.\n",
        text,
    )[rng.randrange(4)]


@cache
def _vocabulary() -> list[str]:
    rng = random.Random(0)
    seen: dict[str, None] = {}
    while len(seen) < _VOCABULARY:
        seen["".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 4)))] = None
    return list(seen)
