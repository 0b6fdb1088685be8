"""Collections of notes with questions and the notes that answer them, read where they lie."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_bank.actions import collection

SHARED = Path(__file__).parents[3] / "shared" / "bench"

NAMES = ("sessions", "turns", "sessions-all", "turns-all", "scifact", "cosqa", "cacm")
"""What `of` knows: LoCoMo with a bank for each talk, or with all in one; three public collections."""
_SPLITS = {"scifact": "test"}


@dataclass(frozen=True)
class Question:
    """A question and the names of the notes that answer it, with their grades."""

    text: str
    relevant: Mapping[str, float]


@dataclass(frozen=True)
class Collection:
    """A folder of notes to open as a bank, and its questions."""

    name: str
    folder: Path
    questions: list[Question]


def of(name: str, work: Path) -> list[Collection]:
    """Return the banks of a named piece of work, unpacked into a folder."""
    kind, _, rest = name.partition("-")
    if kind in {"sessions", "turns"}:
        return list(locomo(kind, work, together=rest == "all"))
    return [beir(kind, _SPLITS.get(kind, "dev"), work)]


def locomo(kind: str, work: Path, *, together: bool = False) -> Iterator[Collection]:
    """Yield one bank for each LoCoMo conversation, or one for all; `kind` is sessions or turns.

    Category 5, questions without an answer, is left out.
    """
    root = _unpacked("locomo-dev", work) / "dev"
    asked = json.loads((root / "queries.json").read_text(encoding="utf-8"))
    asked = [entry for entry in asked if entry["category"] != 5 and entry[f"relevant_{kind}"]]
    conversations = sorted({entry["conversation"] for entry in asked})
    if together:
        folder = work / f"all-{kind}"
        if not folder.is_dir():
            for conversation in conversations:
                _copy(root / conversation / kind, folder / conversation)
        yield Collection(f"{kind}-all", folder, [_asked(e, kind) for e in asked])
        return
    for conversation in conversations:
        mine = [_asked(entry, kind) for entry in asked if entry["conversation"] == conversation]
        yield Collection(f"{kind} {conversation}", root / conversation / kind, mine)


def beir(name: str, split: str, work: Path) -> Collection:
    """Return a collection in BEIR's layout as a bank of one note a document.

    A document that is judged but not there keeps its own name, which no note has.
    """
    root = _unpacked(name, work) / name
    folder = work / f"{name}-notes"
    if not folder.is_dir():
        collection.write(root, folder)
    names = {item: Path(path).stem for item, path, _ in collection.documents(root)}
    questions = [
        Question(query.text, {names.get(item, item): grade for item, grade in query.find.items()})
        for query in collection.judged(root, split)
    ]
    return Collection(name, folder, questions)


def part(one: Collection, work: Path, *, questions: int, notes: int) -> Collection:
    """Return the first questions of a collection, among the notes they need and its first ones."""
    asked = one.questions[:questions]
    needed = {name for question in asked for name in question.relevant}
    folder = work / f"{one.name}-part"
    for number, file in enumerate(sorted(one.folder.rglob("*.md"))):
        if number < notes or file.stem in needed:
            folder.mkdir(exist_ok=True)
            (folder / file.name).write_bytes(file.read_bytes())
    return Collection(f"{one.name} part", folder, asked)


def _asked(entry: dict[str, object], kind: str) -> Question:
    names = entry[f"relevant_{kind}"]
    assert isinstance(names, list)
    return Question(str(entry["query"]), dict.fromkeys(names, 1))


def _copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for file in source.glob("*.md"):
        (target / file.name).write_bytes(file.read_bytes())


def _unpacked(name: str, work: Path) -> Path:
    if not SHARED.is_dir():
        raise SystemExit(f"no shared data at {SHARED}: nothing can be measured")
    folder = work / name
    if not folder.is_dir():
        with tarfile.open(SHARED / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return folder
