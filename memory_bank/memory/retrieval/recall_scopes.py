"""Search other repositories, or the memories of agents' programs, together with a bank.

All are scored with the same rarities of words and the same scales: see
`search/score_calibration.py`.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack

from memory_bank.bank import agent_memories
from memory_bank.bank.bank import Bank
from memory_bank.bank.records import Origin, ShownNote
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, SharedUnavailable
from memory_bank.base.setting_sections import BANK, BOTH, SCOPES
from memory_bank.memory.retrieval.answers import Answer
from memory_bank.memory.retrieval.recall_bank import known_keys, search_notes
from memory_bank.search.document_changes import Progress
from memory_bank.search.query import Query, parse
from memory_bank.search.retrievers.base import Question
from memory_bank.search.score_calibration import (
    CommonScales,
    WordCounts,
    common_scales,
    counted_words,
    measure_rarities,
)
from memory_bank.shared import shared_hits


def check_scope(scope: str) -> None:
    """Raise BadInput for an unknown scope."""
    if scope not in SCOPES:
        raise BadInput(f"there is no scope {scope!r}", f"choose one of: {', '.join(SCOPES)}")


def choose_scope(bank: Bank | None, scope: str = "") -> str:
    """Return a scope that was given, else that of the settings; raise BadInput."""
    if scope:
        check_scope(scope)
    return scope or (BANK if bank is None else bank.settings.search.scope)


def list_scopes(bank: Bank) -> tuple[str, ...]:
    """Return the scopes that find more than the bank, and the bank's; empty if there are none."""
    return SCOPES if bank.settings.shared.url else ()


class _RankedNote(NamedTuple):
    """A note, and what it is ranked by."""

    note: ShownNote
    rank: float
    bank: Bank | None = None
    """None for a note of the shared index."""
    known_as: str = ""
    """Its name where accesses are counted."""


_RankedAnswer = tuple[Answer, list[_RankedNote]]
"""An answer, and its notes with their banks."""


def _count_accesses(ranked: Sequence[_RankedNote]) -> str:
    """Count the good matches in their banks; return why that failed, if it did."""
    used: dict[Bank, list[str]] = defaultdict(list)
    for note, _, bank, known_as in ranked:
        if bank is not None and not note.weak:
            used[bank].append(known_as)
    problems = [bank.state.count_returned(keys, time.time()) for bank, keys in used.items()]
    return "; ".join(filter(None, problems))


def recall_across(
    bank: Bank,
    query: Query,
    scope: str,
    *,
    agents: bool = False,
    everywhere: bool = False,
    count_access: bool,
    progress: Progress | None,
) -> Answer:
    """Search more than the bank; the caller holds the bank's lock.

    With `agents`, the memories that agents' programs have of the project are searched, too, with
    `everywhere` also those that they have for all projects. If the shared index can't be asked, the
    answer is that of the bank, and says why. Raises BadInput for an unknown scope, or one that
    can't be asked this.
    """
    check_scope(scope)
    if query.node:
        raise BadInput("links are known in the bank only", "ask for them in the scope bank")
    if agents and scope != BANK:
        raise BadInput("agents' own memories stay on this machine", "ask in the scope bank")
    query = query._replace(across=scope != BANK)
    with ExitStack() as exit_stack:
        if agents:
            memories, remarks = agent_memories.open_all(bank, exit_stack, everywhere=everywhere)
            answer, ranked = _search_banks(bank, [bank, *memories], query, progress)
            answer = _add_notices(answer, remarks)
        else:
            try:
                answer, ranked = _search_with_shared(bank, query, scope, progress)
            except SharedUnavailable as error:
                answer, ranked = _search_bank_alone(bank, query, error, progress)
        problem = _count_accesses(ranked) if count_access else ""
    return answer._replace(problem=answer.problem or problem or None)


def _search_bank_alone(
    bank: Bank, query: Query, error: SharedUnavailable, progress: Progress | None
) -> _RankedAnswer:
    """Search the bank alone, and say why."""
    answer, hits = search_notes(bank, query, progress)
    ranked = [
        _RankedNote(note, hit.rank, bank, hit.document.known_as)
        for note, hit in zip(answer.notes, hits, strict=True)
    ]
    text = f"only this bank was searched: {error.message}"
    hint = f"; {error.hint}" if error.hint else ""
    answer = answer._replace(fallback_reason=error.reason)
    return _add_notices(answer, [text + hint]), ranked


