from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from memory_bank.base import operation, plugins
from memory_bank.frontends import declared
from memory_bank.search.embedders import minilm

from .conftest import Run


def test_list(mb: Run) -> None:
    found = mb("embedder", "list", "--json").json["embedders"]
    assert [one["name"] for one in found] == plugins.names("search.embedders")
    assert [one["name"] for one in found if one["active"]] == ["static"]
    by_name = {one["name"]: one for one in found}
    assert by_name["static"]["ready"]
    assert not by_name["minilm"]["ready"]
    assert by_name["minilm"]["installable"]
    assert "embedder install minilm" in by_name["minilm"]["hint"]
    lines = mb("embedder", "list").out.splitlines()
    assert len(lines) == len(found)


def test_list_works_outside_a_bank(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert mb("embedder", "list").code == 0


def test_use_writes_one_line(mb: Run, project: Path) -> None:
    file = project / ".memories/config.toml"
    file.write_text("# mine\n[search]\nlimit = 5  # few\n", encoding="utf-8")
    answer = mb("embedder", "use", "hashing")
    assert answer.code == 0
    assert answer.out.startswith("this bank now uses hashing (.memories/config.toml)\n")
    assert file.read_text(encoding="utf-8") == (
        '# mine\n[search]\nlimit = 5  # few\n\n[memory]\nembedder = "hashing"\n'
    )
    assert "already uses" in mb("embedder", "use", "hashing").out
    assert mb("config", "memory.embedder").out == "hashing\n"
    assert mb("recall", "whoosh").code == 0


def test_use_refuses_what_could_not_work(mb: Run, project: Path) -> None:
    assert mb("embedder", "use", "telepathy").code == 2
    assert mb("embedder", "use", "minilm").code == 3
    assert mb("embedder", "use", "http").code == 3
    assert not (project / ".memories/config.toml").exists()


def test_use_says_what_wins_over_it(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    answer = mb("embedder", "use", "hashing")
    assert answer.code == 0
    assert answer.err == "warning: MEMORY_BANK_EMBEDDER sets 'none' and overrides it\n"


def test_install(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(_: object, say: object) -> str:
        assert callable(say)
        say("fetching")
        return "/models/minilm"

    monkeypatch.setattr(minilm, "install", install)
    answer = mb("embedder", "install", "minilm")
    assert (answer.code, answer.err) == (0, "fetching\n")
    assert "memory-bank embedder use minilm" in answer.out
    assert mb("embedder", "install", "minilm", "--json").json["path"] == "/models/minilm"
    assert mb("embedder", "install", "static").code == 2
    assert mb("embedder", "install", "nope").code == 2


def test_try_one(mb: Run) -> None:
    found = mb("embedder", "test", "--json").json
    assert (found["embedder"], found["dimension"]) == ("static", 256)
    assert found["related"] > found["unrelated"]
    assert "SHA-256" in found["verified"]
    answer = mb("embedder", "test", "hashing")
    assert answer.code == 0
    assert "dimension        128" in answer.out
    assert mb("embedder", "test", "none").code == 2
    assert mb("embedder", "test", "minilm").code == 3


def test_one_without_sense_is_told(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = SimpleNamespace(
        embedder="odd", dimension=2, load_seconds=0.1, query_seconds=0.1,
        texts_per_second=1.0, related=0.1, unrelated=0.2, verified=None,
    )  # fmt: skip
    found = declared.load("embedder test")._replace(run=lambda: tried)
    monkeypatch.setitem(operation.declared, "embedder test", found)
    assert "does not capture meaning" in mb("embedder", "test").err
