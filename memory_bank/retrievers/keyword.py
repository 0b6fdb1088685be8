"""The keyword index: BM25 over passages, or over whole notes, kept by tantivy.

Both units are the same code in two folders: word statistics (rarity, mean length) must not mix.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple, cast

import tantivy
from tantivy import Document, Occur, Query, SchemaBuilder

from memory_bank.errors import IndexDamaged, StorageFailed
from memory_bank.retrievers._seal import Seal, Stamp
from memory_bank.retrievers._words import (
    LEAST,
    Weighed,
    cleaned,
    grams,
    identifier_parts,
    stems,
    together,
    weigh,
)
from memory_bank.retrievers.base import Entry, Matches, Question, Scope

FIELDS = {"body": 1.0, "title": 0.25, "identifiers": 0.3, "about": 0.2}
"""Stemmed fields, and what a word found there weighs."""

Unit = Literal["passages", "notes"]

_SPEAKING = "body"
"""The field that speaks: what is like its words, and stands beside them, counts."""
_BESIDE, _SLOP = 0.25, 2
"""What two words weigh that stand together in the question and in the text, and how far apart."""
_MANY = 2000
"""How many passages may have a word that is asked for on top: looking through more takes long."""
_LIKE, _LEAST_WORTH = 0.7, 0.02
"""What a word weighs that means the same as the one asked for, and the least that is worth it."""
_PREFERRED = 2.0
"""What a quoted phrase weighs in a question that is a sentence."""
_HEAP = 50_000_000
_OWNER = "owner"
_VERSION = "3"


def _schema() -> tantivy.Schema:
    builder = (
        SchemaBuilder()
        .add_unsigned_field("row", fast=True)
        .add_unsigned_field("note", indexed=True, fast=True)
        .add_unsigned_field("words", fast=True)
        .add_text_field("grams", tokenizer_name="whitespace")
    )
    for field in FIELDS:
        builder = builder.add_text_field(field, tokenizer_name="en_stem")
    return builder.build()


class KeywordIndex:
    """Passages or notes found by their words."""

    version = _VERSION
    slow = False

    def __init__(self, folder: Path, owner: str, unit: Unit) -> None:
        """Keep the index in `folder`; it is taken for damaged when another `owner` filled it."""
        self.name = "keyword" if unit == "passages" else "notes"
        self._folder = folder
        self._unit = unit
        self._owner = f"{owner} {self.version}"
        self._schema = _schema()
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None
        self._seal = Seal(folder)
        self._seen: Stamp | None = None
        """The commit that the reader has, by the file that names its segments."""

    def put(self, entries: Sequence[Entry], replaced: Collection[int]) -> None:
        """Add passages, after dropping those of the notes in `replaced`.

        The passages of a note stand together in `entries`, its first one first.
        """
        with _guarded(self._folder):
            if self._writer is None:
                index = self._opened()
                self._seal.check()  # what is damaged must not be merged into what is new
                self._writer = index.writer(_HEAP, 1)
            for note in replaced:  # by a query: by a term, an unsigned field never matches
                self._writer.delete_documents_by_query(self._note(note))
            for document in self._documents(entries):
                self._writer.add_document(document)

    def commit(self) -> None:
        """Make what was put durable, and let the writer go."""
        if self._writer is None:
            return
        with _guarded(self._folder):
            try:
                self._writer.commit()
                self._writer.wait_merging_threads()
            finally:
                self._writer = None
                _words_of.cache_clear()
            self._opened().reload()
            self._seal.record()

    def holds(self, entries: Mapping[int, int]) -> bool:
        """Tell whether just these passages are in the index: row numbers to note numbers."""
        with _guarded(self._folder):
            searcher = self._searcher()
            hits = searcher.search(Query.all_query(), max(1, searcher.num_docs), count=False).hits
            field = "row" if self._unit == "passages" else "note"
            found = searcher.fast_field_values(field, [place for _, place in hits])
        wanted = entries.keys() if self._unit == "passages" else set(entries.values())
        return len(found) == len(wanted) and set(found) == wanted

    def waiting(self) -> int:
        """Count nothing: words are indexed at once."""
        return 0

    def catch_up(self, seconds: float) -> int:  # noqa: ARG002
        """Do nothing: words are indexed at once."""
        return 0

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:
        """Return what holds most of the question's words: passages, or notes with their first.

        What stands beside one another, and what means about the same, is asked for on its own and
        added up: in one query with these, tantivy could not skip passages that have little of it.
        """
        query = self._query(question)
        if query is None:
            return Matches()
        with _guarded(self._folder):
            found = self._search(self._scoped(query, scope), limit)
            for queries in (self._beside(question.text), self._alike(question)):
                if parts := [(Occur.Should, query) for query in queries]:
                    query = self._scoped(Query.boolean_query(parts), scope)
                    more = self._search(query, limit)
                    found = _added(found, more, only_raise=question.strict)
        return found

    def _search(self, query: Query, limit: int) -> Matches:
        searcher = self._searcher()
        hits = searcher.search(query, limit, count=False).hits
        if not hits:
            return Matches()
        places = [place for _, place in hits]
        columns = [_column(searcher, name, places) for name in ("row", "note", "words")]
        rows, notes, words = columns
        return Matches(rows, notes, [score for score, _ in hits], words)

    def check(self) -> None:
        """Raise IndexDamaged unless the index can be opened and read."""
        self.holds({})

    def clear(self) -> None:
        """Start an empty index, whatever was there."""
        self.close()
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True, exist_ok=True)
            with _guarded(self._folder):
                tantivy.Index(self._schema, path=str(self._folder))
            (self._folder / _OWNER).write_text(self._owner, encoding="utf-8")
        except OSError as error:
            raise StorageFailed(f"{self._folder} can't be written: {error.strerror}") from error

    def close(self) -> None:
        """Drop the writer with what it has not committed, and the reader."""
        self._writer = None
        self._index = None
        self._seen = None
        self._seal.forget()

    def _searcher(self) -> tantivy.Searcher:
        index = self._opened()
        written = self._seal.check()
        while written != self._seen:  # once more when another process commits in between
            self._seen = written
            index.reload()
            written = self._seal.check()
        return index.searcher()

    def _opened(self) -> tantivy.Index:
        if self._index is None:
            if self._read_owner() != self._owner:
                raise IndexDamaged(
                    f"{self._folder} is missing or of another bank", "it is made again"
                )
            self._index = tantivy.Index.open(str(self._folder))
            self._index.config_reader("manual")
        return self._index

    def _read_owner(self) -> str:
        try:
            return (self._folder / _OWNER).read_text(encoding="utf-8")
        except OSError:
            return ""

    def _documents(self, entries: Sequence[Entry]) -> Iterator[Document]:
        if self._unit == "passages":
            for entry in entries:
                yield self._document([entry], entry.row)
            return
        for _, passages in groupby(entries, key=lambda entry: entry.note):
            found = list(passages)
            yield self._document(found, found[0].row)

    def _document(self, entries: Sequence[Entry], row: int) -> Document:
        first = entries[0]
        headings = [heading for e in entries for heading in e.headings if heading != first.title]
        about = "\n".join((*first.tags, *(entry.about for entry in entries)))
        above = "\n".join((first.title, *dict.fromkeys(headings)))
        parts = [_words_of(text) for text in (above, *(entry.text for entry in entries))]
        fields = {
            "row": row,
            "note": first.note,
            "words": sum(entry.words for entry in entries),
            "title": first.title,
            "body": "\n".join((above, *(part.text for part in parts[1:]))),
            "about": about,
            "identifiers": " ".join(
                filter(None, (*(part.identifiers for part in parts), identifier_parts(about)))
            ),
            "grams": " ".join(filter(None, (part.grams for part in parts))),
        }
        # The schema must be given: an int typed without it kills tantivy's worker and the batch.
        return Document.from_dict({k: v for k, v in fields.items() if v != ""}, self._schema)

    def _query(self, question: Question) -> Query | None:
        """Build the query from analyzed words; tantivy's own syntax would misread plain text."""
        parts = [(Occur.Should, query) for query in self._any_of(weigh(question.text))]
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

    def _any_of(self, words: Iterable[Weighed]) -> Iterator[Query]:
        for word in words:
            for field, weight in FIELDS.items():
                yield Query.boost_query(self._term(field, word.stem), weight * word.weight)

    def _beside(self, text: str) -> Iterator[Query]:
        """Match words of the question that stand together in the text too, or nearly so."""
        for pair in together(text):
            if min(map(self._count, pair)) <= _MANY:
                phrase = Query.phrase_query(self._schema, _SPEAKING, list(pair), slop=_SLOP)
                yield Query.boost_query(phrase, _BESIDE)

    def _alike(self, question: Question) -> Iterator[Query]:
        """Match, for less, a word that means about the same as one that is missing."""
        words = weigh(question.text)
        asked = {word.stem for word in words}
        for word in words:
            near = [one for one in question.related.get(word.stem, ()) if one[0] not in asked]
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
        return math.log(1 + (self._searcher().num_docs - count + 0.5) / (count + 0.5))

    def _count(self, stem: str) -> int:
        return self._searcher().doc_freq(_SPEAKING, stem)

    def _note(self, number: int) -> Query:
        return Query.term_query(self._schema, "note", number)

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

    def _scoped(self, query: Query, scope: Scope) -> Query:
        parts = [(Occur.Must, query)]
        if scope.only is not None:
            inside = Query.term_set_query(self._schema, "note", list(scope.only))
            parts.append((Occur.Must, Query.const_score_query(inside, 0.0)))
        if scope.without:
            outside = Query.term_set_query(self._schema, "note", list(scope.without))
            parts.append((Occur.MustNot, outside))
        return Query.boolean_query(parts) if len(parts) > 1 else query


