"""Derived and private files of a bank that git tracks."""

from collections.abc import Iterator

from memory_bank.filenames import TEMPORARY_PREFIX
from memory_bank.layout import INDEX
from memory_bank.lint.base import Context, Place

SUMMARY = "git tracks a derived or private file of the bank"
SEVERITY = "error"
_FOLDERS = (f"{INDEX}/", ".trash/")
_MOST = 20
_FIX = "git rm --cached it, and keep it out by the .gitignore that init writes"


def check(bank: Context) -> Iterator[Place]:
    """Yield such files, at most some of each folder."""
    count = dict.fromkeys(_FOLDERS, 0)
    for path in bank.tracked:
        folder = next((one for one in _FOLDERS if path.startswith(one)), "")
        if folder:
            count[folder] += 1
        if count.get(folder, 0) > _MOST:
            continue
        if folder or path.rpartition("/")[2].startswith(TEMPORARY_PREFIX):
            name = path.encode("utf-8", "replace").decode()
            yield Place(name, 1, "is in git, but is derived or private", _FIX)
