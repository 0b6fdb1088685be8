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
"""Keys of conditions, in addition to those of the bank's front matter."""
_MAX_CHARACTERS = 10_000
"""Maximum number of characters of a query that are read."""
_MAX_OTHER_WORDS = 4
"""Maximum number of unquoted words of a query that is not a sentence."""
_SYNONYMS = {"tags": "tag", "after": "since", "folder": "in", "link": "links"}

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
    """A parsed query."""

    question: Question
    conditions: tuple[Condition, ...] = ()


def parse(text: str, fields: Collection[str] = (), now: datetime | None = None) -> Query:
    """Parse a query; `fields` are the front-matter keys that can be filtered by.

    Text that only looks like a condition (`TODO: fix`, a time, a URL) is read as words.
    """
    words: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    conditions: list[Condition] = []
    for part in _PART.finditer(text[:_MAX_CHARACTERS]):
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
    # In a sentence, quotes mark a title or a term; otherwise the phrase is required.
    quoted = sum(len(phrase.split()) for phrase in phrases)
    required = len(" ".join(words).split()) - quoted <= _MAX_OTHER_WORDS
    question = Question(
        " ".join(words),
        required=tuple(phrases) if required else (),
        excluded=tuple(excluded),
        preferred=() if required else tuple(phrases),
    )
    return Query(question, tuple(conditions))


def conditions(
    *,
    tags: Sequence[str] = (),
    types: str | None = None,
    since: str | datetime | None = None,
    before: str | datetime | None = None,
) -> tuple[Condition, ...]:
    """Return the conditions that an action's parameters stand for; all must be met."""
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
    name = _SYNONYMS.get(name, name)
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
