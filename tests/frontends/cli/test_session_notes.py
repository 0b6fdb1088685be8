"""The warning of a note that git would track, as the command line and an agent have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run


@pytest.fixture(autouse=True)
def open_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    (project / ".memories/sessions").mkdir()
    (project / ".memories/.gitignore").unlink()
    (project / ".memories/sessions/.gitignore").write_text("!*\n")


def test_a_note_of_a_session_that_git_would_track_is_warned_of(
    mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_BANK_SESSIONS_KEEP", "project")
    answer = mb("remember", "The port is 9000", "--source", "session", "--name", "sessions/port")
    assert "warning: git would track" in answer.err
    found = mb("append", "sessions/port", "More", "--json")
    assert "git would track" in found.json["warning"]
    assert "warning" not in mb("remember", "Another fact", "--json").json
