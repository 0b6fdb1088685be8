from pathlib import Path

import pytest

from memory_bank.bank.config_file import list_settings
from memory_bank.base import settings


def test_every_setting_is_there_and_no_secret() -> None:
    environ = {
        "MEMORY_BANK_HTTP_KEY": "sesame",
        "MEMORY_BANK_HTTP_URL": "https://me:sesame@example.org/v1/embeddings",
        "MEMORY_BANK_EMBEDDER": "http",
    }
    found = list_settings(settings.load(environ=environ))
    assert [one.name for one in found] == [f"{s}.{k}" for s, k, *_ in settings.describe()]
    assert "sesame" not in repr(found)
    by_name = {one.name: one for one in found}
    assert by_name["http.key"].value == "***"
    assert by_name["memory.embedder"].origin == "MEMORY_BANK_EMBEDDER"
    assert by_name["memory.enabled"].origin == "default"
    assert by_name["http.url"].private


_FILES = {
    ("", 'keep = "project"'): "private",
    ('keep = "project"', ""): "project",
    ('keep = "project"', 'keep = "project"'): "project",
    ('keep = "project"', 'keep = "private"'): "private",
}


@pytest.mark.parametrize(("user", "project"), _FILES)
def test_a_project_moves_nothing_private_unless_its_user_does(
    tmp_path: Path, user: str, project: str
) -> None:
    found = _loaded(tmp_path, user, project)
    assert found.sessions.keep == _FILES[user, project]
    refused = not user and bool(project)
    assert [one.line for one in found.problems] == [2] * refused
    assert all("may not raise sessions.keep" in one.message for one in found.problems)


@pytest.mark.parametrize(
    ("name", "user", "project", "counts"),
    [
        ("memory.embedder", "", '"http"', "minilm"),
        ("memory.embedder", '"http"', '"http"', "http"),
        ("memory.embedder", "", '"static"', "static"),
        ("compression.mode", "", '"command"', "local"),
        ("compression.mode", "", '"client"', "local"),
        ("compression.mode", "", '"none"', "none"),
        ("compression.mode", '"command"', '"command"', "command"),
        ("sessions.ask_at_stop", "false", "true", False),
        ("code.enabled", "false", "true", False),
        ("sessions.capture", "false", "true", False),
        ("sessions.capture", "", "false", False),
        ("sessions.prompt_tokens", "2000", "1500", 1500),
        ("sessions.prompt_tokens", "0", "100", 0),
    ],
)
def test_a_project_sends_no_text_and_starts_nothing_that_its_user_does_not(
    tmp_path: Path, name: str, user: str, project: str, counts: object
) -> None:
    section, _, key = name.partition(".")
    for folder, value in (("memory-bank", user), ("bank", project)):
        (tmp_path / folder).mkdir()
        text = f"[{section}]\n{key} = {value}\n" if value else ""
        (tmp_path / folder / "config.toml").write_text(text)
    found = settings.load(tmp_path / "bank", environ={"XDG_CONFIG_HOME": str(tmp_path)})
    assert getattr(found.section(section), key) == counts


def test_each_amount_that_a_project_may_set_is_limited_by_its_default(tmp_path: Path) -> None:
    costly = ("tokens", "bytes", "limit", "_days")
    for section, key, default, meta in settings.describe():
        if meta.private or not key.endswith(costly) or section in {"rules", "memory", "onnx"}:
            continue
        path = tmp_path / "config.toml"
        path.write_text(f"[{section}]\n{key} = {int(meta.high)}\n")
        found = settings.load(tmp_path, environ={"XDG_CONFIG_HOME": str(tmp_path / "none")})
        assert getattr(found.section(section), key) == default, key


def _loaded(folder: Path, user: str, project: str) -> settings.Settings:
    own = folder / "user/memory-bank"
    own.mkdir(parents=True, exist_ok=True)
    (own / "config.toml").write_text(f"[sessions]\n{user}\n")
    (folder / "config.toml").write_text(f"[sessions]\n{project}\n")
    return settings.load(folder, environ={"XDG_CONFIG_HOME": str(folder / "user")})
