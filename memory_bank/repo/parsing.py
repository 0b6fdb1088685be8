"""Parse a source file into its symbols, imports and tests.

A file is untrusted: it is parsed in another process, within limits of memory and time.
"""

from __future__ import annotations

import atexit
import hashlib
import re
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import cast

from memory_bank import plugins
from memory_bank.layout import user_folder
from memory_bank.repo.code import ParsedFile
from memory_bank.repo.languages.base import Rules
from memory_bank.repo.parse_cache import ParseCache

VERSION = "15"
"""It changes whenever files are parsed into other records."""
_REFUSED = "refused.db"
_lock = threading.Lock()
_PROGRAM = re.compile(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")


def language_of(path: str, first_line: str = "") -> str | None:
    """Return the language of a file by its suffix, name or first line; None if it has none."""
    name = PurePosixPath(path).name
    suffix = PurePosixPath(name).suffix
    found = _by_name().get(suffix) or _by_name().get(suffix.lower()) or _by_name().get(name)
    if found is None and (program := _PROGRAM.match(first_line)):
        return _by_program().get(program[1])
    return found


def may_hold_tests(path: str, language: str, imports: Iterable[str] = ()) -> bool:
    """Tell whether a file may hold tests, by its path and the modules that it imports."""
    rules = rules_of(language)
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
        if cache.file.exists() and (known := cache.get([key])):
            return known[key]
    from memory_bank.repo import parse_process  # start-up: most files are known

    found = parse_process.parse(data, language)
    if found.refused:
        with _lock:
            cache.put([(key, found)])
    return found


def rules_of(language: str) -> Rules:
    """Return the rules of a language."""
    return cast("Rules", plugins.load("repo.languages", language).RULES)


def languages() -> tuple[str, ...]:
    """Return the names of all languages, sorted."""
    return tuple(plugins.names("repo.languages"))


@cache
def _refusals(file: Path) -> ParseCache:
    """Return the cache of the files that are refused, of all repositories."""
    cache = ParseCache(file, VERSION)
    atexit.register(cache.close)
    return cache


@cache
def _by_name() -> dict[str, str]:
    """Return the languages by suffix and by name of file."""
    found = (rules_of(name) for name in languages())
    return {key: one.name for one in found for key in (*one.suffixes, *one.names)}


@cache
def _by_program() -> dict[str, str]:
    found = (rules_of(name) for name in languages())
    return {program: one.name for one in found for program in one.programs}
