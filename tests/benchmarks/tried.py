"""Ingredients that were tried and left out, so that the ablation can show what each would bring."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from memory_bank.embedders._vectors import unpacked
from memory_bank.manifest import lookup
from memory_bank.retrievers.base import Question, Scope
from memory_bank.retrievers.keyword import KeywordIndex
from memory_bank.retrievers.vectors import VectorIndex
from memory_bank.search import boosts
from memory_bank.search.engine import Engine

_FIRST, _MOVED = 3, 0.5
"""Passages that the question is moved towards, and how far, its own vector having 1."""
_DATED, _DAYS = 1.2, 14
"""What a note of a date in the question is multiplied with, and how many days later it may be."""
_LINKED = 0.2
"""The share of its best linked note's score that a note gains."""

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_DATE = re.compile(
    rf"(?:(\d\d?)(?:st|nd|rd|th)? (?:of )?)?\b({'|'.join(_MONTHS)})\b(?: (\d\d?)\b)?(?:,? (\d{{4}}))?",
    re.IGNORECASE,
)

_nearest = VectorIndex._nearest
_search = Engine.search
_boost = Engine._boost
_most = boosts.most
_find = KeywordIndex.find
_asked = [Question("")]


def nearest_fed_back(index: VectorIndex, base: Any, vector: Any, limit: int) -> Any:
    """Find what is near to the question and to the first passages found (Rocchio's feedback)."""
    keys, _ = _nearest(index, base, vector, _FIRST)
    matrix = index._load_matrix(base)
    rows = []
    for key in keys.tolist():
        sql = "SELECT slot, vector FROM vectors WHERE key = ?"
        slot, blob = base.execute(sql, (key,)).fetchone()
        kept = matrix is not None and slot is not None
        rows.append(matrix.at(np.array([slot]))[0] if kept else np.frombuffer(blob, np.int8))
    if rows:
        vector = vector + _MOVED * np.mean(unpacked(np.array(rows)), axis=0)
        vector = vector / np.linalg.norm(vector)
    return _nearest(index, base, vector, limit)


def search_keeping_text(engine: Engine, question: Any, *rest: Any, **options: Any) -> Any:
    """Search, and let the boosts know what was asked."""
    engine.asked = question.text  # type: ignore[attr-defined]
    return _search(engine, question, *rest, **options)


def boost_by_date(engine: Engine, groups: Mapping[int, Any], now: float) -> None:
    """Lift the notes that were created at a date that the question names, or soon after."""
    _boost(engine, groups, now)
    dates = {
        number: datetime.fromtimestamp(created, UTC).date()
        for number, (created, _) in lookup.dates(engine._base, groups.keys()).items()
    }
    years = {found.year for found in dates.values()}
    spans = list(_spans(engine.asked, years))  # type: ignore[attr-defined]
    for number, found in dates.items():
        if any(first <= found <= last + timedelta(_DAYS) for first, last in spans):
            groups[number].score *= _DATED


def most_with_date(settings: Any) -> float:
    """Return what all factors come to, that of a date too."""
    return _DATED * _most(settings)


def find_widened(index: KeywordIndex, question: Question, limit: int, scope: Scope) -> Any:
    """Look for related words in whole notes as in passages, which are asked first."""
    if index.name == "notes":
        question = question._replace(related=_asked[-1].related)
    else:
        _asked[:] = [question]
    return _find(index, question, limit, scope)


def linked_lift(engine: Engine, groups: Mapping[int, Any], now: float) -> None:
    """Lift the notes that good ones link to, or that link to them, whatever the links' types."""
    _boost(engine, groups, now)
    gained: dict[int, float] = {}
    for source, target, _ in lookup.neighbours(engine._base, groups.keys()):
        for one, other in ((source, target), (target, source)):
            if one in groups and other in groups:
                gained[one] = max(gained.get(one, 0.0), groups[other].score)
    for number, score in gained.items():
        groups[number].score += _LINKED * score


def _spans(text: str, years: set[int]) -> Iterator[tuple[date, date]]:
    """Yield first and last day of the dates in a text: a day or a month, of any year if unsaid."""
    for before, month, after, year in _DATE.findall(text):
        for each in {int(year)} if year else years:
            number, day = _MONTHS[month.lower()], int(before or after or 0)
            last = calendar.monthrange(each, number)[1]
            if day <= last:
                yield date(each, number, day or 1), date(each, number, day or last)
