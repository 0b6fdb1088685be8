"""Names of files and folders in a bank, and the search for a bank."""

from __future__ import annotations

import os

FOLDER = ".memories"
SETTINGS = "config.toml"
"""The settings of a bank."""
QUERIES = "queries.toml"
"""The golden queries of a bank: what must be found."""
NOTE_SUFFIXES = (".md", ".markdown")
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


def outside(path: str) -> str:
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


def relative(path: str) -> str:
    """Return why a path can't be that of a file on this machine; empty if it can."""
    if "\0" in path or not os.path.isabs(os.path.expanduser(path)):
        return "is no whole path: it must start with '/' or '~/'"
    return ""


def inside(folder: str) -> str:
    """Return the folder of notes of a project; a folder of notes stays."""
    inner = os.path.join(folder, FOLDER)
    return inner if os.path.isdir(inner) else folder


def above(folder: str) -> str | None:
    """Return the `.memories` of a resolved folder or of the nearest one above it, if one has it."""
    while True:
        inner = os.path.join(folder, FOLDER)
        if os.path.isdir(inner):
            return inner
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return None


def reached() -> str:
    """Return the working directory with its symbolic links, from PWD if that is right."""
    told = os.environ.get("PWD", "")
    try:
        if os.path.isabs(told) and os.path.samefile(told, os.curdir):
            return told
    except OSError:
        pass  # PWD is from another process
    return os.getcwd()


def led_by(way: str, bank: str) -> str:
    """Return a symbolic link by which a repository may redirect to a bank; empty if there is none.

    It is the bank itself, or a link in the path `way` of the working directory that leads out of
    its git work tree. The home folder is trusted, even if it is a git work tree.
    """
    if os.path.islink(bank):
        return bank
    while True:
        if os.path.islink(way):
            tree = work_tree(os.path.realpath(os.path.dirname(way)))
            if tree and not bank.startswith(os.path.join(tree, "")) and above(tree) != bank:
                return way
        way, before = os.path.dirname(way), way
        if way == before:
            return ""


def work_tree(folder: str) -> str:
    """Return the git work tree of a resolved folder; empty for none, or for the home folder."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return ""
    return "" if folder == os.path.realpath(os.path.expanduser("~")) else folder


def is_utf8(name: str) -> bool:
    """Tell whether a name can be written in UTF-8; a file's name may be any bytes."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
