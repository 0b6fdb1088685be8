"""Write a session as a Markdown note, and read a session's note.

A note has the session in its front matter, then the summary, the prompts, and a heading for each
observation, whose block id is the observation's id. A person may edit all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from blake3 import blake3

from memory_bank.agents import agent_name
from memory_bank.notes import frontmatter, note_parser
from memory_bank.notes.dates import to_datetime
from memory_bank.notes.identity import note_id
from memory_bank.notes.note import Note
from memory_bank.sessions import note_parts
from memory_bank.sessions.model import (
    SUMMARY_PREFIX,
    TITLE_LIMIT,
    GitState,
    Observation,
    Prompt,
    Session,
    Summary,
)
from memory_bank.sessions.note_parts import OBSERVATION_KEYS, SUMMARY_KEYS, SUMMARY_TEXTS, Part
from memory_bank.sessions.note_text import (
    escaped,
    heading,
    one_line,
    paragraphs,
    precise,
    short_lines,
    to_millisecond,
    to_second,
    unescaped,
)
from memory_bank.setting_sections import OBSERVATION_TYPES

TYPE = "session"
"""The type of a session's note."""
ID_LIMIT = 200
"""Maximum number of characters of a session's id."""
PROMPT_LIMIT = 2000
"""Maximum number of characters of a prompt in a note."""
_UNTITLED = "Untitled"
_NAMELESS = "Session"
_CUT = "…"
_ID_DIGITS = 12
_LINKED = re.compile(r"\s*\[\[([^\[\]\n]+)\]\]|((?:\\.|[^,\\])+)")
_NO_LINK = re.compile(r"[\[\]|#^\\`<>\x00-\x1f]|://|\A[/~]|\A[A-Za-z]:|(?:\A|/)\.\.?(?:/|\Z)")
"""Paths out of the project, and those that a wikilink can't name."""
_PROMPT = re.compile(r"prompt (\d{1,9})\Z")
_FIRST_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\S+Z)(?:\s+|\Z)")


def summary_id(session_id: str) -> str:
    """Return the id of the summary of a session."""
    return SUMMARY_PREFIX + blake3(session_id.encode("utf-8", "replace")).hexdigest()[:_ID_DIGITS]


def settled(session: Session) -> Session:
    r"""Return a session as it reads back from its note.

    Times are cut to milliseconds, those of the session to seconds; titles, facts and the like have
    single spaces, and line ends are `\n`.
    """
    prompts = tuple(map(settled_prompt, session.prompts))
    project, git = session.project, _settled_git(session.git)
    summary = session.summary and replace(session.summary, project=project)
    return replace(
        session,
        session_id=one_line(session.session_id),
        project=one_line(session.project),
        agent=agent_name(session.agent),
        started_at=to_second(session.started_at),
        ended_at=session.ended_at and to_second(session.ended_at),
        last_prompt_number=max((prompt.prompt_number for prompt in prompts), default=0),
        git=git,
        prompts=prompts,
        observations=tuple(
            settled_observation(replace(one, project=project), git) for one in session.observations
        ),
        summary=summary and settled_summary(summary, git),
    )


def settled_prompt(prompt: Prompt) -> Prompt:
    """Return a prompt as it reads back."""
    return replace(
        prompt,
        prompt_text=_cut(one_line(prompt.prompt_text), PROMPT_LIMIT),
        created_at=to_millisecond(prompt.created_at),
    )


def settled_observation(one: Observation, git: GitState | None = None) -> Observation:
    """Return an observation as it reads back; `git` is that of the session."""
    return replace(
        one,
        project=one_line(one.project),
        title=_cut(one_line(one.title), TITLE_LIMIT - 1) or _UNTITLED,
        created_at=to_millisecond(one.created_at),
        subtitle=short_lines(one.subtitle),
        facts=tuple(filter(None, map(short_lines, one.facts))),
        narrative=paragraphs(one.narrative),
        concepts=_words(one.concepts),
        files_read=_paths(one.files_read),
        files_modified=_paths(one.files_modified),
        git=_settled_git(one.git, git),
    )


def settled_summary(summary: Summary, git: GitState | None = None) -> Summary:
    """Return a summary as it reads back; `git` is that of the session."""
    texts: dict[str, Any] = {key: short_lines(getattr(summary, key)) for key in SUMMARY_TEXTS}
    return replace(
        summary,
        id=summary_id(summary.session_id),
        project=one_line(summary.project),
        created_at=to_millisecond(summary.created_at),
        files_read=_paths(summary.files_read),
        files_edited=_paths(summary.files_edited),
        git=_settled_git(summary.git, git),
        **texts,
    )


