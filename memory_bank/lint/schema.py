"""Keys that front matter must have, by type."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place
from memory_bank.notes.note_text import NoteText
from memory_bank.notes.schema import keys_of, known_type
from memory_bank.setting_tables import TypeSchema

SUMMARY = "front matter lacks a key that the schema of its type requires"
SEVERITY = "error"


def check_note(note: NoteText, settings: Settings) -> Iterator[Place]:
    """Yield each key that is missing or empty."""
    if not settings.schema.types or not note.head:
        return
    kind, schema = schema_of(note, settings)
    for name in schema.required:
        if not any(_says_something(note.keys[key]) for key in keys_of(note.keys, name)):
            line = next((note.key_line(key) for key in keys_of(note.keys, name)), 0)
            message = f"a note of type {kind} must have the key {name!r}"
            yield Place(note.path, line or note.key_line("type"), message, f"add {name}: …")


def schema_of(note: NoteText, settings: Settings) -> tuple[str, TypeSchema]:
    """Return the type of a note, and its schema."""
    found = next((note.keys[key] for key in keys_of(note.keys, "type")), "")
    kind = known_type(str(found))
    by_type = {known_type(name): schema for name, schema in settings.schema.types.items()}
    return kind, by_type.get(kind, TypeSchema())


def _says_something(value: object) -> bool:
    return value is not None and value not in ("", [], {})
