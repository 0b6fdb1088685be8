"""Notes of several folders are one source: found, linked and followed alike."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.base.documents import Document, Span
from memory_bank.base.errors import NoBank
from memory_bank.base.paths import Layout
from memory_bank.base.setting_sections import Memory
from memory_bank.base.settings import Settings
from memory_bank.notes.roots import IncludedRoot, NoteRoot, Roots
from memory_bank.notes.source import NotesSource
from memory_bank.search.engine import Engine
from memory_bank.search.index import Index
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.retrievers.base import Question, Scope

SETTINGS = Settings(memory=Memory(embedder="none"))


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    bank = tmp_path.resolve() / ".memories"
    bank.mkdir()
    (bank / "queue.md").write_text("# Queue\n\nSee [[docs/adr/0001-postgres]].\n")
    return bank


@pytest.fixture
def records(bank: Path) -> Path:
    records = bank.parent / "docs/adr"
    records.mkdir(parents=True)
    (records / "0001-postgres.md").write_text("# Postgres\n\nJobs wait in a table.\n")
    (records / "0002-redis.md").write_text("# Redis\n\nReplaces [one](0001-postgres.md).\n")
    return records


def including(bank: Path, paths: list[str]) -> NotesSource:
    included = IncludedRoot(bank.parent, paths, bank=".memories")
    return NotesSource(Roots(NoteRoot(bank), ".memories/", included), max_bytes=10**6)


@pytest.fixture
def source(bank: Path, records: Path) -> Iterator[NotesSource]:
    source = including(bank, ["docs/adr"])
    yield source
    source.close()


@pytest.fixture
def index(bank: Path, source: NotesSource) -> Iterator[Index]:
    index = Index(Layout(bank, bank / ".index"), source, SETTINGS)
    yield index
    index.close()


def found(index: Index, text: str) -> list[str]:
    index.catch_up()
    engine = Engine(index.manifest, index.retrievers, SETTINGS, lambda _: {})
    hits = engine.search(Question(text), Scope(), mode="lexical", limit=5, now=time.time()).hits
    return [hit.document.key for hit in hits]


def test_notes_of_all_folders_are_found_by_their_prefix(index: Index) -> None:
    index.indexer.sync()
    assert found(index, "jobs table") == ["docs/adr/0001-postgres.md"]
    assert set(document_rows.read_hashes(index.manifest)) == {
        "queue.md", "docs/adr/0001-postgres.md", "docs/adr/0002-redis.md"
    }  # fmt: skip


def test_links_lead_across_folders(index: Index) -> None:
    index.indexer.sync()
    rows = document_rows.read_documents(index.manifest, [1, 2, 3])
    numbers = {row.key: number for number, row in rows.items()}
    linking = link_rows.read_incoming(index.manifest, numbers["docs/adr/0001-postgres.md"])
    assert {rows[row.source].key for row in linking} == {"queue.md", "docs/adr/0002-redis.md"}


def test_changes_in_each_folder_are_followed(index: Index, bank: Path, records: Path) -> None:
    for _ in range(3):  # the second question begins to watch
        assert found(index, "kestrel") == []
    (records / "0003-kestrel.md").write_text("# Kestrel\n")
    assert found(index, "kestrel") == ["docs/adr/0003-kestrel.md"]
    (bank / "kestrel.md").write_text("# Kestrel\n\nKestrel.\n")
    (records / "0003-kestrel.md").unlink()
    assert found(index, "kestrel") == ["kestrel.md"]


def test_a_note_is_read_from_its_folder(source: NotesSource) -> None:
    read = source.read("docs/adr/0001-postgres.md")
    assert isinstance(read, Document)
    assert source.text(read.key, read.hash, Span(3, 4)) == "Jobs wait in a table."
    assert source.read("docs/adr/../../queue.md") is None


def test_of_two_files_with_one_path_the_note_of_the_bank_is_read(
    source: NotesSource, bank: Path, records: Path
) -> None:
    (bank / "docs/adr").mkdir(parents=True)
    own = bank / "docs/adr/0001-postgres.md"
    own.write_text("# Another\n")
    reason = "the included file docs/adr/0001-postgres.md has the same path: not indexed"
    assert source.scan().refused == {"docs/adr/0001-postgres.md": reason}
    read = source.read("docs/adr/0001-postgres.md")
    assert isinstance(read, Document)
    assert read.title == "Another"
    own.unlink()
    read = source.read("docs/adr/0001-postgres.md")
    assert isinstance(read, Document)
    assert read.title == "Postgres"


def test_only_the_folder_of_the_bank_must_exist(bank: Path) -> None:
    scanned = including(bank, ["no"]).scan()
    assert list(scanned.signatures) == ["queue.md"]
    assert scanned.refused == {"no": "there is no such file or folder"}
    bank.joinpath("queue.md").unlink()
    bank.rmdir()
    with pytest.raises(NoBank):
        including(bank, ["no"]).scan()
