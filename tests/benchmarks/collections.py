"""Test collections: documents, questions, and the documents that answer them.

Documents are notes, read where they lie, or those of a public collection.
"""

import json
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.settings import load
from memory_bank.memory.retrieval.recall import recall
from tests.benchmarks.evaluation import beir
from tests.benchmarks.evaluation.source import Search, Text, searching

SHARED = Path(__file__).parents[3] / "shared" / "bench"

NAMES = ("sessions", "sessions-all", "scifact", "cosqa", "cacm")
"""What `of` knows: LoCoMo with a bank for each talk, or with all in one; three public collections."""
HELP = f"{', '.join(NAMES)}, or a folder as BEIR has them"
SPLIT_HELP = "which judgements of a folder as BEIR has them; default: test, else dev"
_SPLITS = {"scifact": "test"}
_FRONT = re.compile(r"\A---\n(.*?)^---\n", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'^title: "?(.*?)"?$', re.MULTILINE)


@dataclass(frozen=True)
class Question:
    """A question and the names of the documents that answer it, with their grades."""

    text: str
    relevant: Mapping[str, float]


class Collection(Protocol):
    """Documents and questions."""

    @property
    def name(self) -> str: ...

    @property
    def questions(self) -> Sequence[Question]: ...

    def documents(self) -> Iterator[Text]:
        """Yield the documents."""

    def files(self, work: Path) -> Path:
        """Return a folder with a file for each document, for programs that search files."""

    def searched(self, settings: Mapping[str, object]) -> AbstractContextManager[Search]:
        """Index the documents, and search them as the product does."""


@dataclass(frozen=True)
class Notes:
    """A folder of notes to open as a bank; a note is named as its file."""

    name: str
    questions: Sequence[Question]
    folder: Path

    def documents(self) -> Iterator[Text]:
        for file in sorted(self.folder.rglob("*.md")):
            if ".index" in file.parts:
                continue
            text = file.read_text(encoding="utf-8")
            front = _FRONT.match(text)
            title = _TITLE.search(front[1]) if front else None
            body = text[front.end() if front else 0 :]
            yield Text(file.stem, title[1] if title else "", body)

    def files(self, work: Path) -> Path:
        return self.folder

    @contextmanager
    def searched(self, settings: Mapping[str, object]) -> Iterator[Search]:
        with open_bank(self.folder, settings=settings) as bank:
            bank.sync()
            yield partial(_names, bank)


@dataclass(frozen=True)
class Documents:
    """Documents to index as they are."""

    name: str
    questions: Sequence[Question]
    texts: Sequence[Text]
    place: Path
    """Where their index is kept."""

    def documents(self) -> Iterator[Text]:
        return iter(self.texts)

    def files(self, work: Path) -> Path:
        folder = work / "files" / self.name
        if not folder.is_dir():
            folder.mkdir(parents=True)
            for one in self.texts:
                file = folder / f"{quote(one.name, safe='')}.md"
                file.write_text(f"{one.title}\n{one.body}\n", encoding="utf-8")
        return folder

    def searched(self, settings: Mapping[str, object]) -> AbstractContextManager[Search]:
        return searching(self.texts, self.place, load(flags=settings))


def of(name: str, work: Path, split: str = "") -> Sequence[Collection]:
    """Return the collections of a named piece of work, unpacked into a folder."""
    kind, _, rest = name.partition("-")
    if kind == "sessions":
        return list(locomo(kind, work, together=rest == "all"))
    if name in NAMES:
        return [public(unpacked(name, work) / name, _SPLITS.get(name, "dev"), work)]
    return [public(Path(name).resolve(), split, work)]


def locomo(kind: str, work: Path, *, together: bool = False) -> Iterator[Notes]:
    """Yield one bank for each LoCoMo conversation, or one for all; `kind` is sessions or turns.

    Category 5, questions without an answer, is left out.
    """
    root = unpacked("locomo-dev", work) / "dev"
    asked = json.loads((root / "queries.json").read_text(encoding="utf-8"))
    asked = [entry for entry in asked if entry["category"] != 5 and entry[f"relevant_{kind}"]]
    conversations = sorted({entry["conversation"] for entry in asked})
    if together:
        folder = work / f"all-{kind}"
        if not folder.is_dir():
            for conversation in conversations:
                _copy(root / conversation / kind, folder / conversation)
        yield Notes(f"{kind}-all", [_asked(e, kind) for e in asked], folder)
        return
    for conversation in conversations:
        mine = [_asked(entry, kind) for entry in asked if entry["conversation"] == conversation]
        yield Notes(f"{kind} {conversation}", mine, root / conversation / kind)


def public(root: Path, split: str, work: Path) -> Documents:
    """Return a test collection in BEIR's layout.

    A document that is judged but not there counts as not found.
    """
    questions = [Question(one.text, one.find) for one in beir.qrels(root, split)]
    texts = list(beir.documents(root))
    return Documents(root.name, questions, texts, work / f"{root.name}-index")


def part(one: Documents, *, questions: int, documents: int) -> Documents:
    """Return the first questions of a collection, among the documents they need and its first."""
    asked = one.questions[:questions]
    needed = {name for question in asked for name in question.relevant}
    texts = [
        text for number, text in enumerate(one.texts) if number < documents or text.name in needed
    ]
    place = one.place.with_name(f"{one.place.name}-part")
    return replace(one, name=f"{one.name} part", questions=asked, texts=texts, place=place)


def _names(bank: Bank, text: str, mode: str, limit: int) -> list[str]:
    answered = recall(bank, text, limit, mode, count_access=False)
    assert answered.mode_used == mode, answered.fallback_reason
    return [Path(note.path).stem for note in answered.notes]


def _asked(entry: dict[str, object], kind: str) -> Question:
    names = entry[f"relevant_{kind}"]
    assert isinstance(names, list)
    return Question(str(entry["query"]), dict.fromkeys(names, 1))


def _copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for file in source.glob("*.md"):
        (target / file.name).write_bytes(file.read_bytes())


def unpacked(name: str, work: Path) -> Path:
    """Unpack an archive of the shared data below a folder, unless that was done; return where."""
    if not SHARED.is_dir():
        raise SystemExit(f"no shared data at {SHARED}: nothing can be measured")
    folder = work / name
    if not folder.is_dir():
        with tarfile.open(SHARED / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return folder
