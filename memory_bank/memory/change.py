"""Change the text or the status of a note; every other byte stays.

A text without a status gets `status: archived`. One that has a status keeps it and gets
`archived: true`; so does empty front matter, which is then told from front matter that was added.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

from memory_bank.bank import note_files, open_index
from memory_bank.bank.bank import Bank
from memory_bank.base import lazy_pattern
from memory_bank.base.errors import BadInput, Conflict, Hint, NoteNotFound
from memory_bank.memory import amendments
from memory_bank.memory.links import describe_dead_links
from memory_bank.memory.records import WrittenNote
from memory_bank.memory.relinking import Relinking, relink_taken
from memory_bank.notes import front_matter, note_comparison, parsing, sections
from memory_bank.notes.note import Note, find_section
from memory_bank.notes.note_change import NoteChange
from memory_bank.notes.schema import read_meta, spelled_key, spelled_keys
from memory_bank.sessions.redaction import hide_private
from memory_bank.trust.author_keys import keep_author_keys
from memory_bank.trust.authors import join_warnings, record_writes

_MARK = "\ufeff"


def archive_text(text: str) -> str:
    """Return the text of an archived note; raise UnreadableNote if its block can't be read."""
    parts = front_matter.split(text)
    raw, _ = front_matter.read_metadata(parts)
    if read_meta(raw)[0].status == _ARCHIVED:
        return text
    is_empty = parts.format != "none" and not raw
    if is_empty or spelled_keys(raw, _STATUS):
        return set_keys(text, {_ARCHIVED: True})
    return set_keys(text, {_STATUS: _ARCHIVED})


def restore_text(text: str) -> str:
    """Return the text of a note that is no longer archived: as before `archive_text`."""
    raw, _ = front_matter.read_metadata(front_matter.split(text))
    if read_meta(raw)[0].status != _ARCHIVED:
        return text
    only_status = set(raw) == set(spelled_keys(raw, _STATUS))
    removed = [key for key in spelled_keys(raw, _STATUS) if _is_archived({_STATUS: raw[key]})]
    removed += [key for key in spelled_keys(raw, _ARCHIVED) if _is_archived({_ARCHIVED: raw[key]})]
    parts = front_matter.split(front_matter.set_keys(text, dict.fromkeys(removed)))
    if only_status and not parts.block.strip():
        mark = _MARK if parts.opening.startswith(_MARK) else ""
        return mark + parts.body
    return "".join(parts[:4])


def _is_archived(raw: dict[str, object]) -> bool:
    return read_meta(raw)[0].status == _ARCHIVED


_STATUS, _ARCHIVED = "status", "archived"

_STATUSES = ("active", "archived")


_LINE_END = lazy_pattern(r"\r\n?")


_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


_ATX = lazy_pattern(r" {0,3}#{1,6}(?:\s|$)")


_UNDERLINE = lazy_pattern(r" {0,3}(?:=+|-+)[ \t]*")


def set_status(bank: Bank, name: str, status: str, *, if_match: str | None = None) -> WrittenNote:
    """Archive a note, or make it active again: `status` is `archive_text` or `restore_text`.

    The second undoes the first byte for byte.
    """
    if status not in _STATUSES:
        raise BadInput(f"{status!r} is not a status", f"choose one of: {', '.join(_STATUSES)}")
    change = archive_text if status == "archived" else restore_text
    return write(bank, name, change, if_match=if_match)


def write(
    bank: Bank,
    name: str,
    change: Callable[[str], str],
    *,
    if_match: str | None = None,
    agent: str | None = None,
    caller_text: str = "",
) -> WrittenNote:
    """Change a note's text under the lock, and index it.

    `agent` is the name of the agent that makes the change, empty if unknown, None for a person. An
    agent can't change the author keys, and is listed among the note's editors. `caller_text` is the
    caller's text, in which the lines of secrets are counted.
    """
    bank.settings.check_enabled()
    path = bank.find(name, changing=True)
    changed = False
    relinking = Relinking()

    def apply(text: str) -> str:
        nonlocal changed, relinking
        new = change(text) if agent is None else keep_author_keys(text, change(text))
        changed = new != text
        if len(new) > len(text):
            check_size(bank, new, by_agent=agent is not None)
        if changed:
            relinking = relink_taken(bank, path, new, text)
            new = relinking.text
        return new

    with bank.lock, bank.store.writing(path):
        etag = bank.store.change(
            path, apply, if_match, caller_text=caller_text, relinked=lambda: relinking.changes
        )
    bank.catch_up(meaning=False)
    if changed:
        _record_update(bank, path)
    relinked = tuple(change.path for change in relinking.changes)
    unrecorded = record_writes(bank, [path, *relinked], agent) if changed else None
    dead = describe_dead_links(bank, path, caller_text) if changed else ""
    warning = join_warnings(
        note_files.warn_of_place(bank.layout, path), unrecorded, dead, relinking.notice
    )
    older = amendments.find_amended(bank, path) if changed and caller_text else None
    bank.count_opened(list_cited(caller_text) if changed else ())
    return WrittenNote(path, etag, changed, warning, older, relinked or None)


