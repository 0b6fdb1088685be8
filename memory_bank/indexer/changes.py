"""What differs between the files of a bank and what is indexed of them."""

from __future__ import annotations

from dataclasses import dataclass

from memory_bank.manifest.database import DONE, UNINDEXED
from memory_bank.notes.scan import Scan, Stamp
from memory_bank.sqlite import Connection


@dataclass(frozen=True, slots=True)
class Changes:
    """Files to look into, and notes whose files are gone."""

    changed: dict[str, Stamp]
    gone: tuple[int, ...]
    refused: dict[str, str] | None
    """Files that can't be notes, if other ones than recorded."""

    def __bool__(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.changed or self.gone or self.refused is not None)


def compare(base: Connection, scan: Scan) -> Changes:
    """Compare a scan with the manifest by stamps; bytes decide later."""
    changed = dict(scan.files)
    gone: list[int] = []
    rows = base.execute("SELECT id, path, state, size, mtime_ns, ctime_ns, inode FROM notes")
    for number, path, state, *stamp in rows:
        found = changed.get(path)
        if found is None:
            gone.append(number)
        elif found == tuple(stamp) and state in {DONE, UNINDEXED}:
            del changed[path]
    recorded = dict(base.execute("SELECT path, reason FROM refused"))
    return Changes(changed, tuple(gone), None if recorded == scan.refused else scan.refused)
