"""One bank for all requests of a front-end, opened by the first that asks."""

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from contextvars import copy_context
from pathlib import Path
from threading import Thread

import pytest

from memory_bank.bank.setup import init
from memory_bank.base import file_watches
from memory_bank.base.errors import NoBank
from memory_bank.frontends.serving.shared_bank import Cancelled, SharedBank, reporting_to, tell
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes
from memory_bank.notes import roots
from memory_bank.notes.storage import files


def test_all_requests_have_the_same_bank(project: Path) -> None:
    with closing(SharedBank(str(project))) as shared, shared.another() as other:
        assert shared.bank() is shared.bank()
        assert other is not shared.bank()
        assert list_notes(other).result_count == list_notes(shared.bank()).result_count == 3


def test_a_bank_that_is_made_later_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(SharedBank()) as shared:
        with pytest.raises(NoBank):
            shared.bank()
        init()
        assert list_notes(shared.bank()).result_count == 0


def test_a_working_directory_that_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with (
        closing(SharedBank()) as shared,
        pytest.raises(NoBank, match="working directory no longer exists"),
    ):
        shared.bank()


def test_a_repair_by_any_bank_is_named_once_also_when_that_is_closed(project: Path) -> None:
    notes = project / ".memories"
    with closing(SharedBank(str(project))) as shared:
        for number in range(2):
            recall(shared.bank(), "tantivy")
            (notes / f".trash/.journal-{number:012d}").mkdir(parents=True)
            with shared.another() as other:
                list_notes(other)
            del other
            (notes / f".trash/.journal-1{number:011d}").mkdir(parents=True)
            list_notes(shared.bank())
            assert shared.repairs.take() == ["writing"]
            assert shared.repairs.take() == []


def test_each_request_is_told_of_its_own_progress(project: Path) -> None:
    told: dict[str, list[str]] = {"first": [], "second": []}
    with closing(SharedBank(str(project))) as shared:

        def ask(who: str) -> None:
            with reporting_to(lambda what, done, total: told[who].append(what)):
                recall(shared.bank(), "tantivy", count_access=False)

        asked = [threading.Thread(target=ask, args=(who,)) for who in told]
        asked[0].start()
        asked[0].join(60)
        assert "indexing" in told["first"]
        assert told["second"] == []
        told["first"].clear()
        (project / ".memories/new.md").write_text("# New\n")
        asked[1].start()
        asked[1].join(60)
    assert "indexing" in told["second"]
    assert told["first"] == []


def test_a_cancelled_request_stops_and_the_next_one_is_answered(project: Path) -> None:
    def cancel(what: str, done: int, total: int) -> None:
        raise Cancelled

    with closing(SharedBank(str(project))) as shared:
        with reporting_to(cancel), pytest.raises(Cancelled):
            recall(shared.bank(), "tantivy")
        assert recall(shared.bank(), "tantivy").notes


def test_it_rests_until_a_request_is_done(project: Path) -> None:
    with closing(SharedBank(str(project))) as shared:
        bank, begun, done = shared.bank(), threading.Event(), []

        def work() -> None:
            with bank.lock:
                begun.set()
                threading.Event().wait(0.2)
                done.append(True)

        working = threading.Thread(target=work)
        working.start()
        assert begun.wait(60)
        shared.wait(60)
        assert done
        working.join(60)
        bank.lock.release()


def test_without_a_listener_nobody_is_told() -> None:
    tell("indexing", 1, 2)


def test_the_innermost_listener_is_told() -> None:
    outer: list[tuple[str, int, int]] = []
    inner: list[tuple[str, int, int]] = []
    with reporting_to(lambda *step: outer.append(step)):
        with reporting_to(lambda *step: inner.append(step)):
            tell("indexing", 1, 2)
        tell("indexing", 2, 2)
    tell("indexing", 3, 3)
    assert inner == [("indexing", 1, 2)]
    assert outer == [("indexing", 2, 2)]


def test_a_thread_is_told_only_with_a_copy_of_the_context() -> None:
    told: list[str] = []
    with reporting_to(lambda what, done, total: told.append(what)):
        for thread in (
            Thread(target=tell, args=("without", 0, 0)),
            Thread(target=copy_context().run, args=(tell, "with", 0, 0)),
        ):
            thread.start()
            thread.join(60)
    assert told == ["with"]


