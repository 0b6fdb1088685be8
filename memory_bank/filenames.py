"""What names of files and folders in a bank mean, and where a bank is."""

from __future__ import annotations

import os

FOLDER = ".memories"
NOTE_SUFFIXES = (".md", ".markdown")
TEMPORARY_PREFIX = ".mb-"
"""Start of a file that is being written; a kill may leave one behind, the next start removes it."""

JOURNAL_PREFIX = ".journal-"
"""Start of a folder in the trash that holds a change of several files in the middle of its work."""


def inside(folder: str) -> str:
    """Return the folder of notes that is meant by a folder of notes or a project."""
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
    """Return the working directory as the user went there, links included, where that is known."""
    told = os.environ.get("PWD", "")
    try:
        if os.path.isabs(told) and os.path.samefile(told, os.curdir):
            return told
    except OSError:
        pass  # it was the way of another process
    return os.getcwd()


def led_by(way: str, bank: str) -> str:
    """Return the symbolic link by which a repository may lead to a bank; empty if there is none.

    That is the bank's own name, or a link on the `way` to the working directory that leaves the git
    work tree it is in. A home folder kept in git is no repository that somebody hands over.
    """
    if os.path.islink(bank):
        return bank
    while True:
        if os.path.islink(way):
            tree = _work_tree(os.path.realpath(os.path.dirname(way)))
            if tree and not bank.startswith(os.path.join(tree, "")) and above(tree) != bank:
                return way
        way, before = os.path.dirname(way), way
        if way == before:
            return ""


def _work_tree(folder: str) -> str:
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return ""
    return "" if folder == os.path.realpath(os.path.expanduser("~")) else folder
