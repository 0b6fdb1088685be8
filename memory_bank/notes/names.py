"""Names of notes: checks, the path of a name, and the key for lookups."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

from memory_bank.errors import BadName
from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.hints import Hint
from memory_bank.notes.folders import is_link, leaves
from memory_bank.notes.identity import DEVICES
from memory_bank.notes.unicode_form import nfc

_INVISIBLE = frozenset(["Cc", "Cf", "Zl", "Zp"])
"""Categories of invisible characters: control, format, line and paragraph separators."""
_REFUSED = frozenset('<>:"|?*\\')
"""Refused in new names, since Windows doesn't support them; existing files are still read."""
OUTSIDE = "../"
"""Starts the name by which a path finds an included note, but no note of the bank."""
_ID_START = re.compile(r"-[0-9a-f]{4}(?:-\d+)?\Z")
MAX_BYTES = 255
"""Longest part of a path that common file systems take."""
_MAX_PATH = 900


def path_of(name: str) -> str:
    """Return the path below the bank of a note's name; add `.md` if it has no suffix.

    Raises BadName for a name that leaves the bank, is hidden, or can't be a file everywhere.
    """
    text = nfc(name.strip())
    if text.startswith("ghost:"):
        raise BadName(f"{name!r} is a ghost, no note", Hint.LIST_GHOSTS)
    if not text.endswith(NOTE_SUFFIXES):
        text += NOTE_SUFFIXES[0]
    if text.startswith(("/", "\\")) or (len(text) > 1 and text[1] == ":"):
        raise BadName(f"{name!r} is an absolute path", Hint.NAME_BELOW_BANK)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > _MAX_PATH:
        raise BadName(f"a name of {size} bytes is too long", f"at most {_MAX_PATH}")
    for part in text.split("/"):
        _check_part(part, name)
    return text


def _check_part(part: str, name: str) -> None:
    stem = part.partition(".")[0].strip().lower()
    problem = ""
    if part in {"", ".", ".."}:
        problem = "has an empty part or leaves the bank"
    elif part.startswith("."):
        problem = "has a hidden part: those are the bank's own"
    elif any(unicodedata.category(char) in {"Cc", "Cs"} for char in part):
        problem = "has a control character"
    elif len(part.encode()) > MAX_BYTES:
        problem = f"has a part of more than {MAX_BYTES} bytes"
    elif stem in DEVICES:
        problem = "is a device's name on Windows"
    elif part != part.rstrip(" ."):
        problem = "has a part that ends in a dot or a space"
    if problem:
        raise BadName(f"{name!r} {problem}", Hint.USE_NAME_CHARACTERS)


def check_new(path: str) -> None:
    """Raise BadName for the path of a new note that some systems don't support."""
    if problem := oddity(path):
        raise BadName(f"{path!r} {problem}", "leave it out: the title may have it")


def oddity(path: str) -> str:
    """Return why a new note may not have a path; empty if it may."""
    refused = sorted(_REFUSED & set(path))
    if refused:
        return f"has {' '.join(refused)}, which Windows can't hold in a file's name"
    invisible = [char for char in path if unicodedata.category(char) in _INVISIBLE]
    if invisible:
        return f"has a character that can't be seen: U+{ord(invisible[0]):04X}"
    for part in path.split("/"):
        if part.startswith("-"):
            return "has a part that starts with '-': programs take it for an option"
        if part.partition(".")[0].strip().lower() in DEVICES:
            return "is a device's name on Windows"
    return ""


def name_of(path: str) -> str:
    """Return the name of the note at a path: the path without `.md`."""
    return path.removesuffix(NOTE_SUFFIXES[0])


def folded(path: str) -> str:
    """Return the form in which some file systems compare paths: NFC, case folded."""
    return nfc(nfc(path).casefold())


def key(name: str) -> str:
    """Return the lookup key of a name: NFC, case folded, single spaces, without `.md`."""
    text = nfc(name).casefold()
    return name_of(" ".join(text.split()))


def without_id_start(name: str) -> str:
    """Return a name without the start of an id, which `remember` adds where git knows branches."""
    return _ID_START.sub("", name)


def inside(root: Path, path: str) -> Path:
    """Return the file of a path below `root`; raise BadName when links lead out of the bank."""
    file = root / path
    folder = os.path.realpath(file.parent)
    if folder != str(root) and not folder.startswith(str(root) + os.sep):
        raise leaves(path)
    if file.is_symlink():
        raise is_link(path)
    return file
