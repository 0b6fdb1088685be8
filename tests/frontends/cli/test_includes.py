"""Files that the project's settings include, at the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Run, editor


@pytest.fixture
def included(project: Path, git: Callable[..., str]) -> Path:
    (project / "docs/adr").mkdir(parents=True)
    (project / "docs/adr/0001.md").write_text("# Postgres\n\n[[bm25]] kestrel\n")
    (project / "CLAUDE.md").write_text("# Guide\n\nosprey\n")
    settings = '[memory]\ninclude = ["docs/adr", "CLAUDE.md", "no"]\n'
    (project / ".memories/config.toml").write_text(settings)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Include")
    return project


def test_their_places_are_those_of_the_files(
    mb: Run, included: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mb("recall", "kestrel").out.startswith("1  docs/adr/0001.md:1")
    assert "\nCLAUDE.md:1 " in "\n" + mb("notes").out
    assert mb("links", "bm25").out.splitlines()[1].startswith("  .memories/decisions/tantivy.md")
    assert "  docs/adr/0001.md:3  related_to" in mb("links", "bm25").out
    assert "not indexed (1):\n  no  there is no such file or folder" in mb("doctor").out
    moved = mb("mv", "bm25", "facts/ranking")
    assert "stay in files of the project that are only included:\n  docs/adr/0001.md:3" in moved.err
    monkeypatch.chdir(included / "docs")
    assert mb("recall", "osprey").out.startswith("1  ../CLAUDE.md:1")


def test_a_change_is_refused_before_an_editor_opens(
    mb: Run, included: Path, terminal: Run, tmp_path: Path
) -> None:
    for words in (("append", "CLAUDE", "x"), ("archive", "CLAUDE"), ("rm", "CLAUDE")):
        answer = mb(*words, "--json")
        assert (answer.code, answer.error["code"]) == (3, "note_read_only")
    answer = mb("edit", "CLAUDE", "--old", "osprey", "--new", "kite")
    assert answer.code == 3
    assert "CLAUDE.md is read-only: it is a file of the project, included by the" in answer.err
    assert "change the file itself in an editor, or write a note that links to it" in answer.err
    started = {"EDITOR": editor(tmp_path, f"pathlib.Path({str(tmp_path / 'ran')!r}).touch()")}
    for words in (("edit", "CLAUDE"), ("update", "CLAUDE"), ("append", "CLAUDE")):
        assert terminal(*words, env=started).code == 3
    assert not (tmp_path / "ran").exists()
