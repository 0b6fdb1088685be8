"""Only files of the repository are shown, and none of their secrets."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput, FileNotFound
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.index.work_tree import MAX_FILE_BYTES
from memory_bank.frontends.web.pages import code as page
from memory_bank.frontends.web.pages.code import code_view

KEY = "AKIA" + "QZ7WLMR4T2VXKD3B"


@pytest.fixture
def code(project: Path) -> Iterator[Codebase]:
    with open_codebase(project, bank=project / ".memories") as opened:
        yield opened


def test_a_file_is_shown_by_lines(project: Path, code: Codebase) -> None:
    assert code_view(code, "src/index.py").lines == ("def build_index():", "    ...")
    (project / "new.txt").write_bytes(b"one\r\n\r\nthree \xff")
    assert code_view(code, "./new.txt").lines == ("one", "", "three \ufffd")
    (project / "new.txt").write_bytes(b"")
    assert code_view(code, "new.txt").lines == ("",)


def test_what_git_does_not_know_is_not_there(project: Path, code: Codebase) -> None:
    (project / ".gitignore").write_text(".env\n")
    (project / ".env").write_text("a=1\n")
    (project.parent / "outside.txt").write_text("outside\n")
    for path in (".env", ".git/config", "nothing.py", "src", ".memories/.index/manifest.db"):
        with pytest.raises(FileNotFound):
            code_view(code, path)
    for path in ("../outside.txt", "/etc/passwd", "src/../../outside.txt", "", "a\0b"):
        with pytest.raises(BadInput, match="is no file below"):
            code_view(code, path)
    with pytest.raises(FileNotFound, match=r"did you mean src/index\.py"):
        code_view(code, "src/indx.py")


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_links_are_not_followed(project: Path, code: Codebase, git: Callable[..., str]) -> None:
    (project.parent / "secret").mkdir()
    (project.parent / "secret/a.py").write_text("a = 1\n")
    (project / "link.py").symlink_to(project.parent / "secret/a.py")
    (project / "folder").symlink_to(project.parent / "secret")
    git(project, "add", "-A")
    assert code_view(code, "link.py").refused == "symbolic link: not followed"
    with pytest.raises(FileNotFound):
        code_view(code, "folder/a.py")


def test_binary_and_large_files_say_why_they_are_not_shown(project: Path, code: Codebase) -> None:
    (project / "a.bin").write_bytes(b"a\0b")
    assert code_view(code, "a.bin").refused.startswith("binary")
    large = MAX_FILE_BYTES + 1
    (project / "large.txt").write_bytes(b"a b\n" * (large // 4 + 1))
    assert code_view(code, "large.txt").refused.startswith("larger than")


def test_secrets_are_hidden_and_lines_stay(project: Path, code: Codebase) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq1Zk2n\n" * 8
    text = f"a = 1\naws = '{KEY}'\n{key}-----END RSA PRIVATE KEY-----\nlast = 2\n"
    (project / "keys.py").write_text(text)
    found = code_view(code, "keys.py")
    assert found.hidden == 2
    assert len(found.lines) == len(text.splitlines())
    assert (found.lines[0], found.lines[-1]) == ("a = 1", "last = 2")
    assert KEY not in "\n".join(found.lines)
    assert "MIIEpAIBAAKCAQEA7bq1Zk2n" not in "\n".join(found.lines)


def test_very_many_lines_are_counted(
    project: Path, code: Codebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MOST_LINES", 3)
    (project / "many.txt").write_text("a\n" * 5)
    found = code_view(code, "many.txt")
    assert (found.lines, found.left_out) == (("a", "a", "a"), 2)


def test_code_that_is_turned_off_is_not_shown(project: Path) -> None:
    off = open_codebase(project, settings={"code.enabled": False})
    with off as code, pytest.raises(BadInput, match="code is turned off here"):
        code_view(code, "src/index.py")
