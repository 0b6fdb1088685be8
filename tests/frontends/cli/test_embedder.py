from __future__ import annotations

from types import SimpleNamespace

import pytest

from memory_bank.base import operation
from memory_bank.frontends import declared
from memory_bank.search.embedders import minilm

from .conftest import Run


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


def test_one_without_sense_is_told(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = SimpleNamespace(
        embedder="odd", dimension=2, load_seconds=0.1, query_seconds=0.1,
        texts_per_second=1.0, related=0.1, unrelated=0.2, verified=None,
    )  # fmt: skip
    found = declared.load("embedder test")._replace(run=lambda: tried)
    monkeypatch.setitem(operation.declared, "embedder test", found)
    assert "does not capture meaning" in mb("embedder", "test").err
