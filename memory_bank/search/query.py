"""The query language: words, "phrases", -not, key:value; any text is a valid query.

Notices say which keys and values are mistyped, and how words of time were read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.dates import format_iso
from memory_bank.base.errors import BadInput, did_you_mean, similar_names
from memory_bank.base.rendering import count
from memory_bank.base.setting_sections import HYBRID
from memory_bank.search import times as time_words
from memory_bank.search.manifest import document_rows, filters
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.search.retrievers.base import Question
from memory_bank.search.retrievers.keyword import analyzer
from memory_bank.search.times import PREPOSITIONS, TimeWords, find, is_subjectless, parse_moment

if TYPE_CHECKING:  # start-up: loads tantivy
    from memory_bank.search.score_calibration import CommonScales

KEYS = frozenset(["tag", "type", "status", "since", "before", "in", "links"])
"""Keys of conditions, in addition to those of the bank's front matter."""

_MAX_CHARACTERS = 10_000
"""Maximum number of characters of a query that are read."""

_MAX_OTHER_WORDS = 4
"""Maximum number of unquoted words of a query that is not a sentence."""

_MASK = "\x00"
"""Stands for each character of a phrase where words of time are looked for."""

SYNONYMS = {"tags": "tag", "after": "since", "folder": "in", "link": "links"}

PART = lazy_pattern(
    r"""(?P<negated>(?<!\S)-)?
        (?:(?P<key>[^\s:"'()\[\]{}]+):(?P<quoted_value>"[^"]*")
          |(?P<word_key>[^\s:"'()\[\]{}]+):(?P<value>[^\s"]+)
          |"(?P<phrase>[^"]*)"
          |(?P<word>\S+))""",
    re.VERBOSE,
)


_PAST = lazy_pattern(
    r"\b(?:first|before|original\w*|initial\w*|used to|former\w*|previous\w*|earlier|back then)\b",
    re.IGNORECASE,
)
"""Words of a question about what held before."""


class Query(NamedTuple):
    """What is asked of a bank: a text, what it was parsed to, and how notes are returned."""

    typed: str
    question: Question = Question("")
    conditions: tuple[Condition, ...] = ()
    """With those of `times`, and of the options of a search."""
    times: TimeWords | None = None
    """The words of time that were read as conditions."""
    unread: tuple[tuple[str, str], ...] = ()
    """Keys and values of words that look like conditions but are none: they were read as words."""
    reads_times: bool = True
    """Whether words of time restrict it."""
    mode: str = HYBRID
    limit: int = 0
    archived: bool = False
    node: str = ""
    """The note or ghost that hits must link to; empty for any."""
    texts: bool = True
    """Whether the text of notes is returned."""
    whole: bool = False
    """Whether that is the whole note, not its best section."""
    also: bool = True
    """Whether other sections that match are returned, too."""
    together: CommonScales | None = None
    """What makes the scores comparable with those of other indices; None if there are none."""
    across: bool = False
    """Whether other repositories are asked, too, so that it may have conditions on them."""

    @property
    def asks_about_past(self) -> bool:
        """Whether it is about what held before."""
        return _PAST.search(self.typed) is not None


def parse(
    query: str | Query,
    fields: Collection[str] = (),
    now: datetime | None = None,
) -> Query:
    """Parse the text of a query; `fields` are the front-matter keys that can be filtered by.

    Text that only looks like a condition (`TODO: fix`, a time, a URL) is read as words. Words of
    time restrict the query by date, unless it has such a condition or is not to read them. A
    question that then has no subject has no words left. Conditions of options stay.
    """
    query = Query(query) if isinstance(query, str) else query
    now = now or datetime.now(UTC)
    text = query.typed.encode("utf-8", "replace").decode()  # of a command, it may be no UTF-8
    parts = _parts(text[:_MAX_CHARACTERS], fields, now)
    question_text, period, conditions = " ".join(parts.words), None, parts.conditions
    if query.reads_times and not any(
        condition.key in {"since", "before"} for condition in conditions
    ):
        period = find(" ".join(parts.masked), now)
    if period:
        question_text = time_words.drop_times(question_text, period)
        conditions += period.conditions
        if not parts.phrases and is_subjectless(question_text):
            question_text = ""
    # In a sentence, quotes mark a title or a term; otherwise the phrase is required.
    phrases = tuple(parts.phrases)
    quoted = sum(len(phrase.split()) for phrase in phrases)
    required = len(question_text.split()) - quoted <= _MAX_OTHER_WORDS
    question = Question(
        question_text,
        required=phrases if required else (),
        excluded=tuple(parts.excluded),
        preferred=() if required else phrases,
    )
    return query._replace(
        question=question,
        conditions=(*conditions, *query.conditions),
        times=period,
        unread=tuple(parts.unread),
    )


