"""Every embedder that can be loaded here keeps the contract of embedders/base.py."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from memory_bank.base import plugins
from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.embedders import http, onnx
from memory_bank.search.embedders.base import identity
from memory_bank.search.models.vectors import np
from tests.search.embedders import fakes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memory_bank.search.embedders.base import Embedder

NAMES = [name for name in plugins.list_plugins("search.embedders") if name != "none"]
TEXTS = [
    "the cat sat on the mat",
    "A dog ran far away. Ein Hund lief weit weg; 犬は遠くへ走った。",
    "stock market fell today",
    "code search in `src/index.py`: def f(x): return x ** 2",
    "the",
    "cat " * 400,
]
ODD = [
    "the cat \x00 sat",
    "the \udc80 cat",
    "the cat\r\n\u2028 sat \ufeff",
    "[CLS] the cat </s> [PAD]",
]


SAME = {
    "onnx": frozenset[str](),
    "http": frozenset({"key", "batch", "timeout", "retries"}),
    "vowels": frozenset({"token"}),  # of the sample plug-in
}
"""Settings of an embedder that don't change its vectors; each other one changes its fingerprint."""
SETTINGS = [
    (name, key)
    for name in SAME
    if plugins.has("search.embedders", name)
    for key in Settings().section(name)._fields
]


@pytest.fixture(scope="module", params=NAMES)
def settings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """Make settings with which the embedder can be loaded, or skip it, saying why."""
    folder = tmp_path_factory.mktemp(request.param)
    made = Settings()
    made = made._replace(memory=made.memory._replace(embedder=request.param))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        if request.param == "http":
            with fakes.serving(fakes.openai) as served:
                url = f"{served.url}/v1/embeddings"
                yield made._replace(embedders=(http.HttpOptions(url=url, model="m", batch=3),))
            return
        if request.param == "onnx":
            made = made._replace(embedders=(onnx.OnnxOptions(path=str(_onnx(folder))),))
        yield made


def _onnx(folder: Path) -> Path:
    if not (find_spec("onnx") and find_spec("onnxruntime")):
        pytest.skip("onnx and onnxruntime are not installed")
    fakes.tokenizer(folder / "tokenizer.json")
    fakes.onnx_model(folder / "model.onnx")
    return folder


@pytest.fixture(scope="module")
def embedder(settings: Settings) -> Embedder:
    """Load the embedder, or skip it when its weights aren't installed here."""
    return _load(settings)


def _load(settings: Settings) -> Embedder:
    module = plugins.load("search.embedders", settings.memory.embedder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", fakes.USERS_DATA)
        try:
            found: Embedder = module.load(settings)
        except EmbedderUnavailable as error:
            pytest.skip(f"{error.message}: {error.hint}")
    return found


def test_says_what_it_is(embedder: Embedder, settings: Settings) -> None:
    """Name, dimension, hash and weight are there and fit each other."""
    module = plugins.load("search.embedders", settings.memory.embedder)
    assert isinstance(module.SUMMARY, str)
    assert module.SUMMARY
    assert "\n" not in module.SUMMARY
    assert embedder.name == settings.memory.embedder
    assert isinstance(embedder.dimension, int)
    assert embedder.dimension > 0
    assert 0 < embedder.weight <= 2
    assert embedder.model_hash
    assert identity(embedder) == f"{embedder.name}:{embedder.dimension}:{embedder.model_hash}"


def test_rows_have_length_one(embedder: Embedder) -> None:
    """Vectors are float32 rows of length 1, in the order of the texts."""
    for kind in ("passage", "query"):
        rows = embedder.embed(TEXTS, kind)
        assert rows.dtype == np.float32
        assert rows.shape == (len(TEXTS), embedder.dimension)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    """The shape holds for nothing, too."""
    assert embedder.embed([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("blank", ["", " ", "\n\t \u3000"])
def test_blank_texts_give_zeros(embedder: Embedder, blank: str) -> None:
    """A text without tokens gives zeros, alone and among others."""
    assert not embedder.embed([blank]).any()
    rows = embedder.embed([TEXTS[0], blank, TEXTS[1]])
    assert rows[0].any()
    assert not rows[1].any()
    assert rows[2].any()


def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder) -> None:
    """Alone, in any order and among many, a text has one vector."""
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    order = [3, 0, 5, 1, 1, 4, 2, 0]
    mixed = embedder.embed([TEXTS[index] for index in order])
    assert np.abs(mixed - alone[order]).max() < 1e-5
    short = TEXTS[:-1]
    many = embedder.embed(short * 20)
    assert np.abs(many - np.tile(alone[: len(short)], (20, 1))).max() < 1e-5


def test_loading_again_changes_nothing(embedder: Embedder, settings: Settings) -> None:
    """Another process would get the same vectors under the same identity."""
    again = _load(settings)
    assert identity(again) == identity(embedder)
    assert np.array_equal(again.embed(TEXTS), embedder.embed(TEXTS))


def test_odd_texts_are_no_errors(embedder: Embedder) -> None:
    """Control characters, half surrogate pairs and special tokens are text like any other."""
    rows = embedder.embed(ODD)
    assert np.isfinite(rows).all()
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


@pytest.mark.slow
def test_a_text_of_any_length_is_read(embedder: Embedder) -> None:
    """A megabyte in one text, with and without spaces, is no error."""
    rows = embedder.embed(["the cat sat " * 90_000, "cat" * 300_000])
    assert np.isfinite(rows).all()
    assert rows[0].any()


def test_texts_with_the_same_words_are_close(embedder: Embedder) -> None:
    """The nearest text is the one that shares words."""
    query = embedder.embed(["a cat sat on a mat"], "query")
    rows = embedder.embed(["stock market fell today", "the cat sat on the mat", "dog ran far"])
    assert int((rows @ query[0]).argmax()) == 1


def test_threads_may_share_it(embedder: Embedder) -> None:
    """Calls at the same time give what calls one after another give."""
    expected = embedder.embed(TEXTS)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: embedder.embed(TEXTS), range(4)))
    assert all(np.abs(rows - expected).max() < 1e-5 for rows in found)


