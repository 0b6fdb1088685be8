"""Reading, searching, indexing and watching leave no trace in git."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.code.explain_symbol import explain_symbol
from memory_bank.code.index.codebase import open_codebase
from memory_bank.memory.links import links_of
from memory_bank.memory.maintenance import watch
from memory_bank.memory.overview import stats
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes, tag_counts
from memory_bank.review.doctor import doctor
from memory_bank.trust.stale import stale

Git = Callable[..., str]


def _read_everything(folder: Path) -> None:
    with open_bank(folder) as bank:
        bank.sync()
        assert recall(bank, "tantivy").result_count
        list_notes(bank)
        links_of(bank, "decisions/tantivy")
        stats(bank)
        doctor(bank)
        tag_counts(bank)
        stale(bank)
        bank.rebuild()
        with open_codebase(folder) as code:
            assert explain_symbol(code, "build_index", bank).details


def test_in_a_clean_clone(project: Path, tmp_path: Path, git: Git) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(project), str(clone))
    _read_everything(clone)
    assert git(clone, "status", "--porcelain") == ""


@pytest.fixture
def vault(project: Path, git: Git) -> Path:
    """Make the notes a folder without our `.gitignore`."""
    git(project, "rm", "-q", ".memories/.gitignore")
    git(project, "commit", "-q", "-m", "No rules")
    git(project, "mv", ".memories", "vault")
    git(project, "commit", "-q", "-m", "A plain folder")
    return project / "vault"


def test_in_a_folder_that_was_never_made_a_bank(vault: Path, git: Git) -> None:
    """The index brings its own rules."""
    _read_everything(vault)
    assert git(vault, "status", "--porcelain") == ""


def test_the_rules_of_an_index_come_back_when_something_is_indexed(vault: Path, git: Git) -> None:
    note = vault / "decisions/tantivy.md"
    with open_bank(vault, settings={"memory.embedder": "none"}) as bank:
        bank.sync()
        (vault / ".index/.gitignore").unlink()
        note.write_text(f"{note.read_text()}\nkestrel\n")
        assert recall(bank, "kestrel").result_count
    git(vault, "checkout", "--", ".")
    assert git(vault, "status", "--porcelain") == ""


def test_while_watching(project: Path, git: Git) -> None:
    stop = threading.Event()
    said: list[str] = []
    started = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        started.set()

    with open_bank(project, settings={"memory.embedder": "none"}) as bank:
        watching = threading.Thread(target=watch, args=(bank, say, stop))
        watching.start()
        try:
            assert started.wait(60)
            assert git(project, "status", "--porcelain") == ""
        finally:
            stop.set()
            watching.join(60)
    assert not watching.is_alive()
    assert git(project, "status", "--porcelain") == ""


@pytest.mark.parametrize("verb", ["remember", "delete"])
def test_a_write_shows_its_note_alone(project: Path, git: Git, verb: str) -> None:
    from memory_bank.memory.remember import remember
    from memory_bank.memory.trash import delete

    with open_bank(project, settings={"memory.embedder": "none"}) as bank:
        if verb == "remember":
            path = remember(bank, "Zstandard compresses segments well", name="facts/zstd").path
            assert git(project, "status", "--porcelain") == f"?? .memories/{path}\n"
        else:
            delete(bank, "facts/bm25")
            assert git(project, "status", "--porcelain") == " D .memories/facts/bm25.md\n"
