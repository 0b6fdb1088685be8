"""The files of instructions that a program of an agent reads into its model's context by itself.

Which files these are stands in the client's module; here they are read, with what they import.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memory_bank.agents import clients
from memory_bank.base import lazy_pattern

AGENTS = "AGENTS.md"

_MOST_BYTES = 1_000_000
"""Bytes of a file that are read; what programs show of one is much less."""

_MOST_IMPORTS = 5
"""Imports of imports that are followed."""

_CODE = lazy_pattern(
    r"^[ \t>]*(```|~~~).*?(?:^[ \t>]*\1[^\n]*$|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL
)

_IMPORT = lazy_pattern(r"(?:^|(?<=\s))@(\S+)", re.MULTILINE)


def load_texts(client: str, project: Path) -> dict[Path, str]:
    """Return the text that a client loads of each file of instructions, by the file's real path.

    Of a client that is not known to load any, nothing.
    """
    module = clients.load(client)
    if module is None or not hasattr(module, clients.INSTRUCTIONS):
        return {}
    instructions: dict[Path, str] = module.instructions(project)
    return instructions


def read_texts(project: Path, files: Iterable[Path], *, imports: bool = False) -> dict[Path, str]:
    """Return the text of each of some files, by its real path, in their order.

    With `imports`, also of the files that `@path` names in them. A file outside of the project's
    own tree is read only if it stands in a folder above the project.
    """
    reals: dict[Path, str] = {}
    waiting = [(file, 0) for file in files]
    while waiting:
        file, depth = waiting.pop(0)
        real = Path(os.path.realpath(file))
        if real in reals or (text := _read(real)) is None:
            continue
        reals[real] = text
        if imports and depth < _MOST_IMPORTS:
            paths = (file.parent / name for name in find_imports(text))
            below = [path for path in paths if Path(os.path.realpath(path)).is_relative_to(project)]
            waiting[:0] = [(path, depth + 1) for path in below]
    return reals


def find_imports(text: str) -> Iterator[str]:
    """Yield the paths that a text imports by `@path`, not in code."""
    for match in _IMPORT.finditer(_CODE.sub(" ", text)):
        yield match[1]


def leads_to(goal: Path, entries: Mapping[Path, str]) -> bool:
    """Return whether a file is one of those that were read, or imported by one."""
    real = os.path.realpath(goal)
    return any(
        os.path.realpath(file) == real
        or any(os.path.realpath(file.parent / name) == real for name in find_imports(text))
        for file, text in entries.items()
    )


def list_folders(project: Path) -> list[Path]:
    """Return the folders from the root of a project's work tree down to the project."""
    folders = [project]
    while not os.path.lexists(folders[0] / ".git") and folders[0].parent != folders[0]:
        folders.insert(0, folders[0].parent)
    return folders if os.path.lexists(folders[0] / ".git") else [project]


def _read(file: Path) -> str | None:
    try:
        with file.open("rb") as stream:
            return stream.read(_MOST_BYTES).decode("utf-8", "replace") if file.is_file() else None
    except (OSError, ValueError):
        return None
