"""Show people what `ask` finds: hits with reasons, places and trust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from memory_bank.bank.backlinks import list_linked_titles
from memory_bank.bank.bank import Bank
from memory_bank.bank.records import Origin, ShownNote
from memory_bank.base import NamedTuple
from memory_bank.base.rendering import has_same_words, starts_text
from memory_bank.base.setting_sections import BANK, BOTH, SHARED
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.records import plain_words
from memory_bank.memory.retrieval import ask
from memory_bank.memory.retrieval.answers import (
    COMMITS,
    COUPLING,
    DOCS,
    INCLUDE,
    KIND_OF,
    NOTES,
    SYMBOLS,
    TESTS,
    Result,
    result_file,
    result_line,
)
from memory_bank.memory.retrieval.recall_scopes import choose_scope, list_scopes
from memory_bank.notes.secrets import secrets
from memory_bank.search import ranking, snippets
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, filters
from memory_bank.search.query import parse, written_keys
from memory_bank.search.retrievers.base import CONDITIONS, Reason
from memory_bank.search.score_calibration import FILES

# Tags that are offered to narrow an answer.
_MOST_TOPICS = 12

WORDS, MEANING, LINKS, BOOSTS = "words", "meaning", "links", "boosts"

GROUPS = (WORDS, MEANING, LINKS, BOOSTS)

_GROUP_OF = {"vectors": MEANING, "neighbours": LINKS, "linked": LINKS}
"""The groups of parts that are added; those of other retrievers are words."""

_FACTORS = frozenset({"recency", "access", "session", "stale", "supersedes", "newer"})

_LEAST = 0.005
"""Least share of a part that is shown."""


class HitReason(NamedTuple):
    """The reasons of a hit."""

    parts: tuple[tuple[str, float], ...]
    """Groups of reasons, with their shares of the score; none without a score."""
    reasons: tuple[Reason, ...]
    factors: tuple[Reason, ...]
    """What multiplied the sum of the reasons."""


def list_reasons(reasons: Sequence[Reason]) -> HitReason:
    """Return the reasons of a hit, and how long the part of each group is on a bar."""
    factors = tuple(reason for reason in reasons if reason.source in _FACTORS)
    summands = tuple(reason for reason in reasons if reason.source not in _FACTORS)
    sums = dict.fromkeys(GROUPS, 0.0)
    for reason in summands:
        if reason.source != CONDITIONS:
            sums[_GROUP_OF.get(reason.source, WORDS)] += max(reason.score, 0.0)
    base, factor = sum(sums.values()), 1.0
    for reason in factors:
        factor *= reason.score
    if factor > 1:
        sums[BOOSTS] = base * (factor - 1)
    else:
        sums = {group: share * factor for group, share in sums.items()}
    total = sum(sums.values())
    parts = tuple(
        (group, share / total)
        for group, share in sums.items()
        if total > 0 and share >= _LEAST * total
    )
    return HitReason(parts, summands, factors)


KINDS = (NOTES, DOCS, SYMBOLS, TESTS, COUPLING, COMMITS)

_OF_ALL = frozenset({"in"})

_OF_CODE = frozenset({"kind", "language"})
"""Keys of conditions that all kinds can meet, and code only; the others are of notes."""


class Piece(NamedTuple):
    """A piece of a text."""

    text: str
    marked: bool
    """Whether it is a word of the query."""


class AskHit(NamedTuple):
    """A result of any kind, as a page shows it."""

    kind: str
    """One of KINDS."""
    result: Result
    title: tuple[Piece, ...]
    snippet: tuple[Piece, ...]
    heading: str
    """The headings above it, outermost first, joined by ` > `."""
    weak: bool
    why: HitReason
    note: ShownNote | None = None
    """The note that it is."""

    @property
    def path(self) -> str:
        """A note's path in the bank; else the path below the work tree."""
        return result_file(self.result)

    @property
    def line(self) -> int:
        """0 for a whole file."""
        return result_line(self.result)

    @property
    def origin(self) -> Origin | None:
        """The other bank or repository that it is in, if any."""
        return self.note.origin if self.note else None


class AskHits(NamedTuple):
    """An answer, with the tags of its notes."""

    query: str
    hits: tuple[AskHit, ...] = ()
    weaker: tuple[AskHit, ...] = ()
    """Those too unlikely for an answer."""
    fallback_reason: str = ""
    """Why it was not searched by meaning."""
    remarks: tuple[str, ...] = ()
    """How the query was read, what may be mistyped, and what could not be searched."""
    tags: Mapping[str, int] = MappingProxyType({})
    """The most frequent tags of the hits, or of the bank if nothing is asked."""
    more: bool = False
    """Whether there may be more hits than were asked for."""
    scope: str = BANK
    """Where notes were looked for; see `recall`."""
    scopes: tuple[str, ...] = ()
    """Where they can be; empty if in the bank only."""


