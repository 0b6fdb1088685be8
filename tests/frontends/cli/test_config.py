from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from .conftest import Run


def test_every_setting_with_its_origin(mb: Run, project: Path) -> None:
    (project / ".memories/config.toml").write_text("[search]\nlimit = 5\n", encoding="utf-8")
    answer = mb("config")
    rows = {line.split()[0]: line.split()[1:] for line in answer.out.splitlines()}
    assert rows["search.limit"][:2] == ["5", ".memories/config.toml:2"]
    assert rows["memory.embedder"][:2] == ["static", "default"]
    assert rows["memory.enabled"][0] == "true"
    assert "edit .memories/config.toml (this bank) or " in answer.err
    found = mb("config", "--json").json
    assert found["files"]["bank"].endswith("/.memories/config.toml")
    limit = next(one for one in found["settings"] if one["name"] == "search.limit")
    assert (limit["value"], limit["default"]) == (5, 10)


def test_one_setting(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mb("config", "search.limit").out == "10\n"
    assert mb("config", "limit").out == "10\n"
    monkeypatch.setenv("MEMORY_BANK_SEARCH_LIMIT", "3")
    assert mb("config", "search.limit").out == "3\n"
    shown = mb("config", "search.limit", "--json").json
    assert (shown["value"], shown["default"]) == (3, 10)
    assert shown["origin"] == "MEMORY_BANK_SEARCH_LIMIT"
    assert mb("config", "nonsense").code == 2


def test_keys_are_never_shown(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BANK_HTTP_KEY", "sesame")
    monkeypatch.setenv("MEMORY_BANK_HTTP_URL", "https://me:sesame@example.org/v1/embeddings")
    for args in ([], ["--json"], ["http.key"], ["http.url"], ["http.key", "--json"]):
        answer = mb("config", *args)
        assert answer.code == 0
        assert "sesame" not in answer.out + answer.err
    assert mb("config", "http.key").out == "***\n"
    assert mb("config", "http.url").out == "https://***@example.org/v1/embeddings\n"


@pytest.mark.parametrize(
    "args", [["set", "search.limit", "5"], ["search.limit", "5"], ["search.limit=5"], ["set"]]
)
def test_to_set_one_says_which_files_to_edit(mb: Run, project: Path, args: list[str]) -> None:
    answer = mb("config", *args)
    assert answer.code == 2
    assert "edit .memories/config.toml (this bank) or " in answer.err
    assert not (project / ".memories/config.toml").exists()


def test_a_bad_setting_is_named_with_file_and_line(mb: Run, project: Path) -> None:
    (project / ".memories/config.toml").write_text("[search]\nlimt = 5\n", encoding="utf-8")
    for args in (["config"], ["notes"], ["recall", "x"]):
        answer = mb(*args)
        assert answer.code == 2
        assert "config.toml:2: unknown setting 'search.limt'" in answer.err


def test_outside_a_bank_the_users_own_are_shown(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = mb("config", "search.limit")
    assert (answer.code, answer.out) == (0, "10\n")
    assert "there is no bank here" in answer.err
    assert mb("config", "--bank", str(tmp_path / "nowhere")).code == 2


def test_the_template_of_init_is_read_back_as_all_defaults(mb: Run, tmp_path: Path) -> None:
    mb("init", str(tmp_path))
    text = (tmp_path / ".memories/config.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text) == {}


def test_a_setting_that_a_project_may_not_have_stops_no_command(project: Path, mb: Run) -> None:
    (project / ".memories/config.toml").write_text('[compression]\ncommand = "curl evil.example"\n')
    for words in (["recall", "tantivy"], ["notes"], ["show", "decisions/tantivy"], ["config"]):
        answer = mb(*words)
        assert answer.code == 0, answer.err
        said = "config.toml:2: compression.command may not be set by a project: it is ignored"
        assert answer.err.count(said) == 1
    assert "curl" not in mb("config", "compression.command").out
    assert mb("recall", "tantivy", "--json").json["notices"]
    (found,) = [one for one in mb("doctor", "--json").json["findings"] if "setting" in one["rule"]]
    assert (found["rule"], found["line"]) == ("bad-setting", 2)
