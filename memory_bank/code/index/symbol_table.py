"""The symbols, calls, imports and tests of one work tree, kept up to date with its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from memory_bank.base import sqlite
from memory_bank.base.documents import Passage
from memory_bank.base.filenames import StatSignature, is_trusted, signature_text
from memory_bank.base.locks import WAIT, hold_lock
from memory_bank.base.paths import private_folder
from memory_bank.code.index.database import (
    CodeDatabase,
    FileRow,
    parse_names,
    replace_files,
)
from memory_bank.code.index.work_tree import TreeScan, WorkTree, is_document
from memory_bank.code.languages.base import detect_language, may_hold_tests
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import EXAMPLE, Import, ParsedFile
from memory_bank.code.parse.parsing import Key, ParseCache
from memory_bank.git import repository
from memory_bank.search.document_changes import Progress

_BATCH = 200
"""Files in one transaction; after a kill, the others are read again."""

_BUILD_FILES = frozenset({"go.mod", "Cargo.toml"})

_IMPORTS = "SELECT f.path, target, names, line, bound FROM imports JOIN files AS f ON f.id = file"

_REFUSED = "SELECT path, reason FROM refused"


class SymbolTable(CodeDatabase):
    """The table of one work tree in the user's cache; other processes may write it, too."""

    def __init__(self, tree: WorkTree, folder: Path, cache: ParseCache) -> None:
        """Keep it in `folder`; what was parsed is also kept in `cache`."""
        super().__init__(folder / "files.db")
        self.tree = tree
        self._folder = folder
        self._cache = cache
        self._first_lines = FirstLines(tree)
        self._files: tuple[int, dict[str, FileRow]] = (-1, {})
        self.scanned: TreeScan | None = None
        """All files of the work tree, as of the last refresh."""
        self.documents: Mapping[str, StatSignature] = {}
        """The Markdown files of the work tree, as of the last refresh."""
        self.build_files: Sequence[str] = ()
        """The files that name modules and crates, as of the last refresh."""

    def refresh(self, progress: Progress | None = None, *, wait: float = WAIT) -> bool:
        """Read the files whose signatures changed; tell whether any symbol may have changed.

        Raises StorageFailed if git can't list the files, Busy if another process reads them for
        longer than `wait` seconds.
        """
        self.scanned = self.tree.scan()
        scan = self.scanned.filter(_is_code_name)
        self.build_files = [path for path in scan.files if _file_name(path) in _BUILD_FILES]
        self.documents = {
            path: scan.files.pop(path) for path in list(scan.files) if _is_document(path)
        }
        for path in self.build_files:
            scan.files.pop(path, None)  # some are documents, too
        scripts = self._first_lines.languages(self.scanned.files)
        scan.files.update((path, self.scanned.files[path]) for path in scripts)
        if not self._has_changed(scan):
            return False
        with hold_lock(self._folder, wait=wait, make=lambda: private_folder(self._folder)):
            return self._update(scan, progress or (lambda *_: None))

    def discard(self) -> None:
        """Remove the table, to be made again by the next refresh."""
        self.close()
        self._files = (-1, {})
        sqlite.remove(self.file)

    def files(self) -> dict[str, FileRow]:
        """Return the files of code by path, those that were refused when read included."""
        generation = self.generation
        if self._files[0] != generation:
            rows = self.rows("SELECT path, language, signature, blob, size, ids, reason FROM files")
            self._files = generation, {row[0]: FileRow(*row) for row in rows}
        return self._files[1]

    def refused(self) -> dict[str, str]:
        """Return the files that are not indexed, with the reasons, by path."""
        rows = self.rows(
            "SELECT path, reason FROM refused UNION SELECT path, reason FROM files"
            " WHERE reason <> '' ORDER BY path"
        )
        return dict(rows)

    def totals(self) -> tuple[int, int, int]:
        """Return the numbers of files that are indexed, of symbols and of tests."""
        ((files,),) = self.rows("SELECT count(*) FROM files WHERE reason = ''")
        ((symbols,),) = self.rows("SELECT count(*) FROM symbols")
        ((tests,),) = self.rows("SELECT count(*) FROM tests")
        return files, symbols, tests

    def problems(self) -> dict[str, str]:
        """Return the files that were parsed only in part, with the reasons, by path."""
        return dict(self.rows("SELECT path, problem FROM files WHERE problem <> '' ORDER BY path"))

    def imports(self) -> Iterator[tuple[str, Import]]:
        """Yield all imports, each with the path of its file."""
        for path, *row in self.rows(f"{_IMPORTS} ORDER BY f.path, line"):
            yield path, _parse_import(row)

    def imports_of(self, path: str) -> list[Import]:
        """Return the imports of a file, by line."""
        rows = self.rows(f"{_IMPORTS} WHERE f.path = ? ORDER BY line", path)
        return [_parse_import(row) for _, *row in rows]

    def _has_changed(self, scan: TreeScan) -> bool:
        """Tell whether any file differs from what is recorded of it."""
        if not self.file.exists():
            return True
        files = self.files()
        return (
            files.keys() != scan.files.keys()
            or any(
                files[path].signature != _write_signature(file) for path, file in scan.files.items()
            )
            or dict(self.rows(_REFUSED)) != scan.refused
        )

    def _update(self, scan: TreeScan, progress: Progress) -> bool:
        """Read the changed files in batches, each in one transaction."""
        files, before = self.files(), self.generation
        changed = {
            path: file
            for path, file in scan.files.items()
            if path not in files or files[path].signature != _write_signature(file)
        }
        gone = [path for path in files if path not in scan.files]
        remaining = iter(changed.items())
        number = 0
        while batch := dict(islice(remaining, _BATCH)):
            self._read_files(batch, files)
            number += len(batch)
            progress("parsing", number, len(changed))
        if gone or dict(self.rows(_REFUSED)) != scan.refused:
            with self.writing() as base:
                replace_files(base, (), gone)
                base.execute("DELETE FROM refused")
                base.executemany("INSERT INTO refused VALUES (?, ?)", scan.refused.items())
        return self.generation != before

    def _read_files(
        self, batch: Mapping[str, StatSignature], file_states: Mapping[str, FileRow]
    ) -> None:
        """Read some files, given with their signatures, and write those whose content changed."""
        file_rows: list[FileRow] = []
        contents: dict[bytes, bytes] = {}
        signatures: list[tuple[str, str]] = []
        gone: list[str] = []
        for path, scan_signature in batch.items():
            file = self.tree.read(path)
            if file is None:
                gone += [path] if path in file_states else []
                continue
            language = _language(_file_name(path)) or detect_script_language(file.data)
            if not language:  # its first line changed since the scan
                gone += [path] if path in file_states else []
                continue
            signature = _trusted_signature(file.signature or scan_signature)
            if file.reason:
                file_rows.append(FileRow(path, language, signature, b"", 0, reason=file.reason))
                continue
            blob = repository.hash_blob(file.data)
            if path in file_states and _has_parsed(file_states[path], blob):
                signatures.append((signature, path))
            else:
                file_rows.append(FileRow(path, language, signature, blob, len(file.data)))
                contents[blob] = file.data
        if file_rows or gone:
            parsed = self._parse_files([row for row in file_rows if not row.reason], contents)
            rows = [_add_parsed(row, parsed.get((row.blob, row.language))) for row in file_rows]
            with self.writing() as base:
                replace_files(base, rows, gone)
        if signatures:
            with sqlite.convert_errors(self.file), sqlite.transaction(self.opened()):
                self.opened().executemany(
                    "UPDATE files SET signature = ? WHERE path = ?", signatures
                )
            self._files = (-1, {})

    def _parse_files(
        self, files: Sequence[FileRow], contents: Mapping[bytes, bytes]
    ) -> dict[Key, ParsedFile]:
        """Return the parsed files, from the cache or parsed now."""
        keys = list(dict.fromkeys((row.blob, row.language) for row in files))
        cached = self._cache.get(keys)
        parsed = {
            (blob, language): parsing.parse(contents[blob], language)
            for blob, language in keys
            if (blob, language) not in cached
        }
        if parsed:
            self._cache.put(parsed.items())
        return cached | parsed


