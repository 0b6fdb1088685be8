"""The documents of a test collection as a source: indexed as notes are, without being notes."""

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from memory_bank.base.documents import Document, Read, Scan, Section, Span, read_lines
from memory_bank.base.paths import Layout
from memory_bank.base.settings import Settings
from memory_bank.notes.passages import split_passages
from memory_bank.search.engine import Engine
from memory_bank.search.index import Index
from memory_bank.search.query import Query, parse
from memory_bank.search.retrievers.base import Scope

Search = Callable[[str, str, int], list[str]]
"""Takes a question, a mode and a number of documents; returns their names, the best first."""


class Text(NamedTuple):
    """A document of a test collection."""

    name: str
    title: str
    body: str


class TestCollection:
    """Documents that don't change while they are open."""

    __test__ = False  # of pytest's

    name = "test collection"
    fingerprint = "1"

    def __init__(self, documents: Iterable[Text]) -> None:
        # one without a title is called by its number, as a note is by its file's name
        self._documents = {
            one.name: one._replace(title=one.title or f"{number:06}")
            for number, one in enumerate(documents)
        }
        self._hashes = {name: _hash(one) for name, one in self._documents.items()}

    def scan(self) -> Scan:
        return Scan(dict(self._hashes))

    def look(self, keys: Collection[str]) -> Scan:
        return Scan({key: self._hashes[key] for key in keys if key in self._hashes})

    def changes(self) -> frozenset[str]:
        return frozenset()

    def refresh(self, *, again: bool = False) -> bool:
        return False

    def read(self, key: str, known: str = "") -> Read:
        """Cut a document's text as that of a note without headings is cut."""
        one = self._documents.get(key)
        if one is None:
            return None
        lines = Section(1, one.body.count("\n") + 2)
        whole = lines._replace(text=one.body)
        found = tuple(passage._replace(section=0) for passage in split_passages(whole))
        return Document(key, self._hashes[key], one.title, found, sections=(lines,))

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002
        one = self._documents.get(key)
        return read_lines(one.body, span) if one and self._hashes[key] == hash else None

    def close(self) -> None:
        """Hold nothing."""


@contextmanager
def searching(documents: Iterable[Text], place: Path, settings: Settings) -> Iterator[Search]:
    """Index documents in a folder, which may hold their index already, and search them."""
    place.mkdir(parents=True, exist_ok=True)
    index = Index(Layout(place, place / "index"), TestCollection(documents), settings)
    try:
        index.indexer.sync()
        engine = Engine(index.manifest, index.retrievers, settings, lambda _: {})
        yield partial(_names, index, engine)
    finally:
        index.close()


def _names(index: Index, engine: Engine, text: str, mode: str, limit: int) -> list[str]:
    index.catch_up()  # as before each answer of a bank
    question = parse(Query(text, reads_times=False)).question
    found = engine.search(question, Scope(), mode=mode, limit=limit, now=time.time())
    assert found.mode == mode, found.fallback_reason
    return [hit.document.key for hit in found.hits]


def _hash(one: Text) -> str:
    return hashlib.sha256(repr(one).encode()).hexdigest()