def test_what_it_returns_may_be_changed(embedder: Embedder) -> None:
    """A caller that writes into the rows spoils no later call."""
    before = embedder.embed(TEXTS).copy()
    embedder.embed(TEXTS)[:] = 7
    assert np.array_equal(embedder.embed(TEXTS), before)


def _changed(section: Any, key: str) -> Settings:
    value = getattr(section, key)
    other = f"{value}-x" if isinstance(value, str) else value + 1
    return Settings(embedders=(section._replace(**{key: other}),))


@pytest.mark.parametrize("name", plugins.list_plugins("search.embedders"))
def test_the_fingerprint_is_the_same_each_time(name: str) -> None:
    """Of settings that say nothing as well: what is missing is no error here."""
    module = plugins.load("search.embedders", name)
    found = module.fingerprint(Settings())
    assert isinstance(found, str)
    assert found
    assert module.fingerprint(Settings()) == found


@pytest.mark.parametrize("name", plugins.list_plugins("search.embedders"))
def test_an_embedder_of_settings_says_which_matter(name: str) -> None:
    """A section of its name stands in SAME, even if all of its settings matter."""
    assert hasattr(plugins.load("search.embedders", name), "SETTINGS") == (name in SAME)


@pytest.mark.parametrize(("name", "key"), SETTINGS)
def test_a_setting_that_changes_vectors_changes_the_fingerprint(name: str, key: str) -> None:
    """Otherwise the index would wait for ever for vectors that nothing makes."""
    made: dict[str, Any] = {
        "onnx": onnx.OnnxOptions(path="/models/m"),
        "http": http.HttpOptions(url="http://host/v1/embeddings", model="m"),
    }
    fingerprint = plugins.load("search.embedders", name).fingerprint
    own = made.get(name) or Settings().section(name)
    same = fingerprint(_changed(own, key)) == fingerprint(Settings(embedders=(own,)))
    assert same == (key in SAME[name])


@pytest.mark.parametrize("name", plugins.list_plugins("search.embedders"))
def test_the_fingerprint_holds_no_secret(name: str) -> None:
    """It is written into the index."""
    for url in ("https://host/v1/embeddings?key=hunter2", "https://me:hunter2@host/v1/embeddings"):
        own = http.HttpOptions(url=url, model="m", key="hunter2")
        found = plugins.load("search.embedders", name).fingerprint(Settings(embedders=(own,)))
        assert "hunter2" not in found


def test_none_gives_no_embedder() -> None:
    """The user may want no vectors."""
    assert plugins.load("search.embedders", "none").load(Settings()) is None
