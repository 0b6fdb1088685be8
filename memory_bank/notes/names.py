"""Names of notes: checks, forms, the path of a name, and the key for lookups."""

from __future__ import annotations

import os
import posixpath
import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import BadName, Hint
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.paths import Layout
from memory_bank.notes.characters import to_nfc
from memory_bank.notes.identity import DEVICES

_INVISIBLE = frozenset(["Cc", "Cf", "Zl", "Zp"])
"""Categories of invisible characters: control, format, line and paragraph separators."""

_REFUSED = frozenset('<>:"|?*\\')
"""Refused in new names, since Windows doesn't support them; existing files are still read."""

OUTSIDE = "../"
"""Starts the name by which a path finds an included note, but no note of the bank."""

_ID_START = lazy_pattern(r"-[0-9a-f]{4}(?:-\d+)?\Z")

MAX_BYTES = 255
"""Longest part of a path that common file systems take."""

_MAX_PATH = 900
"""Bytes of a path: Windows and git take some more."""


def note_path(name: str) -> str:
    """Return the path below the bank of a note's name; add `.md` if it has no suffix.

    Raises BadName for a name that leaves the bank, is hidden, or can't be a file everywhere.
    """
    text = to_nfc(name.strip())
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
    if problem := find_oddity(path):
        raise BadName(f"{path!r} {problem}", "leave it out: the title may have it")


def find_oddity(path: str) -> str:
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


def fold_path(path: str) -> str:
    """Return the form in which some file systems compare paths: NFC, case folded."""
    return to_nfc(to_nfc(path).casefold())


def lookup_key(name: str) -> str:
    """Return the lookup key of a name: NFC, case folded, single spaces, without `.md`."""
    text = to_nfc(name).casefold()
    return name_of(" ".join(text.split()))


def find_by_start(paths: Iterable[str], start: str) -> list[str]:
    """Return the paths of notes whose file name begins with a lookup key, else whose name does."""
    if not start or start.endswith("/"):
        return []
    keys = {path: lookup_key(path).removeprefix(OUTSIDE) for path in paths}
    by_file = [path for path in keys if keys[path].rpartition("/")[2].startswith(start)]
    return by_file or [path for path in keys if keys[path].startswith(start)]


def strip_id_start(name: str) -> str:
    """Return a name without the start of an id, which `remember` adds where git knows branches."""
    return _ID_START.sub("", name)


_TABLE = {
    # Cyrillic
    "а": "a", "с": "c", "ԁ": "d", "е": "e", "һ": "h", "і": "i", "ј": "j", "ӏ": "l", "о": "o",
    "р": "p", "ԛ": "q", "ѕ": "s", "ԝ": "w", "х": "x", "у": "y", "ү": "y", "ѵ": "v", "г": "r",
    "А": "A", "В": "B", "С": "C", "Е": "E", "Ԍ": "G", "Н": "H", "І": "I", "Ј": "J", "К": "K",
    "М": "M", "О": "O", "Р": "P", "Ѕ": "S", "Т": "T", "Х": "X", "У": "Y", "Ү": "Y", "Ԛ": "Q",
    "Ԝ": "W", "Ѵ": "V",
    # Greek
    "α": "a", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "υ": "u", "ϲ": "c", "ϳ": "j",
    "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N",
    "Ο": "O", "Ρ": "P", "Τ": "T", "Υ": "Y", "Χ": "X", "Ϲ": "C",
    # Armenian, Cherokee, Georgian, and Latin letters of other alphabets
    "հ": "h", "ո": "n", "օ": "o", "ս": "u", "ց": "g", "զ": "q", "Ս": "U", "Օ": "O",
    "Ꭺ": "A", "Ᏼ": "B", "Ꮯ": "C", "Ꭼ": "E", "Ꮋ": "H", "Ꭻ": "J", "Ꮶ": "K", "Ꮮ": "L", "Ꮇ": "M",
    "Ꮲ": "P", "Ꮪ": "S", "Ꭲ": "T", "Ꮩ": "V", "Ꮃ": "W", "Ꮓ": "Z",
    "ɑ": "a", "ɡ": "g", "ⅼ": "l", "ᴏ": "o", "ᴄ": "c", "ꜱ": "s",
}  # fmt: skip