def ask_hits(
    bank: Bank | None,
    codebase: Codebase | None,
    query: str,
    limit: int = 20,
    kinds: Sequence[str] = (),
    *,
    scope: str = "",
    refresh_code: bool = True,
) -> AskHits:
    """Return what answers a question, of some kinds, by default of all; no access is counted.

    Conditions that only notes can meet leave out the other kinds, and so does the scope `shared`:
    code and documents are of this repository. An empty scope is that of the settings. An empty
    query finds nothing, but has the tags of the bank. `refresh_code` is as for `explain_answer`.
    Raises BadInput for an unknown kind or scope.
    """
    scope = choose_scope(bank, scope)
    fields = _condition_keys(bank, scope) if ":" in query else frozenset()
    keys = written_keys(query, {*fields, *_OF_CODE} if codebase else fields)
    possible, remark = _choose_kinds(kinds, keys, fields, shared=scope == SHARED)
    scopes = list_scopes(bank) if bank else ()
    if not query.strip() or not possible:
        if bank is not None:
            with bank.lock:
                bank.catch_up()
        return AskHits(
            query,
            remarks=(remark,) if remark else (),
            tags=_most_frequent(bank.read(_count_tags) if bank and not query.strip() else {}),
            scope=scope,
            scopes=scopes,
        )
    if not kinds:
        possible = _drop_missing_kinds(possible, bank, codebase)
    answer = ask.explain_answer(
        bank, codebase, query, limit, possible, scope=scope, refresh_code=refresh_code
    )
    words = parse(query, fields).question.text
    allowed = bank.settings.secrets.allow if bank else ()
    own_paths = [note.path for note in answer.notes.values() if note.origin is None]
    titles = list_linked_titles(bank, own_paths) if bank else {}
    hits = [
        _hit(result, answer, words, allowed, titles.get(result.id or "", {}))
        for result in answer.answer.results or ()
    ]
    remarks = (remark, *answer.answer.notices, answer.answer.problem or "")
    return AskHits(
        query,
        tuple(hit for hit in hits if not hit.weak),
        tuple(hit for hit in hits if hit.weak),
        answer.answer.fallback_reason or "",
        tuple(dict.fromkeys(filter(None, remarks))),
        _most_frequent(Counter(tag for hit in hits if hit.note for tag in hit.note.meta.tags)),
        len(hits) >= limit,
        scope,
        scopes,
    )


def _count_tags(view: IndexView) -> Mapping[str, int]:
    return document_rows.count_values(view.manifest, "tag")


def _most_frequent(counts: Mapping[str, int]) -> Mapping[str, int]:
    return dict(Counter(counts).most_common(_MOST_TOPICS))


def _drop_missing_kinds(
    kinds: tuple[str, ...], bank: Bank | None, codebase: Codebase | None
) -> tuple[str, ...]:
    """Leave out the kinds that need a bank or a codebase, if it is not there."""
    searchable = {NOTES} if codebase is None else set(INCLUDE) - {NOTES}
    if codebase is not None and bank is not None:
        return kinds
    return tuple(kind for kind in kinds if kind in searchable) or kinds


def _condition_keys(bank: Bank | None, scope: str) -> frozenset[str]:
    """Return the keys of conditions on notes that depend on the bank and on where is searched."""
    fields = bank.read(lambda view: filters.list_fields(view.manifest)) if bank else frozenset()
    return frozenset(fields) | ({filters.REPO} if scope in {SHARED, BOTH} else frozenset())


def _choose_kinds(
    kinds: Sequence[str],
    keys: Collection[str],
    fields: Iterable[str],
    *,
    shared: bool,
) -> tuple[tuple[str, ...], str]:
    """Return the kinds that can meet the conditions, and a remark if others were left out."""
    of_code = (_OF_CODE & set(keys)).difference(fields)
    of_notes = set(keys) - _OF_ALL - of_code
    possible = tuple(
        kind
        for kind in INCLUDE
        if (kind in kinds or not kinds) and not (of_code if kind == NOTES else of_notes or shared)
    )
    unknown = [kind for kind in kinds if kind not in INCLUDE]
    if unknown:
        return (*possible, *unknown), ""  # the search says which there are
    if possible:
        return possible, ""
    if shared and not of_code:
        return (), "other repositories share their notes only: choose this kind, or another scope"
    able = "notes" if of_notes else "code"
    text = ", ".join(f"{key}:" for key in sorted(of_notes or of_code))
    return (), f"only {able} can meet {text}: choose another kind, or remove the condition"


def _hit(
    result: Result,
    answer: ask.Explained,
    words: str,
    allowed: Sequence[str],
    titles: Mapping[str, str],
) -> AskHit:
    kind = KIND_OF[result.kind]
    if result.kind == "note":
        note = answer.notes[result.id or ""]
        text = snippets.strip_markdown(note.snippet, titles)
        title = text if starts_text(note.title, text) else note.title
        text = "" if has_same_words(title, text) else text
        marks = mark_words(title or note.path, words), mark_words(text, words)
        return AskHit(
            kind, result, *marks, note.heading, note.weak, list_reasons(note.reasons), note
        )
    hit = answer.code.get((result.kind, result.id or ""))
    snippet = result.snippet if hit is None else _redact_secrets(result.snippet, allowed)
    return AskHit(
        kind,
        result,
        mark_words(result.title or result_file(result), words),
        mark_words(
            snippets.strip_markdown(snippet) if kind == DOCS else plain_words(snippet), words
        ),
        "" if result.kind == "symbol" or hit is None else " > ".join(hit.headings),
        weak=not answer.answer.answered or ranking.is_weak(result.relevance_score / FILES),
        why=list_reasons(hit.hit.reasons if hit else ()),
    )


def mark_words(text: str, words: str) -> tuple[Piece, ...]:
    """Return a text in pieces: the words of a query, and what stands between them."""
    pieces, end = [], 0
    for start, stop in snippets.find_matches(text, words) if words.strip() else []:
        pieces += [Piece(text[end:start], marked=False), Piece(text[start:stop], marked=True)]
        end = stop
    pieces.append(Piece(text[end:], marked=False))
    return tuple(piece for piece in pieces if piece.text)


def _redact_secrets(text: str, allowed: Sequence[str]) -> str:
    """Return a text of a file with dots for what looks like a secret."""
    for secret in reversed(secrets.find(text, allowed)):
        text = f"{text[: secret.start]}…{text[secret.end :]}"
    return text
