"""What the sources of symbols and of tests share: a document is a file of code."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from blake3 import blake3

from memory_bank.repo import git, parsing
from memory_bank.repo.subjects import NoSubjects, Subjects
from memory_bank.repo.symbol_table import FileState, SymbolTable
from memory_bank.source import (
    UNDATED,
    Document,
    Passage,
    Read,
    Scan,
    Section,
    Signature,
    Span,
    Unchanged,
)

SIZE = 1000
"""Approximate size of a passage in characters: thirty lines of code."""
_LONGEST_LINE = 2000
"""Characters of a line that are indexed."""
REST = -1
"""The section of lines that are in none."""


class Parts(NamedTuple):
    """What a source says of a file: its sections and its passages."""

    sections: tuple[Section, ...]
    passages: tuple[Passage, ...]
    keywords: str = ""


class CodeSource:
    """The files of a table as documents; subclasses say what their sections are."""

    name = "code"
    version = "2"

    def __init__(self, table: SymbolTable, subjects: Subjects | None = None) -> None:
        """Read the files of a table, which must be refreshed before a scan.

        They are found by the `subjects` of their commits, too.
        """
        self._table = table
        self._subjects = subjects or NoSubjects()
        self._seen: tuple[int, object] = (-1, None)

    @property
    def fingerprint(self) -> str:
        """The versions of the parser and of this source."""
        return f"{self.version} {parsing.VERSION}"

    def included(self) -> Collection[str] | None:
        """Return the files that are documents; None for all."""
        return None

    def parts(self, path: str, lines: Sequence[str]) -> Parts:
        """Return the sections and passages of a file of some lines."""
        raise NotImplementedError

    def scan(self) -> Scan:
        """Return the signatures of all documents."""
        return Scan(self._signatures(self._table.files()))

    def look(self, keys: Collection[str]) -> Scan | None:
        """Return the signatures of some documents."""
        files = self._table.files()
        return Scan(self._signatures({key: files[key] for key in keys if key in files}))

    def changes(self) -> frozenset[str] | None:
        """Return no keys if the table is as at the last call, else None."""
        before = self._seen
        self._seen = self._table.generation, self._subjects.generation
        return frozenset() if before == self._seen else None

    def refresh(self, *, again: bool = False) -> bool:  # noqa: ARG002  (the contract's)
        """Depend on nothing else."""
        return False

    def read(self, key: str, known: str = "") -> Read:
        """Read a file; one that has changed since the table was refreshed has no signature."""
        state = self._table.files().get(key)
        if state is None or state.reason:
            return None
        signature = self._signature(state, key)
        hashed = _hash(signature)
        if hashed == known:
            return Unchanged(signature, UNDATED)
        found = self._table.tree.read(key)
        if found is None or found.reason:
            return None
        lines = found.data.decode("utf-8", "replace").split("\n")
        parts = self.parts(key, lines)
        return Document(
            key=key,
            hash=hashed,
            title=key,
            passages=(*parts.passages, *said(self._subjects.of(key))),
            fields=(("language", state.language),),
            keywords=parts.keywords,
            sections=parts.sections,
            size=len(found.data),
            signature=signature if git.blob(found.data) == state.blob else "",
        )

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the contract's word)
        """Return some lines of a file; None if it has changed."""
        state = self._table.files().get(key)
        if state is None or _hash(self._signature(state, key)) != hash:
            return None
        found = self._table.tree.read(key)
        if found is None or git.blob(found.data) != state.blob:
            return None
        lines = found.data.decode("utf-8", "replace").split("\n")
        return "\n".join(lines[span.line - 1 : span.end_line - 1])

    def close(self) -> None:
        """Look at the table again at the next call."""
        self._seen = (-1, None)

    def _signatures(self, files: dict[str, FileState]) -> dict[str, Signature]:
        wanted = self.included()
        return {
            path: self._signature(state, path)
            for path, state in files.items()
            if not state.reason and (wanted is None or path in wanted)
        }

    def _signature(self, state: FileState, path: str) -> Signature:
        return f"{state.blob.hex()} {state.ids} {self._subjects.hash(path)}"


def said(subjects: Sequence[str]) -> Iterator[Passage]:
    """Yield passages of what commits said of a file, at its first line and in no section."""
    for one in divided(subjects, range(1, len(subjects) + 1), REST):
        yield one._replace(line=1, end_line=2)


def divided(
    lines: Sequence[str], numbers: Iterable[int], section: int, size: int = SIZE
) -> Iterator[Passage]:
    """Divide lines of a file, given by 1-based numbers in order, into passages of about `size`.

    Lines without a letter or digit don't begin a passage. Indentation is dropped.
    """
    part: list[str] = []
    first = last = length = 0
    for number in numbers:
        text = lines[number - 1].strip()[:_LONGEST_LINE] if number <= len(lines) else ""
        if not part and not any(map(str.isalnum, text)):
            continue
        if part and length + len(text) > size:
            yield Passage(first, last + 1, "\n".join(part), section)
            part, length = [], 0
        if not text:
            continue
        first = first if part else number
        part.append(text)
        last, length = number, length + len(text) + 1
    if part:
        yield Passage(first, last + 1, "\n".join(part), section)


def _hash(signature: Signature) -> str:
    return blake3(signature.encode()).hexdigest()[:32]
