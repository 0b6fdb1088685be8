"""The contract of a retriever; no caller may know where its index is."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from memory_bank.config import Settings

Unit = Literal["passages", "documents"]
"""What a retriever finds: passages, or documents by the row of their first passage."""

TEXT_VERSION = 2
"""Of what is embedded: passages are put again when it changes, those with new texts embedded. It
stands here since whoever asks whether an index is complete need not load what embeds."""


class Entry(NamedTuple):
    """A passage to be found, with what its document says about it."""

    row: int
    """Number of the passage; never given again to another while the index lives."""
    document: int
    """Number of its document."""
    title: str
    headings: tuple[str, ...]
    text: str
    words: int
    about: str = ""
    """Further words of the document, on its first passage only."""


class Question(NamedTuple):
    """What is looked for: the words as typed, and what must or must not be there."""

    text: str
    required: tuple[str, ...] = ()
    """Phrases without which a passage is no hit."""
    excluded: tuple[str, ...] = ()
    """Words and phrases with which a passage is no hit."""
    preferred: tuple[str, ...] = ()
    """Phrases that make a passage a better hit."""

    @property
    def strict(self) -> bool:
        """Tell whether something must, or must not, be there."""
        return bool(self.required or self.excluded)


class Scope:
    """Which documents may be found, by number."""

    __slots__ = ("only", "without")

    def __init__(
        self, only: frozenset[int] | None = None, without: frozenset[int] = frozenset()
    ) -> None:
        """Let those in `only` be found, None for all, but none of those in `without`."""
        self.only = only
        self.without = without

    def __contains__(self, document: int) -> bool:
        """Tell whether a document may be found."""
        return (self.only is None or document in self.only) and document not in self.without

    def narrowed(self, documents: Collection[int]) -> "Scope":
        """Return this scope with none but those documents."""
        return Scope(only=frozenset(document for document in documents if document in self))


class Match(NamedTuple):
    """A passage that was found; scores of one retriever compare with each other only."""

    row: int
    document: int
    score: float
    words: int = 0
    """How long the passage is, where the retriever knows it."""


class Matches:
    """What one retriever found, best first: a column for each part of a match.

    Hundreds are ranked for ten that are shown; making an object of each costs as much as finding
    them.
    """

    __slots__ = ("documents", "rows", "scores", "words")

    def __init__(
        self,
        rows: Sequence[int] = (),
        documents: Sequence[int] = (),
        scores: Sequence[float] = (),
        words: Sequence[int] = (),
    ) -> None:
        """Take the columns, which are all of one length; `words` may be empty."""
        self.rows = rows
        self.documents = documents
        self.scores = scores
        self.words = words

    def __len__(self) -> int:
        """Count the matches."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Match]:
        """Return the matches one by one."""
        words = self.words or repeat(0)
        return map(Match, self.rows, self.documents, self.scores, words)

    @classmethod
    def of(cls, matches: Iterable[Match]) -> Self:
        """Gather single matches."""
        columns = tuple(zip(*matches, strict=True))
        return cls(*columns) if columns else cls()


class Retriever(Protocol):
    """An index of passages that is filled by the indexer and asked by the search engine.

    All methods raise IndexDamaged when the index is missing or broken; `clear` repairs that.
    """

    @property
    def name(self) -> str:
        """The plug-in's name, as in reasons."""

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes of search that ask it: lexical, semantic, hybrid."""

    @property
    def unit(self) -> Unit:
        """What it finds."""

    @property
    def weight(self) -> float:
        """What its list weighs in fusion, that of words having 1."""

    @property
    def explanation(self) -> str:
        """What it found a passage by, as a reason says it: "its words"."""

    @property
    def version(self) -> str:
        """Change when what is kept changes; the indexer then fills it anew."""

    @property
    def slow(self) -> bool:
        """Whether filling it anew may take long, so that a question must not wait for it."""

    def again(self) -> Collection[int]:
        """Return documents that are better put again with a few others than left as they are."""

    def put(self, entries: Sequence[Entry], replaced: Collection[int]) -> None:
        """Take entries in; whatever was there of the documents in `replaced` goes. Idempotent."""

    def commit(self) -> None:
        """Make everything put so far durable and visible to all processes."""

    def holds(self, entries: Mapping[int, int]) -> bool:
        """Tell whether just these passages are in the index: row numbers to document numbers."""

    def state(self) -> str:
        """Return what is another one whenever its files are: they need not be looked into again."""

    def waiting(self) -> int:
        """Count the passages whose slow part is still to be done by `catch_up`."""

    def catch_up(self, seconds: float) -> int:
        """Do slow work for about that many seconds; return how many passages still wait.

        Raises EmbedderUnavailable; what was done until then is kept.
        """

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:
        """Return the best passages in scope, best first."""

    def check(self) -> None:
        """Raise IndexDamaged unless the index can be opened and read."""

    def clear(self) -> None:
        """Empty the index, whatever state it is in."""

    def close(self) -> None:
        """Let go of files and memory; what was not committed is dropped."""


class RetrieverModule(Protocol):
    """What the file of a retriever offers."""

    MODES: tuple[str, ...]
    """The modes of search that ask it, known without loading it."""

    def fingerprint(self, settings: "Settings") -> str:
        """Return all that decides how the index is filled, without loading a model or a secret."""

    def load(self, folder: Path, owner: str, settings: "Settings") -> Retriever | None:
        """Open the index in `folder`; None when the settings turn it off.

        It is taken for damaged when another `owner` filled it. Raises EmbedderUnavailable.
        """
