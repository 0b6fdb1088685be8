"""Add to the text of a session's note; everything else in it stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from memory_bank.base.errors import StorageFailed
from memory_bank.notes import front_matter
from memory_bank.notes.blocks import last_break
from memory_bank.notes.characters import BREAK
from memory_bank.notes.note import Note
from memory_bank.sessions.note_format import (
    field_line,
    make_summary_id,
    observation_block,
    prompt_line,
    prompts_block,
    session_keys,
    settle_observation,
    settle_prompt,
    settle_summary,
    summary_block,
    summary_fields,
)
from memory_bank.sessions.note_reading import (
    FIELD,
    SUMMARY_KEYS,
    NotePart,
    parse_note,
    read_head,
    read_parts,
    read_prompts,
)
from memory_bank.sessions.records import GitState, Observation, Prompt, Session, Summary

Clean = Callable[[str], str]

_STATED = (
    "ended_at", "input_tokens", "output_tokens", "redactions", "repository_id", "branch", "commit",
)  # fmt: skip
"""The front matter that changes while a session goes on."""


def set_state(text: str, session: Session) -> str:
    """Return a note's text with the end, tokens, redactions and git state of its session."""
    keys = session_keys(session)
    return front_matter.set_keys(text, {key: keys[key] for key in _STATED})


def add_observations(
    path: str, text: str, observations: Sequence[Observation], clean: Clean = str
) -> str:
    """Return a note's text with those observations that it does not have yet, at its end.

    `clean` may change what is added, here and below.
    """
    note = _parse_text(path, text)
    git = _read_git(note)
    new = [
        settle_observation(observation, git)
        for observation in observations
        if observation.id not in note.body.blocks
    ]
    if not new:
        return text
    block = "\n\n".join(clean(observation_block(observation, git)) for observation in new)
    return _insert_block(path, text, block, [observation.id for observation in new])


def add_prompts(path: str, text: str, prompts: Sequence[Prompt], clean: Clean = str) -> str:
    """Return a note's text with those prompts that it does not have yet, after the others."""
    note = _parse_text(path, text)
    session = read_head(note)
    there = {prompt.prompt_number for prompt in read_prompts(note, session)} if session else set()
    new = [settle_prompt(prompt) for prompt in prompts if prompt.prompt_number not in there]
    if not new:
        return text
    observations, summary, part = read_parts(note)
    if part is None:
        at = summary.end if summary else _first_heading(note, observations)
        return _splice_block(text, at, clean(prompts_block(new)))
    lines = part.lines
    last = max((n for n, line in enumerate(lines) if line.strip()), default=-1) + 1
    return _insert_lines(text, part, last, [clean(prompt_line(prompt)) for prompt in new])


def set_summary(path: str, text: str, summary: Summary, clean: Clean = str) -> str:
    """Return a note's text with a summary in place of the one that it has."""
    note = _parse_text(path, text)
    git = _read_git(note)
    summary = settle_summary(summary, git)
    observations, part, prompts = read_parts(note)
    if part is None:
        at = prompts.start if prompts else _first_heading(note, observations)
        text = _splice_block(text, at, clean(summary_block(summary, git)))
        if make_summary_id(summary.session_id) not in _parse_text(path, text).body.blocks:
            raise _say_not_read(path)
        return text
    fields = [(key, clean(value)) for key, value in summary_fields(summary, git) if value]
    return _replace_fields(text, part, fields)


def read_field(path: str, text: str, observation_id: str, key: str) -> str:
    """Return the value of a field of an observation or the summary; empty if it has none."""
    part = _find_observation(path, text, observation_id)
    number = _find_field_line(part, key)
    match = FIELD.fullmatch(part.lines[number]) if number is not None else None
    return (match[2] or "").strip() if match else ""


def set_field(path: str, text: str, observation_id: str, key: str, value: str) -> str:
    """Return a note's text with a field of an observation or the summary set."""
    part = _find_observation(path, text, observation_id)
    number = _find_field_line(part, key)
    if number is None:
        return _insert_lines(text, part, _find_end_of_fields(part), [field_line(key, value)])
    former = part.lines[number]
    at = text.index(former, _find_offset(text, part, number))
    return text[:at] + field_line(key, value) + text[at + len(former) :]


def remove_observation(path: str, text: str, observation_id: str) -> str:
    """Return a note's text without the section of an observation."""
    part = _find_observation(path, text, observation_id)
    return text[: part.start] + text[part.end :]


