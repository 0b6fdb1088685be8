"""The contract of an engine of the shared index, and the records that it takes and gives.

A repository has a name (`host/owner/name`) and one or more banks, each named by its folder in the
repository. What is published of a bank is its head: one commit, whole. Readers see the head before
a publication or after it, never a part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, Self, cast

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, in_json, plugins
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import BadInput, Hint, SharedUnavailable
from memory_bank.git import repository
from memory_bank.git.repository import read_remote_url
from memory_bank.shared.addresses import find_url_problem, parse_remote

KIND = "shared.engines"

NOT_CONFIGURED = "shared_not_configured"

UNREACHABLE = "shared_unreachable"

NOT_INSTALLED = "shared_not_installed"

NO_INDEX = "shared_no_index"

OTHER_VERSION = "shared_other_version"

OTHER_EMBEDDER = "shared_other_embedder"
"""Reasons of SharedUnavailable, which answers give as `fallback_reason`."""

REASONS = frozenset(
    {NOT_CONFIGURED, UNREACHABLE, NOT_INSTALLED, NO_INDEX, OTHER_VERSION, OTHER_EMBEDDER}
)


@in_json("place", "created", "id", "version", "embedder", "dimension", "notes", "passages", "banks")
class IndexInfo(NamedTuple):
    """A shared index: what was fixed when it was made, then what verbs add to that."""

    id: str
    """Random; tells two indices apart."""
    version: int
    """Of its tables."""
    embedder: str
    """The identity of the embedder of all vectors: `name:dimension:model_hash`."""
    dimension: int
    """Components of a vector; 0 if passages have none."""
    place: str = ""
    """Without user and password."""
    created: bool | None = None
    """Whether it was made now."""
    banks: tuple[Head, ...] | None = None
    """What is published, if that was asked."""

    @property
    def notes(self) -> int | None:
        """The number of published notes."""
        return None if self.banks is None else sum(head.notes for head in self.banks)

    @property
    def passages(self) -> int | None:
        """The number of published passages."""
        return None if self.banks is None else sum(head.passages for head in self.banks)


@in_json("repository", "bank", "commit", "committed_at", "published_at", "notes", "passages")
class Head(NamedTuple):
    """What is published of a bank."""

    repo: str
    bank: str
    """The bank's folder in the repository, such as `.memories`; empty for the repository itself."""
    commit: str
    committed: float
    """Time of the commit in seconds since the epoch."""
    published: float
    web: str = ""
    """Template of the web address of a line; see `web_addresses`. Empty if there is none."""
    notes: int = 0
    passages: int = 0

    @property
    def repository(self) -> str:
        """The name of its repository."""
        return self.repo

    @property
    def committed_at(self) -> str:
        """The time of the commit as ISO 8601."""
        return seconds_to_iso(self.committed)

    @property
    def published_at(self) -> str:
        """When it was published, as ISO 8601."""
        return seconds_to_iso(self.published)


class PublishedNote(NamedTuple):
    """A note as it is published."""

    path: str
    """Its name in the bank."""
    file: str
    """Its path in the repository."""
    id: str
    title: str
    type: str
    status: str
    tags: tuple[str, ...]
    created: float
    updated: float
    hidden: bool
    """Whether it is found only on request: archived."""
    rest: Mapping[str, Any]
    """`file_refs`, `symbol_refs`, `entity_refs`, `source_type`, `source_agent`, and `links`: lists
    of type and target, which is a note's path or, with `ghost:`, another name."""
    hash: str
    """Of all of this; a note with the same path and hash is not sent again."""


class Position(NamedTuple):
    """Where a passage stands in its note; it changes with the text above it."""

    ordinal: int
    """Number of its section; -1 for none."""
    line: int
    end_line: int


