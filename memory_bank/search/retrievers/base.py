"""The contract of a retriever, whose files callers must not access; and the records of search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Literal, Protocol, Self

from memory_bank.base import NamedTuple
from memory_bank.base.settings import Settings

Unit = Literal["passages", "documents"]
"""What a retriever finds: passages, or documents by the row of their first passage."""

TEXT_VERSION = 4
"""Version of the text that is embedded for a passage: after a change, all passages are put again
and changed texts embedded. It is here so that comparing fingerprints imports no embedder."""

FEW_TEXTS = 16
"""Texts that a question by meaning embeds in any case, so that nobody else need do it before."""

VECTORS_VERSION = 6
"""Version of the tables and files of vectors: after a change, they are made again."""


class IndexedPassage(NamedTuple):
    """A passage to index, with the title, headings and other words that describe it."""

    row: int
    """Number of the passage, never reused within an index."""
    document: int
    """Number of its document."""
    title: str
    headings: tuple[str, ...]
    text: str
    words: int
    keywords: str = ""
    """Words that count as words of the text; only the document's first passage has them."""
    about: str = ""
    """Words of the document from its metadata; only its first passage has them."""


class Question(NamedTuple):
    """A parsed query: its words as typed, and phrases that are required, excluded or preferred."""

    text: str
    required: tuple[str, ...] = ()
    """Phrases that a passage must have."""
    excluded: tuple[str, ...] = ()
    """Words and phrases that a passage must not have."""
    preferred: tuple[str, ...] = ()
    """Phrases that increase the score of a passage."""
    rarities: Mapping[str, float] | None = None
    """Rarity of each word (a stem, or a bigram) in several indices together, so that the scores of
    all of them can be compared; without it, each index uses its own."""
    about: float = 0.4
    """Weight of words about a document, beside those of its text."""

    @property
    def strict(self) -> bool:
        """Tell whether any phrase is required or excluded."""
        return bool(self.required or self.excluded)


class Scope:
    """Which documents may be found, by number, and of these which passages."""

    __slots__ = ("only", "rows", "without")

    def __init__(
        self,
        only: frozenset[int] | None = None,
        without: frozenset[int] = frozenset(),
        rows: frozenset[int] | None = None,
    ) -> None:
        """Let those in `only` be found, None for all, but none of those in `without`.

        `rows` are the passages that may be found, None for all; `only` must then have their
        documents, by which a retriever of whole documents is restricted.
        """
        self.only = only
        self.without = without
        self.rows = rows

    def __contains__(self, document: int) -> bool:
        """Tell whether a document may be found."""
        return (self.only is None or document in self.only) and document not in self.without

    def holds(self, row: int, document: int) -> bool:
        """Tell whether a passage may be found."""
        return document in self and (self.rows is None or row in self.rows)

    @property
    def bounded(self) -> bool:
        """Tell whether anything is kept out."""
        return self.only is not None or bool(self.without) or self.rows is not None

    def narrowed(self, documents: Collection[int]) -> Scope:
        """Return the intersection of this scope and some documents; passages are left alone.

        Of a scope with `rows`, `manifest.entries.narrowed` also leaves out those of others.
        """
        only = frozenset(document for document in documents if document in self)
        return Scope(only=only, rows=self.rows)


class Match(NamedTuple):
    """A passage that was found; only scores of the same retriever can be compared."""

    row: int
    document: int
    score: float
    words: int = 0
    """Length of the passage in words; 0 if the retriever doesn't store it."""


class Scale(NamedTuple):
    """What the scores of one question mean."""

    unrelated: float
    """Score of a passage that has nothing to do with the question."""
    perfect: float
    """Score of a passage that has all that the question asks for."""


