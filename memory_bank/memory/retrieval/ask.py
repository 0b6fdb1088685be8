"""Ask one question of everything: notes, docs, symbols, tests, coupled files."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Annotated, Any

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import ShownNote
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadInput, MemoryBankError, NoBank, NoRepository
from memory_bank.base.operation import LONGEST_QUERY, Param, Tool, operation, split_list
from memory_bank.base.screen import Call
from memory_bank.base.setting_sections import BANK, MODES, Search
from memory_bank.code.coupled import TOGETHER
from memory_bank.code.index.codebase import Codebase, CodeHit, Lane
from memory_bank.code.index.database import SymbolRow
from memory_bank.memory.retrieval import recall, views
from memory_bank.memory.retrieval.answers import (
    COMMITS,
    COUPLING,
    DOCS,
    INCLUDE,
    KIND_OF,
    NOTES,
    SYMBOLS,
    TESTS,
    Answer,
    Result,
    result_file,
)
from memory_bank.memory.retrieval.recall_bank import read_notes
from memory_bank.search import candidates, score_calibration, snippets
from memory_bank.search.document_changes import Progress
from memory_bank.search.engine import Hit, SearchResult
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.ranking import RANK_CONSTANT
from memory_bank.search.retrievers.base import NEVER, Reason
from memory_bank.shared.engines.base import REASONS

_COUPLED_WITH, _MOST_COUPLED = 3, 12
"""Number of files, the best ones, whose coupled files are looked at, and how many of each."""

MOST = 100
"""Most results in an answer."""

_BEST_CITED = 3
"""Number of files, the best ones, whose citing notes are looked at."""

_RESULTS_PER_COMMIT = 3
"""How many other results stand before each commit: a commit says why, a file what holds now."""

_ASKS_FOR_COMMITS = lazy_pattern(
    r"\b(?:(?:which|what|whose) commits?|commits? (?:that|which|by|where)|since when"
    r"|who (?:has |have |had )?(?:added|changed|did|fixed|introduced|made|moved|removed|renamed"
    r"|reverted|touched|wrote|written|broke|deleted|decided)|when (?:was|were|did))\b",
    re.IGNORECASE,
)
"""Words of a question that only history answers: commits come first."""


class _KindResults(NamedTuple):
    """The results of one search."""

    results: Sequence[Result] = ()
    mode: str = ""
    reason: str = ""
    """Why it was not searched by meaning."""
    absent: str = ""
    """Why it was not searched at all."""
    problem: str = ""
    """Why results may be missing."""
    notes: Mapping[str, ShownNote] = MappingProxyType({})
    code: Mapping[tuple[str, str], CodeHit] = MappingProxyType({})
    notices: tuple[str, ...] = ()
    answered: bool = False
    """What `recall` says of the notes."""


_ON_SCREEN = 5
"""Results on a terminal, unless an option says otherwise."""


def _ask_in_command(
    call: Call,
    bank: Bank | None,
    codebase: Codebase | None,
    query: str,
    limit: Annotated[
        int | None, Param("Most results, 1 to 100; default: 10, on a terminal 5", metavar="N")
    ] = None,
    **options: Any,  # noqa: ANN401  (those of ask)
) -> Answer:
    """Ask for as many results as a terminal shows."""
    usual = _ON_SCREEN if call.console.terminal and not call.json else 10
    return ask(bank, codebase, query, usual if limit is None else limit, **options)


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
    through=_ask_in_command,
    view=views.view_ask,
    tool=Tool(
        "Find code, tests, docs and notes for a question, or coupled files. Notes alone: `recall`.",
        "code",
        takes=("query", "limit", "include"),
        defaults={"include": ()},
        reads=True,
        depth=2,
    ),
)
def ask(
    bank: Bank | None,
    codebase: Codebase | None,
    query: Annotated[
        str, Param(argument=True, metavar="QUERY...", words=True, longest=LONGEST_QUERY)
    ],
    limit: Annotated[int, Param("Most results, 1 to 100; default: 10", metavar="N")] = 10,
    include: Annotated[
        Sequence[str],
        Param(
            f"Only these kinds: {', '.join(INCLUDE)}",
            metavar="A,B",
            accept=split_list,
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
    answer = explain_answer(
        bank, codebase, query, limit, include, mode=mode, progress=progress
    ).answer
    if count_access:
        _count_accesses(bank, codebase, answer.results or ())
    return answer


class Explained(NamedTuple):
    """An answer, with the notes and code hits that its results are made of."""

    answer: Answer
    notes: Mapping[str, ShownNote]
    """The notes by the ids of their results."""
    code: Mapping[tuple[str, str], CodeHit]
    """The hits in code by the kinds and ids of their results."""


def explain_answer(
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
    kinds = _check_kinds(include)
    if mode is not None and mode not in MODES:
        raise BadInput(f"there is no mode {mode!r}", f"choose one of: {', '.join(MODES)}")
    limit = min(max(limit, 1), MOST)
    query = query.encode("utf-8", "replace").decode()  # an argument may be no UTF-8
    searches: dict[str, Callable[[], _KindResults]] = {}
    if NOTES in kinds:
        searches[NOTES] = partial(_search_notes, bank, query, limit, mode, scope, progress)
    searches |= _plan_code_searches(
        codebase, query, limit, mode, kinds, progress, refresh=refresh_code
    )
    with ThreadPoolExecutor(max_workers=max(1, len(searches))) as threads:
        futures = {kind: threads.submit(search) for kind, search in searches.items()}
        results = {kind: future.result() for kind, future in futures.items()}
    if bank is not None and scope == BANK and {NOTES, "files"} <= results.keys():
        results[NOTES] = _add_citing(bank, results[NOTES], results["files"].results, query)
    symbols = _find_named(codebase, query) if codebase is not None and SYMBOLS in kinds else []
    ranked = _rank_results(bank, codebase, results, kinds, symbols)
    ranked = _add_commits(ranked, results, limit, first=asks_for_commits(query))
    reasons = [kind_results.reason for kind_results in results.values() if kind_results.reason]
    modes = {kind_results.mode for kind_results in results.values() if kind_results.mode}
    note_results = results.get(NOTES, _KindResults())
    answer = Answer(
        query,
        "hybrid" if "hybrid" in modes else min(modes, default=mode or ""),
        reasons[0] if reasons else None,
        len(ranked),
        results=tuple(ranked),
        problem=_describe_problems(results),
        answered=_is_answered(results, symbols),
        notices=note_results.notices,
    )
    code = {key: hit for found in results.values() for key, hit in found.code.items()}
    return Explained(answer, note_results.notes, code)


def _is_answered(kind_results: Mapping[str, _KindResults], symbols: Sequence[Result]) -> bool:
    """Return whether a result may answer: a note by the verdict of `recall`, a file by its score.

    Commits whose messages merely have the words score as high as those that answer: they count
    only where nothing else was searched. `symbols` are those that the question is the name of.
    """
    kinds = [kind for kind in kind_results if kind not in {NOTES, COMMITS}] or [COMMITS]
    results = [
        result for kind in kinds if kind in kind_results for result in kind_results[kind].results
    ]
    best = max((result.relevance_score for result in results), default=0.0)
    notes_answer = kind_results.get(NOTES, _KindResults()).answered
    return notes_answer or bool(symbols) or best >= score_calibration.LIKELY_FILE


def nothing_here(no_bank: NoBank, no_code: NoRepository) -> NoBank:
    """Return the error of a question where there is neither a bank nor a repository."""
    return NoBank.after(no_bank, f"{no_bank.message}; {no_code.message}")


def _describe_problems(kind_results: Mapping[str, _KindResults]) -> str | None:
    """Return what could not be searched, and why results may be missing."""
    absent: dict[str, list[str]] = {}
    for kind, results in kind_results.items():
        if results.absent:
            absent.setdefault(results.absent, []).append(kind)
    texts = [f"{', '.join(kinds)} not searched: {why}" for why, kinds in absent.items()]
    texts += [results.problem for results in kind_results.values() if results.problem]
    return "; ".join(dict.fromkeys(texts)) or None


def _check_kinds(include: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds in their own order; raise BadInput for an unknown one."""
    names = [name.strip() for word in include for name in word.split(",") if name.strip()]
    unknown = [name for name in names if name not in INCLUDE]
    if unknown:
        raise BadInput(f"there is no kind {unknown[0]!r}", f"choose of: {', '.join(INCLUDE)}")
    return tuple(kind for kind in INCLUDE if kind in names or not names)


