"""Read a session's note, which a person may have edited."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.dates import to_datetime
from memory_bank.base.documents import Section
from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.notes import parsing
from memory_bank.notes.characters import BREAK
from memory_bank.notes.note import Note
from memory_bank.sessions.note_text import one_line, split_paragraphs, unescape_markdown
from memory_bank.sessions.records import (
    OBSERVATION_ID,
    SUMMARY_PREFIX,
    SUMMARY_TEXTS,
    GitState,
    Observation,
    Prompt,
    Session,
    Summary,
)

OBSERVATION_KEYS = frozenset(
    {
        "obs_type", "created_at", "prompt_number", "subtitle", "concepts", "reads", "modifies",
        "discovery_tokens", "repository_id", "branch", "commit", "fact",
    }
)  # fmt: skip

SUMMARY_KEYS = OBSERVATION_KEYS - {"obs_type", "subtitle", "concepts", "fact"} | {*SUMMARY_TEXTS}

PROMPTS = "prompts"
"""The heading above the prompts, in any case."""

FIELD = lazy_pattern(r"[ \t]*(?:[-*+][ \t]+)?([^\W\d_][\w /-]{0,39})::(?:[ \t]++(.*))?")

_FENCE = lazy_pattern(r" {0,3}(`{3,}|~{3,})")

_TOP = 2
"""Level of the headings that this package writes."""


@lru_cache(maxsize=4)
def parse_note(path: str, data: bytes) -> Note:
    """Parse a file as the note parser does, and keep the last ones.

    An addition parses a long note before and after it, which takes most of its time.
    """
    return parsing.parse(path, data)


class NotePart(NamedTuple):
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


def read_parts(note: Note) -> tuple[list[NotePart], NotePart | None, NotePart | None]:
    """Return the observations of a session's note in their order, its summary and its prompts.

    The part of the prompts is all lines under their heading.
    """
    sections = note.body.sections
    owners = dict(_yield_owners(note))
    starts = {
        *owners.values(),
        *(at for at, section in enumerate(sections) if _is_prompts(section)),
    }
    parts_of = {name: _find_part(note, at, starts, name) for name, at in owners.items()}
    headed = next((at for at, section in enumerate(sections) if _is_prompts(section)), None)
    summary = next(
        (part for name, part in parts_of.items() if name.startswith(SUMMARY_PREFIX)), None
    )
    observations = [part for name, part in parts_of.items() if OBSERVATION_ID.match(name)]
    prompts = None if headed is None else _find_part(note, headed, starts, PROMPTS)
    return sorted(observations, key=lambda part: part.start), summary, prompts


def _yield_owners(note: Note) -> Iterator[tuple[str, int]]:
    """Yield each id of an observation or summary with the number of the section it is about.

    A person may have divided an observation by headings: then its fields say where it starts.
    """
    sections = note.body.sections
    ats = set[int]()
    lines = [section.line for section in sections]
    parents = _list_parents(sections)
    for name, line in sorted(note.body.blocks.items(), key=lambda block: block[1]):
        if not (OBSERVATION_ID.match(name) or name.startswith(SUMMARY_PREFIX)):
            continue
        at = bisect_right(lines, line) - 1
        at = next((n for n in _yield_around(at, parents) if _starts_with_field(sections[n])), at)
        if at not in ats and sections[at].level:
            ats.add(at)
            yield name, at


def _list_parents(sections: tuple[Section, ...]) -> list[int]:
    """Return the number of the section around each one; -1 for those that we write."""
    entries: list[int] = []
    around: list[int] = []
    for at, section in enumerate(sections):
        while around and sections[around[-1]].level >= section.level:
            around.pop()
        entries.append(around[-1] if around and section.level > _TOP else -1)
        around.append(at)
    return entries


def _yield_around(at: int, parents: Sequence[int]) -> Iterator[int]:
    """Yield a section and those around it, innermost first."""
    while at >= 0:
        yield at
        at = parents[at]


def _starts_with_field(section: Section) -> bool:
    lines = (line for line in BREAK.split(section.text)[1:] if line.strip())
    match = FIELD.fullmatch(next(lines, ""))
    return bool(match and match[1].lower() in OBSERVATION_KEYS | SUMMARY_KEYS)


def _is_prompts(section: Section) -> bool:
    return section.level == _TOP and section.headings[-1].casefold() == PROMPTS


def _find_part(note: Note, at: int, starts: set[int], name: str) -> NotePart:
    sections = note.body.sections
    level = sections[at].level
    end = next(
        (n for n in range(at + 1, len(sections)) if n in starts or sections[n].level <= level),
        len(sections),
    )
    start = sections[at].start
    stop = sections[end].start if end < len(sections) else len(note.text)
    head, below = _read_heading(note.text, start, stop)
    return NotePart(name, head, tuple(BREAK.split(note.text[below:stop])), start, stop, below)


def _read_heading(text: str, start: int, stop: int) -> tuple[str, int]:
    """Return the source of a heading's words, and where the line below it starts."""
    while (line := BREAK.search(text, start, stop)) and not text[start : line.start()].strip():
        start = line.end()  # blank lines before the first heading
    end, below = (line.start(), line.end()) if line else (stop, stop)
    words = text[start:end].strip()
    if not words.startswith("#"):  # underlined
        second = BREAK.search(text, below, stop)
        return words, second.end() if second else stop
    words = words.lstrip("#").strip()
    bare = words.rstrip("#")  # closing marks, if white space is before them
    return (bare.rstrip() if not bare or bare[-1] in " \t" else words), below


