"""Merge a note as a merge driver of git."""

from __future__ import annotations

from pathlib import Path

from memory_bank.base.errors import StorageFailed
from memory_bank.git import process
from memory_bank.memory import rules_block
from memory_bank.notes.merging import note_merge
from memory_bank.notes.merging.conflicts import Labels, ThreeWay
from memory_bank.notes.merging.note_merge import CannotMerge
from memory_bank.notes.storage.files import replace

Files = ThreeWay[Path]
"""The files that git makes for a merge driver: `%O`, empty if both sides made the file, `%A`, which
gets the result, and `%B`."""


def merge_files(files: Files, labels: Labels) -> tuple[int, str]:
    """Merge a note and write it to `ours`; a file that is no note is merged as git does.

    Return the number of conflicts, and why git merged the lines instead, if it did. Of a file with
    the block of rules, the block is written again, and git merges the rest.

    So is a note that only git merges without a conflict. Raises StorageFailed, OSError.
    """
    base, ours, theirs = (file.read_bytes() for file in files)
    if merged := rules_block.merge_blocks(base, ours, theirs):
        for file, data in zip(files, merged, strict=True):
            replace(file.absolute(), data)
        return merge_by_git(files, labels, "")
    try:
        note = note_merge.merge(base, ours, theirs, labels)
    except CannotMerge as reason:
        return merge_by_git(files, labels, str(reason))
    if note.conflicts and base:
        lines_merged = _merge_lines(files, labels)
        if (
            lines_merged
            and not _count_conflicts(lines_merged, labels)
            and (note_merge.keeps_all(base, ours, theirs, lines_merged))
        ):
            note = note_merge.MergedNote(lines_merged, 0)
    if note.conflicts and (full_labels := _add_base_label(labels)) != labels:
        note = note_merge.merge(base, ours, theirs, full_labels)
    if note.data != ours:
        replace(files.ours.absolute(), note.data)
    return note.conflicts, ""


def _add_base_label(labels: Labels) -> Labels:
    """Return the labels with one for the base, if the user's style of conflicts shows it."""
    style = process.run(Path.cwd(), "config", "--get", "merge.conflictStyle") or ""
    return labels._replace(base="base") if style.strip().endswith("diff3") else labels


def merge_by_git(files: Files, labels: Labels, reason: str) -> tuple[int, str]:
    """Merge the lines as git does; write conflicts and text to `ours`.

    Raises StorageFailed if git can't: `ours` stays, as with git's own merge of binary files.
    """
    lines_merged = _merge_lines(files, labels)
    if lines_merged is None:
        raise StorageFailed(f"{reason}; git can't merge it either", "choose one of the versions")
    if lines_merged != files.ours.read_bytes():
        replace(files.ours.absolute(), lines_merged)
    return _count_conflicts(lines_merged, labels), reason


def _merge_lines(files: Files, labels: Labels) -> bytes | None:
    """Return what git makes of the files; None if it can't."""
    return process.merge_texts(
        files.ours.absolute().parent,
        [file.absolute() for file in (files.ours, files.base, files.theirs)],
        (labels.ours, "base", labels.theirs),
        labels.size,
    )


def _count_conflicts(text: bytes, labels: Labels) -> int:
    marker = b"<" * labels.size
    return sum(line.startswith(marker) for line in text.splitlines())
