"""The hooks for pre-commit, run as it runs them: the entry, then the changed files that match."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.support.command_lines import typed

HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
}
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


def hook(name: str, *files: str) -> tuple[str, int]:
    """Run a hook on files of the working directory."""
    one = HOOKS[name]
    chosen = [file for file in files if re.search(one["files"], file)]
    return typed(f"{one['entry']} {shlex.join([*one['args'], *chosen])}")


def test_hooks_look_at_notes_only() -> None:
    assert set(HOOKS) == {"memory-bank-lint", "memory-bank-secrets"}
    for one in HOOKS.values():
        assert one["language"] == "python"
        assert re.search(one["files"], ".memories/facts/bm25.md")
        assert re.search(one["files"], "packages/a/.memories/x.md")
        assert not re.search(one["files"], "docs/memories/x.md")
        assert not re.search(one["files"], "my.memories/x.md")


def test_a_secret_is_refused_and_other_notes_pass(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / ".memories/facts/key.md").write_text(f"# Key\n\ntoken = {TOKEN}\n")
    for name in HOOKS:
        text, code = hook(name, "src/index.py", ".memories/facts/key.md")
        assert code == 1, text
        assert "key.md:3" in text
        assert TOKEN not in text
    assert hook("memory-bank-secrets", ".memories/facts/bm25.md")[1] == 0
