"""A permission that is taken away: a clear error, or an answer that says what it lacks."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="gives up the rights of root"
)

SCRIPT = """
import os, sys, tempfile
from pathlib import Path
from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import StorageFailed
from memory_bank.memory.edit import append
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.remember import remember
from memory_bank.memory.trash import delete
root, other, state = *map(Path, sys.argv[1:]), Path(os.environ["XDG_STATE_HOME"])
with open_bank(other, settings={"memory.embedder": "none"}) as bank:  # loads all that is needed
    remember(bank, "kestrel", name="a"), append(bank, "a", "b"), rename(bank, "a", "b")
    recall(bank, "kestrel"), recall(bank, "kestrel"), delete(bank, "b")
for place in (state, *state.rglob("*")):
    os.chown(place, 65534, 65534)
os.setgid(65534), os.setuid(65534)

def closed(folder, mode):
    for place in (folder, *folder.rglob("*")):
        place.chmod(mode if place.is_dir() else mode & 0o666)

def opened(folder):
    folder.chmod(0o755)
    for place in folder.rglob("*"):
        place.chmod(0o755 if place.is_dir() else 0o644)

with open_bank(root, settings={"memory.embedder": "none"}) as bank:
    assert recall(bank, "kestrel").result_count == 2
    before = {file.name: file.read_bytes() for file in (root / "sub").iterdir()}
    closed(root / "sub", 0o555)
    for write in (
        lambda: append(bank, "sub/a", "more"), lambda: remember(bank, "new", name="sub/new"),
        lambda: delete(bank, "sub/a"), lambda: rename(bank, "sub/a", "elsewhere"),
    ):
        try:
            write()
            print("written")
        except StorageFailed as error:
            assert "permission" in error.hint.lower(), error.hint
    assert before == {file.name: file.read_bytes() for file in (root / "sub").iterdir()}
    assert not (root / "elsewhere.md").exists()
    opened(root / "sub")

    (root / "sub/b.md").chmod(0)
    (root / "sub/b.md").touch()
    assert recall(bank, "kestrel").result_count >= 1
    (root / "sub/b.md").chmod(0o644)
    assert recall(bank, "kestrel").result_count == 2

    closed(root / ".index", 0o555)
    (root / "c.md").write_text("osprey")
    try:
        found = recall(bank, "kestrel")
        assert found.result_count == 2
        print("index:", found.problem)
    except StorageFailed as error:
        assert error.hint, error.message
    opened(root / ".index")
    assert recall(bank, "osprey").result_count == 1
    bank.close()
    closed(state, 0o555)
    assert "accesses are not counted" in recall(bank, "kestrel").problem
    opened(state)
    assert recall(bank, "kestrel").problem is None
    print("well")
"""


def test_what_may_not_be_written_stays_and_is_said(for_anyone: Path, run_python: Run) -> None:
    root, other = for_anyone / "bank", for_anyone / "other"
    other.mkdir()
    (root / "sub").mkdir(parents=True)
    for name in ("a", "b"):
        (root / f"sub/{name}.md").write_text("kestrel\n")
    for place in (root, *root.rglob("*")):
        os.chown(place, 65534, 65534)
    done = run_python(SCRIPT, root, other, check=False)
    assert done.stdout.splitlines()[-1:] == ["well"], done.stdout + done.stderr
    assert "written" not in done.stdout