def _settled_git(git: GitState | None, other: GitState | None = None) -> GitState | None:
    if git is None or not (commit := one_line(git.commit)):
        return None
    repository_id = one_line(git.repository_id) or (other.repository_id if other else "")
    return GitState(repository_id, one_line(git.branch), commit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}{_CUT}"


def _words(words: Sequence[str]) -> tuple[str, ...]:
    parts = (one_line(part) for word in words for part in word.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _paths(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(one_line, paths))))


def render(session: Session) -> str:
    """Return the text of a session's new note."""
    session = settled(session)
    blocks = [f"# {heading(title_of(session))}"]
    here = session.git.repository_id if session.git else ""
    if session.summary:
        blocks.append(summary_block(session.summary, here))
    if session.prompts:
        blocks.append(prompts_block(session.prompts))
    blocks += (observation_block(one, here) for one in session.observations)
    known = {key: value for key, value in keys_of(session).items() if value is not None}
    return frontmatter.compose(known, "\n\n".join(blocks))


def title_of(session: Session) -> str:
    """Return the title of a new note: what was asked for first, else what was done."""
    said = session.summary
    asked = [said.request] if said else []
    asked += [prompt.prompt_text for prompt in session.prompts[:1]]
    asked += [one.title for one in session.observations[:1]]
    asked += [said.completed, said.learned] if said else []
    found = next((line for text in asked if (line := one_line(text))), _NAMELESS)
    return _cut(found.split(". ")[0], TITLE_LIMIT - 1)


def keys_of(session: Session) -> dict[str, object | None]:
    """Return the front matter of a session's note; None where there is nothing to say."""
    git = session.git
    started = to_second(session.started_at)
    return {
        "id": note_id(session.session_id, started),
        "type": TYPE,
        "created_at": started,
        "source_type": TYPE,
        "source_agent": session.agent or None,
        "session_id": session.session_id,
        "project": session.project or None,
        "ended_at": session.ended_at and to_second(session.ended_at),
        "input_tokens": session.input_tokens or None,
        "output_tokens": session.output_tokens or None,
        "redactions": session.redactions or None,
        "repository_id": (git and git.repository_id) or None,
        "branch": (git and git.branch) or None,
        "commit": (git and git.commit) or None,
    }


def summary_block(summary: Summary, repository_id: str = "") -> str:
    """Return the part of a note that is its summary; `repository_id` is that of the session."""
    lines = _field_lines(summary_fields(summary, repository_id))
    return f"## Summary\n\n{lines}\n\n^{summary_id(summary.session_id)}"


def summary_fields(summary: Summary, repository_id: str) -> list[tuple[str, str]]:
    """Return the fields of a summary, as Markdown."""
    texts = [(key, escaped(text)) for key in SUMMARY_TEXTS if (text := getattr(summary, key))]
    return [
        *texts,
        *_files(summary.files_read, summary.files_edited),
        ("created_at", precise(summary.created_at)),
        *_work(summary.discovery_tokens, summary.git, repository_id),
    ]


def prompts_block(prompts: Sequence[Prompt]) -> str:
    """Return the part of a note that has its prompts."""
    return "\n".join(("## Prompts\n", *map(prompt_line, prompts)))


def prompt_line(prompt: Prompt) -> str:
    """Return the line of a prompt."""
    text = f" {escaped(prompt.prompt_text)}".rstrip()
    return f"- prompt {prompt.prompt_number}:: {precise(prompt.created_at)}{text}"


def observation_block(one: Observation, repository_id: str = "") -> str:
    """Return the part of a note that is an observation; `repository_id` is that of the session."""
    fields = [
        ("obs_type", one.obs_type),
        ("created_at", precise(one.created_at)),
        ("prompt_number", str(one.prompt_number or "")),
        ("subtitle", escaped(one.subtitle)),
        ("concepts", escaped(", ".join(one.concepts))),
        *_files(one.files_read, one.files_modified),
        *_work(one.discovery_tokens, one.git, repository_id),
        *(("fact", escaped(fact)) for fact in one.facts),
    ]
    blocks = [f"## {heading(one.title)}", _field_lines(fields), escaped(one.narrative)]
    return "\n\n".join((*filter(None, blocks), f"^{one.id}"))


def _work(tokens: int, git: GitState | None, repository_id: str) -> Iterator[tuple[str, str]]:
    yield "discovery_tokens", str(tokens or "")
    if git is not None:
        other = git.repository_id != repository_id
        yield "repository_id", escaped(git.repository_id) if other else ""
        yield "branch", escaped(git.branch)
        yield "commit", escaped(git.commit)


