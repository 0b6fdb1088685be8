"""Extras: each adds what it says, and the program works without."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base import plugins

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

WITHOUT = """
import sys
from importlib import util
gone, find = ("psycopg", "psycopg_binary", "pgvector", "onnxruntime"), util.find_spec
util.find_spec = lambda name, *rest: None if name.split(".")[0] in gone else find(name, *rest)
sys.modules.update(dict.fromkeys(gone))
from memory_bank.__main__ import main
main()
"""
"""The program where no extra is installed."""

Without = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def without(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Without:
    """Run a command where no extra is installed."""
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"x")
    monkeypatch.setenv("MEMORY_BANK_ONNX_PATH", str(tmp_path))
    monkeypatch.setenv("MEMORY_BANK_SHARED_URL", "postgresql:///notes")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        every = [sys.executable, "-P", "-c", WITHOUT, *words]
        return subprocess.run(every, cwd=project, capture_output=True, text=True, check=False)

    return run


def line(extra: str) -> str:
    return f" install 'markdown-memory-bank[{extra}]'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("shared", ("shared", "init")),
        ("shared", ("shared", "status")),
        ("shared", ("publish", "--repo", "example.org/a/b")),
        ("shared", ("recall", "tantivy", "--scope", "shared")),
        ("onnx", ("embedder", "use", "onnx")),
    ],
)
def test_a_command_whose_extra_is_missing_says_the_line_that_installs_it(
    without: Without, extra: str, words: tuple[str, ...]
) -> None:
    found = without(*words)
    assert line(extra) in found.stderr
    assert sys.executable in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.slow
def test_other_commands_need_no_extra(without: Without) -> None:
    assert "decisions/tantivy.md" in without("recall", "tantivy").stdout
    assert "decisions/tantivy.md" in without("recall", "tantivy", "--scope", "both").stdout
    assert line("onnx") in without("embedder", "list").stdout


def test_all_has_every_extra_of_users() -> None:
    assert EXTRAS["all"] == [
        f"markdown-memory-bank[{','.join(sorted({*EXTRAS} - {'all', 'test'}))}]"
    ]
    assert "markdown-memory-bank[all]" in EXTRAS["test"]


def test_the_page_lists_each_extra() -> None:
    page = (ROOT / "docs/installation.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `markdown-memory-bank\[(\w+)\]`", page, re.MULTILINE)
    assert sorted(listed) == sorted({*EXTRAS} - {"test"})


def test_the_line_asks_the_installer_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for there, words in (("pip", "-m pip install"), ("", "uv pip install --python")):
        monkeypatch.setattr(plugins, "find_spec", lambda name, there=there: name == there or None)
        assert words in plugins.install_hint("shared")
