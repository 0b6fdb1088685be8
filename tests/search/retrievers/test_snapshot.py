"""A published set of vectors: the same answers from a search of all and from a graph."""

from pathlib import Path

import numpy as np
import pytest

from memory_bank.base.errors import IndexDamaged, StorageFailed
from memory_bank.search.models.vectors import packed, unit
from memory_bank.search.retrievers.vectors import reader
from memory_bank.search.retrievers.vectors.reader import (
    VectorGeneration,
    VectorSnapshot,
    discard_others,
    publish,
)

ROWS, SIZE = 300, 32
VECTORS = unit(np.random.default_rng(7).normal(size=(ROWS, SIZE)).astype(np.float32))
KEYS = np.arange(ROWS, dtype=np.int64) * 7 + 1


@pytest.fixture(params=["exact", "graph"])
def published(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> VectorGeneration:
    if request.param == "graph":
        monkeypatch.setattr(reader, "GRAPH_FROM", ROWS)
    found = publish(tmp_path, None, KEYS, KEYS, packed(VECTORS))
    assert len(list(tmp_path.iterdir())) == 1
    return found


def test_the_nearest_rows_come_first_with_their_cosines(
    request: pytest.FixtureRequest, tmp_path: Path, published: VectorGeneration
) -> None:
    """A graph (HNSW), made by several threads, is approximate: it may miss two of fifty."""
    matrix = VectorSnapshot(tmp_path, published)
    missed = 0
    for number in range(0, ROWS, 30):
        question = unit(VECTORS[number : number + 1] + np.float32(0.05))[0]
        keys, scores = matrix.nearest(question, 5)
        cosines = VECTORS @ question
        missed += len(set(KEYS[np.argsort(-cosines)[:5]].tolist()) - set(keys.tolist()))
        rows = [KEYS.tolist().index(key) for key in keys.tolist()]
        np.testing.assert_allclose(scores, cosines[rows], atol=0.01)
        assert scores.tolist() == sorted(scores.tolist(), reverse=True)
    assert missed <= (2 if request.node.callspec.params["published"] == "graph" else 0)


def test_chosen_rows_are_those_that_were_published(
    tmp_path: Path, published: VectorGeneration
) -> None:
    matrix = VectorSnapshot(tmp_path, published)
    slots = np.array([5, 0, 299, 5])
    np.testing.assert_array_equal(matrix.at(KEYS[slots]), packed(VECTORS)[slots])
    keys, scores = matrix.among(np.array([2, KEYS[5], 3, KEYS[0]]), VECTORS[5])
    assert keys.tolist() == [KEYS[5], KEYS[0]]
    np.testing.assert_allclose(scores, VECTORS[[5, 0]] @ VECTORS[5], atol=0.01)
    assert matrix.at(KEYS[:0]).shape == (0, SIZE)


def test_files_that_are_not_what_was_published_are_refused(
    tmp_path: Path, published: VectorGeneration
) -> None:
    for file in sorted(tmp_path.iterdir()):
        before = file.read_bytes()
        new = file.with_name("new")
        new.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        new.replace(file)
        with pytest.raises(IndexDamaged, match="is damaged"):
            VectorSnapshot(tmp_path, published)
        file.write_bytes(before)
        VectorSnapshot(tmp_path, published)
        file.unlink()
        with pytest.raises(IndexDamaged, match="is missing"):
            VectorSnapshot(tmp_path, published)
        file.write_bytes(before)


@pytest.mark.parametrize("graph_from", [1, 4, 5, 10_000])
def test_a_snapshot_takes_new_rows_and_loses_many_unused_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph_from: int
) -> None:
    """With three rows, then five, then three: also where a graph is made and given up."""
    monkeypatch.setattr(reader, "GRAPH_FROM", graph_from)
    rows, snapshot = packed(VECTORS), None
    for first, last, used, left in ((0, 3, 3, 3), (3, 5, 1, 5), (5, 6, 1, 6)):
        new = publish(tmp_path, snapshot, KEYS[:used], KEYS[first:last], rows[first:last])
        snapshot = VectorSnapshot(tmp_path, new)
        np.testing.assert_array_equal(snapshot.keys, KEYS[:left])
    assert snapshot is not None
    monkeypatch.setattr(reader, "UNUSED_MOST", 2)
    new = publish(tmp_path, snapshot, KEYS[1:3], KEYS[6:7], rows[6:7])
    discard_others(tmp_path, new.generation)
    assert {file.stem for file in tmp_path.iterdir()} == {"g4"}
    last_one = VectorSnapshot(tmp_path, new)
    np.testing.assert_array_equal(last_one.keys, KEYS[[1, 2, 6]])
    np.testing.assert_array_equal(last_one.at(last_one.keys), rows[[1, 2, 6]])
    assert last_one.nearest(VECTORS[6], 1)[0].tolist() == [KEYS[6]]


def test_rows_that_come_and_go_leave_each_vector_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In usearch 2.23.0, rows added in the places of removed ones corrupt the process's memory."""
    monkeypatch.setattr(reader, "UNUSED_MOST", 80)
    random = np.random.default_rng(5)
    rows, keys = packed(random.normal(size=(900, SIZE)).astype(np.float32)), np.arange(900)
    snapshot = None
    for step in range(400):
        used = np.sort(random.choice(120, 60, replace=False)) + step // 4 * 7
        new = used[~snapshot.has(used)] if snapshot else used
        published = publish(tmp_path, snapshot, used, keys[new], rows[new])
        snapshot = VectorSnapshot(tmp_path, published)
        np.testing.assert_array_equal(snapshot.at(used), rows[used])
    assert snapshot is not None
    assert len(snapshot) < 60 + 80 + 60


def test_a_file_that_cannot_be_written_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match=r"g1\.usearch can't be written"):
        publish(tmp_path / "missing", None, KEYS, KEYS, packed(VECTORS))