def _parse_import(row: Sequence[Any]) -> Import:
    target, names, line, bound = row
    return Import(target, parse_names(names), line, parse_names(bound))


def _is_code_name(path: str) -> bool:
    name = _file_name(path)
    return bool(_language(name)) or is_document(name) or name in _BUILD_FILES


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _is_document(path: str) -> bool:
    return is_document(path) and not _language(_file_name(path))


@lru_cache(maxsize=100_000)  # asked for each file before each answer
def _language(name: str) -> str:
    """Return the language of a file by its name; empty if it has none."""
    return detect_language(name) or ""


def _has_parsed(file: FileRow, blob: bytes) -> bool:
    """Tell whether a file was parsed by this version of the parser, with that content."""
    is_current = file.signature.startswith(f"{parsing.parser_version()} ")
    return is_current and file.blob == blob and not file.reason


def _add_parsed(file: FileRow, parsed: ParsedFile | None) -> FileRow:
    """Return a file's row with its parsed content, without tests where it can't have any."""
    if parsed is not None and parsed.refused:
        return file._replace(reason=parsed.refused)
    if parsed is not None:
        imports = [imported.target for imported in parsed.imports]
        if not may_hold_tests(file.path, file.language, imports):
            intents = tuple(intent for intent in parsed.tests if intent.framework == EXAMPLE)
            parsed = parsed._replace(tests=intents)
    return file._replace(parsed=parsed)


