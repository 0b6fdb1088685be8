"""Find symbols and files by the names that people, agents and links write."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from memory_bank.base import lazy_pattern, shorten
from memory_bank.base.documents import Link
from memory_bank.base.errors import (
    BadInput,
    FileNotFound,
    SymbolNotFound,
    did_you_mean,
    similar_names,
)
from memory_bank.code.index.database import SEPARATOR, CodeDatabase, SymbolRow
from memory_bank.code.parse.parsed_file import SYMBOL, TEST

_LISTED = 10
"""Maximum number of candidates in an error."""

_LONGEST = 500
"""Maximum length of a name in characters; a longer one is no symbol's."""

_UNNAMED = lazy_pattern(r"\A(?:module\.)?exports\.|(?<=.)\.prototype(?=\.)")
"""Parts of names in JavaScript that qualify no symbol."""

_NUMBERED = lazy_pattern(r"(.*[^:]):([0-9]{1,9})")
"""A name and the line of the symbol."""

_PACKAGE = frozenset({"__init__", "index", "mod"})
"""Names of files that stand for their folder."""

_ESCAPED = str.maketrans({"%": "\\%", "_": "\\_", "\\": "\\\\"})


_LAST_COUNTS = frozenset({"python", "typescript", "tsx"})
"""Languages in which declarations of a name come before the definition that counts."""


def find_symbol(table: CodeDatabase, name: str) -> SymbolRow:
    """Return the symbol that a name means.

    Raises SymbolNotFound if there is none, naming similar ones, or if there are several, listing
    them.
    """
    rows = find_symbols(table, name)
    if len({(row.path, row.symbol.qualified) for row in rows}) == 1 and (
        len(rows) == 1 or rows[0].language in _LAST_COUNTS
    ):
        return rows[-1]
    short_name = shorten(name, _LONGEST)
    if not rows:
        similar = list_similar_symbols(table, name)
        raise SymbolNotFound(
            f"there is no symbol {short_name!r}{did_you_mean(similar)}",
            "a name may be Class.method, package.module.Class.method or src/file.py#Class.method",
        )
    candidates = [f"{row.path}#{row.symbol.qualified}:{row.symbol.line}" for row in rows]
    listed = ", ".join(candidates[:_LISTED])
    more = f" and {len(candidates) - _LISTED} more" if len(candidates) > _LISTED else ""
    raise SymbolNotFound(
        f"{short_name!r} is the name of {len(rows)} symbols: {listed}{more}",
        "name one as listed here, such as {first}, or give its id",
        first=candidates[0],
    )


def find_symbols(table: CodeDatabase, name: str) -> list[SymbolRow]:
    """Return the symbols that a name may mean; several if it is ambiguous.

    A name is an id, also of a test that is a function, `path#qualified` with the end of a path, a
    qualified name, the end of one after the dotted name of its module, or the last part of a name.
    The first of these that fits decides. With `:LINE` at its end, only symbols that start on that
    line are meant.
    """
    name = name.strip().removesuffix("()")
    if not name or len(name) > _LONGEST:
        return []
    if match := _NUMBERED.fullmatch(name):
        line = int(match[2])
        return [row for row in find_symbols(table, match[1]) if row.symbol.line == line]
    if name.startswith(SYMBOL) and (rows := table.symbols("s.sym = ?", name)):
        return rows
    if name.startswith(TEST) and (tests := table.tests("t.sym = ?", name)):
        return [
            row for test in tests for row in _find_in_file(table, test.path, test.intent.symbol)
        ]
    path, hash_sign, symbol_name = name.partition("#")
    if hash_sign and ("/" in path or "." in path):
        return _find_in_file(table, path, symbol_name) if symbol_name else []
    return find_best(table.symbols("s.name = ?", last_name(name)), name)


def find_best(rows: Sequence[SymbolRow], name: str) -> list[SymbolRow]:
    """Return the symbols that fit a name best, among those with its last part."""
    dotted = dotted_name(name)
    exact = [row for row in rows if row.symbol.qualified == dotted]
    if exact or "." not in dotted:
        return exact if "." in dotted else exact or [*rows]
    ending = [row for row in rows if row.symbol.qualified.endswith(f".{dotted}")]
    return ending or [
        row for row in rows if any(name.endswith(f".{dotted}") for name in _full_names(row))
    ]


