"""Change the text or the status of a note: append, replace, edit, archive.

A text without a status gets `status: archived`. One that has a status keeps it and gets
`archived: true`; so does empty front matter, which is then told from front matter that was added.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Annotated, NamedTuple

from memory_bank.bank import note_files, open_index
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, Conflict, Hint, NoteNotFound
from memory_bank.base.operation import Agent, IfMatch, Note, Notes, Param, Text, Tool, operation
from memory_bank.memory import amendments, edit_command, shown, told
from memory_bank.memory.remember import check_size, cited, with_keys
from memory_bank.notes import front_matter, parsing, sections
from memory_bank.notes.compare import note_comparison
from memory_bank.notes.compare.note_change import NoteChange
from memory_bank.notes.note import NoteSection
from memory_bank.notes.schema import keys_of, read_meta
from memory_bank.trust.author_keys import kept
from memory_bank.trust.authors import record, warnings

_STATUS, _ARCHIVED = "status", "archived"

_MARK = "\ufeff"


def archived(text: str) -> str:
    """Return the text of an archived note; raise UnreadableNote if its block can't be read."""
    parts = front_matter.split(text)
    raw, _ = front_matter.metadata(parts)
    if read_meta(raw)[0].status == _ARCHIVED:
        return text
    is_empty = parts.format != "none" and not raw
    if is_empty or keys_of(raw, _STATUS):
        return with_keys(text, {_ARCHIVED: True})
    return with_keys(text, {_STATUS: _ARCHIVED})


def active(text: str) -> str:
    """Return the text of a note that is no longer archived: as before `archived`."""
    raw, _ = front_matter.metadata(front_matter.split(text))
    if read_meta(raw)[0].status != _ARCHIVED:
        return text
    only_status = set(raw) == set(keys_of(raw, _STATUS))
    removed = [key for key in keys_of(raw, _STATUS) if _is_archived({_STATUS: raw[key]})]
    removed += [key for key in keys_of(raw, _ARCHIVED) if _is_archived({_ARCHIVED: raw[key]})]
    parts = front_matter.split(front_matter.set_keys(text, dict.fromkeys(removed)))
    if only_status and not parts.block.strip():
        mark = _MARK if parts.opening.startswith(_MARK) else ""
        return mark + parts.body
    return "".join(parts[:4])


def _is_archived(raw: dict[str, object]) -> bool:
    return read_meta(raw)[0].status == _ARCHIVED


_STATUSES = ("active", "archived")

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

_ATX = re.compile(r" {0,3}#{1,6}(?:\s|$)")

_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """A note after a change."""

    path: str
    etag: str
    changed: bool
    warning: str | None = None
    """A warning about the note's place, for example that git would track a session's note."""
    may_amend: str | None = None
    """Path of an older note on the same subject that it may amend since the change."""


@operation(
    "append",
    why="""
    Adds the text as a new paragraph at the end of the note; all other bytes stay the same. Without
    TEXT it is read from a pipe, or written in $VISUAL or $EDITOR; `-` always means stdin.
    """,
    examples=(
        ('memory-bank append journal/2026-05 "Moved to tantivy 0.27."', "one line"),
        ("make test 2>&1 | tail -3 | memory-bank append flaky-tests", "from a pipe"),
    ),
    group="Write",
    allow_secret=True,
    through=edit_command.appended,
    show=shown.written,
    tool=Tool(
        "Add a paragraph at the end of a note; a new subject under its own heading.",
        "bank",
        told.written,
        name="append_memory",
        takes={"filename": "name", "content": "content"},
    ),
)
def append(
    bank: Bank,
    name: Annotated[Note, Param(about="path, title or id of a note")],
    content: Text,
    *,
    if_match: IfMatch = None,
    agent: Agent = None,
) -> WrittenNote:
    """Add text at the end of a note.

    Append text to a note as a new paragraph.

    Raises NoteNotFound, Conflict if the note's etag is not `if_match`, BadInput if empty.
    """
    if not content.strip():
        raise BadInput("content must not be empty", Hint.GIVE_TEXT_TO_APPEND)

    def add(text: str) -> str:
        newline = newline_of(text)
        body = content.strip("\n").replace("\r\n", "\n").replace("\n", newline)
        gap = "" if not text.strip() or text.endswith(newline * 2) else newline
        joint = "" if not text or text.endswith(("\n", "\r")) else newline
        return f"{text}{joint}{gap}{body}{newline}"

    return write(bank, name, add, if_match=if_match, agent=agent, given=content)


