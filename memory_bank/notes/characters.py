"""Decode a file's bytes, normalise to NFC, and find the characters that a reader does not see."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Fault
from memory_bank.base.errors import UnreadableNote

BOM = codecs.BOM_UTF8

_WIDE = (  # UTF-32 first: its little-endian mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Decoded(NamedTuple):
    """A file's text without byte order mark, its encoding, and faults."""

    text: str
    encoding: str
    faults: tuple[Fault, ...] = ()
    writable: bool = True


def decode(data: bytes) -> Decoded:
    """Return a file's text; raise UnreadableNote for a binary file.

    A file that isn't valid UTF-8 is read as far as possible, and is not writable.
    """
    for mark, encoding in _WIDE:
        if data.startswith(mark) and not len(data) % (4 if "32" in encoding else 2):
            text = data[len(mark) :].decode(encoding, errors="replace")
            name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
            return _decode_with_fault(
                text, encoding, f"encoded in {name}, not UTF-8: read, but not written"
            )
    if (nul := data.find(b"\0")) >= 0:
        raise UnreadableNote(
            f"the file contains NUL bytes (the first at byte {nul}), looks binary",
            "save it as UTF-8 text, or give it another suffix than .md",
        )
    start = len(BOM) if data.startswith(BOM) else 0
    encoding = "utf-8-sig" if start else "utf-8"
    try:
        return Decoded(data[start:].decode("utf-8"), encoding)
    except UnicodeDecodeError as error:
        at = start + error.start
        reason = f"not UTF-8: byte 0x{data[at]:02X} at offset {at} is read as U+FFFD"
        line = 1 + len(BREAK.findall(data[:at].decode("latin-1")))
        return _decode_with_fault(
            data[start:].decode("utf-8", errors="replace"), encoding, reason, line
        )


def _decode_with_fault(text: str, encoding: str, reason: str, line: int = 1) -> Decoded:
    return Decoded(text, encoding, (Fault(reason, line),), writable=False)


_RUN = (
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200d\u2028\u2029\u2060-\u2065\u206a-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)

_UNSEEN = lazy_pattern(_RUN)

_UNSEEN_FROM_LEFT = lazy_pattern(f"{_RUN[:-2]}\u200e]+")
"""In a text with letters from left to right only, the mark U+200E does nothing but hide."""

_BIDI = lazy_pattern("[\u061c\u200f\u202a-\u202e\u2066-\u2069]")

_MARKS = frozenset("\u061c\u200f")
"""They set the direction of their neighbours only; texts from right to left have them."""

_OVERRIDES = frozenset("\u202d\u202e")

_OPENING, _CLOSING = frozenset("\u202a\u202b\u2066\u2067\u2068"), {"\u202c": 1, "\u2069": 2}

_LETTER_FROM_RIGHT = lazy_pattern(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)

