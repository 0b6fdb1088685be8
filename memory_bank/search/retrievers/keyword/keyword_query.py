"""Build the tantivy query of a question from analyzed words, and run it.

tantivy's own query parser would misread plain text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import islice
from math import log
from operator import neg
from typing import cast

from tantivy import DocAddress, Occur, Query, Schema, Searcher

from memory_bank.search.retrievers.base import Matches, Question, Scale, Scope
from memory_bank.search.retrievers.keyword.analyzer import (
    FIELDS,
    GRAMS,
    TARGETS,
    adjacent_stems,
    find_beginnings,
    find_paths,
    split_bigrams,
    stem_words,
    weighted_stems,
)

_FEW = 20
"""Number of texts at which a word that none has counts halfway between its rarity and half the
rarity of a word that one has."""


def measure_rarity(count: int, size: int) -> float:
    """Return the rarity of a word that some of all texts have, as tantivy computes it."""
    size = max(size, count)
    return log(1 + (size - count + 0.5) / (count + 0.5))


def expected_score(count: int, size: int) -> float:
    """Return what a word adds to the score of a perfect text.

    A word that no text has counts as the rarest one. In a small index it counts less, since few
    texts lack many words of any question.
    """
    if count:
        return measure_rarity(count, size)
    return (size * measure_rarity(0, size) + _FEW * measure_rarity(1, size) / 2) / (size + _FEW)


_TEXT_FIELD = "body"
"""The field for proximity and document frequency."""

PROXIMITY, SLOP = 0.2, 2
"""Weight of two adjacent words of the question that are near each other in the text, and the
maximum distance there."""

_PROXIMITY_DEPTH = 100
"""Maximum number of matches whose scores proximity increases."""

_MAX_DOCUMENTS = 2000
"""Maximum document frequency of words for proximity: more matches take long."""

_SIMILAR_WEIGHT = 0.9
"""Weight of a word that resembles, or begins with, a word of the question which no document has."""

_MIN_LETTERS, _TWO_EDITS_FROM, _MAX_UNKNOWN = 4, 7, 8
"""Minimum length of such a word, length from which two letters may differ, and maximum number of
such words, beginnings and paths in a question: each one scans the dictionary."""

_PATH_WEIGHT = 3.0
"""Weight of a path of the question that a document names in its metadata."""

PERFECT_CAP = 2.8
"""Maximum score of a perfect match, as a multiple of the best score in the whole index: in a
question of many rare words, no passage has nearly all of them."""

_PREFERRED_WEIGHT = 2.0
"""Weight of a quoted phrase in a question that is a sentence."""


class KeywordQuery:
    """One question against one state of an index."""

    def __init__(
        self, searcher: Searcher, schema: Schema, question: Question, scope: Scope
    ) -> None:
        self._searcher = searcher
        self._schema = schema
        self._question = question
        self._scope = scope
        self._frequencies: dict[str, int] = {}

    def answer(self, limit: int) -> Matches:
        """Return the best matches by BM25 and proximity, best first.

        Proximity is a second query, whose scores are added: in one query with the terms, tantivy
        could not skip passages with low scores.
        """
        query = self._query()
        if query is None:
            return Matches()
        matches = self._search(query, limit)
        matches.scale = self._scale(query, matches)
        proximity = [(Occur.Should, query) for query in self._proximity_queries()]
        if not proximity:
            return matches
        more = self._search(Query.boolean_query(proximity), min(limit, _PROXIMITY_DEPTH))
        return _sum(matches, more, limit, only_known=self._question.strict)

    def _scale(self, query: Query, matches: Matches) -> Scale:
        """Return the score of a passage of mean length that has every word of the question once.

        It does not depend on the scope.
        """
        pairs = dict.fromkeys(split_bigrams(self._question.text).split())
        # of a script without spaces, a run of characters is no word: its bigrams stand for it
        words = {
            stem: weight
            for stem, weight in self._stems.items()
            if not (pairs and split_bigrams(stem))
        }
        perfect = sum(weight * self._expected_rarity(stem) for stem, weight in words.items())
        perfect += sum(self._pair_rarity(pair) for pair in pairs)
        if words and not pairs and all(map(self._is_only_linked, words)):
            return matches.scale  # the target is no note: who links to it says most of it
        if not perfect:  # phrases only
            return matches.scale
        best = matches.scale.perfect
        if self._scope.bounded:
            hits = self._searcher.search(query, 1, count=False).hits
            best = hits[0][0] if hits else 0.0
        return Scale(0.0, min(perfect, PERFECT_CAP * best))

    def _is_only_linked(self, stem: str) -> bool:
        """Return whether the word is in targets of links only."""
        fields = [field for field in FIELDS if self._searcher.doc_freq(field, stem)]
        return fields == [TARGETS]

    def _expected_rarity(self, stem: str) -> float:
        """Return what a word adds to the score of a perfect passage."""
        # a text that only links to the word lacks it
        fields = [field for field in FIELDS if field != TARGETS]
        counts = {field: self._searcher.doc_freq(field, stem) for field in fields}
        documents = self._searcher.num_docs
        if any(counts.values()):
            return max(
                FIELDS[field] * measure_rarity(count, documents)
                for field, count in counts.items()
                if count
            )
        return expected_score(0, documents)

    def _pair_rarity(self, pair: str) -> float:
        """Return what a character bigram adds to the score of a perfect passage."""
        documents = self._searcher.num_docs
        count = self._searcher.doc_freq(GRAMS, pair)
        return measure_rarity(count, documents) if count else expected_score(0, documents)

    def best(self) -> float:
        """Return the best score in the whole index; 0 if nothing matches."""
        query = self._query()
        hits = self._searcher.search(query, 1, count=False).hits if query is not None else ()
        return float(hits[0][0]) if hits else 0.0

    def counts(self, words: Collection[str]) -> dict[str, int]:
        """Count the texts that have each word; those of other fields than one's own count, too."""
        fields = (*FIELDS, GRAMS)
        return {
            word: max(self._searcher.doc_freq(field, word) for field in fields) for word in words
        }

    def _search(self, query: Query, limit: int) -> Matches:
        hits = self._searcher.search(self._scoped(query), limit, count=False).hits
        if not hits:
            return Matches()
        places = [position for _, position in hits]
        rows, documents, words = (
            self._column(name, places) for name in ("row", "document", "words")
        )
        return Matches(rows, documents, [score for score, _ in hits], words)

    def _column(self, name: str, places: list[DocAddress]) -> list[int]:
        values = self._searcher.fast_field_values(name, places)
        if None in values:
            raise ValueError(f"a document without {name}")
        return cast("list[int]", values)

    @cached_property
    def _stems(self) -> Mapping[str, float]:
        return weighted_stems(self._question.text)

    def _query(self) -> Query | None:
        """Build the query of the words and phrases; None if there are none."""
        question = self._question
        parts = [(Occur.Should, query) for query in self._term_queries()]
        parts += [
            (Occur.Should, self._weighted(GRAMS, gram, 1.0))
            for gram in split_bigrams(question.text).split()
        ]
        if question.rarities is None:
            parts += [(Occur.Should, query) for query in self._similar_queries()]
            parts += [(Occur.Should, query) for query in self._path_queries()]
            for phrase in question.preferred:
                weighted = Query.boost_query(self._phrase(phrase), _PREFERRED_WEIGHT)
                parts.append((Occur.Should, weighted))
        parts += [(Occur.Must, self._phrase(phrase)) for phrase in question.required]
        if not parts and question.excluded:
            parts = [(Occur.Should, Query.all_query())]
        parts += [(Occur.MustNot, self._phrase(phrase)) for phrase in question.excluded]
        return Query.boolean_query(parts) if parts else None

    def _term_queries(self) -> Iterator[Query]:
        for stem, weight in self._stems.items():
            for field, field_weight in (FIELDS | {"about": self._question.about}).items():
                yield self._weighted(field, stem, field_weight * weight)

    def _weighted(self, field: str, word: str, weight: float) -> Query:
        """Match a word in a field; a given rarity replaces the index's own."""
        rarities = self._question.rarities
        if rarities is not None:
            count = self._searcher.doc_freq(field, word)
            weight *= rarities.get(word, 0.0) / self._rarity(count) if count else 0.0
        return Query.boost_query(self._term(field, word), weight)

    def _proximity_queries(self) -> Iterator[Query]:
        """Match adjacent words of the question that are near each other in the text."""
        for pair in adjacent_stems(self._question.text):
            if min(map(self._document_frequency, pair)) <= _MAX_DOCUMENTS:
                phrase = Query.phrase_query(self._schema, _TEXT_FIELD, list(pair), slop=SLOP)
                yield Query.boost_query(phrase, PROXIMITY * self._share_of_own(pair))

    def _share_of_own(self, pair: tuple[str, str]) -> float:
        """Return the given rarity of two words as a share of the index's own, which is replaced."""
        rarities = self._question.rarities
        own = sum(self._rarity(self._document_frequency(word)) for word in pair)
        return sum(rarities.get(word, 0.0) for word in pair) / own if rarities is not None else 1.0

    def _similar_queries(self) -> Iterator[Query]:
        """Match words that resemble, or begin with, a word that no document has, and `word*`."""
        for start in find_beginnings(self._question.text)[:_MAX_UNKNOWN]:
            yield from self._rarity_weighted(self._beginning(start), 1.0)
        long = (stem for stem in self._stems if len(stem) >= _MIN_LETTERS)
        unknown = (stem for stem in long if not self._is_known(stem))
        for stem in islice(unknown, _MAX_UNKNOWN):
            distance = 1 if len(stem) < _TWO_EDITS_FROM else 2
            fuzzy = Query.fuzzy_term_query(self._schema, _TEXT_FIELD, stem, distance)
            for query in (fuzzy, self._beginning(stem)):
                yield from self._rarity_weighted(query, _SIMILAR_WEIGHT * self._stems[stem])

    def _beginning(self, start: str) -> Query:
        """Match words with that beginning: without edits, a pattern takes 300 times as long."""
        return Query.fuzzy_term_query(self._schema, _TEXT_FIELD, start, 0, prefix=True)

    def _rarity_weighted(self, query: Query, weight: float) -> Iterator[Query]:
        """Weight a query by the rarity of its matches; tantivy scores all of them as 1."""
        count = self._searcher.search(query, 1, count=True).count  # type: ignore[attr-defined]
        if count:
            yield Query.boost_query(query, weight * self._rarity(count))

    def _path_queries(self) -> Iterator[Query]:
        """Match documents whose metadata names a path of the question."""
        for path in find_paths(self._question.text)[:_MAX_UNKNOWN]:
            if len(terms := stem_words(path)) > 1:
                phrase = Query.phrase_query(self._schema, "about", list(terms))
                yield Query.boost_query(phrase, _PATH_WEIGHT)

    def _is_known(self, stem: str) -> bool:
        return any(self._searcher.doc_freq(field, stem) for field in FIELDS)

    def _rarity(self, count: int) -> float:
        """Return the rarity of a word that so many texts have.

        The count includes deleted ones until their segments are merged.
        """
        return measure_rarity(count, self._searcher.num_docs)

    def _document_frequency(self, stem: str) -> int:
        if stem not in self._frequencies:
            self._frequencies[stem] = self._searcher.doc_freq(_TEXT_FIELD, stem)
        return self._frequencies[stem]

    def _term(self, field: str, word: str) -> Query:
        return Query.term_query(self._schema, field, word)

    def _phrase(self, phrase: str) -> Query:
        """Match consecutive words, in any one field."""
        choices = [(field, stem_words(phrase)) for field in FIELDS] + [
            ("grams", split_bigrams(phrase).split())
        ]
        queries = [
            self._term(field, terms[0])
            if len(terms) == 1
            else Query.phrase_query(self._schema, field, list(terms))
            for field, terms in choices
            if terms
        ]
        if not queries:
            return Query.empty_query()
        return Query.boolean_query([(Occur.Should, query) for query in queries])

    def _scoped(self, query: Query) -> Query:
        scope = self._scope
        parts = [(Occur.Must, query)]
        if scope.rows is not None:
            inside = Query.term_set_query(self._schema, "row", list(scope.rows))
            parts.append((Occur.Must, Query.const_score_query(inside, 0.0)))
        elif scope.only is not None:
            inside = Query.term_set_query(self._schema, "document", list(scope.only))
            parts.append((Occur.Must, Query.const_score_query(inside, 0.0)))
        if scope.without:
            outside = Query.term_set_query(self._schema, "document", list(scope.without))
            parts.append((Occur.MustNot, outside))
        return Query.boolean_query(parts) if len(parts) > 1 else query


def _sum(matches: Matches, more: Matches, limit: int, *, only_known: bool) -> Matches:
    """Add the scores of two queries; only the first one applies required and excluded phrases."""
    if not len(more):
        return matches
    rows, documents, words = list(matches.rows), list(matches.documents), list(matches.words)
    negated = list(map(neg, matches.scores))  # sorts best first
    places = {row: position for position, row in enumerate(rows)}
    for row, document, score, length in zip(
        more.rows, more.documents, more.scores, more.words, strict=True
    ):
        position = places.get(row)
        if position is not None:
            negated[position] -= score
        elif not only_known:
            places[row] = len(rows)
            rows.append(row)
            documents.append(document)
            words.append(length)
            negated.append(-score)
    ranked = sorted(zip(negated, rows, documents, words, strict=True))[:limit]
    if not ranked:
        return Matches()
    negated_scores, at, of, long = zip(*ranked, strict=True)
    return Matches(at, of, list(map(neg, negated_scores)), long, matches.scale)
