"""A scout is a copy of the process, so these run in processes of their own, without threads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank import Bank

Opening = Callable[..., Bank]
Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="scouts are sent on Linux only")

SEND = """
import sys
from pathlib import Path
from memory_bank.filenames import meant
from memory_bank.indexer.changes import compare
from memory_bank.indexer.scout import Scout
from memory_bank.manifest.database import connect, seen
scout = Scout.sent(lambda: meant(sys.argv[1]))
if not scout:
    print("none was sent")
elif not (found := scout.fingerprint(Path(sys.argv[-1]))):
    print("it can't tell")
else:
    base = connect(Path(sys.argv[-1], ".index", "manifest.db"))
    known = seen(base, found)
    same = not compare(base, scout.scan())
    assert same or not known
    print(same)
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


MEANWHILE = """
import subprocess, sys
from memory_bank import open_bank, recall
from memory_bank.bank import Bank
from memory_bank.notes.scan import dumped, fingerprint, scan
sync = "from memory_bank import open_bank; open_bank(*__import__('sys').argv[1:]).sync()"
class Slow:
    'A scout that looks when the question was asked already, and another process has indexed.'
    def fingerprint(self, root):
        self.seen = scan(root)
        subprocess.run([sys.executable, "-c", sync, str(root)], check=True)
        return fingerprint(dumped(self.seen))
    def scan(self):
        return self.seen
    def dismiss(self):
        pass
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    bank.look_ahead(Slow())
    print(*sorted(note.path for note in recall(bank, "kestrel").notes))
"""


@pytest.fixture
def sent(run_python: Run) -> Callable[..., str]:
    """Send a scout to a folder, and return what it makes of it, or of another one."""
    return lambda *folders: run_python(SEND, *folders).stdout.strip()


@pytest.fixture
def asked(run_python: Run) -> Callable[..., str]:
    """Ask a bank after a look ahead, and return what was found."""
    return lambda folder, *how: run_python(ASK, folder, *how).stdout.strip()


@pytest.fixture
def settled(folder: Path, opening: Opening, sent: Callable[[Path], str]) -> Path:
    """Make a bank that has nothing new: some time later, since young stamps are not trusted."""
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    bank.sync()
    while sent(folder) != "True":
        bank.sync()  # until the stamps are old enough to be trusted
    bank.close()
    return folder


def test_it_tells_what_is_new(settled: Path, sent: Callable[[Path], str]) -> None:
    assert sent(settled) == "True"
    (settled / "b.md").write_text("new")
    assert sent(settled) == "False"
    (settled / "b.md").unlink()
    assert sent(settled) == "True"
    (settled / ".mb-left").write_text("by a killed writer")
    assert sent(settled) == "it can't tell"
    (settled / ".mb-left").unlink()
    (settled / "a.md").unlink()
    assert sent(settled) == "False"


def test_it_says_nothing_where_no_bank_is(tmp_path: Path, sent: Callable[..., str]) -> None:
    assert sent(tmp_path / "none") == "it can't tell"
    assert list(tmp_path.iterdir()) == []


def test_one_that_looked_at_another_bank_is_not_believed(
    settled: Path, sent: Callable[..., str]
) -> None:
    assert sent(settled, settled.parent) == "it can't tell"


def test_none_is_sent_beside_threads(settled: Path, run_python: Run) -> None:
    thread = "import threading\nthreading.Timer(1, print).start()\n"
    assert run_python(thread + SEND, settled).stdout.startswith("none was sent")


def test_an_answer_has_what_was_there_when_it_was_asked_for(
    settled: Path, asked: Callable[..., str]
) -> None:
    assert asked(settled) == "a.md\nno child is left"
    (settled / "c.md").write_text("kestrel as well")
    assert asked(settled) == "a.md c.md\nno child is left"


def test_one_that_saw_more_than_fits_into_a_pipe_waits_for_nobody(
    settled: Path, asked: Callable[..., str], sent: Callable[..., str]
) -> None:
    for number in range(2000):
        (settled / f"a-name-that-is-as-long-as-names-are-{number}.md").touch()
    assert asked(settled) == "a.md\nno child is left"
    assert sent(settled) in {"True", "False"}  # all of it came through
    assert asked(settled, "leave") == "no child is left"


CUT = """
import os, sys
from pathlib import Path
from memory_bank.indexer.scout import Scout
answer, question = os.pipe()
os.write(question, b"abc /bank\\0" + eval(sys.argv[1]))
os.close(question)
scout = Scout(os.spawnvp(os.P_NOWAIT, "true", ["true"]), answer)
print(scout.fingerprint(Path("/bank")), scout.scan())
scout.dismiss()
"""


@pytest.mark.parametrize("left", [b"", b"(", b"garbage", b"i\0\0\0\0"])
def test_one_that_is_killed_while_it_tells_has_seen_nothing(run_python: Run, left: bytes) -> None:
    assert run_python(CUT, repr(left)).stdout == "abc None\n"


def test_nobody_need_be_told_of_its_end(settled: Path) -> None:
    words = [sys.executable, "-m", "memory_bank", "recall", "kestrel", "--bank", str(settled)]
    shell = ["bash", "-c", 'trap "" CHLD; exec "$@"', "bash", *words, "--mode", "lexical"]
    done = subprocess.run(shell, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a.md" in done.stdout


def test_one_that_nobody_asks_for_leaves_no_process_behind(
    settled: Path, asked: Callable[..., str]
) -> None:
    assert asked(settled, "leave") == "no child is left"


def test_a_command_sends_one_ahead_to_the_bank_it_means(settled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("kestrel there")
    base = [sys.executable, "-m", "memory_bank", "recall", "kestrel", "--mode", "lexical"]
    for banks, found in (
        ([settled], "a.md"),
        ([other, settled], "a.md"),  # the last one counts, and the scout went to the first
        ([settled, other], "b.md"),
    ):
        named = [word for bank in banks for word in ("--bank", str(bank))]
        for _ in range(2):
            done = subprocess.run([*base, *named], check=True, capture_output=True, text=True)
            assert found in done.stdout
            assert not done.stderr


def test_who_reads_the_answer_need_not_wait_for_a_scout(settled: Path) -> None:
    words = ["-m", "memory_bank", "recall", "kestrel", "--bank", str(settled), "--nothing-such"]
    done = subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")


def test_what_others_index_meanwhile_is_not_missed(settled: Path, run_python: Run) -> None:
    (settled / "c.md").write_text("kestrel as well")
    assert run_python(MEANWHILE, settled).stdout.strip() == "a.md c.md"


def test_a_damaged_index_is_mended_all_the_same(settled: Path, asked: Callable[..., str]) -> None:
    for file in (settled / ".index" / "keyword").iterdir():
        file.write_bytes(b"garbage")
    assert asked(settled).startswith("a.md\n")
    (settled / ".index" / "manifest.db").write_bytes(b"garbage" * 1000)
    assert asked(settled).startswith("a.md\n")
