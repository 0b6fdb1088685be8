import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base import filenames
from memory_bank.base.errors import EmbedderUnavailable, IndexDamaged, StorageFailed
from memory_bank.memory.retrieval.recall import recall
from memory_bank.search import backfill, index
from memory_bank.search.embedders.static import Static
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.manifest import PENDING
from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex
from memory_bank.search.retrievers.vectors.vector_index import VectorIndex
from tests.search.views import view_of

Opening = Callable[..., Bank]


def fill(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nkestrel word{number}\n")


def found(bank: Bank, words: str, mode: str = "lexical") -> list[str]:
    return [note.path for note in recall(bank, words, mode=mode).notes]


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the passages that are embedded."""
    texts: list[str] = []
    embed = Static.embed

    def collecting(self: Static, given: Sequence[str], kind: Any = "passage") -> Any:
        if kind == "passage":
            texts.extend(given)
        return embed(self, given, kind)

    monkeypatch.setattr(Static, "embed", collecting)
    return texts


def test_a_report_tells_what_was_done(folder: Path, opening: Opening) -> None:
    fill(folder, 3)
    (folder / "binary.md").write_bytes(b"\0")
    bank = opening(folder)
    first = bank.sync()
    assert (first.indexed, first.unindexed, first.removed, first.repaired) == (3, 1, 0, [])
    (folder / "n0.md").unlink()
    (folder / "n1.md").write_text("changed")
    second = bank.sync()
    assert (second.indexed, second.removed, second.repaired) == (1, 1, [])
    time.sleep(0.15)
    bank.sync()
    third = bank.sync()
    assert (third.indexed, third.removed, third.repaired, third.problem) == (0, 0, [], "")


def test_bytes_decide_not_stamps(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(folder, 2)
    bank = opening(folder)
    bank.sync()

    def refuse(*_: object) -> None:
        raise AssertionError("the same bytes were indexed again")

    monkeypatch.setattr(KeywordIndex, "put", refuse)
    os.utime(folder / "n0.md", (1e9, 1e9))
    os.replace(folder / "n1.md", folder / "x")
    os.replace(folder / "x", folder / "n1.md")
    assert bank.sync().indexed == 0


def test_many_notes_are_indexed_in_batches(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "BATCH", 3)
    monkeypatch.setattr(index, "FIRST_FACTOR", 1)
    fill(folder, 10)
    told: list[tuple[str, int, int]] = []
    bank = opening(folder)
    report = bank.sync(lambda *step: told.append(step))
    assert report.indexed == 10
    assert [(done, total) for what, done, total in told if what == "indexing"] == [
        (3, 10), (6, 10), (9, 10), (10, 10),
    ]  # fmt: skip
    assert all(found(bank, f"word{number}")[0] == f"n{number}.md" for number in range(10))


def test_stamps_that_are_never_trusted_do_not_keep_it_busy_for_ever(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that was set back makes every file look new, at each look."""
    monkeypatch.setattr(index, "BATCH", 3)
    monkeypatch.setattr(index, "FIRST_FACTOR", 1)
    monkeypatch.setattr(filenames, "_RACY_NS", 10**18)
    fill(folder, 10)
    steps = iter(range(50))
    bank = opening(folder)
    report = bank.sync(lambda *_: None if next(steps) < 40 else pytest.fail("it does not end"))
    assert report.indexed == 10
    assert len(found(bank, "kestrel")) == 10


def test_what_a_batch_could_not_finish_is_put_again(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = opening(folder)
    bank.sync()
    fill(folder, 2)

    def full(_: object) -> None:
        raise StorageFailed("no space")

    with monkeypatch.context() as patch:
        patch.setattr(KeywordIndex, "commit", full)
        with pytest.raises(StorageFailed):
            bank.sync()
    assert view_of(bank).manifest.execute("SELECT DISTINCT state FROM documents").fetchall() == [
        (PENDING,)
    ]
    report = bank.sync()
    assert report.repaired == ["indexing"]
    assert report.indexed == 2
    assert found(bank, "word1")[0] == "n1.md"


@pytest.mark.parametrize("step", ["put", "commit"])
def test_a_retriever_that_breaks_in_a_batch_is_filled_again(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    fill(folder, 2)
    bank = opening(folder)
    bank.sync()
    (folder / "new.md").write_text("osprey")
    real = getattr(KeywordIndex, step)
    broken = iter([True])

    def break_once(self: KeywordIndex, *arguments: object) -> None:
        if self.name == "keyword" and next(broken, False):
            raise IndexDamaged("broken")
        real(self, *arguments)

    monkeypatch.setattr(KeywordIndex, step, break_once)
    assert found(bank, "osprey") == ["new.md"]
    assert len(found(bank, "kestrel")) == 2
    assert bank.take_repaired() == ["keyword"]
    assert bank.sync().repaired == []


def test_a_refill_that_is_cut_short_is_done_by_the_next_query(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Emptied and not yet filled, an index would answer with nothing and look whole."""
    fill(folder, 3)
    bank = opening(folder)
    bank.sync()
    index = view_of(bank).index
    with monkeypatch.context() as patch:
        patch.setattr(KeywordIndex, "put", interrupt)
        with pytest.raises(KeyboardInterrupt), index.turn():
            index._backfill.repair(index.retrievers.get("keyword"))
    bank.close()
    assert found(bank, "word1")[0] == "n1.md"


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_vectors_that_a_kill_left_waiting_are_made_by_the_next_query(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch, embedded: list[str]
) -> None:
    bank = opening(folder, memory__embedder="static")
    bank.sync()
    fill(folder, 2)
    with monkeypatch.context() as patch:
        patch.setattr(VectorIndex, "catch_up", interrupt)
        with pytest.raises(KeyboardInterrupt):
            bank.sync()
    bank.close()
    time.sleep(0.15)
    bank.catch_up()
    assert len(embedded) == 2
    assert found(bank, "word1", "semantic")[0] == "n1.md"


def test_an_index_that_another_process_made_anew_is_not_written_to(
    folder: Path, opening: Opening
) -> None:
    fill(folder, 2)
    first, second = opening(folder), opening(folder)
    first.sync()
    old = view_of(first).index
    second.rebuild()
    (folder / "new.md").write_text("osprey")
    with pytest.raises(IndexDamaged, match="replaced"):
        old.indexer.sync()
    with pytest.raises(IndexDamaged, match="replaced"), old.turn():
        old._backfill.repair(old.retrievers.get("keyword"))
    assert found(first, "osprey") == found(second, "osprey") == ["new.md"]
    assert second.sync().repaired == []


def test_moving_renaming_and_restoring_embed_nothing(
    folder: Path, opening: Opening, embedded: list[str]
) -> None:
    fill(folder, 3)
    bank = opening(folder, memory__embedder="static")
    bank.sync()
    assert len(embedded) == 3
    embedded.clear()
    (folder / "deep").mkdir()
    (folder / "n0.md").rename(folder / "deep/n0.md")
    (folder / "n1.md").rename(folder / "other.md")
    bank.sync()
    old = (folder / "n2.md").read_bytes()
    (folder / "n2.md").unlink()
    bank.sync()
    (folder / "n2.md").write_bytes(old)
    bank.sync()
    bank.rebuild()
    assert embedded == []
    assert "n2.md" in found(bank, "word2", "semantic")


def test_another_embedder_and_back_embeds_each_text_once(
    folder: Path, opening: Opening, embedded: list[str]
) -> None:
    fill(folder, 2)
    opening(folder, memory__embedder="static").sync()
    opening(folder).sync()
    again = opening(folder, memory__embedder="static")
    again.sync()
    assert len(embedded) == 2
    assert found(again, "word1", "semantic")[0] == "n1.md"


def test_an_embedder_that_fails_leaves_the_words(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(folder, 2)

    def refuse(*_: object) -> None:
        raise EmbedderUnavailable("the server is away", reason="endpoint_down")

    bank = opening(folder, memory__embedder="static")
    with monkeypatch.context() as patch:
        patch.setattr(Static, "embed", refuse)
        report = bank.sync()
        assert (report.problem, report.waiting) == ("the server is away", 2)
        answer = recall(bank, "word1", mode="hybrid")
        assert answer.notes[0].path == "n1.md"
        assert answer.mode_used == "lexical"
        assert answer.fallback_reason == "vectors_pending"
        assert answer.problem == "the server is away"
    answer = recall(bank, "word1", mode="hybrid")
    assert (answer.mode_used, answer.fallback_reason, answer.problem) == ("hybrid", None, None)


def test_a_file_above_the_limit_is_listed_with_both_sizes(folder: Path, opening: Opening) -> None:
    (folder / "big.md").write_text("x" * 101)
    (folder / "fits.md").write_text("x" * 100)
    bank = opening(folder, memory__max_note_bytes=100)
    bank.sync()
    ((path, reason),) = document_rows.list_unindexed(view_of(bank).manifest)
    assert path == "big.md"
    assert "101 bytes" in reason
    assert "max_note_bytes = 100" in reason


UNREADABLE = """
import os, sys
from memory_bank.bank.bank import open_bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.doctor import doctor

def ask(path):
    with open_bank(path, settings={"memory.embedder": "none"}) as bank:
        notes = [note.path for note in recall(bank, "kestrel").notes]
        return notes, [(one.path, one.message) for one in doctor(bank).findings]

state = os.environ["XDG_STATE_HOME"]
os.environ["XDG_STATE_HOME"] = sys.argv[2]
ask(sys.argv[2])  # loads what root alone may read
os.environ["XDG_STATE_HOME"] = state
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
print(*ask(sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_file_that_can_not_be_read_is_listed_and_the_rest_is_found(
    for_anyone: Path, run_python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    root, other = for_anyone / "bank", for_anyone / "other"
    for place in (root, other):
        place.mkdir()
        fill(place, 2)
    root.chmod(0o777)
    (root / "n1.md").chmod(0)
    try:
        done = run_python(UNREADABLE, root, other, check=False)
    finally:
        (root / "n1.md").chmod(0o644)
    reason = f"can't read {root}/n1.md: Permission denied"
    assert done.stdout == f"['n0.md'] {[('n1.md', reason)]}\n", done.stderr


def test_a_question_does_not_wait_for_another_embedder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words answer at once and say that vectors are missing; a sync makes them."""
    monkeypatch.setattr(backfill, "_MAX_PASSAGES_TO_AWAIT", 1)
    for number in range(3):
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nThe osprey dives.\n")
    with open_bank(folder, settings={"memory.embedder": "none"}) as bank:
        bank.sync()
    with open_bank(folder, settings={"memory.embedder": "static"}) as bank:
        answer = recall(bank, "osprey")
        assert (answer.mode_used, answer.fallback_reason) == ("lexical", "vectors_pending")
        assert answer.result_count == 3
        assert answer.problem == "by meaning: 0 of 3 passages so far"
        (folder / "n0.md").write_text("# Note\n\nA merlin.\n")
        assert recall(bank, "merlin").result_count == 1
        bank.sync()
        assert recall(bank, "osprey").mode_used == "hybrid"
