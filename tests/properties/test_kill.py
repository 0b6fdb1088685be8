"""Killed at any step, a bank loses no note, tears none, and heals when it is next used."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.repairs import describe_repairs
from memory_bank.memory.maintenance import compare
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.trash import trash
from memory_bank.search.manifest.manifest import GONE, PENDING
from tests.support import forked

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="forks, and kills by SIGKILL"),
    pytest.mark.slow,
]

SERVER = Path(__file__).with_name("dies_at.py")
SETTINGS = {"memory.embedder": "static"}
WORKS = (
    "append", "edit", "archive", "remember", "remember again", "delete", "restore", "rename",
    "merge", "index", "reindex", "rebuild", "repair", "check",
)  # fmt: skip
SAMPLE = 4
"""Steps of each work at which all is checked; `-m torture` checks every one."""

Die = Callable[..., str]
AGES = ("old", "young")
"""Whether the signatures of files are trusted: those that were written just now are not."""
Files = dict[str, str]


@pytest.fixture(scope="module")
def die() -> Iterator[Die]:
    """Start the server; the call returns how the work ended."""
    words = [sys.executable, "-P", str(SERVER)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        asked, said = server.stdin, server.stdout

        def ask(folder: Path, work: str, step: int, age: str = "old") -> str:
            # the state of this test says which index is the bank's own
            user = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
            asked.write(f"{folder}\t{work}\t{step}\t{age}\t{json.dumps(user)}\n")
            asked.flush()
            answer = said.readline().rstrip("\n")
            assert answer.startswith(("done", "killed")), answer
            return answer

        yield ask
        asked.close()


@pytest.fixture
def start(project: Path) -> Path:
    """Take the project, with a note in the trash that can be restored."""
    gone = project / ".memories/.trash/20260101000000000000/facts/gone.md"
    gone.parent.mkdir(parents=True)
    gone.write_text("# Gone\n\nA note to bring back.\n")
    (project / ".memories/.trash/.gitignore").write_text("*\n")
    with open_bank(project, settings=SETTINGS) as bank:
        bank.sync()
    return project


def files(project: Path) -> Files:
    """Map each note to its text, without what differs from run to run: ids and times."""
    bank = project / ".memories"
    volatile = ("id:", "created_at:", "updated_at:")
    return {
        file.relative_to(bank).as_posix(): "\n".join(
            line
            for line in file.read_text(encoding="utf-8").split("\n")
            if not line.startswith(volatile)
        )
        for file in sorted(bank.rglob("*.md"))
        if not any(part.startswith(".") for part in file.relative_to(bank).parts)
    }


def check(project: Path, wanted: tuple[Files, ...], git: Callable[..., str]) -> None:
    """Use the bank again: it must be as before or after the work, whole, and clean, and say so."""
    with open_bank(project, settings=SETTINGS) as bank:
        cut_short = {"writing"} if bank.store.interrupted() else set()
        if bank.layout.manifest.is_file():
            with closing(sqlite3.connect(bank.layout.manifest)) as base:
                cut_short |= {"indexing"} if _unfinished(base) else set()
        for mode in ("lexical", "semantic"):
            answer = recall(bank, "We chose Tantivy", mode=mode, count_access=False)
            assert answer.notes[0].path == "decisions/tantivy.md"
            assert (answer.mode_used, answer.problem) == (mode, None)
        assert cut_short <= set(bank.take_repaired())
        assert files(project) in wanted
        restorable = {note.path for note in trash(bank)}
        assert compare(bank)[1] == ()
    lost = set().union(*wanted) - set(files(project)) - restorable
    new = {path for path in wanted[1] if path not in wanted[0]}
    assert lost <= new | ({"facts/bm25.md"} if "deep/ranking.md" in files(project) else set())
    assert not list((project / ".memories/.trash").glob(".journal-*"))
    status = git(project, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert all(line.endswith(".md") for line in status), status


def sampled(steps: int, every: bool) -> list[int]:
    if every or steps <= SAMPLE:
        return list(range(1, steps + 1))
    return sorted({1 + (steps - 1) * number // (SAMPLE - 1) for number in range(SAMPLE)})


def whole(
    start: Path, tmp_path: Path, die: Die, work: str, age: str = "old"
) -> tuple[int, tuple[Files, Files]]:
    """Do the work to its end; return its steps, and the notes before and after."""
    before = files(start)
    if work in {"index", "recover"}:
        shutil.rmtree(start / ".memories/.index", ignore_errors=True)
    shutil.copytree(start, copy := tmp_path / f"whole-{age}")
    steps = int(die(copy, work, 0, age).removeprefix("done "))
    after = files(copy)
    if work == "reindex":  # the files are written first, one after the other
        between = {**before, "facts/new.md": after["facts/new.md"]}
        return steps, (before, after, between)  # type: ignore[return-value]
    return steps, (before, after)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.torture)])
@pytest.mark.parametrize("work", WORKS)
def test_killed_at_any_step(
    start: Path, tmp_path: Path, die: Die, git: Callable[..., str], work: str, every: bool
) -> None:
    """Half of the steps in a process that trusts the files' signatures, half in one that can't."""
    for turn, age in enumerate(AGES):
        steps, wanted = whole(start, tmp_path, die, work, age)
        assert steps > 3
        for step in sampled(steps, every)[0 if every else turn :: 1 if every else len(AGES)]:
            # a place of its own: what the machine keeps of a place would save steps
            shutil.copytree(start, copy := tmp_path / f"step-{age}-{step}")
            assert die(copy, work, step, age) == "killed"
            check(copy, wanted, git)
            shutil.rmtree(copy)


@pytest.mark.parametrize("work", ["rename", "merge"])
def test_several_files_change_all_or_none_at_every_step(
    start: Path, tmp_path: Path, die: Die, work: str
) -> None:
    """Every step of the writes: what is on the disk after the next writer had its turn."""
    steps, wanted = whole(start, tmp_path, die, work)
    seen = []
    for step in range(1, steps + 1):
        shutil.copytree(start, copy := tmp_path / f"step-{step}")
        die(copy, work, step)
        with open_bank(copy, settings=SETTINGS) as bank, bank.store.writing():
            seen.append(wanted.index(files(copy)))
        shutil.rmtree(copy)
        if seen[-4:] == [1] * 4:
            break  # the rest is indexing
    assert seen == sorted(seen), "from one step on it is done"
    assert set(seen) == {0, 1}


@pytest.mark.parametrize("work", ["rename", "merge"])
def test_killed_again_while_it_recovers(
    start: Path, tmp_path: Path, die: Die, git: Callable[..., str], work: str
) -> None:
    steps, wanted = whole(start, tmp_path, die, work)
    left: list[Path] = []
    for step in range(1, steps + 1):
        shutil.copytree(start, copy := tmp_path / f"step-{step}")
        die(copy, work, step)
        if planned(copy):
            left.append(copy)
        else:
            shutil.rmtree(copy)
            if left:
                break
    assert len(left) > 3, "a plan is there while files are changed"
    for half in (left[0], left[len(left) // 2], left[-1]):
        for step in range(1, 100):
            shutil.copytree(half, copy := tmp_path / f"again-{step}")
            die(copy, "recover", step)
            recovered = not planned(copy)
            with open_bank(copy, settings=SETTINGS) as bank, bank.store.writing():
                assert files(copy) == wanted[1], step
            if recovered:
                check(copy, wanted, git)
                break
            shutil.rmtree(copy)
        else:
            pytest.fail("it does not end")
        shutil.rmtree(copy)


@pytest.mark.parametrize("work", ["rename", "reindex"])
def test_the_next_command_says_what_it_finished(
    start: Path, tmp_path: Path, die: Die, work: str
) -> None:
    said = "writing" if work == "rename" else "indexing"
    left = cut_short(start, tmp_path, die, work, said)
    shutil.copytree(left, again := tmp_path / "again")
    for copy, json_wanted in ((left, False), (again, True)):
        says_once(copy, said, json_wanted=json_wanted)


def says_once(copy: Path, said: str, *, json_wanted: bool) -> None:
    """Ask twice; the first answer must say what was finished, as text or as JSON."""
    environment = {**os.environ, "MEMORY_BANK_MEMORY__EMBEDDER": "static"}
    line = [sys.executable, "-m", "memory_bank", "--bank", str(copy), "recall", "tantivy"]
    line += ["--json"] if json_wanted else []
    first, second = (
        forked.run(line, capture_output=True, text=True, check=True, env=environment)
        for _ in range(2)
    )
    assert "repaired" not in second.stdout + second.stderr
    if json_wanted:
        assert said in json.loads(first.stdout)["repaired"]
        assert first.stderr == ""
    else:
        assert "repaired" not in first.stdout
        assert first.stderr.startswith("repaired: ")
        assert describe_repairs([said]) in " ".join(first.stderr.split())


def cut_short(start: Path, tmp_path: Path, die: Die, work: str, what: str) -> Path:
    """Kill a work where it leaves something to be finished; return the project."""
    steps, _ = whole(start, tmp_path, die, work)
    for step in range(1, steps + 1):
        shutil.copytree(start, copy := tmp_path / f"cut-{step}")
        die(copy, work, step)
        if what == "writing" and planned(copy):
            return copy
        with closing(sqlite3.connect(copy / ".memories/.index/manifest.db")) as base:
            if what == "indexing" and _unfinished(base):
                return copy
        shutil.rmtree(copy)
    return pytest.fail("no step of it leaves anything")


def planned(project: Path) -> bool:
    """Tell whether a plan of changes was left behind."""
    return any(project.glob(".memories/.trash/.journal-*/plan.json"))


def _unfinished(base: sqlite3.Connection) -> bool:
    """Tell whether a batch was cut short."""
    sql = f"SELECT 1 FROM documents WHERE state IN ({PENDING}, {GONE})"
    return base.execute(sql).fetchone() is not None
