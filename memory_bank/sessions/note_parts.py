"""Find the observations, the summary and the prompts in the text of a session's note."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from memory_bank.notes import note_parser
from memory_bank.notes.blocks import NEWLINE
from memory_bank.notes.note import Note, Section
from memory_bank.sessions.model import OBSERVATION_ID, SUMMARY_PREFIX
from memory_bank.sessions.note_text import unescaped

OBSERVATION_KEYS = frozenset(
    {
        "obs_type", "created_at", "prompt_number", "subtitle", "concepts", "reads", "modifies",
        "discovery_tokens", "repository_id", "branch", "commit", "fact",
    }
)  # fmt: skip
SUMMARY_TEXTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
SUMMARY_KEYS = OBSERVATION_KEYS - {"obs_type", "subtitle", "concepts", "fact"} | {*SUMMARY_TEXTS}
PROMPTS = "prompts"
"""The heading above the prompts, in any case."""

FIELD = re.compile(r"[ \t]*(?:[-*+][ \t]+)?([^\W\d_][\w /-]{0,39})::(?:[ \t]+(.*))?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TOP = 2
"""Level of the headings that this package writes."""


@lru_cache(maxsize=4)
def parsed(path: str, data: bytes) -> Note:
    """Parse a file as the note parser does, and keep the last ones.

    An addition parses a long note before and after it, which takes most of its time.
    """
    return note_parser.parse(path, data)


class Part(NamedTuple):
    """The part of a note that is one observation or the summary."""

    id: str
    heading: str
    """The source of its title, without marks."""
    lines: tuple[str, ...]
    """Those below its heading, without line ends."""
    start: int
    """Offset in the note's text."""
    end: int
    body: int
    """Offset of the first line below its heading."""


class Parts(NamedTuple):
    """What a session's note consists of, in the order of the text."""

    observations: tuple[Part, ...]
    summary: Part | None
    prompts: Part | None
    """All lines under the heading of the prompts."""


def parts(note: Note) -> Parts:
    """Return the parts of a session's note."""
    sections = note.body.sections
    owners = dict(_owners(note))
    starts = {*owners.values(), *(at for at, one in enumerate(sections) if _is_prompts(one))}
    found = {name: _part(note, at, starts, name) for name, at in owners.items()}
    headed = next((at for at, one in enumerate(sections) if _is_prompts(one)), None)
    summary = next((part for name, part in found.items() if name.startswith(SUMMARY_PREFIX)), None)
    observations = [part for name, part in found.items() if OBSERVATION_ID.match(name)]
    return Parts(
        tuple(sorted(observations, key=lambda part: part.start)),
        summary,
        None if headed is None else _part(note, headed, starts, PROMPTS),
    )


def _owners(note: Note) -> Iterator[tuple[str, int]]:
    """Yield each id of an observation or summary with the number of the section it is about.

    A person may have divided an observation by headings: then its fields say where it starts.
    """
    sections = note.body.sections
    taken = set[int]()
    lines = [section.line for section in sections]
    parents = _parents(sections)
    for name, line in sorted(note.body.blocks.items(), key=lambda block: block[1]):
        if not (OBSERVATION_ID.match(name) or name.startswith(SUMMARY_PREFIX)):
            continue
        at = bisect_right(lines, line) - 1
        at = next((n for n in _around(at, parents) if _starts_with_field(sections[n])), at)
        if at not in taken and sections[at].level:
            taken.add(at)
            yield name, at


def _parents(sections: tuple[Section, ...]) -> list[int]:
    """Return the number of the section around each one; -1 for those that we write."""
    found: list[int] = []
    around: list[int] = []
    for at, section in enumerate(sections):
        while around and sections[around[-1]].level >= section.level:
            around.pop()
        found.append(around[-1] if around and section.level > _TOP else -1)
        around.append(at)
    return found


def _around(at: int, parents: Sequence[int]) -> Iterator[int]:
    """Yield a section and those around it, innermost first."""
    while at >= 0:
        yield at
        at = parents[at]


