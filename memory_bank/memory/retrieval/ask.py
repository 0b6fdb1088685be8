"""Ask one question of everything: notes, docs, symbols, tests, coupled files."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Annotated, NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import RecalledNote
from memory_bank.base.errors import BadInput, MemoryBankError, NoBank, NoRepository
from memory_bank.base.operation import Param, Tool, operation, several
from memory_bank.base.setting_sections import BANK, MODES, Search
from memory_bank.code import symbols
from memory_bank.code.coupled import Coupled, Coupling
from memory_bank.code.coupling import snippet
from memory_bank.code.index import work_tree
from memory_bank.code.index.codebase import Codebase, CodeHit, CodeResult, Lane
from memory_bank.code.parse.parsed_file import Symbol
from memory_bank.memory import shown, told
from memory_bank.memory.retrieval import recall
from memory_bank.memory.retrieval.ask_results import (
    COMMITS,
    COUPLING,
    DOCS,
    INCLUDE,
    NOTES,
    SCHEMA_VERSION,
    SYMBOLS,
    TESTS,
    Answer,
    CoupledFileResult,
    DocResult,
    GuardResult,
    NoteResult,
    Result,
    SymbolResult,
    file_of,
    line_of,
)
from memory_bank.memory.retrieval.hits import Recalled
from memory_bank.search import ranking, score_calibration, snippets
from memory_bank.search.document_changes import Progress
from memory_bank.shared.engines.base import REASONS

_COUPLED_WITH, _MOST_COUPLED = 3, 12
"""Number of files, the best ones, whose coupled files are looked at, and how many of each."""

_CODE_LANES = (SYMBOLS, TESTS, DOCS)


class _Lift(NamedTuple):
    """What a file gains because it changes with a better one."""

    score: float
    coupled: Coupled
    file: str
    """The better one."""


def with_coupling(
    codebase: Codebase, found: Mapping[str, Sequence[Result]]
) -> dict[str, Sequence[Result]]:
    """Return the results of each kind, and what coupling tells of files that change with the best.

    Such a file is as likely as the better one, times `fused_score` and COUPLING_WEIGHT. If its own
    best result is likelier, that one is lifted; else the coupled file is a result.
    """
    best: dict[str, float] = {}
    for kind in _CODE_LANES:
        for one in found.get(kind, ()):
            file = file_of(one)
            best[file] = max(best.get(file, 0.0), one.relevance_score)
    first = sorted(best, key=lambda file: -best[file])[:_COUPLED_WITH]
    coupling = codebase.coupling(refresh=False).coupling  # the search has just caught up
    lifts = _lifts(coupling, {file: best[file] for file in first})
    changed: dict[str, Sequence[Result]] = {
        kind: [_lifted(one, best, lifts) for one in some] if kind in _CODE_LANES else some
        for kind, some in found.items()
    }
    changed[COUPLING] = [
        CoupledFileResult(
            id=None,
            title=file,
            snippet=snippet(lift.coupled, lift.file),
            relevance_score=score_calibration.either(best.get(file, 0.0), lift.score),
            fused_score=round(lift.coupled.fused_score, 4),
            coupling_type=lift.coupled.coupling_type,
        )
        for file, lift in lifts.items()
        if lift.score >= best.get(file, 0.0) and not codebase.is_note(file)
    ]
    return changed


def _lifts(coupling: Coupling, best: Mapping[str, float]) -> dict[str, _Lift]:
    """Return what coupled files gain by the best files, which are given with their scores."""
    lifts: dict[str, _Lift] = {}
    for file, score in best.items():
        for other in coupling.of(file)[:_MOST_COUPLED]:
            lift = score_calibration.COUPLING_WEIGHT * score * other.fused_score
            if other.file not in lifts or lift > lifts[other.file].score:
                lifts[other.file] = _Lift(lift, other, file)
    return lifts


def _lifted(one: Result, best: Mapping[str, float], lifts: Mapping[str, _Lift]) -> Result:
    """Return the best result of a coupled file with a higher score, if it is likely by itself."""
    file = file_of(one)
    lift = lifts.get(file)
    if lift is None or one.relevance_score < best[file] or lift.score >= best[file]:
        return one
    return replace(one, relevance_score=score_calibration.either(one.relevance_score, lift.score))


MOST = 100
"""Most results in an answer."""

_OVERFETCH = 2
"""Results of each kind that are looked at, for each one in the answer."""

_LEAST = 20
"""Results of each kind that are looked at in any case, so that a short answer starts a long one."""

_UNMOVED = 5
"""First results that stay when further commits are raised."""

_LANES: tuple[Lane, ...] = ("symbols", "tests", "docs", "commits")


class _KindResults(NamedTuple):
    """The results of one kind."""

    results: Sequence[Result] = ()
    mode: str = ""
    reason: str = ""
    """Why it was not searched by meaning."""
    absent: str = ""
    """Why it was not searched at all."""
    problem: str = ""
    """Why results may be missing."""
    notes: Mapping[str, RecalledNote] = MappingProxyType({})
    code: Mapping[tuple[str, str], CodeHit] = MappingProxyType({})
    notices: tuple[str, ...] = ()


@operation(
    "ask",
    why="""
    Searches everything that a project knows with one question: notes of the bank, other Markdown
    of the repository, functions and classes, what tests say should happen, and files that change
    together with those found. Each result says what it is and where. To search notes only, with
    their text, use recall.

    It works in a git repository without a bank, and in a bank without a repository.
    """,
    examples=(
        ("memory-bank ask how are payments retried", "notes, code, tests"),
        ("memory-bank ask retry --include symbols,tests", "code and tests only"),
        ("memory-bank ask retry --limit 3 --json", "for a program"),
    ),
    group="Code",
    show=shown.answers,
    tool=Tool(
        "Find code, tests, docs and notes for a question, or coupled files. Notes alone: `recall`.",
        "code",
        told.answer,
        takes=("query", "limit", "include"),
        defaults={"include": ()},
        reads=True,
        depth=2,
        then=told.then,
    ),
)
def ask(
    bank: Bank | None,
    codebase: Codebase | None,
    query: Annotated[str, Param(argument=True, metavar="QUERY...", words=True, longest=10_000)],
    limit: Annotated[int, Param("Most results, 1 to 100; default: 10", metavar="N")] = 10,
    include: Annotated[
        Sequence[str],
        Param(
            f"Only these kinds: {', '.join(INCLUDE)}",
            metavar="A,B",
            accept=several,
            most=20,
            about="symbols, notes, docs, coupling, tests, commits",
        ),
    ] = INCLUDE,
    *,
    mode: Annotated[str | None, Param(", ".join(MODES), metavar="MODE", choices=MODES)] = None,
    count_access: bool = True,
    progress: Progress | None = None,
) -> Answer:
    """Search notes, docs, code and tests with one question.

    Return what answers a question, of all kinds that `include` names, the most relevant first.

    A bank or a codebase that is None is not searched, and `problem` says so. `limit` is
    clamped to 1 to 100. `relevance_score` is 0 to 1 and comparable between kinds; with the setting
    `fusion = rrf`, it comes from the ranks within the kinds. Unless `count_access` is false, the
    notes and symbols in the answer count one access more. Raises BadInput for an unknown kind or
    mode.
    """
    found = explained(bank, codebase, query, limit, include, mode=mode, progress=progress)
    if count_access:
        _count(bank, codebase, found.answer.results)
    return found.answer


class Explained(NamedTuple):
    """An answer, with what its results were found by."""

    answer: Answer
    notes: Mapping[str, RecalledNote]
    """The notes that were found, by the ids of their results."""
    code: Mapping[tuple[str, str], CodeHit]
    """What was found of the code, by the kinds and ids of the results."""
    notices: tuple[str, ...]
    """What `recall` remarks on the query."""


def explained(
    bank: Bank | None,
    codebase: Codebase | None,
    query: str,
    limit: int = 10,
    include: Sequence[str] = INCLUDE,
    *,
    mode: str | None = None,
    scope: str = BANK,
    refresh_code: bool = True,
    progress: Progress | None = None,
) -> Explained:
    """Return what `ask` returns, with the reasons; no access is counted.

    `scope` says where notes are searched, as for `recall`; the rest is of this repository.
    Without `refresh_code`, the code is searched as it was indexed last: by a thread, for example.
    """
    wanted = _checked(include)
    if mode is not None and mode not in MODES:
        raise BadInput(f"there is no mode {mode!r}", f"choose one of: {', '.join(MODES)}")
    limit = min(max(limit, 1), MOST)
    query = query.encode("utf-8", "replace").decode()  # an argument may be no UTF-8
    asked = _Asking(query, limit, mode, scope, refresh_code, progress)
    found = _searched(bank, codebase, wanted, asked)
    if COUPLING in wanted and codebase is not None and any(one.results for one in found.values()):
        results = with_coupling(codebase, {kind: one.results for kind, one in found.items()})
        found = {
            kind: found.get(kind, _KindResults())._replace(results=some)
            for kind, some in results.items()
            if kind in wanted
        }
    found = _commits_lowered(found, query)
    ranked = _ranked(found, limit, _fusion(bank, codebase))
    reasons = {one.reason: None for one in found.values() if one.reason}
    modes = {one.mode for one in found.values() if one.mode}
    answer = Answer(
        SCHEMA_VERSION,
        query,
        "hybrid" if "hybrid" in modes else min(modes, default=mode or ""),
        next(iter(reasons), None),
        len(ranked),
        tuple(ranked),
        _problem(found),
    )
    return Explained(
        answer,
        {key: note for one in found.values() for key, note in one.notes.items()},
        {key: hit for one in found.values() for key, hit in one.code.items()},
        tuple(notice for one in found.values() for notice in one.notices),
    )


_HOLDS_NOW = re.compile(r"\s*(?:where|how)\b", re.IGNORECASE)
"""Starts of a question about what the code is, rather than why."""


def _commits_lowered(found: dict[str, _KindResults], query: str) -> dict[str, _KindResults]:
    """Lower the scores of commits where code or a note may answer: it says what holds now."""
    notes = found.get(NOTES, _KindResults()).results
    of_note = any(one.relevance_score >= ranking.STRONG for one in notes)
    if COMMITS not in found or not (of_note or _HOLDS_NOW.match(query)):
        return found
    factor = score_calibration.share(COMMITS, query)
    commits = [
        replace(one, relevance_score=factor * one.relevance_score) for one in found[COMMITS].results
    ]
    return {**found, COMMITS: found[COMMITS]._replace(results=commits)}


def nothing_here(no_bank: NoBank, no_code: NoRepository) -> NoBank:
    """Return the error of a question where there is neither a bank nor a repository."""
    return NoBank.after(no_bank, f"{no_bank.message}; {no_code.message}")


def _problem(found: Mapping[str, _KindResults]) -> str | None:
    """Return what could not be searched, and why results may be missing."""
    absent: dict[str, list[str]] = {}
    for kind, one in found.items():
        if one.absent:
            absent.setdefault(one.absent, []).append(kind)
    said = [f"{', '.join(kinds)} not searched: {why}" for why, kinds in absent.items()]
    said += [one.problem for one in found.values() if one.problem]
    return "; ".join(dict.fromkeys(said)) or None


class _Asking(NamedTuple):
    query: str
    limit: int
    mode: str | None
    scope: str
    refresh_code: bool
    progress: Progress | None


def _checked(include: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds in their own order; raise BadInput for an unknown one."""
    names = [name.strip() for word in include for name in word.split(",") if name.strip()]
    unknown = [name for name in names if name not in INCLUDE]
    if unknown:
        raise BadInput(f"there is no kind {unknown[0]!r}", f"choose of: {', '.join(INCLUDE)}")
    return tuple(kind for kind in INCLUDE if kind in names or not names)


