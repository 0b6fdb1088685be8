"""Find the notes whose cited code changed since they were last changed or confirmed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import View
from memory_bank.base.errors import BadInput
from memory_bank.code.code_at import NOW
from memory_bank.code.work_tree import work_tree_of
from memory_bank.git import objects, repository
from memory_bank.search.manifest import document_rows
from memory_bank.trust.citations import cited
from memory_bank.trust.comparison import SHALLOW, CodeComparison
from memory_bank.trust.stale_report import Citation, StaleReport


def stale(
    bank: Bank,
    range_: str | None = None,
    *,
    names: Sequence[str] = (),
    worktree: bool = False,
    notes: Bank | None = None,
) -> StaleReport:
    """Return the citations of code, each with its state.

    `range_` is `BASE..HEAD` or BASE: then only citations of what the commits between them change,
    compared with where they part, or the note's later change. `names` restricts it to some notes.
    With `worktree`, uncommitted changes of code count; a range then has no HEAD. `notes` is the
    bank at the range's end, if that is not checked out. Raises NoRepository, BadInput,
    NoteNotFound.
    """
    bank.settings.check_enabled()
    if worktree and range_ and range_.partition("..")[2]:
        raise BadInput(f"the range {range_!r} has an end", "give only its start with worktree")
    tree = work_tree_of(bank.layout.project)
    base, head = _ends(tree, range_)
    ends = Ends(base, head, NOW if worktree else head)
    citations = citations_of(bank, ends, notes or bank, names)
    shallow = (SHALLOW,) if repository.is_shallow(tree) else ()
    return StaleReport(citations, base, head, worktree, shallow)


class Ends(NamedTuple):
    """The states of the code that are compared."""

    base: str
    """The commit where a range starts; empty to compare with the commits of the notes."""
    head: str
    end: str
    """The same commit, or NOW or STAGED for what is on top of it."""


def citations_of(
    bank: Bank, ends: Ends, notes: Bank, names: Sequence[str] = ()
) -> tuple[Citation, ...]:
    """Return the citations in notes, each with its state, as `stale` does."""
    tree = work_tree_of(bank.layout.project)
    keys = {notes.find(name) for name in names}
    chosen = notes.answer(lambda view: cited(view, bank, tree, _live(view, keys) if keys else None))
    with CodeComparison(bank, ends.head, end=ends.end) as comparison:
        judged = comparison.judge(chosen, notes, ends.base)
        return tuple(comparison.citation(one) for one in judged)


def _live(view: View, keys: Collection[str]) -> set[int]:
    """Return the numbers of some notes, without those that are archived."""
    rows = document_rows.documents(view.manifest, document_rows.numbers_of(view.manifest, keys))
    return {row.number for row in rows.values() if not row.hidden}


def _ends(tree: Path, range_: str | None) -> tuple[str, str]:
    """Return the commits of a range: where both ends part, and the later end."""
    if not range_:
        return "", repository.checked_out(tree) or objects.commit_of(tree, "HEAD")
    first, dots, last = range_.partition("..")
    last = last.removeprefix(".") if dots else ""
    base = objects.commit_of(tree, first or "HEAD")
    head = objects.commit_of(tree, last or "HEAD")
    common = objects.merge_base(tree, base, head)
    if not common:
        what = "git fetch --unshallow" if repository.is_shallow(tree) else "name related commits"
        raise BadInput(f"{first or 'HEAD'} and {last or 'HEAD'} have no common commit", what)
    return common, head
