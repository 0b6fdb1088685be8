"""Parse dates and times in common notations, and format them as ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from memory_bank.base import lazy_pattern

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MILLIS_FROM = 10**11
"""Numbers from here on are milliseconds; as seconds, this would be the year 5138."""

_SECONDS_FROM = 10_000
"""A smaller number with a fraction is a year and a month."""

_YEARS = range(1900, 2200)

_DIGITS = r"-?[0-9]{1,17}"

_SHAPE = (
    r"(?P<year>[0-9]{4})(?P<sep>[-/.])(?P<month>[0-9]{1,2})(?:(?P=sep)(?P<day>[0-9]{1,2}))?"
    r"(?:[T ]+(?P<time>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?))?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)

_NAME = lazy_pattern(
    r"(?:\A|(?<=[-_. ]))([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])"
    r"|\A([0-9]{4})-([0-9]{2})(?=[-_. ]|\Z)"
)
"""A day anywhere in a name, or a month at its start."""


def date_in_name(path: str) -> datetime | None:
    """Return the date in a file's name, else in that of its folder: `journal/2026-11-19.md`."""
    *folders, name = path.split("/")
    for part in (name.removesuffix(".md"), *folders[-1:]):
        if match := _NAME.search(part):
            year, month, day, only_year, only_month = match.groups()
            moment = to_datetime(f"{year or only_year}-{month or only_month}-{day or '01'}")
            if moment is not None and moment.year in _YEARS:
                return moment
    return None


def to_datetime(value: object) -> datetime | None:
    """Return a moment in UTC from a date, a moment, ISO text or seconds since 1970, else None.

    Without a time zone it is UTC. Integers of 8 or 4 digits that are a date or year between 1900
    and 2199 are read as such (`20230508`, `2023`); numbers from 10^11 on are milliseconds.
    """
    try:
        return None if isinstance(value, bool) else _moment(value)
    except (ValueError, OverflowError):
        return None


def format_iso(moment: datetime) -> str:
    """Return a moment as `2026-11-21T10:00:00Z`, fractions of seconds cut."""
    return _utc(moment).replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return _utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, float) and abs(value) < _SECONDS_FROM:
        return _from_text(str(value))  # `2023.05` is May
    if isinstance(value, int | float):
        return _from_number(value)
    return _from_text(value.strip().strip("[]").strip()) if isinstance(value, str) else None


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _from_number(number: float) -> datetime:
    if isinstance(number, int):
        if number in _YEARS:
            return datetime(number, 1, 1, tzinfo=UTC)
        if number // 10_000 in _YEARS:
            try:
                return _utc(datetime.fromisoformat(str(number)))
            except ValueError:
                pass  # not a date: seconds, in 1970
    if abs(number) >= _MILLIS_FROM:
        return _EPOCH + timedelta(milliseconds=number)
    return _EPOCH + timedelta(seconds=number)


def _from_text(text: str) -> datetime:
    if re.fullmatch(_DIGITS, text):
        return _from_number(int(text))
    match = re.fullmatch(_SHAPE, text, re.IGNORECASE)
    if not match:
        return _utc(datetime.fromisoformat(text))
    day = f"{match['year']}-{match['month']:0>2}-{match['day'] or '01':0>2}"
    zone = (match["zone"] or "Z").upper()
    zone = "+00:00" if zone in {"Z", "UTC", "GMT"} else zone
    hour, _, rest = (match["time"] or "00:00").replace(",", ".").partition(":")
    return _utc(datetime.fromisoformat(f"{day}T{hour:0>2}:{rest}{zone}"))


def seconds_to_iso(seconds: float) -> str:
    """Return seconds since 1970 as `2026-11-21T10:00:00Z`."""
    return format_iso(_EPOCH + timedelta(seconds=seconds))
