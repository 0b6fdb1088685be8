"""Rules of compression; sentences of people that tell or decide something; bounded texts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from memory_bank.base import lazy_pattern
from memory_bank.sessions.records import TITLE_LIMIT, Observation

TABLES: Mapping[str, re.RegexFlag] = {"rules.toml": re.IGNORECASE, "programs.toml": re.MULTILINE}
"""Files with tables: sentences of people, and what programs say. The flags of their patterns."""


@lru_cache
def read_table(file: str) -> Mapping[str, Any]:
    """Return all tables of a file."""
    return tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))


@lru_cache
def compile_rows(kind: str) -> tuple[tuple[Mapping[str, Any], re.Pattern[str]], ...]:
    """Return the rows of a kind, each with its pattern."""
    file = next(name for name in TABLES if kind in read_table(name))
    return tuple((row, _compile_text(row["pattern"], file)) for row in read_table(file)[kind])


@lru_cache
def compile_rule(kind: str) -> re.Pattern[str]:
    """Return all patterns of a kind as one."""
    file = next(name for name in TABLES if kind in read_table(name))
    return _compile_text("|".join(f"(?:{row['pattern']})" for row in read_table(file)[kind]), file)


def compile_sentences(text: str) -> re.Pattern[str]:
    """Return a pattern of sentences with the words that it names as `{word}`."""
    return _compile_text(text, "rules.toml")


def _compile_text(text: str, file: str) -> re.Pattern[str]:
    for name, word_rows in read_table(file)["words"].items():
        text = text.replace(f"{{{name}}}", word_rows)
    return re.compile(text, TABLES[file])


@lru_cache
def list_words(group: str, name: str) -> KeysView[str]:
    """Return the words of a list, such as the readers among the programs, in order."""
    entry = next(
        entries[group][name]
        for entries in map(read_table, TABLES)
        if name in entries.get(group, ())
    )
    return dict.fromkeys(entry.split()).keys()


@lru_cache
def lists_by_word(group: str) -> Mapping[str, str]:
    """Return the name of the list in which each word of a group is."""
    group_words = read_table("programs.toml")[group]
    return {word: name for name, listed in group_words.items() for word in listed.split()}


DECIDED, NEXT, COMMITTED = "decided: ", "next: ", "committed"
"""Starts of facts: a decision or rule, an open step, and that a commit has the changes."""

# Of the texts of agents that are read (tests/benchmarks/compression.py).
_MOST, _MOST_SENTENCES, _LONGEST = 12_000, 120, 600

_FENCE = lazy_pattern(
    r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)

_BLOCK = lazy_pattern(r"^\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+|>\s?)")

_SKIPPED = lazy_pattern(r"^\s*(?:#{1,6}\s|\||[-=*_]{3,}\s*$)")

_END = lazy_pattern(r"(?<=[.!?…])[\"')\]”’*_`]{0,3}\s+|(?<=[。！？])")

_SHORTENED = lazy_pattern(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|dr|mr|z\.\s?b|bzw|usw|ca|d\.\s?h|p\.\s?ex)|(?:^|\s)\w)\.$",
    re.IGNORECASE,
)

_MARKS = lazy_pattern(
    r"(\*{1,3}|(?<!\w)__?|`{1,3}|~~)(?=[^\s*_`])([^\n]{1,400}?)(?<=[^\s*`])\1(?!\w)"
)

_LINK = lazy_pattern(r"!?\[([^\]\n]{1,200})\]\([^)\n]{1,400}\)")

_CLAUSE = lazy_pattern(
    r"[;:] | [–—-] |, (?=(?:and|but|so|since|because|which|while|otherwise|else|und|aber|weil|sodass|mais|pero|porque)\b)"
)

_LIST = lazy_pattern(
    r"^(?P<head>[^\n]{2,80})\n\s*+(?P<items>(?:[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+[^\n]+(?:\n|\Z))+)",
    re.MULTILINE,
)

_TO_DO = lazy_pattern(r"^[ \t]*[-*+] \[ \] ([^\n]+)", re.MULTILINE)

# Of a sentence that tells something (tests/benchmarks/compression.py).
_LEAST_WORDS, _LEAST_CLAUSE = 5, 45


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text without marks of Markdown, code blocks, headings and tables."""
    return [word for line in _lines(text[:_MOST]) for word in _split(line)][:_MOST_SENTENCES]


