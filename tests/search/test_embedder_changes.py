"""What an embedder is made of changes: the next recall makes new vectors, with a real model."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from tests.search.embedders import fakes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    not (find_spec("onnx") and find_spec("onnxruntime")),
    reason="onnx and onnxruntime are not installed",
)


BY_MEANING = ("semantic", None, None)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Write a small real model."""
    folder = tmp_path / "model"
    folder.mkdir()
    fakes.tokenizer(folder / "tokenizer.json")
    fakes.onnx_model(folder / "model.onnx")
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Write two notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "cat.md").write_text("the cat sat on the mat\n", encoding="utf-8")
    (folder / "stock.md").write_text("stock market fell today\n", encoding="utf-8")
    return folder


def _open(notes: Path, model: Path, **options: object) -> Bank:
    settings: dict[str, object] = {"memory.embedder": "onnx", "onnx.path": str(model)}
    settings |= {f"onnx.{name}": value for name, value in options.items()}
    return open_bank(notes, settings=settings)


def _asked(notes: Path, model: Path, **options: object) -> tuple[str, str | None, str | None]:
    """Ask by meaning in a bank opened for it; return how that was answered."""
    with _open(notes, model, **options) as bank:
        found = recall(bank, "cat mat", mode="semantic")
    assert found.notes
    return found.mode_used, found.fallback_reason, found.problem


def _replace_model(model: Path) -> None:
    fakes.onnx_model(model / "model.onnx", fakes.Shape(inputs=("input_ids",)))


def _replace_tokenizer(model: Path) -> None:
    made = fakes.tokenizer(model / "tokenizer.json")
    made.add_tokens(["kestrel"])
    made.save(str(model / "tokenizer.json"))


@pytest.mark.parametrize(
    "options",
    [
        {"pooling": "cls"},
        {"query_prefix": "search "},
        {"passage_prefix": "the "},
        {"max_tokens": 8},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_changed_setting_makes_new_vectors(
    notes: Path, model: Path, options: dict[str, object]
) -> None:
    """Not an answer by words that says for ever that vectors are being made."""
    assert _asked(notes, model) == BY_MEANING
    assert _asked(notes, model, **options) == BY_MEANING


@pytest.mark.parametrize("change", [_replace_model, _replace_tokenizer])
def test_an_open_bank_notices_a_replaced_file_of_the_model(
    notes: Path, model: Path, change: Callable[[Path], None]
) -> None:
    with _open(notes, model) as bank:
        recall(bank, "cat", mode="semantic", count_access=False)
        change(model)
        found = recall(bank, "cat", mode="semantic", count_access=False)
        assert (found.mode_used, found.fallback_reason) == ("semantic", None)
        scores = [note.relevance_score for note in found.notes]
    with _open(notes, model) as fresh:
        again = recall(fresh, "cat", mode="semantic", count_access=False)
        assert [note.relevance_score for note in again.notes] == pytest.approx(scores, abs=1e-3)


def test_sync_makes_new_vectors_as_well(notes: Path, model: Path) -> None:
    """And going back finds the vectors that were made before."""
    assert _asked(notes, model) == BY_MEANING
    with _open(notes, model, pooling="cls") as bank:
        assert bank.sync().waiting == 0
    with _open(notes, model, pooling="cls") as bank:
        assert recall(bank, "cat", mode="semantic").mode_used == "semantic"
    assert _asked(notes, model) == BY_MEANING


def test_a_touched_model_is_not_embedded_by_again(
    notes: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy has another time and the same vectors: only the question is embedded."""
    from memory_bank.search.embedders.onnx import Onnx

    assert _asked(notes, model) == BY_MEANING
    os.utime(model / "model.onnx", ns=(1, 1))
    kinds: list[str] = []
    embed = Onnx.embed

    def counted(self: Onnx, texts: list[str], kind: str = "passage") -> object:
        kinds.append(kind)
        return embed(self, texts, kind)  # type: ignore[arg-type]

    monkeypatch.setattr(Onnx, "embed", counted)
    assert _asked(notes, model) == BY_MEANING
    assert kinds == ["query"]