def _plan_code_searches(
    codebase: Codebase | None,
    query: str,
    limit: int,
    mode: str | None,
    kinds: Collection[str],
    progress: Progress | None,
    *,
    refresh: bool,
) -> dict[str, Callable[[], _KindResults]]:
    """Return the searches of files and of commits by lane; by kind if they can't be searched."""
    searches: dict[str, Callable[[], _KindResults]] = {}
    file_kinds = [kind for kind in (SYMBOLS, TESTS, DOCS) if kind in kinds]
    lanes: list[Lane] = ["files"] if file_kinds or COUPLING in kinds else []
    lanes += [COMMITS] if COMMITS in kinds else []
    absent, problem = "there is no git repository here", ""
    if codebase is not None and lanes:
        try:
            problem = codebase.catch_up(lanes, progress).problem if refresh else ""
            absent = ""
        except MemoryBankError as error:
            absent = error.message
    for lane in lanes:
        if codebase is None or absent:
            unsearched = [COMMITS] if lane == COMMITS else file_kinds or [COUPLING]
            searches |= {kind: partial(_KindResults, absent=absent) for kind in unsearched}
        else:
            only = file_kinds if lane != COMMITS and len(file_kinds) < len(_LANES) else ()
            search = partial(codebase.search, lane, query, 2 * limit, mode=mode, kinds=only)
            searches[lane] = partial(_search_code, codebase, search, query, problem)
    return searches


