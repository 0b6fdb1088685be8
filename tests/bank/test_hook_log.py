"""The log of failed hooks."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from memory_bank.bank import hook_log
from memory_bank.base.filenames import user_state


def seen(root: str = "/bank", state: str = "/nowhere") -> str:
    return hook_log.describe_failures(root, state)


def test_the_users_log_has_the_bank_of_each_line(private_folders: Path, tmp_path: Path) -> None:
    assert hook_log.record_failure("claude", "Stop", "of one", root="/one")
    assert hook_log.record_failure(
        "claude", "Stop", "of two", root="/two", state=str(tmp_path / "two")
    )
    assert hook_log.record_failure("claude", "Stop", "of none")
    assert "hooks failed once" in (said := seen("/one"))
    assert "of one" in said
    assert seen("/two") == ""
    assert "of two" in seen("/two", str(tmp_path / "two"))
    assert "of two" in seen("/another/work/tree/of/two", str(tmp_path / "two"))


def test_other_lines_are_passed_over(private_folders: Path) -> None:
    assert hook_log.record_failure("claude", "Stop", "the first", root="/bank")
    far = {"at": 1e300, "bank": "/bank", "client": "c", "event": "e", "message": "x"}
    odd = ("[" * 100_000, "{}", "null", '{"at": 1e400, "bank": "/bank"}', json.dumps(far))
    with (Path(user_state()) / hook_log.FILE).open("a") as log:
        log.write("\n".join(["", *odd, ""]))
    assert "hooks failed once" in seen()
    assert hook_log.record_failure("claude", "Stop", "the last", root="/bank")
    assert "the last" in seen()


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


def test_reading_makes_no_folder(shared_folder: Path) -> None:
    shared_folder.rmdir()
    assert seen() == ""
    assert not shared_folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no folder of all users")
def test_a_folder_that_others_may_write_to_is_not_used(shared_folder: Path) -> None:
    assert hook_log.record_failure("claude", "Stop", "failed", root="/bank")
    assert str(shared_folder) in seen()
    shared_folder.chmod(0o720)
    assert seen() == ""
    assert not hook_log.record_failure("claude", "Stop", "failed", root="/bank")
    shared_folder.chmod(0o700)
    shared_folder.rename(shared_folder.with_name("moved"))
    shared_folder.symlink_to("moved")
    assert seen() == ""
    assert not hook_log.record_failure("claude", "Stop", "failed", root="/bank")
