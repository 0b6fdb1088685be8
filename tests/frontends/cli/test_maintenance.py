"""`tags`, `stats`, `sync`, `watch` and `doctor`."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base.errors import Busy
from memory_bank.search.index.backfill import Backfill
from memory_bank.search.index.index import Index

from .conftest import Run, command, environment, plain_text


def test_tags(mb: Run) -> None:
    assert [line.split() for line in mb("tags").out.splitlines()] == [
        ["search", "2"],
        ["architecture", "1"],
    ]
    assert mb("tags", "--json").json["tags"] == {"search": 2, "architecture": 1}


def test_no_tags(mb: Run, tmp_path: Path) -> None:
    mb("init", str(tmp_path))
    answer = mb("tags", "--bank", str(tmp_path))
    assert (answer.code, answer.err) == (1, "no tags\n")


def test_stats(mb: Run) -> None:
    answer = mb("stats")
    rows = dict(line.split("  ", 1) for line in answer.out.splitlines())
    assert rows["notes"].strip() == "3"
    assert rows["tags"].strip() == "search 2, architecture 1"
    found = mb("stats", "--json").json
    assert found["count"] == 3
    assert found["types"] == {"decision": 2, "untyped": 1}
    assert set(found) >= {"total_size", "tags", "ghosts", "broken_links", "orphans", "unindexed"}


def test_sync(mb: Run) -> None:
    assert mb("sync").out.startswith("indexed 3 notes")
    assert mb("sync", "--json").json["indexed"] == 0
    assert mb("sync", "--rebuild").out.startswith("indexed 3 notes")
    assert mb("sync", "--rebuild", "--compare").code == 2


def test_an_interrupted_sync_says_that_its_work_is_kept_and_the_next_continues(
    mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
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
    different = maintenance.IndexComparison(3, ("notes: one is not there",))
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


def test_doctor(mb: Run, project: Path) -> None:
    answer = mb("doctor", "--check")
    assert answer.code == 0
    assert answer.out.startswith("all is well: ")
    assert mb("doctor", "--json").json["healthy"] is True
    (project / ".memories/config.toml").write_text("[memory]\nmax_note_bytes = 100000\n")
    (project / ".memories/huge.md").write_bytes(b"x y\n" * 25_001)
    (project / ".memories/odd.md").write_text("---\na: [\n---\n[[bm25#nowhere]]\n", "utf-8")
    answer = mb("doctor")
    assert answer.code == 0
    assert "not indexed (1):\n  .memories/huge.md  " in answer.out
    assert "read with faults (1):\n  .memories/odd.md:" in answer.out
    assert "broken links (1):\n  .memories/odd.md:4  " in answer.out
    assert mb("doctor", "--check").code == 1
    assert mb("doctor", "--check", "--fail-on", "never").code == 0
    assert mb("doctor", "--fail-on", "info").code == 2
    found = mb("doctor", "--json").json
    assert [file["path"] for file in found["unindexed"]] == ["huge.md"]
    assert found["unindexed"][0]["reason"]
    assert found["healthy"] is False


def test_doctor_says_how_to_put_right_what_a_rule_found(
    mb: Run, project: Path, git: Callable[..., str]
) -> None:
    git(project, "mv", "src/index.py", "src/main.py")
    git(project, "mv", ".memories/facts/bm25.md", ".memories/facts/ranking.md")
    git(project, "commit", "-q", "-m", "Move")
    assert mb("doctor", "--check").code == 0
    answer = mb("doctor", "--check", "--fail-on", "warning")
    assert answer.code == 1
    assert (
        "missing-file-ref (1):\n  .memories/decisions/tantivy.md:6  file_refs names src/index.py,"
        " which git moved (fix: src/main.py)\n" in answer.out
    )
    assert (
        "moved-link (1):\n  .memories/decisions/tantivy.md:16  leads to facts/bm25.md, which git"
        " moved to facts/ranking.md (fix: facts/ranking)\n" in answer.out
    )
    assert mb("doctor", "--json").json["findings"][0] == {
        "rule": "missing-file-ref",
        "severity": "warning",
        "path": "decisions/tantivy.md",
        "line": 6,
        "message": "file_refs names src/index.py, which git moved",
        "fix": "src/main.py",
        "edits": [{"start": 110, "old": "src/index.py", "new": "src/main.py"}],
    }


def test_doctor_lists_what_an_ambiguous_link_may_mean_and_texts_that_are_no_notes(
    mb: Run, project: Path
) -> None:
    notes = project / ".memories"
    for place in ("a/x.md", "a/b/x.md", "c/x.md", "a/b/c/d/x.md", "e/x.md", "f/x.md", "x y.txt"):
        (notes / place).parent.mkdir(parents=True, exist_ok=True)
        (notes / place).write_text("text", "utf-8")
    (notes / "a/b/from.md").write_text("[[x]]", "utf-8")
    (notes / "x y.md").write_text("# Taken\n", "utf-8")
    (notes / "c/y.MDX").write_text("text", "utf-8")
    (notes / "c/link.txt").symlink_to("/etc/passwd")
    shown = mb("doctor").out
    assert (
        ".memories/a/b/from.md:1  several notes answer to 'x': a/b/x.md, a/x.md, a/b/c/d/x.md,"
        " c/x.md, e/x.md and 1 more\n" in shown
    )
    assert shown.partition("other-suffix")[2].splitlines()[:3] == [
        " (2):",
        (
            "  .memories/c/y.MDX:1  is not indexed, as its name ends in .MDX (fix: if it is a note,"
            " rename it to y.md)"
        ),
        (
            "  .memories/x y.txt:1  is not indexed, as its name ends in .txt (fix: if it is a note,"
            " rename it to x y.txt.md)"
        ),
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_tells_of_changes_until_it_is_told_to_stop(project: Path, number: int) -> None:
    process = subprocess.Popen(
        command(["watch"]),
        cwd=project,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first
    (project / ".memories/new.md").write_text("# New\n", encoding="utf-8")
    assert process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")


def test_a_bar_is_drawn_after_a_second_on_a_terminal_only(terminal: Run, real: Run) -> None:
    slow = (
        "import sys, time\n"
        "from memory_bank.bank.bank import Bank\n"
        "from memory_bank.frontends.cli.main import run\n"
        "def sync(self, progress=None):\n"
        "    for done in range(1, 15):\n"
        "        time.sleep(0.1)\n"
        "        if progress: progress('embedding', done, 14)\n"
        "    from memory_bank.search.index.document_changes import SyncReport\n"
        "    return SyncReport()\n"
        "Bank.sync = sync\n"
        "sys.exit(run(['sync']))\n"
    )
    shown = terminal(program=[sys.executable, "-c", slow]).out
    assert "embedding" in plain_text(shown)
    assert real("sync").err == ""


def test_warnings_of_the_index_are_told(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def catch_up(*_: object) -> None:
        raise Busy("another process is indexing", "wait")

    mb("sync")
    monkeypatch.setattr(Index, "catch_up", catch_up)
    for args in (["recall", "whoosh"], ["notes"], ["stats"]):
        assert mb(*args).err == (
            "warning: another process is indexing: the latest changes may be missing\n"
        )
    assert mb("recall", "whoosh", "--json").json["problem"]
