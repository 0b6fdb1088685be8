"""Where a hit is: a file of the bank, or a note of another repository or bank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.rendering import named

if TYPE_CHECKING:
    from memory_bank.bank.hits import RecalledNote
    from memory_bank.base.screen import Call


def place(call: Call, note: RecalledNote, line: int | None = None) -> str:
    """Return a hit's file as seen from the working directory; of others, after their name."""
    return _placed(call, note, note.path, line)


def successor(call: Call, note: RecalledNote) -> str:
    """Return the place of the note that supersedes a hit."""
    return _placed(call, note, note.superseded_by or "", None)


def url(note: RecalledNote) -> str:
    """Return the web address of a hit; empty if it has none."""
    return named(note.origin.url) if note.origin is not None else ""


def about(note: RecalledNote) -> list[str]:
    """Return what is known of a hit's repository beside its name: commit, teams, age."""
    if note.origin is None or not note.origin.repository:
        return []
    days = note.origin.age_days
    age = f"{days} day{'' if days == 1 else 's'} old"
    return [f"commit {note.origin.commit[:12]}", *note.origin.teams, age]


def _placed(call: Call, note: RecalledNote, path: str, line: int | None) -> str:
    if note.origin is None:
        return call.place(path, line)
    where = f"{note.origin.repository or note.origin.bank}:{path}"
    return named(where if line is None else f"{where}:{line}")
