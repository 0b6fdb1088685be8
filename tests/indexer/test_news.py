"""Which notes a bank need look at, over its questions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank import Bank, append, recall
from memory_bank.indexer import sync
from memory_bank.indexer.ear import Ear
from memory_bank.indexer.news import News


@pytest.fixture
def news(tmp_path: Path) -> Iterator[News]:
    found = News(tmp_path)
    yield found
    found.close()


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_from_the_second_question_on_only_what_was_heard_of_is_news(
    news: News, tmp_path: Path
) -> None:
    index = object()
    for _ in range(2):
        news.gather()
        assert news.changed(index) is None
        news.indexed(index)
    news.gather()
    assert news.changed(index) == frozenset()
    (tmp_path / "a.md").write_text("x")
    news.gather()
    (tmp_path / "b.md").write_text("x")
    news.gather()
    assert news.changed(index) == {"a.md", "b.md"}, "what was not indexed is kept in mind"
    assert news.changed(object()) is None, "another index lacks all"
    news.indexed(index)
    (tmp_path / "folder").mkdir()
    news.gather()
    assert news.changed(index) is None


def test_without_an_ear_each_question_looks_at_all(
    news: News, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ear, "at", lambda _: None)
    for _ in range(4):
        news.gather()
        assert news.changed(None) is None
        news.indexed(None)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_bank_that_listens_looks_at_no_more_than_what_changed(
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
