"""What a batch of events becomes before it is stored, and which events belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memory_bank.base.text import estimate
from memory_bank.sessions.compression.definitions import kind_of
from memory_bank.sessions.compression.edits import (
    FileChange,
    WordedChange,
    described,
    merged,
    only_imports,
)
from memory_bank.sessions.compression.tool_calls import ToolCall
from memory_bank.sessions.records import TITLE_LIMIT

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]"
)

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-_])")

_MOST_NARRATIVE, _MOST_FACTS, _MOST_FACT, _MOST_CONCEPTS = 1200, 12, 240, 6


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation that has no id, session and project yet."""

    obs_type: str
    title: str
    """Fewer than 100 characters, one line."""
    created_at: datetime
    """When the last of its events happened."""
    subtitle: str = ""
    facts: tuple[str, ...] = ()
    """One line each."""
    narrative: str = ""
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    """Paths below the project; others are absolute."""
    files_modified: tuple[str, ...] = ()
    prompt_number: int = 0
    discovery_tokens: int = 0
    """Estimated tokens of its events."""
    event_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Compressed:
    """What a batch of events became."""

    drafts: tuple[Draft, ...]
    """In the order of their events."""
    mode_used: str
    """`local`, `command`, `client` or `none`."""
    fallback_reason: str = ""
    """Why it isn't the mode that was set; empty if it is."""


