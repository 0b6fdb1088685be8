import os
import time
from pathlib import Path

import pytest

from memory_bank.base.filenames import is_trusted, signature_from_stat

NOW = 1_800_000_000_000_000_000
SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("mtime", "ctime", "known"),
    [
        (-10, -10, True),
        (-0.01, -0.01, False),
        (-10, -0.01, False),
        (+5, -10, False),
        (+86400, -10, True),
        (-86400 * 365 * 40, -10, True),
        (-10, +3600, False),
    ],
    ids=["old", "young", "restored just now", "another clock", "set by hand", "1986", "clock set"],
)
def test_a_stamp_is_recorded_once_a_change_would_show(
    monkeypatch: pytest.MonkeyPatch, mtime: float, ctime: float, known: bool
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: NOW)
    signature = (7, NOW + int(mtime * SECOND), NOW + int(ctime * SECOND), 5)
    assert is_trusted(signature) is known


def test_only_plain_files_have_a_signature(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")
    before = signature_from_stat(file.lstat())
    assert before is not None
    assert before[0] == 3
    os.utime(file, (1, 1))
    assert signature_from_stat(file.lstat()) != before
    assert signature_from_stat(tmp_path.lstat()) is None
