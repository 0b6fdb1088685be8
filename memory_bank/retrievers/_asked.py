"""What a question asks of a word index, and the answer.

Tantivy's own syntax would misread plain text, so queries are built from analyzed words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import neg
from typing import cast

from tantivy import DocAddress, Occur, Query, Schema, Searcher

from memory_bank.retrievers._words import LEAST, Weighed, grams, names, stems, together, weigh
from memory_bank.retrievers.base import Matches, Question, Scope

FIELDS = {"body": 1.0, "title": 0.25, "identifiers": 0.3, "about": 0.2}
"""Stemmed fields, and what a word found there weighs."""

_SPEAKING = "body"
"""The field that speaks: what is like its words, and stands beside them, counts."""
_BESIDE, _SLOP = 0.25, 2
"""What two words weigh that stand together in the question and in the text, and how far apart."""
_MORE = 100
"""The most that is added for it."""
_MANY = 2000
"""How many passages may have a word that is asked for on top: looking through more takes long."""
_LIKE, _LEAST_WORTH = 0.7, 0.02
"""What a word weighs that means the same as the one asked for, and the least that is worth it."""
_PREFERRED = 2.0
"""What a quoted phrase weighs in a question that is a sentence."""


class Asked:
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

        What stands beside one another, and what means about the same, is asked for on its own and
        added up: in one query with these, tantivy could not skip what has little of it.
        """
        query = self._query()
        if query is None:
            return Matches()
        found = self._search(query, limit)
        more = [
            self._search(Query.boolean_query(parts), min(limit, _MORE))
            for queries in (self._beside(), self._alike())
            if (parts := [(Occur.Should, query) for query in queries])
        ]
        return _added(found, more, limit, only_raise=self._question.strict)

    def titled(self) -> dict[int, float]:
        """Return the notes whose titles have names of the question, and the share that they have.

        Names that no title has don't count, nor those that very many have.
        """
        shares: dict[int, float] = {}
        asked = names(self._question.text)
        counts = {name: self._searcher.doc_freq("title", name) for name in asked}
        known = [name for name, count in counts.items() if 0 < count <= _MANY]
        for name in known:
            term = Query.const_score_query(self._term("title", name), 1.0)
            hits = self._searcher.search(term, counts[name], count=False).hits
            for note in self._column("note", [place for _, place in hits]):
                shares[note] = shares.get(note, 0.0) + 1 / len(known)
        return shares

    def _search(self, query: Query, limit: int) -> Matches:
        hits = self._searcher.search(self._scoped(query), limit, count=False).hits
        if not hits:
            return Matches()
        places = [place for _, place in hits]
        rows, notes, words = (self._column(name, places) for name in ("row", "note", "words"))
        return Matches(rows, notes, [score for score, _ in hits], words)

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

    def _alike(self) -> Iterator[Query]:
        """Match, for less, a word that means about the same as one that is missing."""
        asked = {word.stem for word in self._words}
        for word in self._words:
            related = self._question.related.get(word.stem, ())
            near = [one for one in related if one[0] not in asked]
            choices = [
                Query.boost_query(self._term(_SPEAKING, other), word.weight * worth)
                for other, cosine in near
                if (worth := self._worth(word.stem, other, cosine)) >= _LEAST_WORTH
            ]
            if choices:
                # the best of them counts, not the sum
                yield Query.boolean_query(
                    [
                        (Occur.Must, Query.disjunction_max_query(choices)),
                        (Occur.MustNot, self._term(_SPEAKING, word.stem)),
                    ]
                )

    def _worth(self, stem: str, other: str, cosine: float) -> float:
        """Return what a word is worth in place of another, a rarer one no more than that."""
        if self._count(other) > _MANY:
            return 0.0
        worth = _LIKE * (cosine - LEAST) / (1 - LEAST)
        return worth * min(1.0, self._rarity(stem) / self._rarity(other))

    def _rarity(self, stem: str) -> float:
        """Return the inverse document frequency that BM25 has for a word."""
        count = self._count(stem)
        return math.log(1 + (self._searcher.num_docs - count + 0.5) / (count + 0.5))

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
            inside = Query.term_set_query(self._schema, "note", list(scope.only))
            parts.append((Occur.Must, Query.const_score_query(inside, 0.0)))
        if scope.without:
            outside = Query.term_set_query(self._schema, "note", list(scope.without))
            parts.append((Occur.MustNot, outside))
        return Query.boolean_query(parts) if len(parts) > 1 else query


def _added(found: Matches, more: Sequence[Matches], limit: int, *, only_raise: bool) -> Matches:
    """Add up the scores of answers; where conditions are strict, only the first one met them."""
    if not any(map(len, more)):
        return found
    rows, notes, words = list(found.rows), list(found.notes), list(found.words)
    losses = list(map(neg, found.scores))  # tuples with these sort as they are, best first
    places = {row: place for place, row in enumerate(rows)}
    for matches in more:
        columns = matches.rows, matches.notes, matches.scores, matches.words
        for row, note, score, length in zip(*columns, strict=True):
            place = places.get(row)
            if place is not None:
                losses[place] -= score
            elif not only_raise:
                places[row] = len(rows)
                rows.append(row)
                notes.append(note)
                words.append(length)
                losses.append(-score)
    ranked = sorted(zip(losses, rows, notes, words, strict=True))[:limit]
    if not ranked:
        return Matches()
    lost, at, of, long = zip(*ranked, strict=True)
    return Matches(at, of, list(map(neg, lost)), long)
