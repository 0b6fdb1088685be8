"""Confirm that notes are still right, as of the commit that is checked out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from memory_bank.actions.citations import VERIFIED, cited
from memory_bank.actions.edit import write
from memory_bank.actions.remember import with_keys
from memory_bank.actions.stale_comparison import Comparison
from memory_bank.actions.stale_report import MOVED, STALE
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

    Only that line is changed. `agent` is as in `edit.write`. The warning names cited code that has
    uncommitted changes or is not there: of it, the confirmation says nothing. Raises NoteNotFound,
    NoteReadOnly and Conflict as `edit.write`, NoRepository and BadInput if there is no commit.
    """
    bank.settings.check_enabled()
    tree = work_tree_of(bank.layout.project)
    head = git_objects.commit_of(tree, "HEAD")
    paths = list(dict.fromkeys(bank.find(name, exactly=True) for name in names))
    for path in paths:
        bank.roots.check_writable(path)
    found = []
    for path in paths:
        change = partial(with_keys, changes={VERIFIED: head})
        done = write(bank, path, change, if_match=if_match, agent=agent)
        said = [done.warning, *_not_confirmed(bank, path, head)]
        warning = "; ".join(one for one in said if one) or None
        found.append(Confirmed(path, done.etag, done.changed, warning))
    return Confirmation(head, tuple(found))


def _not_confirmed(bank: Bank, path: str, head: str) -> Iterator[str]:
    """Yield which cited code differs from the commit in the work tree, and which is not there."""
    tree = work_tree_of(bank.layout.project)
    chosen = bank.read(lambda view: [one for one in cited(view, bank, tree) if one.note == path])
    with Comparison(bank, head, end=NOW) as comparison:
        states = {one.written: comparison.state(one, head) for one in chosen}
    changed = [name for name, state in states.items() if state in {*STALE, *MOVED}]
    missing = [name for name, state in states.items() if state == "unknown"]
    if changed:
        yield f"uncommitted changes of {', '.join(changed)} are not confirmed: commit them first"
    if missing:
        yield f"{', '.join(missing)} can't be found: write where it is now"
