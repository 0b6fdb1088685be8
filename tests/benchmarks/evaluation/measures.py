"""Relevance judgements (qrels), and the metrics of retrieval; all from 0 to 1.

All take the names found, best first and each once, and the grades of the names to find: a grade
above 0 is relevant. NDCG takes the grade as gain, as trec_eval and BEIR do, not 2^grade - 1, so that
figures are comparable with published ones.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

from memory_bank.base.errors import BadInput


@dataclass(frozen=True, slots=True)
class Qrels:
    """A query and its relevance judgements: names of documents with grades above 0."""

    text: str
    find: Mapping[str, float]


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
