from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.embedders.base import Kind
from memory_bank.search.retrievers.base import IndexedPassage, Question, Scope
from memory_bank.search.retrievers.vectors import columns
from memory_bank.search.retrievers.vectors.vector_index import VectorIndex, embedded_text
from tests.search.embedders import hashing


@pytest.mark.parametrize(
    ("title", "headings", "embedded"),
    [
        ("Lakes", ("Lakes", "Depth"), "Lakes > Depth\nstill water"),
        ("equal-fusion-hurts", (), "equal-fusion-hurts\nstill water"),
        ("湖", (), "湖\nstill water"),
        ("2026-05-08", ("2026-05-08", "1."), "still water"),
        ("000123", (), "still water"),
        ("", (), "still water"),
    ],
)
def test_what_names_no_subject_is_not_embedded(
    title: str, headings: tuple[str, ...], embedded: str
) -> None:
    entry = IndexedPassage(1, 1, title, headings, " still water\n", 2)
    assert embedded_text(entry) == embedded


def test_a_block_id_is_not_embedded() -> None:
    text = "- **Ann:** Still water. ^d1-3\n- 2^8 is 256, and x ^y\n"
    entry = IndexedPassage(1, 1, "Lakes", (), text, 9)
    assert embedded_text(entry) == "Lakes\n- **Ann:** Still water.\n- 2^8 is 256, and x"


def test_a_former_text_takes_no_place_among_the_nearest(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path, "owner", hashing.load(Settings()))
    index.clear()
    for text in ("still water", "still deep water", "a field"):
        index.put([IndexedPassage(1, 1, "", (), text, 3)], [1])
        index.commit()
        assert index.catch_up(10.0) == 0
        assert list(index.find(Question("still water"), 1, Scope()).rows) == [1]
    index.close()


def test_former_texts_do_not_change_the_scale(tmp_path: Path) -> None:
    scales = []
    for name, versions in (("new", [9]), ("edited", range(10))):
        index = VectorIndex(tmp_path / name, "owner", hashing.load(Settings()))
        index.clear()
        for version in versions:
            texts = ("still water", "a field", f"water of the day {version}")
            index.put(
                [IndexedPassage(n, n, "", (), one, 3) for n, one in enumerate(texts)], [0, 1, 2]
            )
            index.commit()
            index.catch_up(10.0)
        scales.append(index.find(Question("water"), 1, Scope()).scale)
        index.close()
    assert scales[0] == pytest.approx(scales[1])


def test_many_vectors_are_searched_with_the_same_answer_as_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = VectorIndex(tmp_path, "owner", hashing.load(Settings()))
    index.clear()
    words = ("still", "deep", "water", "field", "stone", "reed")
    texts = [f"{one} {two} {three}" for one in words for two in words for three in words]
    passages = [IndexedPassage(n, n % 50, "", (), text, 3) for n, text in enumerate(texts)]
    index.put(passages, list(range(len(texts))))
    index.commit()
    index.catch_up(60.0)
    for scope in (Scope(), Scope(only=frozenset({3, 4})), Scope(without=frozenset({3}))):
        few = index.find(Question("deep still water"), 12, scope)
        with monkeypatch.context() as patch:
            patch.setattr(columns, "_SAMPLE", 100)
            index.close()
            many = index.find(Question("deep still water"), 12, scope)
        index.close()
        assert many.scores == pytest.approx(few.scores)
        assert few.scores[0] > few.scores[-1]
        assert len(many.rows) == len(few.rows)
    index.close()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["query", "passage"])
def test_no_score_is_nan_whatever_the_embedder_gives(tmp_path: Path, bad: float, kind: str) -> None:
    class Odd(hashing.Hashing):
        def embed(self, texts: Sequence[str], kind_: Kind = "passage") -> NDArray[np.float32]:
            rows = super().embed(texts, kind_)
            if kind_ == kind:
                rows[:, 3] = bad
            return rows

    index = VectorIndex(tmp_path, "owner", Odd())
    index.clear()
    index.put([IndexedPassage(1, 1, "", (), "still water", 3)], [1])
    index.commit()
    with pytest.raises(EmbedderUnavailable, match="NaN or infinite"):
        index.catch_up(10.0)
        index.find(Question("still water"), 1, Scope())
    index.close()
