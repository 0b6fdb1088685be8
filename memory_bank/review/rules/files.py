"""Files, keys and settings: what can't be read or can't hold, is too much, or is a secret."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

from memory_bank.bank.records import Finding
from memory_bank.base.dates import format_iso, to_datetime
from memory_bank.base.documents import Fault
from memory_bank.base.errors import similar_names
from memory_bank.base.filenames import SETTINGS, TEMPORARY_PREFIX, as_utf8
from memory_bank.base.paths import INDEX
from memory_bank.base.setting_sections import TypeSchema
from memory_bank.base.settings import Settings
from memory_bank.memory.rules_block import read_bank_block
from memory_bank.notes import names
from memory_bank.notes.merging.conflicts import UNRESOLVED
from memory_bank.notes.parsing import NoteText, parse
from memory_bank.notes.relations import TYPES
from memory_bank.notes.schema import KEYS, known_type, plain_key, spelled_keys
from memory_bank.notes.secrets import secrets
from memory_bank.notes.source import NO_TYPE
from memory_bank.review.rules.base import (
    AGENTS,
    ALLOW,
    RuleContext,
    at,
    bank_rule,
    note_rule,
    problem,
    rules,
)
from memory_bank.search.manifest import document_rows

_STARTS = ("front matter can't be parsed", "front matter opens on line 1")


@note_rule("error", "front matter can't be parsed", private=True)
def bad_front_matter(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield what is wrong in front matter that gives no values."""
    for fault in note.faults:
        if is_unparsed(fault):
            yield problem(note.path, fault.line, fault.reason)


def is_unparsed(fault: Fault) -> bool:
    """Tell whether a fault is that of front matter that gives no values."""
    return fault.reason != UNRESOLVED and fault.reason.startswith(_STARTS)


@note_rule("warning", "a note has no text")
def empty_note(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield the note if it has only front matter and white space."""
    if not note.parts.body.strip("\ufeff \t\r\n\f\v"):
        yield problem(note.path, 1, "has no text", "write its text, or remove it")


@bank_rule("warning", "a part of a note, such as a date, could not be read")
def fault(bank: RuleContext) -> Iterator[Finding]:
    """Yield the faults of all notes, except those with a rule of their own."""
    for path, line, reason in document_rows.list_faults(bank.manifest):
        if reason != UNRESOLVED and not is_unparsed(Fault(reason, line)):
            yield problem(path, line, reason)


_FOLDERS = (f"{INDEX}/", ".trash/")

# Files of a folder that are found: more say no more.
_MOST = 20

_FIX_GENERATED_FILE = "git rm --cached it, and keep it out by the .gitignore that init writes"


@bank_rule("error", "git tracks a derived or private file of the bank")
def generated_file(bank: RuleContext) -> Iterator[Finding]:
    """Yield such files, at most some of each folder."""
    count = dict.fromkeys(_FOLDERS, 0)
    for path in bank.tracked:
        folder = next((folder for folder in _FOLDERS if path.startswith(folder)), "")
        if folder:
            count[folder] += 1
        if count.get(folder, 0) > _MOST:
            continue
        if folder or path.rpartition("/")[2].startswith(TEMPORARY_PREFIX):
            yield problem(
                as_utf8(path), 1, "is in git, but is derived or private", _FIX_GENERATED_FILE
            )


MOST = 10 * 1024
"""Bytes."""


_UNDECIDED = frozenset(["active", "draft", "proposed", "pending"])


@note_rule("info", "a note is larger than 10 KB")
def large_note(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield the note if it is larger; what was decided isn't rewritten."""
    if note.size <= MOST:
        return
    meta = parse(note.path, note.text.encode(errors="replace")).meta
    if meta.type.lower() not in {"adr", "decision"} or meta.status in _UNDECIDED:
        yield problem(note.path, 1, f"has {note.size:,} bytes", "make several notes of it")


@bank_rule("info", "a name that new notes must not have")
def odd_name(bank: RuleContext) -> Iterator[Finding]:
    """Yield the notes with odd names, each with the reason."""
    for path in bank.wanted(document_rows.read_hashes(bank.manifest)):
        if reason := names.find_oddity(path):
            yield problem(path, 1, reason)


@bank_rule("info", "a text file (.txt, .mdx) is not a note")
def other_suffix(bank: RuleContext) -> Iterator[Finding]:
    """Yield text files that may be meant as notes."""
    there = {path.casefold() for path in (*bank.files, *bank.texts)}
    for path in bank.texts:
        file = PurePosixPath(path)
        new = file.with_suffix(".md")
        if str(new).casefold() in there:
            new = file.with_name(f"{file.name}.md")
        message = f"is not indexed, as its name ends in {file.suffix}"
        yield problem(path, 1, message, f"if it is a note, rename it to {new.name}")


@bank_rule("error", "a file is not indexed")
def unindexed(bank: RuleContext) -> Iterator[Finding]:
    """Yield the files that are not indexed, with the reason; those without a type are `okf`."""
    for path, reason in document_rows.list_unindexed(bank.manifest):
        if reason != NO_TYPE:
            yield problem(path, 1, reason)


_SAID = {
    "outdated": "the notes of the block of rules changed since it was written",
    "edited": "somebody edited the block of rules",
}


@bank_rule("warning", "the rules in AGENTS.md differ from the notes")
def rules_block(bank: RuleContext) -> Iterator[Finding]:
    """Yield a block that is outdated, edited, damaged or has a conflict."""
    if bank.paths is not None and AGENTS not in bank.paths:
        return
    block = read_bank_block(bank.bank)
    if block is not None and block.state not in {"current", "missing"}:
        message = block.problem or _SAID[block.state]
        fix = "memory-bank rules --write" if block.state != "unreadable" else "make it a plain file"
        yield problem(AGENTS, block.line, message, fix)


_FIX = "revoke it and remove it; if it is none, allow its hash in the settings"


@note_rule("error", "a note contains a key, token or password", private=True)
def secret(note: NoteText, settings: Settings) -> Iterator[Finding]:
    """Yield the places of secrets, with kind and hash; the hash is for `secrets.allow`."""
    for secret in secrets.find(note.text, settings.secrets.allow):
        mark = secrets.fingerprint(secret.value)
        message = f"{secret.kind} (hash {mark})"
        yield at(note, secret.start, secret.end, message, _FIX)._replace(hash=mark)


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
        keys = spelled_keys(note.keys, name)
        if all(note.keys[key] in (None, "", [], {}) for key in keys):
            line = next(map(note.key_line, keys), 0)
            message = f"a note of type {kind} must have the key {name!r}"
            yield problem(note.path, line or note.key_line("type"), message, f"add {name}: …")


def find_schema(note: NoteText, settings: Settings) -> tuple[str, TypeSchema]:
    """Return the type of a note, and its schema."""
    note_type = next((note.keys[key] for key in spelled_keys(note.keys, "type")), "")
    kind = known_type(str(note_type))
    by_type = {known_type(name): schema for name, schema in settings.schema.types.items()}
    return kind, by_type.get(kind, TypeSchema())


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
