"""Relevance judgements (qrels), and the metrics of retrieval; all from 0 to 1.

All take the names found, best first and each once, and the grades of the names to find: a grade
above 0 is relevant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log2
from pathlib import Path

from memory_bank.base import toml
from memory_bank.base.errors import BadInput

_KEYS = frozenset(["text", "find"])

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*queries[ \t]*\]\]")

_SHAPE = 'a query has `text = "…"` and `find = ["note", "note#heading", "note:line"]`'


@dataclass(frozen=True, slots=True)
class Qrels:
    """A query and its relevance judgements: names of notes or sections with grades above 0."""

    text: str
    find: Mapping[str, float]
    place: str = ""
    """Its place, as `file:line`."""
    lines: Sequence[str] = ()
    """Its lines in the file, to find the places of names."""

    def place_of(self, name: str) -> str:
        """Return the place of a name in the query; the query's place if it is not found."""
        file, _, first = self.place.rpartition(":")
        for number, line in enumerate(self.lines):
            if json.dumps(name, ensure_ascii=False) in line or f"'{name}'" in line:
                return f"{file}:{int(first) + number}"
        return self.place


def read(file: Path) -> list[Qrels]:
    """Return the queries of a TOML or JSON lines file; raise BadInput naming file and line."""
    text = text_of(file)
    if file.suffix.lower() == ".toml":
        return parse(text, str(file))
    return _some(list(_jsonl(file, text)), str(file))


def parse(text: str, name: str) -> list[Qrels]:
    """Return the queries of a TOML text; raise BadInput naming the file `name` and the line."""
    return _some(list(_toml(name, text)), name)


def _some(found: list[Qrels], name: str) -> list[Qrels]:
    if not found:
        raise BadInput(f"{name}: the file has no query", _SHAPE)
    return found


def text_of(file: Path) -> str:
    """Return a file's text; raise BadInput if it can't be read or is not UTF-8."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}", "name a file that can be read") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: is not UTF-8", "save it as UTF-8") from error


def objects(file: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield each object of a JSON lines file with its `file:line`; raise BadInput."""
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{file}:{number}"
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{place}: is not JSON: {error}", "write one object per line") from error
        if not isinstance(entry, dict):
            raise BadInput(f"{place}: is not a JSON object", "write one object per line")
        yield place, entry


def _jsonl(file: Path, text: str) -> Iterator[Qrels]:
    lines = text.split("\n")
    for place, entry in objects(file):
        number = int(place.rpartition(":")[2])
        yield _qrels(entry, place, lines[number - 1 : number])


def _toml(file: str, text: str) -> Iterator[Qrels]:
    try:
        entries = toml.loads(text)
    except ValueError as error:
        raise BadInput(f"{file}: {error}", _SHAPE) from error
    queries = entries.pop("queries", [])
    if entries:
        raise BadInput(
            f"{file}: unknown key {min(entries)!r}", "write queries as [[queries]] tables"
        )
    if not isinstance(queries, list) or not all(isinstance(entry, dict) for entry in queries):
        raise BadInput(f"{file}: `queries` is not a list of tables", "write [[queries]] tables")
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _HEADER.match(line)]
    blocks = [(start, lines[start:end]) for start, end in pairwise([*starts, len(lines)])]
    if len(blocks) != len(queries):  # inline tables: the parser gives no line numbers
        blocks = [(0, lines)] * len(queries)
    for entry, (start, block) in zip(queries, blocks, strict=True):
        yield _qrels(entry, f"{file}:{start + 1}", block)


def _qrels(entry: Mapping[str, object], place: str, lines: Sequence[str]) -> Qrels:
    unknown = sorted(entry.keys() - _KEYS)
    if unknown:
        raise BadInput(f"{place}: unknown key {unknown[0]!r}", _SHAPE)
    text = entry.get("text")
    if not isinstance(text, str) or not text.strip():
        raise BadInput(f"{place}: the query has no text", _SHAPE)
    return Qrels(text, _grades(entry.get("find"), place), place, lines)


def _grades(find: object, place: str) -> dict[str, float]:
    if isinstance(find, str):
        find = [find]
    if isinstance(find, list):
        find = dict.fromkeys(map(str, find), 1)
    if not isinstance(find, dict) or not find:
        raise BadInput(f"{place}: the query names no relevant note", _SHAPE)
    for name, grade in find.items():
        if isinstance(grade, bool) or not isinstance(grade, int | float) or not 0 < grade < inf:
            raise BadInput(f"{place}: the grade of {name!r} is not a number above 0", _SHAPE)
    return {str(name): float(grade) for name, grade in find.items()}


Grades = Mapping[str, float]

NAMES = ("recall@1", "recall@5", "recall@10", "ndcg@10", "mrr")
"""The metrics that `measure` returns, in this order."""


def recall_at(found: Sequence[str], grades: Grades, k: int) -> float:
    """Return |relevant among the first k| / |relevant| (Manning et al. 2008, section 8.3)."""
    relevant = _relevant(grades)
    return len(relevant.intersection(found[:k])) / len(relevant) if relevant else 0.0


def ndcg_at(found: Sequence[str], grades: Grades, k: int) -> float:
    """Return DCG@k / the best possible DCG@k, with DCG@k = sum of grade_i / log2(i + 1), i from 1.

    Järvelin and Kekäläinen 2002 with the discount from the first rank on, gain = grade, as in
    trec_eval's ndcg_cut and BEIR.
    """
    ideal = _dcg(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k])
    return _dcg([max(grades.get(name, 0.0), 0.0) for name in found[:k]]) / ideal if ideal else 0.0


def reciprocal_rank(found: Sequence[str], grades: Grades) -> float:
    """Return 1 / the rank of the first relevant name, 0 when there is none (Voorhees 1999)."""
    relevant = _relevant(grades)
    return next((1 / rank for rank, name in enumerate(found, 1) if name in relevant), 0.0)


def measure(found: Sequence[str], grades: Grades) -> dict[str, float]:
    """Return every metric of one answer."""
    values = (
        *(recall_at(found, grades, k) for k in (1, 5, 10)),
        ndcg_at(found, grades, 10),
        reciprocal_rank(found, grades),
    )
    return dict(zip(NAMES, values, strict=True))


def mean(answers: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the unweighted mean of each metric over answers."""
    names = answers[0] if answers else dict.fromkeys(NAMES)
    return {name: sum(one[name] for one in answers) / max(len(answers), 1) for name in names}


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _relevant(grades: Grades) -> set[str]:
    return {name for name, grade in grades.items() if grade > 0}
