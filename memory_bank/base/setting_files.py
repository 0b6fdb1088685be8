"""Read the files of settings, which may be from a repository."""

from __future__ import annotations

import os
import re
from pathlib import Path
from stat import S_ISREG
from typing import Any

from memory_bank.base.errors import BadSetting

_MOST_BYTES = 1_000_000
"""Maximum size of a file of settings."""


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a settings file and its tables; both are empty if there is none.

    Raises BadSetting.
    """
    try:
        data = _start_of(path)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return "", {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path}: can't be read: {error}", "repair or remove the file") from error
    if len(data) > _MOST_BYTES:
        raise BadSetting(f"{path}: larger than {_MOST_BYTES:,} bytes", "repair or remove the file")
    if not re.search(r"^\s*[^#\s]", text, re.MULTILINE):
        return text, {}  # only comments, as `init` writes it: spares the import of the parser
    try:
        from memory_bank.base import toml  # start-up: a file of comments needs no parser

        return text, toml.loads(text)
    except ValueError as error:
        raise BadSetting(f"{path}: {error}", "repair the TOML") from error


def line_of(text: str, section: str, key: str) -> int:
    """Find the line of a key in its section; tomllib keeps no positions. Errors only."""
    name = rf"[\"']?{re.escape(key)}[\"']?\s*[=.]"
    table = rf"\s*[\"']?{re.escape(section)}[\"']?\s*"
    inside, top = not section, True
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+([^\]]*)\]", line)
        if header:
            title = ".".join(part.strip(" \t\"'") for part in header[1].split("."))
            inside, top = title == section, False
            if title == f"{section}.{key}" or (not section and title.split(".")[0] == key):
                return number
        elif inside and re.match(rf"\s*{name}", line):
            return number
        elif top and section and re.match(rf"{table}(\.\s*{name}|=.*\b{name})", line):
            return number  # `section.key = …` or `section = {key = …}`
    return 1


def _start_of(path: Path) -> bytes:
    """Read the first bytes of a regular file; reading a pipe or a terminal might never end."""
    # O_NONBLOCK opens a pipe at once even without a writer
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123  (a handle)
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadSetting(f"{path}: is no plain file", "remove it, or make it one")
        return file.read(_MOST_BYTES + 1)
