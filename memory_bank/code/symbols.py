"""List the symbols of a work tree, and show one with what it calls and what calls it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import BadInput, did_you_mean, similar_names
from memory_bank.base.operation import LONGEST_NAME, Param, Tool, operation, topic
from memory_bank.code import lookup, views
from memory_bank.code.calls import Callee, ResolvedCall
from memory_bank.code.explained_rows import is_symbol
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import IntentRow, SymbolRow
from memory_bank.code.records import CallShown, SymbolDetails, SymbolList
from memory_bank.search.document_changes import Progress

MOST = 1000
"""Maximum number of symbols in a list."""

"""Maximum number of characters of a snippet."""


@operation(
    "code symbols",
    why="""
    Lists functions, classes, methods and other symbols of the code in this git work tree,
    uncommitted changes included. With words, those whose names have them all, the closest names
    first; if there are none, those that are found by words and meaning in their code and comments.
    """,
    examples=(
        ("memory-bank code symbols", "all symbols"),
        ("memory-bank code symbols open bank", "whose names have both words"),
        ("memory-bank code symbols --file src/index.py", "of one file or folder"),
        ("memory-bank code symbols --json | jq -r '.symbols[].name'", "for a program"),
    ),
    view=views.view_symbols,
)
def list_symbols(
    code: Codebase,
    query: Annotated[str, Param(argument=True, metavar="[WORD]...", words=True)] = "",
    limit: Annotated[int, Param("Most symbols to list; default: 50", metavar="N")] = 50,
    *,
    file: Annotated[str, Param("Only symbols of this file or folder", metavar="PATH")] = "",
    tests: Annotated[bool, Param("Include tests")] = False,
    progress: Progress | None = None,
) -> SymbolList:
    """List functions, classes and other symbols of the code.

    Return the symbols whose names have all words of a query, the closest names first.

    If no name has them, the query is searched in names, doc comments and code, by words and
    meaning. `file` is a file or a folder of the work tree. Tests are left out unless `tests`.
    `limit` is clamped to 1 to 1,000. Raises BadInput for an unknown file.
    """
    limit = min(max(limit, 1), MOST)
    with code.lock:
        problem = code.refresh(progress)
        under = find_path(code, file) if file else ""
        words = [word for word in re.split(r"[\s.:#]+", query) if word]
        rows = lookup.symbols_matching(code.table, words, limit=limit + 1, path=under, tests=tests)
        by = "name"
        if words and not rows:
            by = "search"
            problem = code.catch_up(["files"], progress).problem
            kinds = () if tests else ("symbols",)
            result = code.search("files", query, limit + 1, under=under, kinds=kinds, parts=True)
            rows = [hit.symbol for hit in result.hits if hit.symbol and not hit.weak]
    symbols = tuple(rows[:limit])
    return SymbolList(query, len(symbols), symbols, len(rows) > limit, by, problem or None)


@operation(
    "",
    view=views.view_symbol,
    tool=Tool(
        "Look up a symbol: what it calls and what calls it. When you edit it, `explain_symbol`.",
        "code",
        reads=True,
    ),
)
def symbol(
    code: Codebase, name: Annotated[str, Param(longest=LONGEST_NAME)], *, count_access: bool = True
) -> SymbolDetails:
    """Return a symbol by its name: its definition, its calls and its callers.

    `repo.symbol_lookup` says what may be a name. Unless `count_access` is false, its access count
    is then increased by one. Raises SymbolNotFound.
    """
    with code.lock:
        problem = code.refresh()
        row = lookup.find_symbol(code.table, name)
        symbol_details = describe_symbol(code, row)
        uncounted = code.count_access([row.id]) if count_access else ""
        return symbol_details._replace(problem=problem or uncounted or None)


def describe_symbol(code: Codebase, row: SymbolRow, *, may_call: bool = False) -> SymbolDetails:
    """Return a symbol of the table with its calls, and what calls it, or with `may_call` may."""
    graph = code.relations().calls
    access = code.accesses([row.id]).get(row.id)
    callers, unclear = graph.callers(row) if is_symbol(row) else ([], [])
    return SymbolDetails(
        symbol=row,
        doc=row.symbol.doc,
        fingerprint=row.symbol.fingerprint,
        calls=tuple(map(_view_call, graph.callees(row))),
        called_by=view_callers(callers),
        unclear_callers=len(unclear),
        may_call=view_callers(unclear) if may_call else (),
        access_count=access.times if access else 0,
        last_accessed_at=seconds_to_iso(access.last) if access and access.times else "",
    )


def view_callers(calls: Iterable[ResolvedCall]) -> tuple[CallShown, ...]:
    """Return calls of a symbol as answers have them, with their callers."""
    return tuple(
        CallShown(resolved_call.written, *_place_of(resolved_call.caller), resolved_call.how)
        for resolved_call in calls
    )


def find_path(code: Codebase, written: str) -> str:
    """Return the path below the work tree of a file or folder of code.

    It may be given from the root of the work tree or from the working directory, absolute, with
    `./` or backslashes, or by the end of its path. Raises BadInput if no code is there, saying why.
    """
    files = code.table.files()
    for path in _forms(code.root, written):
        if path in files and not files[path].reason:
            return path
        if reason := code.table.refused().get(path):
            raise BadInput(f"{path} is not indexed: {reason}", "see the settings `[code]`")
        folder = f"{path}/" if path else ""
        if any(file.startswith(folder) for file in files):
            return path
    paths = lookup.find_files(code.table, written)
    if len(paths) == 1:
        return paths[0]
    if paths:
        message = f"{written!r} is the end of several paths"
        raise BadInput(message, "name one of: {paths}", paths=", ".join(paths[:10]))
    near = did_you_mean(similar_names(written, files))
    raise BadInput(f"there is no file of code {written!r}{near}", "name it by its path")


def _forms(root: Path, text: str) -> Iterator[str]:
    """Yield the paths below the work tree that a path may mean, the likeliest first."""
    path = text.replace("\\", "/")
    absolute = os.path.normpath(os.path.join(os.getcwd(), os.path.expanduser(path)))  # noqa: PTH111, PTH118, PTH109
    places = [os.path.normpath(root / path), absolute, os.path.realpath(absolute)]
    for place in dict.fromkeys(places):
        below = os.path.relpath(place, root).replace(os.sep, "/")
        if below != ".." and not below.startswith("../"):
            yield "" if below == "." else below


def _view_call(callee: Callee) -> CallShown:
    if callee.called is None:
        return CallShown(callee.written, None, None, None, None, None, callee.alike)
    return CallShown(callee.written, *_place_of(callee.called), callee.how)


def _place_of(row: SymbolRow | IntentRow) -> tuple[str, str, str, int]:
    if isinstance(row, IntentRow):
        return row.id, row.intent.title, row.path, row.intent.line
    return row.id, row.name, row.path, row.line


topic(
    "code",
    "Look up symbols, calls, tests and coupled files.",
    group="Code",
    why="""
    Knows the code of this git work tree, uncommitted changes included, in twelve languages. No bank
    is needed. To search notes, documents and code with one question, use ask; for the reasons
    behind a file or a line, use why.
    """,
    examples=(
        ("memory-bank code explain-symbol Bank.open", "what to know before it is changed"),
        ("memory-bank code blast-radius src/jobs.py", "what a change of a file may affect"),
    ),
)
