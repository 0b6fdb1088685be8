"""Search a bank's notes, those of other repositories or revisions, and the user's own banks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory_bank.bank.backlinks import node_of
from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import Wanted
from memory_bank.bank.revisions.revisions import bank_at
from memory_bank.base.dates import iso_of
from memory_bank.base.errors import BadInput
from memory_bank.base.setting_sections import BANK, MODES
from memory_bank.memory.hits import AsOf, Recalled, fitted
from memory_bank.memory.recall_bank import linked_or_found
from memory_bank.search.manifest import document_rows
from memory_bank.search.query import conditions
from memory_bank.trust import trust

if TYPE_CHECKING:
    from memory_bank.search.index.document_changes import Progress


MOST = 100
"""Most notes in an answer."""

TOKENS = 1500
"""Tokens of an answer to an agent that names no number."""

SECTION, NOTE, INDEX = "section", "note", "index"

DETAILS = (SECTION, NOTE, INDEX)
"""What an answer has of each note: its best section, all of it, or no text."""


def recall(
    bank: Bank,
    query: str,
    limit: int | None = None,
    mode: str | None = None,
    *,
    offset: int = 0,
    detail: str = SECTION,
    tokens: int | None = None,
    tags: Sequence[str] = (),
    type: str | None = None,  # noqa: A002  (the field's word)
    since: str | datetime | None = None,
    before: str | datetime | None = None,
    linked_to: str | None = None,
    include_archived: bool = False,
    min_score: float = 0.0,
    count_access: bool = True,
    scope: str | None = None,
    with_trust: bool = True,
    progress: Progress | None = None,
) -> Recalled:
    """Return the notes that match a query, best first, each once with its best section.

    `limit` is clamped to 1 to 100; the best `offset` notes are left out. With the detail `note`,
    notes come whole instead of their best section, with `index` without text. With `tokens`, at
    least 1, they come with an excerpt, the best ones first, as far as that many tokens go; the
    others come without text. Notes need all of `tags`. Filters apply before ranking. With
    `linked_to`, the name of a note or ghost (such as a source file), only notes that link to it,
    with those links, the most relevant link first; if none matches the query, all of them. Words of
    time in the query (`last week`) restrict it as `since` and `before` do, unless these are given;
    if no note of that time matches, all dates are searched. `notices` says both.
    Notes whose `relevance_score` is below `min_score` are left out; those too unlikely to answer
    come last, marked as weak. Unless `count_access` is false, the access counts of the others are
    then increased by one. Unless `with_trust` is false, notes have their tiers of trust.
    `scope` says what is searched: `bank`; `shared`, the notes of other repositories in the shared
    index; `both`; or `user`, the bank and the user's own banks. By default, it is that of the
    settings; with `linked_to`, it is the bank. Where the shared index can't be asked, the bank is
    searched, and `fallback_reason` says why.
    Raises BadInput for an unknown mode, detail, scope or time, a negative `offset`, `tokens` below
    1 or a `min_score` beyond 1, NoteNotFound for a `linked_to` that is neither a note nor a file.
    """
    bank.settings.check_enabled()
    mode = mode or bank.settings.search.mode
    scope = scope or (bank.settings.search.scope if linked_to is None else BANK)
    _check(mode, detail, offset, min_score, tokens)
    wanted = Wanted(
        query=query,
        conditions=conditions(tags=tags, types=type, since=since, before=before),
        mode=mode,
        limit=min(max(bank.settings.search.limit if limit is None else limit, 1), MOST) + offset,
        archived=include_archived,
        node="" if linked_to is None else node_of(bank, linked_to),
        min_score=min_score,
        times=since is None and before is None,
        texts=detail != INDEX,
        whole=detail == NOTE or tokens is not None,
        badges=with_trust,
    )
    if scope != BANK:
        from memory_bank.memory.recall_scopes import recall_across  # start-up: rarely asked

        with bank.lock:
            answer = recall_across(
                bank, wanted, scope, offset=offset, count_access=count_access, progress=progress
            )
        return answer if tokens is None else fitted(answer, tokens)
    with bank.lock:
        answer, hits = linked_or_found(bank, wanted, progress)
        if offset:
            notes, hits = answer.notes[offset:], hits[offset:]
            answer = answer._replace(notes=notes, result_count=len(notes))
        answer = answer if tokens is None else fitted(answer, tokens)
        used = [hit.document.known_as for hit in hits if not hit.weak]
        if not (count_access and used):
            return answer
        uncounted = bank.logs.access.add(used, time.time())
        return answer._replace(problem=answer.problem or uncounted or None)


def _check(mode: str, detail: str, offset: int, min_score: float, tokens: int | None) -> None:
    if mode not in MODES:
        raise BadInput(f"there is no mode {mode!r}", f"choose one of: {', '.join(MODES)}")
    if detail not in DETAILS:
        raise BadInput(f"there is no detail {detail!r}", f"choose one of: {', '.join(DETAILS)}")
    if offset < 0:
        raise BadInput(f"the offset {offset} is negative", "count from 0")
    if tokens is not None and tokens < 1:
        raise BadInput(f"{tokens} tokens are too few", "give 1 or more")
    if not 0 <= min_score <= 1:
        raise BadInput(f"{min_score} is no likelihood", "give one from 0 to 1")


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
        paths = then.read(lambda view: document_rows.versions(view.manifest))
        trust.refresh(then, paths)
        found = recall(then, query, limit, mode, **options)
        notices = (*then.take_notices(), *found.notices)
        revision = then.revision
    if revision is None:
        return found
    as_of = AsOf(revision.commit, revision.asked, iso_of(revision.when))
    return found._replace(rev=as_of, notices=notices)
