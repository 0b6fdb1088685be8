"""Files of the work tree and symbols by the names that people and agents write."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from memory_bank.base import lazy_pattern
from memory_bank.base.documents import Link
from memory_bank.base.errors import BadInput, FileNotFound, did_you_mean, similar_names
from memory_bank.code.coupled import CouplingState
from memory_bank.code.index.codebase import Codebase

_SIMILAR = 0.8
"""Least similarity of a path that is suggested instead of an unknown one."""


def path_from_shell(text: str) -> str:
    """Return a path as the shell completes it, from the working directory, else as answers do."""
    here = Path(text)
    return str(here.absolute()) if here.exists() else text


def existing_file(code: Codebase, text: str) -> str:
    r"""Return the path below the work tree of a file that exists; empty if there is none.

    `given` is a path below the work tree, or an absolute one in it; it may have `./` and `\`.
    """
    try:
        path = path_below(code.root, text)
        path.encode()  # files whose names are not UTF-8 are not indexed
    except (BadInput, UnicodeEncodeError):
        return ""
    if path in code.table.files():
        return path
    try:
        return path if os.path.isfile(code.root / path) else ""  # noqa: PTH113  (no ValueError)
    except ValueError:
        return ""


def existing_path(code: Codebase, file: str) -> str:
    """Return the path of a file, as `existing_file`.

    Raises BadInput for a path out of the work tree, FileNotFound with similar names, or with its
    new one, for an unknown file.
    """
    return existing_file(code, file) or known_file(code.root, code.coupling(), file)


def known_file(root: Path, state: CouplingState, file: str) -> str:
    """Return the path of a file of the work tree; raise BadInput or FileNotFound."""
    if file in state.files:
        return file
    path = path_below(root, file)
    if path in state.files:
        return path
    if any(known_path.startswith(f"{path}/") for known_path in state.files):
        raise FileNotFound(f"{path} is a folder", "give one of its files")
    now = state.coupling.history.renamed.get(path, "")
    if now in state.files:
        message = f"there is no file {path} in {root}"
        raise FileNotFound(message, "it was renamed to {now}", now=now)
    near = [
        known_path
        for known_path in state.files
        if posixpath.basename(known_path) == posixpath.basename(path)
    ]
    near = similar_names(path, near, least=0.0) or similar_names(path, state.files, least=_SIMILAR)
    raise FileNotFound(
        f"there is no file {path} in {root}{did_you_mean(near)}",
        "give a file that git tracks, or would track",
    )


def path_below(root: Path, file: str) -> str:
    """Return a path below a work tree, with forward slashes; raise BadInput for one outside."""
    stripped = file.strip()
    if "\0" not in stripped and Path(stripped).is_absolute():
        real = (
            Path(stripped).parent.resolve() / Path(stripped).name
        )  # the file itself may be a link
        if real.is_relative_to(root.resolve()):
            stripped = real.relative_to(root.resolve()).as_posix()
    path = posixpath.normpath(stripped.replace("\\", "/")) if stripped else ""
    if not path or path in {".", ".."} or path.startswith(("../", "/")) or "\0" in path:
        raise BadInput(f"{file!r} is no file below {root}", "give a path inside the work tree")
    return path


SYMBOL = "symbol:"
"""Start of a link to a symbol."""


_KIND = lazy_pattern(r"[A-Za-z_][\w-]+:(?!//)")
"""The start of a target of a kind of its own: a person, a ticket, a clause."""


def has_kind(target: str) -> bool:
    """Return whether a link names something of the user's own kind, as `person:ada`."""
    return _KIND.match(target) is not None and not target.lower().startswith(SYMBOL)


def linked_symbol(row: Link) -> str:
    """Return the name of the symbol that a link gives; empty if it gives none."""
    return named_symbol(row.ghost, row.heading)


def named_symbol(ghost: str, heading: str) -> str:
    """Return the name of a symbol, from the target and the heading of a link; empty if none."""
    if not ghost.lower().startswith(SYMBOL):
        return ""
    inner = f"#{heading}" if heading else ""
    return f"{ghost[len(SYMBOL) :].strip()}{inner}"
