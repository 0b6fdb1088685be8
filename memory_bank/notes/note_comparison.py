"""Compare the notes of two revisions, also moved ones: their sections, keys and links."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from memory_bank.base import NamedTuple, lazy_pattern, shorten
from memory_bank.base.documents import Link
from memory_bank.base.errors import UnreadableNote
from memory_bank.base.text import estimate
from memory_bank.notes import front_matter, parsing
from memory_bank.notes.characters import decode
from memory_bank.notes.identity import content_hash
from memory_bank.notes.note import Note
from memory_bank.notes.note_change import (
    ChangeKind,
    KeyChange,
    LinkChange,
    NoteChange,
    SectionChange,
    Words,
    pair_texts,
    split_words,
)
from memory_bank.notes.secrets import secrets
from memory_bank.notes.section_changes import compare_sections

_MAX_SHOWN = 2000
"""Length of a value as JSON beyond which it is cut."""


def _compare_keys(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[KeyChange]:
    """Yield the keys that changed: those of the version after in order, then removed ones."""
    for key in dict.fromkeys((*after, *before)):
        old = _json(before[key]) if key in before else None
        new = _json(after[key]) if key in after else None
        if old == new:
            continue
        old_items, new_items = _items(before.get(key)), _items(after.get(key))
        yield KeyChange(
            key=key,
            kind="added" if old is None else "removed" if new is None else "changed",
            before=_cut_value(old),
            after=_cut_value(new),
            gained=tuple(item for item in new_items if item not in old_items),
            lost=tuple(item for item in old_items if item not in new_items),
        )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _items(value: object) -> dict[str, None]:
    """Return the items of a list as text; nothing for any other value."""
    items = value if isinstance(value, list | tuple) else ()
    return dict.fromkeys(item if isinstance(item, str) else _json(item) for item in items)


def _cut_value(text: str | None) -> str | None:
    return text and shorten(text, _MAX_SHOWN)


def hide_secrets(data: bytes, allowed: Collection[str] = ()) -> bytes:
    """Return a file with `[secret HASH]` for each secret, on as many lines; else its own bytes.

    `allowed` are the hashes of values that are no secrets.
    """
    try:
        text = decode(data).text
    except UnreadableNote:
        return data
    end = len(text)
    parts: list[str] = []
    for secret in sorted(
        secrets.find(text, allowed), key=lambda secret: secret.start, reverse=True
    ):
        if secret.end > end:  # inside of another one
            continue
        name = f"[secret {secrets.fingerprint(secret.value)}]"
        parts += [text[secret.end : end], name + "\n" * text.count("\n", secret.start, secret.end)]
        end = secret.start
    return "".join([*parts, text[:end]][::-1]).encode() if parts else data


def list_gained_links(before: Sequence[Link], after: Sequence[Link]) -> tuple[LinkChange, ...]:
    """Return the links that the version after has and the one before hasn't, in their order.

    Exchange the arguments for the links that were lost. References of the front matter are left out
    unless they have a type: a change of its keys says them.
    """
    return tuple(_added_links(_drop_references(before), _drop_references(after)))


def _drop_references(links: Sequence[Link]) -> list[Link]:
    return [link for link in links if (link.kind, link.type) != ("reference", "mentions")]


def _added_links(before: Sequence[Link], after: Sequence[Link]) -> Iterator[LinkChange]:
    more = Counter(map(_target_and_type, after)) - Counter(map(_target_and_type, before))
    for link in after:
        target, link_type = _target_and_type(link)
        if times := more.pop((target, link_type), 0):
            yield LinkChange(target, link_type, link.line, times)


def _target_and_type(link: Link) -> tuple[str, str]:
    place = f"#{link.heading}" if link.heading else f"^{link.block}" if link.block else ""
    return f"{link.target}{place}", link.type


ALIKE = 0.5
"""Share of words in common from which a new note is a removed one, as in git."""


def match_renamed(before: Mapping[str, Note], after: Mapping[str, Note]) -> dict[str, str]:
    """Map paths of removed notes to those of added ones that are the same note.

    The same note has the same id, else the same text, else at least half the words in common. git
    is not asked, so that the answer is the same for commits, what is staged, and the work tree.
    """
    removed = {path: note for path, note in before.items() if path not in after}
    added = {path: note for path, note in after.items() if path not in before}
    renames: dict[str, str] = {}
    for value_of in (_id, _text):
        renames |= _pair_equal(removed, added, value_of)
        removed = {path: note for path, note in removed.items() if path not in renames}
        added = {path: note for path, note in added.items() if path not in set(renames.values())}
    return renames | pair_texts(_words_by_path(removed), _words_by_path(added), ALIKE)


def _words_by_path(notes: Mapping[str, Note]) -> dict[str, Words]:
    return {path: split_words(note.body_text) for path, note in notes.items()}


def _pair_equal(
    removed: Mapping[str, Note], added: Mapping[str, Note], value_of: Callable[[Note], str]
) -> dict[str, str]:
    """Pair the notes with a value that no other note on their side has; an empty one is none."""
    old_paths, new_paths = _paths_by_value(removed, value_of), _paths_by_value(added, value_of)
    return {path: new_paths[value] for value, path in old_paths.items() if value in new_paths}


def _paths_by_value(notes: Mapping[str, Note], value_of: Callable[[Note], str]) -> dict[str, str]:
    counts = Counter(map(value_of, notes.values()))
    return {
        value: path
        for path, note in notes.items()
        if (value := value_of(note)) and counts[value] == 1
    }


def _id(note: Note) -> str:
    return note.meta.id


def _text(note: Note) -> str:
    return note.content_hash if note.content_hash != content_hash("") else ""


MAX_BYTES = 1_000_000
"""Size of a file beyond which its text is not compared."""

MAX_TOTAL = 4_000_000
"""Size of all files together beyond which the texts of further ones are not compared."""

_BYTES_PER_TOKEN = 4
"""A count of the tokens of all texts, however large, would take a minute."""

_WORD = lazy_pattern(r"\d+(?:[.,]\d+)+|\w+")


class UnreadFile(NamedTuple):
    """A file that was not read."""

    size: int
    """In bytes."""
    reason: str


Side = Mapping[str, bytes | UnreadFile]
"""The files of one revision that differ from the other one, by path."""


def compare(before: Side, after: Side, file_of: Callable[[str], str]) -> tuple[NoteChange, ...]:
    """Return how each file changed, by path; `file_of` returns a note's path below the work tree.

    At most 1 MB of a file and 4 MB of all, the smallest first, are compared; of others, the change
    is only named.
    """
    (old, old_tokens), (new, new_tokens) = _read_notes(before), _read_notes(after)
    old_notes, new_notes = (
        {path: note for path, note in side.items() if isinstance(note, Note)} for side in (old, new)
    )
    renames = match_renamed(old_notes, new_notes)
    old_paths = {new_path: old_path for old_path, new_path in renames.items()}
    changes = []
    for path in sorted({*before, *after} - set(renames)):
        old_path = old_paths.get(path, path)
        problem = next(
            (text for text in (new.get(path), old.get(old_path)) if isinstance(text, str)), ""
        )
        old_note, new_note = old_notes.get(old_path), new_notes.get(path)
        is_moved = old_path != path
        kind: ChangeKind = "renamed" if is_moved else "changed"
        if path not in after:
            kind = "removed"
        elif old_path not in before:
            kind = "added"
        titled = new_note or old_note
        change = NoteChange(
            path,
            old_path if is_moved else None,
            kind,
            file_of(path),
            titled.title if titled else path,
            old_file=file_of(old_path) if is_moved else None,
            tokens_before=old_tokens.get(old_path, 0),
            tokens_after=new_tokens.get(path, 0),
        )
        if problem:
            checked = not isinstance(after.get(path, before.get(old_path)), UnreadFile)
            changes.append(change._replace(remark=problem, compared=False, checked=checked))
        else:
            changes.append(_compare_notes(change, old_note, new_note))
    return tuple(changes)


def _read_notes(side: Side) -> tuple[dict[str, Note | str], dict[str, int]]:
    """Return each file as a note, or why it is not compared, and its tokens; the smallest first.

    The tokens of a file that is too long are guessed by its size.
    """
    notes: dict[str, Note | str] = {}
    tokens: dict[str, int] = {}
    total = 0
    for path, data in side.items():
        if isinstance(data, UnreadFile):
            notes[path], tokens[path] = data.reason, data.size // _BYTES_PER_TOKEN
    texts = {path: data for path, data in side.items() if isinstance(data, bytes)}
    for path, data in sorted(texts.items(), key=lambda item: (len(item[1]), item[0])):
        total += len(data)
        tokens[path] = len(data) // _BYTES_PER_TOKEN
        if len(data) > MAX_BYTES:
            notes[path] = f"{len(data):,} bytes, more than {MAX_BYTES:,}: not compared"
        elif total > MAX_TOTAL:
            notes[path] = f"changes of more than {MAX_TOTAL:,} bytes: not compared"
        else:
            try:
                notes[path] = note = parsing.parse(path, data)
                tokens[path] = estimate(note.text)
            except UnreadableNote as error:
                notes[path], tokens[path] = f"not compared: {error.message}", 0  # nobody loads it
    return notes, tokens


def _compare_notes(change: NoteChange, old: Note | None, new: Note | None) -> NoteChange:
    sections = compare_sections(old.body.sections if old else (), new.body.sections if new else ())
    keys = tuple(_compare_keys(_read_keys(old), _read_keys(new)))
    links = [note.body.links if note else () for note in (old, new)]
    gained, lost = list_gained_links(*links), list_gained_links(*links[::-1])
    return change._replace(
        sections=sections,
        front_matter=keys,
        gained=gained,
        lost=lost,
        words_added=_count_words(sections, "insert"),
        words_removed=_count_words(sections, "delete"),
        remark="; ".join(_remarks(change, new or old, has_changes=bool(sections or keys))) or None,
    )


def _read_keys(note: Note | None) -> dict[str, object]:
    return front_matter.read_metadata(front_matter.split(note.text))[0] if note else {}


def _count_words(sections: tuple[SectionChange, ...], kind: str) -> int:
    return sum(
        len(_WORD.findall(span.text))
        for section in sections
        for claim in section.claims
        for span in claim.spans
        if span.kind == kind
    )


def _remarks(change: NoteChange, note: Note | None, *, has_changes: bool) -> Iterator[str]:
    """Yield what the lists of changes do not say."""
    if change.kind == "changed" and not has_changes:
        yield "only white space, the order of sections or the layout of front matter changed"
    if note and note.faults:
        yield note.faults[0].reason
