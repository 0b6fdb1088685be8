"""Write a session as a Markdown note, and read a session's note.

A note has the session in its front matter, then the summary, the prompts, and a heading for each
observation, whose block id is the observation's id. A person may edit all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from blake3 import blake3

from memory_bank.base import lazy_pattern, shorten
from memory_bank.base.text import agent_name
from memory_bank.notes import front_matter
from memory_bank.notes.identity import make_slug, note_id
from memory_bank.sessions.note_reading import TYPE, split_words
from memory_bank.sessions.note_text import (
    escape_heading,
    escape_markdown,
    format_moment,
    one_line,
    short_lines,
    split_paragraphs,
    to_millisecond,
    to_second,
)
from memory_bank.sessions.records import (
    SUMMARY_PREFIX,
    SUMMARY_TEXTS,
    TITLE_LIMIT,
    GitState,
    Observation,
    Prompt,
    Session,
    Summary,
)

ID_LIMIT = 200
"""Maximum number of characters of a session's id."""

PROMPT_LIMIT = 2000
"""Maximum number of characters of a prompt in a note."""

_UNTITLED = "Untitled"

_NAMELESS = "Session"

_ID_DIGITS = 12

_NO_LINK = lazy_pattern(r"[\[\]|#^\\`<>\x00-\x1f]|://|\A[/~]|\A[A-Za-z]:|(?:\A|/)\.\.?(?:/|\Z)")
"""Paths out of the project, and those that a wikilink can't name."""


def make_summary_id(session_id: str) -> str:
    """Return the id of the summary of a session."""
    return SUMMARY_PREFIX + blake3(session_id.encode("utf-8", "replace")).hexdigest()[:_ID_DIGITS]


def settle_session(session: Session) -> Session:
    r"""Return a session as it reads back from its note.

    Times are cut to milliseconds, those of the session to seconds; titles, facts and the like have
    single spaces, and line ends are `\n`.
    """
    prompts = tuple(map(settle_prompt, session.prompts))
    project, git = session.project, _settle_git(session.git)
    summary = session.summary and session.summary._replace(project=project)
    return session._replace(
        session_id=one_line(session.session_id),
        project=one_line(session.project),
        agent=agent_name(session.agent),
        started_at=to_second(session.started_at),
        ended_at=session.ended_at and to_second(session.ended_at),
        last_prompt_number=max((prompt.prompt_number for prompt in prompts), default=0),
        git=git,
        prompts=prompts,
        observations=tuple(
            settle_observation(observation._replace(project=project), git)
            for observation in session.observations
        ),
        summary=summary and settle_summary(summary, git),
    )


def settle_prompt(prompt: Prompt) -> Prompt:
    """Return a prompt as it reads back."""
    return prompt._replace(
        prompt_text=shorten(one_line(prompt.prompt_text), PROMPT_LIMIT),
        created_at=to_millisecond(prompt.created_at),
    )


def settle_observation(observation: Observation, git: GitState | None = None) -> Observation:
    """Return an observation as it reads back; `git` is that of the session."""
    return observation._replace(
        project=one_line(observation.project),
        title=shorten(one_line(observation.title), TITLE_LIMIT - 1) or _UNTITLED,
        created_at=to_millisecond(observation.created_at),
        subtitle=short_lines(observation.subtitle),
        facts=tuple(filter(None, map(short_lines, observation.facts))),
        narrative=split_paragraphs(observation.narrative),
        concepts=split_words(observation.concepts),
        files_read=_settle_paths(observation.files_read),
        files_modified=_settle_paths(observation.files_modified),
        git=_settle_git(observation.git, git),
    )


def settle_summary(summary: Summary, git: GitState | None = None) -> Summary:
    """Return a summary as it reads back; `git` is that of the session."""
    texts: dict[str, Any] = {key: short_lines(getattr(summary, key)) for key in SUMMARY_TEXTS}
    return summary._replace(
        id=make_summary_id(summary.session_id),
        project=one_line(summary.project),
        created_at=to_millisecond(summary.created_at),
        files_read=_settle_paths(summary.files_read),
        files_edited=_settle_paths(summary.files_edited),
        git=_settle_git(summary.git, git),
        **texts,
    )


def _settle_git(git: GitState | None, git_state: GitState | None = None) -> GitState | None:
    if git is None or not (commit := one_line(git.commit)):
        return None
    repository_id = one_line(git.repository_id) or (git_state.repository_id if git_state else "")
    return GitState(repository_id, one_line(git.branch), commit)


def _settle_paths(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(one_line, paths))))


def render(session: Session) -> str:
    """Return the text of a session's new note."""
    session = settle_session(session)
    blocks = [f"# {escape_heading(session_title(session))}"]
    if session.summary:
        blocks.append(summary_block(session.summary, session.git))
    if session.prompts:
        blocks.append(prompts_block(session.prompts))
    blocks += (observation_block(observation, session.git) for observation in session.observations)
    metadata = {key: value for key, value in session_keys(session).items() if value is not None}
    return front_matter.compose_text(metadata, "\n\n".join(blocks))


def session_title(session: Session) -> str:
    """Return the title of a new note: what was done or answered first, never what was asked for."""
    summary = session.summary
    titles = [observation.title for observation in session.observations[:1]]
    titles += (
        [summary.completed, summary.learned, summary.next_steps, summary.notes] if summary else []
    )
    title = next((line for text in titles if (line := one_line(text))), _NAMELESS)
    return shorten(title.split(". ")[0].removeprefix("- "), TITLE_LIMIT - 1)