def test_what_a_listener_raises_ends_the_work() -> None:
    def cancel(what: str, done: int, total: int) -> None:
        raise Cancelled

    with reporting_to(cancel), pytest.raises(Cancelled):
        tell("indexing", 1, 2)
    tell("indexing", 2, 2)


_DOORS = {
    "new": "(folder / 'new.md').write_text('a kestrelx')",
    "in a new folder": (
        "(folder / 'far/off').mkdir(parents=True); (folder / 'far/off/new.md').write_text('kestrelx')"
    ),
    "overwritten": "(folder / 'old.md').write_text('kestrelx')",
    "of another name": "(folder / 'old.txt').rename(folder / 'new.md')",
    "of a folder that was moved": "(folder / '.away').rename(folder / 'back')",
}


@pytest.mark.parametrize("code", _DOORS.values(), ids=list(_DOORS))
def test_what_another_process_writes_is_found_by_the_next_question(
    project: Path, code: str
) -> None:
    folder = project / ".memories"
    (folder / "old.md").write_text("an old text")
    (folder / "old.txt").write_text("kestrelx")
    (folder / ".away").mkdir()
    (folder / ".away/note.md").write_text("kestrelx")
    with closing(SharedBank(str(project))) as shared:
        for _ in range(3):
            assert not recall(shared.bank(), "kestrelx", mode="lexical").answered
        program = f"from pathlib import Path; folder = Path({str(folder)!r}); {code}"
        subprocess.run([sys.executable, "-c", program], check=True)
        found = recall(shared.bank(), "kestrelx", mode="lexical").notes
        assert len(found) == 1
        (folder / found[0].path).unlink()
        assert not recall(shared.bank(), "kestrelx", mode="lexical").answered


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a change at once")
def test_files_are_compared_only_after_a_change_or_a_minute(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[Path] = []
    scan = roots.scan
    monkeypatch.setattr(roots, "scan", lambda folder: scanned.append(folder) or scan(folder))

    def count_scans() -> int:
        scanned.clear()
        recall(shared.bank(), "tantivy", mode="lexical", count_access=False)
        return len(scanned)

    with closing(SharedBank(str(project))) as shared:
        for _ in range(4):
            count_scans()
        assert count_scans() == 0
        (project / ".memories/other.md").write_text("another")
        assert count_scans() == 0  # only that file is looked at
        (project / ".memories/folder").mkdir()
        assert count_scans()
        assert count_scans() == 0
        with monkeypatch.context() as later:
            later.setattr(file_watches, "_SECONDS", -1.0)
            assert count_scans()
    with closing(SharedBank(str(project))) as shared:
        monkeypatch.setattr(file_watches, "_file_system", lambda _: "nfs4")
        assert all(count_scans() for _ in range(6))


def test_an_unchanged_question_starts_no_git(
    project: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    popen = subprocess.Popen.__init__

    def start(self: object, *words: object, **options: object) -> None:
        started.append(words)
        popen(self, *words, **options)  # type: ignore[call-overload]

    def count_processes() -> int:
        started.clear()
        assert recall(shared.bank(), "tantivy", mode="lexical", count_access=False).notes
        return len(started)

    with closing(SharedBank(str(project))) as shared:
        count_processes()
        threading.Event().wait(0.3)
        count_processes()
        monkeypatch.setattr(subprocess.Popen, "__init__", start)
        assert count_processes() == 0
        git(project, "commit", "--allow-empty", "-qm", "more")
        assert count_processes()


def test_an_answer_reads_each_note_once_and_the_next_one_none(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_in, names = files.read_in, list[str]()

    def read(root: Path, path: str) -> bytes | None:
        if path != "index.md":  # which says whether the bank is a bundle
            names.append(path)
        return read_in(root, path)

    for number in range(3):
        (project / f".memories/note-{number}.md").write_text(
            "# One\n\ntantivy\n\n## Two\n\ntantivy"
        )
    with closing(SharedBank(str(project))) as shared:
        bank = shared.bank()
        threading.Event().wait(0.3)  # a younger file may change without another signature
        bank.sync()
        monkeypatch.setattr(files, "read_in", read)
        notes = [note.path for note in recall(bank, "tantivy", count_access=False).notes]
        assert len(notes) > 2
        assert sorted(names) == sorted(notes)
        recall(bank, "one tantivy", count_access=False)
        assert len(names) == len(notes)
