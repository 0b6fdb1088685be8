"""Read files with a JSON value on each line, of which nothing is taken for granted."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import TypeAlias

from memory_bank.agents.payload import Payload, read_text

Line: TypeAlias = Payload

MOST_LINE = 20_000_000
"""Bytes of a line; a longer one is skipped."""

# Bytes of a transcript that is read.
MOST_FILE = 500_000_000


def read_lines(file: Path, skipped: Counter[str]) -> Iterator[Line]:
    """Yield the objects of a file; other lines are counted by why they were skipped.

    Raises OSError.
    """
    with open(file, "rb") as lines:  # noqa: PTH123 - a link to a pipe would wait for ever
        if not S_ISREG(os.fstat(lines.fileno()).st_mode):
            skipped["not a file"] += 1
            return
        size = 0
        while size < MOST_FILE and (line := lines.readline(MOST_LINE)):
            size += len(line)
            if not line.endswith(b"\n") and len(line) == MOST_LINE:
                skipped["line too long"] += 1
                while (rest := lines.readline(MOST_LINE)) and not rest.endswith(b"\n"):
                    size += len(rest)
                continue
            parsed = parse_json(line)
            if isinstance(parsed, dict):
                yield parsed
            elif line.strip():
                skipped["cut off" if not line.endswith(b"\n") else "not JSON"] += 1


def parse_json(line: bytes | str) -> object:
    """Return a JSON value; None for anything else."""
    with suppress(ValueError, RecursionError):
        return json.loads(line)
    return None


def read_first(file: Path, most: int = 40) -> Iterator[Line]:
    """Yield the objects among the first lines of a file; none if it can't be read."""
    with suppress(OSError):
        for number, line in enumerate(read_lines(file, Counter())):
            if number >= most:
                return
            yield line


def list_items(line: Line, name: str) -> list[Line]:
    """Return those items of a list that have fields."""
    parts = line.get(name)
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
