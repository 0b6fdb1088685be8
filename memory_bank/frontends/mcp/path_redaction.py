"""Keep paths of this machine out of answers to clients that may be elsewhere.

Notes are shown as they are: only what this program says itself is changed, so that a client can
write back what it has read.
"""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from memory_bank import layout
from memory_bank.errors import MemoryBankError
from memory_bank.serving.shared_bank import SharedBank

_END = r"""[^\s'",;:()\\]*"""
_ABSOLUTE = re.compile(
    rf"""(?<![\w/\\.:~…])(?:/(?=[^\s/]){_END}|[A-Za-z]:(?:[/\\]+[^\s'",;:()/\\]+)+)"""
)
_OURS = ("problem", "polling", "git", "bank", "index")
_LISTED = ("unindexed", "faults")

Value = TypeVar("Value")


class Hiding:
    """Shortens paths to what stands below the bank."""

    def __init__(self, shared: SharedBank) -> None:
        """Know the bank, once it can be opened."""
        self._shared = shared

    def __call__(self, text: str) -> str:
        """Return a text of ours without paths of this machine."""
        for root in self._banks():
            text = text.replace(f"{root}/", "").replace(root, "the bank")
        for root in _roots():
            text = re.sub(rf"{re.escape(root)}{_END}", _last, text)
        return _ABSOLUTE.sub(_last, text)

    def _banks(self) -> Iterator[str]:
        try:
            yield str(self._shared.bank().layout.root)
        except MemoryBankError:
            return


def without_paths(value: Value, hide: Callable[[str], str]) -> Value:
    """Return an action's record with what it says in our own words changed."""
    changes: dict[str, object] = {}
    for name in _OURS:
        if isinstance(said := getattr(value, name, None), str):
            changes[name] = hide(said)
    for name in _LISTED:
        if isinstance(items := getattr(value, name, None), tuple):
            changes[name] = tuple(_changed(item, reason=hide(item.reason)) for item in items)
    return _changed(value, **changes) if changes else value


def _changed(value: Any, **changes: object) -> Any:  # noqa: ANN401  (a record of either kind)
    if hasattr(value, "_replace"):
        return value._replace(**changes)
    return dataclasses.replace(value, **changes)


def _roots() -> list[str]:
    """Return folders of this machine that may be named and may have a space in them."""
    folders = [Path.home(), Path(tempfile.gettempdir())]
    folders += [layout.user_folder(kind) for kind in ("data", "state", "cache")]
    found = {str(folder) for folder in folders if folder != Path(folder.anchor)}
    return sorted(found, key=len, reverse=True)


def _last(found: re.Match[str]) -> str:
    name = re.split(r"[/\\]", found[0].rstrip("/\\"))[-1]
    return f"…/{name}"