def _added(found: Matches, more: Matches, *, only_raise: bool) -> Matches:
    """Add up the scores of two answers; where conditions are strict, the first one met them."""
    if not len(more):
        return found
    sums = dict(zip(found.rows, found, strict=True))
    for match in more:
        known = sums.get(match.row)
        if only_raise and known is None:
            continue
        sums[match.row] = match._replace(score=match.score + (known.score if known else 0.0))
    return Matches.of(sorted(sums.values(), key=lambda match: (-match.score, match.row)))


def _column(searcher: tantivy.Searcher, name: str, places: list[tantivy.DocAddress]) -> list[int]:
    values = searcher.fast_field_values(name, places)
    if None in values:
        raise ValueError(f"a document without {name}")
    return cast("list[int]", values)


class _Words(NamedTuple):
    """What is indexed of a text."""

    text: str
    identifiers: str
    grams: str


@lru_cache(maxsize=1 << 15)
def _words_of(text: str) -> _Words:
    """Take a text apart; kept for a batch, since both units index every passage."""
    plain = cleaned(text)
    return _Words(plain, identifier_parts(plain), grams(plain))


@contextmanager
def _guarded(folder: Path) -> Iterator[None]:
    """Turn what tantivy raises over missing or damaged files into IndexDamaged.

    A damaged file can make it panic; pyo3's PanicException is no Exception and has no public name.
    """
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if "No space left" in str(error) or "Permission denied" in str(error):
            reason = f"{folder} can't be written: {error}"
            raise StorageFailed(reason, "free some space, or check its permissions") from error
        raise IndexDamaged(f"{folder} is damaged: {error}", "it is made again") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise IndexDamaged(f"{folder} is damaged: {error}", "it is made again") from error
