"""Decode a file's bytes: UTF-8, or another encoding as far as possible."""

import codecs
from typing import NamedTuple

from memory_bank.errors import UnreadableNote
from memory_bank.notes.block_positions import BREAK
from memory_bank.notes.note import Fault

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
    faults: tuple["Fault", ...] = ()
    writable: bool = True


def decode(data: bytes) -> Decoded:
    """Return a file's text; raise UnreadableNote for a binary file.

    A file that isn't valid UTF-8 is read as far as possible, and is not writable.
    """
    for mark, encoding in _WIDE:
        if data.startswith(mark) and not len(data) % (4 if "32" in encoding else 2):
            text = data[len(mark) :].decode(encoding, errors="replace")
            name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
            return _imperfect(
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
        return _imperfect(data[start:].decode("utf-8", errors="replace"), encoding, reason, line)


def _imperfect(text: str, encoding: str, reason: str, line: int = 1) -> Decoded:
    return Decoded(text, encoding, (Fault(reason, line),), writable=False)
