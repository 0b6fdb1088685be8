"""The files and symbols of the code at commits, and as the work tree has them now."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from memory_bank.base import Closable, NamedTuple
from memory_bank.base.errors import MemoryBankError
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.code import lookup
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.index.work_tree import MAX_FILE_BYTES, WorkTree, why_unreadable
from memory_bank.code.languages.base import detect_language
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile, Symbol
from memory_bank.code.parse.parsing import Key, ParseCache
from memory_bank.git import objects, repository
from memory_bank.git.process import read_output

NOW, STAGED = "worktree", "staged"
"""Stand for the files of the work tree, and of the git index, where a commit is asked for."""

FOLDER = "folder"
"""Stands for the id of a folder."""

# Bytes of git's list of files: that of 250,000 files has as many.
_MOST_LISTED = 50_000_000

_SECONDS = 20.0

_MOST_FILES = 200
"""Maximum number of files of one commit in which a name is looked for."""


class CodePlace(NamedTuple):
    """A file, or a symbol in it, that a note cites."""

    path: str
    """Below the work tree."""
    name: str = ""
    """The qualified name of a symbol; empty for the file."""

    @property
    def target(self) -> str:
        """The place as a link names it."""
        return f"{self.path}#{self.name}" if self.name else self.path


class CodeAt(Closable):
    """Reads the code of one repository, each file once."""

    def __init__(self, tree: Path) -> None:
        """Open nothing yet; what is parsed is kept in the cache of the repository."""
        self.tree = tree
        self._cache = ParseCache(
            repository.repository_cache(tree) / "parses.db", parsing.parser_version()
        )
        self._objects = objects.ObjectReader(tree)
        self._work_tree = WorkTree(tree, max_bytes=MAX_FILE_BYTES)
        self._ids: dict[tuple[str, str], str] = {}
        self._data: dict[str, bytes | None] = {}
        self._parsed: dict[Key, ParsedFile] = {}
        self._paths: dict[str, frozenset[str]] = {}
        self._by_name: dict[str, dict[str, list[str]]] = {}

    def close(self) -> None:
        """End git and close the cache; using it again starts it again."""
        self._objects.close()
        self._cache.close()

    def ids(self, places: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
        """Return the ids of the blobs of files, given as commit and path.

        FOLDER for a folder; empty if there is none, or its path is not safe.
        """
        unknown = [place for place in dict.fromkeys(places) if place not in self._ids]
        missing = []
        for commit, path in unknown:
            self._ids[commit, path] = ""
            if not objects.is_safe(path) or "\n" in path or "\r" in path:
                continue
            if commit == NOW:
                self._ids[commit, path] = self._hash_now(path)
            else:
                missing.append((commit, path))
        self._ids.update(self._read_ids(missing))
        return self._ids

    def id(self, commit: str, path: str) -> str:
        """Return the id of a file's blob as `ids` does."""
        return self.ids([(commit, path)])[commit, path]

    def load(self, files: Iterable[tuple[str, str]]) -> None:
        """Read and parse files, given as path and id of blob, all at once."""
        keys: dict[Key, None] = {}
        for path, blob in files:
            language = detect_language(path)
            if language and blob and blob != FOLDER:
                key = bytes.fromhex(blob), language
                if key not in self._parsed:
                    keys[key] = None
        if not keys:
            return
        parsed_files = self._cache.get(list(keys))
        self._parsed.update(parsed_files)
        missing = [key for key in keys if key not in parsed_files]
        self.read(blob.hex() for blob, _ in missing)
        results = []
        for key in missing:
            data = self._data.get(key[0].hex())
            is_readable = data is not None and not why_unreadable(data)
            parsed = parsing.parse(data, key[1]) if data is not None and is_readable else None
            self._parsed[key] = parsed or ParsedFile(key[1])
            if parsed is not None:
                results.append((key, parsed))
        if results:
            self._cache.put(results)

    def read(self, blobs: Iterable[str]) -> None:
        """Read the contents of some blobs, all at once."""
        new_blobs = [blob for blob in dict.fromkeys(blobs) if blob not in self._data]
        self._data.update(dict.fromkeys(new_blobs))
        if new_blobs:
            self._data.update(self._objects.blobs(new_blobs, MAX_FILE_BYTES))

    def data(self, blob: str) -> bytes | None:
        """Return the content of a blob; None if it is too large or missing."""
        if blob not in self._data:
            self.read([blob])
        return self._data[blob]

    def parsed(self, path: str, blob: str) -> ParsedFile | None:
        """Return what was parsed of a file; None if it is no code, or there is none."""
        language = detect_language(path)
        if not language or not blob or blob == FOLDER:
            return None
        self.load([(path, blob)])
        return self._parsed[bytes.fromhex(blob), language]

    def symbols(self, commit: str, place: CodePlace) -> list[Symbol]:
        """Return the symbols of a place: several if a name is overloaded, none if it is a file.

        A name may leave out the definitions around it, if only one symbol has it.
        """
        return self.symbols_in(place, self.id(commit, place.path))

    def symbols_in(self, place: CodePlace, blob: str) -> list[Symbol]:
        """Return the symbols of a name in a blob, as `symbols` does."""
        parsed = self.parsed(place.path, blob)
        symbols = parsed.symbols if parsed else ()
        exact = [symbol for symbol in symbols if symbol.qualified == place.name]
        ending = [symbol for symbol in symbols if symbol.qualified.endswith(f".{place.name}")]
        return exact or (ending if len({symbol.qualified for symbol in ending}) == 1 else [])

    def has(self, commit: str, place: CodePlace) -> bool:
        """Tell whether a commit, or the work tree, has the file or symbol of a place."""
        if not place.path:
            return bool(self.find_symbols(commit, place.name))
        return bool(self.symbols(commit, place) if place.name else self.id(commit, place.path))

    def paths(self, commit: str) -> frozenset[str]:
        """Return the paths of all files of a commit, or of the work tree; none if git can't say."""
        if commit not in self._paths:
            try:
                listed = self._list_files(commit)
            except MemoryBankError:
                listed = []
            self._paths[commit] = frozenset(listed)
        return self._paths[commit]

    def _paths_by_name(self, commit: str) -> Mapping[str, list[str]]:
        """Return the paths of all files of a commit by their file names."""
        if commit not in self._by_name:
            by_name = self._by_name.setdefault(commit, {})
            for path in self.paths(commit):
                by_name.setdefault(path.rpartition("/")[2], []).append(path)
        return self._by_name[commit]

    def _list_files(self, commit: str) -> Iterable[str]:
        if commit == NOW:
            return repository.list_files(self.tree) or ()
        if commit == STAGED:
            return objects.list_staged(self.tree)
        return objects.list_files_at(self.tree, commit)

    def list_differing(self, base: str, end: str) -> dict[str, str]:
        """Map the files that differ between a commit and NOW, or STAGED, to A, M or D."""
        before, after = self.paths(base), self.paths(end)
        ids = self.ids((side, path) for side in (base, end) for path in before & after)
        letters = dict.fromkeys(after - before, "A") | dict.fromkeys(before - after, "D")
        common = sorted(before & after)
        for path in common:
            if ids[base, path] != ids[end, path]:
                letters[path] = "M" if ids[end, path] else "D"
        return letters

    def find_file(self, commit: str, path: str) -> str:
        """Return the file of a path, else the only one whose path ends so; empty if none.

        Documents are named by their whole path: many folders have a README.md.
        """
        if self.id(commit, path):
            return path
        if path.endswith(NOTE_SUFFIXES):
            return ""
        same_name = self._paths_by_name(commit).get(path.rpartition("/")[2], ())
        ending = [candidate for candidate in same_name if candidate.endswith(f"/{path}")]
        return ending[0] if len(ending) == 1 else ""

    def find_symbols(self, commit: str, name: str) -> list[CodePlace]:
        """Return the symbols that a name without a file means at a commit.

        If none has exactly that qualified name, return the only one that it fits; see `lookup`.
        """
        last = lookup.last_name(name)
        rows: list[SymbolRow] = []
        for path in self.list_files_with(commit, last):
            parsed = self.parsed(path, self.id(commit, path))
            rows += [
                SymbolRow(0, "", path, parsed.language, False, symbol)
                for symbol in (parsed.symbols if parsed else ())
                if parsed and symbol.name == last
            ]
        best = lookup.find_best(rows, name)
        places = dict.fromkeys(CodePlace(row.path, row.symbol.qualified) for row in best)
        exact = all(row.symbol.qualified == name for row in best)
        return list(places) if len(places) == 1 or exact else []

    def list_files_with(self, commit: str, word: str, among: Collection[str] = ()) -> list[str]:
        """Return the files of code at a commit, or those of `among`, that have a word."""
        if not word or "\0" in word or "\n" in word:
            return []
        if commit == NOW:
            candidates = sorted(among or self.paths(NOW))
            files = [path for path in candidates if detect_language(path)]
            needle = word.encode("utf-8", "replace")
            ids = self.ids((NOW, path) for path in files)
            matching = [p for p in files if needle in (self._data.get(ids[NOW, p]) or b"")]
        else:
            tree_name = "--cached" if commit == STAGED else commit
            output = read_output(
                self.tree, "grep", "-l", "-z", "-F", "-w", "--full-name", "--no-color",
                "--no-recurse-submodules", "-e", word, tree_name, "--", *sorted(among),
                most=_MOST_LISTED, seconds=_SECONDS,
            )  # fmt: skip
            names = (output or b"").decode("utf-8", "surrogateescape").split("\0")
            paths = (name.removeprefix(f"{commit}:") for name in names if name)
            matching = [path for path in paths if detect_language(path)]
        matching = matching[:_MOST_FILES]
        ids = self.ids((commit, path) for path in matching)
        self.load((path, ids[commit, path]) for path in matching)
        return matching

    def _hash_now(self, path: str) -> str:
        """Return the blob id of a file of the work tree, and remember its content."""
        if (self.tree / path).is_dir():
            return FOLDER
        data = self._read_now(path)
        if data is None:
            return ""
        blob = repository.hash_blob(data).hex()
        self._data[blob] = data
        return blob

    def _read_now(self, path: str) -> bytes | None:
        with suppress(OSError):
            return os.fsencode((self.tree / path).readlink())
        file = self._work_tree.read(path)
        if file is None or file.signature is None:
            return None
        return file.data.replace(b"\r\n", b"\n")

    def _read_ids(self, places: list[tuple[str, str]]) -> dict[tuple[str, str], str]:
        names = [f"{'' if commit == STAGED else commit}:{path}" for commit, path in places]
        try:
            rows = zip(places, self._objects.describe(names), strict=True)
            return {
                place: name if kind == "blob" else FOLDER
                for place, (kind, name, _) in rows
                if kind in {"blob", "tree"}
            }
        except MemoryBankError:
            return {}
