"""Look at the names and stamps of all notes below a folder, with nothing around it.

python -P bare_walk.py FOLDER
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # nothing is loaded here that need not be
if TYPE_CHECKING:
    from collections.abc import Iterator


def stamps(folder: str) -> Iterator[int]:
    """Yield the modification time of every note, hidden folders left out."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from stamps(entry.path)
            else:
                yield entry.stat(follow_symlinks=False).st_mtime_ns


if __name__ == "__main__":
    sum(1 for _ in stamps(sys.argv[1]))