def find_meant_symbols(table: CodeDatabase, name: str) -> list[SymbolRow]:
    """Return the symbols that a reference of a note means: every one of that qualified name.

    If there is none, the only one that `find_symbols` finds; an ambiguous name means none.
    """
    rows = find_symbols(table, name)
    if len(rows) <= 1:
        return rows
    written = {dotted_name(name), dotted_name(name.partition("#")[2])}
    return [row for row in rows if row.symbol.qualified in written]


def last_name(name: str) -> str:
    """Return the last part of a symbol's name in any form: `open` of `bank.py#Bank.open`."""
    return dotted_name(name).rpartition(".")[2]


def match_symbols(
    table: CodeDatabase,
    words: Sequence[str] = (),
    *,
    limit: int,
    path: str = "",
    tests: bool = False,
) -> list[SymbolRow]:
    """Return the symbols whose qualified names have all of some words, in any case.

    Those of exactly that name come first, then those that begin with it, then the others, short
    names before long ones; without words, all come by file and line. `path` is a file or a folder.
    Tests are left out unless `tests` is true.
    """
    conditions, values = ["1" if tests else "NOT s.test"], list[object]()
    for word in words:
        conditions.append("s.qualified LIKE ? ESCAPE '\\'")
        values.append(f"%{word.translate(_ESCAPED)}%")
    if path:
        conditions.append("(f.path = ? OR substr(f.path, 1, ?) = ?)")
        folder = f"{path.strip('/')}/"
        values += [path.strip("/"), len(folder), folder]
    rows = table.symbols(" AND ".join(conditions), *values)
    if words:
        needle = words[-1].casefold()
        rows.sort(key=lambda row: _distance_key(row, needle))
    return rows[:limit]


def list_symbols(table: CodeDatabase, path: str) -> list[SymbolRow]:
    """Return the symbols of a file, by line."""
    return table.symbols("f.path = ?", path)


def find_symbol_around(table: CodeDatabase, path: str, line: int) -> SymbolRow | None:
    """Return the innermost symbol of a file that has a line."""
    enclosing = [
        row for row in list_symbols(table, path) if row.symbol.line <= line < row.symbol.end_line
    ]
    return max(enclosing, key=lambda row: (row.symbol.line, -row.symbol.end_line), default=None)


def find_files(table: CodeDatabase, path: str) -> list[str]:
    """Return the file of a path, else those whose paths end so."""
    needle = path.replace("\\", "/").removeprefix("./").strip("/")
    exact = table.rows("SELECT path FROM files WHERE path = ?", needle)
    pattern = f"%/{needle.translate(_ESCAPED)}"
    rows = exact or table.rows(
        "SELECT path FROM files WHERE path LIKE ? ESCAPE '\\' ORDER BY path", pattern
    )
    return [file for (file,) in rows]


def _find_in_file(table: CodeDatabase, path: str, name: str) -> list[SymbolRow]:
    dotted = dotted_name(name)
    files = find_files(table, path)
    rows = table.symbols_in("f.path", files) if files else []
    exact = [row for row in rows if row.symbol.qualified == dotted]
    return exact or [row for row in rows if row.symbol.qualified.endswith(f".{dotted}")]


def _full_names(row: SymbolRow) -> tuple[str, ...]:
    """Return the names of a symbol with its module's, such as `.memory_bank.bank.Bank.open`.

    A file such as `__init__.py` may stand for its folder.
    """
    folder, _, file = row.path.rpartition("/")
    stem = file.partition(".")[0]
    folder_name = f".{folder.replace('/', '.')}" if folder else ""
    full_name = f"{folder_name}.{stem}.{row.symbol.qualified}"
    return (
        (full_name, f"{folder_name}.{row.symbol.qualified}") if stem in _PACKAGE else (full_name,)
    )


