"""The process of low priority that does what no answer waits for."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_bank.bank.bank import Conditions, open_bank
from memory_bank.base import detached
from memory_bank.base.detached import start_background
from memory_bank.base.locks import hold_lock
from memory_bank.memory import maintenance
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.doctor import doctor
from memory_bank.search.manifest import document_rows


def indexed(root: Path) -> int:
    with open_bank(root) as bank:
        return bank.read(lambda view: len(document_rows.all_keys(view.manifest)))


@pytest.fixture
def notes(project: Path) -> Path:
    root = project / ".memories"
    for number in range(20):
        (root / f"wren-{number}.md").write_text(f"# Wren {number}\n\nIt sings.\n")
    return root


def test_it_indexes_and_embeds_with_low_priority_and_ends(notes: Path) -> None:
    script = (
        "import os, sys; from memory_bank.memory import maintenance;"
        "before = os.nice(0); print(maintenance.run(sys.argv[1]), os.nice(0) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(notes)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "10"]
    assert indexed(notes) == 23
    with open_bank(notes) as bank:
        assert bank.embed(0).waiting == 0


def test_an_index_of_another_embedder_is_refilled_while_words_answer_with_a_line(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_bank(notes) as bank:  # static in tests
        bank.sync()
        before = [note.path for note in recall(bank, "a bird that sings").notes]
    monkeypatch.delenv("MEMORY_BANK_EMBEDDER")
    with open_bank(notes, conditions=Conditions(embeds=lambda: False)) as bank:
        answer = recall(bank, "a bird that sings")
        assert {note.path for note in answer.notes} == {*before}
        assert re.fullmatch(r"by meaning: 0 of \d+ passages so far", answer.problem or "")
        monkeypatch.setattr(os, "nice", lambda _: 0)
        assert maintenance.run(str(notes))
        answer = recall(bank, "a bird that sings")
        assert (answer.mode_used, answer.problem) == ("hybrid", None)
        assert bank.settings.memory.embedder == "minilm"


def test_one_works_for_a_bank_and_another_ends_at_once(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "JOBS", ())  # else it would embed
    monkeypatch.setattr(os, "nice", lambda _: 0)
    assert maintenance.run(str(notes))
    with hold_lock(notes / ".index/background", wait=0):
        assert not maintenance.run(str(notes))
    assert maintenance.run(str(notes))


def test_a_start_leads_to_an_index_though_nobody_asks(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    start_background(str(notes))
    deadline = time.monotonic() + 90
    while indexed(notes) < 23 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert indexed(notes) == 23


def test_none_is_started_in_continuous_integration(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Sequence[str]] = []
    monkeypatch.setattr(detached, "start_detached", started.append)
    monkeypatch.setenv("CI", "true")
    start_background(str(notes))
    assert not started
    monkeypatch.delenv("CI")
    start_background(str(notes))
    assert [args[-1] for args in started] == [str(notes)]


def test_doctor_says_that_one_is_at_work(notes: Path) -> None:
    with open_bank(notes) as bank:
        assert doctor(bank).background is None
        (notes / ".index/background").mkdir(exist_ok=True)
        with hold_lock(notes / ".index/background", wait=0):
            assert "ends by itself" in str(doctor(bank).background)
