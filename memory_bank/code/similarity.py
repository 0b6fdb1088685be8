"""Compare the texts of files by their words: the cosine of vectors of TF-IDF.

A file's words are those of its path and its most frequent ones; the parts of an identifier are
words. A word that a file has n times weighs (1 + ln n) * ln(1 + N / m) if m of N files have it.
"""

from __future__ import annotations

import json
import math
import re
import time
import zlib
from collections import Counter
from collections.abc import Mapping
from sqlite3 import Connection

from memory_bank.base import sqlite
from memory_bank.base.errors import IndexDamaged
from memory_bank.base.filenames import StatSignature, signature_text, trusted
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.index.work_tree import TreeScan

MOST_WORDS = 100
"""Number of words of a file that are compared: more measured worse."""

MOST_CHARACTERS = 100_000
"""Number of characters of a file that are read."""

_PATH_WEIGHT = 5
"""Number of times that a word of the path counts."""

_LEAST = 0.01
"""Likeness that is left out."""

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?(?:(?![A-Z])[^\W\d_]){2,}")

Words = Mapping[str, int]
"""Words with their numbers."""


def words_of(path: str, text: str) -> Words:
    """Return the words of a file that are compared."""
    found = Counter(word.lower() for word in _WORD.findall(text[:MOST_CHARACTERS]))
    for word in _WORD.findall(path):
        found[word.lower()] += _PATH_WEIGHT
    return dict(found.most_common(MOST_WORDS))


class Similarity:
    """The likeness of files by their words."""

    def __init__(self, files: Mapping[str, Words]) -> None:
        """Compare files by what `words_of` returned of them."""
        having = Counter(word for words in files.values() for word in words)
        rarity = {word: math.log(1 + len(files) / count) for word, count in having.items()}
        self._vectors: dict[str, dict[str, float]] = {}
        self._having: dict[str, list[tuple[str, float]]] = {word: [] for word in having}
        for path, words in files.items():
            vector = {word: (1 + math.log(n)) * rarity[word] for word, n in words.items()}
            length = math.hypot(*vector.values())
            self._vectors[path] = {word: value / length for word, value in vector.items()}
            for word, value in self._vectors[path].items():
                self._having[word].append((path, value))

    def __call__(self, path: str) -> Mapping[str, float]:
        """Return the likeness of the other files to a file, 0 to 1; nothing for an unknown one."""
        found: dict[str, float] = {}
        for word, value in self._vectors.get(path, {}).items():
            for other, its in self._having[word]:
                found[other] = found.get(other, 0.0) + value * its
        found.pop(path, None)
        return {other: min(1.0, value) for other, value in found.items() if value >= _LEAST}


MOST_FILES = 20_000
"""Number of files that are compared, the first by path."""

_SECONDS = 10.0
"""Time after which the rest is left to the next refresh."""

_BATCH = 200


class WordTable:
    """The words of the files of one work tree, beside its symbols."""

    def __init__(self, table: SymbolTable) -> None:
        self._table = table
        self._likeness: Similarity | None = None
        self._scan: TreeScan | None = None
        """The scan whose files were all read last."""
        self.files: frozenset[str] = frozenset()
        """All files, as of the last refresh, also those that are not compared."""
        self.notes: tuple[str, ...] = ()
        """What is left out, and why."""

    def refresh(self, scan: TreeScan) -> Similarity:
        """Read the files of a scan that changed; return the likeness of all.

        The same object is returned as long as no file changes; nothing is read for the scan of the
        last call. Raises StorageFailed if the database
        can't be used; Busy.
        """
        if scan is self._scan and self._likeness is not None:
            return self._likeness
        self.files = frozenset(scan.files.keys() | scan.refused.keys())
        wanted = {path: scan.files[path] for path in sorted(scan.files)[:MOST_FILES]}
        try:
            return self._refreshed(scan, wanted)
        except IndexDamaged:
            self._table.discard()
            return self._refreshed(scan, wanted)

    def close(self) -> None:
        """Let go of what was read."""
        self._likeness = None

    def _refreshed(self, scan: TreeScan, wanted: Mapping[str, StatSignature]) -> Similarity:
        with sqlite.guarded(self._table.file):
            base = self._table.opened()
            known = dict(base.execute("SELECT path, signature FROM words"))
            changed = [
                path for path, one in wanted.items() if known.get(path) != signature_text(one)
            ]
            gone = [(path,) for path in known if path not in wanted]
            if gone:
                with sqlite.transaction(base):
                    base.executemany("DELETE FROM words WHERE path = ?", gone)
            left = self._read(base, changed)
            self.notes = _notes(len(self.files), len(wanted), left)
            if changed or gone or self._likeness is None:
                self._likeness = Similarity(_words(base))
            self._scan = None if left else scan
            return self._likeness

    def _read(self, base: Connection, paths: list[str]) -> int:
        """Read files, until the time is up; return the number of those that are left."""
        end = time.monotonic() + _SECONDS
        for start in range(0, len(paths), _BATCH):
            rows = [self._row(path) for path in paths[start : start + _BATCH]]
            with sqlite.transaction(base):
                base.executemany("INSERT OR REPLACE INTO words VALUES (?, ?, ?)", rows)
            if time.monotonic() > end:
                return max(0, len(paths) - start - _BATCH)
        return 0

    def _row(self, path: str) -> tuple[str, str, bytes]:
        """Return the row of a file; one that can't be read, or is no text, has no words."""
        found = self._table.tree.read(path)
        if found is None or found.signature is None:
            return path, "", zlib.compress(b"{}")
        text = "" if found.reason else found.data[:MOST_CHARACTERS].decode("utf-8", "replace")
        words = words_of(path, text) if not found.reason else {}
        # a file that has just changed may change again without another signature
        signature = signature_text(found.signature) if trusted(found.signature) else ""
        return path, signature, zlib.compress(json.dumps(words, ensure_ascii=False).encode())


def _words(base: Connection) -> dict[str, Mapping[str, int]]:
    """Return the words of all files; raise IndexDamaged."""
    found: dict[str, Mapping[str, int]] = {}
    for path, data in base.execute("SELECT path, words FROM words ORDER BY path"):
        try:
            words = json.loads(zlib.decompress(data))
            found[path] = {str(word): int(number) for word, number in words.items()}
        except (AttributeError, TypeError, ValueError, zlib.error) as error:
            raise IndexDamaged("the words of a file are damaged", "it is rebuilt") from error
    return found


def _notes(files: int, wanted: int, left: int) -> tuple[str, ...]:
    said = {
        f"only {MOST_FILES:,} of {files:,} files are compared": files > wanted == MOST_FILES,
        f"{left:,} of {wanted:,} files are not compared yet: the next call goes on": left > 0,
    }
    return tuple(note for note, applies in said.items() if applies)
