"""Scan a bank for its files and their signatures."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG

from memory_bank import stat_signature
from memory_bank.errors import BadName, NoBank, StorageFailed
from memory_bank.filenames import NOTE_SUFFIXES, TEMPORARY_PREFIX, TEXT_SUFFIXES, is_utf8
from memory_bank.notes.folders import held, open_folder, stat_of
from memory_bank.notes.unicode_form import nfc
from memory_bank.stat_signature import StatSignature

UNKNOWN = ""
"""The signature of a file that must be read again."""
_LINK = "symbolic link: not followed"
_NO_NOTE = "its name ends in neither .md nor .markdown: mind the case"
MISSING = "there is no such file or folder"


class Scan:
    """The result of a scan, by path below the bank."""

    def __init__(self) -> None:
        """Start empty."""
        self.files: dict[str, StatSignature] = {}
        self.refused: dict[str, str] = {}
        """Files that can't be notes, with the reason."""
        self.texts: list[str] = []
        """Text files whose names do not end like those of notes."""
        self.leftover: list[str] = []
        """Temporary files, of a running or a killed writer."""


def scan(root: Path) -> Scan:
    """Scan all Markdown files below `root`, except in hidden folders.

    Raises StorageFailed for a folder that can't be read (its notes are not gone) and NoBank when
    the root itself is missing.
    """
    if not root.is_dir():
        raise NoBank(f"the bank {root} is gone", "its index is kept; bring the folder back")
    found = Scan()
    try:
        _walk(str(root), None, "", found)
    except (NotADirectoryError, FileNotFoundError) as error:
        raise NoBank(f"the bank {root} is gone", "bring the folder back") from error
    return found


def scan_part(root: Path, path: str, found: Scan, folders: Collection[str] | None = None) -> str:
    """Add a file below `root`, or the Markdown files of a folder, to a scan.

    Only those subfolders are read that `folders` has, in NFC and with a slash at their ends.
    Returns why the file or folder can't be read, else an empty text. Raises StorageFailed as `scan`
    does.
    """
    try:
        if path == ".":
            _walk(str(root), None, "", found, folders)
            return ""
        with held(root, path) as entry:
            stat = os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False)
            if S_ISDIR(stat.st_mode):
                _walk(str(root / path), entry.folder, f"{path}/", found, folders)
                return ""
    except BadName:
        return _LINK
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError as error:
        raise _unreadable(str(root / path), error) from error
    reason = _no_note(path, stat.st_mode)
    if not reason:
        found.files[path] = stat_signature.signature(stat)
    return reason


def _no_note(path: str, mode: int) -> str:
    """Return why a file can't be a note; empty if it can."""
    if S_ISLNK(mode):
        return _LINK
    if not S_ISREG(mode):
        return "neither a plain file nor a folder"
    return "" if path.endswith(NOTE_SUFFIXES) else _NO_NOTE


def look(root: Path, paths: Collection[str]) -> Scan | None:
    """Scan some files only; return None if one exists but can't be a note."""
    found = Scan()
    for path in paths:
        try:
            stat = stat_of(root, path)
        except OSError:
            return None
        if stat is None:
            continue
        if not (S_ISREG(stat.st_mode) and path.endswith(NOTE_SUFFIXES) and is_utf8(path)):
            return None
        found.files[path] = stat_signature.signature(stat)
    return found


def signature(file: Path) -> StatSignature | None:
    """Return the signature of one file; None when there is none."""
    try:
        return stat_signature.signature(file.lstat())
    except FileNotFoundError:
        return None


def _walk(
    folder: str,
    above: int | None,
    prefix: str,
    found: Scan,
    folders: Collection[str] | None = None,
) -> None:
    """Scan a folder in the open folder `above`, then its subfolders: all, or those in `folders`.

    Raises NotADirectoryError or FileNotFoundError where it is no folder any more.
    """
    below: list[str] = []
    named = is_utf8(prefix)
    handle = None
    try:
        handle = open_folder(folder, above)
        with os.scandir(folder if handle is None else handle) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(NOTE_SUFFIXES) and name[0] != ".":
                    if entry.is_file(follow_symlinks=False) and named and is_utf8(name):
                        try:
                            stat = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue  # removed meanwhile
                        # not `_signature`: a call for every note before each answer is slow
                        found.files[prefix + name] = (
                            stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
                        )  # fmt: skip
                    else:
                        _refuse(entry, prefix + name, found)
                elif name[0] != "." and entry.is_dir(follow_symlinks=False):
                    below.append(name)
                else:
                    _pass(entry, prefix + name, found)
        for name in _entered(below, prefix, folders):
            with suppress(NotADirectoryError, FileNotFoundError):  # its notes are gone, too
                _walk(f"{folder}{os.sep}{name}", handle, f"{prefix}{name}/", found, folders)
    except (NotADirectoryError, FileNotFoundError):
        raise
    except OSError as error:
        raise _unreadable(folder, error) from error
    finally:
        if handle is not None:
            os.close(handle)


def _entered(names: list[str], prefix: str, folders: Collection[str] | None) -> list[str]:
    if folders is None:
        return names
    return [name for name in names if nfc(f"{prefix}{name}/") in folders]


def _unreadable(folder: str, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"can't read the folder {folder}: {error.strerror}",
        "check its permissions; what is indexed of it stays as it is",
    )


def _refuse(entry: os.DirEntry[str], path: str, found: Scan) -> None:
    if entry.is_file(follow_symlinks=False):
        found.refused[_shown(path)] = "its name is not UTF-8"
    else:
        found.refused[_shown(path)] = _LINK if entry.is_symlink() else "not a plain file"


def _pass(entry: os.DirEntry[str], path: str, found: Scan) -> None:
    """Skip an entry, but record it if it may be meant as notes."""
    if entry.name.startswith("."):
        if entry.name.startswith(TEMPORARY_PREFIX):
            found.leftover.append(path)
    elif entry.name.lower().endswith(NOTE_SUFFIXES):
        found.refused[_shown(path)] = _NO_NOTE
    elif entry.name.lower().endswith(TEXT_SUFFIXES):
        if entry.is_file(follow_symlinks=False) and is_utf8(path):
            found.texts.append(path)
    elif entry.is_symlink() and entry.is_dir():
        found.refused[_shown(f"{path}/")] = _LINK


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()
