"""The entry point of `memory-bank merge-driver`, which git runs for each note that both changed.

It doesn't load the command line: git runs it once a file, and it must answer whatever happens.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from memory_bank.base.errors import BadInput, MemoryBankError, find_exhausted
from memory_bank.notes.merging import conflicts

MERGED, CONFLICT, WRONG_USE = 0, 1, 2

_FILES = 3
"""Files that git gives: the ancestor's, ours and theirs; their path may follow."""

_SIZES = range(1, 1000)


DriverArguments = tuple[Sequence[str], str, conflicts.Labels]
"""Base, ours and theirs (`%O %A %B`), the note's path in the repository (`%P`), and the labels."""


def run(args: Sequence[str]) -> int:
    """Merge a note into the second file; return 0, or 1 if conflicts are left.

    If that fails, the file is what git's own merge makes of it, and the code is 1.
    """
    try:
        arguments = read_arguments(args)
    except BadInput as error:
        _say(f"error: {error.message}")
        _say(f"hint: {error.hint}")
        return WRONG_USE
    try:
        return _merge_files(arguments)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001  (the outermost frame)
        return _merge_by_git(arguments, error)


def read_arguments(args: Sequence[str]) -> DriverArguments:
    """Read the arguments; raise BadInput."""
    words = list(args)
    options: dict[str, str] = {}
    while words and words[0].startswith("--"):
        name = words.pop(0)
        if name == "--":
            break
        name, has_value, value = name.partition("=")
        if name not in {"--marker-size", "--ours", "--theirs"} or not (has_value or words):
            raise BadInput(f"there is no option {name!r}", "see `memory-bank merge-driver -h`")
        options[name] = value if has_value else words.pop(0)
    if len(words) not in {_FILES, _FILES + 1}:
        raise BadInput(
            f"merge-driver takes BASE OURS THEIRS [PATH], not {len(words)} words",
            "git gives them: see `memory-bank git install -h`",
        )
    size = options.get("--marker-size", "")
    number = int(size) if size.isascii() and size.isdigit() and len(size) < _FILES else 0
    labels = conflicts.Labels(
        _label(options.get("--ours", "")) or "ours",
        _label(options.get("--theirs", "")) or "theirs",
        number if number in _SIZES else conflicts.MARKER_SIZE,
    )
    return words[:_FILES], "".join(words[_FILES:]) or words[1], labels


def _label(text: str) -> str:
    """Return the label of a side on one line; empty if git is too old to give one."""
    return "" if text.startswith("%") else " ".join(text.split())


def _merge_files(arguments: DriverArguments) -> int:
    from memory_bank.review import merge_driver  # its imports may fail too

    files, path, labels = arguments
    number, remark = merge_driver.merge_files(merge_driver.Files(*map(Path, files)), labels)
    if remark:
        _say(f"memory-bank: {_make_printable(path)}: merged by lines as git does: {remark}")
    return CONFLICT if number else MERGED


def _merge_by_git(arguments: DriverArguments, error: BaseException) -> int:
    """Let git merge the file and say why; return 1."""
    bank_error = error if isinstance(error, MemoryBankError) else find_exhausted(error)
    reason = bank_error.message if bank_error else type(error).__name__
    files, path, labels = arguments
    path = _make_printable(path)
    _say(f"memory-bank: {path}: not merged as a note: {reason}")
    try:
        from memory_bank.review import merge_driver

        labels = labels._replace(size=conflicts.MARKER_SIZE)
        merge_driver.merge_by_git(merge_driver.Files(*map(Path, files)), labels, reason)
    except (KeyboardInterrupt, Exception) as failure:  # noqa: BLE001  (the outermost frame)
        _say(f"memory-bank: {path}: ours is left as it was: {type(failure).__name__}")
    return CONFLICT


def _make_printable(path: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in path)


def _say(text: str) -> None:
    """Print a line on stderr, if there is one."""
    data = f"{text}\n".encode(errors="backslashreplace")
    try:
        os.write(sys.stderr.fileno(), data)
    except (OSError, ValueError, AttributeError):
        return
