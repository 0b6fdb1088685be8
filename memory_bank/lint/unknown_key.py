"""Keys of front matter that are not known, where the settings are strict."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import ALLOW, Place
from memory_bank.lint.schema import schema_of
from memory_bank.notes.note_text import NoteText
from memory_bank.notes.relations import TYPES
from memory_bank.notes.schema import KEYS
from memory_bank.similar_names import similar_names

SUMMARY = "front matter has a key that is not known, where the schema is strict"
SEVERITY = "warning"
KNOWN = TYPES | {one for names in KEYS.values() for one in names} | {
    ALLOW, "archived", "same_as", "session_id", "imported_from", "imported_hash", "verified_commit",
    "verified_at", "related_to",
}  # fmt: skip
"""Our keys, and relations to other notes."""


def check_note(note: NoteText, settings: Settings) -> Iterator[Place]:
    """Yield each key that is neither ours nor in the schema of the note's type."""
    if not note.head or not (settings.schema.strict or settings.schema.types):
        return
    _, schema = schema_of(note, settings)
    strict = settings.schema.strict if schema.strict is None else schema.strict
    known = KNOWN | set(map(_plain, (*schema.required, *schema.optional)))
    for key in note.keys if strict else ():
        if _plain(key) not in known:
            near = similar_names(_plain(key), sorted(known), most=1)
            fix = f"write {next(iter(near))}, if that is meant" if near else None
            yield Place(note.path, note.key_line(key), f"the key {key[:60]!r} is not known", fix)


def _plain(key: str) -> str:
    return key.strip().lower().replace("-", "_").replace(" ", "_")
