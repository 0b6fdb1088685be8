"""Know that the files of a word index are as tantivy wrote them.

tantivy ends each file of a segment with a checksum that it does not look at when it reads, and maps
the files into memory: garbage in one gives wrong answers, and one that is cut kills the process. A
file is never written again, so its checksum is looked at once for each signature of the file.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from pathlib import Path

from memory_bank.errors import IndexDamaged
from memory_bank.filenames import TEMPORARY_PREFIX

_FILE = "sealed.json"
_META = "meta.json"
_MAGIC = 1337
_TAIL = 8
"""Bytes behind the footer: its length and tantivy's magic number."""

Signature = tuple[int, int, int, int]


class Seal:
    """The signatures of files whose checksums were right, kept beside them for other processes."""

    def __init__(self, folder: Path) -> None:
        """Guard the index in a folder."""
        self._folder = str(folder)
        self._known: dict[str, Signature] | None = None
        self._meta: Signature | None = None
        self._files: list[str] = []
        self._sizes: list[int] = []

    def check(self) -> Signature:
        """Raise IndexDamaged unless files are as written; return the signature of their list."""
        while True:
            meta = self.meta()
            if meta != self._meta:
                self._files, self._meta = self._listed(), meta
            try:
                for name in self._files:
                    self._check(name)
            except FileNotFoundError as error:
                if self.meta() != meta:
                    continue  # another process merged them into others meanwhile
                raise self._damaged(f"{error.filename} is missing") from error
            return meta

    def meta(self) -> Signature:
        """Return the signature of the list of segments; raise IndexDamaged when there is none."""
        try:
            return _signature(f"{self._folder}/{_META}")
        except OSError as error:
            raise self._damaged(f"its {_META} is missing") from error

    def sizes(self) -> list[int]:
        """Return how many documents are in each segment, as of the last check."""
        return self._sizes

    def record(self) -> Signature | None:
        """Take the files for right that this process has written just now.

        Return the signature of their list; None when it must be looked at again.
        """
        with suppress(OSError, IndexDamaged):  # their checksums will be looked at
            self._meta = self.meta()
            self._files = self._listed()
            self._known = {name: _signature(f"{self._folder}/{name}") for name in self._files}
            self._save()
            return self._meta
        return None

    def forget(self) -> None:
        """Know nothing."""
        self._known, self._meta, self._files = None, None, []

    def _check(self, name: str) -> None:
        if self._known is None:
            self._known = self._load()
        file = f"{self._folder}/{name}"
        signature = _signature(file)
        if self._known.get(name) != signature:
            if not _whole(file):
                raise self._damaged(f"{name} is not what was written")
            self._known[name] = signature

    def _listed(self) -> list[str]:
        """Name the files of the segments that are in use."""
        try:
            with open(f"{self._folder}/{_META}", "rb") as stream:  # noqa: PTH123  (in each answer)
                segments = json.load(stream)["segments"]
            used = {segment["segment_id"].replace("-", "") for segment in segments}
            self._sizes = [
                segment["max_doc"] - (segment["deletes"] or {}).get("num_deleted_docs", 0)
                for segment in segments
            ]
            names = [file.name for file in Path(self._folder).iterdir()]
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._damaged(str(error)) from error
        return sorted(name for name in names if name.partition(".")[0] in used)

    def _load(self) -> dict[str, Signature]:
        try:
            found = json.loads(Path(self._folder, _FILE).read_bytes())
            return {str(name): (*map(int, signature),) for name, signature in found.items()}  # type: ignore[misc]
        except (OSError, ValueError, TypeError, AttributeError):
            return {}  # the checksums will tell

    def _save(self) -> None:
        new = Path(self._folder, f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}")
        new.write_text(json.dumps(self._known), encoding="utf-8")
        new.replace(Path(self._folder, _FILE))

    def _damaged(self, what: str) -> IndexDamaged:
        return IndexDamaged(f"{self._folder} is damaged: {what}", "it is made again")


def _signature(file: str) -> Signature:
    found = os.stat(file)  # noqa: PTH116  (some twenty in each answer)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _whole(file: str) -> bool:
    """Tell whether a file's checksum is right."""
    data = Path(file).read_bytes()
    tail = len(data) - _TAIL
    if tail < 0 or int.from_bytes(data[-4:], "little") != _MAGIC:
        return False
    body = tail - int.from_bytes(data[tail : tail + 4], "little")
    try:
        footer = json.loads(data[body:tail]) if body >= 0 else {}
        return bool(footer["crc"] == zlib.crc32(memoryview(data)[:body]))
    except (ValueError, TypeError, KeyError):
        return False
