"""The log of failed hooks: what other users have planted in a shared folder is neither read nor written."""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank import hook_log
from memory_bank.base.removed_text import RemovedText

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no folder of all users")
Plant = Callable[[Path], object]


@pytest.fixture
def shared_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of temporary files, which is used as no other one can be written."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    folder = tmp_path / f"tmp/memory-bank-{os.getuid()}"
    folder.mkdir(mode=0o700)
    return folder


def line(message: str, bank: str = "/bank", at: float | None = None) -> str:
    found = {"at": at or time.time(), "bank": bank, "client": "c", "event": "e", "message": message}
    return json.dumps(found) + "\n"


def seen(root: str = "/bank", state: str = "/nowhere") -> str:
    return hook_log.described(root, state)


def test_a_failure_is_told_to_its_bank_alone(shared_folder: Path) -> None:
    assert hook_log.record("claude", "Stop", "of one", root="/one")
    assert hook_log.record("claude", "Stop", "of another", root="/two")
    assert hook_log.record("claude", "Stop", "of none")
    assert "hooks failed once" in (said := seen("/one"))
    assert "of one" in said
    assert str(shared_folder) in said
    assert "of another" in seen("/two")
    assert seen("/three") == ""
    lines = (shared_folder / "hooks.log").read_text().splitlines()
    assert [json.loads(one)["bank"] for one in lines] == ["/one", "/two", ""]


def test_the_users_log_has_the_bank_of_each_line(private_folders: Path, tmp_path: Path) -> None:
    assert hook_log.record("claude", "Stop", "of one", root="/one")
    assert hook_log.record("claude", "Stop", "of two", root="/two", state=str(tmp_path / "two"))
    assert "of one" in seen("/one")
    assert seen("/two") == ""
    assert "of two" in seen("/two", str(tmp_path / "two"))
    assert "of two" in seen("/another/work/tree/of/two", str(tmp_path / "two"))


PLANTED: dict[str, Plant] = {
    "a pipe": os.mkfifo,
    "a link to an endless device": lambda log: log.symlink_to("/dev/zero"),
    "a link to a file of the user": lambda log: log.symlink_to(log.parents[2] / "mine"),
    "a folder": lambda log: log.mkdir(),
    "a device": lambda log: os.mknod(log, 0o600 | 0o020000, os.makedev(1, 5)),
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_what_is_no_plain_file_is_neither_read_nor_written(
    shared_folder: Path, plant: Plant
) -> None:
    mine = shared_folder.parents[1] / "mine"
    mine.write_text(line("planted"))
    try:
        plant(shared_folder / "hooks.log")
    except PermissionError:
        pytest.skip("only root makes devices")
    started = time.monotonic()
    assert seen() == ""
    assert not hook_log.record("claude", "Stop", "failed", root="/bank")
    assert hook_log.replace_text(RemovedText("planted"), "/nowhere") == {}
    assert time.monotonic() - started < 30
    assert "failed" not in mine.read_text()


def test_a_pipe_that_somebody_reads_gets_nothing(shared_folder: Path) -> None:
    os.mkfifo(shared_folder / "hooks.log")
    reading = os.open(shared_folder / "hooks.log", os.O_RDONLY | os.O_NONBLOCK)
    assert not hook_log.record("claude", "Stop", "failed", root="/bank")
    assert os.read(reading, 100) == b""
    os.close(reading)


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o720, 0o777])
def test_a_folder_that_others_may_write_to_is_not_used(shared_folder: Path, mode: int) -> None:
    (shared_folder / "hooks.log").write_text(line("planted"))
    shared_folder.chmod(mode)
    assert seen() == ""
    assert not hook_log.record("claude", "Stop", "failed", root="/bank")


def test_a_folder_that_is_a_link_is_not_used(shared_folder: Path) -> None:
    shared_folder.rename(shared_folder.with_name("moved"))
    shared_folder.symlink_to("moved")
    (shared_folder / "hooks.log").write_text(line("planted"))
    assert seen() == ""
    assert not hook_log.record("claude", "Stop", "failed", root="/bank")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
@pytest.mark.parametrize("which", [".", "hooks.log"])
def test_what_belongs_to_somebody_else_is_not_used(shared_folder: Path, which: str) -> None:
    (shared_folder / "hooks.log").write_text(line("planted"))
    os.chown(shared_folder / which, 65534, 65534)
    assert seen() == ""
    assert not hook_log.record("claude", "Stop", "failed", root="/bank")


def test_reading_makes_no_folder(shared_folder: Path) -> None:
    shared_folder.rmdir()
    assert seen() == ""
    assert not shared_folder.exists()


def test_a_log_of_any_size_and_content_is_read_within_bounds(shared_folder: Path) -> None:
    log = shared_folder / "hooks.log"
    with log.open("wb") as file:
        file.truncate(10**12)
        file.seek(0, os.SEEK_END)
        odd = ("[" * 100_000, "{}", "null", '{"at": 1e400, "bank": "/bank"}', line("x", at=1e300))
        file.write("\n".join(["", *odd, line("the last"), ""]).encode())
    started = time.monotonic()
    assert "hooks failed once" in seen()
    assert "the last" in seen()
    assert hook_log.record("claude", "Stop", "a new one", root="/bank")
    assert log.stat().st_size < 300_000
    assert "a new one" in seen()
    assert time.monotonic() - started < 30
