"""Points and periods of time in words, and words of time that restrict a question.

Numbers of nine digits and more are seconds, or milliseconds, since 1970.

Weeks begin on Monday, days at midnight UTC, as the dates in answers do.

Only forms that are hardly ever a subject themselves are read.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadInput, Hint
from memory_bank.search.manifest.filters import Condition

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_SHORTEST_NAME = 3
"""Letters of the shortest abbreviation of a month or a weekday."""

_LAST = "last"

_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}

_AGE = lazy_pattern(r"(\d+)\s*(h|d|w|m|y|hours?|days?|weeks?|months?|years?)")

_EPOCH = lazy_pattern(r"\d{9,15}(?:\.\d+)?")
"""Seconds or milliseconds since 1970: a date has at most eight digits."""

# A number from here on is in milliseconds: in seconds it is after the year 5000.
_MILLIS_FROM = 10**11


class Period(NamedTuple):
    """A period of time."""

    start: datetime
    end: datetime | None = None
    """The first moment after it; None if it lasts until now."""


def parse_moment(text: str, now: datetime | None = None) -> datetime:
    """Return the point in time that a text means: of a period, its start.

    Raises BadInput; a date without a zone is UTC.
    """
    return parse_period(text, now).start


def parse_period(text: str, now: datetime | None = None) -> Period:
    """Read an age, a day, a week, a month or an ISO date.

    Names without a year mean the latest that has begun. Raises BadInput.
    """
    now = now or datetime.now(UTC)
    words = text.strip().lower().split()
    try:
        period = _age(words, now) or _day(words, now) or _month(words, now) or _iso(text)
    except (ValueError, OverflowError):
        period = None
    if period is None:
        raise BadInput(f"{text!r} is no time", Hint.WRITE_TIME)
    return period


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _age(words: list[str], now: datetime) -> Period | None:
    """Read `7d` or `3 weeks`."""
    age = _AGE.fullmatch(" ".join(words))
    return Period(now - timedelta(days=int(age[1]) * _DAYS[age[2][0]])) if age else None


def _day(words: list[str], now: datetime) -> Period | None:
    """Read `today`, `yesterday`, `last week`, `monday`, `last monday`; `monday` may be today."""
    today = _midnight(now)
    if words in (["today"], ["yesterday"]):
        start = today - timedelta(days=words == ["yesterday"])
        return Period(start, start + timedelta(days=1))
    if words == [_LAST, "week"]:
        start = today - timedelta(days=today.weekday() + 7)
        return Period(start, start + timedelta(days=7))
    last = words[:1] == [_LAST]
    weekday = _place(words[1:] if last else words, WEEKDAYS)
    if weekday is None:
        return None
    days = (today.weekday() - weekday) % 7
    start = today - timedelta(days=7 if last and not days else days)
    return Period(start, start + timedelta(days=1))


def _month(words: list[str], now: datetime) -> Period | None:
    """Read `last month`, `october`, `last october`, `october 2025`."""
    before = _midnight(now).replace(day=1) - timedelta(microseconds=1)
    if words == [_LAST, "month"]:
        return _months(_midnight(before).replace(day=1), 1)
    last = words[:1] == [_LAST]
    year = words.pop() if len(words) > 1 and re.fullmatch(r"\d{4}", words[-1]) else None
    month = _place(words[1:] if last else words, MONTHS)
    if month is None:
        return None
    latest = before if last and not year else now
    return _latest(latest, month + 1, int(year) if year else None)


def _latest(now: datetime, month: int, year: int | None) -> Period:
    """Return a month, without a year the latest that has begun."""
    first = _midnight(now).replace(day=1, month=month)
    start = first.replace(year=now.year if year is None else year)
    if year is None and start > now:
        start = start.replace(year=now.year - 1)
    return _months(start, 1)


def _months(start: datetime, months: int) -> Period:
    return Period(start, (start + timedelta(days=31 * months)).replace(day=1))


def _iso(text: str) -> Period:
    """Read a year, a month, a day or a moment in ISO 8601, or seconds or milliseconds since 1970.

    Raises ValueError for anything else.
    """
    iso_text = text.strip()
    if _EPOCH.fullmatch(iso_text):
        number = float(iso_text)
        moment = datetime.fromtimestamp(number / 1000 if number >= _MILLIS_FROM else number, UTC)
        return Period(moment, moment)
    if re.fullmatch(r"\d{4}", iso_text):
        return _months(datetime(int(iso_text), 1, 1, tzinfo=UTC), 12)
    if re.fullmatch(r"\d{4}-\d{2}", iso_text):
        return _months(datetime.fromisoformat(f"{iso_text}-01").replace(tzinfo=UTC), 1)
    moment = datetime.fromisoformat(iso_text.upper())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return Period(
        moment,
        moment + timedelta(days=1) if len(iso_text) <= len("2026-05-08") else moment,
    )


def _place(words: list[str], names: tuple[str, ...]) -> int | None:
    """Return the number of a name, which may be abbreviated to three letters or more."""
    if len(words) != 1 or len(words[0].rstrip(".")) < _SHORTEST_NAME:
        return None
    word = words[0].rstrip(".")
    return next((place for place, name in enumerate(names) if name.startswith(word)), None)


_MOST_WORDS = 30
"""Words of the longest question that is read; a longer one is a pasted text."""

_LONGEST = 3
"""Words of the longest form: `in October 2026`."""

_CUES = frozenset({"yesterday", "last", "since", "in", "during", "from", "before"})
"""Each form has one of these words."""

_BEFORE = frozenset(
    """about and a an by each every except for in like or next of per than the till to until versus
    vs with without""".split()  # noqa: SIM905
)
"""Words after which a form is part of something else: `the plan for this week`."""

_AFTER = frozenset({"of", "and", "or", "before", "after"})

_NAMES = frozenset({*MONTHS, *WEEKDAYS})
"""Words that may have a capital letter inside a sentence."""

_ALSO_WORDS = frozenset({"march", "may"})
"""Months that are words of their own, so that they need a capital letter or a year."""

_SHORTEST_PERIOD = timedelta(days=28)
"""The shortest period that ends: what happened in a shorter one is often written down later."""

_SUBJECTLESS = frozenset(
    """add added anything change changed changes decide decided decision decisions discuss
    discussed done everything find found happen happened happening happens know knew learn
    learned learnt list new news note noted notes please record recorded remember
    remembered save saved show something tell thing things wrote write written work
    worked""".split()  # noqa: SIM905
)
"""Words that ask for notes of any subject."""


PREPOSITIONS = ("from ", "of ", "in ", "during ", "since ", "before ")
"""What words of time may begin with."""


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
        texts = (("since", self.since), ("before", self.before))
        return tuple(Condition(key, value) for key, value in texts if value is not None)


def find(text: str, now: datetime) -> TimeWords | None:
    """Return the words of time in a question; None unless there is one form and other words."""
    words = list(re.finditer(r"\S+", text))
    if len(words) > _MOST_WORDS or not any(_plain(match[0]) in _CUES for match in words):
        return None
    forms = []
    place = 0
    while place < len(words):
        form = _form_at(text, words, place, now)
        if form is not None:
            forms.append(form)
        place += len(form.words.split()) if form else 1
    if len(forms) != 1 or len(forms[0].words.split()) == len(words):
        return None
    return forms[0]


def drop_times(text: str, form: TimeWords) -> str:
    """Return a question without its words of time."""
    return " ".join((text[: form.start] + text[form.end :]).split())


def is_subjectless(text: str) -> bool:
    """Tell whether a question names no subject, as `what did we decide` does."""
    from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS  # start-up: loads tantivy

    return not _words(text) - STOP_WORDS - _SUBJECTLESS


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
        phrase = text[start:end]
        if _lower_case(phrase, first=not place, last=not behind):
            form = _read(phrase.lower(), now)
            if form is not None:
                return TimeWords(phrase, start, end, *form)
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
    try:
        period = parse_period(match["when"], now)
    except BadInput:  # no such month, or too long ago
        return None
    if form.startswith("before"):
        return None, period.start
    if period.end is None:
        return period.start, None
    short = period.end - period.start < _SHORTEST_PERIOD
    endless = short or period.end > now or form.startswith("since")
    return period.start, None if endless else period.end


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of the forms."""
    weekday, month = "|".join(WEEKDAYS), "|".join(MONTHS)
    dated = rf"(?:(?:{month}) \d{{4}}|\d{{4}}-\d{{2}}(?:-\d{{2}})?)"
    return tuple(
        map(
            re.compile,
            (
                r"(?:(?:from|of|in|during|since) )?(?P<when>yesterday|last (?:week|month))",
                rf"(?:(?:from|of|since) )?(?P<when>last (?:{weekday}|{month}))",
                rf"since (?P<when>today|\d{{1,3}}[hdwmy]|{weekday}|{month}|{dated})",
                rf"(?:in|during|from) (?P<when>{month}|{dated})",
                rf"before (?P<when>{dated})",
            ),
        )
    )
