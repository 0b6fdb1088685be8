"""A scout is a copy of the process, so these run in processes of their own, without threads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank import Bank
from memory_bank.indexer.scout import Scout

Opening = Callable[..., Bank]
Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="scouts are sent on Linux only")

SEND = """
import sys
from pathlib import Path
from memory_bank.indexer.scout import Scout
scout = Scout.sent(Path(sys.argv[1]), Path(sys.argv[1], ".index", "manifest.db"))
print(scout and scout.nothing_new())
"""

ASK = """
import os, sys
from memory_bank import open_bank, recall
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    bank.look_ahead()
    if "leave" not in sys.argv:
        print(*sorted(note.path for note in recall(bank, "kestrel").notes))
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no child is left")
"""


@pytest.fixture
def sent(run_python: Run) -> Callable[[Path], str]:
    """Send a scout to a folder, and return what it makes of it."""
    return lambda folder: run_python(SEND, folder).stdout.strip()


@pytest.fixture
def asked(run_python: Run) -> Callable[..., str]:
    """Ask a bank after a look ahead, and return what was found."""
    return lambda folder, *how: run_python(ASK, folder, *how).stdout.strip()


@pytest.fixture
def settled(folder: Path, opening: Opening, sent: Callable[[Path], str]) -> Path:
    """Make a bank that has nothing new: some time later, since young stamps are not trusted."""
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    while sent(folder) != "True":
        bank.sync()
    bank.close()
    return folder


def test_it_tells_what_is_new(settled: Path, sent: Callable[[Path], str]) -> None:
    assert sent(settled) == "True"
    (settled / "b.md").write_text("new")
    assert sent(settled) == "False"
    (settled / "b.md").unlink()
    assert sent(settled) == "True"
    (settled / ".mb-left").write_text("by a killed writer")
    assert sent(settled) == "False"
    (settled / ".mb-left").unlink()
    (settled / "a.md").unlink()
    assert sent(settled) == "False"


def test_it_says_nothing_of_what_it_cannot_read(settled: Path, sent: Callable[[Path], str]) -> None:
    (settled / ".index" / "manifest.db").write_bytes(b"garbage" * 1000)
    assert sent(settled) == "False"


def test_none_is_sent_without_an_index_or_beside_threads(settled: Path, run_python: Run) -> None:
    assert Scout.sent(settled, settled / ".index" / "nothing.db") is None
    thread = "import threading\nthreading.Timer(1, print).start()\n"
    assert run_python(thread + SEND, settled).stdout.startswith("None")


def test_an_answer_has_what_was_there_when_it_was_asked_for(
    settled: Path, asked: Callable[..., str]
) -> None:
    assert asked(settled) == "a.md\nno child is left"
    (settled / "c.md").write_text("kestrel as well")
    assert asked(settled) == "a.md c.md\nno child is left"


def test_one_that_nobody_asks_for_leaves_no_process_behind(
    settled: Path, asked: Callable[..., str]
) -> None:
    assert asked(settled, "leave") == "no child is left"


def test_a_damaged_index_is_mended_all_the_same(settled: Path, asked: Callable[..., str]) -> None:
    for file in (settled / ".index" / "keyword").iterdir():
        file.write_bytes(b"garbage")
    assert asked(settled).startswith("a.md\n")
    (settled / ".index" / "manifest.db").write_bytes(b"garbage" * 1000)
    assert asked(settled).startswith("a.md\n")
