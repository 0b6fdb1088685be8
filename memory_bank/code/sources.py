"""The lanes of search in code: the files of a work tree but notes, and its commits."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from blake3 import blake3

from memory_bank.base import plugins
from memory_bank.base.documents import (
    UNDATED,
    Dates,
    Document,
    Passage,
    Read,
    Scan,
    Section,
    Signature,
    Source,
    Span,
    Unchanged,
    Unreadable,
    read_lines,
)
from memory_bank.base.errors import UnreadableNote
from memory_bank.base.filenames import FOLDER, StatSignature, is_trusted, signature_text
from memory_bank.base.paths import Layout
from memory_bank.base.setting_sections import Memory
from memory_bank.base.settings import Settings
from memory_bank.code.commits import CommitSubjects, message_reason
from memory_bank.code.index.symbol_table import REST, SymbolTable, divide_lines
from memory_bank.code.index.work_tree import LANE, WorkTree, is_markdown, likelihood_factor
from memory_bank.code.lookup import list_symbols
from memory_bank.code.parse import parsing
from memory_bank.git.commits import Commit, CommitsAt
from memory_bank.git.repository import hash_blob
from memory_bank.notes.characters import decode
from memory_bank.notes.source import READER, build_document
from memory_bank.search.candidates import Accesses
from memory_bank.search.engine import Hit, SearchResult
from memory_bank.search.index import Index, IndexView, ReopenedIndex, discard_manifest
from memory_bank.search.manifest import entries, filters
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.query import Query, parse
from memory_bank.search.ranking import FILES, NOTES, Weights
from memory_bank.search.retrievers.base import Scope

_MAX_PLAIN_BYTES = 200_000
"""Maximum bytes of a document that is not Markdown: a larger one is data."""

_MAX_BYTES = 4_000_000
"""Maximum bytes of a document; a larger one might take many seconds to parse."""

KIND = "code.sources"


class JoinedSources:
    """Our documents and those of installed sources, of which ours come first."""

    name = "files"

    def __init__(self, sources: Sequence[Source]) -> None:
        """Join some sources; of a document that two have, the first one is taken."""
        self._sources = tuple(sources)
        self._owners: dict[str, Source] = {}

    @property
    def fingerprint(self) -> str:
        """The versions of all."""
        return " ".join(f"{source.name}={source.fingerprint}" for source in self._sources)

    def scan(self) -> Scan:
        """Return the signatures of all documents."""
        signatures, refused = dict[str, Signature](), dict[str, str]()
        for source in reversed(self._sources):
            scan = source.scan()
            signatures |= scan.signatures
            refused |= scan.refused
            self._owners |= dict.fromkeys(scan.signatures, source)
        return Scan(signatures, refused)

    def refresh(self, *, again: bool = False) -> bool:
        """Update what signatures depend on."""
        changed = [source.refresh(again=again) for source in self._sources]
        return any(changed)

    def read(self, key: str, indexed_hash: str = "") -> Read:
        """Read a document."""
        owner = self._find_owner(key)
        return owner.read(key, indexed_hash) if owner else None

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the contract's word)
        """Return some lines of a document; None if its hash has changed."""
        owner = self._find_owner(key)
        return owner.text(key, hash, span) if owner else None

    def close(self) -> None:
        """Close all."""
        for source in self._sources:
            source.close()

    def _find_owner(self, key: str) -> Source | None:
        if key not in self._owners:
            self.scan()
        return self._owners.get(key)


def list_files(
    tree: WorkTree, table: SymbolTable, *, without: Iterable[str], subjects: CommitSubjects
) -> Source:
    """Return the files of a work tree, with the documents of installed sources.

    The function `open_source` of an installed source takes the work tree, and a function for its
    files now, without those of banks. The keys of its documents are paths of files of the work
    tree, or other names that are no such paths.
    """
    own = FileSource(tree, table, without=without, subjects=subjects)

    def files() -> Mapping[str, StatSignature]:
        all_files = table.scanned.files if table.scanned else {}
        return {path: file for path, file in all_files.items() if own.may_have(path)}

    sources = [
        plugins.load(KIND, name).open_source(tree, files) for name in plugins.list_plugins(KIND)
    ]
    return JoinedSources([own, *sources]) if sources else own


class FileSource(Source):
    """The files of code and the documents of a work tree that are in no bank.

    A file is found by its text, its path and the subjects of its commits. The sections of code are
    symbols and tests, those of Markdown have headings.
    """

    name = "files"

    def __init__(
        self,
        tree: WorkTree,
        table: SymbolTable,
        *,
        without: Iterable[str] = (),
        subjects: CommitSubjects | None = None,
    ) -> None:
        """Read those files that are neither at nor below a path of `without`.

        The table must be refreshed before a scan.
        """
        self._tree, self.table = tree, table
        self._without = tuple(posixpath.normpath(path) for path in without)
        self._subjects = subjects or CommitSubjects()

    @property
    def fingerprint(self) -> str:
        """The versions of the parsers and of this source."""
        return f"3 {READER} {parsing.parser_version()}"

    def scan(self) -> Scan:
        """Return the signatures of all files."""
        _ = self._subjects.generation  # read again if HEAD changed
        states = self.table.files().items()
        texts = {
            path: f"{file_state.blob.hex()} {file_state.ids}"
            for path, file_state in states
            if not file_state.reason
        }
        for path, document in self.table.documents.items():
            if self.may_have(path):
                texts[path] = signature_text(document)
        return Scan({path: f"{word} {self._subjects.hash(path)}" for path, word in texts.items()})

    def read(self, key: str, etag: str = "") -> Read:
        """Read a file; one that has changed since the table was refreshed has no signature."""
        tree_read = self._tree.read(key)
        if tree_read is None:
            return None
        state = self.table.files().get(key)
        signature, size = "", len(tree_read.data)
        if state is None:
            if tree_read.signature and is_trusted(tree_read.signature):
                signature = signature_text(tree_read.signature)
        elif state.blob == hash_blob(tree_read.data):
            signature = f"{state.blob.hex()} {state.ids}"
        signature = signature and f"{signature} {self._subjects.hash(key)}"
        if tree_read.reason:
            return Unreadable(tree_read.reason, signature, size=size)
        hashed = self._hash_document(key, tree_read.data)
        if hashed == etag:
            return Unchanged(signature, UNDATED)
        if state is None and size > (_MAX_BYTES if is_markdown(key) else _MAX_PLAIN_BYTES):
            return Unreadable("a document of many bytes", signature, hashed, size)
        try:
            document = self._make_document(key, tree_read.data, signature)
        except UnreadableNote as error:
            return Unreadable(error.message, signature, hashed, size)
        return document._replace(
            hash=hashed, size=size, signature=signature, about="\n".join(self._subjects.of(key))
        )

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the contract's word)
        """Return some lines of a file; None if it has changed."""
        tree_read = self._tree.read(key)
        if tree_read is None or self._hash_document(key, tree_read.data) != hash:
            return None
        return read_lines(decode(tree_read.data).text, span)

    def may_have(self, path: str) -> bool:
        """Tell whether a file may be a document: it is in no bank."""
        if f"{FOLDER}/" in path and FOLDER in path.split("/")[:-1]:
            return False
        return not any(
            without in {".", path} or path.startswith(f"{without}/") for without in self._without
        )

    def _hash_document(self, path: str, data: bytes) -> str:
        """Return digits that change with whatever a document is made of."""
        state = self.table.files().get(path)
        ids = state.ids if state else ""
        return blake3(data + f"\0{ids}\0{self._subjects.hash(path)}".encode()).hexdigest()[:32]

    def _make_document(self, path: str, data: bytes, signature: Signature) -> Document:
        """Return code by its symbols and tests, Markdown by its headings, other text by lines."""
        state = self.table.files().get(path)
        if state is None and is_markdown(path):
            from memory_bank.notes import parsing as notes

            document = build_document(
                notes.parse(path, data), UNDATED, "", signature, included=True
            )
            return document._replace(fields=(*document.fields, (LANE, "docs")))
        lines = decode(data).text.split("\n")
        sections = self._list_sections(path) if state else []
        lanes = {LANES_OF_KIND.get(dict(section.fields)["kind"], "symbols") for section in sections}
        fields = [(LANE, lane) for lane in sorted(lanes or {"docs"})]
        fields += [("language", state.language)] if state else []
        return Document(
            path, "", path, tuple(_yield_passages(lines, sections)), fields=tuple(fields),
            sections=tuple(sections),
        )  # fmt: skip

    def _list_sections(self, path: str) -> list[Section]:
        """Return the symbols and tests of a file; a symbol that is in a test is none."""
        tests = self.table.tests("f.path = ?", path)
        sections = [
            Section(
                test.intent.line,
                test.intent.end_line,
                (test.intent.title,),
                test.id,
                (
                    ("kind", "test"),
                    ("language", test.language),
                    ("framework", test.intent.framework.casefold()),
                ),
            )
            for test in tests
        ]
        for row in list_symbols(self.table, path):
            symbol = row.symbol
            if not row.test:
                headings = tuple(filter(None, symbol.qualified.split(".")))
                fields = (
                    ("kind", symbol.kind),
                    ("language", row.language),
                    ("symbol", symbol.name.casefold()),
                )
                sections.append(Section(symbol.line, symbol.end_line, headings, row.id, fields))
        return sorted(sections, key=lambda section: (section.line, -section.end_line))


LANES_OF_KIND = {"test": "tests"}
"""What sections of a kind are; others are symbols."""


def _yield_passages(lines: Sequence[str], sections: Sequence[Section]) -> Iterator[Passage]:
    """Yield the passages of a file, of which each has lines of the innermost section only."""
    owners = [REST] * (len(lines) + 1)
    for number, section in enumerate(sections):
        end = min(section.end_line, len(owners))
        owners[section.line : end] = [number] * max(0, end - section.line)
    owned: dict[int, list[int]] = {}
    for line, owner in enumerate(owners[1:], 1):
        owned.setdefault(owner, []).append(line)
    passages = [
        passage
        for owner, owned_lines in owned.items()
        for passage in divide_lines(lines, owned_lines, owner)
    ]
    yield from sorted(passages, key=lambda passage: passage.line)


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
        self._scanned: tuple[str, Scan] = "", Scan({})

    def scan(self) -> Scan:
        """Return the commits; as of the last time if git can't say."""
        at = self._reached()
        if at is not None and at.key != self._scanned[0]:
            ids = {commit.id: commit.id for commit in at.commits(worded=_FEWEST_WORDS)}
            self._at, self._scanned = at, (at.key, Scan(ids))
        return self._scanned[1]

    def read(self, key: str, etag: str = "") -> Read:
        """Read a commit."""
        commit = self._find_commit(key)
        if commit is None:
            return None
        if etag == key:
            return Unchanged(key, UNDATED)
        lines = _split_message(commit)
        return Document(
            key,
            key,
            commit.subject,
            tuple(divide_lines(lines, range(1, len(lines) + 1), REST)),
            dates=Dates(commit.written, commit.written, stated=False),
            data={"author": commit.author},
            about=commit.author,
            signature=key,
        )

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002, ARG002  (the contract's)
        """Return some lines of a commit's message, of which the first is its subject."""
        commit = self._find_commit(key)
        return None if commit is None else read_lines("\n".join(_split_message(commit)), span)

    def _find_commit(self, key: str) -> Commit | None:
        self._at = self._at or self._reached()
        return None if self._at is None else self._at.commit(key)


def _split_message(commit: Commit) -> list[str]:
    body = message_reason(commit)
    return [commit.subject, "", *body.split("\n")] if body else [commit.subject]


TESTS_ONLY = ("kind", "test")
"""The condition by which tests alone are found."""

_TEST_WEIGHTS = Weights(1.0, 0.25, 0.4)
"""A test is found by its own words: beside the code that it guards, all of the file says little."""

_CONDITION_KEYS = ("in", "kind", "language")
"""Keys of conditions in a query."""


class CodeLane(ReopenedIndex):
    """A source with its index in the user's cache."""

    def __init__(
        self, root: Path, folder: Path, source: Source, settings: Settings, accesses: Accesses
    ) -> None:
        super().__init__()
        self.source = source
        self._place = Layout(root, folder)
        self._settings = _use_quick_embedder(settings)
        self._accesses = accesses

    def empty(self) -> bool:
        """Tell whether there is no index, and nothing to make one of."""
        return not self._place.manifest.exists() and not self.source.scan().signatures

    def close(self) -> None:
        """Close all files; they are opened again when needed."""
        self._drop()
        self.source.close()

    def opened(self) -> IndexView:
        """Return the index, opened again when its files were deleted or replaced."""
        if self._view is not None and not self._view.index.current():
            self._drop()
            self.source.close()  # the new index must be compared with all documents
        if self._view is None:
            self._place.make_index()
            # a commit mostly has one passage, which then stands for the whole message
            without = {"notes"} if self.source.name == "commits" else ()
            index = Index(self._place, self.source, self._settings, without=without)
            self._view = IndexView(index, self.source, self._settings, self._accesses)
        return self._view

    def rebuild(self) -> None:
        """Remove the manifest, and build the index again from the files."""
        self._drop()
        self._place.make_index()
        discard_manifest(self._place)
        self.source.close()
        self.opened().index.indexer.sync()

    def search(
        self,
        text: str,
        conditions: Sequence[tuple[str, str]],
        *,
        mode: str,
        limit: int,
        now: float,
        parts: bool = False,
    ) -> SearchResult[Hit]:
        """Return the best hits that meet the conditions given and those in the text."""
        parsed = parse(Query(text, reads_times=False), _CONDITION_KEYS)
        query_conditions = [
            (condition.key, str(condition.value))
            for condition in parsed.conditions
            if condition.key in _CONDITION_KEYS
        ]
        by_file = self.source.name == "files" and not parts
        tests_only = TESTS_ONLY in conditions

        def factors(paths: Collection[str]) -> dict[str, float]:
            factors = {path: likelihood_factor(path, text) for path in paths}
            return {path: factor for path, factor in factors.items() if factor != 1}

        return self.read(
            lambda view: view.engine.search(
                parsed.question,
                _find_scope(view, [*conditions, *query_conditions]),
                mode=mode,
                limit=limit,
                now=now,
                unit="documents" if by_file else "sections",
                factors=factors if self.source.name == "files" and not tests_only else None,
                weights=_TEST_WEIGHTS if tests_only else FILES if by_file else NOTES,
            )
        )


def _use_quick_embedder(settings: Settings) -> Settings:
    """Use word vectors in place of the default embedder: they serve code as well, and at once."""
    if settings.memory.embedder != Memory().embedder:
        return settings
    return settings._replace(memory=settings.memory._replace(embedder="static"))


def _find_scope(view: IndexView, conditions: Sequence[tuple[str, str]]) -> Scope:
    """Return the passages that meet conditions on folder, kind and language."""
    file_conditions = [Condition(key, value) for key, value in conditions if key != "kind"]
    scope = filters.find_scope(view.manifest, file_conditions, hidden=True)
    for key, value in conditions:
        if key == "kind":
            parts = [part.strip().casefold() for part in value.split(",") if part.strip()]
            rows = entries.passages_with(view.manifest, key, parts)
            rows_in_scope = {
                row: document for row, document in rows.items() if scope.holds(row, document)
            }
            scope = Scope(only=frozenset(rows_in_scope.values()), rows=frozenset(rows_in_scope))
    return scope
