"""Keys of front matter and settings that can't hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from memory_bank.bank.findings import Finding
from memory_bank.base.dates import format_iso, to_datetime
from memory_bank.base.errors import similar_names
from memory_bank.base.filenames import SETTINGS
from memory_bank.base.setting_sections import TypeSchema
from memory_bank.base.settings import Settings
from memory_bank.notes.parsing import NoteText
from memory_bank.notes.relations import TYPES
from memory_bank.notes.schema import KEYS, known_type, plain_key, spelled_keys
from memory_bank.review.rules.base import ALLOW, RuleContext, bank_rule, note_rule, problem, rules


@bank_rule("error", "a setting of the project's file is wrong, or the user's alone")
def bad_setting(bank: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong, where the file has it."""
    for setting_problem in bank.settings.problems:
        yield problem(SETTINGS, setting_problem.line, setting_problem.message, setting_problem.hint)


_ZONES = timedelta(hours=14)
"""So much earlier is a date than in UTC where it comes first."""


@note_rule("warning", "a date of a note is in the future")
def future_date(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each such date; a date of today in any time zone is none."""
    limit = datetime.now(UTC) + _ZONES
    for name in ("created_at", "updated_at", "verified_at") if note.head else ():
        for key in spelled_keys(note.keys, name):
            moment = to_datetime(note.keys[key])
            if moment is not None and moment > limit:
                message = f"{key} is in the future: {format_iso(moment)}"
                yield problem(
                    note.path, note.key_line(key), message, "write the day on which it was"
                )


@bank_rule("warning", "a setting names a rule that does not exist")
def lint_setting(bank: RuleContext) -> Iterator[Finding]:
    """Yield each name, where the settings have it."""
    rule_of = rules()
    file, _, line = bank.settings.origins.get("lint.severity", "").rpartition(":")
    own = file == str(bank.layout.config) and line.isdigit()
    for name in bank.settings.lint.severity:
        if name not in rule_of:
            near = similar_names(name, sorted(rule_of), most=1)
            fix = f"write {next(iter(near))}, if that is meant" if near else None
            message = f"lint.severity: there is no rule {name[:60]!r}"
            yield problem(SETTINGS, int(line) if own else 1, message, fix)


@note_rule("error", "front matter lacks a required key")
def schema(note: NoteText, settings: Settings) -> Iterator[Finding]:
    """Yield each key that is missing or empty."""
    if not settings.schema.types or not note.head:
        return
    kind, schema = find_schema(note, settings)
    for name in schema.required:
        if not any(_says_something(note.keys[key]) for key in spelled_keys(note.keys, name)):
            line = next((note.key_line(key) for key in spelled_keys(note.keys, name)), 0)
            message = f"a note of type {kind} must have the key {name!r}"
            yield problem(note.path, line or note.key_line("type"), message, f"add {name}: …")


def find_schema(note: NoteText, settings: Settings) -> tuple[str, TypeSchema]:
    """Return the type of a note, and its schema."""
    note_type = next((note.keys[key] for key in spelled_keys(note.keys, "type")), "")
    kind = known_type(str(note_type))
    by_type = {known_type(name): schema for name, schema in settings.schema.types.items()}
    return kind, by_type.get(kind, TypeSchema())


def _says_something(value: object) -> bool:
    return value is not None and value not in ("", [], {})


KNOWN = TYPES | {name for names in KEYS.values() for name in names} | {
    ALLOW, "archived", "same_as", "session_id", "imported_from", "imported_hash", "verified_commit",
    "verified_at", "related_to",
}  # fmt: skip
"""Our keys, and relations to other notes."""


@note_rule("warning", "front matter has a key that its schema does not know")
def unknown_key(note: NoteText, settings: Settings) -> Iterator[Finding]:
    """Yield each key that is neither ours nor in the schema of the note's type."""
    if not note.head or not settings.schema.types:
        return
    _, schema = find_schema(note, settings)
    plain_keys = KNOWN | set(map(plain_key, (*schema.required, *schema.optional)))
    for key in note.keys if schema.strict else ():
        if plain_key(key) not in plain_keys:
            near = similar_names(plain_key(key), sorted(plain_keys), most=1)
            fix = f"write {next(iter(near))}, if that is meant" if near else None
            yield problem(note.path, note.key_line(key), f"the key {key[:60]!r} is not known", fix)
