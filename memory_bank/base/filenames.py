"""Names of files and folders in a bank, patterns of files, and signatures of files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from stat import S_ISREG

from memory_bank.base import lazy_pattern

FOLDER = ".memories"

SETTINGS = "config.toml"
"""The settings of a bank."""


NOTE_SUFFIXES = (".md", ".markdown", ".mdc")
"""Endings of notes; the last one is that of Cursor's rules, which a project may include."""

TEXT_SUFFIXES = (".mdx", ".mdown", ".mkd", ".mkdn", ".text", ".txt")
"""Endings of text files that may be meant as notes, in lower case; they are not indexed."""

TEMPORARY_PREFIX = ".mb-"
"""Prefix of temporary files; one that a killed process left is removed later."""

LOCK_FILE = ".mb-lock"
"""The file that is locked where a folder can't be."""

_LONGEST_PART = 255
"""Bytes of a part of a path that common file systems take."""

JOURNAL_PREFIX = ".journal-"
"""Prefix of the folder in the trash with an unfinished change of several files."""


def why_outside(path: str) -> str:
    """Return why a path can't be that of a file or folder of the project; empty if it can."""
    parts = path.split("/")
    wrong = {
        "is empty: name a folder or a file, or the whole project with '.'": not path.strip(),
        "has a control character": any(char < " " or char == "\x7f" for char in path),
        "has a backslash: write '/' between folders": "\\" in path,
        "is not relative: name it by its path below the project": (
            path.startswith(("/", "~")) or path[1:2] == ":"
        ),
        "leads out of the project": ".." in parts,
        f"has a part of more than {_LONGEST_PART} bytes": any(
            len(part.encode(errors="replace")) > _LONGEST_PART for part in parts
        ),
    }
    return next((reason for reason, holds in wrong.items() if holds), "")


def notes_folder(folder: str) -> str:
    """Return the folder of notes of a project; a folder of notes stays."""
    inner = os.path.join(folder, FOLDER)
    return inner if os.path.isdir(inner) else folder


def find_bank_above(folder: str) -> str | None:
    """Return the `.memories` of a resolved folder or of the nearest one above it, if one has it."""
    while True:
        inner = os.path.join(folder, FOLDER)
        if os.path.isdir(inner):
            return inner
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return None


def working_folder() -> str:
    """Return the working directory with its symbolic links, from PWD if that is right."""
    environ = os.environ.get("PWD", "")
    try:
        if os.path.isabs(environ) and os.path.samefile(environ, os.curdir):
            return environ
    except OSError:
        pass  # PWD is from another process
    return os.getcwd()


def find_link(way: str, bank: str) -> str:
    """Return a symbolic link by which a repository may redirect to a bank; empty if there is none.

    It is the bank itself, or a link in the path `way` of the working directory that leads out of
    its git work tree. The home folder is trusted, even if it is a git work tree.
    """
    if os.path.islink(bank):
        return bank
    while True:
        if os.path.islink(way):
            tree = work_tree(os.path.realpath(os.path.dirname(way)))
            if (
                tree
                and not bank.startswith(os.path.join(tree, ""))
                and find_bank_above(tree) != bank
            ):
                return way
        way, before = os.path.dirname(way), way
        if way == before:
            return ""


def work_tree(folder: str) -> str:
    """Return the git work tree of a resolved folder; empty for none, or for the home folder."""
    tree = find_tree(folder)
    return "" if tree == os.path.realpath(os.path.expanduser("~")) else tree


def find_tree(folder: str) -> str:
    """Return the nearest folder, itself or above, that has a `.git`; empty for none."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return ""
    return folder


def as_utf8(name: str) -> str:
    """Return a name with a question mark for each byte that is no UTF-8."""
    return name.encode("utf-8", "replace").decode()


def is_utf8(name: str) -> bool:
    """Tell whether a name can be written in UTF-8; a file's name may be any bytes."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def user_state() -> str:
    """Return this program's folder in the user's state, as `layout.user_folder` does."""
    home = os.environ.get("XDG_STATE_HOME") or (
        os.environ.get("LOCALAPPDATA", "") if os.name == "nt" else ""
    )
    return os.path.join(home or os.path.expanduser("~/.local/state"), "memory-bank")