class _Parts(NamedTuple):
    """The parts of a query, in its order."""

    words: list[str]
    """Phrases included."""
    masked: list[str]
    """The words, with a mask for each phrase."""
    phrases: list[str]
    excluded: list[str]
    conditions: list[Condition]
    unread: list[tuple[str, str]]


def _parts(text: str, fields: Collection[str], now: datetime) -> _Parts:
    parts = _Parts([], [], [], [], [], [])
    for part in PART.finditer(text):
        negated = part["negated"] is not None
        key = part["key"] or part["word_key"]
        if key:
            value = (part["quoted_value"] or part["value"]).strip('"')
            condition = parse_condition(key, value, fields, now)
            if condition:
                parts.conditions.append(Condition(condition.key, condition.value, negated))
                continue
            parts.unread.append((key, value))
        inside = part["phrase"] if part["phrase"] is not None else part[0].removeprefix("-")
        if negated and inside.strip():
            parts.excluded.append(inside)
        elif part["phrase"] is not None and inside.strip():
            parts.phrases.append(inside)
            parts.words.append(inside)
            parts.masked.append(_MASK * len(inside))
        elif part["phrase"] is None:
            parts.words.append(part[0])
            parts.masked.append(part[0])
    return parts


def list_conditions(
    *,
    tags: Sequence[str] = (),
    types: str | None = None,
    since: str | datetime | None = None,
    before: str | datetime | None = None,
) -> tuple[Condition, ...]:
    """Return the conditions that an action's parameters stand for; all must be met."""
    from memory_bank.notes import schema

    conditions: list[Condition] = []
    if tags:
        conditions += [Condition("tag", tag) for tag in schema.normalise_tags(tags)]
    if types:
        conditions.append(Condition("type", types))
    for key, value in (("since", since), ("before", before)):
        if value is not None:
            conditions.append(
                Condition(key, parse_moment(value) if isinstance(value, str) else value)
            )
    return tuple(conditions)


def parse_condition(
    key: str, value: str, fields: Collection[str], now: datetime
) -> Condition | None:
    """Return the condition that a key and a value are; None if they are words."""
    name = key.lower()
    name = SYNONYMS.get(name, name)
    if name in {"since", "before"}:
        try:
            return Condition(name, parse_moment(value, now))
        except BadInput:
            return None
    if name in KEYS or name in fields:
        return Condition(name, value)
    return None


def written_keys(text: str, fields: Collection[str] = ()) -> frozenset[str]:
    """Return the keys of the conditions in a query, as the query language has them.

    `fields` are as for `parse`.
    """
    now = datetime.now(UTC)
    keys = set()
    for part in PART.finditer(text):
        key = part["key"] or part["word_key"]
        value = (part["quoted_value"] or part["value"] or "").strip('"')
        if key and (condition := parse_condition(key, value, fields, now)):
            keys.add(condition.key)
    return frozenset(keys)


_SHORTEST = 3
"""Letters of the shortest key that is taken for a mistyped one."""

_KEY_SIMILARITY = 0.75
"""So high that `file:` and `http:` are words, and low enough for `tipe:`."""

_MOST = 2
"""Most suggestions of a remark."""

_MOST_WORDS = 3
"""Most words that are named as those that no note has."""

_DAY = len("2026-05-08")

_MINUTE = 1 / 60
"""Hours within which a moment is taken to be some hours or days before now."""

TIME_KEYS = ("since", "before")


def list_remarks(
    manifest: Manifest, unread: Collection[tuple[str, str]], conditions: Iterable[Condition]
) -> tuple[str, ...]:
    """Return what may be mistyped in the conditions of a query, and in words that look like one."""
    remarks = list(_remark_on_keys(manifest, unread))
    for condition in conditions:
        remarks += _remark_on_values(manifest, condition)
    return tuple(dict.fromkeys(remarks))


