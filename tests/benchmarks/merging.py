"""Count conflicts of merges of notes, by git alone and with the driver.

    python -m tests.benchmarks.merging [--histories 300] [--seed 1]

Each history is a bank of notes with changes of two branches as tools and people make them; all notes
that both changed are merged by `git merge-file`, which is what git does without a driver, and by the
driver.
"""

import argparse
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memory_bank.memory import change
from memory_bank.memory.change import replace_section, set_keys
from memory_bank.notes import front_matter
from memory_bank.notes.identity import note_id
from memory_bank.notes.merging import note_merge
from memory_bank.notes.schema import read_meta

WORDS = [
    "index", "query", "merge", "branch", "server", "port", "retry", "cache", "token", "note",
    "link", "section", "parser", "commit", "build", "test", "deploy", "release", "queue",
    "worker", "schema", "table", "vector", "keyword", "timeout", "lock", "thread", "file",
    "path",
]  # fmt: skip
SUBJECTS = [f"{a} {b}" for a in WORDS[:12] for b in WORDS[12:24]]
START = datetime(2026, 11, 1, tzinfo=UTC)
Change = Callable[[random.Random, str], str]


def sentence(rng: random.Random) -> str:
    words = rng.choices(WORDS, k=rng.randint(5, 12))
    return f"{' '.join(words).capitalize()}."


def paragraph(rng: random.Random) -> str:
    lines = [sentence(rng) for _ in range(rng.randint(1, 3))]
    return "\n".join(lines if rng.random() < 0.5 else [" ".join(lines)])


def items(rng: random.Random) -> str:
    return "\n".join(f"- {sentence(rng)}" for _ in range(rng.randint(2, 5)))


def note(rng: random.Random) -> str:
    """Return a note as `remember` or a person writes it: one in five is only a paragraph."""
    body = f"# {rng.choice(SUBJECTS).title()}\n\n{paragraph(rng)}\n"
    if rng.random() < 0.8:
        for title in rng.sample(["Why", "Rules", "Open points", "History"], k=rng.randint(1, 4)):
            body += f"\n## {title}\n\n{rng.choice([paragraph, items])(rng)}\n"
    created = START + timedelta(minutes=rng.randint(0, 9999))
    keys = {
        "id": note_id(body, created), "type": "fact", "tags": rng.sample(WORDS, k=rng.randint(0, 3)),
        "created_at": created, "source_type": "agent",
    }  # fmt: skip
    return front_matter.compose_text({key: value for key, value in keys.items() if value}, body)


def append(rng: random.Random, text: str) -> str:
    return f"{text}\n{rng.choice([paragraph, items])(rng)}\n"


def extend_section(rng: random.Random, text: str) -> str:
    """Add a text at the end of one section, as `edit --section` with the old text and more."""
    heads = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    if not heads:
        return append(rng, text)
    head = rng.choice(heads)
    old = text.split(f"## {head}\n\n", 1)[1].split("\n\n## ", 1)[0].strip("\n")
    new = f"\n- {sentence(rng)}" if old.startswith("- ") else f"\n\n{paragraph(rng)}"
    return replace_section(text, head, old + new)


def edit_line(rng: random.Random, text: str) -> str:
    """Change words of one line of the text, as a person does in an editor."""
    parts = front_matter.split(text)
    lines = parts.body.split("\n")
    places = [number for number, line in enumerate(lines) if line and not line.startswith("#")]
    number = rng.choice(places)
    words = lines[number].split(" ")
    words[rng.randrange(1, len(words))] = rng.choice(WORDS) + "-new"
    lines[number] = " ".join(words)
    return parts.opening + parts.block + parts.closing + "\n".join(lines)


def tag(rng: random.Random, text: str) -> str:
    raw, _ = front_matter.read_metadata(front_matter.split(text))
    tags = [*read_meta(raw)[0].tags]
    return set_keys(
        text, {"tags": [*tags, rng.choice([word for word in WORDS if word not in tags])]}
    )


def refer(rng: random.Random, text: str) -> str:
    raw, _ = front_matter.read_metadata(front_matter.split(text))
    known = [*read_meta(raw)[0].file_refs]
    return set_keys(
        text, {"file_refs": [*known, f"src/{rng.choice(WORDS)}{rng.randint(1, 99)}.py"]}
    )


def archive(rng: random.Random, text: str) -> str:
    return change.archive_text(text)


def add_section(rng: random.Random, text: str) -> str:
    return f"{text}\n## {sentence(rng)[:20].strip('.')}\n\n{paragraph(rng)}\n"


def rewrite(rng: random.Random, text: str) -> str:
    parts = front_matter.split(text)
    body = f"# {rng.choice(SUBJECTS).title()}\n\n{paragraph(rng)}\n"
    return parts.opening + parts.block + parts.closing + body


CHANGES: dict[str, tuple[Change, int]] = {
    "append": (append, 6), "extend a section": (extend_section, 5), "edit a line": (edit_line, 5),
    "add a tag": (tag, 4), "add a reference": (refer, 2), "archive": (archive, 1),
    "add a section": (add_section, 2), "rewrite": (rewrite, 1),
}  # fmt: skip


class Pair(NamedTuple):
    """One note that both branches changed."""

    base: str
    ours: str
    theirs: str


def pairs(rng: random.Random, histories: int) -> Iterator[Pair]:
    """Yield notes that two branches changed, one or two times each."""
    names = list(CHANGES)
    weights = [CHANGES[name][1] for name in names]
    for _ in range(histories):
        base = note(rng)
        sides = []
        for _ in range(2):
            text = base
            for name in rng.choices(names, weights, k=rng.randint(1, 2)):
                text = CHANGES[name][0](rng, text)
            sides.append(text)
        yield Pair(base, *sides)


def by_git(folder: Path, pair: Pair) -> bool:
    """Tell whether git merges the lines without a conflict."""
    for name, text in zip("obt", pair, strict=True):
        (folder / name).write_text(text)
    words = ["git", "merge-file", "-p", *(str(folder / name) for name in "bot")]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def by_driver(pair: Pair) -> bool:
    return note_merge.merge(*(text.encode() for text in pair)).conflicts == 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = list(pairs(rng, asked.histories))
        git = [by_git(folder, pair) for pair in made]
        start = time.perf_counter()
        ours = [by_driver(pair) for pair in made]
        took = time.perf_counter() - start
        print(f"{len(made)} notes that both branches changed: conflicts by git {git.count(False)},")
        print(f"by the driver {ours.count(False)}; {1000 * took / len(made):.1f} ms a note")
        print("only by the driver:", sum(a and not b for a, b in zip(git, ours, strict=True)))


if __name__ == "__main__":
    main()
