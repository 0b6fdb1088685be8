"""`tags`, `stats`, `sync`, `watch` and `doctor`."""

import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_bank.base.errors import Busy
from memory_bank.search.backfill import Backfill
from memory_bank.search.index import Index

from .conftest import Run, command, environment


def test_an_interrupted_sync_says_that_its_work_is_kept_and_the_next_continues(
    mb: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(project / ".memories/.index")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Backfill, "embed", interrupted)
        answer = mb("sync")
        assert answer.code == 130
        assert answer.err == (
            "error: interrupted: what is indexed and embedded so far is kept\n"
            "hint: the same command continues there\n"
        )
        assert mb("sync", "--rebuild", "--json").error["code"] == "interrupted"
    assert mb("sync").out.startswith("indexed 0 notes, embedded 4 passages in ")
    assert mb("sync", "--json").json["embedded"] == 0


def test_compare(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_bank.memory import maintenance

    mb("sync")
    answer = mb("sync", "--compare")
    assert (answer.code, answer.out) == (0, "the index equals a newly built one\n")
    assert mb("sync", "--compare", "--json").json["differences"] == []
    different = 3, ("notes: one is not there",)
    monkeypatch.setattr(maintenance, "compare", lambda *_: different)
    answer = mb("sync", "--compare")
    assert (answer.code, answer.out) == (3, "notes: one is not there\n")
    assert answer.err == "1 difference: `memory-bank sync --rebuild` repairs it\n"


def test_doctor_fails_if_the_index_has_a_problem_whatever_rules_find(
    mb: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "onnx")  # its weights are not here
    (project / ".memories/odd.md").write_text("---\na: [\n---\n", "utf-8")
    assert mb("doctor").code == 0
    assert mb("doctor", "--json").json["problem"]
    assert mb("doctor", "--check").code == 3
    assert mb("doctor", "--check", "--fail-on", "never").code == 3
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    assert mb("doctor", "--check").code == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_tells_of_changes_until_it_is_told_to_stop(
    project: Path, ending: Callable[..., Any], number: int
) -> None:
    process = ending(
        subprocess.Popen(
            command(["watch"]),
            cwd=project,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    first = process.stdout.readline()
    assert first
    (project / ".memories/new.md").write_text("# New\n", encoding="utf-8")
    assert process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def test_warnings_of_the_index_are_told(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def catch_up(*_: object, **__: object) -> None:
        raise Busy("another process is indexing", "wait")

    mb("sync")
    monkeypatch.setattr(Index, "catch_up", catch_up)
    for args in (["recall", "whoosh"], ["notes"], ["stats"]):
        assert mb(*args).err == (
            "warning: another process is indexing: the latest changes may be missing\n"
        )
    assert mb("recall", "whoosh", "--json").json["problem"]
