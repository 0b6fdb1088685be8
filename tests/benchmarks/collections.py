"""Collections of notes with questions and the notes that answer them, read where they lie."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SHARED = Path(__file__).parents[3] / "shared" / "bench"


@dataclass(frozen=True)
class Question:
    """A question and the names of the notes that answer it, with their grades."""

    text: str
    relevant: Mapping[str, int]


@dataclass(frozen=True)
class Collection:
    """A folder of notes to open as a bank, and its questions."""

    name: str
    folder: Path
    questions: list[Question]


def locomo(kind: str, work: Path, *, together: bool = False) -> Iterator[Collection]:
    """Yield one bank for each LoCoMo conversation, or one for all; `kind` is sessions or turns."""
    root = _unpacked("locomo-dev", work) / "dev"
    asked = json.loads((root / "queries.json").read_text(encoding="utf-8"))
    asked = [entry for entry in asked if entry["category"] != 5 and entry[f"relevant_{kind}"]]
    conversations = sorted({entry["conversation"] for entry in asked})
    if together:
        folder = work / f"all-{kind}"
        for conversation in conversations:
            _copy(root / conversation / kind, folder / conversation)
        yield Collection(f"locomo {kind}, all in one", folder, [_asked(e, kind) for e in asked])
        return
    for conversation in conversations:
        mine = [_asked(entry, kind) for entry in asked if entry["conversation"] == conversation]
        yield Collection(f"locomo {kind}", root / conversation / kind, mine)


def beir(name: str, split: str, work: Path) -> Collection:
    """Return a collection in BEIR's layout as a bank of one note a document."""
    root = _unpacked(name, work) / name
    folder = work / f"{name}-notes"
    if not folder.is_dir():
        for line in (root / "corpus.jsonl").read_text(encoding="utf-8").split("\n"):
            if line:
                _note(folder, json.loads(line))
    texts = {}
    for line in (root / "queries.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            entry = json.loads(line)
            texts[entry["_id"]] = entry["text"]
    relevant: dict[str, dict[str, int]] = {}
    for row in (root / f"qrels_{split}.tsv").read_text(encoding="utf-8").split("\n")[1:]:
        if row:
            query, document, grade = row.split("\t")
            if int(grade) > 0:
                relevant.setdefault(query, {})[document] = int(grade)
    questions = [Question(texts[query], grades) for query, grades in relevant.items()]
    return Collection(f"{name} {split}", folder, questions)


def _asked(entry: dict[str, object], kind: str) -> Question:
    names = entry[f"relevant_{kind}"]
    assert isinstance(names, list)
    return Question(str(entry["query"]), dict.fromkeys(names, 1))


def _note(folder: Path, document: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    title = f"title: {json.dumps(document['title'])}\n" if document["title"] else ""
    text = f"---\nid: {json.dumps(document['_id'])}\n{title}---\n{document['text']}\n"
    (folder / f"{document['_id']}.md").write_text(text, encoding="utf-8")


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
