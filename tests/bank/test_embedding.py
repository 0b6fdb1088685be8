from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.bank.embedder_choice import embedder_list, embedder_use
from memory_bank.base import settings
from memory_bank.base.errors import BadInput, EmbedderUnavailable, StorageFailed
from memory_bank.base.settings import Settings
from memory_bank.memory.retrieval.recall import recall

pytestmark = pytest.mark.usefixtures("default_embedder")


def test_an_embedder_that_can_not_be_used_says_why() -> None:
    found = {one.name: one for one in embedder_list(Settings())}
    assert found["minilm"].active
    assert found["static"].problem is None
    assert found["http"].problem == "http.url is not set"
    assert found["none"].ready


def test_use_is_what_the_next_load_reads(bank: Bank) -> None:
    done = embedder_use(bank, "none")
    assert (done.changed, done.problem) == (True, None)
    assert settings.load(bank.layout.root).memory.embedder == "none"
    assert not embedder_use(bank, "none").changed


def test_use_keeps_the_files_bytes(bank: Bank) -> None:
    file = bank.layout.config
    file.write_bytes(b"# caf\xc3\xa9\r\n[memory]\r\nembedder = 'static' # x\r\n")
    embedder_use(bank, "none")
    assert file.read_bytes() == b'# caf\xc3\xa9\r\n[memory]\r\nembedder = "none" # x\r\n'
    assert [path.name for path in file.parent.glob(".mb-*")] == []


def test_use_of_an_unknown_or_missing_one_changes_nothing(bank: Bank) -> None:
    with pytest.raises(BadInput):
        embedder_use(bank, "nope")
    with pytest.raises(EmbedderUnavailable):
        embedder_use(bank, "http")
    assert not bank.layout.config.exists()


def test_a_file_that_can_not_be_written_is_told(bank: Bank) -> None:
    bank.layout.config.mkdir()
    with pytest.raises(StorageFailed):
        embedder_use(bank, "none")


def test_a_note_written_while_embeddings_were_off_is_found_by_meaning(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "cat.md").write_text("Cats sleep on the sofa.\n", encoding="utf-8")

    def asked(embedder: str, mode: str) -> list[str]:
        with open_bank(notes, settings={"memory.embedder": embedder}) as bank:
            return [one.path for one in recall(bank, "dogs or cats", mode=mode).notes]

    assert asked("static", "semantic") == ["cat.md"]
    (notes / "dog.md").write_text("Dogs bark at night.\n", encoding="utf-8")
    assert sorted(asked("none", "lexical")) == ["cat.md", "dog.md"]
    assert sorted(asked("static", "semantic")) == ["cat.md", "dog.md"]
