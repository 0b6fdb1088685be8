"""`memory-bank shared` and its commands, called in the order in which they are needed."""

from pathlib import Path

import pytest

from tests.conftest import run_git as git
from tests.frontends.cli.conftest import Run
from tests.git.history_builder import commit_all
from tests.shared.conftest import empty_database, opened, server  # noqa: F401

REPO = "github.com/acme/shop"


@pytest.fixture
def url(
    empty_database: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    project: Path,
) -> str:
    with opened(empty_database) as engine:
        engine.drop()
    git(project, "remote", "add", "origin", f"git@{REPO.replace('/', ':', 1)}.git")
    monkeypatch.setenv("MEMORY_BANK_SHARED_URL", empty_database)
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "static")
    return empty_database


def test_an_operator_makes_an_index_and_a_repository_publishes(
    mb: Run, url: str, project: Path
) -> None:
    missing = mb("publish")
    assert missing.code == 3
    assert "memory-bank shared init" in missing.err
    assert "made" in mb("shared", "init").out
    assert "exists already" in mb("shared", "init").out
    done = mb("publish")
    assert (done.code, done.err) == (0, "")
    assert f"published: {REPO} .memories" in done.out
    assert "already published" in mb("publish").out
    status = mb("shared", "status", "--json").json
    assert [(one["repository"], one["notes"]) for one in status["banks"]] == [(REPO, 3)]
    assert mb("publish", "--drop").code == 0
    assert mb("publish", "--drop").code == 1
    assert mb("shared", "status").code == 1


def test_a_secret_makes_the_exit_code_1_and_is_named_by_its_file(
    mb: Run, url: str, project: Path
) -> None:
    mb("shared", "init")
    (project / ".memories/facts/key.md").write_text("# Key\n\nAKIA" + "Q7XK2M9PLW4TZ8VN" + "\n")
    commit_all(project, "Key")
    found = mb("publish")
    assert mb("publish").out.splitlines()[-1] == found.out.splitlines()[-1]
    assert mb("publish").code == found.code == 1
    assert (
        ".memories/facts/key.md: not published: has a secret: AWS access key, line 3" in found.out
    )
    assert mb("publish", "--force", "--json").json["refused"][0]["path"] == "facts/key.md"


def test_drop_asks(mb: Run, url: str) -> None:
    mb("shared", "init")
    refused = mb("shared", "drop")
    assert refused.code == 2
    assert "add --yes" in refused.err
    assert mb("shared", "drop", "--yes").code == 0
    assert mb("shared", "drop", "--yes").code == 1


def test_without_an_index_the_setting_is_named(mb: Run, project: Path) -> None:
    git(project, "remote", "add", "origin", f"https://{REPO}")
    found = mb("publish")
    assert found.code == 3
    assert "MEMORY_BANK_SHARED_URL" in found.err


def test_the_settings_hide_the_url(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BANK_SHARED_URL", "postgresql://me:geheim@127.0.0.1:1/notes")
    assert "geheim" not in mb("config", "--json").out
    found = mb("shared", "status")
    assert found.code == 3
    assert "127.0.0.1:1/notes can't be reached" in found.err
    assert "geheim" not in found.err
