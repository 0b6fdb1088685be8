"""The derived side of a bank, opened: manifest, retrievers, indexer, engine."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from memory_bank import sqlite
from memory_bank.config import Settings
from memory_bank.errors import BadInput, BadSetting, EmbedderUnavailable, IndexDamaged
from memory_bank.index.repairs import MANIFEST, Healed, untold
from memory_bank.layout import Layout
from memory_bank.locks import locked
from memory_bank.manifest import database, lookup
from memory_bank.retrievers.base import TEXT_VERSION
from memory_bank.sqlite import Connection

if TYPE_CHECKING:
    from memory_bank.index.sync import Indexer
    from memory_bank.retrievers.base import Retriever
    from memory_bank.retrievers.keyword.keyword_index import KeywordIndex
    from memory_bank.retrievers.vectors.vector_index import VectorIndex
    from memory_bank.search.engine import Accesses, Engine, Meaning

_EMBED_SECONDS = 1.0
"""How long a question that met damage may embed before it is answered."""
_WORDS = "keyword"
"""Folder of the retriever that every index has."""
_ENOUGH = 0.95
"""Share of passages with vectors from which meaning is asked at all."""


class Index:
    """One generation of a bank's index files; `current` tells whether they are still the bank's."""

    def __init__(
        self, place: Layout, settings: Settings, accesses: Accesses, healed: Healed = untold
    ) -> None:
        """Open the manifest, made anew when it is damaged; the rest is loaded when needed.

        `healed` is told what was damaged, missing or cut short; a first index is not healing.
        """
        self._layout = place
        self._settings = settings
        self._accesses = accesses
        self._healed = healed
        self.base, self._file = _connect(place, healed)

    def current(self) -> bool:
        """Tell whether the manifest is still the file that was opened."""
        return sqlite.identity(self._layout.manifest) == self._file

    def complete(self) -> bool:
        """Tell whether every retriever has everything that was indexed, without an indexer."""
        return database.complete(self.base, self._signature())

    def close(self) -> None:
        """Let go of all files."""
        for retriever in self.loaded():
            retriever.close()
        self.base.close()

    def loaded(self) -> list[Retriever]:
        """List the retrievers that were loaded so far."""
        parts = [self.__dict__.get(name) for name in ("keyword", "whole_notes", "vectors")]
        return [part for part in parts if part is not None]

    def heal(self) -> None:
        """Make the retrievers anew that are damaged; raise IndexDamaged when the manifest is."""
        database.check(self.base, self._layout.manifest)
        mended = False
        for retriever in self.retrievers()[0]:
            try:
                retriever.check()
            except IndexDamaged:
                self.indexer.mend(retriever)
                mended = True
        if mended:
            self.indexer.sync(seconds=_EMBED_SECONDS, thorough=False)

    @cached_property
    def keyword(self) -> KeywordIndex:
        """The index of words."""
        from memory_bank.retrievers.keyword.keyword_index import KeywordIndex

        return KeywordIndex(self._layout.index / _WORDS, database.owner(self.base), "passages")

    @cached_property
    def whole_notes(self) -> KeywordIndex:
        """The index of words of whole notes."""
        from memory_bank.retrievers.keyword.keyword_index import KeywordIndex

        return KeywordIndex(self._layout.index / "notes", database.owner(self.base), "notes")

    @cached_property
    def vectors(self) -> VectorIndex | None:
        """The index of meaning; None when embeddings are off. Raises EmbedderUnavailable."""
        from memory_bank import plugins
        from memory_bank.embedders.base import identity

        name = self._settings.memory.embedder
        try:
            module = plugins.load("embedders", name)
        except BadInput as error:
            where = self._settings.origins.get("memory.embedder", "the settings")
            raise BadSetting(f"{where}: {error.message}", error.hint) from error
        embedder = module.load(self._settings)
        if embedder is None:
            return None
        from memory_bank.retrievers.vectors.vector_index import VectorIndex

        folder = re.sub(r"[^\w.-]+", "-", identity(embedder))[:80]
        owner = database.owner(self.base)
        return VectorIndex(self._layout.index / "vectors" / folder, owner, embedder)

    @cached_property
    def indexer(self) -> Indexer:
        """The writer of these files."""
        from memory_bank.index.sync import Indexer

        return Indexer(
            self._layout,
            self.base,
            self.retrievers,
            current=self.current,
            signature=self._signature(),
            max_bytes=self._settings.memory.max_note_bytes,
            healed=self._healed,
        )

    @cached_property
    def engine(self) -> Engine:
        """The ranking."""
        from memory_bank.search.engine import Engine

        return Engine(self.base, self.keyword, self.whole_notes, self._settings, self._accesses)

    def retrievers(self) -> tuple[list[Retriever], str]:
        """Return the retrievers that can be filled now, and why others can't."""
        try:
            vectors = self.vectors
        except EmbedderUnavailable as error:
            return [self.keyword, self.whole_notes], error.message
        found = [self.keyword, self.whole_notes, vectors]
        return [retriever for retriever in found if retriever is not None], ""

    def meaning(self, mode: str) -> Meaning:
        """Return the vectors for a search of that mode, or the reason why there are none."""
        from memory_bank.search.engine import Meaning

        if mode == "lexical":
            return Meaning(None)
        try:
            vectors = self.vectors
        except EmbedderUnavailable as error:
            return Meaning(None, reason=error.reason)
        if vectors is None:
            return Meaning(None, reason="embeddings_disabled")
        if database.meta(self.base, f"filled:{vectors.name}") != vectors.version:
            return Meaning(None, reason="vectors_pending")
        waiting = vectors.waiting()
        if waiting and waiting > (1 - _ENOUGH) * lookup.totals(self.base)[3]:
            return Meaning(None, reason="vectors_pending")
        return Meaning(
            vectors,
            vectors.weight,
            vectors.code_weight,
            vectors.floor,
        )

    def _signature(self) -> str:
        """Name what fills the retrievers: no model is loaded for it, and no secret is in it."""
        from memory_bank import plugins

        name = self._settings.memory.embedder
        try:
            own = plugins.load("embedders", name).fingerprint(self._settings)
        except BadInput:
            own = ""  # `vectors` says that there is none of this name
        return f"{self.keyword.version}.{TEXT_VERSION} {name} {own}"


def _connect(place: Layout, healed: Healed) -> tuple[Connection, sqlite.Identity]:
    """Open the manifest; one process makes it, or makes it anew when it is damaged.

    Returned with it is which file it is: taken before it is opened, or while no other can replace
    it.
    """
    before = sqlite.identity(place.manifest)
    if before is not None:
        try:
            # one that goes meanwhile is made under the lock only: who removes it removes its
            # write-ahead log too, and must not meet that of a new one
            return database.connect(place.manifest, place.index_id, make=False), before
        except IndexDamaged:
            pass
    with locked(place.index, make=place.make_index):
        place.make_index()  # the folder may be another one now, with another id
        anew = not place.manifest.exists() and _was_indexed(place)
        try:
            # as another process left it meanwhile
            base = database.connect(place.manifest, place.index_id)
        except IndexDamaged:
            sqlite.discard(place.manifest)
            base = database.connect(place.manifest, place.index_id)
            anew = True
        made = sqlite.identity(place.manifest)
    if anew:
        healed(MANIFEST)
    return base, made


def _was_indexed(place: Layout) -> bool:
    """Tell an index that lost its manifest from a bank that has none yet."""
    return (place.index / _WORDS).is_dir()