def _record_update(bank: Bank, path: str) -> None:
    """Record when a note was changed; neither its file nor git has that before a commit."""
    row = bank.read(lambda view: open_index.note_at(view.manifest, path))
    if row is not None:
        with bank.lock:
            bank.state.add_update(row.known_as, time.time())


def find_several(bank: Bank, names: Sequence[str], if_match: str | None = None) -> list[str]:
    """Return the paths of notes that are to be changed; raise BadInput for one etag of several."""
    paths = dict.fromkeys(bank.find(name, changing=True) for name in names)
    if if_match and len(paths) > 1:
        raise BadInput("an etag is that of one note", "name only one")
    return list(paths)


def check_writable(bank: Bank, name: str) -> str:
    """Return the path of a note whose text may be changed; raise NoteReadOnly, NoteNotFound."""
    bank.settings.check_enabled()
    path = bank.find(name, changing=True)
    bank.roots.check_writable(path)
    return path


def detect_newline(text: str) -> str:
    r"""Return the line end of a text's first line, `\n` if it has none."""
    end = next((i for i, char in enumerate(text) if char in "\r\n"), -1)
    if end < 0:
        return "\n"
    return "\r\n" if text.startswith("\r\n", end) else text[end]


def append_paragraph(text: str, content: str) -> str:
    """Return a note's text with a new paragraph at its end."""
    newline = detect_newline(text)
    body = content.strip("\n").replace("\r\n", "\n").replace("\n", newline)
    gap = "" if not text.strip() or text.endswith(newline * 2) else newline
    joint = "" if not text or text.endswith(("\n", "\r")) else newline
    return f"{text}{joint}{gap}{body}{newline}"


def replace_in_text(text: str, old: str, new: str, count: int) -> str:
    """Return a text with `old` replaced, which must occur `count` times; 0: any number.

    Line ends of any form match each other; those of the text stay. Raises NoteNotFound if it does
    not occur, Conflict if the number differs.
    """
    old, new, plain = (_LINE_END.sub("\n", part) for part in (old, new, text))
    places = [match.start() for match in re.finditer(re.escape(old), plain)]
    if not places:
        raise NoteNotFound(f"the text {old[:60]!r} is not in the note", Hint.READ_AGAIN)
    if count and len(places) != count:
        raise Conflict(
            f"the text {old[:60]!r} occurs {len(places)} times in the note, not {count}",
            Hint.GIVE_MORE_CONTEXT,
        )
    if "\r" not in text:
        return text.replace(old, new)
    # where the plain text has the line ends that have two characters in the text
    ends = [match.start() - at for at, match in enumerate(re.finditer("\r\n", text))]
    parts, end = [], 0
    for place in places:
        start, after = (at + bisect_left(ends, at) for at in (place, place + len(old)))
        parts += [text[end:start], restore_line_ends(new, text[start:after], detect_newline(text))]
        end = after
    return "".join((*parts, text[end:]))


def replace_section(text: str, heading: str, new: str) -> str:
    """Return a text with what stands under a heading replaced; raises as `find_section`.

    A new text that begins with that heading has it once.
    """
    parts = front_matter.split(text)
    head = len(text) - len(parts.body)
    body = sections.read_body(parts.body, parsing.count_lines(text[:head]) + 1, head)
    section = find_section(body.sections, heading)
    title = _find_heading(section.text)
    newline = detect_newline(title if title.endswith(("\n", "\r")) else text)
    content = _LINE_END.sub("\n", new).strip("\n")
    own_heading = _find_heading(content) if content else ""
    if own_heading and _strip_marks(own_heading) == _strip_marks(title):
        content = content[len(own_heading) :].strip("\n")
    content = restore_line_ends(content, section.text, newline)
    end = section.start + len(section.text)
    title = title.rstrip("\r\n")
    gap = "" if end == len(text) else newline
    replaced = f"{title}{newline}{newline}{content}{newline}{gap}"
    return text[: section.start] + replaced + text[end:]


def _strip_marks(heading: str) -> str:
    """Return a heading's line without its marks, if it has any; else both of its lines."""
    lines = heading.strip().splitlines()
    return lines[0].strip("# \t") if _ATX.match(lines[0]) or len(lines) > 1 else f"\n{heading}"


