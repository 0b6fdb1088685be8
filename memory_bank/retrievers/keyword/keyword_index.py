"""The keyword index: BM25 over passages, or over whole documents, kept by tantivy.

Both units are the same code in two folders: word statistics (rarity, mean length) must not mix.
"""

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import tantivy
from tantivy import Document, Query, SchemaBuilder

from memory_bank.errors import IndexDamaged, StorageFailed
from memory_bank.retrievers.base import Entry, Matches, Question, Scope, Unit
from memory_bank.retrievers.keyword.analyzer import cleaned, grams, identifier_parts
from memory_bank.retrievers.keyword.checksums import Seal, Signature
from memory_bank.retrievers.keyword.compaction import crowded, scattered
from memory_bank.retrievers.keyword.query_builder import FIELDS, WordQuery

MODES = ("lexical", "hybrid")
_HEAP = 50_000_000
_OWNER = "owner"
_VERSION = "4"


def _schema() -> tantivy.Schema:
    builder = (
        SchemaBuilder()
        .add_unsigned_field("row", fast=True)
        .add_unsigned_field("document", indexed=True, fast=True)
        .add_unsigned_field("words", fast=True)
        .add_text_field("grams", tokenizer_name="whitespace")
    )
    for field in FIELDS:
        builder = builder.add_text_field(field, tokenizer_name="en_stem")
    return builder.build()


class KeywordIndex:
    """Passages or documents found by their words."""

    version = _VERSION
    modes = MODES
    weight = 1.0
    slow = False

    def __init__(
        self, folder: Path, owner: str, *, name: str, unit: Unit, explanation: str
    ) -> None:
        """Keep the index in `folder`; it is taken for damaged when another `owner` filled it."""
        self.name = name
        self.unit = unit
        self.explanation = explanation
        self._folder = folder
        self._owner = f"{owner} {self.version}"
        self._schema = _schema()
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None
        self._seal = Seal(folder)
        self._seen: Signature | None = None
        """The commit that the reader has, by the file that names its segments."""

    def again(self) -> Collection[int]:
        """Return the documents of small segments, before tantivy merges all."""
        with _guarded(self._folder):
            searcher = self._searcher()
            sizes = self._seal.sizes()
            if not crowded(sizes):
                return ()
            found = searcher.fast_field_values("document", scattered(searcher, sizes))
        return {int(document) for document in found if document is not None}

    def put(self, entries: Sequence[Entry], replaced: Collection[int]) -> None:
        """Add passages, after dropping those of the documents in `replaced`.

        The passages of a document stand together in `entries`, its first one first.
        """
        with _guarded(self._folder):
            if self._writer is None:
                index = self._opened()
                self._seal.check()  # what is damaged must not be merged into what is new
                self._writer = index.writer(_HEAP, 1)
            for document in replaced:  # by a query: by a term, an unsigned field never matches
                term = Query.term_query(self._schema, "document", document)
                self._writer.delete_documents_by_query(term)
            for made in self._documents(entries):
                self._writer.add_document(made)

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
                _analyzed.cache_clear()
            self._opened().reload()
            self._seen = self._seal.record()

    def holds(self, entries: Mapping[int, int]) -> bool:
        """Tell whether just these passages are in the index: row numbers to document numbers."""
        with _guarded(self._folder):
            searcher = self._searcher()
            hits = searcher.search(Query.all_query(), max(1, searcher.num_docs), count=False).hits
            field = "row" if self.unit == "passages" else "document"
            found = searcher.fast_field_values(field, [place for _, place in hits])
        wanted = entries.keys() if self.unit == "passages" else set(entries.values())
        return len(found) == len(wanted) and set(found) == wanted

    def state(self) -> str:
        """Return the signature of the list of segments."""
        return repr(self._seal.meta())

    def waiting(self) -> int:
        """Count nothing: words are indexed at once."""
        return 0

    def catch_up(self, seconds: float) -> int:  # noqa: ARG002
        """Do nothing: words are indexed at once."""
        return 0

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:
        """Return what holds most of the question's words."""
        with _guarded(self._folder):
            return WordQuery(self._searcher(), self._schema, question, scope).answer(limit)

    def titled(self, question: Question) -> dict[int, float]:
        """Return the documents whose titles have names of the question, and which share of them."""
        with _guarded(self._folder):
            return WordQuery(self._searcher(), self._schema, question, Scope()).titled()

    def check(self) -> None:
        """Raise IndexDamaged unless the index can be opened and read."""
        with _guarded(self._folder):
            self._seal.check()
            self._searcher().search(Query.all_query(), 1, count=False)

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
        while self._seal.meta() != self._seen:  # once more when another process commits in between
            self._seen = self._seal.check()
            index.reload()
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
        if self.unit == "passages":
            for entry in entries:
                yield self._document([entry], entry.row)
            return
        for _, passages in groupby(entries, key=lambda entry: entry.document):
            found = list(passages)
            yield self._document(found, found[0].row)

    def _document(self, entries: Sequence[Entry], row: int) -> Document:
        first = entries[0]
        headings = [heading for e in entries for heading in e.headings if heading != first.title]
        about = "\n".join(entry.about for entry in entries if entry.about)
        above = "\n".join((first.title, *dict.fromkeys(headings)))
        parts = [_analyzed(text) for text in (above, *(entry.text for entry in entries))]
        fields = {
            "row": row,
            "document": first.document,
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


class _Analyzed(NamedTuple):
    """What is indexed of a text."""

    text: str
    identifiers: str
    grams: str


@lru_cache(maxsize=1 << 15)
def _analyzed(text: str) -> _Analyzed:
    """Take a text apart; kept for a batch, since both units index every passage."""
    plain = cleaned(text)
    return _Analyzed(plain, identifier_parts(plain), grams(plain))


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
