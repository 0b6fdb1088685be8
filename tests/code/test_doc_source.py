"""The Markdown of a repository that is no note of its bank is a source of documents."""

import os
from pathlib import Path

import pytest

from memory_bank.base.documents import Document, Span, Unchanged, Unreadable
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.index.work_tree import WorkTree
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsing import ParseCache
from memory_bank.code.sources import FileSource


@pytest.fixture
def docs(project: Path) -> Path:
    (project / "README.md").write_text(
        "# Shop\n\nSells things.\n\n## Setup\n\nSee [[src/index.py]].\n"
    )
    (project / "docs").mkdir()
    (project / "docs/api.md").write_text("# API\n")
    (project / "parts/.memories").mkdir(parents=True)
    (project / "parts/.memories/note.md").write_text("# A note of another bank\n")
    return project


def source(root: Path, *without: str) -> FileSource:
    """Open the files of a project, of which one is code."""
    tree = WorkTree(root, max_bytes=1_000_000)
    folder = root.parent / f"{root.name}-index"
    table = SymbolTable(tree, folder, ParseCache(folder / "parses.db", parsing.parser_version()))
    table.refresh()
    return FileSource(tree, table, without=without)


def test_notes_of_banks_and_included_files_are_no_documents(docs: Path) -> None:
    code = "src/index.py"
    assert sorted(source(docs).scan().signatures) == ["README.md", "docs/api.md", code]
    assert sorted(source(docs, "docs/").scan().signatures) == ["README.md", code]
    assert sorted(source(docs, "README.md").scan().signatures) == ["docs/api.md", code]
    assert sorted(source(docs, ".").scan().signatures) == [code]


def test_a_document_has_sections_and_links(docs: Path) -> None:
    found = source(docs).read("README.md")
    assert isinstance(found, Document)
    assert [one.headings for one in found.sections] == [("Shop",), ("Shop", "Setup")]
    assert [one.ghost for one in found.links] == ["src/index.py"]
    text = source(docs).text("README.md", found.hash, Span(5, 8))
    assert text == "## Setup\n\nSee [[src/index.py]]."
    known = source(docs).read("README.md", found.hash)
    assert isinstance(known, Unchanged)


def test_changes_are_told(docs: Path) -> None:
    for name in ("README.md", "docs/api.md"):
        os.utime(docs / name, (1, 1))
    one = source(docs)
    before = one.scan().signatures
    (docs / "docs/api.md").write_text("# Another\n")
    (docs / "new.md").write_text("# New\n")
    (docs / "README.md").unlink()
    one.table.refresh()
    after = one.scan().signatures
    changed = {path for path, _ in before.items() ^ after.items()}
    assert changed == {"docs/api.md", "new.md", "README.md"}
    assert one.read("README.md") is None


def test_what_is_no_text_is_listed(docs: Path) -> None:
    (docs / "binary.md").write_bytes(b"\0\1\2")
    found = source(docs).read("binary.md")
    assert isinstance(found, Unreadable)
    assert "binary" in found.reason
