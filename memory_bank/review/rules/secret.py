"""Keys, tokens and passwords in notes."""

from __future__ import annotations

from collections.abc import Iterator

from memory_bank.bank.findings import Finding
from memory_bank.base.settings import Settings
from memory_bank.notes.parsing import NoteText
from memory_bank.notes.secrets import secrets
from memory_bank.review.rules.base import at, note_rule

_FIX = "revoke it and remove it; if it is none, allow its hash in the settings"


@note_rule("error", "a note contains a key, token or password", private=True)
def secret(note: NoteText, settings: Settings) -> Iterator[Finding]:
    """Yield the places of secrets, with kind and hash; the hash is for `secrets.allow`."""
    for secret in secrets.find(note.text, settings.secrets.allow):
        mark = secrets.fingerprint(secret.value)
        message = f"{secret.kind} (hash {mark})"
        yield at(note, secret.start, secret.end, message, _FIX)._replace(hash=mark)
