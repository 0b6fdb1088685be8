"""Make a note on a symbol of the code."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from memory_bank import actions
from memory_bank.bank import Bank
from memory_bank.errors import NoteExists
from memory_bank.notes import frontmatter
from memory_bank.notes.identity import DEVICES

_TRIES = 100
_NOT_IN_NAME = re.compile(r"[^\w.-]+")


def create(bank: Bank, path: str, qualified: str) -> str:
    """Make a note with a heading that cites a symbol of a file; return the note's file.

    `path` is below the project. A name that is taken gets a number.
    """
    keys = {"file_refs": [path], "symbol_refs": [qualified]}
    content = frontmatter.compose(keys, f"# {qualified}\n")
    name = _name(path, qualified)
    for number in range(2, _TRIES):
        try:
            made = actions.create.create(bank, name, content)
        except NoteExists:
            name = f"{_name(path, qualified)}-{number}"
        else:
            return str(bank.roots.file(made.path))
    raise NoteExists(f"there are {_TRIES} notes {name}", "give one of them another name")


def _name(path: str, qualified: str) -> str:
    words = f"{PurePosixPath(path).stem}-{qualified}".strip("_.-")
    stem = _NOT_IN_NAME.sub("-", words).strip("-.").lower()[:100]
    return f"facts/{f'{stem}-note' if not stem or stem in DEVICES else stem}"
