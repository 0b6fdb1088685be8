"""Search the notes as they were at another revision."""

from __future__ import annotations

from typing import Any

from memory_bank.actions import trust
from memory_bank.actions.as_of import AsOf
from memory_bank.actions.recall import Recalled, recall
from memory_bank.bank import Bank
from memory_bank.errors import BadInput
from memory_bank.manifest import documents
from memory_bank.notes.dates import iso_of
from memory_bank.revisions import bank_at
from memory_bank.setting_sections import BANK


def recall_at(
    bank: Bank,
    rev: str,
    query: str,
    limit: int | None = None,
    mode: str | None = None,
    **options: Any,  # noqa: ANN401  (those of recall)
) -> Recalled:
    """Return the notes that matched a query at a revision: a commit, tag, branch, `HEAD~3`.

    `options` are those of `recall`. Paths and lines are those of that revision, which `rev` of the
    answer names. No access is counted. Raises BadInput, also if the bank has no notes there.
    """
    bank.settings.check_enabled()
    if options.get("scope") not in {None, BANK}:
        raise BadInput("other repositories are known as they are now", "leave out the revision")
    options |= {"count_access": False, "scope": BANK}
    with bank_at(bank, rev, required=True) as then:
        # tiers of trust boost: the first answer of a new copy must be that of the next
        paths = then.read(lambda view: documents.versions(view.manifest))
        trust.refresh(then, paths)
        found = recall(then, query, limit, mode, **options)
        notices = (*then.take_notices(), *found.notices)
        revision = then.revision
    if revision is None:
        return found
    as_of = AsOf(revision.commit, revision.asked, iso_of(revision.when))
    return found._replace(rev=as_of, notices=notices)