def _search_notes(
    bank: Bank | None,
    query: str,
    limit: int,
    mode: str | None,
    scope: str,
    progress: Progress | None,
) -> _KindResults:
    if bank is None:
        return _KindResults(absent="there is no bank here")
    answer = recall.recall(
        bank, query, limit, mode, count_access=False, scope=scope, progress=progress
    )
    results = [_note_result(note) for note in answer.notes]
    return _KindResults(
        results,
        answer.mode_used,
        "" if answer.fallback_reason in REASONS else answer.fallback_reason or "",
        problem=answer.problem or "",
        notes={_qualify_name(note, note.note_id or note.path): note for note in answer.notes},
        notices=answer.notices,
        answered=answer.answered,
    )


def _note_result(note: ShownNote) -> Result:
    return Result(
        id=_qualify_name(note, note.note_id or note.path),
        title=note.title or None,
        snippet=note.snippet,
        relevance_score=note.relevance_score,
        tags=note.meta.tags,
        source_type=note.meta.source_type,
        path=_qualify_name(note, note.path),
        line=note.line,
        created_at=note.created_at,
        description=note.description,
    )


def _add_citing(
    bank: Bank, notes: _KindResults, files: Sequence[Result], query: str
) -> _KindResults:
    """Add the notes that cite one of the best files where they are about the question.

    They get a share of the score of the file.
    """
    results = {result.id or "": result for result in notes.results}
    notes_by_id = dict(notes.notes)
    for file in sorted(files, key=lambda result: -result.relevance_score)[:_BEST_CITED]:
        path, score = result_file(file), round(candidates.SHARE * file.relevance_score, 4)
        reason = Reason("linked", f"cites {path}", score)
        find = partial(_find_citing, path=path, query=query, matching=notes.notes, reason=reason)
        for note in bank.read(find):
            name = _qualify_name(note, note.note_id or note.path)
            if name in results and results[name].relevance_score >= score:
                continue
            recalled = notes_by_id.get(name, note)  # its text is what answers best
            results[name] = _note_result(recalled)._replace(relevance_score=score)
            reasons = (*(old for old in recalled.reasons if old != reason), reason)
            notes_by_id[name] = recalled._replace(relevance_score=score, reasons=reasons)
    return notes._replace(results=list(results.values()), notes=notes_by_id)


