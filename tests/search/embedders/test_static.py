"""The static embedder."""

from __future__ import annotations

import json
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.embedders import static
from memory_bank.search.models import tokens
from memory_bank.search.models.vectors import np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from memory_bank.search.models.weight_files import Pinned


TEXT = "Reconnect the client; see `src/net.py`.\n\n    indented   code\n犬 👍🏽 naïve"


def _folder() -> Path:
    return Path(static._folder())


def _documented(texts: list[str]) -> NDArray[np.float64]:
    """Compute what the table's makers document: the mean of the tokens' rows, normalised."""
    from tokenizers import Tokenizer

    raw = (_folder() / static.TABLE.name).read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    first, last = json.loads(raw[8:start])["embedding.weight"]["data_offsets"]
    table = np.frombuffer(raw[start + first : start + last], np.float16).reshape(32000, 256)
    tokenizer = Tokenizer.from_file(str(_folder() / static.TOKENIZER.name))
    rows = []
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        mean = table[ids].astype(np.float64).mean(axis=0)
        rows.append(mean / np.linalg.norm(mean))
    return np.array(rows)


def test_vectors_of_words_are_the_documented_ones() -> None:
    """Means of token rows, one computed by another road."""
    texts = ["hello", "the mat the cat the mat", "words without any sign " * 50 + "at all"]
    rows = static.load(Settings()).embed(texts)
    assert np.abs(rows - _documented(texts)).max() < 1e-6


def test_signs_and_numbers_weigh_little() -> None:
    embedder = static.load(Settings())
    plain, signed, other = embedder.embed(["tantivy index", "tantivy index (2023): 17%", "a cat"])
    assert plain @ signed > 0.9
    assert plain @ signed < 1.0
    assert plain @ signed > plain @ other


def test_a_bit_never_depends_on_the_batch() -> None:
    """Equal bits, not only near ones: a rebuilt index has the same bytes."""
    embedder = static.load(Settings())
    texts = [f"{TEXT} {number} " * (number % 7 + 1) for number in range(300)]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.array_equal(embedder.embed(texts), alone)


def test_a_long_text_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces give the vector of the whole; the last word counts as the first."""
    embedder = static.load(Settings())
    text = f"{TEXT} word\n" * 400 + "zebra " * 300
    whole = embedder.embed([text])
    monkeypatch.setattr(tokens, "_PIECE", 50)
    monkeypatch.setattr(tokens, "_BLOCK", 500)
    assert np.array_equal(embedder.embed([text]), whole)
    zebra = embedder.embed(["zebra"])[0]
    assert whole[0] @ zebra > embedder.embed([f"{TEXT} word\n" * 400])[0] @ zebra + 0.1


def test_a_long_text_without_spaces_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nowhere to cut but in the middle."""
    monkeypatch.setattr(tokens, "_PIECE", 50)
    rows = static.load(Settings()).embed(["é" * 1001])
    assert np.isclose(np.linalg.norm(rows), 1)


def test_a_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback of find_spec: a hint."""
    monkeypatch.setattr(static, "find_spec", lambda _: None)
    with pytest.raises(EmbedderUnavailable, match="wordllama") as caught:
        static.load(Settings())
    assert "pip install" in caught.value.hint
    assert caught.value.reason == "embedder_unavailable"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the files to where a test may damage them."""
    for file in (static.TABLE, static.TOKENIZER):
        target = tmp_path / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((_folder() / file.name).read_bytes())
    spec = ModuleSpec("wordllama", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(static, "find_spec", lambda _: spec)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (static.TABLE, lambda raw: raw[:-1], "16384095 bytes, not 16384096"),
        (static.TABLE, lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]), "SHA-256"),
        (static.TOKENIZER, None, "l2_supercat_tokenizer_config"),
    ],
    ids=["short", "another byte", "missing"],
)
def test_a_damaged_file_is_found_at_load(
    copy: Path, file: Pinned, change: Callable[[bytes], bytes] | None, said: str
) -> None:
    """The size is looked at, and each file is hashed once."""
    path = copy / file.name
    if change:
        path.write_bytes(change(path.read_bytes()))
    else:
        path.unlink()
    with pytest.raises(EmbedderUnavailable, match=said):
        static.load(Settings())
