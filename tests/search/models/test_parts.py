"""The parts that embedders share."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from safetensors.numpy import save_file

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.search.models import tokens, weight_files
from memory_bank.search.models.vectors import np, read_tensors, scale_to_unit
from memory_bank.search.models.weight_files import KnownModel

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def _run(script: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=_ROOT,
    )
    return done.stdout.strip()


_ROOT = __file__.rsplit("tests", 1)[0]


def test_listing_the_embedders_imports_nothing_heavy() -> None:
    """`embedder list` reads each SUMMARY, a fingerprint needs no model, and a search by words loads one without using it."""
    script = """
import sys
from memory_bank.base import plugins
from memory_bank.base.settings import Settings
for name in plugins.list_plugins("search.embedders"):
    module = plugins.load("search.embedders", name)
    assert module.SUMMARY
    assert module.fingerprint(Settings())
static = plugins.load("search.embedders", "static").load(Settings())
assert static.dimension and static.model_hash
heavy = "numpy tokenizers onnx onnxruntime safetensors httpx2 urllib.request http.client subprocess tempfile wordllama"
print([name for name in heavy.split() if name in sys.modules])
"""
    assert _run(script) == "[]"


def test_numpy_runs_in_one_thread_unless_the_user_says_otherwise() -> None:
    """And what we start doesn't inherit our choice."""
    script = """
import os, sys
class Finder:
    def find_spec(self, name, *_):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_NUM_THREADS"))
sys.meta_path.insert(0, Finder())
from memory_bank.search.models.vectors import np
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""
    assert _run(script).split() == ["1", "None"]
    assert _run(script, OPENBLAS_NUM_THREADS="3").split() == ["3", "3"]
    own = "from memory_bank.search.models.vectors import np\n"
    assert own in script
    weights = "from memory_bank.search.models.vectors import read_tensors\ntry: read_tensors('no', '')\nexcept Exception: pass\n"
    assert _run(script.replace(own, weights)).split() == ["1", "None"]


def test_the_package_whose_data_we_read_is_never_imported() -> None:
    """It configures logging for everybody."""
    script = """
import sys
from memory_bank.base.settings import Settings
from memory_bank.search.embedders import static
assert static.load(Settings()).embed(["text"]).any()
print([name for name in sys.modules if name.startswith("wordllama")])
"""
    assert _run(script) == "[]"


def test_unit_leaves_zeros_and_tiny_rows_right() -> None:
    """Squares of small numbers would vanish in float32."""
    rows = scale_to_unit(np.array([[3, 4], [0, 0], [3e-30, 4e-30], [3e30, 4e30]], np.float32))
    assert np.allclose(rows, np.array([[0.6, 0.8], [0, 0], [0.6, 0.8], [0.6, 0.8]]))


def test_tensors_are_read_by_name(tmp_path: Path) -> None:
    """Each with its type and shape."""
    arrays: dict[str, NDArray[Any]] = {
        "a": np.arange(6, dtype=np.float16).reshape(2, 3),
        "b": np.array([7], np.int64),
        "c": np.zeros((0, 4), np.float32),
    }
    save_file(arrays, tmp_path / "m")
    found = read_tensors(tmp_path / "m", "")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


def _header(text: str) -> bytes:
    return len(text).to_bytes(8, "little") + text.encode() + bytes(8)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x01",
        b"\xff" * 100,
        b"\x02" + bytes(7) + b"{",
        _header("[]"),
        _header('{"a": 1}'),
        _header('{"a": {"dtype": "F32", "shape": [9, 9], "data_offsets": [0, 8]}}'),
        _header('{"a": {"dtype": "XX", "shape": [1], "data_offsets": [0, 4]}}'),
        _header('{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 400]}}'),
    ],
)
def test_damaged_tensors_are_named(tmp_path: Path, raw: bytes) -> None:
    """No traceback of the library."""
    (tmp_path / "m").write_bytes(raw)
    with pytest.raises(EmbedderUnavailable, match="m: "):
        read_tensors(tmp_path / "m", "hint")


def test_missing_files_are_named(tmp_path: Path) -> None:
    """By path."""
    with pytest.raises(EmbedderUnavailable, match="nothing"):
        read_tensors(tmp_path / "nothing", "hint")
    with pytest.raises(EmbedderUnavailable, match="nothing"):
        tokens.read_tokenizer(tmp_path / "nothing", "hint")


def test_what_is_known_survives_damage(cache: Path) -> None:
    """A cache is no reason for an error."""
    assert weight_files.recall("a") == KnownModel()
    weight_files.remember("a", KnownModel(3, "abc"))
    weight_files.remember("b", KnownModel(4))
    assert weight_files.recall("a") == KnownModel(3, "abc")
    assert weight_files.recall("b") == KnownModel(4)
    (path,) = (cache / "memory-bank").iterdir()
    for text in ("{", "[]", '{"a": 1}', '{"a": {"dimension": "x", "model_hash": ""}}', "\0"):
        path.write_text(text, encoding="utf-8")
        assert weight_files.recall("a") == KnownModel()
        weight_files.remember("c", KnownModel(5))
        assert weight_files.recall("c") == KnownModel(5)


def test_only_the_newest_models_stay_known() -> None:
    """The file doesn't grow for ever."""
    for number in range(70):
        weight_files.remember(str(number), KnownModel(number + 1))
    assert weight_files.recall("0") == KnownModel()
    assert weight_files.recall("69") == KnownModel(70)


def test_a_cache_that_cannot_be_written_is_no_error(cache: Path) -> None:
    """It is only asked for again."""
    cache.write_text("a file where the folder should be", encoding="utf-8")
    weight_files.remember("a", KnownModel(3))
    assert weight_files.recall("a") == KnownModel()