def visible(text: str) -> str:
    """Return a text without terminal escapes and unseen characters."""
    if text.isprintable():
        return text
    return _UNSEEN.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def cut(text: str, most: int) -> str:
    """Return a text as one line of at most so many characters, cut at a word."""
    line = " ".join(visible(text[: 8 * most + 200]).split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    word = head.rfind(" ")
    return (head[:word] if word > most // 2 else head).rstrip(" ,;:(") + "…"


def draft(
    obs_type: str,
    title: str,
    created_at: datetime,
    *,
    subtitle: str = "",
    facts: Iterable[str] = (),
    narrative: str = "",
    concepts: Iterable[str] = (),
    files_read: Iterable[str] = (),
    files_modified: Iterable[str] = (),
    prompt_number: int = 0,
    discovery_tokens: int = 0,
    event_ids: Iterable[int] = (),
    most_narrative: int = _MOST_NARRATIVE,
) -> Draft:
    """Make a draft whose texts are visible, bounded and named once."""
    modified = tuple(dict.fromkeys(map(_path, files_modified)))
    read = tuple(path for path in dict.fromkeys(map(_path, files_read)) if path not in modified)
    told = dict.fromkeys(filter(None, (cut(fact, _MOST_FACT) for fact in facts)))
    words = dict.fromkeys(filter(None, (cut(word, 40).casefold() for word in concepts)))
    text = visible(narrative).strip()
    if len(text) > most_narrative:
        text = text[: most_narrative - 1].rstrip() + "…"
    return Draft(
        obs_type=obs_type,
        title=cut(title, TITLE_LIMIT - 1),
        created_at=created_at,
        subtitle=cut(subtitle, 160),
        facts=tuple(told)[:_MOST_FACTS],
        narrative=text,
        concepts=tuple(words)[:_MOST_CONCEPTS],
        files_read=read,
        files_modified=modified,
        prompt_number=prompt_number,
        discovery_tokens=discovery_tokens,
        event_ids=tuple(event_ids),
    )


def _path(path: str) -> str:
    return " ".join(visible(path).split("\n"))[:1000]


Sort = Literal["edit", "failure", "check", "run", "look", "agent", "plan"]


@dataclass(eq=False, slots=True)
class Happening:
    """One thing that happened; it becomes an observation, or part of one."""

    sort: Sort
    prompt: int
    order: int
    """Its place in the batch."""
    when: datetime
    events: list[int] = field(default_factory=list)
    tokens: int = 0
    changes: dict[str, list[FileChange]] = field(default_factory=dict)
    """By path."""
    modified: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    title: str = ""
    narrative: str = ""
    command: str = ""
    runner: str = ""
    message: str = ""
    """What a failure says."""
    where: str = ""
    times: int = 1
    fixes: list[Happening] = field(default_factory=list)
    """Edits that followed a failure."""
    resolved: list[Happening] = field(default_factory=list)
    """Failures that an edit resolved."""
    commit: str = ""
    """The message of a commit that has the edits."""
    decision: str = ""
    """The sentence of a prompt that decides something."""
    words: list[WordedChange] = field(default_factory=list)
    """Its changes in words, once all are known."""

    def take(self, call: ToolCall) -> None:
        """Add the event of a call."""
        self.events.append(call.event.id)
        self.tokens += estimate(call.event.tool_input) + estimate(call.event.tool_output)
        self.when = max(self.when, call.event.created_at)

    def absorb(self, other: Happening) -> None:
        """Add all of another item."""
        self.events += other.events
        self.tokens += other.tokens
        self.when = max(self.when, other.when)
        for path, changes in other.changes.items():
            self.changes.setdefault(path, []).extend(changes)
        self.modified += other.modified
        self.reads += other.reads
        self.facts += other.facts
        self.resolved += other.resolved
        self.words += other.words
        self.narrative = self.narrative or other.narrative

    def describe(self) -> None:
        """Tell its changes in words."""
        self.words = [described(merged(path, found)) for path, found in self.changes.items()]


_DECIDES = re.compile(
    r"\b(?:we(?:'ve| have)? (?:decided|chose|agreed|settled)|(?:let'?s|we(?:'ll| will)|please) (?:use|choose|go with|adopt|keep|switch to)\b"
    r"|decided? (?:to|on|for|that)|decision\b|choose \S+|chose \S+|opt(?:ed)? for|settle(?:d)? on|go with\b"
    r"|(?:instead of|rather than|in favou?r of)\b)",
    re.IGNORECASE,
)

_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")

_COMPANIONS = 4
"""Most tests, pages and settings that belong to the change of one file of code."""

_MOST_SENTENCES = 40


def sentence_of_decision(text: str) -> str:
    """Return the sentence of a text that decides something; empty if there is none."""
    for sentence in _SENTENCE.split(text[:8000])[:_MOST_SENTENCES]:
        if _DECIDES.search(sentence) and not sentence.rstrip().endswith("?"):
            return sentence.strip()
    return ""


def grouped(items: Sequence[Happening], asked: Mapping[int, str]) -> list[Happening]:
    """Return the items of which each becomes an observation, with their changes in words."""
    found = list(items)
    for item in found:
        if item.changes and not item.words:
            item.describe()
    for number in dict.fromkeys(item.prompt for item in found):
        edits = [
            one for one in found if one.prompt == number and one.sort == "edit" and not one.commit
        ]
        gone = _same_change(edits) + _moves([one for one in edits if one.words])
        edits = [one for one in edits if one not in gone]
        commits = [one for one in found if one.prompt == number and one.commit and one.words]
        gone += _decision([*commits, *edits], found, number, asked.get(number, ""))
        gone += _companions([one for one in edits if one not in gone])
        found = [one for one in found if one not in gone]
    return found


def _join(item: Happening, others: Sequence[Happening]) -> list[Happening]:
    for other in others:
        item.absorb(other)
    return list(others)


def _same_change(edits: Sequence[Happening]) -> list[Happening]:
    """Join edits of several files that do the same: a rename, the same replacement."""
    first, gone = dict[tuple[str, ...], Happening](), list[Happening]()
    for item in edits:
        word = item.words[0] if len(item.words) == 1 and not item.resolved else None
        if word is None or word.sort not in ("renamed", "lines", "layout", "comments"):
            continue
        key = word.renamed if word.sort == "renamed" else (word.sort, word.title)
        known = first.setdefault(key, item)
        if known is not item:
            gone += _join(known, [item])
    return gone


def _moves(edits: Sequence[Happening]) -> list[Happening]:
    """Join two edits of which one removes the names that the other adds."""
    gone = list[Happening]()
    for item in edits:
        lost = {name for word in item.words for name in word.removed}
        for other in edits:
            if item is other or item in gone or other in gone or not lost:
                continue
            if lost <= {name for word in other.words for name in word.added}:
                shown = " and ".join(sorted(name.shown for name in lost)[:3])
                other.title = f"Move {shown} from {item.words[0].path} to {other.words[0].path}"
                gone += _join(other, [item])
    return gone


def _decision(
    edits: Sequence[Happening], items: Sequence[Happening], number: int, prompt: str
) -> list[Happening]:
    """Join the edits of a prompt that decides something, but for those that resolve a failure."""
    sentence = sentence_of_decision(prompt)
    if not sentence:
        return []
    plain = [item for item in edits if not item.resolved]
    if not plain:
        plain = [one for one in items if one.prompt == number and one.sort in ("look", "agent")][:1]
    if not plain:
        return []
    plain[0].decision = sentence
    return _join(plain[0], plain[1:])


def _companions(edits: Sequence[Happening]) -> list[Happening]:
    """Join tests, pages, settings and imports to the change of code that they belong to."""
    code = [one for one in edits if _is_code(one) and not _imports(one)]
    others = [one for one in edits if one not in code and not one.resolved and not one.title]
    gone = list[Happening]()
    for item in others:
        stem = _stem(item.modified[0])
        owners = [one for one in code if stem in {_stem(path) for path in one.modified}]
        if not owners and len(code) == 1 and len(others) <= _COMPANIONS:
            owners = code
        if owners:
            gone += _join(owners[0], [item])
    alone = [one for one in others if one not in gone and not _is_code(one)]
    pages = [one for one in alone if all(kind_of(path) != "test" for path in one.modified)]
    return gone + _join(pages[0], pages[1:]) if pages else gone


def _is_code(item: Happening) -> bool:
    return any(kind_of(path) == "code" for path in item.modified)


def _imports(item: Happening) -> bool:
    return bool(item.changes) and all(
        only_imports(change) for found in item.changes.values() for change in found
    )


def _stem(path: str) -> str:
    name = path.rpartition("/")[2].partition(".")[0]
    return re.sub(r"^test_|_test$|_spec$|Tests?$|Spec$", "", name).casefold()