class PublishedPassage(NamedTuple):
    """A passage as it is published."""

    key: str
    """Hash of all but its position, as hex; a passage with the same key is not sent again."""
    path: str
    """Of its note."""
    position: Position
    headings: tuple[str, ...]
    text: str
    words: int
    terms: Mapping[int, float]
    """Saturated weight of each word, by its number; see `word_weights`."""
    vector: Sequence[float] | None
    """Of length 1; None if it has none."""


class KnownBank(NamedTuple):
    """What an engine has of a bank."""

    commit: str
    """The head's; empty if nothing was published."""
    notes: Mapping[str, str]
    """Hashes by path."""
    passages: int


class Publication(NamedTuple):
    """The difference between the head and the next one."""

    base: str
    """The commit that it replaces; empty if nothing was published."""
    head: Head
    notes: Sequence[PublishedNote] = ()
    """New and changed ones."""
    gone_notes: Sequence[str] = ()
    passages: Sequence[PublishedPassage] = ()
    """New ones."""
    gone_passages: Sequence[str] = ()
    moved: Mapping[str, Position] = MappingProxyType({})
    """Positions of others that changed, by key."""


class Where(NamedTuple):
    """Which passages may be found, before they are ranked."""

    repos: tuple[str, ...] = ()
    """One of them; a name may be its end: `name` or `owner/name`."""
    types: tuple[str, ...] = ()
    """One of them."""
    tags: tuple[str, ...] = ()
    """All of them."""
    since: float | None = None
    """Created or updated at that time or later."""
    before: float | None = None
    """Created before."""
    without_repo: str = ""
    """A repository of which nothing is found: the one that the asker stands in."""
    hidden: bool = False
    """Whether archived notes are found, too."""


class AskedWord(NamedTuple):
    """A word of a question."""

    number: int
    """See `word_weights.number_of`."""
    weight: float
    """Its weight in the question times its rarity."""
    passages: int
    """How many passages have it, by `frequencies`."""


class SharedMatch(NamedTuple):
    """A passage that was found; scores of one list can be compared with each other only."""

    row: int
    note: int
    """Number of its note, to group passages by."""
    score: float
    """BM25, or the cosine."""
    words: int
    """Length of the passage."""


class SharedPassage(NamedTuple):
    """A passage as an answer has it."""

    row: int
    head: Head
    """Of its bank."""
    note: PublishedNote
    position: Position
    headings: tuple[str, ...]
    text: str
    section: str
    """The text of all passages of its section."""
    words: int


class SharedEngine(Protocol):
    """An open connection to a shared index.

    All methods raise SharedUnavailable when the index can't be reached or used, Busy when it takes
    too long.
    """

    @property
    def place(self) -> str:
        """Where the index is, without user and password."""

    def __enter__(self) -> Self:
        """Return the engine itself."""

    def __exit__(self, *_: object) -> None:
        """Close the connection."""

    def is_made(self) -> bool:
        """Tell whether there is an index that may be read."""

    def make(self, embedder: str, dimension: int) -> IndexInfo:
        """Make the index; if it is there, return what was fixed then.

        Raises BadInput for what the role may not do, as `drop`.
        """

    def drop(self) -> bool:
        """Remove the index and all that is published; tell whether there was one."""

    def info(self) -> IndexInfo:
        """Return what was fixed when the index was made.

        Raises SharedUnavailable if its tables are missing, or of another version.
        """

    def one_state(self) -> AbstractContextManager[None]:
        """Let all questions within see one state of the index, however others publish."""

    def heads(self) -> list[Head]:
        """Return the heads of all banks, by repository and bank."""

    def known(self, repo: str, bank: str) -> KnownBank:
        """Return what the index has of a bank."""

    def positions(self, repo: str, bank: str, paths: Collection[str]) -> dict[str, Position]:
        """Return the positions of the passages of some notes by key."""

    def publish(self, publication: Publication) -> None:
        """Replace a bank's head in one transaction.

        Raises Conflict, and changes nothing, if the head is not the publication's base; BadInput if
        the role may not publish.
        """

    def remove(self, repo: str, bank: str) -> bool:
        """Remove all that is published of a bank; tell whether anything was."""

    def size(self) -> int:
        """Count the passages."""

    def frequencies(self, words: Collection[int]) -> dict[int, int]:
        """Count the passages that have each word."""

    def words(
        self, question_words: Sequence[AskedWord], limit: int, where: Where
    ) -> list[SharedMatch]:
        """Return the passages with the highest BM25 scores, best first.

        Of a question with frequent words, only passages that have one of the rarer ones are found.
        """

    def nearest(self, vector: Sequence[float], limit: int, where: Where) -> list[SharedMatch]:
        """Return the passages with the highest cosines, best first."""

    def passages(self, rows: Collection[int]) -> dict[int, SharedPassage]:
        """Return some passages by row; those that are gone are left out."""


