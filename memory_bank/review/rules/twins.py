"""What is there twice: notes with the same content, id or name, and what a merge left in a note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from unicodedata import normalize

from memory_bank.bank import open_index
from memory_bank.bank.note_files import SESSION
from memory_bank.bank.open_index import NoteRow
from memory_bank.bank.records import Finding
from memory_bank.base import lazy_pattern
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.rendering import quote_path
from memory_bank.base.settings import Settings
from memory_bank.git import authorship, process, repository
from memory_bank.memory import amendments
from memory_bank.notes.characters import BREAK
from memory_bank.notes.identity import content_hash
from memory_bank.notes.merging import conflicts
from memory_bank.notes.merging.body import is_row, mark_code, parse_heading
from memory_bank.notes.merging.conflicts import UNRESOLVED
from memory_bank.notes.names import fold_path, name_of, record_name
from memory_bank.notes.parsing import NoteText
from memory_bank.notes.schema import folder_for_type
from memory_bank.review.rules.base import RuleContext, bank_rule, note_rule, problem
from memory_bank.search.manifest import document_rows


@bank_rule("warning", "two active notes have the same content", fixes=True)
def same_content(bank: RuleContext) -> Iterator[Finding]:
    """Yield each note with the content of an older one; private and tracked notes are separate."""
    groups = [
        [note for note in group if note.content != content_hash("")]
        for group in _yield_groups(bank)
    ]
    shared = _list_shared(bank, [note.path for group in groups for note in group])
    for group in groups:
        for side in (True, False):
            alike = [note.path for note in group if (note.path in shared) == side]
            for path in alike[1:]:
                fix = f"merge it into {alike[0]}, which is older"
                finding = problem(path, 1, f"has the same content as {alike[0]}", fix)
                yield finding._replace(merge_into=alike[0])


def _yield_groups(bank: RuleContext) -> Iterator[Sequence[NoteRow]]:
    """Yield the groups of the bank's own notes with the same content, the oldest first."""
    for group in document_rows.sharing_content(bank.manifest):
        yield [open_index.note_of(row) for row in group if not bank.is_included(row.key)]


def _list_shared(bank: RuleContext, paths: Sequence[str]) -> set[str]:
    """Return the notes that git tracks or would track."""
    sessions = f"{folder_for_type(SESSION)}/"
    by_file = {
        bank.layout.origin.root / path: path for path in paths if not path.startswith(sessions)
    }
    if bank.tree is None:
        return set(by_file.values())
    return {
        by_file[file]
        for file in repository.list_trackable(bank.tree, list(by_file))
        if file in by_file
    }


@bank_rule("info", "two active notes have the same title")
def same_title(bank: RuleContext) -> Iterator[Finding]:
    """Yield each newer note with the title of an older one, except sessions and same contents."""
    first: dict[str, NoteRow] = {}
    rows = map(open_index.note_of, document_rows.all_documents(bank.manifest))
    for note in sorted(rows, key=lambda note: (note.created, note.path)):
        if note.type == SESSION or note.status != "active" or bank.is_included(note.path):
            continue
        older = first.setdefault(note.title.casefold(), note)
        if older.content == note.content or not note.title:
            continue
        if bank.paths is None or note.path in bank.paths:
            fix = "give it a title that tells them apart, or merge them"
            yield problem(note.path, 1, f"has the title of {quote_path(older.path)}", fix)


@bank_rule("info", "a note may amend an older one")
def may_amend(bank: RuleContext) -> Iterator[Finding]:
    """Yield each note that may amend an older one on the same subject, unless they are linked."""
    view = bank.view
    for row in document_rows.all_documents(bank.manifest) if view else ():
        if view is None or (bank.paths is not None and row.key not in bank.paths):
            continue
        if (older := amendments.find_older(bank.roots, view, row)) and not bank.is_included(
            row.key
        ):
            yes = f"add the line `- supersedes:: [[{name_of(older)}]]` if it replaces that"
            fix = f"{yes}, else `- related_to:: [[{name_of(older)}]]`"
            yield problem(row.key, 1, f"may amend {quote_path(older)}", fix)


_FIX_SAME_ID = "merge them, or give the newer one another id"