_JOINED = lazy_pattern(
    "[\u0600-\u0dff\u0f00-\u109f\u1780-\u1aff\u1b00-\u1cff\ua800-\uabff\ufb50-\ufdff"
    "\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
"""Letters of scripts in which zero-width joiners and non-joiners choose the form of letters."""

_UNSPACED = lazy_pattern("[\u0e00-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\uaa60-\uaadf]")
"""Letters of scripts that are written without spaces; zero-width ones say where words end."""

_EMOJI = lazy_pattern(
    "[\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff\U000e007f\u0023\u002a\u0030-\u0039]"
)

_IDEOGRAPH = lazy_pattern("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

_MONGOLIAN = lazy_pattern("[\u1800-\u18af\ua840-\ua877]")

_FLAG = lazy_pattern("(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")

_JOINER, _NON_JOINER, _SPACE = "\u200d", "\u200c", "\u200b"

_MOST_NAMED = 4
"""Characters of a run that a finding names."""


class Unseen(NamedTuple):
    """Neighbouring characters that are not seen."""

    start: int
    end: int
    named: str
    """The characters: code point and name, and how many they are."""
    removable: bool
    """Whether the text looks the same without them."""


def find_invisible(text: str) -> Iterator[Unseen]:
    """Yield the invisible characters of a text, except where a script or an emoji needs them.

    Needed are joiners between emoji, and beside letters of Arabic and Indian scripts; word ends of
    Thai, Khmer and their like; a selector behind the symbol or ideograph that it varies; tags of
    flags; U+200E in a text with letters from right to left. Invisible characters with nothing but
    spaces between them are one run.
    """
    start = end = -1
    is_plain = text.isascii() or _LETTER_FROM_RIGHT.search(text)
    unseen = _UNSEEN if is_plain else _UNSEEN_FROM_LEFT
    for match in unseen.finditer(text):
        ats = [at for at in range(*match.span()) if not _belongs(text, at)]
        if not ats:
            continue
        if start >= 0 and text[end : ats[0]].strip(" "):
            yield _make_unseen(text, start, end)
            start = -1
        start, end = (ats[0] if start < 0 else start), ats[-1] + 1
    if start >= 0:
        yield _make_unseen(text, start, end)


def _belongs(text: str, at: int) -> bool:  # noqa: PLR0911  (a case a line)
    char, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if char in {_JOINER, _NON_JOINER}:
        if _JOINED.match(before) or (char == _NON_JOINER and _JOINED.match(after)):
            return not _UNSEEN.match(after)
        return char == _JOINER and bool(_EMOJI.match(before) and _EMOJI.match(after))
    if char == _SPACE:
        return _ends_word(text, at)
    if "\ufe00" <= char <= "\ufe0f":
        kind = unicodedata.category(before) if before else ""
        return kind in {"So", "Sm", "Sk", "Po", "Nd", "Pd"} or bool(
            (_EMOJI.match(before) and before != "\ufe0f") or _IDEOGRAPH.match(before)
        )
    if "\U000e0100" <= char <= "\U000e01ef":
        return bool(_IDEOGRAPH.match(before))
    if "\U000e0000" < char <= "\U000e007f":
        flag = _FLAG.match(text, text.rfind("\U0001f3f4", max(0, at - 8), at) + 1)
        return bool(flag and flag.start() <= at < flag.end())
    if "\u180b" <= char <= "\u180f":
        return bool(_MONGOLIAN.match(before))
    return char == "\u2800" and any(
        "\u2801" <= neighbour <= "\u28ff" for neighbour in (before, after)
    )


def _ends_word(text: str, at: int) -> bool:
    """Return whether a zero-width space is beside a word of a script without spaces.

    People who type such a script also write a second one, or one beside a space.
    """
    before, after = text[max(0, at - 2) : at], text[at + 1 : at + 3]
    sides = before.rstrip(f" {_SPACE}")[-1:], after.lstrip(f" {_SPACE}")[:1]
    alone = (before + after).count(_SPACE) <= 1
    return alone and any(map(_UNSPACED.match, sides))


def _make_unseen(text: str, start: int, end: int) -> Unseen:
    chars = text[start:end].replace(" ", "")
    removable = all(unicodedata.category(char) not in {"Cc", "Zl", "Zp", "Cn"} for char in chars)
    return Unseen(start, end, name_characters(chars), removable and "\u2800" not in chars)


def direction_controls(text: str) -> Iterator[Unseen]:
    """Yield the characters that change the direction of text, line by line.

    A text with letters that are written from right to left may have marks; a line with such letters
    may have embeddings and isolates that are closed in it. No text may have overrides.
    """
    if not _BIDI.search(text):
        return
    from_right = bool(_LETTER_FROM_RIGHT.search(text))
    at = 0
    for line in re.split("(?<=[\r\n\u2028\u2029])", text):
        places = [match.start() for match in _BIDI.finditer(line)]
        if places and not _belongs_to_line(line, [line[place] for place in places]):
            for place in places:
                if line[place] not in _MARKS or not from_right:
                    start = at + place
                    yield Unseen(start, start + 1, name_characters(line[place]), removable=True)
        at += len(line)


def _belongs_to_line(line: str, controls: list[str]) -> bool:
    if not _LETTER_FROM_RIGHT.search(line) or not _OVERRIDES.isdisjoint(controls):
        return False
    opened: list[int] = []
    for control in controls:
        if control in _OPENING:
            opened.append(2 if control >= "\u2066" else 1)
        elif control in _CLOSING and (not opened or opened.pop() != _CLOSING[control]):
            return False
    return not opened


def name_characters(chars: str) -> str:
    """Return the code points and names of the first few characters, and how many there are."""
    kinds = dict.fromkeys(chars)
    texts = [
        f"U+{ord(char):04X} {unicodedata.name(char, 'control character')}"
        for char in list(kinds)[:_MOST_NAMED]
    ]
    more = f" and {len(kinds) - _MOST_NAMED} others" if len(kinds) > _MOST_NAMED else ""
    count = f" ({len(chars):,} characters)" if len(chars) > 1 else ""
    return ", ".join(texts) + more + count


def remove_invisible(text: str) -> tuple[str, list[int]]:
    """Return a text without invisible characters, and the offset of each that is left."""
    parts, offsets, at = list[str](), list[int](), 0
    for match in re.finditer(f"{_UNSEEN_FROM_LEFT.pattern}|{_BIDI.pattern}", text):
        parts.append(text[at : match.start()])
        offsets += range(at, match.start())
        at = match.end()
    return "".join((*parts, text[at:])), [*offsets, *range(at, len(text) + 1)]


_LONGEST_RUN = 60
"""Maximum length of a run of marks that is sorted as one; real text has fewer than ten."""

# Of combining class 0, but they decompose to marks.
_DECOMPOSED = "\u0f73\u0f75\u0f81"


def to_nfc(text: str) -> str:
    """Return a text in NFC.

    A run of more than 60 combining marks is normalised in pieces of 60, since the library sorts
    marks in quadratic time.
    """
    if text.isascii():
        return text
    parts, position = list[str](), 0
    at = _LONGEST_RUN
    # A run of more marks includes one of these offsets.
    while at < len(text):
        if not _is_mark(text[at]):
            at += _LONGEST_RUN
            continue
        start, end = at, at + 1
        while start > position and _is_mark(text[start - 1]):
            start -= 1
        while end < len(text) and _is_mark(text[end]):
            end += 1
        if end - start > _LONGEST_RUN:
            parts.append(unicodedata.normalize("NFC", text[position:start]))
            pieces = (
                text[place : min(place + _LONGEST_RUN, end)]
                for place in range(start, end, _LONGEST_RUN)
            )
            parts += (unicodedata.normalize("NFC", piece) for piece in pieces)
            position = end
        at = end + _LONGEST_RUN
    return "".join((*parts, unicodedata.normalize("NFC", text[position:])))


def _is_mark(char: str) -> bool:
    return unicodedata.combining(char) > 0 or char in _DECOMPOSED


# str.splitlines also splits at \v, \f, U+2028 and others, which Markdown does not.
BREAK = lazy_pattern(r"\r\n|\n|\r")


_WORD = lazy_pattern(r"\w+")


def written_words(text: str) -> str:
    """Return the words of a text as written, case folded, without what stands between them."""
    return " ".join(_WORD.findall(text.casefold()))
