"""Hide secrets of notes in a review, which is printed in logs and comments."""

from __future__ import annotations

from collections.abc import Collection

from memory_bank.errors import UnreadableNote
from memory_bank.notes import secrets
from memory_bank.notes.decoding import decode


def without_secrets(data: bytes, allowed: Collection[str] = ()) -> bytes:
    """Return a file with `[secret HASH]` for each secret, on as many lines; else its own bytes.

    `allowed` are the hashes of values that are no secrets.
    """
    try:
        text = decode(data).text
    except UnreadableNote:
        return data
    end = len(text)
    parts: list[str] = []
    for one in sorted(secrets.find(text, allowed), key=lambda one: one.start, reverse=True):
        if one.end > end:  # inside of another one
            continue
        name = f"[secret {secrets.fingerprint(one.value)}]"
        parts += [text[one.end : end], name + "\n" * text.count("\n", one.start, one.end)]
        end = one.start
    return "".join([*parts, text[:end]][::-1]).encode() if parts else data
