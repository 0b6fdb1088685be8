"""Apply the changes that fix findings, through the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from memory_bank.actions.lint import Finding
from memory_bank.actions.move_and_merge import merge
from memory_bank.bank import Bank
from memory_bank.errors import MemoryBankError
from memory_bank.lint.base import Edit
from memory_bank.notes import frontmatter

_ROUNDS = 5


class Fixed(NamedTuple):
    """What was fixed, and what could not be."""

    fixed: tuple[Finding, ...]
    failed: tuple[str, ...]
    """Why changes were refused, each with the note's path."""


def fix(bank: Bank, find: Callable[[], Iterable[Finding]]) -> Fixed:
    """Apply the changes of all findings that have some, until none is left; return what was done.

    Of a note, only the characters of the changes are replaced, and only where the text is still the
    one in which they were found. Notes with the same content are merged into the oldest.
    """
    fixed: list[Finding] = []
    failed: dict[str, None] = {}
    for _ in range(_ROUNDS):
        done = _round(bank, list(find()), failed)
        fixed += done
        if not done:
            break
    return Fixed(tuple(fixed), tuple(failed))


def _round(bank: Bank, found: list[Finding], failed: dict[str, None]) -> list[Finding]:
    done: list[Finding] = []
    by_path: dict[str, list[Finding]] = {}
    for one in found:
        if one.edits:
            by_path.setdefault(one.path, []).append(one)
    for path, some in by_path.items():
        try:
            done += _edit(bank, path, some)
        except MemoryBankError as error:
            failed[f"{path}: {error.message}"] = None
    for one in found:
        if one.merge_into and one.path not in by_path and one.merge_into not in by_path:
            try:
                text = bank.store.read(one.merge_into).text
                body = frontmatter.split(text).body
                merge(bank, [one.merge_into, one.path], one.merge_into, body)
                done.append(one)
            except MemoryBankError as error:
                failed[f"{one.path}: {error.message}"] = None
    return done


def _edit(bank: Bank, path: str, some: list[Finding]) -> list[Finding]:
    """Make the changes of one note's text, at once; return the findings whose changes were made."""
    made: list[Finding] = []

    def change(text: str) -> str:
        made.clear()
        parts, at = list[str](), 0
        for one in sorted(some, key=lambda one: _first(one.edits or ())):
            edits = sorted(one.edits or ())
            fits = all(text.startswith(edit.old, edit.start) for edit in edits)
            if not fits or _first(edits) < at:
                continue
            for edit in edits:
                parts += (text[at : edit.start], edit.new)
                at = edit.start + len(edit.old)
            made.append(one)
        return "".join((*parts, text[at:]))

    bank.store.change(path, change)
    return made


def _first(edits: Iterable[Edit]) -> int:
    return min((edit.start for edit in edits), default=0)