def _searched(
    bank: Bank | None, codebase: Codebase | None, wanted: Sequence[str], asked: _Asking
) -> dict[str, _KindResults]:
    """Search the kinds in parallel, each in a thread."""
    lanes = [lane for lane in _LANES if lane in wanted or (COUPLING in wanted and lane == SYMBOLS)]
    searches: dict[str, Callable[[], _KindResults]] = {}
    if NOTES in wanted:
        searches[NOTES] = partial(_notes, bank, asked)
    absent = "there is no git repository here"
    problem = ""
    if codebase is not None and lanes:
        try:
            if asked.refresh_code:
                problem = codebase.catch_up(lanes, asked.progress).problem
            absent = ""
        except MemoryBankError as error:
            absent = error.message
    for lane in lanes:
        if codebase is None or absent:
            searches[lane] = partial(_KindResults, absent=absent)
        else:
            searches[lane] = partial(_code, codebase, lane, asked)
    with ThreadPoolExecutor(max_workers=max(1, len(searches))) as threads:
        begun = {kind: threads.submit(search) for kind, search in searches.items()}
        found = {kind: one.result() for kind, one in begun.items()}
    if problem and lanes:
        found[lanes[0]] = found[lanes[0]]._replace(problem=problem)
    return found


def _notes(bank: Bank | None, asked: _Asking) -> _KindResults:
    if bank is None:
        return _KindResults(absent="there is no bank here")
    answer: Recalled = recall.recall(
        bank,
        asked.query,
        asked.limit,
        asked.mode,
        count_access=False,
        scope=asked.scope,
        progress=asked.progress,
    )
    results = [
        NoteResult(
            id=_place(note, note.note_id or note.path),
            title=note.title or None,
            snippet=note.snippet,
            relevance_score=note.relevance_score,
            tags=note.tags,
            source_type=note.source_type,
            path=_place(note, note.path),
            line=note.line,
            created_at=note.created_at,
        )
        for note in answer.notes
    ]
    return _KindResults(
        results,
        answer.mode_used,
        "" if answer.fallback_reason in REASONS else answer.fallback_reason or "",
        problem=answer.problem or "",
        notes={one.id: note for one, note in zip(results, answer.notes, strict=True)},
        notices=answer.notices,
    )


