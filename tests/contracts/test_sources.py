"""Every source of documents of a work tree keeps the contract of base/documents.py."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base import plugins
from memory_bank.base.documents import Document, Source, Span, Unchanged
from memory_bank.code import sources
from memory_bank.code.index.work_tree import WorkTree
from memory_bank.code.sources import JoinedSources
from tests.code.test_doc_source import source

TEXT = "osprey,dives for fish\nowl,hunts voles\n"
FILES = {"docs": "docs/birds.md", "rows": "docs/birds.csv"}  # `rows` is of the sample plug-in


class Opened:
    """A source of a project, and a file that it has as a document."""

    def __init__(self, project: Path, name: str) -> None:
        tree = WorkTree(project, max_bytes=10**6)
        self.refresh: Callable[[], object] = lambda: None
        self.key = FILES[name]
        self.file = project / self.key
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(TEXT)
        if name == "docs":
            files = source(project)
            self.source: Source = files
            self.refresh = files.table.refresh
        else:
            module = plugins.load(sources.KIND, name)
            self.source = module.open_source(tree, lambda: tree.scan().files)


@pytest.fixture(params=["docs", *plugins.list_plugins(sources.KIND)])
def opened(request: pytest.FixtureRequest, project: Path) -> Opened:
    return Opened(project, request.param)


def test_a_document_is_listed_read_and_shown(opened: Opened) -> None:
    source, key = opened.source, opened.key
    assert source.name
    assert source.fingerprint
    assert source.scan().signatures.keys() >= {key}
    found = source.read(key)
    assert isinstance(found, Document)
    assert (found.key, found.size) == (key, len(TEXT))
    assert "owl,hunts voles" in " ".join(one.text for one in found.passages)
    assert source.text(key, found.hash, Span(2, 3)) == "owl,hunts voles"
    assert isinstance(source.read(key, found.hash), Unchanged)


def test_what_changes_is_told_and_read_anew(opened: Opened) -> None:
    source, key = opened.source, opened.key
    before = source.scan().signatures[key]
    found = source.read(key)
    assert isinstance(found, Document)
    opened.file.write_text(TEXT + "heron,wades in a lake\n")
    opened.refresh()
    assert source.scan().signatures[key] != before
    assert source.text(key, found.hash, Span(1, 2)) is None
    newer = source.read(key, found.hash)
    assert isinstance(newer, Document)
    assert newer.hash != found.hash


def test_what_is_gone_is_not_there(opened: Opened) -> None:
    source, key = opened.source, opened.key
    source.scan()
    opened.file.unlink()
    opened.refresh()
    assert key not in source.scan().signatures
    assert source.read(key) is None
    assert source.text(key, "", Span(1, 2)) is None


def test_joined_sources_are_one_and_the_first_comes_first(project: Path) -> None:
    (project / "a.md").write_text("# A\n")
    (project / "b.txt").write_text("B\n")
    whole = JoinedSources([source(project, "b.txt"), source(project)])
    assert whole.text("b.txt", "", Span(1, 2)) is None
    found = whole.read("b.txt")
    assert isinstance(found, Document)
    assert whole.text("b.txt", found.hash, Span(1, 2)) == "B"
    assert sorted(whole.scan().signatures) == ["a.md", "b.txt", "src/index.py"]
    assert whole.read("c.md") is None
    assert not whole.refresh()
    whole.close()