@bank_rule("error", "several notes have the same id")
def same_id(bank: RuleContext) -> Iterator[Finding]:
    """Yield each note whose id another note has."""
    for note_id, paths in document_rows.same_ids(bank.manifest):
        for path in paths:
            text = ", ".join(twin for twin in paths if twin != path)
            yield problem(path, 1, f"has the id {note_id}, as {text}", _FIX_SAME_ID)


_DECISION = "decision"


@bank_rule("warning", "two decision records have the same number")
def same_number(bank: RuleContext) -> Iterator[Finding]:
    """Yield each decision whose number another one has, here or on the default branch."""
    rows = [
        row.key
        for row in document_rows.all_documents(bank.manifest)
        if row.data.get("type") == _DECISION and record_name(name_of(row.key))
    ]
    paths_by_number: dict[tuple[str, str], list[str]] = {}
    for path in rows:
        paths_by_number.setdefault(_split_number(path), []).append(path)
    elsewhere = _map_default_branch(bank, rows)
    for path in bank.wanted(rows):
        number = _split_number(path)
        paths = [twin for twin in paths_by_number[number] if twin != path]
        if paths:
            message = f"has the number of {', '.join(paths)}"
            yield problem(path, 1, message, "give the newer one the next number")
        elif twin_elsewhere := elsewhere.get(number, "") if path not in elsewhere.values() else "":
            if twin_elsewhere in bank.committed():
                continue  # this branch had it too, and renamed or removed it
            message = f"has the number of {twin_elsewhere} on the default branch"
            yield problem(path, 1, message, "give it the next number")


def _split_number(path: str) -> tuple[str, str]:
    """Return the folder and the number of a record."""
    return str(PurePosixPath(path).parent), record_name(name_of(path))


def _map_default_branch(bank: RuleContext, paths: Sequence[str]) -> dict[tuple[str, str], str]:
    """Map numbers to the records that the tip of the default branch has, as keys of notes.

    Only where each number has one record there.
    """
    if bank.tree is None or not paths:
        return {}
    tip = authorship.find_default_branch(bank.tree)
    output = process.run(bank.tree, "ls-tree", "-r", "--name-only", "-z", tip, "--") if tip else ""
    project = bank.layout.origin.project.relative_to(bank.tree).as_posix()
    prefix = "" if project == "." else f"{project}/"
    inside = {str(PurePosixPath(path).parent) for path in paths}
    keys_by_number: dict[tuple[str, str], list[str]] = {}
    for file in (output or "").split("\0"):
        if file.startswith(prefix) and file.endswith(NOTE_SUFFIXES):
            path = file.removeprefix(prefix)
            key = path.removeprefix(bank.layout.prefix or path + "/")
            number = _split_number(key)
            if number[0] in inside and number[1]:
                keys_by_number.setdefault(number, []).append(key)
    return {number: keys[0] for number, keys in keys_by_number.items() if len(keys) == 1}


@bank_rule("error", "two paths differ only in case or Unicode form")
def twin_name(bank: RuleContext) -> Iterator[Finding]:
    """Yield each note whose path, or a folder of it, has such a twin."""
    written: dict[str, set[str]] = {}
    for path in bank.files:
        for part in _yield_parts(path):
            written.setdefault(fold_path(part), set()).add(part)
    for path in bank.wanted(bank.files):
        for part in _yield_parts(path):
            if twins := sorted(written[fold_path(part)] - {part}):
                text = "" if part == path else f"the folder {part} of "
                form = ", in another Unicode form," if _differs_in_form(part, twins[0]) else ""
                message = f"{text}this path is the same as {twins[0]}{form} on some file systems"
                yield problem(path, 1, message, "rename one of them")
                break


def _differs_in_form(text: str, other: str) -> bool:
    """Tell whether two paths look the same: only their Unicode forms differ."""
    return normalize("NFC", text) == normalize("NFC", other)


def _yield_parts(path: str) -> Iterator[str]:
    """Yield the folders of a path, then the path itself."""
    names = path.split("/")
    for number in range(1, len(names) + 1):
        yield "/".join(names[:number])


_ONCE = lazy_pattern(r"(id|title|type|status|created_at|source_type|source_agent)[ \t]*[:=]")

_FENCE = lazy_pattern(r"(?:---|\+\+\+)[ \t]*")

_ID = lazy_pattern(r"id(?::| =)")

