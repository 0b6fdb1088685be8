"""Merge two changes of a note."""

from __future__ import annotations

from collections.abc import Sequence

from memory_bank.base import NamedTuple
from memory_bank.notes import front_matter
from memory_bank.notes.blocks import BlockError
from memory_bank.notes.front_matter import Split
from memory_bank.notes.identity import normalise
from memory_bank.notes.merging import body, conflicts, key_merge
from memory_bank.notes.merging.conflicts import ConflictingChange, Form, Labels, Part, ThreeWay

_MOST_BYTES = 4_000_000
"""Larger files are left to git."""


class CannotMerge(Exception):
    """The files can't be merged as notes; the text says why."""


class MergedNote(NamedTuple):
    """The merged file."""

    data: bytes
    conflicts: int
    are_two_notes: bool = False
    """Whether both sides made a note of this name, with different texts: all is one conflict."""


def merge(base: bytes, ours: bytes, theirs: bytes, labels: Labels = Labels()) -> MergedNote:  # noqa: B008
    """Return a note with the changes of both sides since the base.

    An empty base means that both sides made the note: with the same text they become one note with
    the older id and date, with different texts all is one conflict. Raises CannotMerge for files
    that are not UTF-8, are very large, have front matter that can't be read, or have conflicts.
    """
    if base in (ours, theirs) or ours == theirs:
        return MergedNote(theirs if base == ours else ours, 0)
    if max(map(len, (base, ours, theirs))) > _MOST_BYTES:
        raise CannotMerge("the file is too large")
    try:
        texts = [conflicts.read(data) for data in (base, ours, theirs)]
    except conflicts.NoText as error:
        raise CannotMerge(str(error)) from error
    if any(conflicts.find(text.text) for text in texts):
        raise CannotMerge("it has an unresolved conflict")
    forms = [text.form for text in texts]
    form = conflicts.merge_forms(*forms)
    newline = form.newline
    if any(form.newline == "" for form in forms):
        newline, form = "", form._replace(newline="")
    ends = ["" if newline == "" else text.form.newline or "" for text in texts]
    lines = [conflicts.split_lines(text.text, end) for text, end in zip(texts, ends, strict=True)]
    joined = ["".join(f"{line}\n" for line in text_lines) for text_lines in lines]
    three = ThreeWay(*map(front_matter.split, joined))
    try:
        return _merge_text(three, form, labels, is_new=not base)
    except BlockError as error:
        raise CannotMerge(f"front matter: {error.reason}") from error


def keeps_all(base: bytes, ours: bytes, theirs: bytes, merged: bytes) -> bool:
    """Return whether a file that was merged otherwise is a note, and no line is lost or repeated.

    Raises UnicodeDecodeError.
    """
    texts = [data.decode().replace("\r\n", "\n") for data in (base, ours, theirs, merged)]
    keys, faults = front_matter.read_metadata(front_matter.split(texts[3]))
    has_front_matter = any(front_matter.split(text).opening for text in texts[1:3])
    if faults or (has_front_matter and not keys):
        return False
    old, mine, its, new = map(_split_lines, texts)
    return body.is_balanced(old, mine, its, new)


def _merge_text(three: ThreeWay[Split], form: Form, labels: Labels, *, is_new: bool) -> MergedNote:
    for side in three:
        _check(side)
    are_two = is_new and not _have_same_id(three)
    if are_two and normalise(three.ours.body) != normalise(three.theirs.body):
        ours, theirs = (tuple(_split_lines("".join(side[:4]))) for side in three[1:])
        whole = ConflictingChange(ours, theirs)
        return MergedNote(_write_parts([whole], form, labels), 1, are_two_notes=True)
    parts = [*_merge_head(three, are_two_notes=are_two), *_merge_body(three, are_two_notes=are_two)]
    return MergedNote(_write_parts(parts, form, labels), conflicts.count(parts))


def _check(side: Split) -> None:
    """Raise BlockError for front matter that can't be read."""
    keys, faults = front_matter.read_metadata(side)
    if faults and not keys:
        raise BlockError(faults[0].reason)


def _read_keys(side: Split) -> dict[str, object]:
    return front_matter.read_metadata(side)[0]


def _have_same_id(three: ThreeWay[Split]) -> bool:
    """Return whether both sides have the same note, by its id."""
    ours, theirs = (_read_keys(side).get("id") for side in three[1:])
    return ours is not None and ours == theirs


def _merge_head(three: ThreeWay[Split], *, are_two_notes: bool) -> list[Part]:
    """Return the lines of the front matter."""
    formats = {side.format for side in three} - {"none"}
    if len(formats) > 1:
        raise BlockError("one side has YAML, another TOML")
    if not formats:
        return []
    base, ours, theirs = (side.block for side in three)
    if formats == {"toml"}:
        block = body.merge_lines(_split_lines(base), _split_lines(ours), _split_lines(theirs))
        if not conflicts.count(block):
            text = "".join(f"{part}\n" for part in block)
            _check(Split("+++\n", text, "+++\n", "", "toml"))
    else:
        block = key_merge.merge(base, ours, theirs, are_two_notes=are_two_notes)
    if not block and "none" in {three.ours.format, three.theirs.format}:
        return []
    sides = [side for side in (three.ours, three.theirs) if side.opening]
    changed = [side for side in sides if side.opening != three.base.opening]
    chosen = (changed or sides)[0]
    return [*_split_lines(chosen.opening), *block, *_split_lines(chosen.closing)]


def _merge_body(three: ThreeWay[Split], *, are_two_notes: bool) -> list[Part]:
    if are_two_notes:
        ours, theirs = (
            [*_read_keys(side).items()] if side.format != "none" else [] for side in three[1:]
        )
        older = three.ours if key_merge.is_created_first(ours, theirs) else three.theirs
        return [*_split_lines(older.body)]
    return body.merge(*(_split_lines(side.body) for side in three))


def _split_lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _write_parts(parts: Sequence[Part], form: Form, labels: Labels) -> bytes:
    """Return the bytes of a file with these lines."""
    newline = form.newline or "\n"
    mixed = form.newline == "" and any(
        isinstance(part, str) and part.endswith("\r") for part in parts
    )
    lines = list(conflicts.render_lines(parts, labels, "\r" if mixed else ""))
    text = newline.join(lines)
    ends = form.ended is not False or (bool(parts) and isinstance(parts[-1], ConflictingChange))
    return form.mark + f"{text}{newline if lines and ends else ''}".encode()
