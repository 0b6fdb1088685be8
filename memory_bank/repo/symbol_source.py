"""The symbols of a work tree as a source: a document is a file, a section a symbol."""

from __future__ import annotations

from collections.abc import Sequence

from memory_bank.repo.code_database import SymbolRow
from memory_bank.repo.code_source import REST, CodeSource, Parts, divided
from memory_bank.repo.symbol_lookup import in_file
from memory_bank.source import Section

_TEST = -2
"""The owner of lines of tests, which another source has."""


class SymbolSource(CodeSource):
    """Symbols that are no tests; what is outside of symbols is in no section."""

    name = "symbols"

    def parts(self, path: str, lines: Sequence[str]) -> Parts:
        """Give each line to the innermost symbol that has it."""
        rows = sorted(
            in_file(self._table, path), key=lambda one: (one.symbol.line, -one.symbol.end_line)
        )
        owners = [REST] * (len(lines) + 1)
        shown: list[SymbolRow] = []
        for row in rows:
            start, end = row.symbol.line, min(row.symbol.end_line, len(owners))
            owner = len(shown)
            if row.test or owners[min(start, len(lines))] == _TEST:
                owner = _TEST
            else:
                shown.append(row)
            owners[start:end] = [owner] * max(0, end - start)
        owned: dict[int, list[int]] = {}
        for number in range(1, len(owners)):
            owned.setdefault(owners[number], []).append(number)
        passages = [
            passage
            for owner in (*range(len(shown)), REST)
            for passage in divided(lines, owned.get(owner, ()), owner)
        ]
        passages.sort(key=lambda one: one.line)
        return Parts(tuple(map(_section, shown)), tuple(passages))


def _section(row: SymbolRow) -> Section:
    symbol = row.symbol
    fields = (
        ("kind", symbol.kind),
        ("language", row.language),
        ("symbol", symbol.name.casefold()),
    )
    headings = tuple(part for part in symbol.qualified.split(".") if part)
    return Section(symbol.line, symbol.end_line, headings, row.id, fields)
