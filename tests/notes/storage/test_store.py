import os
import shutil
import threading
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.base import paths
from memory_bank.base.errors import (
    BadInput,
    BadName,
    Conflict,
    NoteExists,
    NoteNotFound,
    StorageFailed,
    UnreadableNote,
)
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage import files
from memory_bank.notes.storage.journal import JournalEntry
from memory_bank.notes.storage.store import Store
from tests.support.files import write_files


@pytest.fixture
def store(folder: Path) -> Store:
    return Store(paths.layout_at(folder))


def test_a_note_is_created_once(store: Store, folder: Path) -> None:
    found = store.create("decisions/a.md", "text é\n")
    assert found == hash_bytes("text é\n".encode())
    assert (folder / "decisions/a.md").read_text(encoding="utf-8") == "text é\n"
    with pytest.raises(NoteExists):
        store.create("decisions/a.md", "other")
    assert store.read("decisions/a.md").text == "text é\n"


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("Note.md", "note.md"),
        ("folder/x.md", "Folder/X.md"),
        (unicodedata.normalize("NFD", "Fähre.md"), unicodedata.normalize("NFC", "fähre.md")),
        (unicodedata.normalize("NFD", "Bücher/x.md"), "bücher/x.md"),
    ],
)
def test_names_that_some_system_takes_for_one_are_taken(
    store: Store, folder: Path, there: str, new: str
) -> None:
    (folder / there).parent.mkdir(exist_ok=True)
    (folder / there).write_text("old")
    assert store.exists(new)
    with pytest.raises(NoteExists):
        store.create(new, "new")
    assert [path.read_text() for path in folder.rglob("*.md")] == ["old"]


def test_a_name_is_free_in_a_folder_that_differs_in_case(store: Store, folder: Path) -> None:
    (folder / "Folder").mkdir()
    assert not store.exists("folder/x.md")
    assert not store.exists("nowhere/x.md")


@pytest.mark.parametrize("text", ["a\0b", "a\udc80b"])
def test_text_that_could_not_be_read_again_is_not_written(
    store: Store, folder: Path, text: str
) -> None:
    with pytest.raises(BadInput):
        store.create("a.md", text)
    store.create("b.md", "b")
    with pytest.raises(BadInput):
        store.change("b.md", lambda _: text)
    assert {path.name: path.read_text() for path in folder.glob("*.md")} == {"b.md": "b"}


def test_a_change_needs_the_etag_it_was_made_for(store: Store, folder: Path) -> None:
    first = store.create("a.md", "one\n")
    second = store.change("a.md", lambda text: text + "two\n", first)
    assert second == hash_bytes(b"one\ntwo\n")
    with pytest.raises(Conflict):
        store.change("a.md", lambda text: text + "three\n", first)
    with pytest.raises(NoteExists):
        store.change("a.md", lambda _: "new", files.ABSENT)
    with pytest.raises(NoteNotFound):
        store.change("nothing.md", lambda text: text)
    assert (folder / "a.md").read_bytes() == b"one\ntwo\n"


def test_a_change_that_changes_nothing_does_not_touch_the_file(store: Store, folder: Path) -> None:
    store.create("a.md", "one\n")
    before = (folder / "a.md").stat()
    store.change("a.md", lambda text: text)
    after = (folder / "a.md").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_byte_order_mark_and_line_ends_stay(store: Store, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    store.change("a.md", lambda text: text.replace("two", "2"))
    assert (folder / "a.md").read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n"


@pytest.mark.parametrize("data", [b"caf\xe9\n", "utf-16 é".encode("utf-16"), b"a\0b"])
def test_a_file_that_is_not_utf8_is_not_rewritten(store: Store, folder: Path, data: bytes) -> None:
    (folder / "a.md").write_bytes(data)
    with pytest.raises(UnreadableNote):
        store.change("a.md", lambda text: text + "more")
    assert (folder / "a.md").read_bytes() == data


def test_an_edit_that_fails_changes_nothing(store: Store, folder: Path) -> None:
    store.create("a.md", "one")

    def fail(text: str) -> str:
        raise BadInput(text)

    with pytest.raises(BadInput):
        store.change("a.md", fail)
    assert os.listdir(folder) == ["a.md"]
    store.change("a.md", lambda _: "the lock is free")


def test_a_thread_that_writes_may_write_inside(store: Store) -> None:
    with store.writing(), store.writing():
        store.create("a.md", "a")
    assert store.read_bytes("a.md") == b"a"


def test_another_thread_waits_for_its_turn(store: Store) -> None:
    order: list[str] = []

    def late() -> None:
        with store.writing():
            order.append("second")

    with store.writing():
        thread = threading.Thread(target=late)
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_threads_lose_no_change(store: Store) -> None:
    store.create("a.md", "")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: store.change("a.md", lambda t: f"{t}{n}\n"), range(100)))
    assert sorted(map(int, store.read_bytes("a.md").split())) == list(range(100))


def test_a_deleted_note_comes_back_as_it_was(store: Store, folder: Path) -> None:
    data = b"\xef\xbb\xbf---\r\nodd: [\r\n---\r\n\xff"
    (folder / "deep").mkdir()
    (folder / "deep/a.md").write_bytes(data)
    trashed = store.delete("deep/a.md")
    assert not (folder / "deep/a.md").exists()
    assert store.list_trashed() == [trashed]
    assert (folder / ".trash/.gitignore").read_text() == "*\n"
    assert store.restore("deep/a") == "deep/a.md"
    assert (folder / "deep/a.md").read_bytes() == data
    assert store.list_trashed() == []


def test_a_delete_needs_the_etag_it_was_made_for(store: Store) -> None:
    found = store.create("a.md", "one")
    for wrong in ("0" * 64, files.ABSENT):
        with pytest.raises((Conflict, NoteExists)):
            store.delete("a.md", wrong)
    store.delete("a.md", found)
    with pytest.raises(NoteNotFound):
        store.delete("a.md")


