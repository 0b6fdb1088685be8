"""The tests of a work tree as a source: a document is a file, a section a test."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory_bank.repo.code_database import IntentRow
from memory_bank.repo.code_source import CodeSource, Parts, divided
from memory_bank.source import Section


class TestSource(CodeSource):
    """The files that have tests, and nothing else of them."""

    __test__ = False
    name = "tests"

    def included(self) -> Collection[str]:
        """Return the files that have tests."""
        rows = self._table.rows("SELECT DISTINCT f.path FROM tests JOIN files AS f ON f.id = file")
        return {path for (path,) in rows}

    def parts(self, path: str, lines: Sequence[str]) -> Parts:
        """Give each test the lines of it that no test inside it has."""
        rows = self._table.tests("f.path = ?", path)
        rows.sort(key=lambda one: (one.intent.line, -one.intent.end_line))
        owners = [-1] * (len(lines) + 1)
        for number, row in enumerate(rows):
            start, end = row.intent.line, min(row.intent.end_line, len(owners))
            owners[start:end] = [number] * max(0, end - start)
        owned: dict[int, list[int]] = {}
        for line, owner in enumerate(owners):
            owned.setdefault(owner, []).append(line)
        passages = [
            passage
            for number in range(len(rows))
            for passage in divided(lines, owned.get(number, ()), number)
        ]
        passages.sort(key=lambda one: one.line)
        return Parts(tuple(map(_section, rows)), tuple(passages))


def _section(row: IntentRow) -> Section:
    intent = row.intent
    fields = (
        ("kind", "test"),
        ("language", row.language),
        ("framework", intent.framework.casefold()),
    )
    return Section(intent.line, intent.end_line, (intent.title,), row.id, fields)