def _place(note: RecalledNote, name: str) -> str:
    """Return a name of a note that no note of another bank has."""
    origin = note.origin
    return name if origin is None else f"{origin.repository}:{origin.bank}:{name}"


def _code(codebase: Codebase, lane: Lane, asked: _Asking) -> _KindResults:
    """Search one lane of the code."""
    try:
        found: CodeResult = codebase.search(
            lane, asked.query, max(_LEAST, _OVERFETCH * asked.limit), mode=asked.mode
        )
    except MemoryBankError as error:
        return _KindResults(absent=error.message)
    pairs = [(one, hit) for hit in found.hits if (one := _result(codebase, hit, asked.query))]
    return _KindResults(
        [one for one, _ in pairs],
        found.mode,
        found.fallback_reason,
        code={(one.kind, one.id or ""): hit for one, hit in reversed(pairs)},
    )


def _result(codebase: Codebase, hit: CodeHit, query: str) -> Result | None:
    """Return a hit of the code as a result; None for the text of a file around its tests."""
    score = hit.score
    if hit.lane != COMMITS:  # these give way to notes only
        score *= score_calibration.share(hit.lane, query) * work_tree.factor(hit.path, query)
    if hit.lane == TESTS:
        if hit.test is None:
            return None
        intent = hit.test.intent
        return GuardResult(hit.test.id, intent.title, intent.snippet, score, hit.path, hit.line)
    if hit.lane == COMMITS:
        return recall.commit_result(codebase, hit, query)
    if hit.lane == DOCS:
        heading = " > ".join(hit.headings)
        name = f"{hit.path}#{heading}" if heading else hit.path
        title = heading or hit.hit.document.title
        return DocResult(name, title, _snippet(codebase, hit, query), score, hit.path, hit.line)
    if hit.symbol is None:  # a file: what is outside of its symbols
        text = _snippet(codebase, hit, query)
        return SymbolResult(hit.path, hit.path, text, score, hit.path, hit.line, hit.language)
    symbol = hit.symbol.symbol
    if _is_named(symbol, query):
        score = 1.0
    told = symbols.snippet(hit.symbol)
    return SymbolResult(
        hit.symbol.id, symbol.qualified, told, score, hit.path, symbol.line, hit.symbol.language
    )