def test_the_newest_of_a_name_comes_back_first(store: Store) -> None:
    for text in ("one", "two", "three"):
        store.create("a.md", text)
        store.delete("a.md")
    assert [store.restore("a.md", f"{number}.md") for number in range(3)] == [
        "0.md", "1.md", "2.md",
    ]  # fmt: skip
    assert [store.read_bytes(f"{number}.md") for number in range(3)] == [b"three", b"two", b"one"]
    with pytest.raises(NoteNotFound):
        store.restore("a.md")


def test_an_older_version_comes_back_when_it_is_named(store: Store) -> None:
    gone = []
    for text in ("one", "two"):
        store.create("a.md", text)
        gone.append(store.delete("a.md"))
    assert store.choose_trashed("a.md") == gone[1]
    with pytest.raises(Conflict, match="2 versions of a"):
        store.restore("a.md", version="20")
    with pytest.raises(NoteNotFound, match="no version '19'"):
        store.restore("a.md", version="19")
    store.restore("a.md", version=gone[0].version)
    assert store.read_bytes("a.md") == b"one"
    assert store.list_trashed() == [gone[1]]


def test_emptying_the_trash_leaves_what_is_young_or_foreign(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/private.md").write_text("private")
    for text in ("old", "young"):
        store.create("deep/a.md", text)
        store.delete("deep/a.md")
    trash = folder / ".trash"
    young, before = store.list_trashed()
    old = before._replace(version="20200101000000000000")
    (trash / before.version).rename(trash / old.version)
    (trash / old.version / "link").symlink_to(tmp_path / "outside")
    foreign = ("obsidian.md", "folder/note.md", ".journal-0123456789ab/new-0")
    write_files(trash, dict.fromkeys(foreign, "foreign"))
    limit = datetime(2021, 1, 1, tzinfo=UTC)
    assert store.list_emptied(limit) == store.list_emptied()[1:] == [old]
    shutil.rmtree(trash / ".journal-0123456789ab")  # it would be undone by the next writer
    assert store.empty_trash(limit) == [old]
    assert store.empty_trash(limit) == []
    assert store.empty_trash() == [young]
    assert sorted(os.listdir(trash)) == [".gitignore", "folder", "obsidian.md"]
    assert (tmp_path / "outside/private.md").exists()


def test_a_restore_overwrites_nothing(store: Store) -> None:
    store.create("a.md", "old")
    store.delete("a.md")
    store.create("A.md", "new")
    with pytest.raises(NoteExists):
        store.restore("a.md")
    assert store.read_bytes("A.md") == b"new"
    assert store.restore("a.md", "b.md") == "b.md"


def test_a_note_of_an_odd_name_can_be_deleted_and_restored(store: Store, folder: Path) -> None:
    """Names that we would not give are read, so they must come back, too."""
    for name in ("nul.md", "what?.md", "trailing .md", unicodedata.normalize("NFD", "é.md")):
        (folder / name).write_text(name, encoding="utf-8")
        store.delete(name)
        assert store.restore(name) == name
        assert (folder / name).read_text(encoding="utf-8") == name


def test_the_trash_shows_no_way_out(store: Store, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.md").write_text("private")
    (folder / ".trash/20260101").mkdir(parents=True)
    (folder / ".trash/20260102").symlink_to(outside)
    (folder / ".trash/20260101/link.md").symlink_to(outside / "private.md")
    (folder / ".trash/20260101/below").symlink_to(outside)
    assert store.list_trashed() == []
    for name in ("private", "link", "below/private"):
        with pytest.raises(NoteNotFound):
            store.restore(name)


def test_a_trash_that_leads_out_of_the_bank_is_refused(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (folder / ".trash").symlink_to(tmp_path / "outside")
    store.create("a.md", "a")
    with pytest.raises(StorageFailed, match="symbolic link"):
        store.delete("a.md")
    with pytest.raises(StorageFailed, match="symbolic link"), store.writing():
        store.apply([JournalEntry("a.md", b"b", hash_bytes(b"a"))])
    assert store.read_bytes("a.md") == b"a"
    assert os.listdir(tmp_path / "outside") == []


@pytest.mark.parametrize("path", ["../out.md", "away/out.md", "/tmp/out.md"])
def test_nothing_is_written_outside_the_bank(
    store: Store, folder: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "outside").mkdir()
    (folder / "away").symlink_to(tmp_path / "outside")
    for write in (
        lambda: store.create(path, "x"),
        lambda: store.change(path, lambda _: "x"),
        lambda: store.delete(path),
        lambda: store.apply([JournalEntry(path, b"x", files.ABSENT)]),
        lambda: store.read_bytes(path),
    ):
        with pytest.raises(BadName):
            write()


def test_a_copy_is_kept_before_a_note_is_rewritten(store: Store, folder: Path) -> None:
    store.create("a.md", "old")
    kept = store.keep("a.md")
    assert (folder / kept.place).read_text() == "old"
    assert store.read_bytes("a.md") == b"old"


def test_what_killed_writers_left_is_swept_and_what_others_write_is_not(
    store: Store, folder: Path
) -> None:
    (folder / "deep").mkdir()
    old, young = folder / "deep/.mb-old", folder / ".mb-young"
    for file in (old, young):
        file.write_bytes(b"half")
    hour_ago = time.time() - 3600
    os.utime(old, (hour_ago, hour_ago))
    left = store.scan().leftover
    assert sorted(left) == [".mb-young", "deep/.mb-old"]
    store.sweep([*left, "deep/.mb-gone-meanwhile"])
    assert not old.exists()
    assert young.exists()
