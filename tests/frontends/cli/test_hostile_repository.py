"""No command starts what a repository names, and none waits long for git."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.frontends import declared
from memory_bank.git import process
from tests.code import hostile
from tests.frontends.cli.conftest import Run

COMMANDS = (
    "init --include src", "import --help", "recall tantivy", "recall tantivy --since 7d --json", "recall tantivy --at HEAD", "recall tantivy --at staged", "notes", "show facts/bm25",
    "session search tantivy", "session timeline --help", "session show --help", "session context", "session list",
    "session promote --help", "hook --help", "agents list", "forget whoosh --dry-run",
    "links facts/bm25", "tags", "doctor --counts", "config", "doctor", "lint", "lint --list", "sync", "sync --rebuild",
    "sync --compare", "remember words --source session", "remember words --name ideas/new",
    "edit ideas/new --append more", "edit ideas/new --replace other", "edit ideas/new --old other --new others",
    "archive ideas/new", "mv ideas/new ideas/newer", "remember others --name ideas/second",
    "merge ideas/newer ideas/second --into ideas/one --text one", "rm ideas/one", "trash restore ideas/one",
    "trash list", "review", "review HEAD --json", "stale --worktree", "stale HEAD..HEAD", "confirm facts/bm25", "code coupling src/index.py", "code symbols build",
    "ask how is the index built", "code explain-symbol build_index", "code blast-radius src/index.py", "code tests-for src/index.py", "why src/index.py", "export okf ../bundle",
    "completion bash", "git check", "git resolve", "merge-driver --help", "embedder list", "mcp --help", "sync --help", "serve mcp -h", "serve web -h",
    "shared publish --help", "shared --help", "rules", "agents bundle --check",
    "log facts/bm25", "log facts/bm25 --sections --lines", "recall tantivy",
)  # fmt: skip

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts"),
    pytest.mark.slow,
]


def test_no_command_starts_a_program_that_the_repository_names(
    mb: Run, project: Path, tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    hostile.plant(project, hostile.trap(tmp_path), git, "--local")
    hostile.spring(project)
    sprung = tmp_path / "sprung"
    assert sprung.exists(), "the traps work"
    sprung.unlink()
    for line in COMMANDS:
        answer = mb(*line.split())
        assert answer.code in {0, 1}, (line, answer.err)
        assert not sprung.exists(), (line, sprung.read_text())
    named = {line.split()[0] for line in COMMANDS}
    assert named >= set(declared.list_words())


def test_a_git_that_hangs_costs_a_command_its_limit_once_and_doctor_says_so(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = tmp_path / "bin/git"
    hanging.parent.mkdir()
    hanging.write_text(f"#!/bin/sh\necho >> {tmp_path}/asked\nsleep 60\n")
    hanging.chmod(0o755)
    monkeypatch.setenv("PATH", str(hanging.parent), prepend=os.pathsep)
    monkeypatch.setattr(process, "LIMIT", 1.0)
    assert mb("recall", "tantivy", "--mode", "lexical").code == 0
    assert mb("remember", "kestrels hover", "--name", "facts/kestrel").code == 0
    found = mb("doctor", "--json").json
    assert "did not answer within 1 seconds" in found["git"]
    assert "did not answer" in mb("doctor").out
    assert len((tmp_path / "asked").read_text()) == 1


def test_without_git_everything_else_works_and_doctor_says_so(
    mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "git" not in mb("doctor", "--json").json
    monkeypatch.setenv("PATH", "")
    assert mb("recall", "tantivy", "--mode", "lexical").code == 0
    assert mb("remember", "kestrels hover", "--name", "facts/kestrel").code == 0
    assert mb("doctor", "--json").json["git"] == "git is not installed"
