"""How often an answer starts git, after a commit that changed a note and the code that others cite."""

import os
import sys
from pathlib import Path

import pytest

from tests.git.history_builder import Made, extend, make, run
from tests.support import forked
from tests.support.homes import live_at

CODE = "def parse(text):\n    return text\n"

NOTES = {
    ".memories/parser.md": "# Parser\n\nThe parser in [[src/a.py#parse]] reads `text`.\n",
    ".memories/cache.md": "# Cache\n\nThe cache keeps values, see [[parser]].\n",
}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the program that counts is a shell script")
@pytest.mark.parametrize(("verb", "most"), [("recall", 3), ("ask", 4), ("stale", 4)])
def test_after_a_commit_git_is_started_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, most: int
) -> None:
    live_at(tmp_path, monkeypatch)
    tree = make(tmp_path / "project", [Made({"src/a.py": CODE, **NOTES})])
    seen = tmp_path / "seen"
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    real = run(tree, "--exec-path").strip() + "/git"
    program.write_text(f'#!/bin/sh\necho "$@" >> {seen}\nexec {real} "$@"\n')
    program.chmod(0o755)

    def ask(*words: str) -> str:
        command = [sys.executable, "-m", "memory_bank", *words]
        done = forked.run(command, cwd=tree, capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        return done.stdout

    words = (verb,) if verb == "stale" else (verb, "parser")
    ask(*words)
    changed = CODE.replace("text", "source")
    extend(tree, [Made({"src/a.py": changed, ".memories/cache.md": "# Cache\n\nNew.\n"})], 1)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    found = ask(*words)
    assert "parser" in found
    started = seen.read_text().splitlines()
    assert 0 < len(started) <= most, started