def _find_citing(
    view: IndexView, path: str, query: str, matching: Collection[str], reason: Reason
) -> list[ShownNote]:
    """Return the notes that cite a file and are about the question.

    They are in `matching`, the ids of notes that match it, or its words stand around the link.
    """
    rows = link_rows.find_to_ghost(view.manifest, path)
    documents = document_rows.read_documents(view.manifest, {row.source for row in rows})
    about = {
        row.source
        for row in rows
        if row.source in documents
        and not documents[row.source].hidden
        and (
            documents[row.source].known_as in matching
            or snippets.count_words(query, f"{row.before} {row.after}")
        )
    }
    about.difference_update(link_rows.map_superseded(view.manifest, about))
    passages = document_rows.first_passages(view.manifest, about)
    hits = [
        Hit(documents[number], reason.score, (reason,), passage, (), NEVER)
        for number, passage in passages.items()
    ]
    return read_notes(view, hits, query)


def _qualify_name(note: ShownNote, name: str) -> str:
    """Return a note's name, behind its bank's if it is of another one."""
    origin = note.origin
    return name if origin is None else f"{origin.repository}:{origin.bank}:{name}"


def _search_code(
    codebase: Codebase, search: Callable[[], SearchResult[CodeHit]], query: str, problem: str
) -> _KindResults:
    """Search the files or the commits."""
    try:
        found = search()
    except MemoryBankError as error:
        return _KindResults(absent=error.message)
    pairs = [(_code_result(codebase, hit, query), hit) for hit in found.hits]
    return _KindResults(
        [result for result, _ in pairs],
        found.mode,
        found.fallback_reason,
        problem=problem,
        code={(result.kind, result.id or ""): hit for result, hit in reversed(pairs)},
    )


_LANES = {"symbol": SYMBOLS, "test_guard": TESTS, "doc": DOCS}
"""The kinds of results that are files, by their words."""


def _code_result(codebase: Codebase, hit: CodeHit, query: str) -> Result:
    """Return a hit of the code as a result: a file by its best place, or a commit."""
    score = score_calibration.FILES * hit.score
    if hit.lane == COMMITS:
        return recall.commit_result(codebase, hit, query)
    if hit.test is not None:
        intent = hit.test.intent
        return Result(
            hit.test.id,
            intent.title,
            intent.snippet,
            score,
            test_file=hit.path,
            line=hit.line,
            kind="test_guard",
        )
    if hit.symbol is None:  # a section of a document, or what code has outside of its symbols
        heading = " > ".join(hit.headings)
        name = f"{hit.path}#{heading}" if heading else hit.path
        title = heading or hit.hit.document.title
        text = snippets.cut_snippet(codebase.text(hit), query).text
        return Result(name, title, text, score, path=hit.path, line=hit.line, kind="doc")
    return _symbol_result(hit.symbol, score)


def _symbol_result(row: SymbolRow, score: float) -> Result:
    symbol = row.symbol
    return Result(
        row.id,
        symbol.qualified,
        row.snippet,
        score,
        row.path,
        line=symbol.line,
        language=row.language,
        kind="symbol",
    )


