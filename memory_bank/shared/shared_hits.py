"""Ask the shared index for the notes of other repositories."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, cast

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import BY_HAND
from memory_bank.bank.records import Origin, ShownNote
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import EmbedderUnavailable, Hint, SharedUnavailable
from memory_bank.notes.note import read_data
from memory_bank.search import snippets
from memory_bank.search.index import IndexView
from memory_bank.search.manifest.filters import REPO
from memory_bank.search.query import Query, parse
from memory_bank.search.retrievers.keyword.analyzer import is_english
from memory_bank.search.retrievers.vectors import DISABLED
from memory_bank.search.score_calibration import CommonScales, WordCounts
from memory_bank.shared.addresses import line_address
from memory_bank.shared.engines.base import NOT_CONFIGURED, bank_identity, check_embedder
from memory_bank.shared.shared_ranking import (
    Conversation,
    Meaning,
    SharedHit,
    SharedSearch,
    count_passage_words,
)
from memory_bank.shared.word_weights import Translation, meets_conditions, translate_conditions

if TYPE_CHECKING:
    from memory_bank.search.retrievers.vectors.vector_index import VectorIndex


_DAY = 86400.0

SECONDS = 2.0
"""The longest wait for an answer of the shared index."""


@contextmanager
def open_question(bank: Bank, query: Query, keys: Collection[str]) -> Iterator[SharedAsker]:
    """Ask the shared index of the settings one question; raise SharedUnavailable, BadSetting.

    `keys` are further keys of conditions.
    """
    settings = bank.settings.shared
    if not settings.url:
        raise SharedUnavailable(
            "no shared index is configured", Hint.SET_SHARED_URL, NOT_CONFIGURED
        )
    vectors = _Vectors(bank, query.mode)
    with closing(Conversation(settings.url, SECONDS)) as index:
        yield SharedAsker(bank, query, index, vectors, {*keys, REPO})


class _Vectors:
    """The bank's embedder."""

    def __init__(self, bank: Bank, mode: str) -> None:
        self.reason = ""
        self.index: VectorIndex | None = None
        if mode != "lexical":
            try:
                self.index = bank.read(find_vector_index)
                self.reason = "" if self.index else DISABLED
            except EmbedderUnavailable as error:
                self.reason = error.reason

    def embed_question(self, text: str) -> Meaning | None:
        """Return the vector of a question; None if it can't be found by meaning."""
        if self.index is None:
            return None
        try:
            vector = self.index.question_vector(text)
        except EmbedderUnavailable as error:
            self.reason = error.reason
            return None
        index = self.index
        weight = index.weight if is_english(text) else index.foreign_weight
        return Meaning(vector, weight, index.similarity_threshold) if vector else None


class SharedAsker:
    """One question to the shared index; steps are called in their order."""

    def __init__(
        self,
        bank: Bank,
        query: Query,
        index: Conversation,
        vectors: _Vectors,
        keys: Collection[str],
    ) -> None:
        """Check that the index has the bank's embedder."""
        self._bank, self._index, self._vectors = bank, index, vectors
        if vectors.index is not None:
            check_embedder(index.ask(lambda engine: engine.info()), vectors.index.embedder)
        identity = bank_identity(bank)
        self._repo = identity.repo if identity else ""
        self._queries = _read_query(query, keys)
        self._counts = WordCounts(0, {})
        self._searches: list[SharedSearch] = []

    @property
    def includes_bank(self) -> bool:
        """Whether the bank's own repository meets the conditions on repositories."""
        return meets_conditions(self._queries[0].conditions, self._repo)

    def counts(self, words: Collection[str]) -> WordCounts:
        """Count the passages, and those with each word."""
        self._counts = count_passage_words(self._index, words)
        return self._counts

    def find(self, rarities: Mapping[str, float]) -> dict[str, float]:
        """Find passages; return the best scores of words, by retriever."""
        self._searches = [self._open_search(query) for query in self._queries]
        best_scores = [search.find(rarities) for search in self._searches]
        return {name: max(scores[name] for scores in best_scores) for name in best_scores[0]}

    def rank_notes(self, common: CommonScales) -> list[tuple[ShownNote, float]]:
        """Return the best notes with scores; of all dates, if none of the query's time is good."""
        settings, now = self._bank.settings.memory, time.time()
        hits: list[SharedHit] = []
        for query, search in zip(self._queries, self._searches, strict=True):
            _, checks, unknown = self._translate(query)
            if not unknown:
                hits = search.rank_hits(common, settings, query.limit, now, checks)
            if any(not candidate.weak for _, candidate, _ in hits):
                break
        last = self._queries[-1]
        return [
            (_show_note(hit, last.question.text, texts=last.texts), hit.candidate.score)
            for hit in hits
        ]

    @property
    def reason(self) -> str:
        """Why notes were not found by meaning, too."""
        return self._vectors.reason

    @property
    def mode(self) -> str:
        """The mode that was used."""
        return self._queries[0].mode if self._vectors.index and not self.reason else "lexical"

    def notices(self) -> Iterator[str]:
        """Yield notices of the parts of the question that the shared index can't answer."""
        _, _, unknown = self._translate(self._queries[0])
        for key in dict.fromkeys(unknown):
            yield f"the shared index does not know {key}: no note of other repositories meets it"
        if not self._queries[-1].question.text.strip():
            yield "the shared index is searched by words: conditions alone find nothing there"

    def _translate(self, query: Query) -> Translation:
        return translate_conditions(
            query.conditions, without_repo=self._repo, hidden=query.archived
        )

    def _open_search(self, query: Query) -> SharedSearch:
        meaning = self._vectors.embed_question(query.question.text)
        return SharedSearch(
            self._index,
            query.question,
            self._translate(query)[0],
            meaning,
            self._counts,
            by_words=self._queries[0].mode != "semantic" or meaning is None,
        )


def _read_query(query: Query, keys: Collection[str]) -> list[Query]:
    """Read a query: with its words of time as conditions, if it has any, and with them as words."""
    plain = parse(query._replace(reads_times=False), keys)
    timed = parse(query, keys)
    if timed.times is None:
        return [plain]
    if not timed.question.text.strip():  # it asks for all of that time
        timed = timed._replace(question=plain.question)
    return [timed, plain]


def find_vector_index(view: IndexView) -> VectorIndex | None:
    """Return the index of vectors; None if search by meaning is turned off."""
    return cast("VectorIndex | None", view.index.retrievers.get("vectors"))


def _show_note(hit: SharedHit, text: str, *, texts: bool) -> ShownNote:
    passage, candidate, reasons = hit
    head, note = passage.head, passage.note
    meta = read_data(note.rest)._replace(type=note.type, status=note.status, tags=note.tags)
    meta = meta._replace(source_type=meta.source_type or BY_HAND)
    return ShownNote(
        note_id=note.id or note.path,
        path=note.file,
        line=passage.position.line,
        title=note.title,
        heading=" > ".join(passage.headings),
        content=passage.section if texts else "",
        snippet=snippets.cut_snippet(passage.text, text).text if texts else "",
        meta=meta,
        created_at=seconds_to_iso(note.created),
        relevance_score=round(candidate.likelihood, 4),
        reasons=reasons,
        weak=candidate.weak,
        superseded_by=candidate.superseded_by or None,
        origin=Origin(
            bank=head.bank,
            repository=head.repo,
            commit=head.commit,
            committed_at=head.committed_at,
            url=line_address(head.web, head.commit, note.file, passage.position.line),
            age_days=max(0, int((time.time() - max(note.created, note.updated)) / _DAY)),
        ),
    )