def lacking_words(
    text: str, counts: Callable[[Collection[str]], dict[str, int]], *, names: bool
) -> str:
    """Return the remark that no note has some words of a question; empty if all are in notes.

    `counts` returns in how many passages stems are. With `names`, only names and identifiers are
    named: where notes answer, they may well do so in other words.
    """
    capitals = analyzer.is_english(text)  # in German, every noun has one
    words = dict.fromkeys(
        word
        for position, token in analyzer.query_words(text)
        if (word := re.split("['\u2019]", token)[0])
        and len(word) >= _SHORTEST
        and not analyzer.split_bigrams(word)  # an index has no words of scripts without spaces
        and (
            not names
            or (capitals and analyzer.is_name(position, word))
            or re.search(r"[\d_]|[a-z][A-Z]", word)
        )
    )
    stems = {word: analyzer.stem_words(word) for word in words}
    passages = (
        counts({stem for word_stems in stems.values() for stem in word_stems}) if stems else {}
    )
    lacking = [
        word for word, word_stems in stems.items() if any(not passages[stem] for stem in word_stems)
    ]
    if not lacking or "*" in text:
        return ""
    as_typed = {
        plain: word for word in re.findall(r"\w+", text) if (plain := analyzer.to_plain(word))
    }
    quoted = ", ".join(repr(as_typed.get(word, word)) for word in lacking[:_MOST_WORDS])
    return f"no note has the word{'s' * (len(lacking) > 1)} {quoted}"


def restriction_remark(times: TimeWords) -> str:
    """Return the remark that words of time restrict an answer."""
    return f"only notes {_period_text(times)}"


def lifted_remark(times: TimeWords) -> str:
    """Return the remark that no note of that time answers the query."""
    return f"no note {_period_text(times)} answers this: these are notes of all dates"


def _period_text(times: TimeWords) -> str:
    """Return a period in the words of the question: `from last week (since 2026-05-04)`."""
    words = times.words[:1].lower() + times.words[1:]
    preposition = "" if words.startswith(PREPOSITIONS) else "from "
    return f"{preposition}{words} ({_span(times.conditions)})"


def nothing_within(conditions: Iterable[Condition]) -> tuple[str, ...]:
    """Return the remark that no note is of the time that a query asks for, if it asks for one."""
    span = _span([condition for condition in conditions if condition.key in TIME_KEYS])
    return (f"no note {span}",) if span else ()


def _span(conditions: Iterable[Condition]) -> str:
    return " and ".join(map(_time, conditions))


def _time(condition: Condition) -> str:
    """Return a condition in words: `in the last 7 days`, `since 2026-05-08`."""
    moment = condition.value
    if not isinstance(moment, datetime):
        return f"{condition.key} {moment}"
    hours = (datetime.now(UTC) - moment).total_seconds() / 3600
    iso_text = format_iso(moment)
    midnight = iso_text.endswith("T00:00:00Z")
    if condition.key == "since" and not midnight and abs(hours - round(hours)) < _MINUTE:
        days, rest = divmod(round(hours), 24)
        span = count(days, "day") if days > 1 and not rest else count(round(hours), "hour")
        return f"in the last {span}"
    return f"{condition.key} {iso_text[:_DAY] if midnight else iso_text}"


def _remark_on_keys(manifest: Manifest, unread: Collection[tuple[str, str]]) -> Iterator[str]:
    if not unread:
        return
    keys = {*KEYS, *SYNONYMS, *filters.list_fields(manifest)}
    for written_key, value in unread:
        key = written_key.lower()
        if SYNONYMS.get(key, key) in KEYS:
            yield (
                f"{written_key}:{value} was read as a word,"
                f" since {value!r} is no time;"
                f' write {key}:7d, {key}:2026-05-08 or {key}:"last week"'
            )
        elif key.isalpha() and len(key) >= _SHORTEST and not value.startswith("//"):
            near = similar_names(key, keys, most=1, least=_KEY_SIMILARITY)
            if near:
                yield f"{written_key}: is no key{did_you_mean(f'{name}:' for name in near)}"


def _remark_on_values(manifest: Manifest, condition: Condition) -> Iterator[str]:
    """Yield a remark for each value of a condition that no note has."""
    key, value = condition.key, condition.value
    if not isinstance(value, str) or key == "links":
        return
    for word in filter(None, map(str.strip, value.split(","))):
        if filters.met_by_any(manifest, key, word):
            continue
        bare = word.strip("/").lstrip("#")
        near = [
            name
            for name in similar_names(bare, _values(manifest, key), most=_MOST + 1)
            if name.casefold() != bare.casefold()
        ][:_MOST]
        if near or not condition.negated:
            lacking = f"there is no folder {word}" if key == "in" else f"no note has {key}:{word}"
            yield lacking + did_you_mean(f"{key}:{name}" for name in near)


def _values(manifest: Manifest, key: str) -> Collection[str]:
    """Return the values that notes have for a key."""
    from memory_bank.notes import schema

    if key != "in":
        kinds = schema.KNOWN_TYPES if key == "type" else ()
        return [*document_rows.count_values(manifest, key.casefold()), *kinds]
    parts = [path.split("/")[:-1] for _, path in document_rows.all_keys(manifest)]
    return {"/".join(part[:depth]) for part in parts for depth in range(1, len(part) + 1)}
