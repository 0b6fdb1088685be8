"""Read what programs report, of which nothing is taken for granted.

It is the fields of a hook's event, the lines of a transcript, and what of a prompt a person typed.
Hooks and transcripts both ask here, so that a machine's text never becomes a rule of the user.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any

from memory_bank.base import lazy_pattern

Payload = Mapping[str, Any]

_LONGEST_ID = 200

_MOST_NUMBER = 10**12
"""The largest count that is believed: a database holds no number of any size."""

_FIRST, _LAST = 1e9, 1e11
"""Seconds since 1970 that can be those of an event; more are milliseconds."""

MOST_LINE = 20_000_000
"""Bytes of a line of a transcript; a longer one is skipped."""

_MOST_FILE = 500_000_000
"""Bytes of a transcript that are read."""

_ADDED = lazy_pattern(
    r"<(system[-_]reminder|ide_[a-z_]{1,40}|hook_context|session_context|environment_context"
    r"|user_instructions|current_datetime)\b[^<>]{0,300}>"
)
"""Openings of what programs add to a prompt, wherever it stands."""

_STARTS = (
    "<agent-message", "<cross-session-message", "<teammate-message", "<task-notification",
    "<channel", "<command-", "<local-command", "<bash-", "<user-memory", "<user-prompt-submit-hook",
    "<turn_aborted", "<permissions", "<skill", "<subagent_notification", "<user_shell_command",
    "<system-reminder", "<system_reminder", "<system_notification", "<hook_context",
    "<session_context", "<environment_context", "<user_instructions",
    "[system notification", "system notification:", "[cross-session message", "[teammate message",
    "[agent message", "[channel message",
    "[request interrupted", "caveat: the messages below", "# agents.md instructions for",
    "this session is being continued from", "before you stop: this session changed files",
)  # fmt: skip
"""Starts of prompts that no person typed, in lower case."""

_ANOTHER_SESSION = lazy_pattern(
    r"an?(?:other)? (?:peer )?(?:[a-z]{2,20} ){1,2}session sent", re.IGNORECASE
)
"""How a message of another agent starts: `Another Claude session sent a message:`."""

_TAG = lazy_pattern(
    r"<([^\W\d_][\w:.-]{0,60})(?:\s(?:[^<>\"']|\"[^\"]{0,200}\"|'[^']{0,200}'){0,500}?)?(/?)>"
)

_ASIDE = lazy_pattern(r"<!--(?s:.){0,2000}?-->|<[?!][^<>]{0,500}>")
"""A comment or a declaration of XML between tags."""

_UNSEEN = "\ufeff\u200b\u200c\u200d\u2060"
"""Invisible characters that may stand before a text."""

_INK = lazy_pattern(r"\S")


def read_text(payload: Payload, *names: str) -> str:
    """Return the first of some fields that is a text and not empty; else an empty text."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def read_identifier(payload: Payload, *names: str) -> str:
    """Return a field that identifies something; empty if it is missing or can't be an id."""
    identity = read_text(payload, *names)
    return identity if len(identity) <= _LONGEST_ID and identity.isprintable() else ""


def read_fields(payload: Payload, name: str) -> Payload:
    """Return a field that has fields; else none."""
    mapping = payload.get(name)
    return mapping if isinstance(mapping, dict) else {}


def read_project(payload: Payload, *variables: str) -> str:
    """Return the folder of a client's project: of a variable, else the working directory."""
    for variable in variables:
        folder = os.environ.get(variable, "")
        if os.path.isabs(folder) and os.path.isdir(folder):
            return folder
    folder = read_text(payload, "cwd")
    return folder if os.path.isabs(folder) else os.getcwd()


def read_seconds(value: object) -> float:
    """Return seconds since 1970 of a time in ISO 8601, in seconds or milliseconds; else 0."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not abs(value) < _MOST_NUMBER * 1000:
            return 0.0  # also NaN; not all whole numbers can be floats
        return _check_time(float(value) / (1000 if value > _LAST else 1))
    if isinstance(value, str) and value:
        from datetime import UTC, datetime

        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(value)
            return _check_time(
                (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
            )
    return 0.0


def _check_time(seconds: float) -> float:
    return seconds if _FIRST < seconds < _LAST else 0.0  # NaN isn't either


def digest(*parts: object) -> str:
    """Return a short text that differs between different values."""
    data = repr(parts).encode(errors="replace")
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}{len(data):x}"


def message_key(message: str) -> str:
    """Return the key of the last text of a turn, the same in an event and in the transcript."""
    return f"said {digest(message.strip())}"


def end_of(file: str, most: int, having: str) -> Iterator[Payload]:
    """Yield the JSON objects in the last bytes of a file whose line has a text, the last first.

    None if the file can't be read.
    """
    try:
        with open(file, "rb") as lines:
            if not S_ISREG(os.fstat(lines.fileno()).st_mode):
                return
            lines.seek(max(0, lines.seek(0, os.SEEK_END) - most))
            data = lines.read(most)
    except OSError:
        return
    needle = having.encode(errors="replace")
    for line in reversed([line for line in data.splitlines() if needle in line]):
        if isinstance(document := _load_json(line), dict):
            yield document


def parse_json(value: object) -> object:
    """Return the value of a text that is a JSON object or list; anything else unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        document = _load_json(value)
        return value if document is None else document
    return value


