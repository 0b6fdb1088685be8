"""all-MiniLM-L6-v2: installing it, and its vectors where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from safetensors.numpy import save_file

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.frontends.cli.hints import hint_of
from memory_bank.search.embedders import minilm
from memory_bank.search.models import encoder
from memory_bank.search.models.vectors import np, read_tensors
from memory_bank.search.models.weight_files import Pinned
from tests.search.embedders import fakes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a small random model under the pinned names, so that all but its size is real."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "memory-bank" / "models" / "minilm"
    folder.mkdir(parents=True)
    weights = fakes.bert_weights(positions=256, dimension=384)
    save_file(weights, folder / "model.safetensors")
    fakes.tokenizer(folder / "tokenizer.json")
    files = tuple(
        Pinned(name, (folder / name).stat().st_size, "0" * 64)
        for name in ("model.safetensors", "tokenizer.json")
    )
    monkeypatch.setattr(minilm, "_FILES", files)
    return folder


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> minilm.MiniLM:
    """Load the true model, where the user has installed it."""
    monkeypatch.setenv("XDG_DATA_HOME", fakes.USERS_DATA)
    try:
        return minilm.load(Settings())
    except EmbedderUnavailable as error:
        pytest.skip(f"{error.message}: {error.hint}")


def test_missing_weights_say_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded by loading."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(EmbedderUnavailable, match=r"model\.safetensors") as caught:
        minilm.load(Settings())
    assert hint_of(caught.value) == "run: memory-bank embedder install minilm"


def test_half_a_file_is_found_at_load(small: Path) -> None:
    """Its size is wrong."""
    path = small / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(EmbedderUnavailable, match="bytes, not"):
        minilm.load(Settings())


def test_numpy_runs_it(small: Path) -> None:
    """Tokens, forward pass, mean and length 1, as done by hand."""
    embedder = minilm.load(Settings())
    weights = read_tensors(small / "model.safetensors", "")
    bert = encoder.Bert.of(weights, 12, "", "")
    row = bert(np.array([[2, 4, 6, 3]]))[0]  # [CLS] the cat [SEP]
    assert np.abs(embedder.embed(["the cat"])[0] - row / np.linalg.norm(row)).max() < 1e-6


def test_texts_without_a_known_token_give_zeros(small: Path) -> None:
    """Special tokens alone say nothing, and would make all such texts alike."""
    assert small.exists()
    rows = minilm.load(Settings()).embed(["zzz qqq", "", "cat zzz"])
    assert not rows[:2].any()
    assert rows[2].any()


def test_only_the_first_256_tokens_count(small: Path) -> None:
    """Also when the text is cut before it is split."""
    assert small.exists()
    head = "the cat sat on " * 64
    rows = minilm.load(Settings()).embed([head, head + "dog", head + "dog ran " * 9000])
    assert np.abs(rows - rows[0]).max() < 1e-5


def test_a_long_text_of_few_tokens_is_read_to_its_end(small: Path) -> None:
    """White space is no token."""
    assert small.exists()
    rows = minilm.load(Settings()).embed(["the" + " " * 50_000 + "cat", "the cat"])
    assert np.abs(rows[0] - rows[1]).max() < 1e-5


def test_true_weights_give_the_published_vector(installed: minilm.MiniLM) -> None:
    """The first numbers that sentence-transformers prints for the model card's sentence."""
    row = installed.embed(["This is an example sentence"])[0]
    assert np.abs(row[:5] - [0.0676, 0.0635, 0.0487, 0.0793, 0.0374]).max() < 1e-4


def test_true_weights_are_not_fetched_twice(installed: minilm.MiniLM) -> None:
    """Installing what is there says so."""
    said: list[str] = []
    folder = minilm.install(Settings(), said.append)
    assert "installed already" in said[0]
    assert folder in minilm.verify(Settings())
    assert installed.model_hash


@pytest.mark.network
def test_install_fetches_and_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way, from the index to a vector."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    said: list[str] = []
    folder = minilm.install(Settings(), said.append)
    assert any("SHA-256 checked" in line for line in said)
    assert "pinned SHA-256" in minilm.verify(Settings())
    assert str(tmp_path) in folder
    assert minilm.load(Settings()).embed(["it works"]).any()
