"""A change of one note reads no whole table, but for the signatures that are compared."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.retrieval.recall import recall
from tests.search.views import view_of

Opening = Callable[..., Bank]

_WHOLE = re.compile(
    r"SCAN (documents|document_fields|field_values|names|sections|passages|links|anchors|faults)\b"
)
_FEW = ("links_superseding", "documents_hidden", "documents_state")
"""Indices of what is rare: reading one of them whole is no matter."""


def test_an_edit_reads_no_table_from_end_to_end(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (folder / f"n{number}.md").write_text(f"# N{number}\n\nkestrel, see [[n{number - 1}]]\n")
    bank = opening(folder)
    bank.sync()
    recall(bank, "kestrel", mode="lexical", count_access=False)
    asked: list[str] = []
    base = view_of(bank).manifest._base
    (folder / "n3.md").write_text("# N3\n\nan osprey, see [[n4]]\n")
    base.set_trace_callback(asked.append)
    view_of(bank).index.indexer.sync(thorough=False)
    monkeypatch.setattr(
        Bank, "catch_up", lambda *_, **__: None
    )  # it compares the signatures of all files once more
    answer = recall(bank, "osprey", mode="lexical", count_access=False)
    base.set_trace_callback(None)
    assert [note.path for note in answer.notes] == ["n3.md"]
    statements = [sql for sql in asked if sql.startswith(("SELECT", "UPDATE", "DELETE"))]
    statements = [sql for sql in statements if not re.search(r"LIMIT \d+\)$", sql)]
    assert len(statements) > 20
    assert {sql for sql in statements if _scans(bank, sql)} == {
        sql for sql in statements if sql.startswith("SELECT key, signature FROM documents")
    }


def _scans(bank: Bank, sql: str) -> bool:
    """Tell whether a statement reads a table, or an index of all its rows, whole."""
    plan = [str(row[3]) for row in view_of(bank).manifest.execute(f"EXPLAIN QUERY PLAN {sql}")]
    return any(_WHOLE.match(step) and not any(name in step for name in _FEW) for step in plan)