def _snippet(codebase: Codebase, hit: CodeHit, query: str) -> str:
    """Return the piece of a hit's text that answers, or the commit by which it was found."""
    text = codebase.text(hit)
    if hit.end_line - hit.line == 1:  # as passages of the subjects of commits have
        said = max(
            codebase.subjects(hit.path),
            key=lambda subject: snippets.count_words(query, subject),
            default="",
        )
        if snippets.count_words(query, said) > snippets.count_words(query, text):
            return f"commit: {said}"
    return snippets.snippet(text, query).text


def _is_named(symbol: Symbol, query: str) -> bool:
    """Tell whether a query is nothing but a symbol's name."""
    return query.strip().strip("`").removesuffix("()") in (symbol.qualified, symbol.name)


def _ranked(found: dict[str, _KindResults], limit: int, fusion: tuple[str, float]) -> list[Result]:
    """Fuse the results of all kinds, and return the best with their scores, each place once."""
    results = [one for kind in found.values() for one in kind.results]
    numbers = iter(range(len(results)))
    lists = [
        [
            score_calibration.Scored(next(numbers), kind, file_of(one), one.relevance_score)
            for one in kind_found.results
        ]
        for kind, kind_found in found.items()
    ]
    how, k = fusion
    if how == "rrf":
        ranked = score_calibration.by_ranks(lists, k)
    else:
        ranked = score_calibration.by_likelihood(one for found in lists for one in found)
        ranked = _with_reasons(ranked, results, found)
    best: dict[tuple[str, str, int, str | None], Result] = {}
    for one in ranked:  # a place may have several passages: its text, the subjects of commits
        result = results[one.number]
        place = result.kind, file_of(result), line_of(result), result.title
        best.setdefault(place, replace(result, relevance_score=round(one.score, 4)))
    return list(best.values())[:limit]