def _write_signature(signature: StatSignature) -> str:
    """Return a signature as it is recorded; it also changes with the version of the parser."""
    return f"{parsing.parser_version()} {signature_text(signature)}"


def _trusted_signature(signature: StatSignature) -> str:
    """Return a signature as recorded; an empty one if the file is so young that it may change."""
    return _write_signature(signature) if is_trusted(signature) else f"{parsing.parser_version()} "


SIZE = 1000
"""Approximate size of a passage in characters: thirty lines of code."""

_LONGEST_LINE = 2000
"""Characters of a line that are indexed."""

REST = -1
"""The section of lines that are in none."""


def divide_lines(
    lines: Sequence[str], numbers: Iterable[int], section: int, size: int = SIZE
) -> Iterator[Passage]:
    """Divide lines of a file, given by 1-based numbers in order, into passages of about `size`.

    Lines without a letter or digit don't begin a passage. Indentation is dropped.
    """
    texts: list[str] = []
    first = last = length = 0
    for number in numbers:
        text = lines[number - 1].strip()[:_LONGEST_LINE] if number <= len(lines) else ""
        if not texts and not any(map(str.isalnum, text)):
            continue
        if texts and length + len(text) > size:
            yield Passage(first, last + 1, "\n".join(texts), section)
            texts, length = [], 0
        if not text:
            continue
        first = first if texts else number
        texts.append(text)
        last, length = number, length + len(text) + 1
    if texts:
        yield Passage(first, last + 1, "\n".join(texts), section)


MOST_FILES = 2000
"""Number of files whose first line is read, the first by path."""

_MOST_BYTES = 65_536
"""A larger file without a suffix is no script."""

_LINE = 200
"""Bytes of the first line that are read."""


class FirstLines:
    """Reads the languages in first lines of a work tree's files, each once until it changes."""

    def __init__(self, tree: WorkTree) -> None:
        self._tree = tree
        self._known: dict[str, tuple[StatSignature, str]] = {}

    def languages(self, files: Mapping[str, StatSignature]) -> dict[str, str]:
        """Map the files whose language only the first line tells to their languages."""
        former_lines, self._known = self._known, {}
        languages: dict[str, str] = {}
        for path in sorted(_yield_nameless(files))[:MOST_FILES]:
            known = former_lines.get(path)
            if known is None or known[0] != files[path]:
                known = files[path], detect_script_language(self._tree.read_start(path, _LINE))
            if is_trusted(known[0]):  # one that has just changed may change again
                self._known[path] = known
            if known[1]:
                languages[path] = known[1]
        return languages


def detect_script_language(data: bytes) -> str:
    """Return the language of a file by its first bytes; empty if they name no known program."""
    if not data.startswith(b"#!"):
        return ""
    line = data[:_LINE].partition(b"\n")[0].decode("utf-8", "replace")
    return detect_language("", line) or ""


def _yield_nameless(files: Mapping[str, StatSignature]) -> Iterator[str]:
    """Yield the small files whose names tell no language."""
    for path, (size, *_) in files.items():
        name = path.rpartition("/")[2]
        if 0 < size <= _MOST_BYTES and _has_unknown_name(name):
            yield path


@lru_cache(maxsize=10_000)  # asked for each file before each answer
def _has_unknown_name(name: str) -> bool:
    """Tell whether the name of a file has no suffix and is not known."""
    is_text = is_document(name) or detect_language(name) is not None
    return "." not in name[1:] and not is_text
