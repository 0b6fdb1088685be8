"""The keyword index: BM25 over passages or over whole documents, by tantivy.

tantivy writes a checksum at the end of each segment file, but doesn't verify it, and maps the files
into memory: damaged bytes give wrong answers, and a truncated file kills the process. Segment files
are immutable, so that a checksum is verified once for each signature of its file.

Each commit makes a segment, and tantivy merges as soon as a layer has eight. Its lowest layer has
segments of up to 16,800 documents, which can't be set from Python: every seventh save would merge
10,000 documents while a query waits. A segment is dropped once all of its documents were put
again; putting those of a few small segments again makes one segment of them. tantivy then merges
once in hundreds of saves.

Each unit has its own folder, since word statistics (document frequency, mean length) must not mix.
tantivy makes no file before the first passage.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path

import tantivy
from tantivy import Document, Order, Query, SchemaBuilder

from memory_bank.base.errors import IndexDamaged, StorageFailed, find_exhausted
from memory_bank.base.filenames import TEMPORARY_PREFIX
from memory_bank.search.retrievers.base import IndexedPassage, Matches, Question, Scope, Unit
from memory_bank.search.retrievers.keyword.analyzer import (
    FIELDS,
    GRAMS,
    STEMMED,
    build_stemmer,
    forget,
    join_fields,
)
from memory_bank.search.retrievers.keyword.keyword_query import KeywordQuery

_FILE = "sealed.json"

_META = "meta.json"

_MAGIC = 1337

_TAIL_BYTES = 8
"""Number of bytes after the footer: its length and tantivy's magic number."""

Signature = tuple[int, int, int, int]

_NO_SEGMENTS: Signature = (0, 0, 0, 0)
"""In place of the signature of their list, as long as nothing was put."""


class ChecksumVerifier:
    """Signatures of files whose checksums were verified, stored beside them for other processes."""

    def __init__(self, folder: Path, owner: str) -> None:
        """Verify the files of the index in a folder, which says whose it is."""
        self._folder = str(folder)
        self._owner = owner
        self._verified: dict[str, Signature] | None = None
        self._meta: Signature | None = None
        self._files: list[str] = []
        self.sizes: list[int] = []
        """The number of documents in each segment, as of the last check."""

    def check(self) -> Signature:
        """Raise IndexDamaged unless all files are intact; return the signature of their list."""
        self.owned()
        while True:
            meta = self.meta()
            if meta != self._meta:
                self._files, self._meta = ([] if meta == _NO_SEGMENTS else self._listed()), meta
            try:
                for name in self._files:
                    self._check(name)
            except FileNotFoundError as error:
                if self.meta() != meta:
                    continue  # another process has merged segments meanwhile
                raise self._damaged(f"{error.filename} is missing") from error
            return meta

    def meta(self) -> Signature:
        """Return the signature of the list of segments; raise IndexDamaged when it is lost."""
        try:
            return _signature(f"{self._folder}/{_META}")
        except OSError as error:
            if self.empty():
                return _NO_SEGMENTS
            raise self._damaged(f"its {_META} is missing") from error

    def empty(self) -> bool:
        """Tell whether nothing was put yet.

        A thread of a former index in this folder may still leave a hidden file of tantivy's.
        """
        with suppress(OSError):
            names = os.listdir(self._folder)  # noqa: PTH208  (in each answer)
            is_bare = [name for name in names if not name.startswith(".")] == [_FILE]
            return is_bare and not self._load()
        return False

    def record(self) -> Signature | None:
        """Record the files that this process has just written as verified.

        Returns the signature of their list; None if they must be verified after all.
        """
        with suppress(OSError, IndexDamaged):  # `check` will verify them
            self._meta = self.meta()
            self._files = self._listed()
            self._verified = {name: _signature(f"{self._folder}/{name}") for name in self._files}
            self._save()
            return self._meta
        return None

    def start(self) -> None:
        """Write down whose an empty index is."""
        self._verified = {}
        self._save()

    def forget(self) -> None:
        """Drop what was verified or read."""
        self._verified, self._meta, self._files = None, None, []

    def owned(self) -> dict[str, Signature]:
        """Return what was verified; raise IndexDamaged if the folder is another owner's."""
        if self._verified is None:
            self._verified = self._load()
        return self._verified

    def _check(self, name: str) -> None:
        verified = self.owned()
        file = f"{self._folder}/{name}"
        signature = _signature(file)
        if verified.get(name) != signature:
            if not _intact(file):
                raise self._damaged(f"{name} has a wrong checksum")
            verified[name] = signature

    def _listed(self) -> list[str]:
        """Return the names of the files of the segments in use."""
        try:
            with open(f"{self._folder}/{_META}", "rb") as stream:  # noqa: PTH123  (in each answer)
                segments = json.load(stream)["segments"]
            used = {segment["segment_id"].replace("-", "") for segment in segments}
            self.sizes = [
                segment["max_doc"] - (segment["deletes"] or {}).get("num_deleted_docs", 0)
                for segment in segments
            ]
            names = [file.name for file in Path(self._folder).iterdir()]
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._damaged(str(error)) from error
        return sorted(name for name in names if name.partition(".")[0] in used)

    def _load(self) -> dict[str, Signature]:
        """Return what was verified; raise IndexDamaged if the folder is another owner's."""
        try:
            document = json.loads(Path(self._folder, _FILE).read_bytes())
            if document["owner"] == self._owner:
                verified = document["verified"].items()
                return {str(name): (*map(int, sizes),) for name, sizes in verified}  # type: ignore[misc]
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            pass
        raise IndexDamaged(f"{self._folder} is missing or belongs to another bank", "it is rebuilt")

    def _save(self) -> None:
        new = Path(self._folder, f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}")
        data = {"owner": self._owner, "verified": self._verified}
        new.write_text(json.dumps(data), encoding="utf-8")
        new.replace(Path(self._folder, _FILE))

    def _damaged(self, text: str) -> IndexDamaged:
        return IndexDamaged(f"{self._folder} is damaged: {text}", "it is rebuilt")


