"""Parse a source file into its symbols, imports and tests.

A file is untrusted: it is parsed in another process, within limits of memory and time.
"""

from __future__ import annotations

import atexit
import hashlib
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import cast

from memory_bank.base import lazy_pattern, plugins
from memory_bank.base.paths import user_folder
from memory_bank.code.index.database import ParseCache
from memory_bank.code.languages.base import Rules
from memory_bank.code.parse.parsed_file import VERSION, ParsedFile

KIND = "code.languages"

_REFUSED = "refused.db"

_lock = threading.Lock()

_PROGRAM = lazy_pattern(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")


def detect_language(path: str, first_line: str = "") -> str | None:
    """Return the language of a file by its suffix, name or first line; None if it has none."""
    name = PurePosixPath(path).name
    suffix = PurePosixPath(name).suffix
    language = _by_name().get(suffix) or _by_name().get(suffix.lower()) or _by_name().get(name)
    if language is None and (program := _PROGRAM.match(first_line)):
        return _by_program().get(program[1])
    return language


def may_hold_tests(path: str, language: str, imports: Iterable[str] = ()) -> bool:
    """Tell whether a file may hold tests, by its path and the modules that it imports."""
    rules = find_rules(language)
    if rules.test_files is None or rules.test_files.search(path):
        return True
    return not rules.test_modules.isdisjoint(imports)


def parse(data: bytes, language: str) -> ParsedFile:
    """Return what is in a file; broken code gives what can be read, and a problem.

    A file that exceeds a limit is refused, and remembered by the hash of its content. Raises
    StorageFailed if no process can be started.
    """
    key = hashlib.sha256(data).digest(), language
    cache = _refusals(user_folder("cache") / "code" / _REFUSED)
    with _lock:
        if cache.file.exists() and (parsed_files := cache.get([key])):
            return parsed_files[key]
    from memory_bank.code.parse import parse_process  # start-up: most files are known

    parsed_file = parse_process.parse(data, language)
    if parsed_file.refused:
        with _lock:
            cache.put([(key, parsed_file)])
    return parsed_file


def find_rules(language: str) -> Rules:
    """Return the rules of a language."""
    return cast("Rules", plugins.load(KIND, language).RULES)


def parser_version() -> str:
    """Return what changes whenever files are parsed into other records."""
    return "+".join(filter(None, (VERSION, plugins.plugins_version(KIND))))


def list_languages() -> tuple[str, ...]:
    """Return the names of all languages, ours first."""
    return tuple(plugins.list_plugins(KIND))


@cache
def _refusals(file: Path) -> ParseCache:
    """Return the cache of the files that are refused, of all repositories."""
    cache = ParseCache(file, parser_version())
    atexit.register(cache.close)
    return cache


@cache
def _by_name() -> dict[str, str]:
    """Return the languages by suffix and by name of file."""
    all_rules = (find_rules(name) for name in list_languages())
    return _first_of(
        (key, rules.name) for rules in all_rules for key in (*rules.suffixes, *rules.names)
    )


@cache
def _by_program() -> dict[str, str]:
    rules = (find_rules(name) for name in list_languages())
    return _first_of(
        (program, language_rules.name)
        for language_rules in rules
        for program in language_rules.programs
    )


def _first_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return pairs as a mapping: the rules of installed packages come after ours."""
    entries: dict[str, str] = {}
    for key, name in pairs:
        entries.setdefault(key, name)
    return entries