@operation(
    "update",
    why="""
    Replaces the whole text; the front matter stays unless the new text has its own. Without TEXT
    it is read from a pipe, or you edit the current text in $VISUAL or $EDITOR. To change a part
    of a note, use edit.
    """,
    examples=(
        ("memory-bank update plans/index < plan.md", "from a file"),
        ('memory-bank update facts/port "The port is 8080." --if-match 987fdff…', "if unchanged"),
    ),
    group="Write",
    allow_secret=True,
    through=edit_command.updated,
    show=shown.written,
    tool=Tool(
        """Replace the whole text of a note; front matter stays unless content has its own.
        For a part, `edit_memory`.""",
        "bank",
        told.written,
        name="update_memory",
        takes={"filename": "name", "content": "content", "if_match": "if_match"},
        destroys=True,
        repeatable=True,
        run=edit_command.updated_as_read,
    ),
)
def update(
    bank: Bank,
    name: Note,
    content: Text,
    *,
    if_match: IfMatch = None,
    agent: Agent = None,
) -> WrittenNote:
    """Replace the whole text of a note.

    Replace a note's whole text; its front matter stays if the content has none.

    Raises NoteNotFound, Conflict, BadInput if empty.
    """
    if not content.strip():
        raise BadInput("content must not be empty", Hint.DELETE_INSTEAD)

    def replaced(text: str) -> str:
        parts = front_matter.split(text)
        newline = newline_of(text)
        new = content.replace("\r\n", "\n").rstrip("\n").replace("\n", newline) + newline
        if front_matter.split(new).format != "none":
            return new
        gap = newline if parts.body.startswith(newline) and not new.startswith(newline) else ""
        return parts.opening + parts.block + parts.closing + gap + new

    return write(bank, name, replaced, if_match=if_match, agent=agent, given=content)


@operation(
    "edit",
    why="""
    With --old and --new, replaces a text that occurs in the note once, or --count times (0: any
    number). With --section and --new, replaces the text under a heading, up to the next one.
    `--new -` reads the new text from stdin. All other bytes of the file stay the same.

    Without these options the note opens in $VISUAL or $EDITOR. If it changes before you save,
    nothing is overwritten: your text is kept in a file, which the error message names.
    """,
    examples=(
        ("memory-bank edit facts/port --old 8080 --new 8081", "one place"),
        ("memory-bank edit plans/q3 --section 'Plan > Risks' --new - < risks.md", "one section"),
        ("memory-bank edit decisions/tantivy", "in your editor"),
    ),
    group="Write",
    allow_secret=True,
    through=edit_command.edited,
    show=shown.written,
    tool=Tool(
        "Replace a text, or what is under a heading, in a note.",
        "bank",
        told.written,
        name="edit_memory",
        takes={
            "filename": "name",
            "new": "new",
            "old": "old",
            "section": "section",
            "count": "count",
            "if_match": "if_match",
        },
        bare=("filename",),
        destroys=True,
        run=edit_command.edited_as_read,
    ),
)
def edit(
    bank: Bank,
    name: Annotated[Note, Param(about="path, title or id of a note")],
    new: Annotated[str, Param("The new text; - reads stdin", metavar="TEXT", asked=True)],
    *,
    old: Annotated[
        str, Param("The text to replace", metavar="TEXT", about="text to replace, or give section")
    ] = "",
    section: Annotated[
        str,
        Param(
            "Replace the text under this heading; A > B",
            metavar="HEADING",
            about="its heading; or A > B",
        ),
    ] = "",
    count: Annotated[
        int,
        Param(
            "How often --old occurs; default: 1",
            metavar="N",
            about="how often old is there; 0 any",
        ),
    ] = 1,
    if_match: Annotated[IfMatch, Param(about="the etag that you read")] = None,
    agent: Agent = None,
) -> WrittenNote:
    """Change a part of a note, or open it in your editor.

    Replace a text, or the text under one heading, in a note.

    With `old`, each of its occurrences becomes `new`; there must be exactly `count` (0: any
    number). With `section`, the text under that heading, up to the next heading, becomes `new`;
    the heading may be given by its path, `A > B`. Raises NoteNotFound if there is no such text or
    heading, Conflict if the number of occurrences differs.
    """
    if bool(old) == bool(section):
        raise BadInput("give what to replace: a text or a section", Hint.GIVE_OLD_OR_SECTION)

    def change(text: str) -> str:
        return _replaced(text, old, new, count) if old else _resectioned(text, section, new)

    return write(bank, name, change, if_match=if_match, agent=agent, given=new)