class PartFields(NamedTuple):
    """The fields and the other text of a part."""

    fields: tuple[tuple[str, str], ...]
    """Keys in lower case with values, Markdown."""
    text: str
    """Markdown."""

    def first(self, key: str) -> str:
        """Return the first value of a key as text; empty if there is none."""
        return next((unescape_markdown(value) for name, value in self.fields if name == key), "")

    def values(self, key: str) -> list[str]:
        """Return all values of a key, as Markdown."""
        return [value for name, value in self.fields if name == key]

    def number(self, key: str) -> int:
        """Return the first value of a key as a number; 0 if it is none."""
        value = self.first(key).replace(",", "")
        return int(value) if value.isdecimal() and len(value) <= 18 else 0  # noqa: PLR2004  (fits 64 bits)


def read_part(part: NotePart, keys: frozenset[str]) -> PartFields:
    """Read the fields with some keys, and what else is in a part.

    Fields are lines `key:: value`, each with the indented lines after it. Of those with other keys,
    the ones at the top belong to nobody here; the ones further down are text.
    """
    fields: list[tuple[str, str]] = []
    text: list[str] = []
    fence = ""
    current = has_words = False
    for line in part.lines:
        words = _strip_id(line, part.id)
        match = None if fence else FIELD.fullmatch(words)
        key = match[1].lower().strip() if match else ""
        if match and (key in keys or not has_words):
            fields.append((key, (match[2] or "").strip()))
            current = True
        elif current and words[:1] in (" ", "\t") and words.strip():
            key, value = fields[-1]
            fields[-1] = key, f"{value}\n{words.strip()}"
        else:
            current = False
            fence = _find_open_fence(words, fence)
            text.append(words)
            has_words = has_words or bool(words.strip())
    return PartFields(tuple(fields), "\n".join(text))


def _strip_id(line: str, name: str) -> str:
    """Return a line without a block id at its end."""
    bare = line.rstrip(" \t").removesuffix(f"^{name}")
    if len(bare) == len(line.rstrip(" \t")) or (bare and bare[-1] not in " \t"):
        return line
    return bare.rstrip(" \t")


def _find_open_fence(line: str, fence: str) -> str:
    """Return the fence of code that is open after a line."""
    match = _FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not line[match.end() :].strip()
    return "" if closes else fence


TYPE = "session"
"""The type of a session's note."""

_LINKED = lazy_pattern(r"\s*\[\[([^\[\]\n]+)\]\]|((?:\\.|[^,\\])+)")

_PROMPT = lazy_pattern(r"prompt (\d{1,9})\Z")

_FIRST_MOMENT = lazy_pattern(r"(\d{4}-\d\d-\d\dT\S+Z)(?:\s+|\Z)")


@lru_cache(maxsize=4)
def parse(path: str, data: bytes) -> Session | None:
    """Read a session's note; None for another note. Raises UnreadableNote for a binary file.

    The last ones are kept, since most notes are read several times in a row.
    """
    return read_session(parse_note(path, data))


def read_session(note: Note) -> Session | None:
    """Return the session of a note; None if it is no session's."""
    session = read_head(note)
    if session is None:
        return None
    observations, summary, _ = read_parts(note)
    prompts = read_prompts(note, session)
    return session._replace(
        last_prompt_number=max((prompt.prompt_number for prompt in prompts), default=0),
        prompts=prompts,
        observations=tuple(_read_observation(part, session) for part in observations),
        summary=summary and _read_summary(summary, session),
    )