def _distance_key(row: SymbolRow, needle: str) -> tuple[int, int, str, int]:
    name, qualified = row.symbol.name.casefold(), row.symbol.qualified.casefold()
    if needle in {name, qualified}:
        rank = 0
    elif name.startswith(needle):
        rank = 1
    else:
        rank = 2 if needle in name else 3
    return rank, len(qualified), row.path, row.symbol.line


def list_similar_symbols(table: CodeDatabase, name: str) -> list[str]:
    """Return names of symbols that are similar to an unknown one."""
    dotted = dotted_name(name.partition("#")[2] or name)
    column = "qualified" if "." in dotted else "name"
    names = [known for (known,) in table.rows(f"SELECT DISTINCT {column} FROM symbols")]
    similar = similar_names(dotted[-_LISTED * 10 :], names)
    if not similar and "." in dotted:
        names = [known for (known,) in table.rows("SELECT DISTINCT name FROM symbols")]
        similar = similar_names(dotted.rpartition(".")[2], names)
    return similar


def dotted_name(name: str) -> str:
    """Return a name with its parts joined by dots, as symbols are qualified.

    `exports.etag` and `View.prototype.render` of JavaScript are `etag` and `View.render`.
    """
    parts = SEPARATOR.split(name.strip().removesuffix("()"))
    return _UNNAMED.sub("", ".".join(part for part in parts if part))


_SIMILAR = 0.8
"""Least similarity of a path that is suggested instead of an unknown one."""


def path_from_shell(text: str) -> str:
    """Return a path as the shell completes it, from the working directory, else as answers do."""
    here = Path(text)
    return str(here.absolute()) if here.exists() else text


def known_file(root: Path, files: Collection[str], renamed: Mapping[str, str], file: str) -> str:
    """Return the path of one of the files of a work tree; raise BadInput or FileNotFound.

    `renamed` are new names of files by their former ones.
    """
    if file in files:
        return file
    path = path_below(root, file)
    if path in files:
        return path
    if any(known_path.startswith(f"{path}/") for known_path in files):
        raise FileNotFound(f"{path} is a folder", "give one of its files")
    message = f"there is no file {path} in {root}"
    if (now := renamed.get(path, "")) in files:
        raise FileNotFound(message, "it was renamed to {now}", now=now)
    near = [
        known_path
        for known_path in files
        if posixpath.basename(known_path) == posixpath.basename(path)
    ]
    near = similar_names(path, near, least=0.0) or similar_names(path, files, least=_SIMILAR)
    raise FileNotFound(
        f"{message}{did_you_mean(near)}", "give a file that git tracks, or would track"
    )


def path_below(root: Path, file: str) -> str:
    """Return a path below a work tree, with forward slashes; raise BadInput for one outside."""
    stripped = file.strip()
    if "\0" not in stripped and Path(stripped).is_absolute():
        real = (
            Path(stripped).parent.resolve() / Path(stripped).name
        )  # the file itself may be a link
        if real.is_relative_to(root.resolve()):
            stripped = real.relative_to(root.resolve()).as_posix()
    path = posixpath.normpath(stripped.replace("\\", "/")) if stripped else ""
    if not path or path in {".", ".."} or path.startswith(("../", "/")) or "\0" in path:
        raise BadInput(f"{file!r} is no file below {root}", "give a path inside the work tree")
    return path


SCHEME = "symbol:"
"""Start of a link to a symbol."""

_KIND = lazy_pattern(r"[A-Za-z_][\w-]+:(?!//)")
"""The start of a target of a kind of its own: a person, a ticket, a clause."""


def has_kind(target: str) -> bool:
    """Return whether a link names something of the user's own kind, as `person:ada`."""
    return _KIND.match(target) is not None and not target.lower().startswith(SCHEME)


def linked_symbol(row: Link) -> str:
    """Return the name of the symbol that a link gives; empty if it gives none."""
    return named_symbol(row.ghost, row.heading)


def named_symbol(ghost: str, heading: str) -> str:
    """Return the name of a symbol, from the target and the heading of a link; empty if none."""
    if not ghost.lower().startswith(SCHEME):
        return ""
    inner = f"#{heading}" if heading else ""
    return f"{ghost[len(SCHEME) :].strip()}{inner}"
