"""Tell git how to merge and show the notes of a bank: attributes, and settings of the clone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

from memory_bank.actions.clients import files
from memory_bank.bank import Bank
from memory_bank.errors import BadInput, StorageFailed
from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.repo import git, git_process

ATTRIBUTES = ".gitattributes"
DRIVER = "memory-bank"
_MERGE = f"merge.{DRIVER}.driver"
_NAME = f"merge.{DRIVER}.name"
_HEADINGS = f"diff.{DRIVER}.xfuncname"
_XFUNCNAME = "^ {0,3}#{1,6}[[:space:]].*$"
_LINES = tuple(f"*{suffix} merge={DRIVER} diff={DRIVER}" for suffix in NOTE_SUFFIXES)
_ANSWERED = 2
"""A larger exit code than 1, up to 128, tells that the driver did not run."""


class Part(NamedTuple):
    """A line of attributes or a setting that git needs."""

    name: str
    """A key of git's settings, or the file of attributes."""
    value: str
    """Its value; empty if it is not there."""
    is_set: bool
    problem: str = ""
    """What is wrong with it."""


class GitSetup(NamedTuple):
    """The attributes and settings that git has for the notes of a bank."""

    folder: str
    """The folder of the notes."""
    is_set: bool
    parts: tuple[Part, ...]
    written: tuple[str, ...] = ()
    """What was changed: names of the parts."""


def check(bank: Bank) -> GitSetup:
    """Return what git has for the notes; raise BadInput outside a git work tree."""
    return _found(bank.layout.root, _tree(bank))


def install(bank: Bank) -> GitSetup:
    """Write the lines of attributes for the notes, and the settings of this clone.

    Raises BadInput outside a git work tree, StorageFailed.
    """
    root, tree = bank.layout.root, _tree(bank)
    before = {part.name: part for part in _found(root, tree).parts}
    file = _attributes(root)
    text = files.text(file)
    lines = (text or "").split("\n")
    if not before[ATTRIBUTES].is_set or any(line not in lines for line in _LINES):
        kept = _others(text or "")
        at = len(kept) - (not kept[-1])  # as before, the last line has a line end or none
        files.write(file, text, "\n".join([*kept[:at], *_LINES, *kept[at:]]))
    for key, value in _settings().items():
        if before[key].value != value:
            _configure(tree, "--replace-all", key, value)
    found = _found(root, tree)
    changed = [part.name for part in found.parts if part != before[part.name]]
    return found._replace(written=tuple(changed))


def uninstall(bank: Bank) -> GitSetup:
    """Remove what `install` wrote; raises as it does."""
    root, tree = bank.layout.root, _tree(bank)
    before = {part.name: part for part in _found(root, tree).parts}
    file = _attributes(root)
    text = files.text(file)
    if text is not None and (kept := "\n".join(_others(text))) != text:
        files.write(file, text, kept or None)
    for key in _settings():
        if git_process.run(tree, "config", "--local", "--get-all", key):
            _configure(tree, "--unset-all", key)
    found = _found(root, tree)
    changed = [part.name for part in found.parts if part != before[part.name]]
    return found._replace(written=tuple(changed))


def _tree(bank: Bank) -> Path:
    tree = git.worktree(bank.layout.root)
    if tree is None:
        raise BadInput(
            f"{bank.layout.root} is in no git repository", "git merges only what it tracks"
        )
    if problem := git.problem(bank.layout.root):
        raise BadInput(problem, "git must be able to read its settings")
    return tree


def _attributes(root: Path) -> Path:
    """Return the file of attributes; raise BadInput for a symbolic link, which git ignores."""
    file = root / ATTRIBUTES
    if file.is_symlink():
        raise BadInput(f"{file} is a symbolic link, which git does not follow", "make it a file")
    return file


def _others(text: str) -> list[str]:
    r"""Return the lines that are not ours, without `\n`; the last one is empty after a line end."""
    return [line for line in text.split("\n") if line.removesuffix("\r") not in _LINES]


def _found(root: Path, tree: Path) -> GitSetup:
    parts = (
        _attribute_part(root, tree),
        *(_setting_part(tree, *one) for one in _settings().items()),
    )
    return GitSetup(str(root), all(part.is_set for part in parts), parts)


def _attribute_part(root: Path, tree: Path) -> Part:
    """Return what git's attributes say of a note, from whichever file they come."""
    notes = [(root.relative_to(tree) / f"note{suffix}").as_posix() for suffix in NOTE_SUFFIXES]
    asked = ("--no-literal-pathspecs", "check-attr", "-z", "merge", "diff", "--", *notes)
    words = (git_process.run(tree, *asked) or "").split("\0")
    found = list(zip(words[::3], words[1::3], words[2::3], strict=False))
    value = " ".join(f"{name}={value}" for path, name, value in found if path == notes[0])
    wrong = [f"{path}: {name}={value}" for path, name, value in found if value != DRIVER]
    problem = f"it should be {_LINES[0].partition(' ')[2]}" if wrong or not found else ""
    return Part(ATTRIBUTES, value, not problem, problem)


def _settings() -> dict[str, str]:
    """Return the settings of the clone.

    If the program is gone, git merges the notes as it does without it: a driver that does not run
    would leave our side alone, without conflict markers.
    """
    program = " ".join(map(shlex.quote, files.program()))
    driver = (
        f"{program} merge-driver --marker-size=%L --ours=%X --theirs=%Y -- %O %A %B %P;"
        f" code=$?; test $code -lt {_ANSWERED} -o $code -gt 128 && exit $code;"
        " git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
    )
    return {_NAME: "merge notes by section", _MERGE: driver, _HEADINGS: _XFUNCNAME}


def _setting_part(tree: Path, key: str, wanted: str) -> Part:
    value = (git_process.run(tree, "config", "--get", key) or "").removesuffix("\n")
    problem = ""
    if not value:
        problem = "it is not set in this clone"
    elif value != wanted:
        problem = "it has another value than this program writes"
    return Part(key, value, not problem, problem)


def _configure(tree: Path, *words: str) -> None:
    """Change the settings of the clone, which its linked work trees share."""
    if git_process.run(tree, "config", "--local", *words) is None:
        raise StorageFailed(
            f"git could not write the settings of {tree}",
            "try: git config --local {key}",
            key=words[1],
        )
