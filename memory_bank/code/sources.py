"""The sources of the code's index: symbols, tests, documents that are no notes, and commits."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol, cast

from memory_bank.base import plugins
from memory_bank.base.documents import (
    UNDATED,
    Dates,
    Document,
    Read,
    Scan,
    Section,
    Signature,
    Source,
    Span,
    Unchanged,
    Unreadable,
    lines_between,
)
from memory_bank.base.errors import UnreadableNote
from memory_bank.base.filenames import FOLDER, StatSignature, signature_text, trusted
from memory_bank.code.commits import CommitSubjects, reason_of
from memory_bank.code.index.database import IntentRow, SymbolRow
from memory_bank.code.index.symbol_table import (
    REST,
    CodeSource,
    FileParts,
    SymbolTable,
    divided,
    said,
)
from memory_bank.code.index.work_tree import WorkTree, is_markdown
from memory_bank.code.lookup import in_file
from memory_bank.git.commits import Commit, CommitsAt
from memory_bank.notes.characters import decode
from memory_bank.notes.identity import etag
from memory_bank.notes.source import READER, document_of

_MAX_PLAIN_BYTES = 200_000
"""Maximum bytes of a document that is not Markdown: a larger one is data."""

_MAX_BYTES = 4_000_000
"""Maximum bytes of a document; a larger one might take many seconds to parse."""


KIND = "code.sources"


class SourceModule(Protocol):
    """What an installed source of documents has."""

    def open_source(
        self, tree: WorkTree, files: Callable[[], Mapping[str, StatSignature]]
    ) -> Source:
        """Return a source for a work tree; `files` gives its files now, without those of banks.

        Its keys are paths of files of the work tree, or other names that are no such paths.
        """


class JoinedSources:
    """Our documents and those of installed sources, of which ours come first."""

    name = "docs"

    def __init__(self, sources: Sequence[Source]) -> None:
        """Join some sources; of a document that two have, the first one is taken."""
        self._sources = tuple(sources)
        self._owners: dict[str, Source] = {}

    @property
    def fingerprint(self) -> str:
        """The versions of all."""
        return " ".join(f"{one.name}={one.fingerprint}" for one in self._sources)

    def scan(self) -> Scan:
        """Return the signatures of all documents."""
        found = Scan()
        for source in reversed(self._sources):
            one = source.scan()
            found.signatures |= one.signatures
            found.refused |= one.refused
            self._owners |= dict.fromkeys(one.signatures, source)
        return found

    def refresh(self, *, again: bool = False) -> bool:
        """Update what signatures depend on."""
        changed = [source.refresh(again=again) for source in self._sources]
        return any(changed)

    def read(self, key: str, known: str = "") -> Read:
        """Read a document."""
        owner = self._owner(key)
        return owner.read(key, known) if owner else None

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the contract's word)
        """Return some lines of a document; None if its hash has changed."""
        owner = self._owner(key)
        return owner.text(key, hash, span) if owner else None

    def close(self) -> None:
        """Close all."""
        for source in self._sources:
            source.close()

    def _owner(self, key: str) -> Source | None:
        if key not in self._owners:
            self.scan()
        return self._owners.get(key)


def documents_of(
    tree: WorkTree, table: SymbolTable, *, without: Iterable[str], subjects: CommitSubjects
) -> Source:
    """Return the documents of a work tree, with those of installed sources."""
    own = DocSource(tree, lambda: table.documents, without=without, subjects=subjects)

    def files() -> Mapping[str, StatSignature]:
        found = table.scanned.files if table.scanned else {}
        return {path: one for path, one in found.items() if own.may_have(path)}

    modules = [cast("SourceModule", plugins.load(KIND, name)) for name in plugins.names(KIND)]
    others = [module.open_source(tree, files) for module in modules]
    return JoinedSources([own, *others]) if others else own


class DocSource(Source):
    """The documents of a work tree."""

    name = "docs"
    fingerprint = f"1 {READER}"

    def __init__(
        self,
        tree: WorkTree,
        files: Callable[[], Mapping[str, StatSignature]],
        *,
        without: Iterable[str] = (),
        subjects: CommitSubjects | None = None,
    ) -> None:
        """Read those of `files` that are neither at nor below a path of `without`.

        Files of any bank are left out, too.
        """
        self._tree = tree
        self._files = files
        self._subjects = subjects or CommitSubjects()
        self._without = tuple(posixpath.normpath(path) for path in without)

    def scan(self) -> Scan:
        """Return the signatures of all documents."""
        return Scan(self._signatures())

    def read(self, key: str, known: str = "") -> Read:
        """Read a document."""
        found = self._tree.read(key)
        if found is None:
            return None
        signature = ""
        if found.signature and trusted(found.signature):
            signature = f"{signature_text(found.signature)} {self._subjects.hash(key)}"
        size = len(found.data)
        if found.reason:
            return Unreadable(found.reason, signature, size=size)
        hashed = self._hash(key, found.data)
        if hashed == known:
            return Unchanged(signature, UNDATED)
        limit = _MAX_BYTES if is_markdown(key) else _MAX_PLAIN_BYTES
        if size > limit:
            return Unreadable(f"a document of more than {limit:,} bytes", signature, hashed, size)
        try:
            document = _document(key, found.data, signature)
        except UnreadableNote as error:
            return Unreadable(error.message, signature, hashed, size)
        passages = (*document.passages, *said(self._subjects.of(key)))
        return document._replace(hash=hashed, passages=passages)

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the contract's word)
        """Return some lines of a document; None if its bytes have changed."""
        found = self._tree.read(key)
        if found is None or self._hash(key, found.data) != hash:
            return None
        return lines_between(decode(found.data).text, span)

    def _signatures(self) -> dict[str, Signature]:
        _ = self._subjects.generation
        return {
            path: f"{signature_text(one)} {self._subjects.hash(path)}"
            for path, one in self._files().items()
            if self.may_have(path)
        }

    def _hash(self, path: str, data: bytes) -> str:
        return etag(data) + self._subjects.hash(path)

    def may_have(self, path: str) -> bool:
        """Tell whether a file may be a document: it is in no bank."""
        if f"{FOLDER}/" in path and FOLDER in path.split("/")[:-1]:
            return False
        return not any(one in {".", path} or path.startswith(f"{one}/") for one in self._without)


def _document(path: str, data: bytes, signature: Signature) -> Document:
    """Return a file as a document: Markdown by its sections, other text by its lines alone."""
    from memory_bank.notes import parsing

    if is_markdown(path):
        note = parsing.parse(path, data)
        return document_of(note, UNDATED, "", signature, included=True)
    lines = decode(data).text.split("\n")
    passages = tuple(divided(lines, range(1, len(lines) + 1), REST))
    return Document(path, "", path, passages, size=len(data), signature=signature)


_TEST = -2
"""The owner of lines of tests, which another source has."""


class SymbolSource(CodeSource):
    """Symbols that are no tests; what is outside of symbols is in no section."""

    name = "symbols"

    def parts(self, path: str, lines: Sequence[str]) -> FileParts:
        """Give each line to the innermost symbol that has it."""
        rows = sorted(
            in_file(self._table, path), key=lambda one: (one.symbol.line, -one.symbol.end_line)
        )
        owners = [REST] * (len(lines) + 1)
        shown: list[SymbolRow] = []
        for row in rows:
            start, end = row.symbol.line, min(row.symbol.end_line, len(owners))
            owner = len(shown)
            if row.test or owners[min(start, len(lines))] == _TEST:
                owner = _TEST
            else:
                shown.append(row)
            owners[start:end] = [owner] * max(0, end - start)
        owned: dict[int, list[int]] = {}
        for number in range(1, len(owners)):
            owned.setdefault(owners[number], []).append(number)
        passages = [
            passage
            for owner in (*range(len(shown)), REST)
            for passage in divided(lines, owned.get(owner, ()), owner)
        ]
        passages.sort(key=lambda one: one.line)
        return FileParts(tuple(map(_symbol_section, shown)), tuple(passages))


def _symbol_section(row: SymbolRow) -> Section:
    symbol = row.symbol
    fields = (("kind", symbol.kind), ("language", row.language), ("symbol", symbol.name.casefold()))
    headings = tuple(part for part in symbol.qualified.split(".") if part)
    return Section(symbol.line, symbol.end_line, headings, row.id, fields)


class TestSource(CodeSource):
    """The files that have tests, and nothing else of them."""

    __test__ = False
    name = "tests"

    def included(self) -> Collection[str]:
        """Return the files that have tests."""
        rows = self._table.rows("SELECT DISTINCT f.path FROM tests JOIN files AS f ON f.id = file")
        return {path for (path,) in rows}

    def parts(self, path: str, lines: Sequence[str]) -> FileParts:
        """Give each test the lines of it that no test inside it has."""
        rows = self._table.tests("f.path = ?", path)
        rows.sort(key=lambda one: (one.intent.line, -one.intent.end_line))
        owners = [-1] * (len(lines) + 1)
        for number, row in enumerate(rows):
            start, end = row.intent.line, min(row.intent.end_line, len(owners))
            owners[start:end] = [number] * max(0, end - start)
        owned: dict[int, list[int]] = {}
        for line, owner in enumerate(owners):
            owned.setdefault(owner, []).append(line)
        passages = [
            passage
            for number in range(len(rows))
            for passage in divided(lines, owned.get(number, ()), number)
        ]
        passages.sort(key=lambda one: one.line)
        return FileParts(tuple(map(_test_section, rows)), tuple(passages))


def _test_section(row: IntentRow) -> Section:
    intent = row.intent
    fields = (
        ("kind", "test"),
        ("language", row.language),
        ("framework", intent.framework.casefold()),
    )
    return Section(intent.line, intent.end_line, (intent.title,), row.id, fields)


_FEWEST_WORDS = 12
"""Words of the message of a commit that tells why; a shorter one says what its change shows."""


class CommitSource(Source):
    """The commits up to HEAD whose messages say why, by id: their subjects and bodies."""

    name = "commits"
    fingerprint = "1"

    def __init__(self, reached: Callable[[], CommitsAt | None]) -> None:
        """Read the commits that `reached` returns; None if git can't say in time."""
        self._reached = reached
        self._at: CommitsAt | None = None
        self._scanned: tuple[str, Scan] = "", Scan()

    def scan(self) -> Scan:
        """Return the commits; as of the last time if git can't say."""
        at = self._reached()
        if at is not None and at.key != self._scanned[0]:
            found = {one.id: one.id for one in at.commits(worded=_FEWEST_WORDS)}
            self._at, self._scanned = at, (at.key, Scan(found))
        return self._scanned[1]

    def read(self, key: str, known: str = "") -> Read:
        """Read a commit."""
        commit = self._commit(key)
        if commit is None:
            return None
        if known == key:
            return Unchanged(key, UNDATED)
        return Document(
            key,
            key,
            commit.subject,
            tuple(divided(_lines(commit), range(1, len(_lines(commit)) + 1), REST)),
            dates=Dates(commit.written, commit.written, stated=False),
            data={"author": commit.author},
            about=commit.author,
            signature=key,
        )

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002, ARG002  (the contract's)
        """Return some lines of a commit's message, of which the first is its subject."""
        commit = self._commit(key)
        return None if commit is None else lines_between("\n".join(_lines(commit)), span)

    def _commit(self, key: str) -> Commit | None:
        self._at = self._at or self._reached()
        return None if self._at is None else self._at.commit(key)


def _lines(commit: Commit) -> list[str]:
    body = reason_of(commit)
    return [commit.subject, "", *body.split("\n")] if body else [commit.subject]