def _load_json(text: bytes | str) -> object:
    """Return a JSON value; None for anything else."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def drop_fields(value: object, *names: str) -> object:
    """Return an object without some of its fields; anything else unchanged."""
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if name not in names}


def read_number(value: object) -> int:
    """Return a whole number that counts something, at most 10¹²; 0 for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), _MOST_NUMBER)


def read_lines(file: Path, skipped: Counter[str]) -> Iterator[Payload]:
    """Yield the objects of a file; other lines are counted by why they were skipped.

    Raises OSError.
    """
    with open(file, "rb") as lines:
        if not S_ISREG(os.fstat(lines.fileno()).st_mode):
            skipped["not a file"] += 1
            return
        size = 0
        while size < _MOST_FILE and (line := lines.readline(MOST_LINE)):
            size += len(line)
            if not line.endswith(b"\n") and len(line) == MOST_LINE:
                skipped["line too long"] += 1
                while (rest := lines.readline(MOST_LINE)) and not rest.endswith(b"\n"):
                    size += len(rest)
                continue
            parsed = _load_json(line)
            if isinstance(parsed, dict):
                yield parsed
            elif line.strip():
                skipped["cut off" if not line.endswith(b"\n") else "not JSON"] += 1


def read_first(file: Path, most: int = 40) -> Iterator[Payload]:
    """Yield the objects among the first lines of a file; none if it can't be read."""
    with suppress(OSError):
        for number, line in enumerate(read_lines(file, Counter())):
            if number >= most:
                return
            yield line


def list_parts(message: Payload) -> list[Payload]:
    """Return those parts of a message's content that have fields."""
    parts = message.get("content")
    return [item for item in parts if isinstance(item, dict)] if isinstance(parts, list) else []


def join_texts(content: object) -> str:
    """Return the text of a message's content: a string, or its parts that are text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    parts = (part if isinstance(part, str) else read_text(part, "text", "input_text")
             for part in content if isinstance(part, str | dict))  # fmt: skip
    return "\n".join(filter(None, parts))


def list_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that fit a pattern, sorted; none if it can't be read."""
    with suppress(OSError):
        return sorted(path for path in folder.glob(pattern) if path.is_file())
    return []


def strip_program_text(prompt: str) -> str:
    """Return what a person typed of a prompt; empty if a program sent it.

    A prompt that is nothing but tags with their content is a program's, also with unknown tags.
    """
    text = _strip_additions(prompt).strip().lstrip(_UNSEEN).strip()
    is_sent = text[:60].lower().startswith(_STARTS) or _ANOTHER_SESSION.match(text)
    if is_sent or _is_tagged(text):
        return ""
    return text


def _strip_additions(prompt: str) -> str:
    """Return a prompt without the closed tags that programs add."""
    parts, at = list[str](), 0
    while opening := _ADDED.search(prompt, at):
        closing = f"</{opening[1]}>"
        end = prompt.find(closing, opening.end())
        if end < 0:
            break
        parts.append(prompt[at : opening.start()])
        at = end + len(closing)
    return "".join((*parts, prompt[at:]))


def _is_tagged(text: str) -> bool:
    """Return whether a text is one or several tags, with nothing before, between or after them."""
    at = 0
    while ink := _INK.search(text, at):
        if aside := _ASIDE.match(text, ink.start()):
            at = aside.end()
            continue
        opening = _TAG.match(text, ink.start())
        if opening is None:
            return False
        closing = f"</{opening[1]}>"
        if opening[2]:
            at = opening.end()
        elif text.endswith(closing):
            return True  # one tag around all, which may have others of its name in it
        elif (end := text.find(closing, opening.end())) < 0:
            return False
        else:
            at = end + len(closing)
    return bool(text)