def _signature(file: str) -> Signature:
    stat = os.stat(file)  # noqa: PTH116  (some twenty in each answer)
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _intact(file: str) -> bool:
    """Tell whether a file has the checksum at its end."""
    data = Path(file).read_bytes()
    tail = len(data) - _TAIL_BYTES
    if tail < 0 or int.from_bytes(data[-4:], "little") != _MAGIC:
        return False
    body = tail - int.from_bytes(data[tail : tail + 4], "little")
    try:
        footer = json.loads(data[body:tail]) if body >= 0 else {}
        return bool(footer["crc"] == zlib.crc32(memoryview(data)[:body]))
    except (ValueError, TypeError, KeyError):
        return False


# As tantivy's own policy of merging has them.
_MERGE_SEGMENTS = 8

_LAYER_SIZE = 16_800

_LARGE_MERGE = 3000
"""Number of documents whose merge takes longer than reading a few documents again."""

_SMALL_SIZES = (8, 64)
"""Maximum sizes of segments that are rewritten, in documents; the smaller size is tried first."""

_EXTRA_ROWS = 64
"""Number of rows that are read in addition: a document in a small segment may have an older row."""

_MIN_SEGMENTS = 3
"""Minimum number of segments that are rewritten as one."""


def compaction_is_due(sizes: Sequence[int]) -> bool:
    """Tell whether tantivy is about to merge many documents, or all are few enough for one segment.

    `sizes` are the numbers of documents in each segment.
    """
    if sum(sizes) <= _SMALL_SIZES[0]:
        return True
    layer = [size for size in sizes if size <= _LAYER_SIZE]
    return len(layer) >= _MERGE_SEGMENTS - 1 and sum(layer) >= _LARGE_MERGE


def in_small_segments(searcher: tantivy.Searcher, sizes: Sequence[int]) -> list[tantivy.DocAddress]:
    """Return the documents of small segments, to put them again with the next commit.

    `sizes` are in the order of the searcher's segments. Small segments have the newest rows, which
    are the highest, so that the rest of the index is not read.
    """
    for most in _SMALL_SIZES:
        small = {segment for segment, size in enumerate(sizes) if size <= most}
        if len(small) >= min(_MIN_SEGMENTS, len(sizes)):
            last = _EXTRA_ROWS + 2 * sum(sizes[segment] for segment in small)
            hits = searcher.search(
                Query.all_query(), last, count=False, order_by_field="row", order=Order.Desc
            ).hits
            return [place for _, place in hits if place.segment_ord in small]
    return []


