"""What differs between the files of a bank and what is indexed of them."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from memory_bank.manifest.database import DONE, GONE, PENDING, UNINDEXED
from memory_bank.manifest.link_resolution import numbers
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


_FINISHED = (
    f"SELECT path, size, mtime_ns, ctime_ns, inode FROM notes WHERE state IN ({DONE}, {UNINDEXED})"
)
_UNFINISHED = f"SELECT path FROM notes WHERE state <> {DONE} AND state IN ({PENDING}, {GONE})"


def compare(base: Connection, scan: Scan) -> Changes:
    """Compare a scan of all files with the manifest by stamps; bytes decide later."""
    recorded = dict(base.execute("SELECT path, reason FROM refused"))
    others = [path for (path,) in base.execute(_UNFINISHED)]
    changed, gone = _compare(base, base.execute(_FINISHED), others, scan)
    return Changes(changed, gone, None if recorded == scan.refused else scan.refused)


def compare_some(base: Connection, scan: Scan, paths: Collection[str]) -> Changes | None:
    """Compare some files that were looked at; None when one of them could be no note before.

    For a manifest in which no batch is unfinished.
    """
    wanted = list(paths)
    if any(chunked(base, "SELECT 1 FROM refused WHERE path IN ({})", wanted)):
        return None
    rows = chunked(base, f"{_FINISHED} AND path IN ({{}})", wanted)
    return Changes(*_compare(base, rows, (), scan), None)


def _compare(
    base: Connection,
    finished: Iterable[tuple[Any, ...]],
    unfinished: Iterable[str],
    scan: Scan,
) -> tuple[dict[str, Stamp], tuple[int, ...]]:
    """Return the files whose stamps are not those of finished rows, and the rows without files."""
    stamps = {row[0]: row[1:] for row in finished}  # for every note before each cold answer
    changed = {path: stamp for path, stamp in scan.files.items() if stamps.get(path) != stamp}
    gone = [path for path in (*stamps, *unfinished) if path not in scan.files]
    if not gone:
        return changed, ()
    return changed, tuple(numbers(base, gone))