def _find_heading(section: str) -> str:
    """Return a section's heading: one line, or several if it is underlined."""
    lines: list[str] = _LINE.findall(section)
    if not _ATX.match(lines[0]):
        for number, line in enumerate(lines[1:], 2):
            if _UNDERLINE.fullmatch(line.rstrip("\r\n")):
                return "".join(lines[:number])
            if not line.strip():
                break
    return lines[0]


def rewrite(bank: Bank, name: str, text: str, *, if_match: str | None = None) -> WrittenNote:
    r"""Replace a note's whole text by one with `\n` as line ends; the file's own line ends stay.

    Raises NoteNotFound, Conflict if the note's etag is not `if_match`, BadInput for an empty text,
    or if its front matter can't be read though it could before; and what `write` raises.
    """
    if not text.strip():
        raise BadInput("a note must not be empty", Hint.DELETE_INSTEAD)
    text = hide_private(text)

    def replace(old: str) -> str:
        _check_front_matter(text, old)
        return restore_line_ends(text, old)

    return write(bank, name, replace, if_match=if_match, caller_text=text)


def compare_text(bank: Bank, name: str, text: str) -> tuple[Note, NoteChange | None]:
    """Return a note, and what a text would change in it, None for no words; raise NoteNotFound."""
    path = bank.find(name, changing=True)
    note = bank.store.read(path)
    before, after = parsing.encode_text(note.text), parsing.encode_text(text)
    changes = note_comparison.compare({path: before}, {path: after}, lambda text: text)
    return note, changes[0] if changes else None


def restore_line_ends(text: str, old: str, newline: str = "") -> str:
    r"""Return a text of `\n` with the line ends of the old one, line by line if it has several.

    `newline` is that of lines which the old text has not; by default, that of its first line.
    """
    lines, old_lines = _LINE.findall(text), _LINE.findall(old)
    newline = newline or detect_newline(old)
    ends = [line[len(line.rstrip("\r\n")) :] for line in old_lines]
    if not set(ends) - {newline, ""}:
        return text.replace("\n", newline)
    newlines = [newline] * len(lines)
    bare = [line.rstrip("\r\n") for line in lines], [line.rstrip("\r\n") for line in old_lines]
    changes = SequenceMatcher(None, *bare, autojunk=False).get_opcodes()
    for _, start, end, old_start, old_end in changes:
        for step in range(min(end - start, old_end - old_start)):
            newlines[start + step] = ends[old_start + step] or newline
    return "".join(
        bare[0][at] + (newlines[at] if line.endswith("\n") else "") for at, line in enumerate(lines)
    )


def _check_front_matter(text: str, old: str) -> None:
    """Raise BadInput for front matter that can't be read, unless the old text's can't either."""
    faults = front_matter.read_metadata(front_matter.split(text))[1]
    if faults and not front_matter.read_metadata(front_matter.split(old))[1]:
        where = f"line {faults[0].line}: " if faults[0].line else ""
        raise BadInput(f"{where}{faults[0].reason}", "repair the front matter")


_CITED = lazy_pattern(r"\[\[([^\[\]|#^\n]+)")


# Names that a text cites and that are looked for.
_MOST_CITED = 100


def list_cited(content: str) -> list[str]:
    """Return the names in the wikilinks of a text."""
    return [name.strip() for name in _CITED.findall(content)[:_MOST_CITED]]


_AGENT_BYTES = 100_000
"""Most bytes of a note that an agent writes: what it pasted is no note, and nobody reviews it."""


def check_size(bank: Bank, text: str, *, by_agent: bool = False) -> None:
    """Raise BadInput for a note's text that is too large to be indexed or can't be encoded.

    What an agent writes may have 100,000 bytes.
    """
    size, most = len(parsing.encode_text(text)), bank.settings.memory.max_note_bytes
    if by_agent and size > _AGENT_BYTES:
        raise BadInput(
            f"a note of {size:,} bytes is too large: an agent's note has at most {_AGENT_BYTES:,}",
            "save what was learned from it in your own words, and name the file that has the rest",
        )
    if size > most:
        raise BadInput(
            f"a note of {size:,} bytes is too large: it would not be indexed",
            f"write several notes of at most {most:,} bytes (memory.max_note_bytes)",
        )


def set_keys(text: str, changes: Mapping[str, object]) -> str:
    """Set keys of a note's front matter, in the spelling that it uses."""
    raw, _ = front_matter.read_metadata(front_matter.split(text))
    raw_changes = {spelled_key(raw, name): value for name, value in changes.items()}
    return front_matter.set_keys(text, raw_changes) if raw_changes else text
