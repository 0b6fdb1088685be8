"""Rules of compression; names that lines of a file define; paths by which observations name files."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, KeysView, Mapping
from functools import lru_cache
from pathlib import Path
from posixpath import normpath
from typing import Any, Literal, cast

from memory_bank.base import NamedTuple

TABLES: Mapping[str, re.RegexFlag] = {"rules.toml": re.IGNORECASE, "programs.toml": re.MULTILINE}
"""Files with tables: sentences of people, and what programs say. The flags of their patterns."""


@lru_cache
def read_table(file: str) -> Mapping[str, Any]:
    """Return all tables of a file."""
    return tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))


@lru_cache
def compile_rows(kind: str) -> tuple[tuple[Mapping[str, Any], re.Pattern[str]], ...]:
    """Return the rows of a kind, each with its pattern."""
    file = next(name for name in TABLES if kind in read_table(name))
    return tuple((row, _compile_text(row["pattern"], file)) for row in read_table(file)[kind])


@lru_cache
def compile_rule(kind: str) -> re.Pattern[str]:
    """Return all patterns of a kind as one."""
    file = next(name for name in TABLES if kind in read_table(name))
    return _compile_text("|".join(f"(?:{row['pattern']})" for row in read_table(file)[kind]), file)


def compile_sentences(text: str) -> re.Pattern[str]:
    """Return a pattern of sentences with the words that it names as `{word}`."""
    return _compile_text(text, "rules.toml")


def _compile_text(text: str, file: str) -> re.Pattern[str]:
    for name, word_rows in read_table(file)["words"].items():
        text = text.replace(f"{{{name}}}", word_rows)
    return re.compile(text, TABLES[file])


@lru_cache
def list_words(group: str, name: str) -> KeysView[str]:
    """Return the words of a list, such as the readers among the programs, in order."""
    entry = next(
        entries[group][name]
        for entries in map(read_table, TABLES)
        if name in entries.get(group, ())
    )
    return dict.fromkeys(entry.split()).keys()


@lru_cache
def lists_by_word(group: str) -> Mapping[str, str]:
    """Return the name of the list in which each word of a group is."""
    group_words = read_table("programs.toml")[group]
    return {word: name for name, listed in group_words.items() for word in listed.split()}


FileKind = Literal["code", "test", "docs", "config", "data"]

_LINE = 300
"""Characters of a line that are looked at."""


class DefinedName(NamedTuple):
    """A name that a line defines."""

    kind: str
    name: str

    @property
    def shown(self) -> str:
        """The name in a sentence: `retry()`, `class Job`, `section Install`."""
        if self.kind == "function":
            return f"{self.name}()"
        if self.kind == "test":
            return f"test “{self.name}”"
        return f"{self.kind} {self.name}"


def file_kind(path: str) -> FileKind:
    """Return what a file is for, by its path."""
    kind = next((row["of"] for row, of in compile_rows("file") if of.search(path)), "code")
    return cast("FileKind", kind)


def yield_defined_names(path: str, lines: Iterable[str]) -> Iterator[DefinedName]:
    """Yield the names that lines of a file define."""
    code = file_kind(path) in ("code", "test")
    patterns = [(row["of"], of) for row, of in compile_rows("name")] if code else []
    for line in filter(str.strip, lines if patterns else ()):
        matches = ((entry, pattern.match(line[:_LINE])) for entry, pattern in patterns)
        yield from [DefinedName(entry, match[1].strip()) for entry, match in matches if match][:1]


_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


class Paths:
    """Names files by their paths below a project, or below the work tree an event is in."""

    def __init__(self, root: Path | None) -> None:
        self._roots = _forms(root) if root else ()

    def shown(self, path: str, cwd: str) -> str:
        """Return a path below the project; any other one is absolute, in the home folder with `~`.

        A relative path is below the event's folder.
        """
        if _relative(path) and not cwd:
            return normpath(_slashes(path))
        whole = normpath(f"{_slashes(cwd)}/{_slashes(path)}" if _relative(path) else _slashes(path))
        home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - pathlib fails without a home
        if whole.startswith("~/"):
            whole = home + whole[1:]
        for root in (*self._roots, *_work_tree(_slashes(cwd))):
            if whole == root or whole.startswith(f"{root}/"):
                return whole[len(root) + 1 :] or "."
        if home and whole.startswith(f"{home}/"):
            return "~" + whole[len(home) :]
        return whole

    def short(self, text: str) -> str:
        """Return a text in which paths of the project begin below it."""
        for root in self._roots:
            if root and root in text:
                text = text.replace(f"{root}/", "")
        return text

    def outside(self, text: str) -> bool:
        """Tell whether a shown path is none of the project."""
        return text.startswith(("/", "~/", "../")) or bool(_WINDOWS.match(text))


def _relative(path: str) -> bool:
    return not path.startswith(("/", "~/")) and not _WINDOWS.match(path)


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if _WINDOWS.match(path) or "/" not in path else path


def _forms(root: Path) -> tuple[str, ...]:
    prefix = str(root).replace("\\", "/").rstrip("/")
    real = os.path.realpath(root).replace("\\", "/").rstrip("/")
    return tuple(dict.fromkeys((prefix, real)))


@lru_cache(256)
def _work_tree(cwd: str) -> tuple[str, ...]:
    """Return the work tree around a folder, as far as it still exists."""
    if not cwd.startswith("/"):
        return (cwd.rstrip("/"),) if _WINDOWS.match(cwd) else ()
    folder = Path(cwd)
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists():
            return (str(parent).rstrip("/"),)
    return ()