def set_status(bank: Bank, name: str, status: str, *, if_match: str | None = None) -> WrittenNote:
    """Archive a note, or make it active again: `status` is `archived` or `active`.

    The second undoes the first byte for byte.
    """
    if status not in _STATUSES:
        raise BadInput(f"{status!r} is not a status", f"choose one of: {', '.join(_STATUSES)}")
    change = archived if status == "archived" else active
    return write(bank, name, change, if_match=if_match)


def write(
    bank: Bank,
    name: str,
    change: Callable[[str], str],
    *,
    if_match: str | None = None,
    agent: str | None = None,
    given: str = "",
) -> WrittenNote:
    """Change a note's text under the lock, and index it.

    `agent` is the name of the agent that makes the change, empty if unknown, None for a person. An
    agent can't change the author keys, and is listed among the note's editors. `given` is the
    caller's text, in which the lines of secrets are counted.
    """
    bank.settings.check_enabled()
    path = bank.find(name, exactly=True)
    changed = False

    def apply(text: str) -> str:
        nonlocal changed
        new = change(text) if agent is None else kept(text, change(text))
        changed = new != text
        if len(new) > len(text):
            check_size(bank, new, by_agent=agent is not None)
        return new

    etag = bank.store.change(path, apply, if_match, given=given)
    bank.catch_up()
    if changed:
        _updated(bank, path)
    unknown = record(bank, [path], agent) if changed else None
    warning = warnings(note_files.warning(bank.layout, path), unknown)
    older = amendments.may_amend(bank, path) if changed and given else None
    bank.count_opened(cited(given) if changed else ())
    return WrittenNote(path, etag, changed, warning, older)


def _updated(bank: Bank, path: str) -> None:
    """Record when a note was changed; neither its file nor git has that before a commit."""
    row = bank.read(lambda view: open_index.note_at(view.manifest, path))
    if row is not None:
        with bank.lock:
            bank.logs.updates.add(row.key, time.time())


def check_writable(bank: Bank, name: str) -> str:
    """Return the path of a note whose text may be changed; raise NoteReadOnly, NoteNotFound."""
    bank.settings.check_enabled()
    path = bank.find(name, exactly=True)
    bank.roots.check_writable(path)
    return path


def newline_of(text: str) -> str:
    r"""Return the line end of a text's first line, `\n` if it has none."""
    end = next((i for i, char in enumerate(text) if char in "\r\n"), -1)
    if end < 0:
        return "\n"
    return "\r\n" if text.startswith("\r\n", end) else text[end]


def _replaced(text: str, old: str, new: str, count: int) -> str:
    newline = newline_of(text)
    if newline != "\n" and old not in text:  # given with `\n`, but the file has another line end
        old, new = old.replace("\n", newline), new.replace("\n", newline)
    found = text.count(old)
    if found == 0:
        raise NoteNotFound(f"the text {old[:60]!r} is not in the note", Hint.READ_AGAIN)
    if count and found != count:
        raise Conflict(
            f"the text {old[:60]!r} occurs {found} times in the note, not {count}",
            Hint.GIVE_MORE_CONTEXT,
        )
    return text.replace(old, new)


def _resectioned(text: str, heading: str, new: str) -> str:
    parts = front_matter.split(text)
    head = len(text) - len(parts.body)
    body = sections.read_body(parts.body, parsing.count_lines(text[:head]) + 1, head)
    section = section_of(body.sections, heading)
    title = _heading_of(section.text)
    newline = newline_of(title if title.endswith(("\n", "\r")) else text)
    content = new.strip("\n").replace("\r\n", "\n").replace("\n", newline)
    end = section.start + len(section.text)
    title = title.rstrip("\r\n")
    gap = "" if end == len(text) else newline
    replaced = f"{title}{newline}{newline}{content}{newline}{gap}"
    return text[: section.start] + replaced + text[end:]


def _heading_of(section: str) -> str:
    """Return a section's heading: one line, or several if it is underlined."""
    lines: list[str] = _LINE.findall(section)
    if not _ATX.match(lines[0]):
        for number, line in enumerate(lines[1:], 2):
            if _UNDERLINE.fullmatch(line.rstrip("\r\n")):
                return "".join(lines[:number])
            if not line.strip():
                break
    return lines[0]


