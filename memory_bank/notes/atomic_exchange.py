"""Exchange two files atomically, so that the replaced file can be checked afterwards.

An editor takes no lock and may save a file between our last check and the rename over it. So the
new file is exchanged with the old one, the old one is checked, and exchanged back if it is not as
expected. Linux supports this on its usual file systems; elsewhere only the check before is made.
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

_WORKING_DIRECTORY = -100
"""AT_FDCWD: paths are relative to the working directory."""
_EXCHANGE = 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def exchange(one: Entry, other: Entry) -> bool:
    """Exchange two files; return False if the system can't. Raises OSError for other failures."""
    library = _library()
    if library is None:
        return False
    folders = [_WORKING_DIRECTORY if file.folder is None else file.folder for file in (one, other)]
    names = os.fsencode(one.name), os.fsencode(other.name)
    if library.renameat2(folders[0], names[0], folders[1], names[1], _EXCHANGE) == 0:
        return True
    import ctypes

    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(other.path))


def open_for_writing(file: Entry | Path) -> bool:
    """Tell whether a program has a file open for writing; False if that can't be known.

    The kernel then refuses a read lease. A granted lease is released at once. Its signal, sent if
    the file is opened meanwhile, is set to one that is ignored: the default would end the process.
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
    import ctypes  # start-up: reading needs none

    library = ctypes.CDLL(None, use_errno=True)
    return library if hasattr(library, "renameat2") else None
