import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_for_both_names(mb: Run, shell: str) -> None:
    answer = mb("completion", shell)
    assert answer.code == 0
    assert "_MEMORY_BANK_COMPLETE" in answer.out
    for name in ("_memory_bank_completion", "_mb_completion"):
        assert name in answer.out
    assert mb("completion", shell, "--json").json["script"] == answer.out


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(mb: Run, monkeypatch: pytest.MonkeyPatch) -> Offered:
    """Return what click's own script offers in bash for the last word."""

    def call(*words: str) -> list[str]:
        with monkeypatch.context() as patched:
            patched.setenv("_MEMORY_BANK_COMPLETE", "bash_complete")
            patched.setenv("COMP_WORDS", " ".join(["memory-bank", *words]))
            patched.setenv("COMP_CWORD", str(len(words)))
            answer = mb()
        assert answer.err == ""
        return [row.partition(",")[2] for row in answer.out.splitlines() if row]

    return call


def test_what_is_offered(offered: Offered) -> None:
    assert offered("re") == ["recall", "remember", "review"]
    assert "--explain" in offered("recall", "--e")
    assert offered("embedder", "u") == ["use"]
    assert offered("shared", "pu") == ["publish"]
    assert "--dry-run" in offered("shared", "publish", "--d")
    assert offered("recall", "--mode", "le") == ["lexical"]
    assert offered("recall", "--type", "dec") == ["decision"]


def test_notes_are_offered_once_they_are_indexed(mb: Run, offered: Offered, project: Path) -> None:
    shutil.rmtree(project / ".memories/.index")
    assert offered("show", "dec") == []
    assert not (project / ".memories/.index").exists()
    assert mb("sync").code == 0
    assert offered("show", "dec") == ["decisions/tantivy", "decisions/whoosh"]
    assert offered("mv", "facts/") == ["facts/bm25"]
    assert offered("--bank", str(project), "show", "facts/") == ["facts/bm25"]
    assert offered("--bank", "/nowhere", "show", "facts/") == []
