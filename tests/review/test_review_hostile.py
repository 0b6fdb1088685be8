"""A hostile pull request neither starts a program nor exceeds the bounds of a review."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.rendering import document
from memory_bank.review.review import review
from tests.code import hostile
from tests.conftest import run_git
from tests.review.test_review import SETTINGS, commit

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts"),
    pytest.mark.slow,
]

LAUGHS = "a: &a [x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
FILES = {
    "huge.md": "# Huge\n\n" + "word " * 500_000,
    "laughs.md": f"---\n{LAUGHS}---\nText\n",
    "depth.md": f"---\na: {'[' * 5000}\n---\nText\n",
    "brackets.md": "[" * 100_000 + "](x)" * 10_000,
    "stars.md": "*a **b " * 20_000,
    "quotes.md": "> " * 5000 + "x\n",
    "claims.md": "".join(f"- a{n % 7} b{n % 5}\n" for n in range(15_000)),
    "binary.md": "a\0b",
    "bidi\u202etxt.md": "# Bidi\n",
    "new\nline.md": "# Line\n",
    "-rf.md": "# Option\n",
    ":(glob)x.md": "# Pathspec\n",
    "a/" * 60 + "deep.md": "# Deep\n",
    "con.md": "# Device\n",
    "tab\t$(touch sprung)`id`.md": "# Shell\n",
    "escape\x1b[31m.md": "# Escape\n",
}


def blob(root: Path, data: bytes) -> str:
    words = ["git", "-C", str(root), "hash-object", "-w", "--stdin"]
    return (
        subprocess.run(words, input=data, capture_output=True, check=True).stdout.decode().strip()
    )


def tree(root: Path, entries: list[tuple[str, str, str, str]]) -> str:
    rows = b"".join(
        f"{mode} {kind} {name}\t{path}\0".encode() for mode, kind, name, path in entries
    )
    words = ["git", "-C", str(root), "mktree", "-z", "--missing"]
    return (
        subprocess.run(words, input=rows, capture_output=True, check=True).stdout.decode().strip()
    )


@pytest.fixture
def attacked(tmp_path: Path, git: Callable[..., str]) -> Path:
    """Make a repository whose last commit has all that a stranger may send."""
    root = tmp_path / "project"
    (root / ".memories").mkdir(parents=True)
    git(tmp_path, "init", "-qb", "main", str(root))
    (root / ".memories/a.md").write_text("# A\n\nSee [[b]].\n")
    claims = "".join(f"- b{n % 5} a{n % 7}\n" for n in range(15_000))
    (root / ".memories/claims.md").write_text(claims)
    commit(root, "Base")
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret of this machine\n")
    for name, text in FILES.items():
        file = root / ".memories" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (root / ".memories/out.md").symlink_to(secret)
    (root / ".memories/folder").symlink_to("/etc")
    (root / ".memories/.gitattributes").write_text("*.md filter=evil diff=evil merge=evil\n")
    git(root, "add", "-A")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},.memories/module.md")
    git(root, "commit", "-qm", "Attack")
    return root


def test_a_hostile_pull_request_starts_nothing_and_takes_bounded_time(
    attacked: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    hostile.plant(attacked, hostile.trap(tmp_path), git, "--local")
    start = time.process_time()
    with open_bank(attacked / ".memories", settings=SETTINGS) as bank:
        found = review(bank, "HEAD~2..HEAD")
    assert time.process_time() - start < 30
    assert not (tmp_path / "sprung").exists()
    changes = {one.path: one for one in found.changes}
    assert not changes["huge.md"].compared
    assert "not indexed, compared or checked" in (changes["huge.md"].remark or "")
    assert "Secret of this machine" not in document(found)
    assert "root:" not in document(found)
    assert {"-rf.md", ":(glob)x.md", "laughs.md", "claims.md", "binary.md"} <= set(changes)


def test_trees_that_git_did_not_make_lead_nowhere(attacked: Path, tmp_path: Path) -> None:
    data = blob(attacked, b"# Out\n")
    inner = tree(attacked, [("100644", "blob", data, "x.md")])
    up = tree(attacked, [("040000", "tree", inner, ".."), ("040000", "tree", inner, ".git")])
    top = tree(attacked, [("040000", "tree", up, ".memories")])
    evil = run_git(attacked, "commit-tree", "-m", "Evil", "-p", "HEAD", top).strip()
    before = {file for file in tmp_path.rglob("*") if ".git" not in file.parts}
    with open_bank(attacked / ".memories", settings=SETTINGS) as bank:
        found = review(bank, f"HEAD..{evil}")
    assert all(one.kind == "removed" for one in found.changes)
    after = {file for file in tmp_path.rglob("*") if ".git" not in file.parts}
    assert {file for file in after - before if ".index" not in file.parts} == set()
