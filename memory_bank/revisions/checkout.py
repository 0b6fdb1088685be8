"""Open a bank as in a fresh clone at a commit: with git's history, and nothing private."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_bank import config
from memory_bank.bank import Bank, Conditions
from memory_bank.errors import BadInput, StorageFailed
from memory_bank.layout import Layout
from memory_bank.repo import git, git_objects, git_process
from memory_bank.repo.code_cache import tree_folder
from memory_bank.repo.git_objects import Revision
from memory_bank.revisions import revision_files

_LARGEST = 2_000_000
"""Bytes of the largest file that is written; of a larger one, only its name is there."""
_SECONDS = 60.0
_SETTINGS = {"memory.embedder": "none"}


class CheckoutLayout(Layout):
    """The folders of a bank in a temporary work tree, with a private state of its own."""

    def __init__(self, root: Path, private: Path) -> None:
        """Keep the index and the private state below the folder `private`."""
        super().__init__(root, private / "index", ids=private / "ids")
        self._private = private

    def renewed(self) -> Layout:
        """Return the same layout: nobody else has it."""
        return self

    def state(self, bank_id: str) -> Path:
        """Return an empty folder in place of the bank's private state."""
        return self._private / "state" / bank_id

    def unused_indices(self) -> list[Path]:
        """Return no folders: there is one index."""
        return []


@contextmanager
def checked_out(bank: Bank, rev: str = "HEAD") -> Iterator[Bank]:
    """Open a bank as it is in a new clone at a commit: with history, but no private state.

    Nothing of the repository or of the bank is changed. What git does not have at that commit is
    not in it: changes that are not committed, ignored notes, sessions, and who read what. Its notes
    are not embedded. Raises BadInput outside git, or if there is no such revision.
    """
    place = bank.layout.origin
    tree = revision_files.work_tree_of(place)
    if not place.project.is_relative_to(tree):
        raise BadInput(f"{place.root} is not inside its repository", "put it below the work tree")
    revision = git_objects.revision_of(tree, rev)
    with TemporaryDirectory(prefix="memory-bank-") as name:
        folder = Path(name).resolve()
        there = folder / (_name(tree) or "project")
        _make_tree(tree, there, folder / "git", revision)
        root = there / place.root.relative_to(tree)
        root.mkdir(parents=True, exist_ok=True)
        layout = CheckoutLayout(root, folder / "private")
        load = partial(config.load, flags=_SETTINGS)
        conditions = Conditions(progress=bank.progress, embeds=lambda: False)
        with Bank(layout, load(root), conditions=conditions, load=load) as copy:
            try:
                yield copy
            finally:
                shutil.rmtree(tree_folder(there), ignore_errors=True)


def _name(tree: Path) -> str:
    """Return the name of the folder of a repository's main work tree."""
    common = git.common_folder(tree)
    return common.parent.name if common and common.name == ".git" else tree.name


def _make_tree(tree: Path, there: Path, private: Path, revision: Revision) -> None:
    """Make a work tree of a repository that the repository does not know of.

    Its objects and settings are the repository's, its HEAD and its index its own.
    """
    common = git.common_folder(tree)
    if common is None:
        raise BadInput(f"git can't read the repository {tree}", "try `git status` there")
    private.mkdir()
    there.mkdir()
    (private / "commondir").write_text(f"{common}\n", encoding="utf-8")
    (private / "HEAD").write_text(f"{revision.commit}\n", encoding="ascii")
    (private / "gitdir").write_text(f"{there / '.git'}\n", encoding="utf-8")
    (there / ".git").write_text(f"gitdir: {private}\n", encoding="utf-8")
    if git_process.run(there, "read-tree", "HEAD", seconds=_SECONDS) is None:
        raise StorageFailed(f"git can't read the commit {revision.commit[:12]}", "try `git fsck`")
    _write_files(tree, there, revision)


def _write_files(tree: Path, there: Path, revision: Revision) -> None:
    """Write the plain files of a commit as git has them: no filter runs, no link is made."""
    files = git_objects.files_at(tree, revision.commit)
    by_id: dict[str, list[str]] = {}
    for path, one in files.items():
        file = there / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        if 0 < one.size <= _LARGEST:
            by_id.setdefault(one.id, []).append(path)
    sizes = {id_: files[paths[0]].size for id_, paths in by_id.items()}
    for id_, data in git_objects.sized_blobs(tree, sizes, _LARGEST):
        for path in by_id[id_]:
            (there / path).write_bytes(data)
    for path in files:
        os.utime(there / path, (revision.when, revision.when))