_HEAP = 50_000_000

_LOCK = ".tantivy-writer.lock"
"""tantivy leaves it behind; only who holds the lock of the whole index writes."""


def _schema() -> tantivy.Schema:
    builder = (
        SchemaBuilder()
        .add_unsigned_field("row", indexed=True, fast=True)
        .add_unsigned_field("document", indexed=True, fast=True)
        .add_unsigned_field("words", fast=True)
        .add_text_field(GRAMS, tokenizer_name="whitespace")
    )
    for field in FIELDS:
        builder = builder.add_text_field(field, tokenizer_name=STEMMED)
    return builder.build()


_MOST_COUNTS = 50_000
"""Counts of words that are kept in memory."""


class KeywordIndex:
    """Passages or documents found by their words."""

    version = "12"
    explanation = "its words"
    weight = 1.0
    slow = False

    def __init__(self, folder: Path, owner: str, *, name: str, unit: Unit) -> None:
        """Use the index in `folder`; one of another `owner` counts as damaged."""
        self.name = name
        self.unit = unit
        self._folder = folder
        self._schema = _schema()
        self._index: tantivy.Index | None = None
        self._in_memory = False
        self._writer: tantivy.IndexWriter | None = None
        self._checksums = ChecksumVerifier(folder, f"{owner} {self.version}")
        self._loaded: Signature | None = None
        self._counted: Signature | None = None
        self._counts: dict[str, int] = {}
        """How many texts have each word that was asked for, of the commit that was counted."""

    def to_compact(self) -> Collection[int]:
        """Return the documents of small segments, if they are to become one."""
        with _guarded(self._folder):
            searcher = self._searcher()
            sizes = self._checksums.sizes
            if not compaction_is_due(sizes):
                return ()
            fast_field_values = searcher.fast_field_values(
                "document", in_small_segments(searcher, sizes)
            )
        return {int(document) for document in fast_field_values if document is not None}

    def put(self, entries: Sequence[IndexedPassage], replaced: Collection[int]) -> None:
        """Add passages, after dropping those of the documents in `replaced`.

        The passages of a document are consecutive in `entries` and in their order.
        """
        with _guarded(self._folder):
            if self._writer is None:
                # damaged segments must not be merged into new ones
                if self._checksums.check() == _NO_SEGMENTS:
                    if not entries:
                        return
                    tantivy.Index(self._schema, path=str(self._folder))
                self._writer = self._opened().writer(_HEAP, 1)
            for number in replaced:  # deleting by a term never matches an unsigned field
                term = Query.term_query(self._schema, "document", number)
                self._writer.delete_documents_by_query(term)
            for document in self._documents(entries):
                self._writer.add_document(document)

    def commit(self) -> None:
        """Make what was put durable, and release the writer."""
        if self._writer is None:
            return
        with _guarded(self._folder):
            try:
                self._writer.commit()
                self._writer.wait_merging_threads()
            finally:
                self._writer = None
                forget()
            with suppress(OSError):
                (self._folder / _LOCK).unlink()
            self._opened().reload()
            self._loaded = self._checksums.record()

    def holds(self, entries: Mapping[int, int]) -> bool:
        """Tell whether the index has exactly these passages: row numbers to document numbers."""
        with _guarded(self._folder):
            searcher = self._searcher()
            hits = searcher.search(Query.all_query(), max(1, searcher.num_docs), count=False).hits
            field = "row" if self.unit == "passages" else "document"
            fast_field_values = searcher.fast_field_values(field, [place for _, place in hits])
        numbers = entries.keys() if self.unit == "passages" else set(entries.values())
        return len(fast_field_values) == len(numbers) and set(fast_field_values) == numbers

    def state(self) -> str:
        """Return the signature of the list of segments."""
        return repr(self._checksums.meta())

    def waiting(self) -> int:
        """Return 0: `put` does all work."""
        return 0

    def unsearchable(self) -> int:
        """Return 0: what was put is found."""
        return 0

    def catch_up(self, seconds: float) -> int:  # noqa: ARG002
        """Do nothing: `put` does all work."""
        return 0

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:
        """Return the best matches by BM25."""
        if self.unit == "documents" and scope.rows is not None:
            scope = Scope(scope.only, scope.without)
        with _guarded(self._folder):
            return KeywordQuery(self._searcher(), self._schema, question, scope).answer(limit)

    def best(self, question: Question) -> float:
        """Return the best score that a question has in the whole index."""
        with _guarded(self._folder):
            return KeywordQuery(self._searcher(), self._schema, question, Scope()).best()

    def counts(self, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """Count all texts, and those that have each word: a stem, or a bigram."""
        with _guarded(self._folder):
            searcher = self._searcher()
            if self._counted != self._loaded or len(self._counts) > _MOST_COUNTS:
                self._counted, self._counts = self._loaded, {}
            if new := [word for word in words if word not in self._counts]:
                query = KeywordQuery(searcher, self._schema, Question(""), Scope())
                self._counts |= query.counts(new)
            return searcher.num_docs, {word: self._counts[word] for word in words}

    def check(self) -> None:
        """Raise IndexDamaged unless the index can be opened and read."""
        with _guarded(self._folder):
            self._checksums.check()
            self._searcher().search(Query.all_query(), 1, count=False)

    def clear(self) -> None:
        """Make an empty index, whatever was there."""
        self.close()
        try:
            try:
                self._start()
            except FileNotFoundError:  # somebody removed the folder meanwhile
                self._start()
        except OSError as error:
            raise StorageFailed(f"{self._folder} can't be written: {error.strerror}") from error

    def _start(self) -> None:
        import shutil  # start-up: compressors come with it

        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._checksums.start()

    def close(self) -> None:
        """Release the reader and the writer; drop what was not committed."""
        self._writer = None
        self._index = None
        self._loaded = None
        self._checksums.forget()

    def _searcher(self) -> tantivy.Searcher:
        index = self._opened()
        while self._checksums.meta() != self._loaded:  # repeat if another process commits meanwhile
            self._loaded = self._checksums.check()
            if self._loaded == _NO_SEGMENTS:
                self._index = None  # another process emptied it: its files are gone
            index = self._opened()
            index.reload()
        return index.searcher()

    def _opened(self) -> tantivy.Index:
        """Return the index; an empty one is in memory."""
        if self._index is None or (self._in_memory and not self._checksums.empty()):
            self._checksums.owned()
            self._in_memory = self._checksums.empty()
            self._index = (
                tantivy.Index(self._schema)
                if self._in_memory
                else tantivy.Index.open(str(self._folder))
            )
            self._index.config_reader("manual")
            self._index.register_tokenizer(STEMMED, build_stemmer(with_stop_words=True))
        return self._index

    def _documents(self, entries: Sequence[IndexedPassage]) -> Iterator[Document]:
        if self.unit == "passages":
            for passage in entries:
                yield self._document([passage], passage.row)
            return
        for _, passages in groupby(entries, key=lambda passage: passage.document):
            whole = list(passages)
            yield self._document(whole, whole[0].row)

    def _document(self, passages: Sequence[IndexedPassage], row: int) -> Document:
        first = passages[0]
        texts = join_fields(
            first.title,
            [(passage.headings, passage.text) for passage in passages],
            keywords="\n".join(passage.keywords for passage in passages if passage.keywords),
            about="\n".join(passage.about for passage in passages if passage.about),
        )
        fields = {
            "row": row,
            "document": first.document,
            "words": sum(passage.words for passage in passages),
            **texts,
        }
        # The schema must be given: an int typed without it kills tantivy's worker and the batch.
        return Document.from_dict({k: v for k, v in fields.items() if v != ""}, self._schema)


@contextmanager
def _guarded(folder: Path) -> Iterator[None]:
    """Convert tantivy's errors to Exhausted, StorageFailed or IndexDamaged.

    A damaged file can make it panic; pyo3's PanicException is not an Exception and not importable.
    """
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if "No space left" in str(error) or "Permission denied" in str(error):
            reason = f"{folder} can't be written: {error}"
            raise StorageFailed(reason, "free some space, or check its permissions") from error
        if plain := find_exhausted(error):
            raise plain from error
        raise IndexDamaged(f"{folder} is damaged: {error}", "it is rebuilt") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        if plain := find_exhausted(error):
            raise plain from error
        raise IndexDamaged(f"{folder} is damaged: {error}", "it is rebuilt") from error
