"""What a question asks of a word index, and the answer.

Tantivy's own syntax would misread plain text, so queries are built from analyzed words.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from operator import neg
from typing import cast

from tantivy import DocAddress, Occur, Query, Schema, Searcher

from memory_bank.retrievers.base import Matches, Question, Scope
from memory_bank.retrievers.keyword.analyzer import Weighed, grams, names, stems, together, weigh

FIELDS = {"body": 1.0, "title": 0.25, "identifiers": 0.3, "about": 0.2}
"""Stemmed fields, and what a word found there weighs."""

_SPEAKING = "body"
"""The field that speaks: what is like its words, and stands beside them, counts."""
_BESIDE, _SLOP = 0.25, 2
"""What two words weigh that stand together in the question and in the text, and how far apart."""
_MORE = 100
"""The most that is added for it."""
_MISSPELLED = 0.5
"""What a word weighs that is like one of the question which no document has."""
_SHORTEST, _LONG, _MOST_MISSPELLED = 4, 7, 8
"""Letters of the shortest such word, letters from which on two may differ, and how many words of a
question are looked up that way: each one walks over the dictionary."""
_MANY = 2000
"""How many passages may have a word that is asked for on top: looking through more takes long."""
_PREFERRED = 2.0
"""What a quoted phrase weighs in a question that is a sentence."""


class WordQuery:
    """One question to one state of an index."""

    def __init__(
        self, searcher: Searcher, schema: Schema, question: Question, scope: Scope
    ) -> None:
        self._searcher = searcher
        self._schema = schema
        self._question = question
        self._scope = scope
        self._counts: dict[str, int] = {}

    def answer(self, limit: int) -> Matches:
        """Return what holds most of the question's words, best first.

        What stands beside one another is asked for on its own and added up: in one query with
        these, tantivy could not skip what has little of it.
        """
        query = self._query()
        if query is None:
            return Matches()
        found = self._search(query, limit)
        beside = [(Occur.Should, query) for query in self._beside()]
        if not beside:
            return found
        more = self._search(Query.boolean_query(beside), min(limit, _MORE))
        return _added(found, more, limit, only_raise=self._question.strict)

    def titled(self) -> dict[int, float]:
        """Return the documents whose titles have names of the question, and which share of them.

        Names that no title has don't count, nor those that very many have.
        """
        shares: dict[int, float] = {}
        asked = names(self._question.text)
        counts = {name: self._searcher.doc_freq("title", name) for name in asked}
        known = [name for name, count in counts.items() if 0 < count <= _MANY]
        for name in known:
            term = Query.const_score_query(self._term("title", name), 1.0)
            hits = self._searcher.search(term, counts[name], count=False).hits
            for document in self._column("document", [place for _, place in hits]):
                shares[document] = shares.get(document, 0.0) + 1 / len(known)
        return shares

    def _search(self, query: Query, limit: int) -> Matches:
        hits = self._searcher.search(self._scoped(query), limit, count=False).hits
        if not hits:
            return Matches()
        places = [place for _, place in hits]
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
    def _words(self) -> tuple[Weighed, ...]:
        return weigh(self._question.text)

    def _query(self) -> Query | None:
        """Build the query of the words themselves, and of what must or must not be there."""
        question = self._question
        parts = [(Occur.Should, query) for query in self._any_of_them()]
        parts += [(Occur.Should, query) for query in self._misspelled()]
        parts += [
            (Occur.Should, self._term("grams", gram)) for gram in grams(question.text).split()
        ]
        for phrase in question.preferred:
            parts.append((Occur.Should, Query.boost_query(self._phrase(phrase), _PREFERRED)))
        parts += [(Occur.Must, self._phrase(phrase)) for phrase in question.required]
        if not parts and question.excluded:
            parts = [(Occur.Should, Query.all_query())]
        parts += [(Occur.MustNot, self._phrase(phrase)) for phrase in question.excluded]
        return Query.boolean_query(parts) if parts else None

    def _any_of_them(self) -> Iterator[Query]:
        for word in self._words:
            for field, weight in FIELDS.items():
                yield Query.boost_query(self._term(field, word.stem), weight * word.weight)

    def _beside(self) -> Iterator[Query]:
        """Match words of the question that stand together in the text too, or nearly so."""
        for pair in together(self._question.text):
            if min(map(self._count, pair)) <= _MANY:
                phrase = Query.phrase_query(self._schema, _SPEAKING, list(pair), slop=_SLOP)
                yield Query.boost_query(phrase, _BESIDE)

    def _misspelled(self) -> Iterator[Query]:
        """Match words that differ in few letters from one that no document has."""
        long = (word for word in self._words if len(word.stem) >= _SHORTEST)
        unknown = (word for word in long if not self._is_known(word.stem))
        for word in islice(unknown, _MOST_MISSPELLED):
            distance = 1 if len(word.stem) < _LONG else 2
            query = Query.fuzzy_term_query(self._schema, _SPEAKING, word.stem, distance)
            yield Query.boost_query(query, _MISSPELLED * word.weight)

    def _is_known(self, stem: str) -> bool:
        return any(self._searcher.doc_freq(field, stem) for field in FIELDS)

    def _count(self, stem: str) -> int:
        if stem not in self._counts:
            self._counts[stem] = self._searcher.doc_freq(_SPEAKING, stem)
        return self._counts[stem]

    def _term(self, field: str, word: str) -> Query:
        return Query.term_query(self._schema, field, word)

    def _phrase(self, phrase: str) -> Query:
        """Match words one behind the other, in any one field."""
        choices = [(field, stems(phrase)) for field in FIELDS] + [("grams", grams(phrase).split())]
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
        if scope.only is not None:
            inside = Query.term_set_query(self._schema, "document", list(scope.only))
            parts.append((Occur.Must, Query.const_score_query(inside, 0.0)))
        if scope.without:
            outside = Query.term_set_query(self._schema, "document", list(scope.without))
            parts.append((Occur.MustNot, outside))
        return Query.boolean_query(parts) if len(parts) > 1 else query


def _added(found: Matches, more: Matches, limit: int, *, only_raise: bool) -> Matches:
    """Add up the scores of two answers; only the first one meets strict conditions."""
    if not len(more):
        return found
    rows, documents, words = list(found.rows), list(found.documents), list(found.words)
    losses = list(map(neg, found.scores))  # tuples with these sort as they are, best first
    places = {row: place for place, row in enumerate(rows)}
    for row, document, score, length in zip(
        more.rows, more.documents, more.scores, more.words, strict=True
    ):
        place = places.get(row)
        if place is not None:
            losses[place] -= score
        elif not only_raise:
            places[row] = len(rows)
            rows.append(row)
            documents.append(document)
            words.append(length)
            losses.append(-score)
    ranked = sorted(zip(losses, rows, documents, words, strict=True))[:limit]
    if not ranked:
        return Matches()
    lost, at, of, long = zip(*ranked, strict=True)
    return Matches(at, of, list(map(neg, lost)), long)
