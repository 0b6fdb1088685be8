"""Files of the work tree and symbols by the names that people and agents write."""

from __future__ import annotations

import os

from memory_bank.base.errors import BadInput
from memory_bank.code.codebase import Codebase
from memory_bank.code.coupling import below, known_file
from memory_bank.search.manifest.link_rows import LinkRow


def existing_file(code: Codebase, given: str) -> str:
    r"""Return the path below the work tree of a file that exists; empty if there is none.

    `given` is a path below the work tree, or an absolute one in it; it may have `./` and `\`.
    """
    try:
        path = below(code.root, given)
        path.encode()  # files whose names are not UTF-8 are not indexed
    except (BadInput, UnicodeEncodeError):
        return ""
    if path in code.table.files():
        return path
    try:
        return path if os.path.isfile(code.root / path) else ""  # noqa: PTH113  (no ValueError)
    except ValueError:
        return ""


def file_of(code: Codebase, given: str) -> str:
    """Return the path of a file, as `existing_file`.

    Raises BadInput for a path out of the work tree, FileNotFound with similar names, or with its
    new one, for an unknown file.
    """
    return existing_file(code, given) or known_file(code.root, code.coupling(), given)


SYMBOL = "symbol:"
"""Start of a link to a symbol."""


def symbol_of(row: LinkRow) -> str:
    """Return the name of the symbol that a link gives; empty if it gives none."""
    if not row.ghost.lower().startswith(SYMBOL):
        return ""
    inner = f"#{row.heading}" if row.heading else ""
    return f"{row.ghost[len(SYMBOL) :].strip()}{inner}"