class EngineModule(Protocol):
    """What the module of an engine has."""

    FORMS: tuple[str, ...]
    """What the URLs of its indices begin with."""

    def load(self) -> None:
        """Import what `connect` needs; raise SharedUnavailable if it is not installed."""

    def connect(self, url: str, *, seconds: float = 0.0) -> SharedEngine:
        """Connect to an index; raise as `open_engine`."""


def engine_module(url: str) -> EngineModule:
    """Return the module of the engine whose URL that is; by default, that of PostgreSQL."""
    for name in plugins.list_plugins(KIND):
        module = cast("EngineModule", plugins.load(KIND, name))
        if url.startswith(module.FORMS):
            return module
    return cast("EngineModule", plugins.load(KIND, "postgres"))


def open_engine(url: str, *, seconds: float = 0.0) -> SharedEngine:
    """Connect to the shared index at a URL; raise SharedUnavailable, BadSetting.

    With `seconds`, neither connecting nor any question takes longer than that.
    """
    if not url:
        raise SharedUnavailable(
            "no shared index is configured", Hint.SET_SHARED_URL, NOT_CONFIGURED
        )
    return engine_module(url).connect(url, seconds=seconds)


def check_embedder(info: IndexInfo, embedder: str) -> None:
    """Raise SharedUnavailable unless an embedder, given by its identity, is that of the index."""
    if info.embedder != embedder:
        name = info.embedder.partition(":")[0]
        raise SharedUnavailable(
            f"the shared index has vectors of the embedder {info.embedder}, not of {embedder}",
            'use the same one: [memory] embedder = "{name}"',
            OTHER_EMBEDDER,
            name=name,
        )


class Identity(NamedTuple):
    """Where a bank belongs."""

    repo: str
    """`host/owner/name`, or a name that was given."""
    bank: str
    """The bank's folder in the repository; empty for the repository itself."""
    project: str
    """The project's folder in the repository, with a slash; empty for the repository itself."""
    web: str
    """Template of the web address of a line; empty if there is none."""
    tree: Path


def bank_identity(bank: Bank, repo: str = "") -> Identity | None:
    """Return a bank's identity; None if it has none, as without a remote.

    `repo` is a name that was given; else the setting `shared.repository` counts, then the remote.
    Raises BadInput for what can't be a name.
    """
    place = bank.layout.origin
    tree = repository.find_worktree(place.root)
    if tree is None:
        return None
    remote = parse_remote(read_remote_url(tree))
    remote_name, web = remote or ("", "")
    name = repo or bank.settings.shared.repository
    if not name and remote is None:
        return None
    if name and (problem := find_url_problem(name)):
        raise BadInput(f"{name!r} can't name a repository: it {problem}", "write host/owner/name")
    return Identity(
        repo=name or remote_name,
        bank=repository.tree_prefix(tree, place.root).rstrip("/"),
        project=repository.tree_prefix(tree, place.project)
        if place.project.is_relative_to(tree)
        else "",
        web=web,
        tree=tree,
    )
