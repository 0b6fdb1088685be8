"""Two files change places in one step, so that what is replaced can still be looked at.

A program that knows of no lock, an editor, may save between our last look at a file and the rename
over it. So the new file is exchanged in, what came out is looked at, and put back if it is not what
was expected. Linux does this on its usual file systems; elsewhere the look comes first.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.notes.folders import Entry, entry

if TYPE_CHECKING:
    import ctypes

_HERE = -100
"""AT_FDCWD: paths are taken as they are."""
_EXCHANGE = 2
_CANT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def exchange(one: Entry, other: Entry) -> bool:
    """Let two files change names; False where the system can't. Raises OSError otherwise."""
    library = _library()
    if library is None:
        return False
    folders = [_HERE if file.folder is None else file.folder for file in (one, other)]
    names = os.fsencode(one.name), os.fsencode(other.name)
    if library.renameat2(folders[0], names[0], folders[1], names[1], _EXCHANGE) == 0:
        return True
    import ctypes

    number = ctypes.get_errno()
    if number in _CANT:
        return False
    raise OSError(number, os.strerror(number), str(other.path))


def written_now(file: Entry | Path) -> bool:
    """Tell whether a program has a file open for writing; False where that can't be known.

    A read lease is refused then. It is given back at once, and sends a signal that nobody minds,
    should somebody open the file meanwhile: the usual one would end the process.
    """
    if sys.platform != "linux":
        return False
    import fcntl
    import signal

    handle = entry(file).open(os.O_RDONLY)
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(handle)
    return False


@cache
def _library() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    import ctypes  # start-up: whoever only asks writes nothing

    library = ctypes.CDLL(None, use_errno=True)
    return library if hasattr(library, "renameat2") else None
