"""all-MiniLM-L6-v2: installing it, and its vectors where it is installed."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from memory_bank.config import Settings
from memory_bank.embedders import minilm
from memory_bank.errors import EmbedderUnavailable
from memory_bank.models import bert_encoder, onnx_graph, onnx_session, safetensors
from memory_bank.models.model_files import Pinned
from memory_bank.models.numpy_setup import np
from memory_bank.models.quantization import encode
from tests.embedders import doubles

if TYPE_CHECKING:
    from pathlib import Path

ONNX = bool(find_spec("onnx") and find_spec("onnxruntime"))
needs_onnx = pytest.mark.skipif(not ONNX, reason="onnx and onnxruntime are not installed")
SENTENCES = [
    "This is an example sentence",
    "Each sentence is converted",
    "We chose tantivy over Whoosh because it is ten times faster.",
    "def reconnect(self, *, tries: int = 3) -> None:",
    "TODO",
    "Die Katze sitzt auf der Matte.",
    "The index is derived from the files and can be thrown away.",
    "A write is atomic: temporary file, fsync, rename, fsync of the folder.",
    "BM25 with k1 = 0.9 and b = 0.4",
    "Who broke the build on Tuesday?",
    "The customer's invoice was paid twice.",
    "café naïve résumé",
    "https://example.org/a/b?c=d#e",
    "- [ ] mend the flaky test of the watcher",
    "| name | meaning |\n|---|---|\n| bank | a folder of notes |",
    "Photosynthesis turns light into chemical energy.",
    "He scored in the last minute and the stadium went wild.",
    "Error: EACCES: permission denied, open '/var/log/app.log'",
    "a b c d e f g",
    "The quick brown fox jumps over the lazy dog. " * 12,
]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a small random model under the pinned names, so that all but its size is real."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "memory-bank" / "models" / "minilm"
    folder.mkdir(parents=True)
    weights = doubles.bert_weights(positions=256, dimension=384)
    doubles.safetensors(folder / "model.safetensors", weights)
    doubles.tokenizer(folder / "tokenizer.json")
    files = tuple(
        Pinned(name, (folder / name).stat().st_size, "0" * 64)
        for name in ("model.safetensors", "tokenizer.json")
    )
    monkeypatch.setattr(minilm, "_FILES", files)
    return folder


def _without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_session, "available", lambda: False)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> minilm.MiniLM:
    """Load the true model, where the user has installed it."""
    monkeypatch.setenv("XDG_DATA_HOME", doubles.USERS_DATA)
    try:
        return minilm.load(Settings())
    except EmbedderUnavailable as error:
        pytest.skip(f"{error.message}: {error.hint}")


def test_missing_weights_say_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded by loading."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(EmbedderUnavailable, match=r"model\.safetensors") as caught:
        minilm.load(Settings())
    assert caught.value.hint == "run: memory-bank embedder install minilm"


def test_half_a_file_is_found_at_load(small: Path) -> None:
    """Its size is wrong."""
    path = small / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(EmbedderUnavailable, match="bytes, not"):
        minilm.load(Settings())


def test_numpy_runs_it(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens, forward pass, mean and length 1, as done by hand."""
    _without_onnxruntime(monkeypatch)
    embedder = minilm.load(Settings())
    assert embedder.engine == "numpy"
    weights = safetensors.read(small / "model.safetensors", "")
    bert = bert_encoder.Bert.of(weights, 12, "", "")
    row = bert(np.array([[2, 4, 6, 3]]))[0]  # [CLS] the cat [SEP]
    assert np.abs(embedder.embed(["the cat"])[0] - row / np.linalg.norm(row)).max() < 1e-6


def test_texts_without_a_known_token_give_zeros(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Special tokens alone say nothing, and would make all such texts alike."""
    assert small.exists()
    _without_onnxruntime(monkeypatch)
    rows = minilm.load(Settings()).embed(["zzz qqq", "", "cat zzz"])
    assert not rows[:2].any()
    assert rows[2].any()


def test_only_the_first_256_tokens_count(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the text is cut before it is split."""
    assert small.exists()
    _without_onnxruntime(monkeypatch)
    head = "the cat sat on " * 64
    rows = minilm.load(Settings()).embed([head, head + "dog", head + "dog ran " * 9000])
    assert np.abs(rows - rows[0]).max() < 1e-5


def test_a_long_text_of_few_tokens_is_read_to_its_end(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """White space is no token."""
    assert small.exists()
    _without_onnxruntime(monkeypatch)
    rows = minilm.load(Settings()).embed(["the" + " " * 50_000 + "cat", "the cat"])
    assert np.abs(rows[0] - rows[1]).max() < 1e-5


@needs_onnx
def test_the_graph_is_built_once_and_agrees(small: Path) -> None:
    """8 bits give nearly the vectors of 32, alone or among others."""
    embedder = minilm.load(Settings())
    assert embedder.engine == "onnxruntime"
    graph = next(small.glob("*.onnx"))
    built = graph.stat().st_mtime_ns
    texts = ["the cat sat on the mat", "dog", "stock market fell today today"]
    rows = embedder.embed(texts)
    exact = encode(
        embedder._splitter.ids(texts), minilm._weights(small), dimension=384, tokens=1024
    )
    assert (rows * exact).sum(axis=1).min() > 0.98
    assert np.abs(rows[1] - embedder.embed(["dog"])[0]).max() < 1e-6
    assert minilm.load(Settings()).engine == "onnxruntime"
    assert graph.stat().st_mtime_ns == built
    assert sorted(path.name for path in small.iterdir()) == [
        graph.name,
        "model.safetensors",
        "tokenizer.json",
    ]


@needs_onnx
def test_a_damaged_graph_is_drawn_again(small: Path) -> None:
    """It is derived from the weights."""
    graph = small / minilm._GRAPH
    graph.write_bytes(b"half a graph")
    assert minilm.load(Settings()).engine == "onnxruntime"
    assert graph.stat().st_size > 100_000


@needs_onnx
def test_numpy_takes_over_from_a_damaged_graph(
    small: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When it can't be drawn again; the log says so."""
    (small / minilm._GRAPH).write_bytes(b"half a graph")
    monkeypatch.setattr(onnx_graph, "can_build", lambda: False)
    with caplog.at_level(logging.WARNING):
        assert minilm.load(Settings()).embed(["the cat"]).any()
    assert "slower" in caplog.text


@needs_onnx
def test_a_full_disk_is_no_reason_to_stop(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph only makes it faster."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    assert small.exists()
    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    assert minilm.load(Settings()).engine == "numpy"


def test_true_weights_give_the_published_vector(
    installed: minilm.MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first numbers that sentence-transformers prints for the model card's sentence."""
    _without_onnxruntime(monkeypatch)
    row = installed.embed(["This is an example sentence"])[0]
    assert np.abs(row[:5] - [0.0676, 0.0635, 0.0487, 0.0793, 0.0374]).max() < 1e-4


@needs_onnx
def test_true_weights_agree_in_8_bits(
    installed: minilm.MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that both ways may share one identity."""
    assert installed.engine == "onnxruntime"
    fast = installed.embed(SENTENCES)
    _without_onnxruntime(monkeypatch)
    slow = minilm.load(Settings()).embed(SENTENCES)
    cosines = (fast * slow).sum(axis=1)
    assert cosines.mean() > 0.985
    assert cosines.min() > 0.96  # of "TODO": one word has no others to even its error out
    assert np.median(cosines) > 0.99
    nearest = (fast @ slow.T).argmax(axis=1)
    assert nearest.tolist() == list(range(len(SENTENCES)))


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
