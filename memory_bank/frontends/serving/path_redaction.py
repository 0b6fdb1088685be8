"""Redaction of this machine's paths in answers to clients on other machines.

Only this program's own messages are changed. The text of notes stays the same, so that a client
can write back what it has read.
"""

from __future__ import annotations

import copy
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from memory_bank.base import lazy_pattern, paths
from memory_bank.base.errors import MemoryBankError
from memory_bank.frontends.serving.shared_bank import SharedBank

_END = r"""[^\s'",;:()\\]*"""

_ABSOLUTE = lazy_pattern(
    rf"""(?<![\w/\\.:~…])(?:/(?=[^\s/]){_END}|[A-Za-z]:(?:[/\\]+[^\s'",;:()/\\]+)+)"""
)

_OURS = ("problem", "polling", "git", "hooks", "bank", "index")

_READING = frozenset({"bad-front-matter", "fault", "unindexed"})
"""Rules whose messages say why a file can't be read; those of others quote notes."""

Value = TypeVar("Value")


class PathRedaction:
    """Shortens absolute paths to paths below the bank, or to file names."""

    def __init__(self, shared: SharedBank) -> None:
        """Redact for a bank that need not be open yet."""
        self._shared = shared

    def __call__(self, text: str) -> str:
        """Return a message without paths of this machine."""
        for root in self._list_banks():
            text = text.replace(f"{root}/", "").replace(root, "the bank")
        for root in _list_roots():
            text = re.sub(rf"{re.escape(root)}{_END}", _keep_name, text)
        return _ABSOLUTE.sub(_keep_name, text)

    def _list_banks(self) -> Iterator[str]:
        try:
            yield from map(str, self._shared.bank().folders())
        except MemoryBankError:
            return


def redact_paths(value: Value, hide: Callable[[str], str]) -> Value:
    """Return an action's record with the paths in its messages redacted."""
    changes: dict[str, object] = {}
    for name in _OURS:
        if isinstance(message := getattr(value, name, None), str):
            changes[name] = hide(message)
    if isinstance(findings := getattr(value, "findings", None), tuple):
        changes["findings"] = tuple(
            finding._replace(message=hide(finding.message)) if finding.rule in _READING else finding
            for finding in findings
        )
    return _redact_value(value, **changes) if changes else value


def _redact_value(value: Any, **changes: object) -> Any:  # noqa: ANN401  (a record of any kind)
    if hasattr(value, "_replace"):
        return value._replace(**changes)
    redacted = copy.copy(value)
    for name, text in changes.items():
        object.__setattr__(redacted, name, text)  # also of a frozen record
    return redacted


def _list_roots() -> list[str]:
    """Return the folders that messages may name and whose paths may contain spaces."""
    folders = [Path.home(), Path(tempfile.gettempdir())]
    folders += [paths.user_folder(kind) for kind in ("data", "state", "cache")]
    names = {str(folder) for folder in folders if folder != Path(folder.anchor)}
    return sorted(names, key=len, reverse=True)


def _keep_name(match: re.Match[str]) -> str:
    name = re.split(r"[/\\]", match[0].rstrip("/\\"))[-1]
    return f"…/{name}"