_KEY = lazy_pattern(r"[A-Za-z_][\w-]*[ \t]*[:=](?:[ \t]|$)|- |[ \t]+\S|#")
"""A line of front matter: a key, an item of a list, what belongs to a key, or a comment."""

_SHORTEST = 40
"""A shorter text may be there twice on purpose."""

_FIX_BAD_UNION_MERGE = "keep the right one, and remove `merge=union` for notes from .gitattributes"

_REMOVE = "remove one of them"


@note_rule("warning", "a merge kept two versions of a key, or a text twice")
def bad_union_merge(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield keys given twice, a second front matter, and repeated texts."""
    if conflicts.find(note.text):
        return  # the rule merge-conflict reports it, and each side may say the same
    yield from _yield_repeated_keys(note)
    first = len(BREAK.split(note.text[: note.body_start]))
    lines = BREAK.sub("\n", note.parts.body).split("\n")
    inside = mark_code(lines)
    yield from _yield_second_head(note, lines, inside, first)
    yield from _yield_repeated(note, lines, inside, first)


def _yield_repeated_keys(note: NoteText) -> Iterator[Finding]:
    matches: dict[str, int] = {}
    for number, line in enumerate(BREAK.split(note.head), 2):
        match = _ONCE.match(line)
        if match and match[1] in matches:
            message = f"the key {match[1]!r} is also on line {matches[match[1]]}"
            yield problem(note.path, number, message, _FIX_BAD_UNION_MERGE)
        elif match:
            matches[match[1]] = number


def _yield_second_head(
    note: NoteText, lines: list[str], inside: list[bool], first: int
) -> Iterator[Finding]:
    """Yield front matter with an id in the body: of two notes that were put together."""
    fences = [
        number
        for number, line in enumerate(lines)
        if line[:3] in {"---", "+++"} and _FENCE.fullmatch(line) and not inside[number]
    ]
    for start, end in pairwise(fences):
        keys = lines[start + 1 : end]
        if any(map(_ID.match, keys)) and all(map(_KEY.match, keys)):
            yield problem(
                note.path, first + start, "a second front matter in the text", _FIX_BAD_UNION_MERGE
            )


def _yield_repeated(
    note: NoteText, lines: list[str], inside: list[bool], first: int
) -> Iterator[Finding]:
    """Yield paragraphs that are there twice below one heading."""
    places: dict[str, int] = {}
    start = 0
    for number, line in enumerate([*lines, ""]):
        if line.strip() and not (parse_heading(line) or inside[number]):
            continue
        text = "\n".join(map(str.strip, lines[start:number]))
        before = places.setdefault(text, first + start)
        if (
            before < first + start
            and len(text) >= _SHORTEST
            and not any(map(is_row, text.split("\n")))
        ):
            yield problem(note.path, first + start, f"this text is also on line {before}", _REMOVE)
        if parse_heading(line) and not inside[number]:
            places = {}
        start = number + 1


_NAMED_ONCE = lazy_pattern(
    r"(?:^|(?<=\s))(?P<block>\^[\w-]+)[ \t]*\r?$|^[ \t>]*(?P<footnote>\[\^[^\[\]\s]+\]):",
    re.MULTILINE,
)
"""A block id, or the start of a footnote's text."""


@note_rule("warning", "a note has a block id or footnote twice")
def same_anchor(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each block id and footnote after the first of its name."""
    lines: dict[str, int] = {}
    for match in _NAMED_ONCE.finditer(note.text, note.body_start):
        kind = match.lastgroup or ""
        if note.in_code(match.start(kind)):
            continue
        line, _column = note.place(match.start(kind))
        before = lines.setdefault(match[kind].casefold(), line)
        if before < line:
            name = {"block": "the block id", "footnote": "the footnote"}[kind]
            message = f"{name} {match[kind]} is also on line {before}"
            yield problem(note.path, line, message, "give one of them another name")


_FIX_MERGE_CONFLICT = "keep the right lines and remove the lines of <<<<<<<, ======= and >>>>>>>"


@note_rule("error", "a merge conflict was not resolved", private=True)
def merge_conflict(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each conflict."""
    lines = {conflict.line for conflict in conflicts.find(note.text)}
    if conflicts.OPENING in note.head:
        lines |= {fault.line for fault in note.faults if fault.reason == UNRESOLVED}
    for line in sorted(lines):
        yield problem(note.path, line, UNRESOLVED, _FIX_MERGE_CONFLICT)
