"""A change of one note reads no whole table."""

import re
import sys
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


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all signatures are compared")
def test_an_edit_reads_no_table_from_end_to_end(folder: Path, opening: Opening) -> None:
    for number in range(30):
        (folder / f"n{number}.md").write_text(f"# N{number}\n\nkestrel, see [[n{number - 1}]]\n")
    bank = opening(folder)
    bank.sync()
    for _ in range(5):  # whoever asks often is told of changes
        recall(bank, "kestrel", mode="lexical", count_access=False)
    asked: list[str] = []
    base = view_of(bank).manifest._base
    (folder / "n3.md").write_text("# N3\n\nan osprey, see [[n4]]\n")
    base.set_trace_callback(asked.append)
    for _ in range(3):
        answer = recall(bank, "osprey", mode="lexical", count_access=False)
    base.set_trace_callback(None)
    assert [note.path for note in answer.notes] == ["n3.md"]
    statements = [sql for sql in asked if sql.startswith(("SELECT", "UPDATE", "DELETE"))]
    statements = [sql for sql in statements if not re.search(r"LIMIT \d+\)?$", sql)]
    assert len(statements) > 20
    assert [sql for sql in statements if _scans(bank, sql)] == []


def _scans(bank: Bank, sql: str) -> bool:
    """Tell whether a statement reads a table, or an index of all its rows, whole."""
    plan = [str(row[3]) for row in view_of(bank).manifest.execute(f"EXPLAIN QUERY PLAN {sql}")]
    return any(_WHOLE.match(step) and not any(name in step for name in _FEW) for step in plan)
