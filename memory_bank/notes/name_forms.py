"""Normalise the forms in which people and programs name a note or a file of the project."""

from __future__ import annotations

import os
import posixpath
import re
import sys
import unicodedata
from pathlib import Path
from urllib.parse import unquote

from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.layout import Layout
from memory_bank.notes.names import OUTSIDE, path_of

NOTE_URI = "memory://note/"
"""Start of the URI of a note."""
_PLACE = re.compile(r"((?:[A-Za-z]:)?[^:]*+):\d+(?::\d+)?")
"""A file with a line, and optionally a column, as answers print it."""
_LONGEST = 10_000
"""Maximum length of a path: path functions take quadratic time for a longer one."""
_FOLDER_SIGNS = frozenset("./\\")
_HERE = re.compile(r"\A(?:\./+)+")
_LINK = re.compile(r"\[\[([^\[\]|]++)(?:\|[^\[\]]*+)?\]\]|`([^`]++)`")
"""A name as notes write it: a link, or code."""
_CODE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_INVISIBLE = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
"""Categories of the characters that answers escape in names, such as `\\u200c`."""
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9_+-]{0,9}\Z")
_RECORD = re.compile(
    r"adr[-_ ]?(?P<named>\d{1,5})(?!\d)|(?P<padded>\d{3,5})(?![\d.:])(?![-_ ]\d\d(?!\d))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<adr>adr[-_ ]?)?(?P<number>\d{1,5})", re.IGNORECASE)
_REFERENCE = re.compile(r"\w+:\S.*")
"""A symbol, person or ticket: `KIND:ID`. Titles have a space behind their colon."""


def of_note(name: str, place: Layout) -> str:
    r"""Return a note's name as links have it, from any of its forms.

    These are `.memories/facts/x.md`, `./facts/x`, `facts//x`, `facts\x`, `facts/x.md:3`, an
    absolute path inside the bank, `memory://note/facts/x`, `[[facts/x]]`, and a name with escapes
    of invisible characters such as `\u200c`. Other text is returned unchanged.
    """
    text = _named(name)
    if len(text) > _LONGEST:
        return text
    if Path(text).is_absolute():
        return _below(text, str(place.root)) or text
    return text.removeprefix(place.prefix) if place.prefix else text


def _named(name: str) -> str:
    """Return the path or title that a form of a name has, as written."""
    if len(name) > _LONGEST:
        return name
    text = name.strip()
    if (link := _LINK.fullmatch(text)) is not None:
        text = (link[1] or link[2]).strip()
    text = _CODE.sub(_unescaped, text)
    if text.startswith(NOTE_URI):
        text = unquote(text.removeprefix(NOTE_URI))
    found = _PLACE.fullmatch(text)
    if found and not _FOLDER_SIGNS.isdisjoint(found[1]):
        text = found[1]
    return text if Path(text).is_absolute() else _plain(text)


def new_path(name: str, place: Layout) -> str:
    """Return the path of the new note that a name means, in any form; raise BadName."""
    return path_of(of_note(name, place))


def of_file(name: str, place: Layout) -> str:
    """Return the name of a note, or of a file from the project's root, as links have it.

    As `of_note`; an absolute path may be anywhere inside the project.
    """
    text = of_note(name, place)
    if len(text) > _LONGEST or not Path(text).is_absolute():
        return text
    return _below(text, str(place.project)) or text


def in_file_refs(name: str, place: Layout) -> str:
    """Return a file's path from the project's root, as `file_refs` have it, from any form.

    A name that no file of the project has, but a note of the bank, becomes the path of that note.
    """
    text = _named(name)
    if len(text) > _LONGEST or not place.prefix:
        return of_file(name, place)
    if Path(text).is_absolute():
        return _below(text, str(place.project)) or text
    if leads_out(text) or place.project_has(text):
        return text
    forms = (f"{place.prefix}{text}{suffix}" for suffix in ("", *NOTE_SUFFIXES))
    notes = (form for form in forms if form.endswith(NOTE_SUFFIXES))
    return next(filter(place.project_has, notes), text)


def leads_out(path: str) -> bool:
    """Tell whether a path leads out of the folder that it starts at, or is empty."""
    return not path or posixpath.isabs(path) or posixpath.normpath(path).startswith("..")


def of_included(name: str, place: Layout) -> str:
    """Return the name of the included file that an absolute path means; empty for other names."""
    text = of_note(name, place)
    if not place.prefix or len(text) > _LONGEST or not Path(text).is_absolute():
        return ""
    below = _below(text, str(place.project))
    return OUTSIDE + below if below else ""


def record_name(name: str) -> str:
    """Return `adr-N` for the name of a note on the decision N, else an empty string.

    `0021-title`, `adr-21` and `ADR_0021-title` are decision 21; a date is none.
    """
    found = _RECORD.match(name.rpartition("/")[2])
    return f"adr-{int(found['named'] or found['padded'])}" if found else ""


def record_asked(written: str, *, bare: bool = False) -> str:
    """Return `adr-N` for `ADR-N` in any form, with `bare` for `N` too, else an empty string."""
    found = _NUMBER.fullmatch(written.strip())
    return f"adr-{int(found['number'])}" if found and (found["adr"] or bare) else ""


def in_reference(text: str) -> str:
    r"""Return a reference of front matter without `./` before it and with `/` for `\`."""
    return text if ":" in text else _plain(text)


def may_be_file(name: str, place: Layout) -> bool:
    """Tell whether a name from `of_file`, which no note has, may name a file or a symbol.

    The file may not exist yet: then it must have an extension that notes don't have, or a folder
    that the bank doesn't have. `KIND:ID` is a symbol. Paths out of the project are not accepted.
    """
    if Path(name).is_absolute() or ".." in name.split("/"):
        return False
    if _REFERENCE.fullmatch(name) or place.project_has(name):
        return bool(name)
    folder = name.partition("/")[0] if "/" in name else ""
    if _EXTENSION.search(name) and not name.endswith(NOTE_SUFFIXES):
        return True
    return bool(folder) and not (place.root / folder).is_dir()


def _plain(text: str) -> str:
    text = _HERE.sub("", text.replace("\\", "/"))
    if "://" in text or ("//" not in text and "/./" not in text):
        return text
    first, *inner, last = text.split("/")
    return "/".join((first, *(part for part in inner if part not in {"", "."}), last))


def _unescaped(code: re.Match[str]) -> str:
    """Return the character of an escape, if it is one that answers escape."""
    number = int(code[1] or code[2] or code[3], 16)
    if number > sys.maxunicode or unicodedata.category(chr(number)) not in _INVISIBLE:
        return code[0]
    return chr(number)


def _below(path: str, folder: str) -> str:
    """Return an absolute path as one below a folder; empty when it is not inside."""
    for form in (os.path.normpath(path), os.path.realpath(path)):
        if form.startswith(folder.rstrip(os.sep) + os.sep):
            return Path(form).relative_to(folder).as_posix()
    return ""
