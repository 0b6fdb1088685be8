"""The languages of files without a suffix, told by the program that their first line names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from memory_bank.base import sqlite
from memory_bank.base.filenames import StatSignature, trusted
from memory_bank.code import parsing
from memory_bank.code.database import CodeDatabase
from memory_bank.code.work_tree import WorkTree, is_document

MOST_FILES = 2000
"""Number of files whose first line is read, the first by path."""

_MOST_BYTES = 65_536
"""A larger file without a suffix is no script."""

_LINE = 200
"""Bytes of the first line that are read."""


class FirstLines:
    """What first lines of a work tree's files say; each is read once, until the file changes."""

    def __init__(self, tree: WorkTree, database: CodeDatabase) -> None:
        """Record languages in a database."""
        self._tree = tree
        self._database = database
        self._known: dict[str, tuple[StatSignature, str]] | None = None
        self._recorded: frozenset[str] = frozenset()

    def languages(self, files: Mapping[str, StatSignature]) -> dict[str, str]:
        """Map the files whose language only the first line tells to their languages."""
        if self._known is None:
            self._known = self._rows()
            self._recorded = frozenset(self._known)
        now: dict[str, tuple[StatSignature, str]] = {}
        found: dict[str, str] = {}
        for path in sorted(_asked(files))[:MOST_FILES]:
            known = self._known.get(path)
            if known is None or known[0] != files[path]:
                known = files[path], self._language(path)
            if trusted(known[0]):  # one that has just changed may change again
                now[path] = known
            if known[1]:
                found[path] = known[1]
        if now != self._known:
            self._known, self._recorded = now, frozenset()
        return found

    @property
    def unrecorded(self) -> bool:
        """Whether `record` has something to do."""
        return self._known is not None and self._recorded != self._known.keys()

    def record(self) -> None:
        """Write what was read, for other processes."""
        rows = [(path, *one, said) for path, (one, said) in (self._known or {}).items()]
        with self._database.guarded():
            base = self._database.opened()
            with sqlite.transaction(base):
                base.execute("DELETE FROM first_lines")
                base.executemany("INSERT INTO first_lines VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._recorded = frozenset(self._known or ())

    def forget(self) -> None:
        """Remove the database, so that all files are read again."""
        self._known, self._recorded = None, frozenset()

    def _rows(self) -> dict[str, tuple[StatSignature, str]]:
        if not self._database.file.exists():
            return {}
        rows = self._database.rows("SELECT * FROM first_lines")
        return {
            path: ((size, mtime, ctime, inode), said)
            for path, size, mtime, ctime, inode, said in rows
        }

    def _language(self, path: str) -> str:
        return language_of(self._tree.start(path, _LINE))


def language_of(data: bytes) -> str:
    """Return the language of a file by its first bytes; empty if they name no known program."""
    if not data.startswith(b"#!"):
        return ""
    line = data[:_LINE].partition(b"\n")[0].decode("utf-8", "replace")
    return parsing.language_of("", line) or ""


def _asked(files: Mapping[str, StatSignature]) -> Iterator[str]:
    """Yield the files whose names say nothing, and that are small."""
    for path, (size, *_) in files.items():
        name = path.rpartition("/")[2]
        if 0 < size <= _MOST_BYTES and _says_nothing(name):
            yield path


@lru_cache(maxsize=10_000)  # asked for each file before each answer
def _says_nothing(name: str) -> bool:
    """Tell whether the name of a file has no suffix and is not known."""
    known = is_document(name) or parsing.language_of(name) is not None
    return "." not in name[1:] and not known
