"""Words of time in a question that restrict its notes by date: `what did we decide last week`.

Only forms that are hardly ever a subject themselves are read.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from memory_bank.errors import BadInput
from memory_bank.manifest.filters import Condition
from memory_bank.search import periods

_MOST_WORDS = 30
"""Words of the longest question that is read; a longer one is a pasted text."""
_LONGEST = 6
"""Words of the longest form: `in the last twelve months`."""
_CUES = frozenset(
    {"yesterday", "last", "past", "this", "since", "ago", "in", "during",
     "from", "before"}
)  # fmt: skip
"""Each form has one of these words."""
_BEFORE = frozenset(
    """about and a an by each every except for in like or next of per than the till to until versus
    vs with without""".split()  # noqa: SIM905
)
"""Words after which a form is part of something else: `the plan for this week`."""
_AFTER = frozenset({"of", "and", "or", "before", "after"})
_NAMES = frozenset({*periods.MONTHS, *periods.WEEKDAYS, "q1", "q2", "q3", "q4"})
"""Words that may have a capital letter inside a sentence."""
_ALSO_WORDS = frozenset({"march", "may"})
"""Months that are words of their own, so that they need a capital letter or a year."""
_SHORTEST = timedelta(days=28)
"""The shortest period that ends: what happened in a shorter one is often written down later."""
_SUBJECTLESS = frozenset(
    """add added anything change changed changes decide decided decision decisions discuss
    discussed done everything find found happen happened happening happens know knew learn
    learned learnt list new news note noted notes please record recorded remember
    remembered save saved show something tell thing things wrote write written work
    worked""".split()  # noqa: SIM905
)
"""Words that ask for notes of any subject."""
_DECISIONS = frozenset({"decide", "decided", "decision", "decisions"})
"""Words that, without a subject, ask for notes of the type `decision`."""


class TimeWords(NamedTuple):
    """Words of time in a question, and what they mean."""

    words: str
    """As written."""
    start: int
    end: int
    """Where they are in the text."""
    since: datetime | None = None
    before: datetime | None = None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that they stand for."""
        named = (("since", self.since), ("before", self.before))
        return tuple(Condition(key, value) for key, value in named if value is not None)


def find(text: str, now: datetime) -> TimeWords | None:
    """Return the words of time in a question; None unless there is one form and other words."""
    words = list(re.finditer(r"\S+", text))
    if len(words) > _MOST_WORDS or not any(_plain(one[0]) in _CUES for one in words):
        return None
    found = []
    place = 0
    while place < len(words):
        form = _form_at(text, words, place, now)
        if form is not None:
            found.append(form)
        place += len(form.words.split()) if form else 1
    if len(found) != 1 or len(found[0].words.split()) == len(words):
        return None
    return found[0]


def without(text: str, form: TimeWords) -> str:
    """Return a question without its words of time."""
    return " ".join((text[: form.start] + text[form.end :]).split())


def subjectless(text: str) -> bool:
    """Tell whether a question names no subject, as `what did we decide` does."""
    from memory_bank.retrievers.keyword.analyzer import STOP_WORDS  # start-up: loads tantivy

    return not _words(text) - STOP_WORDS - _SUBJECTLESS


def kind_asked(text: str) -> str:
    """Return the type of notes that a question without a subject asks for; empty for any."""
    return "" if _DECISIONS.isdisjoint(_words(text)) else "decision"


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text)}


def _plain(word: str) -> str:
    return word.lower().rstrip(".,;!?)")


def _form_at(text: str, words: list[re.Match[str]], place: int, now: datetime) -> TimeWords | None:
    """Return the longest form that starts at a word and is not part of something else."""
    if place and _plain(words[place - 1][0]) in _BEFORE:
        return None
    for size in range(min(_LONGEST, len(words) - place), 0, -1):
        last = words[place + size - 1]
        behind = words[place + size][0] if place + size < len(words) else ""
        if _plain(behind) in _AFTER or behind[:1].isdigit():
            continue
        start, end = words[place].start(), last.start() + len(last[0].rstrip(".,;!?)"))
        shown = text[start:end]
        if _lower_case(shown, first=not place, last=not behind):
            form = _read(shown.lower(), now)
            if form is not None:
                return TimeWords(shown, start, end, *form)
    return None


def _lower_case(form: str, *, first: bool, last: bool) -> bool:
    """Tell whether a form is written as words of a sentence, not as a name or a title."""
    words = form.split()
    if not words:
        return False  # punctuation only
    odd = [
        word
        for number, word in enumerate(words)
        if not word.islower() and not word.isdigit() and not (first and not number)
        if word.lower() not in _NAMES and not word[0].isdigit()
    ]
    unclear = words[-1] in _ALSO_WORDS and not last
    return not odd and not unclear


def _read(form: str, now: datetime) -> tuple[datetime | None, datetime | None] | None:
    """Return since when and before when a note must be, in lower case; None for other words."""
    match = next(filter(None, (pattern.fullmatch(form) for pattern in _forms())), None)
    if match is None:
        return None
    parts = match.groupdict()
    unit = (parts.get("unit") or "").rstrip("s")
    when = f"{parts['number'] or 1} {unit}" if unit else match["when"]
    try:
        period = periods.period(when, now)
    except BadInput:  # no such month, or too long ago
        return None
    if form.startswith("before"):
        return None, period.start
    if period.end is not None:
        short = period.end - period.start < _SHORTEST
        endless = short or period.end > now or form.startswith("since")
        return period.start, None if endless else period.end
    if unit == "hour":
        return period.start, None
    return periods.starts_of(unit if form.endswith("ago") else "day", period.start), None


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of the forms."""
    prep = "(?:(?:in|over|during|within|from) )?"
    number = rf"(?P<number>\d{{1,3}}|an?|{'|'.join(periods.NUMBERS)})"
    unit = r"(?P<unit>(?:hour|day|week|month|year)s?)"
    weekday, month = "|".join(periods.WEEKDAYS), "|".join(periods.MONTHS)
    dated = rf"(?:(?:{month}|q[1-4]) \d{{4}}|\d{{4}}-\d{{2}}(?:-\d{{2}})?)"
    named = rf"(?:{month}|q[1-4]|{dated})"
    calendar = r"(?:last|this) (?:week|month|quarter|year)"
    return tuple(
        map(
            re.compile,
            (
                rf"(?:(?:from|of|in|during|since) )?(?P<when>yesterday|{calendar})",
                rf"(?:(?:from|of|since) )?(?P<when>last (?:{weekday}|{month}))",
                rf"since (?P<when>today|{weekday}|{named})",
                rf"(?:in|during|from) (?P<when>{named})",
                rf"before (?P<when>{dated})",
                rf"{prep}(?:the )?(?:last|past) {number} {unit}",
                rf"{prep}(?:the (?:last|past)|past)(?P<number>) {unit}",
                rf"(?:from )?{number} {unit} ago",
            ),
        )
    )
