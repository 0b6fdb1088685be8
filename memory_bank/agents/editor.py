"""The interface of the editors of clients' JSON and TOML files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Path = tuple[str | int, ...]
"""Keys of objects and indices of array elements, from the outermost value inwards."""

_BARE_LF = re.compile(r"(?<!\r)\n")


def edit_lines(text: str, edit: Callable[[str], str]) -> str:
    """Edit a text without its byte order mark, with LF where all its lines end with CRLF."""
    plain = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(plain)]
    if "\r\n" not in plain or _BARE_LF.search(plain):
        return mark + edit(plain)
    return mark + edit(plain.replace("\r\n", "\n")).replace("\n", "\r\n")


def nested(path: Path, value: object) -> Any:  # noqa: ANN401  (what JSON and TOML can say)
    """Return a value nested in new objects by the keys of a path; an index makes an array."""
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


# Here, since the help of a command names them and must not load the registry; a test compares.
NAMES = (
    *("claude-code", "claude-desktop", "cursor", "vscode"),
    *("codex", "windsurf", "zed", "gemini"),
)

HOOK_NAMES = ("claude-code", "codex", "gemini", "copilot", "cursor", "opencode")
"""Clients whose hooks can be set up."""

SCOPES = ("project", "user")