_LATIN = lazy_pattern("[A-Za-z]")

WORD = lazy_pattern(r"[^\W_]+")
"""A word of letters and digits."""

_LONG_WORD = 3
"""Letters of a Latin word that tells that a path is written in Latin letters."""


@cache
def _translation() -> dict[int, str]:
    return str.maketrans(_TABLE)


def to_latin(text: str) -> str:
    """Return a text of the same length with Latin letters for those that look like them."""
    return text.translate(_translation())


def find_deceptive(path: str) -> list[tuple[int, str, str]]:
    """Return the letters of a path that look like Latin ones and are none, where that may deceive.

    Each comes with its offset before it and the Latin letter behind it. They may deceive in a word
    that also has Latin letters. In a word of nothing else, they may if another word of the path,
    suffixes left out, is Latin, and no letter shows that the path is in the other script. Letters
    of other forms, such as full-width and mathematical ones, may deceive anywhere.
    """
    if path.isascii():
        return []
    stem = re.sub(r"\.\w{1,8}\Z", "", path)
    is_latin = any(len(word) >= _LONG_WORD and word.isascii() for word in WORD.findall(stem))
    shows_script = any(
        not char.isascii() and char.isalpha() and char not in _TABLE and not _latin_form(char)
        for char in path
    )
    found_letters = []
    for word in WORD.finditer(path):
        letters = [char for char in word[0] if char.isalpha()]
        alike = [char for char in letters if char in _TABLE]
        mixed = bool(_LATIN.search(word[0]))
        whole = is_latin and not shows_script and len(alike) == len(letters) > 1
        for at, char in enumerate(word[0], word.start()):
            if char in _TABLE and (mixed or whole):
                found_letters.append((at, char, _TABLE[char]))
            elif (form := _latin_form(char)) and mixed | is_latin:
                found_letters.append((at, char, form))
    return found_letters


def _latin_form(char: str) -> str:
    """Return the Latin letter of which a character is another form; empty if there is none."""
    if char.isascii() or not char.isalpha():
        return ""
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and _LATIN.match(plain) and char not in "ªº" else ""


NOTE_URI = "memory://note/"
"""Start of the URI of a note."""

_PLACE = lazy_pattern(r"((?:[A-Za-z]:)?[^:]*+):\d+(?::\d+)?")
"""A file with a line, and optionally a column, as answers print it."""

_LONGEST = 10_000
"""Maximum length of a path: path functions take quadratic time for a longer one."""

_FOLDER_SIGNS = frozenset("./\\")

_HERE = lazy_pattern(r"\A(?:\./+)+")

_LINK = lazy_pattern(r"\[\[([^\[\]|]++)(?:\|[^\[\]]*+)?\]\]|`([^`]++)`")
"""A name as notes write it: a link, or code."""

