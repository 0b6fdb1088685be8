"""What differs between the files of a bank and what is indexed of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from memory_bank.manifest.database import DONE, UNINDEXED
from memory_bank.notes.scan import Scan, Stamp
from memory_bank.sqlite import Connection, chunked


class Changes(NamedTuple):
    """Files to look into, and notes whose files are gone."""

    changed: dict[str, Stamp]
    gone: tuple[int, ...]
    refused: dict[str, str] | None
    """Files that can't be notes, if other ones than recorded."""

    def __bool__(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.changed or self.gone or self.refused is not None)


_ROWS = "SELECT id, path, state, size, mtime_ns, ctime_ns, inode FROM notes"


def compare(base: Connection, scan: Scan) -> Changes:
    """Compare a scan of all files with the manifest by stamps; bytes decide later."""
    changed, gone = _compare(base.execute(_ROWS), scan)
    recorded = dict(base.execute("SELECT path, reason FROM refused"))
    return Changes(changed, gone, None if recorded == scan.refused else scan.refused)


def compare_some(base: Connection, scan: Scan, paths: Collection[str]) -> Changes | None:
    """Compare some files that were looked at; None when one of them could be no note before."""
    wanted = list(paths)
    if any(chunked(base, "SELECT 1 FROM refused WHERE path IN ({})", wanted)):
        return None
    return Changes(*_compare(chunked(base, f"{_ROWS} WHERE path IN ({{}})", wanted), scan), None)


def _compare(
    rows: Iterable[tuple[Any, ...]], scan: Scan
) -> tuple[dict[str, Stamp], tuple[int, ...]]:
    changed = dict(scan.files)
    gone: list[int] = []
    for number, path, state, size, mtime, ctime, inode in rows:
        found = changed.get(path)
        if found is None:
            gone.append(number)
        elif found == (size, mtime, ctime, inode) and state in {DONE, UNINDEXED}:
            del changed[path]
    return changed, tuple(gone)