def replace_private(file: str, content: bytes) -> None:
    """Write a file of this user only, or write it anew, at once; raise OSError."""
    temporary = os.path.join(os.path.dirname(file), f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}")
    try:
        write_private(temporary, content)
        os.replace(temporary, file)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def write_private(file: str, content: bytes) -> None:
    """Write a new file of this user only; raise OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(file, flags, 0o600), "wb") as stream:
        stream.write(content)


def project_name(folder: str) -> str:
    """Return the name of a project: of its repository's main work tree, else of its folder."""
    real = os.path.realpath(folder)
    tree = find_tree(real)
    name = os.path.basename(tree or real) or "project"
    if not tree:
        return name
    with suppress(OSError, UnicodeDecodeError), open(os.path.join(tree, ".git")) as file:
        # a linked work tree: gitdir: MAIN/.git/worktrees/NAME
        where = os.path.join(tree, file.read(4096).removeprefix("gitdir:").strip())
        main, _, below = os.path.normpath(where).rpartition(os.path.join("", ".git", "worktrees"))
        if main and below:
            name = os.path.basename(os.path.normpath(main)) or name
    return name


StatSignature = tuple[int, int, int, int]
"""Size, mtime and ctime in ns, inode."""

_RACY_NS = 100_000_000
"""A younger file may change without another signature, since file times are coarse."""

_SKEW_NS = 60_000_000_000
"""An mtime farther in the future was set by hand; then only the ctime counts."""


def read_signature(stat: os.stat_result) -> StatSignature:
    """Return the signature of a file."""
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def signature_from_stat(stat: os.stat_result) -> StatSignature | None:
    """Return the signature of a file by what the system knows of it; None for no plain file."""
    return read_signature(stat) if S_ISREG(stat.st_mode) else None


def signature_text(signature: StatSignature) -> str:
    """Return a signature as one text."""
    return " ".join(map(str, signature))


def is_trusted(signature: StatSignature) -> bool:
    """Tell whether a file's signature may be recorded: the file is not too young."""
    _, mtime, ctime, _ = signature
    now = time.time_ns()
    return not (ctime > now - _RACY_NS or now - _RACY_NS < mtime < now + _SKEW_NS)


APPLIES_TO = "applies_to"
"""Key of front matter with the files that a rule is for."""

_FILES = lazy_pattern(r"(?<![\w@:/.-])(?:\./)?[\w.-]*(?:/[\w.-]+)*(?:/|\.[A-Za-z]\w{0,9})(?![\w:])")

_MOST_NAMED = 20
"""Files that a text names which are looked for."""

_BRACES = lazy_pattern(r"\{([^{},]*,[^{}]*)\}")

_MOST_SCOPES, _LONGEST_SCOPE, _MOST_FORMS = 20, 200, 64
"""The most patterns of a rule, the characters of one, and the forms that its braces give."""


def named_files(text: str) -> tuple[str, ...]:
    """Return the words of a text that look like files: `src/a.py`, `a.py`, `src/db/`."""
    words = (word.strip("./") for word in _FILES.findall(text))
    return tuple(dict.fromkeys(word for word in words if word))[:_MOST_NAMED]


def matches_file(pattern: str, file: str) -> bool:
    """Return whether a pattern means a file: as in .gitignore, with `{a,b}` for alternatives.

    `*` is any part of a name, `**` any folders; a pattern without a slash means a name at any
    depth. A pattern that means a folder means all files below it. Other patterns mean nothing.
    """
    parts = tuple(file.split("/"))
    return any(_is_below(tuple(form), parts) for form in split_forms(pattern))


@cache
def split_forms(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Return the parts of each form of a pattern."""
    pending, forms = [pattern.strip().removeprefix("./")], list[tuple[str, ...]]()
    while pending and len(forms) + len(pending) <= _MOST_FORMS:
        form = pending.pop()
        if braces := _BRACES.search(form):
            pending += [
                form[: braces.start()] + part.strip() + form[braces.end() :]
                for part in braces[1].split(",")
            ]
            continue
        anywhere = "/" not in form.rstrip("/")
        parts = [part for part in form.strip("/").split("/") if part]
        if parts and len(form) <= _LONGEST_SCOPE:
            forms.append(("**", *parts) if anywhere and parts != ["**"] else tuple(parts))
    return tuple(forms)


def _is_below(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether a path, or a folder above it, is what the parts of a pattern mean."""
    reached = {0}
    for part in (*parts, None):
        for first in sorted(reached):  # `**` may be no folder at all
            after = first
            while after < len(pattern) and pattern[after] == "**":
                after += 1
                reached.add(after)
        if len(pattern) in reached:
            return True
        if part is None:
            break
        reached = {
            at if pattern[at] == "**" else at + 1
            for at in reached
            if at < len(pattern) and (pattern[at] == "**" or fnmatchcase(part, pattern[at]))
        }
    return False


def yield_patterns(value: object) -> Iterator[str]:
    """Yield the patterns of files in a value of front matter that stay in the project."""
    parts = value.split(",") if isinstance(value, str) and "{" not in value else value
    for part in (parts if isinstance(parts, list) else [parts])[:_MOST_SCOPES]:
        text = part.strip() if isinstance(part, str) else ""
        if text and len(text) <= _LONGEST_SCOPE and not why_outside(text.lstrip("/")):
            yield text