def section_of(among: Sequence[NoteSection], heading: str) -> NoteSection:
    """Return the section of a heading, given by its text or its path `A > B`.

    Raises NoteNotFound when there is none, Conflict when there are several.
    """
    wanted = [_bare(part) for part in heading.split(">")]
    found = [
        section
        for section in among
        if section.level and [_bare(h) for h in section.headings[-len(wanted) :]] == wanted
    ]
    if not found:
        known = ", ".join(section.headings[-1] for section in among if section.level)
        raise NoteNotFound(
            f"there is no heading {heading!r} in the note",
            "it has: {headings}",
            headings=known or "none",
        )
    if len(found) > 1:
        lines = ", ".join(str(section.line) for section in found)
        raise Conflict(f"the heading {heading!r} occurs on lines {lines}", Hint.GIVE_HEADING_PATH)
    return found[0]


def _bare(heading: str) -> str:
    return heading.strip().lstrip("#").strip().casefold()


class ChangedSince(NamedTuple):
    """How a text differs from what its note says now."""

    text: str
    """What the note says."""
    etag: str
    change: NoteChange | None
    """What writing the text would change; None for no words."""


def rewrite(bank: Bank, name: str, text: str, *, if_match: str | None = None) -> WrittenNote:
    r"""Replace a note's whole text by one with `\n` as line ends; the file's own line ends stay.

    Raises NoteNotFound, Conflict if the note's etag is not `if_match`, BadInput for an empty text,
    or if its front matter can't be read though it could before; and what `edit.write` raises.
    """
    if not text.strip():
        raise BadInput("a note must not be empty", Hint.DELETE_INSTEAD)

    def replaced(old: str) -> str:
        _check_front_matter(text, old)
        return with_line_ends(text, old)

    return write(bank, name, replaced, if_match=if_match, given=text)


def difference(bank: Bank, name: str, text: str) -> ChangedSince:
    """Return what a note says now, and what a text would change; raise NoteNotFound."""
    path = bank.find(name, exactly=True)
    note = bank.store.read(path)
    before, after = parsing.encoded(note.text), parsing.encoded(text)
    made = note_comparison.compare({path: before}, {path: after}, lambda one: one)
    return ChangedSince(note.text, note.etag, made[0] if made else None)


def with_line_ends(text: str, old: str) -> str:
    r"""Return a text of `\n` with the line ends of the old one, line by line if it has several."""
    lines, before = _LINE.findall(text), _LINE.findall(old)
    newline = newline_of(old)
    ends = [_end(line) for line in before]
    if not set(ends) - {newline, ""}:
        return text.replace("\n", newline)
    found = [newline] * len(lines)
    bare = [line.rstrip("\r\n") for line in lines], [line.rstrip("\r\n") for line in before]
    for one in SequenceMatcher(None, *bare, autojunk=False).get_matching_blocks():
        for step in range(one.size):
            found[one.a + step] = ends[one.b + step] or newline
    return "".join(
        bare[0][at] + (found[at] if line.endswith("\n") else "") for at, line in enumerate(lines)
    )


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _check_front_matter(text: str, old: str) -> None:
    """Refuse front matter that can't be read, unless the note had such before."""
    faults = front_matter.metadata(front_matter.split(text))[1]
    if faults and not front_matter.metadata(front_matter.split(old))[1]:
        where = f"line {faults[0].line}: " if faults[0].line else ""
        raise BadInput(f"{where}{faults[0].reason}", "repair the front matter")


@operation(
    "archive",
    why="""
    An archived note keeps its path and its links, but recall and notes exclude it unless
    --include-archived is given. Its front matter gets the line `status: archived`, or
    `archived: true` if it has a status already. --undo removes that line again.
    """,
    examples=(
        ("memory-bank archive plans/2024 plans/2025", "two old plans"),
        ("memory-bank archive --undo plans/2025", "make one active again"),
    ),
    group="Organise",
    show=shown.archived,
)
def archive(
    bank: Bank,
    names: Notes,
    *,
    undo: Annotated[bool, Param("Make them active again")] = False,
) -> list[WrittenNote]:
    """Exclude notes from results without deleting them."""
    paths = dict.fromkeys(bank.find(name, exactly=True) for name in names)
    return [set_status(bank, path, "active" if undo else "archived") for path in paths]
