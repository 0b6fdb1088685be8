"""Which notes a bank need look at, over its questions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank import Bank, append, recall
from memory_bank.index import sync
from memory_bank.index.dirty import DirtySet
from memory_bank.index.inotify import InotifyQueue


@pytest.fixture
def dirty(tmp_path: Path) -> Iterator[DirtySet]:
    found = DirtySet(tmp_path)
    yield found
    found.close()


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_from_the_second_question_on_only_what_was_reported_is_dirty(
    dirty: DirtySet, tmp_path: Path
) -> None:
    index = object()
    for _ in range(2):
        dirty.update()
        assert dirty.paths(index) is None
        dirty.clear(index)
    dirty.update()
    assert dirty.paths(index) == frozenset()
    (tmp_path / "a.md").write_text("x")
    dirty.update()
    (tmp_path / "b.md").write_text("x")
    dirty.update()
    assert dirty.paths(index) == {"a.md", "b.md"}, "what was not indexed is kept in mind"
    assert dirty.paths(object()) is None, "another index lacks all"
    dirty.clear(index)
    (tmp_path / "folder").mkdir()
    dirty.update()
    assert dirty.paths(index) is None


def test_without_a_queue_each_question_scans_all(
    dirty: DirtySet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InotifyQueue, "at", lambda _: None)
    for _ in range(4):
        dirty.update()
        assert dirty.paths(None) is None
        dirty.clear(None)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_bank_that_watches_looks_at_no_more_than_what_changed(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        recall(bank, "tantivy")
    append(bank, "facts/bm25", "A capercaillie.")
    monkeypatch.setattr(sync, "scan", lambda _: pytest.fail("all files were looked at"))
    assert recall(bank, "capercaillie").notes[0].path == "facts/bm25.md"
    (project / ".memories/facts/new.md").write_text("# New\n\nA kestrel.\n")
    assert recall(bank, "kestrel").notes[0].path == "facts/new.md"
    (project / ".memories/facts/new.md").unlink()
    assert not recall(bank, "kestrel", mode="lexical").notes
    assert recall(bank, "tantivy").notes
