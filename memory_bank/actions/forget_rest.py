"""Remove what is left of removed texts: in the index, in free parts of databases, in old files."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from memory_bank import sqlite, sqlite_text
from memory_bank.actions import hook_context
from memory_bank.actions.forgotten import REBUILT, Removal
from memory_bank.errors import MemoryBankError
from memory_bank.layout import INDEX
from memory_bank.revisions import slots
from memory_bank.sessions.queue import EventQueue

_READ = "another process reads it, so that its log may have it still: forget again later"


def clean(run: Removal) -> None:
    """Empty the index and fill it again; write the databases anew; remove damaged ones."""
    _remove_damaged(run)
    _empty_index(run)
    _remove_copies(run)
    if run.dry_run:
        return
    hook_context.remove(run.state)
    queue = EventQueue(run.state, run.bank.add_repaired)
    try:
        if queue.file.exists() and not queue.scrub():
            run.left(str(queue.file), _READ)
    finally:
        queue.close()
    for log in run.bank.logs.all():
        _scrub(run, log)
    run.bank.catch_up()


def _scrub(run: Removal, log: sqlite.Opened) -> None:
    if not log.file.exists():
        return
    try:
        with sqlite.guarded(log.file):
            done = sqlite_text.scrub(log.opened())
    except MemoryBankError as error:
        run.left(str(log.file), error.message)
        return
    finally:
        log.close()  # it waits shorter now
    if not done:
        run.left(str(log.file), _READ)


def _remove_damaged(run: Removal) -> None:
    """Remove databases that were set aside: nobody can say what is in them."""
    for file in sorted(run.state.glob("*.db.damaged*")):
        run.found(str(file), "leftover", 1)
        if not run.dry_run:
            try:
                file.unlink()
            except OSError as error:
                run.left(str(file), f"it can't be removed: {error.strerror}")


def _empty_index(run: Removal) -> None:
    layout = run.bank.layout
    run.found(str(layout.index), "index", 1, REBUILT)
    for folder in layout.unused_indices():
        if folder == layout.root / INDEX:
            run.left(str(folder), "it was not made on this machine and may have it: remove it")
        elif run.dry_run:
            run.found(str(folder), "leftover", 1)
        else:
            _remove_folder(run, folder)
    if not run.dry_run:
        run.bank.empty_index()


def _remove_copies(run: Removal) -> None:
    """Remove the copies of the bank as of other revisions, which may have it."""
    for slot in slots.of_bank(run.bank.layout):
        run.found(str(slot), "index", 1)
        if run.dry_run:
            continue
        try:
            gone = slots.remove(slot)
        except OSError as error:
            run.left(str(slot), f"it can't be removed: {error.strerror}")
        else:
            if not gone:
                run.left(str(slot), _READ)


def _remove_folder(run: Removal, folder: Path) -> None:
    """Remove an index in the user's cache that an earlier state of the bank needed."""
    with suppress(FileNotFoundError):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            raise
        except OSError as error:
            run.left(str(folder), f"it can't be removed: {error.strerror}")
            return
    run.found(str(folder), "leftover", 1)
