"""Parse a source file into its symbols, imports and tests: the one home of tree-sitter.

A file is untrusted: a tree is walked without recursion, within bounds of time and number.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from memory_bank import plugins
from memory_bank.repo.code import ParsedFile
from memory_bank.repo.languages.base import Rules
from memory_bank.repo.tree_walk import TreeWalk

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

VERSION = "13"
"""It changes whenever files are parsed into other records."""
_SECONDS = 5.0
"""Time limit of parsing one file."""
_lock = threading.Lock()
_BLOCK = 65_536
_BOM = b"\xef\xbb\xbf"
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
    """Return what is in a file; broken code gives what can be read, and a problem."""
    data = data.removeprefix(_BOM)
    rules = rules_of(rules_of(language).really(data) or language)
    tree = _tree(rules.readable(data) if rules.readable else data, rules)
    if tree is None:
        return ParsedFile(language, problem=f"parsing takes longer than {_SECONDS:g} seconds")
    walk = TreeWalk(rules, data, time.monotonic() + _SECONDS)
    return walk.run(tree.root_node)


def rules_of(language: str) -> Rules:
    """Return the rules of a language."""
    return cast("Rules", plugins.load("repo.languages", language).RULES)


def languages() -> tuple[str, ...]:
    """Return the names of all languages, sorted."""
    return tuple(plugins.names("repo.languages"))


def _tree(data: bytes, rules: Rules) -> Tree | None:
    """Return the syntax tree of a file; None if that takes too long."""
    last = time.monotonic() + _SECONDS
    parser = _parser(rules.name)
    with _lock:  # the callback lets other threads run
        try:
            tree = parser.parse(
                lambda offset, _: data[offset : offset + _BLOCK],
                progress_callback=lambda *_: time.monotonic() > last,
            )
        except ValueError:  # it was stopped, and would go on with this file
            parser.reset()
            return None
        return parser.parse(data, tree)  # at once; only with bytes it is quick to ask for text


@cache
def _parser(language: str) -> Parser:
    from tree_sitter import Language, Parser  # start-up: loaded to parse only

    rules = rules_of(language)
    grammar = getattr(import_module(rules.grammar), rules.entry)
    return Parser(Language(grammar()))


@cache
def _by_name() -> dict[str, str]:
    """Return the languages by suffix and by name of file."""
    found = (rules_of(name) for name in languages())
    return {key: one.name for one in found for key in (*one.suffixes, *one.names)}


@cache
def _by_program() -> dict[str, str]:
    found = (rules_of(name) for name in languages())
    return {program: one.name for one in found for program in one.programs}