def session_keys(session: Session) -> dict[str, object | None]:
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
        "project": session.project,
        "ended_at": session.ended_at and to_second(session.ended_at),
        "input_tokens": session.input_tokens or None,
        "output_tokens": session.output_tokens or None,
        "redactions": session.redactions or None,
        "repository_id": (git and git.repository_id) or None,
        "branch": (git and git.branch) or None,
        "commit": (git and git.commit) or None,
    }


def summary_block(summary: Summary, git: GitState | None = None) -> str:
    """Return the part of a note that is its summary; `git` is that of the session."""
    lines = _write_fields(summary_fields(summary, git))
    return f"## Summary\n\n{lines}\n\n^{make_summary_id(summary.session_id)}"


def summary_fields(summary: Summary, git: GitState | None) -> list[tuple[str, str]]:
    """Return the fields of a summary, as Markdown."""
    texts = [
        (key, escape_markdown(text)) for key in SUMMARY_TEXTS if (text := getattr(summary, key))
    ]
    return [
        *texts,
        *_yield_file_fields(summary.files_read, summary.files_edited),
        ("created_at", format_moment(summary.created_at)),
        *_yield_work_fields(summary.discovery_tokens, summary.git, git),
    ]


def prompts_block(prompts: Sequence[Prompt]) -> str:
    """Return the part of a note that has its prompts."""
    return "\n".join(("## Prompts\n", *map(prompt_line, prompts)))


def prompt_line(prompt: Prompt) -> str:
    """Return the line of a prompt."""
    text = f" {escape_markdown(prompt.prompt_text)}".rstrip()
    return f"- prompt {prompt.prompt_number}:: {format_moment(prompt.created_at)}{text}"


def observation_block(observation: Observation, git: GitState | None = None) -> str:
    """Return the part of a note that is an observation; `git` is that of the session."""
    fields = [
        ("obs_type", observation.obs_type),
        ("created_at", format_moment(observation.created_at)),
        ("prompt_number", str(observation.prompt_number or "")),
        ("subtitle", escape_markdown(observation.subtitle)),
        ("concepts", escape_markdown(", ".join(observation.concepts))),
        *_yield_file_fields(observation.files_read, observation.files_modified),
        *_yield_work_fields(observation.discovery_tokens, observation.git, git),
        *(("fact", escape_markdown(fact)) for fact in observation.facts),
    ]
    blocks = [
        f"## {escape_heading(observation.title)}",
        _write_fields(fields),
        escape_markdown(observation.narrative),
    ]
    return "\n\n".join((*filter(None, blocks), f"^{observation.id}"))


def _yield_work_fields(
    tokens: int, git: GitState | None, of_session: GitState | None
) -> Iterator[tuple[str, str]]:
    yield "discovery_tokens", str(tokens or "")
    if git is not None:
        is_same = of_session and git.repository_id == of_session.repository_id
        yield "repository_id", "" if is_same else escape_markdown(git.repository_id)
        yield "branch", escape_markdown(git.branch)
        yield "commit", escape_markdown(git.commit)


def _yield_file_fields(read: Sequence[str], modified: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "reads", ", ".join(map(_link_file, read))
    yield "modifies", ", ".join(map(_link_file, modified))


def _link_file(path: str) -> str:
    """Return a link to a file of the project; other paths as text."""
    if not _NO_LINK.search(path):
        return f"[[{path}]]"
    text = escape_markdown(path)
    return (text + "\\" * text.endswith("\\")).replace(",", "\\,")


def _write_fields(fields: Sequence[tuple[str, str]]) -> str:
    return "\n".join(field_line(key, value) for key, value in fields if value)


def field_line(key: str, value: str) -> str:
    """Return a field, whose further lines are indented."""
    return "\n  ".join(f"- {key}:: {value}".split("\n"))


FOLDER = "sessions"

_SAFE = lazy_pattern(r"[0-9a-z][0-9a-z_-]*", re.IGNORECASE)

# Digits of a session's id in the name of its note: more where two begin alike.
_LENGTHS = (8, 12, 16, 32)

# Characters of a title in a note's name.
_SLUG_LIMIT = 50


def yield_paths(
    session: Session, observations: Sequence[Observation], summary: Summary | None
) -> Iterator[str]:
    """Yield `sessions/YYYY/MM/DD-slug-id.md` with more and more characters of the session's id.

    The slug is of what was asked for first, else of the first observation. Of an id with
    characters that are odd in a file's name, the digits are of its hash.
    """
    title = session_title(session._replace(observations=tuple(observations), summary=summary))
    start = f"{FOLDER}/{to_second(session.started_at):%Y/%m/%d}-{make_slug(title, _SLUG_LIMIT)}"
    hashed = blake3(session.session_id.encode("utf-8", "replace")).hexdigest()
    plain = "".join(char for char in session.session_id.lower() if char.isalnum())
    plain_paths = (
        plain if _SAFE.fullmatch(session.session_id) and len(plain) >= _LENGTHS[0] else hashed
    )
    names = [
        *(plain_paths[:length] for length in _LENGTHS),
        *(hashed[:length] for length in _LENGTHS),
    ]
    for name in dict.fromkeys(names):
        yield f"{start}-{name}.md"
