"""The signature of a file by its stat: it changes whenever the file's bytes change."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

StatSignature = tuple[int, int, int, int]
"""Size, mtime and ctime in ns, inode."""

_RACY_NS = 100_000_000
"""A younger file may change without another signature, since file times are coarse."""
_SKEW_NS = 60_000_000_000
"""An mtime farther in the future was set by hand; then only the ctime counts."""


def signature(stat: os.stat_result) -> StatSignature:
    """Return the signature of a file."""
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def signature_of(stat: os.stat_result) -> StatSignature | None:
    """Return the signature of a file by what the system knows of it; None for no plain file."""
    return signature(stat) if S_ISREG(stat.st_mode) else None


def trusted(signature: StatSignature) -> bool:
    """Tell whether a file's signature may be recorded: the file is not too young."""
    _, mtime, ctime, _ = signature
    now = time.time_ns()
    return not (ctime > now - _RACY_NS or now - _RACY_NS < mtime < now + _SKEW_NS)
