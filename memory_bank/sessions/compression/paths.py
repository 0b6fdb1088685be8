"""Paths of files as observations name them: below the project where they are in it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from posixpath import normpath

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


class Paths:
    """Names files by their paths below a project, or below the work tree an event is in."""

    def __init__(self, root: Path | None) -> None:
        self._roots = _forms(root) if root else ()

    def shown(self, path: str, cwd: str) -> str:
        """Return a path below the project; any other one is absolute, in the home folder with `~`.

        A relative path is below the event's folder.
        """
        if _relative(path) and not cwd:
            return normpath(_slashes(path))
        whole = normpath(f"{_slashes(cwd)}/{_slashes(path)}" if _relative(path) else _slashes(path))
        home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - pathlib fails without a home
        if whole.startswith("~/"):
            whole = home + whole[1:]
        for root in (*self._roots, *_work_tree(_slashes(cwd))):
            if whole == root or whole.startswith(f"{root}/"):
                return whole[len(root) + 1 :] or "."
        if home and whole.startswith(f"{home}/"):
            return "~" + whole[len(home) :]
        return whole

    def short(self, text: str) -> str:
        """Return a text in which paths of the project begin below it."""
        for root in self._roots:
            if root and root in text:
                text = text.replace(f"{root}/", "")
        return text

    def outside(self, shown: str) -> bool:
        """Tell whether a shown path is none of the project."""
        return shown.startswith(("/", "~/", "../")) or bool(_WINDOWS.match(shown))


def _relative(path: str) -> bool:
    return not path.startswith(("/", "~/")) and not _WINDOWS.match(path)


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if _WINDOWS.match(path) or "/" not in path else path


def _forms(root: Path) -> tuple[str, ...]:
    given = str(root).replace("\\", "/").rstrip("/")
    real = os.path.realpath(root).replace("\\", "/").rstrip("/")
    return tuple(dict.fromkeys((given, real)))


@lru_cache(256)
def _work_tree(cwd: str) -> tuple[str, ...]:
    """Return the work tree around a folder, as far as it still exists."""
    if not cwd.startswith("/"):
        return (cwd.rstrip("/"),) if _WINDOWS.match(cwd) else ()
    folder = Path(cwd)
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists():
            return (str(parent).rstrip("/"),)
    return ()