def _starts_with_field(section: Section) -> bool:
    lines = (line for line in NEWLINE.split(section.text)[1:] if line.strip())
    found = FIELD.fullmatch(next(lines, ""))
    return bool(found and found[1].lower() in OBSERVATION_KEYS | SUMMARY_KEYS)


def _is_prompts(section: Section) -> bool:
    return section.level == _TOP and section.headings[-1].casefold() == PROMPTS


def _part(note: Note, at: int, starts: set[int], name: str) -> Part:
    sections = note.body.sections
    level = sections[at].level
    end = next(
        (n for n in range(at + 1, len(sections)) if n in starts or sections[n].level <= level),
        len(sections),
    )
    start = sections[at].start
    stop = sections[end].start if end < len(sections) else len(note.text)
    head, below = _heading(note.text, start, stop)
    return Part(name, head, tuple(NEWLINE.split(note.text[below:stop])), start, stop, below)


def _heading(text: str, start: int, stop: int) -> tuple[str, int]:
    """Return the source of a heading's words, and where the line below it starts."""
    while (line := NEWLINE.search(text, start, stop)) and not text[start : line.start()].strip():
        start = line.end()  # blank lines before the first heading
    end, below = (line.start(), line.end()) if line else (stop, stop)
    words = text[start:end].strip()
    if not words.startswith("#"):  # underlined
        second = NEWLINE.search(text, below, stop)
        return words, second.end() if second else stop
    words = words.lstrip("#").strip()
    bare = words.rstrip("#")  # closing marks, if white space is before them
    return (bare.rstrip() if not bare or bare[-1] in " \t" else words), below


class Read(NamedTuple):
    """The fields and the other text of a part."""

    fields: tuple[tuple[str, str], ...]
    """Keys in lower case with values, Markdown."""
    text: str
    """Markdown."""

    def first(self, key: str) -> str:
        """Return the first value of a key as text; empty if there is none."""
        return next((unescaped(value) for name, value in self.fields if name == key), "")

    def values(self, key: str) -> list[str]:
        """Return all values of a key, as Markdown."""
        return [value for name, value in self.fields if name == key]

    def number(self, key: str) -> int:
        """Return the first value of a key as a number; 0 if it is none."""
        value = self.first(key).replace(",", "")
        return int(value) if value.isdecimal() and len(value) <= 18 else 0  # noqa: PLR2004  (fits 64 bits)


def read(part: Part, keys: frozenset[str]) -> Read:
    """Read the fields with some keys, and what else is in a part.

    Fields are lines `key:: value`, each with the indented lines after it. Of those with other keys,
    the ones at the top belong to nobody here; the ones further down are text.
    """
    fields: list[tuple[str, str]] = []
    text: list[str] = []
    fence = ""
    current = told = False
    for line in part.lines:
        words = _without_id(line, part.id)
        found = None if fence else FIELD.fullmatch(words)
        key = found[1].lower().strip() if found else ""
        if found and (key in keys or not told):
            fields.append((key, (found[2] or "").strip()))
            current = True
        elif current and words[:1] in (" ", "\t") and words.strip():
            key, value = fields[-1]
            fields[-1] = key, f"{value}\n{words.strip()}"
        else:
            current = False
            fence = _fenced(words, fence)
            text.append(words)
            told = told or bool(words.strip())
    return Read(tuple(fields), "\n".join(text))


def _without_id(line: str, name: str) -> str:
    """Return a line without a block id at its end."""
    bare = line.rstrip(" \t").removesuffix(f"^{name}")
    if len(bare) == len(line.rstrip(" \t")) or (bare and bare[-1] not in " \t"):
        return line
    return bare.rstrip(" \t")


def _fenced(line: str, fence: str) -> str:
    """Return the fence of code that is open after a line."""
    found = _FENCE.match(line)
    if not found:
        return fence
    if not fence:
        return found[1]
    closes = found[1].startswith(fence) and not line[found.end() :].strip()
    return "" if closes else fence
