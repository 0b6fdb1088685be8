"""A new plug-in is one file: what it declares is found, filled, asked and shown by that alone."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.bank.config_file import list_settings
from memory_bank.base import settings
from memory_bank.base.errors import BadSetting
from memory_bank.memory.retrieval.recall import recall
from tests.contracts.conftest import PlugIn


@pytest.fixture
def notes(folder: Path) -> Path:
    (folder / "manual.md").write_text("# Help\n\nRead the fine manual.\n")
    (folder / "tea.md").write_text("# Tea\n\nOolong is brewed twice.\n")
    return folder


def test_a_retriever_is_filled_asked_and_named_in_reasons(plug_in: PlugIn, notes: Path) -> None:
    plug_in("search.retrievers", "acronyms")
    with open_bank(notes, settings={"memory.embedder": "none"}) as bank:
        (note,) = recall(bank, "rtfm", mode="lexical").notes
        assert note.path == "manual.md"
        assert note.reasons[0][:2] == ("acronyms", "its first letters")
        (notes / "manual.md").unlink()
        (notes / "tea.md").write_text("# Tea\n\nRinse the flat mug. Oolong is brewed twice.\n")
        assert [one.path for one in recall(bank, "rtfm", mode="lexical").notes] == ["tea.md"]
    with open_bank(notes, settings={"memory.embedder": "none", "search.fusion": "rrf"}) as bank:
        (note,) = recall(bank, "rtfm", mode="lexical").notes
        assert note.reasons[0].source == "acronyms"


def test_a_retriever_that_comes_later_is_filled_with_what_is_indexed(
    plug_in: PlugIn, notes: Path
) -> None:
    with open_bank(notes, settings={"memory.embedder": "none"}) as bank:
        assert recall(bank, "rtfm", mode="lexical").notes == ()
    plug_in("search.retrievers", "acronyms")
    with open_bank(notes, settings={"memory.embedder": "none"}) as bank:
        assert [note.path for note in recall(bank, "rtfm", mode="lexical").notes] == ["manual.md"]
        (notes / ".index" / "acronyms" / "acronyms.json").write_text("{")
        assert [note.path for note in recall(bank, "rtfm", mode="lexical").notes] == ["manual.md"]
        assert bank.take_repaired() == ["acronyms"]


def test_settings_of_an_embedder_are_read_checked_and_kept_private(
    plug_in: PlugIn, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = notes / "config.toml"
    file.write_text('[vowels]\nletter = "w"\n')
    with pytest.raises(BadSetting, match=r"config\.toml:1: unknown setting 'vowels'"):
        settings.load(notes)
    plug_in("search.embedders", "vowels")
    assert settings.load(notes).section("vowels") == ("w", "")
    monkeypatch.setenv("MEMORY_BANK_VOWELS_LETTER", "r")
    monkeypatch.setenv("MEMORY_BANK_VOWELS_TOKEN", "hunter2")
    found = settings.load(notes)
    assert found.section("vowels") == ("r", "hunter2")
    shown = {one.name: (one.value, one.origin) for one in list_settings(found)}
    assert shown["vowels.letter"] == ("r", "MEMORY_BANK_VOWELS_LETTER")
    assert shown["vowels.token"] == ("***", "MEMORY_BANK_VOWELS_TOKEN")
    for text, said in (
        ("[vowels]\nletter = 3\n", "config.toml:2: vowels.letter: 3 is not text"),
        ("[vowels]\nlength = 3\n", "config.toml:2: unknown setting 'vowels.length'"),
    ):
        file.write_text(text)
        with pytest.raises(BadSetting) as caught:
            settings.load(notes)
        assert said in caught.value.message
    file.write_text("[vowels]\ntoken = 'x'\n")
    (problem,) = settings.load(notes).problems
    assert "vowels.token may not be set by a project" in problem.message
    assert settings.load(notes).section("vowels") == ("r", "hunter2")


def test_a_setting_of_an_embedder_makes_other_vectors(plug_in: PlugIn, notes: Path) -> None:
    plug_in("search.embedders", "vowels")
    for letter in "yw":
        settings = {"memory.embedder": "vowels", "vowels.letter": letter}
        with open_bank(notes, settings=settings) as bank:
            found = recall(bank, "ooo i", mode="semantic")
            assert (found.mode_used, found.notes[0].path) == ("semantic", "tea.md")
    assert len(list((notes / ".index" / "vectors").iterdir())) == 2


STARTING = """
import sys
from memory_bank.bank.bank import open_bank
open_bank(sys.argv[1]).close()
base = "memory_bank.search.embedders."
print(*[name for name in sys.modules if name.startswith(base) and name != base + "base"])
"""


def test_no_embedder_is_imported_for_the_settings_of_others(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
    notes: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (notes / "config.toml").write_text('[search]\nfusion = "rrf"\n')
    monkeypatch.setenv("MEMORY_BANK_SEARCH_LIMIT", "3")
    assert run_python(STARTING, notes).stdout == "\n"
    monkeypatch.setenv("MEMORY_BANK_ONNX_MAX_TOKENS", "64")
    found = run_python(STARTING, notes).stdout.split()
    assert "memory_bank.search.embedders.onnx" in found
    assert "memory_bank.search.embedders.http" not in found