def _find_observation(path: str, text: str, observation_id: str) -> NotePart:
    """Return the part of an observation, or of the summary, by its id.

    Raises StorageFailed if the note does not have it.
    """
    observations, summary, _ = read_parts(_parse_text(path, text))
    for part in (*observations, summary):
        if part and part.id == observation_id:
            return part
    raise _say_not_read(path)


def _find_end_of_fields(part: NotePart) -> int:
    """Return the number of the first line after an observation's fields."""
    lines = part.lines
    number = next((n for n, line in enumerate(lines) if line.strip()), 0)
    while number < len(lines) and (
        FIELD.fullmatch(lines[number]) or (lines[number].strip() and lines[number][0] in " \t")
    ):
        number += 1
    return number


def _find_field_line(part: NotePart, key: str) -> int | None:
    """Return the number of the line with a field; None if an observation has no such field."""
    for number, line in enumerate(part.lines[: _find_end_of_fields(part)]):
        match = FIELD.fullmatch(line)
        if match and match[1].lower() == key:
            return number
    return None


def _replace_fields(text: str, part: NotePart, fields: Sequence[tuple[str, str]]) -> str:
    """Replace the known fields of a part where they are, and add new ones after the last."""
    values = dict(fields)
    entries: list[str] = []
    last = 0
    dropping = False
    for line in part.lines:
        match = FIELD.fullmatch(line)
        key = match[1].lower() if match else ""
        dropping = key in SUMMARY_KEYS or (dropping and line[:1] in (" ", "\t") and not match)
        if key in values:
            entries.append(field_line(key, values.pop(key)))
        elif not dropping:
            entries.append(line)
        if match:
            last = len(entries)
    at = last or (1 if entries and not entries[0].strip() else 0)
    entries[at:at] = [field_line(*field) for field in values.items()]
    newline = _find_newline(text)
    body = newline.join("\n".join(entries).split("\n"))
    return text[: part.body] + body + text[part.end :]


def _insert_lines(text: str, part: NotePart, at: int, lines: Sequence[str]) -> str:
    """Insert lines into a part before its line number `at`."""
    newline = _find_newline(text)
    offset = _find_offset(text, part, at)
    if offset is None:
        return f"{text[: part.end]}{newline}{newline.join(lines)}{newline}{text[part.end :]}"
    return f"{text[:offset]}{newline.join(lines)}{newline}{text[offset:]}"


def _find_offset(text: str, part: NotePart, at: int) -> int | None:
    """Return the offset of a part's line number `at`; None if no line end comes before it."""
    offset = part.body
    for _ in range(at):
        match = BREAK.search(text, offset, part.end)
        if match is None:
            return None
        offset = match.end()
    return offset


def _insert_block(path: str, text: str, block: str, ids: Collection[str]) -> str:
    """Insert a block at the end, or before a heading if something open at the end swallows it."""
    starts = [section.start for section in _parse_text(path, text).body.sections]
    for at in [len(text), *reversed(starts)]:
        new = _splice_block(text, at, block)
        if all(name in _parse_text(path, new).body.blocks for name in ids):
            return new
    raise _say_not_read(path)


def _splice_block(text: str, at: int, block: str) -> str:
    """Insert a block with blank lines around it."""
    newline = _find_newline(text)
    before, after = text[:at], text[at:]
    ends = len(BREAK.findall(before[len(before.rstrip()) :]))
    gap = newline * max(0, 2 - ends) if before.strip() else ""
    block = newline.join(block.split("\n"))
    return f"{before}{gap}{block}{newline}{newline if after.strip() else ''}{after}"


def _first_heading(note: Note, observations: Sequence[NotePart]) -> int:
    """Return where the first observation starts, else the end."""
    return observations[0].start if observations else len(note.text)


def _find_newline(text: str) -> str:
    match = BREAK.search(text)
    return match[0] if match else last_break(text, "\n")


def _read_git(note: Note) -> GitState | None:
    session = read_head(note)
    return session.git if session else None


def _parse_text(path: str, text: str) -> Note:
    return parse_note(path, text.encode("utf-8", "replace"))


def _say_not_read(path: str) -> StorageFailed:
    return StorageFailed(
        f"{path}: nothing can be added so that it reads back", "repair the note in an editor"
    )
