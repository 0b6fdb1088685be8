import threading
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, Conditions, open_bank
from memory_bank.memory.maintenance import ChangedPaths, embed_waiting, follow_changes
from memory_bank.memory.retrieval.recall import recall


def test_who_follows_is_told_of_each_batch_and_of_nothing_before(bank: Bank, project: Path) -> None:
    notes = project / ".memories"
    stop = threading.Event()
    told: list[ChangedPaths] = []

    def change(heard: ChangedPaths) -> None:
        told.append(heard)
        if len(told) == 1:  # it listens now
            (notes / "facts/new.md").write_text("# New\n")
            (notes / "facts/bm25.md").write_text("# BM25\n\nOther words.\n")
            (notes / "decisions/whoosh.md").unlink()
        if {"facts/new.md", "facts/bm25.md", "decisions/whoosh.md"} <= {
            path for one in told for path in (*one.added, *one.changed, *one.removed)
        }:
            stop.set()

    following = threading.Thread(target=follow_changes, args=(bank, change, stop))
    following.start()
    following.join(60)
    stop.set()
    assert told[0] == ChangedPaths()
    assert {path for one in told for path in one.added} == {"facts/new.md"}
    assert {path for one in told for path in one.changed} == {"facts/bm25.md"}
    assert {path for one in told for path in one.removed} == {"decisions/whoosh.md"}


@pytest.fixture
def many(folder: Path) -> Path:
    """Make more notes than a question embeds beside."""
    for number in range(40):
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\nIt is about {number}.\n")
    return folder


def test_a_bank_that_does_not_embed_leaves_it_to_others(many: Path) -> None:
    left = Conditions(embeds=lambda: False)
    with open_bank(many, settings={"memory.embedder": "static"}, conditions=left) as bank:
        answer = recall(bank, "note", count_access=False)
        assert answer.fallback_reason == "vectors_pending"
        assert answer.problem == "by meaning: 0 of 40 passages so far"
        with open_bank(many, settings={"memory.embedder": "static"}) as other:
            assert embed_waiting(other, 0.1, threading.Event())
        answer = recall(bank, "note", count_access=False)
        assert (answer.fallback_reason, answer.problem) == (None, None)


def test_few_new_passages_never_wait(many: Path) -> None:
    left = Conditions(embeds=lambda: False)
    with open_bank(many, settings={"memory.embedder": "static"}, conditions=left) as bank:
        bank.sync()
        (many / "late.md").write_text("# Late\n\nA latecomer.\n")
        assert recall(bank, "latecomer", count_access=False).problem is None


def test_embedding_stops_when_told(many: Path) -> None:
    with open_bank(many, settings={"memory.embedder": "static"}) as bank:
        stop = threading.Event()
        stop.set()
        assert not embed_waiting(bank, 0.1, stop)
