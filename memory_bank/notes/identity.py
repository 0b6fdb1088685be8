"""Compute hashes, ids and file names of notes."""

from __future__ import annotations

import unicodedata
from datetime import datetime

from blake3 import blake3

from memory_bank.base.dates import format_iso
from memory_bank.notes.characters import to_nfc

_SLUG_BYTES = 150

_DROPPED = "'\u2019"

DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"]
)
"""Device names on Windows, with any suffix; it accepts ¹, ² and ³ as digits."""


def hash_bytes(data: bytes) -> str:
    """Return the BLAKE3 of a file's bytes, hex."""
    return blake3(data).hexdigest()


def normalise(content: str) -> str:
    r"""Normalise content: NFC, line ends `\n`, no trailing white space, no blank lines around."""
    text = to_nfc(content).replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def content_hash(content: str) -> str:
    """Return the BLAKE3 of normalised content, hex."""
    return blake3(normalise(content).encode()).hexdigest()


def number_text(text: str) -> int:
    """Return 63 bits of a text's BLAKE3, which fit an integer of SQLite."""
    return int.from_bytes(blake3(text.encode()).digest(8), "big") >> 1


def note_id(content: str, created_at: datetime) -> str:
    """Return a note's id: 12 hex digits of BLAKE3(content + created_at)."""
    return blake3((content + format_iso(created_at)).encode()).hexdigest()[:12]


def make_slug(text: str, limit: int = 60) -> str:
    """Return a file name of lower-case letters and digits of any script, `-` between words.

    At most `limit` characters and 150 bytes, cut at the end of a word if one ends in the second
    half. Never empty, and never a device name on Windows.
    """
    text = to_nfc(to_nfc(text).lower())
    words = "".join(_slug_char(char) for char in text).split()
    # A combining mark at the start of a word, for example of an emoji, has lost its base.
    bare = (_strip_marks(word) for word in words)
    cut = _cut_bytes("-".join(word for word in bare if word), limit) or "note"
    return _cut_bytes(f"note-{cut}", limit) if cut in DEVICES else cut


def _slug_char(char: str) -> str:
    category = unicodedata.category(char)
    if category[0] in "LMN":
        return char
    # Joiners and direction marks stand inside words.
    return "" if category == "Cf" or char in _DROPPED else " "


def _strip_marks(word: str) -> str:
    start = 0
    while start < len(word) and unicodedata.category(word[start])[0] == "M":
        start += 1
    return word[start:]


def _cut_bytes(text: str, limit: int) -> str:
    head = text[:limit].encode()[:_SLUG_BYTES].decode(errors="ignore")
    if len(head) == len(text):
        return head
    if text[len(head)] != "-":
        words, dash, _ = head.rpartition("-")
        if dash and len(words) >= len(head) // 2:
            return words
        while head and unicodedata.category(text[len(head)])[0] == "M":
            head = head[:-1]
    return head.rstrip("-")
