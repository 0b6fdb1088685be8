"""Files are read in other processes as they are read here, whatever becomes of those."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from memory_bank import Bank
from memory_bank.indexer import readers, reading
from memory_bank.indexer.readers import read_many
from memory_bank.indexer.reading import Asked, Found, Gone, Place, Same, Unread, read_all
from memory_bank.manifest.rows import NoteRows
from memory_bank.notes.identity import etag

Opening = Callable[..., Bank]


@pytest.fixture
def place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Two children, each asked for five files at a time."""
    monkeypatch.setattr(readers, "_children", lambda: 2)
    monkeypatch.setattr(readers, "_CHUNK", 5)
    monkeypatch.setattr(readers, "_AHEAD", 2)
    for number in range(40):
        text = (
            f"---\ntags: [a{number}]\nown: [1, 2.5, null]\n---\n# N{number}\n\n[[n1]] é 会議 ^b\n"
        )
        (folder / f"n{number}.md").write_text(text, encoding="utf-8")
    (folder / "n7.md").write_bytes(b"\0")
    (folder / "n8.md").unlink()
    return Place(str(folder), ".memories/", 1000)


@pytest.fixture
def asked(place: Place, folder: Path) -> list[Asked]:
    """Ask for all of them, one with the etag that it has."""
    same = etag((folder / "n9.md").read_bytes())
    return [Asked(f"n{n}.md", same if n == 9 else "", 1e9) for n in range(40)]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Collect the processes that are started."""
    found: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def noting(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        found.append(start(*words, **options))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", noting)
    return found


def unstamped(found: Iterable[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Leave out stamps: whether one can be trusted depends on the moment."""
    return [(path, one if isinstance(one, Gone) else one._replace(stamp=())) for path, one in found]  # type: ignore[arg-type]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave all to the children: these files are read here before a child has started."""
    monkeypatch.setattr(readers._Chunk, "taken", lambda _: False)


@pytest.mark.usefixtures("patient")
def test_a_child_reads_as_we_do(
    place: Place, asked: list[Asked], started: list[subprocess.Popen[bytes]]
) -> None:
    (Path(place.root) / "n10.md").write_text("x" * 1001)
    found = list(read_many(place, asked))
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)
    assert unstamped(found) == unstamped(read_all(place, asked))
    kinds = {path: type(one) for path, one in found}
    assert (kinds["n7.md"], kinds["n8.md"], kinds["n9.md"]) == (Unread, Gone, Same)
    assert (kinds["n10.md"], kinds["n11.md"]) == (Unread, NoteRows)


def test_who_would_wait_for_a_child_reads_as_well(
    place: Place, asked: list[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    helped = threading.Event()
    ask = readers._ask

    def slow(free: SimpleQueue[Any], files: Sequence[Asked]) -> bytes:
        assert helped.wait(30)
        return ask(free, files)

    def here(place: Place, files: Sequence[Asked]) -> Generator[tuple[str, Found]]:
        helped.set()
        return read_all(place, files)

    monkeypatch.setattr(readers, "_ask", slow)
    monkeypatch.setattr(readers, "read_all", here)
    found = list(read_many(place, asked))
    assert helped.is_set()
    assert unstamped(found) == unstamped(read_all(place, asked))


@pytest.mark.usefixtures("patient")
def test_files_of_a_child_that_dies_are_read_here(
    place: Place,
    asked: list[Asked],
    started: list[subprocess.Popen[bytes]],
) -> None:
    with closing(read_many(place, asked)) as reading:
        found = [next(reading)]
        started[0].kill()
        started[1].kill()
        found += reading
    assert [path for path, _ in found] == [one.path for one in asked]
    assert sum(isinstance(one, NoteRows) for _, one in found) == 37


@pytest.mark.parametrize("program", ["/nonexistent/python", "true"])
def test_without_children_files_are_read_here(
    place: Place, asked: list[Asked], monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    assert len(list(read_many(place, asked))) == 40


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("printed", ["x", "eight by" * 30])
def test_a_child_whose_python_prints_at_its_start_is_not_listened_to(
    place: Place,
    asked: list[Asked],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    printed: str,
) -> None:
    customised = tmp_path / "customised"
    customised.mkdir()
    (customised / "sitecustomize.py").write_text(f"print({printed!r}, end='')")
    monkeypatch.setenv("PYTHONPATH", str(customised))
    found = list(read_many(place, asked))
    assert unstamped(found) == unstamped(read_all(place, asked))


def test_a_reading_that_is_left_ends_its_children(
    place: Place, asked: list[Asked], started: list[subprocess.Popen[bytes]]
) -> None:
    with closing(read_many(place, asked)) as reading:
        next(reading)
    assert [process.returncode is None for process in started] == [False, False]


def test_a_program_that_embeds_python_is_not_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/editor")
    assert readers._children() == 0
    monkeypatch.setattr(sys, "executable", None)
    assert readers._children() == 0


def test_an_index_made_by_children_is_the_same(
    place: Place, folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_bank.actions.upkeep import compare

    monkeypatch.setattr(reading, "MANY", 5)
    bank = opening(folder)
    report = bank.sync()
    assert (report.indexed, report.unindexed) == (38, 1)
    monkeypatch.setattr(reading, "MANY", 1000)
    assert compare(bank).differences == ()


def test_a_script_without_a_main_guard_is_not_run_twice(folder: Path, tmp_path: Path) -> None:
    """What `multiprocessing` would do to it."""
    for number in range(450):
        (folder / f"n{number}.md").write_text(f"kestrel{number}")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom memory_bank import open_bank, recall\n"
        "from memory_bank.indexer import readers\nreaders._children = lambda: 2\n"
        "print('once')\n"
        "with open_bank(sys.argv[1], settings={'memory.embedder': 'none'}) as bank:\n"
        "    print(bank.sync().indexed, recall(bank, 'kestrel7').notes[0].path)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), str(folder)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("once\n450 n7.md\n", "")