def _rank_results(
    bank: Bank | None,
    codebase: Codebase | None,
    results: Mapping[str, _KindResults],
    kinds: Collection[str],
    symbols: Sequence[Result],
) -> list[Result]:
    """Return notes and files in one order, each file once, and what coupling adds."""
    searched = bank or codebase
    fusion = (searched.settings.search if searched else Search()).fusion
    lists = [kind_results.results for kind, kind_results in results.items() if kind != COMMITS]
    ranked = _score_by_ranks(lists) if fusion == "rrf" else [*chain.from_iterable(lists)]
    if codebase is not None and lists:
        ranked = [*symbols, *ranked]
        if COUPLING in kinds and results.get("files", _KindResults()).results:
            ranked += _add_coupled(codebase, ranked)
    ranked = [result for result in ranked if KIND_OF[result.kind] in kinds]
    ranked.sort(key=lambda result: -result.relevance_score)
    best: dict[tuple[bool, str], Result] = {}
    for result in ranked:
        best.setdefault((result.kind == "note", result_file(result)), result)
    return list(best.values())


def _add_commits(
    ranked: list[Result], results: Mapping[str, _KindResults], limit: int, *, first: bool
) -> list[Result]:
    """Put the best commits `first`, or each after three other results, and round the scores."""
    commits = list(results.get(COMMITS, _KindResults()).results)
    alone = not results.keys() - {COMMITS}
    if first or alone:
        ranked = commits[: MOST if alone else 2] + ranked
    else:
        for place, commit in zip(
            range(_RESULTS_PER_COMMIT, limit, _RESULTS_PER_COMMIT + 1), commits, strict=False
        ):
            around = [near.relevance_score for near in ranked[max(0, place - 1) : place + 1]]
            score = min([*around[:1], max([commit.relevance_score, *around[1:]])])
            ranked.insert(place, commit._replace(relevance_score=score))
    return [
        result._replace(relevance_score=round(result.relevance_score, 4))
        for result in ranked[:limit]
    ]


def asks_for_commits(question: str) -> bool:
    """Return whether a question asks who, when or for a commit, not for a verb such as commits."""
    return _ASKS_FOR_COMMITS.search(question) is not None


def _score_by_ranks(lists: Sequence[Sequence[Result]]) -> list[Result]:
    """Score results by reciprocal rank in their list; the first of a list gets 1."""
    return [
        result._replace(relevance_score=(RANK_CONSTANT + 1) / (RANK_CONSTANT + place))
        for results in lists
        for place, result in enumerate(
            sorted(results, key=lambda result: -result.relevance_score), 1
        )
    ]


def _find_named(codebase: Codebase, query: str) -> list[Result]:
    """Return the symbols that a query is the name of, if it is nothing else."""
    name = query.strip().strip("`").removesuffix("()")
    rows = codebase.table.symbols("s.qualified = ?1 OR s.name = ?1", name) if name else []
    return [_symbol_result(row, 1.0) for row in rows[:MOST] if not row.test]


def _add_coupled(codebase: Codebase, ranked: Sequence[Result]) -> list[Result]:
    """Return the files that change with the best ones, scored by these and how often they do."""
    file_results = [result for result in ranked if result.kind in _LANES]
    best = sorted(file_results, key=lambda result: -result.relevance_score)[:_COUPLED_WITH]
    coupling, _ = codebase.coupling(refresh=False)  # the search has just caught up
    return [
        Result(
            id=None,
            title=coupled.file,
            snippet=coupled.sentence_with(result_file(result)),
            relevance_score=score_calibration.COUPLING_WEIGHT
            * result.relevance_score
            * coupled.fused_score,
            fused_score=coupled.fused_score,
            coupling_type=coupled.coupling_type,
            kind="coupled_file",
        )
        for result in best
        for coupled in coupling.of(result_file(result), related=True)[:_MOST_COUPLED]
        if coupled.support >= TOGETHER and not codebase.is_note(coupled.file)
    ]


def _count_accesses(
    bank: Bank | None, codebase: Codebase | None, results: Iterable[Result]
) -> None:
    """Count an access of the notes and symbols in an answer."""
    now = time.time()
    notes = [result.id or "" for result in results if result.kind == "note"]
    symbols = [result.id or "" for result in results if result.kind == "symbol"]
    if bank is not None and notes:
        bank.state.count_returned(notes, now)
    if codebase is not None and symbols:
        codebase.count_access(symbols, now)
