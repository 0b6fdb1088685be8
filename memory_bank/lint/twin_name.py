"""Paths that are the same on some file systems."""

from collections.abc import Iterator
from unicodedata import normalize

from memory_bank.lint.base import Context, Place
from memory_bank.notes.names import folded

SUMMARY = "two paths differ only in case or Unicode form, and are one on some file systems"
SEVERITY = "error"


def check(bank: Context) -> Iterator[Place]:
    """Yield each note whose path, or a folder of it, has such a twin."""
    written: dict[str, set[str]] = {}
    for path in bank.files:
        for part in _parts(path):
            written.setdefault(folded(part), set()).add(part)
    for path in bank.wanted(bank.files):
        for part in _parts(path):
            if others := sorted(written[folded(part)] - {part}):
                what = "" if part == path else f"the folder {part} of "
                form = ", in another Unicode form," if _composed(part, others[0]) else ""
                message = f"{what}this path is the same as {others[0]}{form} on some file systems"
                yield Place(path, 1, message, "rename one of them")
                break


def _composed(one: str, other: str) -> bool:
    """Tell whether two paths look the same: only their Unicode forms differ."""
    return normalize("NFC", one) == normalize("NFC", other)


def _parts(path: str) -> Iterator[str]:
    """Yield the folders of a path, then the path itself."""
    names = path.split("/")
    for number in range(1, len(names) + 1):
        yield "/".join(names[:number])
