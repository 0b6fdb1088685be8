"""The folders in the user's cache with copies of a bank as of other revisions."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path

from memory_bank.bank.bank_id import all_ids, bank_id
from memory_bank.bank.revisions.copies import CopiedFiles, index_in, project_in
from memory_bank.base.errors import Busy, StorageFailed
from memory_bank.base.filenames import TEMPORARY_PREFIX
from memory_bank.base.locks import locked
from memory_bank.base.paths import Layout, user_folder

MOST = 4
"""Number of copies of a bank that stay; more exist only while they are used at once."""

_MOST_AT_ONCE = 32

_SMALL = 20
"""Number of different files up to which another revision's copy is changed into a new one, so that
copies of earlier revisions stay."""

_LEFT_SECONDS = 3600
"""Seconds after which an unfinished copy was left by a killed process."""

_FOLDER = "revisions"

_FILLED: set[Path] = set()
"""Copies that this process holds and no longer changes: they can be copied."""


def folder_of(place: Layout) -> Path:
    """Return the folder with the copies of a bank; it may not exist."""
    return user_folder("cache") / _FOLDER / bank_id(place)


def of_bank(place: Layout) -> list[Path]:
    """Return the copies of a bank, also those that it had under another id."""
    root = user_folder("cache") / _FOLDER
    folders = [root / one for one in all_ids(place)]
    return [slot for one in folders for slot in (*existing(one), *_unfinished(one))]


@contextmanager
def held(place: Layout, blobs: Mapping[str, str], commit: str) -> Iterator[Path]:
    """Hold the copy that is changed into a revision with the least work; make one if needed.

    `blobs` are the revision's files. Raises Busy when too many copies are in use.
    """
    folder = folder_of(place)
    for slot in _by_preference(folder, blobs, commit):
        with ExitStack() as stack:
            try:
                if not slot.exists():
                    _make(slot, folder, blobs)
                stack.enter_context(locked(slot, wait=0, make=partial(_make_empty, slot)))
            except Busy:
                continue
            with suppress(OSError):
                os.utime(slot)  # when it was used last
            try:
                yield slot
            finally:
                _FILLED.discard(slot)
                if int(slot.name) > MOST:
                    shutil.rmtree(slot, ignore_errors=True)
            return
    raise Busy(f"{_MOST_AT_ONCE} copies of the bank are in use", "try again when others are done")


def filled(slot: Path) -> None:
    """Note that this process holds a copy and has indexed it, so that it no longer changes."""
    _FILLED.add(slot)


def remove(slot: Path) -> bool:
    """Remove a copy, unless another process uses it; tell whether it is gone. Raises OSError."""
    try:
        with locked(slot, wait=1):
            shutil.rmtree(slot)
    except Busy:
        return False
    except StorageFailed:
        return not slot.exists()
    return True


def existing(folder: Path) -> list[Path]:
    """Return the copies in a folder."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
    return [folder / name for name in sorted(names) if name.isdigit()]


def indices(place: Layout, *, but: Path) -> list[Path]:
    """Return the folders of derived files of a bank's copies, but for one."""
    found = (slot for slot in existing(folder_of(place)) if slot != but)
    return [index_in(slot) for slot in found]


def _unfinished(folder: Path) -> list[Path]:
    """Return the copies that a process makes, or that a killed one left."""
    return sorted(folder.glob(f"{TEMPORARY_PREFIX}*"))


def _by_preference(folder: Path, blobs: Mapping[str, str], commit: str) -> list[Path]:
    """Return the copies by the work to change each, then new ones."""
    there = existing(folder)
    known = []
    for slot in there:
        files = CopiedFiles(slot, project_in(slot))
        same = bool(commit) and files.commit == commit
        known.append((0 if same else 1 + files.differences(blobs), _used(slot), slot))
    known.sort()
    numbers = (folder / str(number) for number in range(1, _MOST_AT_ONCE + 1))
    new = [slot for slot in numbers if slot not in there]
    cheap = [slot for cost, _, slot in known if cost <= 1 + _SMALL]
    if len(there) < MOST:
        return [*cheap, *new]
    return [*(slot for _, _, slot in known), *new]


def _used(slot: Path) -> float:
    try:
        return slot.stat().st_mtime
    except OSError:
        return time.time()


def _make(slot: Path, folder: Path, blobs: Mapping[str, str]) -> None:
    """Make a copy out of the most similar one with its index that no process changes."""
    _make_empty(folder)
    known = [
        (CopiedFiles(one, project_in(one)).differences(blobs), one) for one in existing(folder)
    ]
    for one in _unfinished(folder):
        if time.time() - _used(one) > _LEFT_SECONDS:
            shutil.rmtree(one, ignore_errors=True)
    temporary = folder / f"{TEMPORARY_PREFIX}{os.getpid()}-{slot.name}"
    for cost, other in sorted(known):
        if cost >= len(blobs):
            break
        try:
            with nullcontext() if other in _FILLED else locked(other, wait=0):
                shutil.copytree(other, temporary)
            temporary.rename(slot)
        except (OSError, Busy, StorageFailed):
            continue
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return
    _make_empty(slot)


def _make_empty(slot: Path) -> None:
    try:
        for folder in (slot.parent, slot):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageFailed(
            f"{slot} can't be made: {error.strerror}", "set XDG_CACHE_HOME to a folder of yours"
        ) from error