def _with_reasons(
    ranked: list[score_calibration.Scored],
    results: Sequence[Result],
    found: Mapping[str, _KindResults],
) -> list[score_calibration.Scored]:
    """Raise further commits, up to the first results: each has a reason of its own.

    The first results stay: raised among these, commits would hide files of code that answer.
    """
    hits = found.get(COMMITS, _KindResults()).code
    best = max((hit.hit.rank for hit in hits.values()), default=0.0)
    scores = [one.score for one in ranked if one.kind == COMMITS]
    if not best or len(found) == 1 or len(ranked) <= _UNMOVED:
        return ranked
    most = min(scores[0], ranked[_UNMOVED - 1].score)

    def raised(one: score_calibration.Scored) -> score_calibration.Scored:
        if one.kind != COMMITS:
            return one
        result = results[one.number]
        share = hits[result.kind, result.id or ""].hit.rank / best
        near = score_calibration.beside_first(result.relevance_score, share)
        return one._replace(score=max(one.score, min(near, most)))

    further = sorted(map(raised, ranked[_UNMOVED:]), key=lambda one: -one.score)
    return ranked[:_UNMOVED] + further


def _fusion(bank: Bank | None, codebase: Codebase | None) -> tuple[str, float]:
    """Return how results are fused, and the constant of reciprocal rank fusion."""
    opened = bank if bank is not None else codebase
    search = Search() if opened is None else opened.settings.search
    return search.fusion, search.rrf_k


def _count(bank: Bank | None, codebase: Codebase | None, results: Iterable[Result]) -> None:
    """Count an access of the notes and symbols in an answer."""
    now = time.time()
    notes = [one.id for one in results if isinstance(one, NoteResult)]
    symbols = [one.id for one in results if isinstance(one, SymbolResult) and one.id != one.file]
    if bank is not None and notes:
        bank.logs.access.add(notes, now)
    if codebase is not None and symbols:
        codebase.count_access(symbols, now)
