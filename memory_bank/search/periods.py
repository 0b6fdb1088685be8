"""Points and periods of time in words: `7d`, `last week`, `monday`, `october`, `Q3`, `2026-05`.

Numbers of nine digits and more are seconds, or milliseconds, since 1970.

Weeks begin on Monday, days at midnight UTC, as the dates in answers do.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from memory_bank.errors import BadInput
from memory_bank.hints import Hint

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = (
    "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_SHORTEST = 3
"""Letters of the shortest abbreviation of a month or a weekday."""
_IN_FRONT = frozenset({"in", "on", "the", "during"})
_LAST = frozenset({"last", "past", "previous"})
_CALENDAR = {"week": 0, "month": 1, "quarter": 3, "year": 12}
"""Months of each unit; 0 for a week."""
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_AGE = re.compile(r"(\d+)\s*(h|d|w|m|y|hours?|days?|weeks?|months?|years?)")
_EPOCH = re.compile(r"\d{9,15}(?:\.\d+)?")
"""Seconds or milliseconds since 1970: a date has at most eight digits."""
_MILLIS_FROM = 10**11
_QUARTER = re.compile(r"(?:(\d{4})[- ]?)?q([1-4])(?:[- ]?(\d{4}))?")


class Period(NamedTuple):
    """A period of time."""

    start: datetime
    end: datetime | None = None
    """The first moment after it; None if it lasts until now."""


def moment(text: str, now: datetime | None = None) -> datetime:
    """Return the point in time that a text means: of a period, its start.

    Raises BadInput; a date without a zone is UTC.
    """
    return period(text, now).start


def period(text: str, now: datetime | None = None) -> Period:
    """Read an age, a day, week, month, quarter or year in words, or an ISO date.

    Names without a year mean the latest that has begun. Raises BadInput.
    """
    now = now or datetime.now(UTC)
    words = text.strip().lower().removesuffix(" ago").split()
    future = len(words) > 1 and words[0] == "in" and words[1] not in {"the", *_LAST}
    while len(words) > 1 and words[0] in _IN_FRONT:
        del words[0]
    try:
        found = (
            (None if future else _age(words, now))
            or _day(words, now)
            or _calendar(words, now)
            or _iso(text)
        )
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise BadInput(f"{text!r} is no time", Hint.WRITE_TIME)
    return found


def starts_of(unit: str, moment: datetime) -> datetime:
    """Return when the day, week, month, quarter or year of a moment starts."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    months = _CALENDAR.get(unit)
    if months is None:
        return day
    if not months:
        return day - timedelta(days=day.weekday())
    return day.replace(month=(day.month - 1) // months * months + 1, day=1)


def _age(words: list[str], now: datetime) -> Period | None:
    """Read `7d`, `two weeks`, `last 3 days`."""
    if len(words) > 1 and words[0] in _LAST:
        words = ["1", *words[1:]] if words[0] == "past" and words[1] in _CALENDAR else words[1:]
    if words and words[0] in {"a", "an", *NUMBERS}:
        number = NUMBERS.index(words[0]) + 1 if words[0] in NUMBERS else 1
        words = [str(number), *words[1:]]
    age = _AGE.fullmatch(" ".join(words))
    return Period(now - timedelta(days=int(age[1]) * _DAYS[age[2][0]])) if age else None


def _day(words: list[str], now: datetime) -> Period | None:
    """Read `today`, `yesterday`, `monday`, `last monday`; a weekday alone may be today."""
    today = starts_of("day", now)
    if words in (["today"], ["yesterday"]):
        start = today - timedelta(days=words == ["yesterday"])
        return Period(start, start + timedelta(days=1))
    last = len(words) > 1 and words[0] in _LAST
    weekday = _place(words[1:] if last else words, WEEKDAYS)
    if weekday is None:
        return None
    days = (today.weekday() - weekday) % 7
    start = today - timedelta(days=7 if last and not days else days)
    return Period(start, start + timedelta(days=1))


def _calendar(words: list[str], now: datetime) -> Period | None:
    """Read `last week`, `this year`, `october`, `last october`, `october 2025`, `Q3`, `2026-Q3`."""
    last = words[0] in _LAST if words else False
    if len(words) == 2 and (last or words[0] == "this") and words[1] in _CALENDAR:  # noqa: PLR2004
        this = starts_of(words[1], now)
        months = _CALENDAR[words[1]]
        if not months:
            start = this - timedelta(days=7 * last)
            return Period(start, start + timedelta(days=7))
        return _months(_earlier(this, months) if last else this, months)
    if quarter := _QUARTER.fullmatch(" ".join(words)):
        first, year = 3 * int(quarter[2]) - 2, quarter[1] or quarter[3]
        return _latest(now, first, 3, int(year) if year else None)
    year = words.pop() if len(words) > 1 and re.fullmatch(r"\d{4}", words[-1]) else None
    month = _place(words[1:] if last else words, MONTHS)
    if month is None:
        return None
    before = starts_of("month", now) if last else now
    if last and not year:
        before -= timedelta(microseconds=1)
    return _latest(before, month + 1, 1, int(year) if year else None)


def _latest(now: datetime, month: int, months: int, year: int | None) -> Period:
    """Return a period of months that starts with a month, without a year the latest begun."""
    start = starts_of("month", now).replace(month=month, year=now.year if year is None else year)
    if year is None and start > now:
        start = start.replace(year=now.year - 1)
    return _months(start, months)


def _months(start: datetime, months: int) -> Period:
    return Period(start, starts_of("month", start + timedelta(days=31 * months)))


def _earlier(start: datetime, months: int) -> datetime:
    years, month = divmod(start.month - 1 - months, 12)
    return start.replace(year=start.year + years, month=month + 1)


def _iso(text: str) -> Period:
    """Read a year, a month, a day or a moment in ISO 8601, or seconds or milliseconds since 1970.

    Raises ValueError for anything else.
    """
    wanted = text.strip()
    if _EPOCH.fullmatch(wanted):
        number = float(wanted)
        found = datetime.fromtimestamp(number / 1000 if number >= _MILLIS_FROM else number, UTC)
        return Period(found, found)
    if re.fullmatch(r"\d{4}", wanted):
        return _months(datetime(int(wanted), 1, 1, tzinfo=UTC), 12)
    if re.fullmatch(r"\d{4}-\d{2}", wanted):
        return _months(datetime.fromisoformat(f"{wanted}-01").replace(tzinfo=UTC), 1)
    found = datetime.fromisoformat(wanted.upper())
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return Period(found, found + timedelta(days=1) if len(wanted) <= len("2026-05-08") else found)


def _place(words: list[str], names: tuple[str, ...]) -> int | None:
    """Return the number of a name, which may be abbreviated to three letters or more."""
    if len(words) != 1 or len(words[0].rstrip(".")) < _SHORTEST:
        return None
    word = words[0].rstrip(".")
    return next((place for place, name in enumerate(names) if name.startswith(word)), None)
