"""The query language: words, "phrases", -not, key:value; any text is a valid query."""

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from memory_bank import notes
from memory_bank.errors import BadInput
from memory_bank.hints import Hint
from memory_bank.manifest.filters import Condition
from memory_bank.retrievers.base import Question

KEYS = frozenset(["tag", "type", "status", "since", "before", "in", "links"])
"""Keys of our own; the keys of the bank's front matter come on top."""
_LONGEST = 10_000
"""Characters of a query that are read: a longer one is a text, whose first words will do."""
_INSISTS = 4
"""Words beside the quoted ones up to which a query is no sentence."""
_SAME = {"tags": "tag", "after": "since", "folder": "in", "link": "links"}

_PART = re.compile(
    r"""(?P<negated>(?<!\S)-)?
        (?:(?P<key>[^\s:"'()\[\]{}]+):(?P<quoted_value>"[^"]*")
          |(?P<word_key>[^\s:"'()\[\]{}]+):(?P<value>[^\s"]+)
          |"(?P<phrase>[^"]*)"
          |(?P<word>\S+))""",
    re.VERBOSE,
)
_AGE = re.compile(r"(\d+)\s*(h|d|w|m|y|hours?|days?|weeks?|months?|years?)")
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}


class Query(NamedTuple):
    """A question taken apart."""

    question: Question
    conditions: tuple[Condition, ...] = ()


def parse(text: str, fields: Collection[str] = (), now: datetime | None = None) -> Query:
    """Take a query apart; `fields` are the front-matter keys that may be filtered by.

    What looks like a condition but is none (`TODO: fix`, a time, a URL) is plain words.
    """
    words: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    conditions: list[Condition] = []
    for part in _PART.finditer(text[:_LONGEST]):
        negated = part["negated"] is not None
        key = part["key"] or part["word_key"]
        if key:
            condition = _condition(
                key, (part["quoted_value"] or part["value"]).strip('"'), fields, now
            )
            if condition:
                conditions.append(Condition(condition.key, condition.value, negated))
                continue
        inside = part["phrase"] if part["phrase"] is not None else part[0].removeprefix("-")
        if negated and inside.strip():
            excluded.append(inside)
        elif part["phrase"] is not None and inside.strip():
            phrases.append(inside)
            words.append(inside)
        elif part["phrase"] is None:
            words.append(part[0])
    # In a sentence, quotes set off a title or a term; on their own they insist.
    quoted = sum(len(phrase.split()) for phrase in phrases)
    insists = len(" ".join(words).split()) - quoted <= _INSISTS
    question = Question(
        " ".join(words),
        required=tuple(phrases) if insists else (),
        excluded=tuple(excluded),
        preferred=() if insists else tuple(phrases),
    )
    return Query(question, tuple(conditions))


def conditions(
    *,
    tags: Sequence[str] = (),
    types: str | None = None,
    since: str | datetime | None = None,
    before: str | datetime | None = None,
) -> tuple[Condition, ...]:
    """Return the conditions that an action's own parameters mean; all must be met."""
    found: list[Condition] = []
    if tags:
        found += [Condition("tag", tag) for tag in notes.schema.normalise_tags(tags)]
    if types:
        found.append(Condition("type", types))
    for key, value in (("since", since), ("before", before)):
        if value is not None:
            found.append(Condition(key, moment(value) if isinstance(value, str) else value))
    return tuple(found)


def _condition(
    key: str, value: str, fields: Collection[str], now: datetime | None
) -> Condition | None:
    name = key.lower()
    name = _SAME.get(name, name)
    if name in {"since", "before"}:
        try:
            return Condition(name, moment(value, now))
        except BadInput:
            return None
    if name in KEYS or name in fields:
        return Condition(name, value)
    return None


def moment(text: str, now: datetime | None = None) -> datetime:
    """Read a point in time: an age (7d, 2w, 3 months), a day's name, or an ISO date.

    Raises BadInput; a date without a zone is UTC.
    """
    now = now or datetime.now(UTC)
    wanted = text.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if wanted in {"today", "yesterday"}:
        return midnight - timedelta(days=wanted == "yesterday")
    age = _AGE.fullmatch(wanted.removesuffix(" ago"))
    try:
        if age:
            return now - timedelta(days=int(age[1]) * _DAYS[age[2][0]])
        if re.fullmatch(r"\d{4}(-\d{2})?", wanted):
            wanted += "-01-01"[: 10 - len(wanted)] if len(wanted) == 4 else "-01"  # noqa: PLR2004
        found = datetime.fromisoformat(wanted.upper())
    except (ValueError, OverflowError):
        raise BadInput(f"{text!r} is no time", Hint.WRITE_TIME) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
