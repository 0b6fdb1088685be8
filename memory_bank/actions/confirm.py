"""Confirm that notes are still right, as of the commit that is checked out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from memory_bank.actions.citations import VERIFIED, cited
from memory_bank.actions.edit import write
from memory_bank.actions.remember import with_keys
from memory_bank.actions.stale_comparison import Comparison
from memory_bank.bank import Bank
from memory_bank.repo import git_objects
from memory_bank.repo.code_at import NOW
from memory_bank.repo.work_tree import work_tree_of


class Confirmed(NamedTuple):
    """A note that was confirmed."""

    path: str
    etag: str
    changed: bool
    """Whether its file was changed."""
    warning: str | None = None


class Confirmation(NamedTuple):
    """The notes that were confirmed, and the commit whose code they describe."""

    commit: str
    notes: tuple[Confirmed, ...]


def confirm(
    bank: Bank, names: Sequence[str], *, if_match: str | None = None, agent: str | None = None
) -> Confirmation:
    """Write `verified_commit` into notes: their text is right for the code of HEAD.

    Only that line is changed. `agent` is as in `edit.write`. The warning names cited code with
    uncommitted changes, for which the confirmation says nothing. Raises NoteNotFound, NoteReadOnly
    and Conflict as `edit.write`, NoRepository and BadInput if there is no commit.
    """
    bank.settings.check_enabled()
    tree = work_tree_of(bank.layout.project)
    head = git_objects.commit_of(tree, "HEAD")
    paths = list(dict.fromkeys(bank.find(name) for name in names))
    for path in paths:
        bank.roots.check_writable(path)
    found = []
    for path in paths:
        change = partial(with_keys, changes={VERIFIED: head})
        done = write(bank, path, change, if_match=if_match, agent=agent)
        said = [done.warning, _uncommitted(bank, path, head)]
        warning = "; ".join(one for one in said if one) or None
        found.append(Confirmed(path, done.etag, done.changed, warning))
    return Confirmation(head, tuple(found))


def _uncommitted(bank: Bank, path: str, head: str) -> str:
    """Return which cited code differs from the commit in the work tree; empty if none does."""
    tree = work_tree_of(bank.layout.project)
    chosen = bank.read(lambda view: [one for one in cited(view, bank, tree) if one.note == path])
    with Comparison(bank, head, end=NOW) as comparison:
        changed = dict.fromkeys(one.written for one in chosen if comparison.differs(one, head))
    if not changed:
        return ""
    return f"uncommitted changes of {', '.join(changed)} are not confirmed: commit them first"
