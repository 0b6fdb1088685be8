"""Any model exported as ONNX."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.embedders import onnx
from memory_bank.search.models.vectors import np
from tests.search.embedders import fakes
from tests.search.embedders.fakes import TABLE, Shape

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

ONNX = bool(find_spec("onnx") and find_spec("onnxruntime"))
needs_onnx = pytest.mark.skipif(not ONNX, reason="onnx and onnxruntime are not installed")

SHAPES = {
    "three inputs": Shape(),
    "no token types": Shape(inputs=("input_ids", "attention_mask")),
    "only ids": Shape(inputs=("input_ids",)),
    "positions": Shape(inputs=("input_ids", "attention_mask", "position_ids")),
    "int32": Shape(wide=False),
    "pooled inside": Shape(output="sentence_embedding"),
    "fixed length": Shape(length=12),
}
THE_CAT = [2, 4, 6, 3]  # [CLS] the cat [SEP]


def _load(folder: Path, **options: Any) -> onnx.Onnx:
    settings = onnx.OnnxOptions(path=str(folder))
    return onnx.load(Settings(embedders=(settings._replace(**options),)))


def _folder(tmp_path: Path, shape: Shape | None = None) -> Path:
    tmp_path.mkdir(exist_ok=True)
    fakes.tokenizer(tmp_path / "tokenizer.json")
    fakes.onnx_model(tmp_path / "model.onnx", shape or Shape())
    return tmp_path


def _unit(row: NDArray[np.float32]) -> NDArray[np.float32]:
    return row / np.linalg.norm(row)


@needs_onnx
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_models_of_any_shape_run(tmp_path: Path, shape: Shape) -> None:
    """Whatever inputs a model has and wherever its pooling is, the mean comes out."""
    embedder = _load(_folder(tmp_path, shape))
    assert embedder.dimension == 6
    rows = embedder.embed(["the cat", "zzz", ""])
    assert np.abs(rows[0] - _unit(TABLE[THE_CAT].mean(axis=0))).max() < 1e-6
    assert not rows[1:].any()


@needs_onnx
def test_pooling_may_take_the_first_token(tmp_path: Path) -> None:
    """As BGE and E5-like models want it."""
    rows = _load(_folder(tmp_path), pooling="cls").embed(["the cat"])
    assert np.abs(rows[0] - _unit(TABLE[2])).max() < 1e-6


@needs_onnx
def test_prefixes_come_before_texts_of_their_kind(tmp_path: Path) -> None:
    """But a blank text stays blank."""
    embedder = _load(_folder(tmp_path), query_prefix="search ", passage_prefix="code ")
    plain = _load(tmp_path)
    assert np.array_equal(embedder.embed(["cat", ""], "query"), plain.embed(["search cat", ""]))
    assert np.array_equal(embedder.embed(["cat", ""]), plain.embed(["code cat", ""]))


@needs_onnx
def test_more_tokens_than_allowed_are_left_out(tmp_path: Path) -> None:
    """Special tokens count."""
    embedder = _load(_folder(tmp_path), max_tokens=8)
    rows = embedder.embed(["the cat sat on mat ran", "the cat sat on mat ran far away"])
    assert np.array_equal(rows[0], rows[1])


@needs_onnx
def test_the_hash_is_of_the_files_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal files in another folder have one; a known file isn't read again at start."""
    first, second = _folder(tmp_path / "a"), _folder(tmp_path / "b")
    embedder = _load(first)
    assert embedder.model_hash == _load(second).model_hash
    assert embedder.dimension == 6
    monkeypatch.setattr(onnx.Onnx, "_hash", lambda _: pytest.fail("it was hashed again"))
    monkeypatch.setattr(onnx, "_loaded", None)
    again = _load(first)
    assert (again.model_hash, again.dimension) == (embedder.model_hash, 6)


@needs_onnx
def test_another_model_has_another_hash(tmp_path: Path) -> None:
    """The model, weights beside it, the tokenizer, and what is made of them count."""
    folder = _folder(tmp_path)
    seen = {_load(folder).model_hash}
    seen.add(_load(folder, pooling="cls").model_hash)
    seen.add(_load(folder, query_prefix="search ").model_hash)
    seen.add(_load(folder, max_tokens=8).model_hash)
    for name in ("model.onnx_data", "tokenizer.json", "model.onnx"):
        with (folder / name).open("ab") as file:
            file.write(b" ")
        seen.add(_load(folder).model_hash)
    assert len(seen) == 7


@needs_onnx
@pytest.mark.parametrize("body", [b"", b"garbage" * 100])
def test_a_damaged_model_is_named(tmp_path: Path, body: bytes) -> None:
    """onnxruntime's own errors have no class that one could catch."""
    folder = _folder(tmp_path)
    (folder / "model.onnx").write_bytes(body)
    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx: the model can't be used"):
        _load(folder).embed(["the cat"])


@needs_onnx
def test_a_model_that_cannot_run_says_why(tmp_path: Path) -> None:
    """This tokenizer gives ids that the model's table lacks."""
    folder = _folder(tmp_path)
    made = fakes.tokenizer(folder / "tokenizer.json")
    made.add_tokens([f"word{number}" for number in range(30)])
    made.save(str(folder / "tokenizer.json"))
    with pytest.raises(EmbedderUnavailable, match="out of data bounds") as caught:
        _load(folder).embed(["word29"])
    assert "max_tokens" in caught.value.hint


@needs_onnx
def test_a_model_of_something_else_is_refused(tmp_path: Path) -> None:
    """It asks for what a text doesn't have."""
    folder = _folder(tmp_path, Shape(inputs=("input_ids", "pixel_values")))
    with pytest.raises(EmbedderUnavailable, match="pixel_values"):
        _load(folder).embed(["the cat"])


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    """At load, before onnxruntime is asked for."""
    for name in {"model.onnx", "tokenizer.json"} - {missing}:
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(EmbedderUnavailable, match=missing):
        _load(tmp_path)


def test_a_missing_setting_is_named() -> None:
    """There is no default model."""
    with pytest.raises(EmbedderUnavailable, match=r"onnx\.path"):
        onnx.load(Settings())


def test_a_missing_onnxruntime_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra."""
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"x")
    monkeypatch.setattr(onnx, "find_spec", lambda _: None)
    with pytest.raises(EmbedderUnavailable, match="onnxruntime") as caught:
        _load(tmp_path)
    assert "[onnx]" in caught.value.hint
