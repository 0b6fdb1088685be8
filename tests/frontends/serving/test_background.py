"""A front-end without a protocol: it shares a bank, hears of changes, shows progress, and stops."""

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.bank.setup import init
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.memory.maintenance import ChangedPaths
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.search.manifest import document_rows
from tests.support.waiting import until


class FrontEnd:
    """What any front-end does with the package."""

    def __init__(self, folder: Path) -> None:
        self.shared = SharedBank(str(folder))
        self.background = Background(self.shared)
        self.heard: queue.Queue[ChangedPaths] = queue.Queue()
        self.background.listen(self.heard.put)

    def start(self) -> None:
        """Start and wait until the files are watched."""
        self.background.start()
        assert self.heard.get(timeout=60) == ChangedPaths()


@pytest.fixture
def front_end(project: Path) -> Iterator[FrontEnd]:
    made = FrontEnd(project)
    with closing(made.shared), closing(made.background):
        yield made


def test_a_change_on_disk_is_found_and_all_listeners_are_told(
    front_end: FrontEnd, project: Path
) -> None:
    other: queue.Queue[ChangedPaths] = queue.Queue()
    front_end.background.listen(other.put)
    front_end.start()
    (project / ".memories/facts/new.md").write_text("# Kestrels\n\nThey hover.\n")
    assert front_end.heard.get(timeout=60) == ChangedPaths(added=("facts/new.md",))
    assert [other.get(timeout=60) for _ in "12"][1].added == ("facts/new.md",)
    assert recall(front_end.shared.bank(), "kestrels").notes[0].path == "facts/new.md"


def test_a_change_by_a_request_is_told(front_end: FrontEnd) -> None:
    front_end.start()
    done = remember(front_end.shared.bank(), "# Herons\n\nThey stand.\n")
    assert front_end.heard.get(timeout=60) == ChangedPaths(added=(done.path,))


def test_vectors_are_made_in_the_background(front_end: FrontEnd, project: Path) -> None:
    front_end.start()
    text = "\n\n".join(f"# Section {number}\n\nIt is about {number}." for number in range(60))
    (project / ".memories/facts/long.md").write_text(text)
    front_end.heard.get(timeout=60)
    until(lambda: not recall(front_end.shared.bank(), "section", count_access=False).problem)


def test_starting_twice_is_starting_once(front_end: FrontEnd) -> None:
    front_end.start()
    before = threading.active_count()
    front_end.background.start()
    assert threading.active_count() == before


def test_what_must_be_loaded_first_is_loaded_in_the_thread(project: Path) -> None:
    where: list[threading.Thread] = []
    ready = threading.Event()
    with closing(SharedBank(str(project))) as shared:
        prepare = lambda: where.append(threading.current_thread())  # noqa: E731
        with closing(Background(shared, prepare)) as background:
            background.listen(lambda changed: ready.set())
            background.start()
            assert ready.wait(60)
    assert [thread.name for thread in where] == ["background"]


def test_closing_leaves_no_thread_and_no_news(front_end: FrontEnd, project: Path) -> None:
    before = set(threading.enumerate())
    front_end.start()
    assert set(threading.enumerate()) > before
    front_end.background.close()
    assert set(threading.enumerate()) == before
    (project / ".memories/facts/new.md").write_text("# New\n")
    front_end.background.start()  # closed for good
    assert set(threading.enumerate()) == before
    assert front_end.heard.empty()
    assert recall(front_end.shared.bank(), "new").notes  # requests go on without it


def test_closing_stops_a_first_index_after_its_batch(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\nIt is about {number}.\n")
    monkeypatch.setattr("memory_bank.search.index.BATCH", 2)
    indexed = threading.Event()
    go_on = Background._check_stop

    def until_closed(self: Background, *step: Any) -> None:
        indexed.set()
        self._stop.wait(60)
        go_on(self, *step)

    monkeypatch.setattr(Background, "_check_stop", until_closed)
    made = FrontEnd(folder)
    with closing(made.shared), closing(made.background):
        made.background.start()
        assert indexed.wait(60)
    assert not [one for one in threading.enumerate() if one.name == "background"]
    assert made.heard.empty()
    with open_bank(folder) as bank:
        assert 0 < len(bank.read(lambda view: document_rows.all_keys(view.manifest))) < 12


def test_a_bank_that_is_made_later_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("memory_bank.frontends.serving.serving_background._RETRY", 0.05)
    monkeypatch.chdir(tmp_path)
    shared = SharedBank()
    ready = threading.Event()
    with closing(shared), closing(Background(shared)) as background:
        background.listen(lambda changed: ready.set())
        background.start()
        time.sleep(0.3)
        assert not ready.is_set()
        init()
        assert ready.wait(60)
    assert "no_bank" in caplog.text