class Matches:
    """The matches of one retriever, best first, in columns.

    Hundreds of matches are ranked for ten hits; an object for each would double the time.
    """

    __slots__ = ("documents", "rows", "scale", "scores", "words")

    def __init__(
        self,
        rows: Sequence[int] = (),
        documents: Sequence[int] = (),
        scores: Sequence[float] = (),
        words: Sequence[int] = (),
        scale: Scale | None = None,
    ) -> None:
        """Take columns of equal length; `words` may be empty; without a scale, the best is 1."""
        self.rows = rows
        self.documents = documents
        self.scores = scores
        self.words = words
        self.scale = scale or Scale(0.0, max(scores, default=0.0))

    def __len__(self) -> int:
        """Count the matches."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Match]:
        """Return the matches one by one."""
        words = self.words or repeat(0)
        return map(Match, self.rows, self.documents, self.scores, words)

    @classmethod
    def of(cls, matches: Iterable[Match], scale: Scale | None = None) -> Self:
        """Make columns of single matches."""
        rows, documents, scores, words = tuple(zip(*matches, strict=True)) or ((),) * 4
        return cls(rows, documents, scores, words, scale)


class Retriever(Protocol):
    """An index of passages that the indexer fills and the search engine queries.

    All methods raise IndexDamaged when the index is missing or broken; `clear` repairs that.
    """

    @property
    def name(self) -> str:
        """The plug-in's name, the `source` of its reasons."""

    @property
    def unit(self) -> Unit:
        """What it finds."""

    @property
    def weight(self) -> float:
        """Weight of its scores in fusion; `keyword` has weight 1."""

    @property
    def explanation(self) -> str:
        """The text of its reasons, such as "its words"."""

    @property
    def version(self) -> str:
        """Version of the stored data; when it changes, the indexer refills the index."""

    @property
    def slow(self) -> bool:
        """Whether a refill may take so long that queries must not wait for it."""

    def to_compact(self) -> Collection[int]:
        """Return documents to put again with the next small batch, so that segments merge."""

    def put(self, entries: Sequence[IndexedPassage], replaced: Collection[int]) -> None:
        """Add entries, after removing those of the documents in `replaced`; must be idempotent."""

    def commit(self) -> None:
        """Make everything put so far durable and visible to all processes."""

    def holds(self, entries: Mapping[int, int]) -> bool:
        """Tell whether the index has exactly these passages: row numbers to document numbers."""

    def state(self) -> str:
        """Return a signature of the files, which differs whenever they may have changed."""

    def waiting(self) -> int:
        """Count the passages that `catch_up` has not processed yet."""

    def unsearchable(self) -> int:
        """Count those of them that `find` can't find until then."""

    def catch_up(self, seconds: float) -> int:
        """Process waiting passages for about that many seconds; return how many still wait.

        Raises EmbedderUnavailable; what was done until then is kept.
        """

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:
        """Return the best passages in scope, best first."""

    def check(self) -> None:
        """Raise IndexDamaged unless the index can be opened and read."""

    def clear(self) -> None:
        """Empty the index, whatever state it is in."""

    def close(self) -> None:
        """Release files and memory; drop what was not committed."""


class RetrieverModule(Protocol):
    """What the module of a retriever defines."""

    MODES: tuple[str, ...]
    """The modes of search that query it: lexical, semantic, hybrid."""

    def fingerprint(self, settings: Settings) -> str:
        """Return what determines the stored data, without a secret; load no model."""

    def load(self, folder: Path, owner: str, settings: Settings) -> Retriever | None:
        """Open the index in `folder`; None when the settings turn it off.

        An index of another `owner` counts as damaged. Raises EmbedderUnavailable.
        """


CONDITIONS = "conditions"
"""Source of the reason of a hit where a query has no words, only conditions."""


class Reason(NamedTuple):
    """One part of a hit's score."""

    source: str
    """keyword, notes, vectors, neighbours, recency, access, supersedes, newer …"""
    detail: str
    score: float
    """The summand, or for a boost the factor."""


class Ranking(NamedTuple):
    """The scores of passages, by row."""

    owner: Mapping[int, int]
    """The document of each."""
    scores: Mapping[int, float]
    relevance: Mapping[int, float]
    """The share of a perfect match that each has; if they are ranked by it, the scores."""
    reasons: Callable[[int], list[Reason]]
    """Returns the parts of a passage's score; computed only for the passages that are shown."""


class Access(NamedTuple):
    """How often a note was returned, and when last (seconds since the epoch)."""

    times: int = 0
    last: float = 0.0
    opened: int = 0
    """How often it was opened, cited or confirmed."""
    last_opened: float = 0.0


NEVER = Access()