def _files(read: Sequence[str], modified: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "reads", ", ".join(map(_file, read))
    yield "modifies", ", ".join(map(_file, modified))


def _file(path: str) -> str:
    """Return a link to a file of the project; other paths as text."""
    if not _NO_LINK.search(path):
        return f"[[{path}]]"
    text = escaped(path)
    return (text + "\\" * text.endswith("\\")).replace(",", "\\,")


def _field_lines(fields: Sequence[tuple[str, str]]) -> str:
    return "\n".join(field_line(key, value) for key, value in fields if value)


def field_line(key: str, value: str) -> str:
    """Return a field, whose further lines are indented."""
    return "\n  ".join(f"- {key}:: {value}".split("\n"))


def parse(path: str, data: bytes) -> Session | None:
    """Read a session's note; None for another note. Raises UnreadableNote for a binary file."""
    return session_of(note_parser.parse(path, data))


def session_of(note: Note) -> Session | None:
    """Return the session of a note; None if it is no session's."""
    extra = note.meta.extra
    session_id = one_line(str(extra.get("session_id") or ""))
    if note.meta.type != TYPE or not session_id:
        return None
    found = note_parts.parts(note)
    started = note.meta.created_at or datetime.fromtimestamp(0, UTC)
    session = Session(
        session_id=session_id,
        project=_told(extra, "project"),
        started_at=started,
        agent=note.meta.source_agent,
        ended_at=to_datetime(extra.get("ended_at") or ""),
        input_tokens=_count(extra, "input_tokens"),
        output_tokens=_count(extra, "output_tokens"),
        redactions=_count(extra, "redactions"),
        git=_git(*(_told(extra, key) for key in ("repository_id", "branch", "commit"))),
        path=note.path,
    )
    prompts = tuple(_prompts(found.prompts, session)) if found.prompts else ()
    return replace(
        session,
        last_prompt_number=max((prompt.prompt_number for prompt in prompts), default=0),
        prompts=prompts,
        observations=tuple(_observation(part, session) for part in found.observations),
        summary=found.summary and _summary(found.summary, session),
    )


def _observation(part: Part, session: Session) -> Observation:
    read = note_parts.read(part, OBSERVATION_KEYS)
    kind = read.first("obs_type").casefold()
    return Observation(
        id=part.id,
        session_id=session.session_id,
        project=session.project,
        obs_type=kind if kind in OBSERVATION_TYPES else "discovery",
        title=unescaped(part.heading),
        created_at=to_datetime(read.first("created_at")) or session.started_at,
        subtitle=read.first("subtitle"),
        facts=tuple(map(unescaped, read.values("fact"))),
        narrative=paragraphs(unescaped(read.text)),
        concepts=_words(list(map(unescaped, read.values("concepts")))),
        files_read=_targets(read.values("reads")),
        files_modified=_targets(read.values("modifies")),
        prompt_number=read.number("prompt_number"),
        discovery_tokens=read.number("discovery_tokens"),
        git=_git_of(read, session),
    )


def _summary(part: Part, session: Session) -> Summary:
    read = note_parts.read(part, SUMMARY_KEYS)
    return Summary(
        id=part.id,
        session_id=session.session_id,
        project=session.project,
        created_at=to_datetime(read.first("created_at")) or session.ended_at or session.started_at,
        files_read=_targets(read.values("reads")),
        files_edited=_targets(read.values("modifies")),
        discovery_tokens=read.number("discovery_tokens"),
        git=_git_of(read, session),
        **{key: read.first(key) for key in SUMMARY_TEXTS},
    )


def _prompts(part: Part, session: Session) -> Iterator[Prompt]:
    for key, value in note_parts.read(part, frozenset()).fields:
        if number := _PROMPT.match(key):
            moment = _FIRST_MOMENT.match(value)
            at = to_datetime(moment[1]) if moment else None
            text = value[moment.end() :] if moment and at else value
            yield Prompt(
                session.session_id,
                int(number[1]),
                one_line(unescaped(text)),
                at or session.started_at,
            )


def _targets(values: Sequence[str]) -> tuple[str, ...]:
    """Return the files of some fields: links by their target, without headings and shown text."""
    found = (
        re.split(r"[|#^]", link[1])[0] if link[1] else unescaped(link[2])
        for value in values
        for link in _LINKED.finditer(value)
    )
    return tuple(dict.fromkeys(path for file in found if (path := one_line(file))))


def _git_of(read: note_parts.Read, session: Session) -> GitState | None:
    here = session.git.repository_id if session.git else ""
    return _git(read.first("repository_id") or here, read.first("branch"), read.first("commit"))


def _git(repository_id: str, branch: str, commit: str) -> GitState | None:
    return GitState(repository_id, branch, commit) if commit else None


def _told(extra: Mapping[str, object], key: str) -> str:
    value = extra.get(key)
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


def _count(extra: Mapping[str, object], key: str) -> int:
    value = extra.get(key)
    return value if isinstance(value, int) and value > 0 else 0