_CODE = lazy_pattern(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")

_ESCAPED = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
"""Categories of the characters that answers escape in names, such as `\\u200c`."""

_EXTENSION = lazy_pattern(r"\.[A-Za-z][A-Za-z0-9_+-]{0,9}\Z")

_RECORD = lazy_pattern(
    r"adr[-_ ]?(?P<named>\d{1,5})(?!\d)|(?P<padded>\d{3,5})(?![\d.:])(?![-_ ]\d\d(?!\d))",
    re.IGNORECASE,
)

_NUMBER = lazy_pattern(r"(?P<adr>adr[-_ ]?)?(?P<number>\d{1,5})", re.IGNORECASE)

_REFERENCE = lazy_pattern(r"\w+:\S.*")
"""A symbol, person or ticket: `KIND:ID`. Titles have a space behind their colon."""


def link_name(name: str, place: Layout) -> str:
    r"""Return a note's name as links have it, from any of its forms.

    These are `.memories/facts/x.md`, `./facts/x`, `facts//x`, `facts\x`, `facts/x.md:3`, an
    absolute path inside the bank, `memory://note/facts/x`, `[[facts/x]]`, and a name with escapes
    of invisible characters such as `\u200c`. Other text is returned unchanged.
    """
    text = _name_as_written(name)
    if len(text) > _LONGEST:
        return text
    if Path(text).is_absolute():
        return _path_below(text, str(place.root)) or text
    return text.removeprefix(place.prefix) if place.prefix else text


def _name_as_written(name: str) -> str:
    """Return the path or title that a form of a name has, as written."""
    if len(name) > _LONGEST:
        return name
    text = name.strip()
    if (link := _LINK.fullmatch(text)) is not None:
        text = (link[1] or link[2]).strip()
    text = _CODE.sub(_unescape_code, text)
    if text.startswith(NOTE_URI):
        text = unquote(text.removeprefix(NOTE_URI))
    match = _PLACE.fullmatch(text)
    if match and not _FOLDER_SIGNS.isdisjoint(match[1]):
        text = match[1]
    return text if Path(text).is_absolute() else _clean_path(text)


def new_path(name: str, place: Layout) -> str:
    """Return the path of the new note that a name means, in any form; raise BadName."""
    return note_path(link_name(name, place))


def file_link_name(name: str, place: Layout) -> str:
    """Return the name of a note, or of a file from the project's root, as links have it.

    As `link_name`; an absolute path may be anywhere inside the project.
    """
    text = link_name(name, place)
    if len(text) > _LONGEST or not Path(text).is_absolute():
        return text
    return _path_below(text, str(place.project)) or text


def file_ref_path(name: str, place: Layout) -> str:
    """Return a file's path from the project's root, as `file_refs` have it, from any form.

    A name that no file of the project has, but a note of the bank, becomes the path of that note.
    """
    text = _name_as_written(name)
    if len(text) > _LONGEST or not place.prefix:
        return file_link_name(name, place)
    if Path(text).is_absolute():
        return _path_below(text, str(place.project)) or text
    if leads_out(text) or place.project_has(text):
        return text
    forms = (f"{place.prefix}{text}{suffix}" for suffix in ("", *NOTE_SUFFIXES))
    notes = (form for form in forms if form.endswith(NOTE_SUFFIXES))
    return next(filter(place.project_has, notes), text)


def leads_out(path: str) -> bool:
    """Return whether a path leads out of the folder that it starts at, or is empty."""
    return not path or posixpath.isabs(path) or posixpath.normpath(path).startswith("..")


def name_included(name: str, place: Layout) -> str:
    """Return the name of the included file that an absolute path means; empty for other names."""
    text = link_name(name, place)
    if not place.prefix or len(text) > _LONGEST or not Path(text).is_absolute():
        return ""
    below = _path_below(text, str(place.project))
    return OUTSIDE + below if below else ""


def record_name(name: str) -> str:
    """Return `adr-N` for the name of a note on the decision N, else an empty string.

    `0021-title`, `adr-21` and `ADR_0021-title` are decision 21; a date is none.
    """
    match = _RECORD.match(name.rpartition("/")[2])
    return f"adr-{int(match['named'] or match['padded'])}" if match else ""


def parse_record(written: str, *, bare: bool = False) -> str:
    """Return `adr-N` for `ADR-N` in any form, with `bare` for `N` too, else an empty string."""
    match = _NUMBER.fullmatch(written.strip())
    return f"adr-{int(match['number'])}" if match and (match["adr"] or bare) else ""


def reference_path(text: str) -> str:
    r"""Return a reference of front matter without `./` before it and with `/` for `\`."""
    return text if ":" in text else _clean_path(text)


def may_be_file(name: str, place: Layout) -> bool:
    """Return whether a name from `file_link_name`, which no note has, may name a file or symbol.

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


def _clean_path(text: str) -> str:
    text = _HERE.sub("", text.replace("\\", "/"))
    if "://" in text or ("//" not in text and "/./" not in text):
        return text
    first, *inner, last = text.split("/")
    return "/".join((first, *(part for part in inner if part not in {"", "."}), last))


def _unescape_code(code: re.Match[str]) -> str:
    """Return the character of an escape, if it is one that answers escape."""
    number = int(code[1] or code[2] or code[3], 16)
    if number > sys.maxunicode or unicodedata.category(chr(number)) not in _ESCAPED:
        return code[0]
    return chr(number)


def _path_below(path: str, folder: str) -> str:
    """Return an absolute path as one below a folder; empty when it is not inside."""
    for form in (os.path.normpath(path), os.path.realpath(path)):
        if form.startswith(folder.rstrip(os.sep) + os.sep):
            return Path(form).relative_to(folder).as_posix()
    return ""