def _lines(text: str) -> Iterator[str]:
    """Yield paragraphs and list items, each as one line."""
    paragraph = ""
    for line in _FENCE.sub("\n", text).splitlines():
        if not line.strip() or _SKIPPED.match(line):
            yield paragraph
            paragraph = ""
        elif _BLOCK.match(line):
            yield paragraph
            paragraph = _BLOCK.sub("", line).strip()
        elif (
            paragraph and not re.search(r"[.:!?;]$", paragraph) and not line.lstrip()[:1].isupper()
        ):
            paragraph = f"{paragraph} {line.strip()}"  # a paragraph that was wrapped
        else:
            yield paragraph
            paragraph = line.strip()
    yield paragraph


def _split(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        if match.end() > start and not _SHORTENED.search(line[start : match.start()]):
            yield from filter(None, [strip_marks(line[start : match.end()])])
            start = match.end()
    yield from filter(None, [strip_marks(line[start:])])


def strip_marks(text: str) -> str:
    """Return a text in one line without marks of Markdown."""
    return " ".join(_MARKS.sub(r"\2", _LINK.sub(r"\1", text)).split())[:_LONGEST]


def find_telling(text: str) -> str:
    """Return the first sentence that says something of the work; empty if there is none.

    One of few words is taken where no longer one says anything.
    """
    telling = [
        word
        for word in map(strip_opening, split_sentences(text))
        if word and not compile_rule("empty").search(word)
    ]
    candidates = [
        sentence for sentence in telling if count_words(sentence) >= _LEAST_WORDS
    ] or telling
    return next(
        (sentence for sentence in candidates if not compile_rule("next").search(sentence)),
        candidates[0] if candidates else "",
    )


def strip_opening(sentence: str) -> str:
    """Return a sentence without first words such as `Done:`."""
    match = compile_rule("opening").match(sentence)
    rest = sentence[match.end() :] if match else sentence
    return _capital(rest) if match else rest


def _capital(text: str) -> str:
    """Return a sentence with a capital letter, unless it begins with a name of code."""
    return text[:1].upper() + text[1:] if re.match(r"[^\W\d_]+[\s,:;]", text) else text


def strip_step(sentence: str) -> str:
    """Return a sentence that plans without words such as `Next:`."""
    label = compile_sentences(r"^(?:and )?(?:{label})(?: is| are)?\s*[:,–—-]\s+")
    return _capital(label.sub("", strip_opening(sentence)))


def headline(sentence: str, most: int) -> str:
    """Return a sentence as a title: whole, its first clauses, or its first words."""
    stripped = sentence.rstrip(" .:;!")
    if len(stripped) <= most:
        return stripped
    ends = [at.start() for at in _CLAUSE.finditer(stripped) if _LEAST_CLAUSE <= at.start() <= most]
    if ends:
        return stripped[: ends[-1]].rstrip(" ,")
    return stripped[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:(") + "…"


def find_decided(text: str) -> list[str]:
    """Return the sentences that decide something or state a rule; questions do not."""
    return _find_kind("decides", text)


def find_planned(text: str) -> list[str]:
    """Return the sentences that say what is still to be done, and the lists of such things."""
    text = _FENCE.sub("\n", text[:_MOST])
    listed = [strip_marks(match) for match in _TO_DO.findall(text)]
    for item in _LIST.finditer(text):
        head = strip_marks(_BLOCK.sub("", item["head"])).rstrip(" :.")
        if compile_sentences("{label}").fullmatch(head):
            items = (_BLOCK.sub("", line) for line in item["items"].splitlines())
            listed += [strip_marks(word) for word in items if word.strip()]
    return list(dict.fromkeys([*listed, *_find_kind("next", text)]))


def _find_kind(kind: str, text: str) -> list[str]:
    candidates = [
        sentence
        for sentence in split_sentences(text)
        if count_words(sentence) > 2  # noqa: PLR2004 - `and then` says nothing
        and not sentence.endswith("?")
        and compile_rule(kind).search(strip_opening(sentence))
    ]
    return list(dict.fromkeys(candidates))


def word_starts(text: str) -> frozenset[str]:
    """Return the starts of the words that tell what a sentence is about."""
    matches = re.findall(r"[^\W\d_][\w-]{3,}|\b\w+_\w+", _UNSPACED.sub(" ", text.casefold()))
    matches += map("".join, pairwise(_UNSPACED.findall(text)))
    common = list_words("words", "common_in_steps")
    return frozenset(word[:5] for word in matches if word not in common)


_UNSPACED = lazy_pattern(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Letters of languages without blanks between words."""


def count_words(text: str) -> int:
    """Return the number of words of a text; where no blanks divide them, two letters count as one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2


REPEATED, ASKED, TOLD = 0.6, 0.4, 0.8
"""Shares of words by which a step repeats another one, what was asked, or what is told already:
the best of those tried (tests/benchmarks/compression.py)."""


def is_covered(step: str, entries: Sequence[str], share: float = REPEATED) -> bool:
    """Tell whether one of some texts has that share of the words of a step."""
    step_words = word_starts(strip_opening(step))
    most = max((len(step_words & word_starts(word)) for word in entries), default=0)
    return len(step_words) > 1 and most >= share * len(step_words)


_UNSEEN = lazy_pattern(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]"
)

_ESCAPES = lazy_pattern(
    r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-_])"
)

NARRATIVE = 4000
"""Characters of the text of an observation; the middle of a longer one is cut out."""

# Of an observation: its useful lines measured best so (tests/benchmarks/compression.py).
_FACTS, _FACT, _CONCEPTS, _SHARE_OF_END = 14, 240, 6, 0.35

COMMAND = 160
"""Characters shown of a command, and of a subtitle."""

PART = 100
"""Characters shown of what a call was about, or answered, beside other words on its line."""

_CONCEPT = 40
"""Characters of a concept."""


def make_visible(text: str) -> str:
    """Return a text without terminal escapes and unseen characters."""
    if text.isprintable():
        return text
    return _UNSEEN.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def cut(text: str, most: int) -> str:
    """Return a text as one line of at most so many characters, cut at a word."""
    line = " ".join(make_visible(text[: 8 * most + 200]).split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    word = head.rfind(" ")
    return (head[:word] if word > most // 2 else head).rstrip(" ,;:(") + "…"


def cut_middle(text: str, most: int) -> str:
    """Return the start and the end of a long text, cut at lines or words."""
    text = make_visible(text).strip()
    if len(text) <= most:
        return text
    last = int(most * _SHARE_OF_END)
    head, tail = text[: most - last - 5], text[-last:]
    head = re.sub(r"\s\S*\Z", "", head).rstrip()
    tail = re.sub(r"\A\S*\s+", "", tail)
    return f"{head}\n\n…\n\n{tail}"


def bound_observation(
    obs_type: str,
    title: str,
    created_at: datetime,
    *,
    lists: Mapping[str, Iterable[str]],
    narrative: str = "",
    most: int = NARRATIVE,
    **texts: Any,  # noqa: ANN401  (of an observation)
) -> Observation:
    """Return an observation whose texts and lists are visible and bounded, without ids."""
    modified = tuple(dict.fromkeys(map(_make_path_visible, lists["files_modified"])))
    facts = dict.fromkeys(cut(fact, _FACT) for fact in lists.get("facts", ()))
    concepts = dict.fromkeys(cut(word, _CONCEPT).casefold() for word in lists.get("concepts", ()))
    read = dict.fromkeys(map(_make_path_visible, lists["files_read"]))
    observation_record = Observation(
        "", "", "", obs_type, cut(title, TITLE_LIMIT - 1), created_at, **texts
    )
    return observation_record._replace(
        subtitle=cut(observation_record.subtitle, COMMAND),
        facts=tuple(filter(None, facts))[:_FACTS],
        narrative=cut_middle(narrative, most),
        concepts=tuple(filter(None, concepts))[:_CONCEPTS],
        files_read=tuple(path for path in read if path not in modified),
        files_modified=modified,
    )


def _make_path_visible(path: str) -> str:
    return " ".join(make_visible(path).split("\n"))[:1000]