def read_head(note: Note) -> Session | None:
    """Return what the front matter of a session's note says; None if it is no session's.

    A note without the key `project` may be one that an agent wrote in the session.
    """
    extra = note.meta.extra
    session_id = one_line(str(extra.get("session_id") or ""))
    if note.meta.type != TYPE or not session_id or extra.get("project") is None:
        return None
    started = note.meta.created_at or datetime.fromtimestamp(0, UTC)
    return session_of_keys(extra, started, note.meta.source_agent, note.path)


def session_of_keys(
    extra: Mapping[str, object], started: datetime, agent: str, path: str
) -> Session:
    """Return the session of a note's front matter; `extra` are the keys that only sessions have."""
    return Session(
        session_id=one_line(str(extra["session_id"])),
        project=_read_key(extra, "project"),
        started_at=started,
        agent=agent,
        ended_at=to_datetime(str(extra.get("ended_at") or "")),
        input_tokens=_read_count(extra, "input_tokens"),
        output_tokens=_read_count(extra, "output_tokens"),
        redactions=_read_count(extra, "redactions"),
        git=_make_git(*(_read_key(extra, key) for key in ("repository_id", "branch", "commit"))),
        path=path,
    )


def read_prompts(note: Note, session: Session) -> tuple[Prompt, ...]:
    """Return the prompts of a session's note."""
    _, _, part = read_parts(note)
    return tuple(_yield_prompts(part, session)) if part else ()


def _read_observation(part: NotePart, session: Session) -> Observation:
    read = read_part(part, OBSERVATION_KEYS)
    kind = read.first("obs_type").casefold()
    return Observation(
        id=part.id,
        session_id=session.session_id,
        project=session.project,
        obs_type=kind if kind in OBSERVATION_TYPES else "discovery",
        title=unescape_markdown(part.heading),
        created_at=to_datetime(read.first("created_at")) or session.started_at,
        subtitle=read.first("subtitle"),
        facts=tuple(map(unescape_markdown, read.values("fact"))),
        narrative=split_paragraphs(unescape_markdown(read.text)),
        concepts=split_words(list(map(unescape_markdown, read.values("concepts")))),
        files_read=_list_targets(read.values("reads")),
        files_modified=_list_targets(read.values("modifies")),
        prompt_number=read.number("prompt_number"),
        discovery_tokens=read.number("discovery_tokens"),
        git=_read_git(read, session),
    )


def _read_summary(part: NotePart, session: Session) -> Summary:
    read = read_part(part, SUMMARY_KEYS)
    return Summary(
        id=part.id,
        session_id=session.session_id,
        project=session.project,
        created_at=to_datetime(read.first("created_at")) or session.ended_at or session.started_at,
        files_read=_list_targets(read.values("reads")),
        files_edited=_list_targets(read.values("modifies")),
        discovery_tokens=read.number("discovery_tokens"),
        git=_read_git(read, session),
        **{key: read.first(key) for key in SUMMARY_TEXTS},
    )


def _yield_prompts(part: NotePart, session: Session) -> Iterator[Prompt]:
    for key, value in read_part(part, frozenset()).fields:
        if number := _PROMPT.match(key):
            moment = _FIRST_MOMENT.match(value)
            at = to_datetime(moment[1]) if moment else None
            text = value[moment.end() :] if moment and at else value
            yield Prompt(
                session.session_id,
                int(number[1]),
                one_line(unescape_markdown(text)),
                at or session.started_at,
            )


def _list_targets(values: Sequence[str]) -> tuple[str, ...]:
    """Return the files of some fields: links by their target, without headings and shown text."""
    targets = (
        re.split(r"[|#^]", link[1])[0] if link[1] else unescape_markdown(link[2])
        for value in values
        for link in _LINKED.finditer(value)
    )
    return tuple(dict.fromkeys(path for file in targets if (path := one_line(file))))


def _read_git(read: PartFields, session: Session) -> GitState | None:
    here = session.git.repository_id if session.git else ""
    return _make_git(
        read.first("repository_id") or here, read.first("branch"), read.first("commit")
    )


def _make_git(repository_id: str, branch: str, commit: str) -> GitState | None:
    return GitState(repository_id, branch, commit) if commit else None


def _read_key(extra: Mapping[str, object], key: str) -> str:
    value = extra.get(key)
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


def _read_count(extra: Mapping[str, object], key: str) -> int:
    value = extra.get(key)
    return value if isinstance(value, int) and value > 0 else 0


def split_words(entries: Sequence[str]) -> tuple[str, ...]:
    """Return words, also several with commas between, each once."""
    parts = (one_line(part) for word in entries for part in word.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))
