"""The citations of code that a review's change makes stale."""

from __future__ import annotations

from collections.abc import Iterator

from memory_bank.actions.review_links import Comparison
from memory_bank.actions.review_range import STAGED
from memory_bank.actions.review_report import Side, StaleCitation
from memory_bank.actions.stale import Ends, citations_of
from memory_bank.bank import Bank
from memory_bank.repo import git, git_objects
from memory_bank.repo.code_at import NOW
from memory_bank.repo.code_at import STAGED as STAGED_CODE


def stale_citations(
    bank: Bank, found: Comparison, base: Side, head: Side
) -> Iterator[StaleCitation]:
    """Yield the citations of code that differs or moved at HEAD, and whose section is as it was.

    None if the bank is in another repository than its project, or at a base that is no commit.
    """
    tree = git.worktree(bank.layout.root)
    if tree is None or tree != git.worktree(bank.layout.project) or base.commit is None:
        return
    last = head.commit or git_objects.commit_of(tree, "HEAD")
    end = head.commit or (STAGED_CODE if head.name == STAGED else NOW)
    for one in citations_of(bank, Ends(base.commit, last, end), found.after.bank):
        if one.stale or one.moved:
            yield StaleCitation(
                path=one.path,
                file=found.file_of(one.path),
                line=one.line,
                target=one.target,
                state=one.state,
                commits=tuple(commit.id for commit in one.commits),
                fix=one.fix,
            )
