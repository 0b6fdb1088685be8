"""Keys, tokens and passwords in notes."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place, at
from memory_bank.notes import secrets
from memory_bank.notes.note_text import NoteText

SUMMARY = "a note contains a key, token or password"
SEVERITY = "error"
PRIVATE = True
_FIX = "revoke it and remove it; if it is none, allow its hash in the settings"


def check_note(note: NoteText, settings: Settings) -> Iterator[Place]:
    """Yield the places of secrets, with kind and hash; the hash is for `secrets.allow`."""
    for secret in secrets.find(note.text, settings.secrets.allow):
        mark = secrets.fingerprint(secret.value)
        message = f"{secret.kind} (hash {mark})"
        yield at(note, secret.start, secret.end, message, _FIX)._replace(hash=mark)
