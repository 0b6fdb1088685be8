"""Verify the checksums of a keyword index's files.

tantivy writes a checksum at the end of each segment file, but doesn't verify it, and maps the files
into memory: damaged bytes give wrong answers, and a truncated file kills the process. Segment files
are immutable, so that a checksum is verified once for each signature of its file.
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
_TAIL_BYTES = 8
"""Number of bytes after the footer: its length and tantivy's magic number."""

Signature = tuple[int, int, int, int]


class ChecksumVerifier:
    """Signatures of files whose checksums were verified, stored beside them for other processes."""

    def __init__(self, folder: Path) -> None:
        """Verify the files of the index in a folder."""
        self._folder = str(folder)
        self._verified: dict[str, Signature] | None = None
        self._meta: Signature | None = None
        self._files: list[str] = []
        self._sizes: list[int] = []

    def check(self) -> Signature:
        """Raise IndexDamaged unless all files are intact; return the signature of their list."""
        while True:
            meta = self.meta()
            if meta != self._meta:
                self._files, self._meta = self._listed(), meta
            try:
                for name in self._files:
                    self._check(name)
            except FileNotFoundError as error:
                if self.meta() != meta:
                    continue  # another process has merged segments meanwhile
                raise self._damaged(f"{error.filename} is missing") from error
            return meta

    def meta(self) -> Signature:
        """Return the signature of the list of segments; raise IndexDamaged when there is none."""
        try:
            return _signature(f"{self._folder}/{_META}")
        except OSError as error:
            raise self._damaged(f"its {_META} is missing") from error

    def sizes(self) -> list[int]:
        """Return the number of documents in each segment, as of the last check."""
        return self._sizes

    def record(self) -> Signature | None:
        """Record the files that this process has just written as verified.

        Returns the signature of their list; None if they must be verified after all.
        """
        with suppress(OSError, IndexDamaged):  # `check` will verify them
            self._meta = self.meta()
            self._files = self._listed()
            self._verified = {name: _signature(f"{self._folder}/{name}") for name in self._files}
            self._save()
            return self._meta
        return None

    def forget(self) -> None:
        """Drop what was verified or read."""
        self._verified, self._meta, self._files = None, None, []

    def _check(self, name: str) -> None:
        if self._verified is None:
            self._verified = self._load()
        file = f"{self._folder}/{name}"
        signature = _signature(file)
        if self._verified.get(name) != signature:
            if not _intact(file):
                raise self._damaged(f"{name} has a wrong checksum")
            self._verified[name] = signature

    def _listed(self) -> list[str]:
        """Return the names of the files of the segments in use."""
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
            return {}  # all checksums are verified again

    def _save(self) -> None:
        new = Path(self._folder, f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}")
        new.write_text(json.dumps(self._verified), encoding="utf-8")
        new.replace(Path(self._folder, _FILE))

    def _damaged(self, what: str) -> IndexDamaged:
        return IndexDamaged(f"{self._folder} is damaged: {what}", "it is rebuilt")


def _signature(file: str) -> Signature:
    found = os.stat(file)  # noqa: PTH116  (some twenty in each answer)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _intact(file: str) -> bool:
    """Tell whether a file has the checksum at its end."""
    data = Path(file).read_bytes()
    tail = len(data) - _TAIL_BYTES
    if tail < 0 or int.from_bytes(data[-4:], "little") != _MAGIC:
        return False
    body = tail - int.from_bytes(data[tail : tail + 4], "little")
    try:
        footer = json.loads(data[body:tail]) if body >= 0 else {}
        return bool(footer["crc"] == zlib.crc32(memoryview(data)[:body]))
    except (ValueError, TypeError, KeyError):
        return False
