from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Run, environment


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_for_both_names(mb: Run, shell: str) -> None:
    answer = mb("completion", shell)
    assert answer.code == 0
    assert "_MEMORY_BANK_COMPLETE" in answer.out
    for name in ("_memory_bank_completion", "_mb_completion"):
        assert name in answer.out
    assert mb("completion", shell, "--json").json["script"] == answer.out


def test_another_shell_is_refused(mb: Run) -> None:
    assert mb("completion", "tcsh").code == 2


def offered(real: Run, *words: str) -> list[str]:
    """Return what bash is offered for the last word."""
    line = " ".join(["memory-bank", *words])
    env = {
        "_MEMORY_BANK_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words)),
    }
    answer = real(env=env)
    assert answer.err == ""
    return [row.partition(",")[2] for row in answer.out.splitlines() if row]


def test_what_is_offered(real: Run) -> None:
    assert offered(real, "re") == ["recall", "remember", "restore"]
    assert "--explain" in offered(real, "recall", "--e")
    assert offered(real, "embedder", "in") == ["install"]
    assert offered(real, "embedder", "use", "s") == ["static"]
    assert offered(real, "recall", "--mode", "le") == ["lexical"]
    assert offered(real, "recall", "--type", "dec") == ["decision"]
    assert offered(real, "config", "search.f") == ["search.fusion"]


def test_notes_and_tags_are_offered_once_they_are_indexed(real: Run, project: Path) -> None:
    assert offered(real, "show", "dec") == []
    assert not (project / ".memories/.index").exists()
    assert real("sync").code == 0
    assert offered(real, "show", "dec") == ["decisions/tantivy", "decisions/whoosh"]
    assert offered(real, "mv", "facts/") == ["facts/bm25"]
    assert offered(real, "recall", "x", "--tags", "ar") == ["architecture"]
    assert offered(real, "recall", "x", "--tags", "search,ar") == ["search,architecture"]
    assert offered(real, "--bank", str(project), "show", "facts/") == ["facts/bm25"]
    assert offered(real, "--bank", "/nowhere", "show", "facts/") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_takes_the_script(mb: Run) -> None:
    script = mb("completion", "bash").out
    done = subprocess.run(
        ["bash", "-c", f"{script}\ncomplete -p memory-bank mb"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("complete -o nosort -F") == 2
