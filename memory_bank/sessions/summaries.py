"""Make the summary of a session: of what the agent says, else of its prompts and observations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from memory_bank.base.errors import BadInput
from memory_bank.sessions.compression.local import summarise
from memory_bank.sessions.note_format import summary_id
from memory_bank.sessions.note_reading import SUMMARY_TEXTS
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.records import GitState, Session, Summary

_MOST = 12
"""Most lines of one text."""

_PROMPTS = 3

_PROMPT_LENGTH = 300


def summary_of(
    session: Session,
    given: str | Mapping[str, object] | None,
    created_at: datetime,
    git: GitState | None,
) -> Summary:
    """Return the summary of a session; `given` is what the agent said of it.

    That is a text of what was completed, or a mapping with some of the six texts. What was asked
    for is taken from the prompts if it is not said; the rest only if nothing is said. Raises
    BadInput for other keys or values.
    """
    said = _said(given)
    texts = {"request": _request(session)} | (said or _local(session))
    read = [file for one in session.observations for file in one.files_read]
    edited = [file for one in session.observations for file in one.files_modified]
    return Summary(
        id=summary_id(session.session_id),
        session_id=session.session_id,
        project=session.project,
        created_at=created_at,
        files_read=tuple(dict.fromkeys(file for file in read if file not in edited)),
        files_edited=tuple(dict.fromkeys(edited)),
        discovery_tokens=sum(one.discovery_tokens for one in session.observations),
        git=git,
        **{key: texts.get(key, "") for key in SUMMARY_TEXTS},
    )


def _said(given: str | Mapping[str, object] | None) -> dict[str, str]:
    if given is None:
        return {}
    if isinstance(given, str):
        return {"completed": given.strip()} if given.strip() else {}
    if unknown := given.keys() - {*SUMMARY_TEXTS}:
        raise BadInput(
            f"a summary has no {', '.join(sorted(map(str, unknown)))[:60]}",
            f"give a text, or some of: {', '.join(SUMMARY_TEXTS)}",
        )
    return {key: text for key, value in given.items() if (text := _text(key, value))}


def _text(key: str, value: object) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {one_line(item)}" for item in value)
    raise BadInput(f"{key} of a summary is no text", "give a text, or a list of texts")


def _request(session: Session) -> str:
    texts = [one_line(prompt.prompt_text) for prompt in session.prompts]
    shown = [text for text in texts if text][:_PROMPTS]
    return _listed(
        [f"{text[:_PROMPT_LENGTH]}{'…' * (len(text) > _PROMPT_LENGTH)}" for text in shown]
    )


def _local(session: Session) -> dict[str, str]:
    """Return what observations tell."""
    return {key: _listed(lines) for key, lines in summarise(session).items() if lines}


def _listed(lines: list[str]) -> str:
    """Return one line as it is, several as a list, the last ones if there are too many."""
    lines = list(dict.fromkeys(lines))
    if len(lines) > _MOST:
        lines = [f"… {len(lines) - _MOST + 1} before", *lines[1 - _MOST :]]
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
