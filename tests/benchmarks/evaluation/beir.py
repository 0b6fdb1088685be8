"""A test collection as BEIR lays it out (Thakur et al. 2021).

A folder with `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and
`qrels/SPLIT.tsv`, or `qrels_SPLIT.tsv`: query, document, grade; a first line may be a heading.
"""

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path

from memory_bank.base.errors import BadInput
from tests.benchmarks.evaluation.measures import Qrels, objects, text_of
from tests.benchmarks.evaluation.source import Text

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
_SPLITS = ("test", "dev")
"""Which judgements are taken when several are there and none is asked for."""
_COLUMNS = 3


def documents(folder: Path) -> Iterator[Text]:
    """Yield the documents; raise BadInput naming file and line."""
    for place, entry in objects(_file(folder, CORPUS)):
        title, body = (_whole(str(entry.get(key) or "")) for key in ("title", "text"))
        yield Text(_id(entry, place), title, body)


def qrels(folder: Path, split: str = "") -> list[Qrels]:
    """Return the queries that have judgements, with ids of documents; raise BadInput.

    `split` names the judgements: of several, `test` is taken, else `dev`.
    """
    queries = _file(folder, QUERIES)
    texts = {_id(entry, place): str(entry.get("text", "")) for place, entry in objects(queries)}
    grades: dict[str, dict[str, float]] = {}
    for place, query, document, grade in _rows(_judgements(folder, split)):
        if query not in texts:
            raise BadInput(f"{place}: there is no query {query!r}", f"see {queries}")
        if grade > 0:
            grades.setdefault(query, {})[document] = grade
    return [Qrels(_whole(texts[query]), found) for query, found in grades.items()]


def _file(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise BadInput(f"{folder}: there is no {name}", "name a folder as BEIR has them")
    return folder / name


def _judgements(folder: Path, split: str) -> Path:
    """Choose a file of judgements: the split's, else test's, dev's, or the only one."""
    files = (*(folder / "qrels").glob("*.tsv"), *folder.glob("qrels_*.tsv"))
    found = {file.stem.removeprefix("qrels_"): file for file in sorted(files)}
    if not found:
        raise BadInput(f"{folder}: there is no qrels/*.tsv", "name a folder as BEIR has them")
    usual = split or next((name for name in _SPLITS if name in found), "")
    if not usual and len(found) == 1:
        usual = next(iter(found))
    if usual not in found:
        problem = f"there is no split {split!r}" if split else "there are several splits"
        raise BadInput(f"{folder}: {problem}", f"choose one of: {', '.join(found)}")
    return found[usual]


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


def _whole(text: str) -> str:
    """Return a text that can be written: JSON may hold half a character."""
    return text.encode(errors="replace").decode()