def _search_with_shared(
    bank: Bank, query: Query, scope: str, progress: Progress | None
) -> _RankedAnswer:
    """Search other repositories, and the bank itself if the scope says so."""
    banks = [bank] if scope == BOTH else []
    if banks:
        bank.catch_up(progress)
    question, keys = _parse_for_all(banks, query)
    words = counted_words(question.text)
    with shared_hits.open_question(bank, query, keys) as shared:
        counts = shared.counts(words)
        rarities = measure_rarities(words, [*(_count_words(own, words) for own in banks), counts])
        banks = banks if shared.includes_bank else []
        best_scores = [_best_scores(own, question, rarities) for own in banks]
        common = common_scales(question.text, rarities, [*best_scores, shared.find(rarities)])
        ranked = [_RankedNote(note, rank) for note, rank in shared.rank_notes(common)]
    if not banks:
        answer = Answer(query.typed, shared.mode, None, 0)
        answer, ranked = _best_of(answer, ranked, query.limit)
    else:
        answer, ranked = _search_banks(bank, banks, query, progress, ranked, common)
    reason = answer.fallback_reason or shared.reason or None
    answer = answer._replace(fallback_reason=reason)
    return _add_notices(answer, [*shared.notices()]), ranked


def _search_banks(
    bank: Bank,
    banks: Sequence[Bank],
    query: Query,
    progress: Progress | None,
    shared_notes: Sequence[_RankedNote] = (),
    common: CommonScales | None = None,
) -> _RankedAnswer:
    """Search some banks, and rank their notes together with those of the shared index."""
    if common is None:
        for source in banks:
            source.catch_up(progress)
        question, _ = _parse_for_all(banks, query)
        words = counted_words(question.text)
        rarities = measure_rarities(words, [_count_words(source, words) for source in banks])
        best_scores = [_best_scores(source, question, rarities) for source in banks]
        common = common_scales(question.text, rarities, best_scores)
    query = query._replace(together=common)
    ranked = list(shared_notes)
    answers: list[Answer] = []
    for source in banks:
        answer, hits = search_notes(source, query, progress)
        origin = None if source is bank else Origin(bank=source.layout.name)
        ranked += [
            _RankedNote(note._replace(origin=origin), hit.rank, source, hit.document.known_as)
            for note, hit in zip(answer.notes, hits, strict=True)
        ]
        answers.append(answer)
    problem = next((answer.problem for answer in answers if answer.problem), None)
    return _best_of(answers[0]._replace(problem=problem), ranked, query.limit)


def _best_of(answer: Answer, ranked: Sequence[_RankedNote], limit: int) -> _RankedAnswer:
    """Put the best notes of all places into an answer."""
    best = sorted(ranked, key=lambda hit: (hit.note.weak, -hit.rank))[:limit]
    notes = tuple(hit.note for hit in best)
    answered = any(not note.weak for note in notes)
    answer = answer._replace(answered=answered, notes=notes, result_count=len(notes))
    return answer, best


def _add_notices(answer: Answer, notices: Sequence[str]) -> Answer:
    return answer._replace(notices=(*notices, *answer.notices))


def _parse_for_all(banks: Sequence[Bank], query: Query) -> tuple[Question, set[str]]:
    """Return the question without words of time, and the keys of conditions that banks have."""
    keys: set[str] = set()
    for bank in banks if ":" in query.typed else ():
        keys |= bank.read(lambda view: known_keys(view, across=query.across))
    return parse(query._replace(reads_times=False), keys).question, keys


def _count_words(bank: Bank, words: Collection[str]) -> WordCounts:
    return bank.read(lambda view: WordCounts(*view.engine.word_counts(words)))


def _best_scores(bank: Bank, question: Question, rarities: Mapping[str, float]) -> dict[str, float]:
    question = question._replace(rarities=rarities)
    return bank.read(lambda view: view.engine.best_scores(question))
