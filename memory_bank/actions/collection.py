"""A collection as BEIR lays it out (Thakur et al. 2021), made into a bank for as long as needed.

A folder with `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and
`qrels/SPLIT.tsv`, or `qrels_SPLIT.tsv`: query, document, grade; a first line may be a heading.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path

from memory_bank.actions.judged import Judged, objects, text_of
from memory_bank.bank import Bank, open_bank
from memory_bank.errors import BadInput

_PARTS = ("corpus.jsonl", "queries.jsonl")
_SPLITS = ("test", "dev")
"""Which judgements are taken when several are there and none is asked for."""
_A_FOLDER = 1000
_COLUMNS = 3


@contextmanager
def as_bank(
    folder: Path, *, settings: Mapping[str, object] | None = None
) -> Iterator[tuple[Bank, dict[str, str]]]:
    """Make a bank of a collection in a temporary folder, and remove it in the end.

    Yields the bank and what maps documents' ids to notes' paths. Raises BadInput for a folder that
    is no collection.
    """
    with tempfile.TemporaryDirectory(prefix="memory-bank-eval-") as place:
        names = write(folder, Path(place))
        with open_bank(place, settings=settings) as bank:
            try:
                yield bank, names
            finally:
                bank.layout.forget_index()


def write(folder: Path, target: Path) -> dict[str, str]:
    """Write a note for each document; map the documents' ids to the notes' paths."""
    names: dict[str, str] = {}
    for item, path, text in documents(folder):
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode(errors="replace"))  # JSON may hold half a character
        names[item] = path
    return names


def documents(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each document's id, its note's path and text.

    Files are named by number: an id may be anything.
    """
    for number, (place, entry) in enumerate(objects(folder / _PARTS[0])):
        title = str(entry.get("title") or "")
        head = f"title: {json.dumps(title, ensure_ascii=False)}\n" if title else ""
        text = f"---\n{head}---\n{entry.get('text') or ''}\n"
        yield _id(entry, place), f"{number // _A_FOLDER:03}/{number:06}.md", text


def judged(folder: Path, split: str = "") -> list[Judged]:
    """Return the queries that have judgements, with ids of documents; raise BadInput."""
    for part in _PARTS:
        if not (folder / part).is_file():
            raise BadInput(f"{folder}: there is no {part}", "name a folder as BEIR has them")
    texts = {_id(entry, place): str(entry.get("text", "")) for place, entry in _queries(folder)}
    grades: dict[str, dict[str, float]] = {}
    places: dict[str, str] = {}
    for place, query, document, grade in _rows(_judgements(folder, split)):
        if query not in texts:
            raise BadInput(f"{place}: there is no query {query!r}", f"see {folder / _PARTS[1]}")
        if grade > 0:
            grades.setdefault(query, {})[document] = grade
            places.setdefault(query, place)
    return [Judged(texts[query], found, places[query]) for query, found in grades.items()]


def _queries(folder: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    return objects(folder / _PARTS[1])


def _judgements(folder: Path, split: str) -> Path:
    """Choose a file of judgements: the split's, else test's, dev's, or the only one."""
    files = (*(folder / "qrels").glob("*.tsv"), *folder.glob("qrels_*.tsv"))
    found = {file.stem.removeprefix("qrels_"): file for file in sorted(files)}
    if not found:
        raise BadInput(f"{folder}: there is no qrels/*.tsv", "name a folder as BEIR has them")
    known = ", ".join(found)
    if split:
        if split not in found:
            raise BadInput(f"{folder}: there is no split {split!r}", f"choose one of: {known}")
        return found[split]
    usual = next((name for name in _SPLITS if name in found), None)
    if usual is None and len(found) > 1:
        raise BadInput(f"{folder} has several splits", f"choose one of: {known}")
    return found[usual or next(iter(found))]


def _rows(file: Path) -> Iterator[tuple[str, str, str, float]]:
    for number, line in enumerate(text_of(file).split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        place = f"{file}:{number}"
        if not line.strip() or (number == 1 and not _is_number(cells[-1])):
            continue
        if len(cells) != _COLUMNS or not _is_number(cells[-1]):
            raise BadInput(f"{place}: is not query, document, grade", "separate them by tabs")
        yield place, cells[0], cells[1], float(cells[2])


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _id(entry: Mapping[str, object], place: str) -> str:
    if "_id" not in entry:
        raise BadInput(f"{place}: has no `_id`", "name a folder as BEIR has them")
    return str(entry["_id"])
