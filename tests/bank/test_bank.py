import os
import threading
import time
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.bank.bank import Bank as Home
from memory_bank.bank.note_files import open_history
from memory_bank.base.errors import BadInput, BadSetting, Busy, NoBank, NoteNotFound, StorageFailed
from memory_bank.base.locks import hold_lock
from memory_bank.base.paths import private_folder
from memory_bank.memory.links import ghosts
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from memory_bank.search.retrievers import vectors
from memory_bank.search.retrievers.vectors import vector_index
from tests.git.history_builder import Made, make, run
from tests.search.views import view_of

Opening = Callable[..., Bank]


def found(bank: Bank, words: str) -> list[str]:
    return [note.path for note in recall(bank, words, mode="lexical").notes]


def test_a_bank_is_opened_by_its_project_its_folder_and_from_inside(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "src")
    for path in (project, project / ".memories", str(project), None):
        with open_bank(path) as bank:
            assert bank.layout.root == (project / ".memories").resolve()
    assert Bank is Home


def test_opening_makes_nothing_and_asking_does(folder: Path, opening: Opening) -> None:
    bank = opening(folder)
    assert list(folder.iterdir()) == []
    assert recall(bank, "x").result_count == 0
    assert [path.name for path in folder.iterdir()] == [".index"]


def test_no_bank_is_no_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoBank):
        open_bank(tmp_path / "nothing")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoBank):
        open_bank()


def test_a_bank_that_goes_away_says_so_and_comes_back(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    assert found(bank, "kestrel") == ["a.md"]
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises((NoBank, StorageFailed)):
        recall(bank, "kestrel")
    assert not folder.exists(), "an empty bank in its place would be taken for it"
    folder.with_name("elsewhere").rename(folder)
    assert found(bank, "kestrel") == ["a.md"]


def test_a_closed_bank_opens_again_when_asked(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    for _ in range(2):
        assert found(bank, "kestrel") == ["a.md"]
        bank.close()


@pytest.mark.parametrize(
    "name",
    ["decisions/tantivy", "decisions/tantivy.md", "tantivy", "Tantivy over Whoosh", "4f1c9be07a52",
     "TANTIVY", " decisions/Tantivy "],
)  # fmt: skip
def test_a_note_is_found_by_what_it_is_called(bank: Bank, name: str) -> None:
    assert bank.find(name) == "decisions/tantivy.md"


def test_a_name_that_means_several_is_not_guessed(folder: Path, opening: Opening) -> None:
    for path in ("a/x.md", "b/x.md", "kestrel.md"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(path)
    bank = opening(folder)
    with pytest.raises(NoteNotFound, match="2 notes") as caught:
        bank.find("x")
    assert "a/x.md, b/x.md" in caught.value.hint
    with pytest.raises(NoteNotFound) as caught:
        bank.find("kestrels")
    assert "kestrel" in caught.value.hint
    for name in ("../x", "\udc80", "a\0", ""):
        with pytest.raises(NoteNotFound):
            bank.find(name)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("retry", "facts/retry-payments-twice.md"),
        ("RETRY-pay", "facts/retry-payments-twice.md"),
        ("facts/ret", "facts/retry-payments-twice.md"),
        ("memory://note/facts/ret", "facts/retry-payments-twice.md"),
        ("4f1c", "facts/retry-payments-twice.md"),
        ("cache", "facts/cache.md"),  # whole names come before starts
        ("cache-", "facts/cache-4f1d.md"),
    ],
)
def test_the_unique_start_of_a_name_or_an_id_is_enough(
    folder: Path, opening: Opening, name: str, path: str
) -> None:
    (folder / "facts").mkdir()
    for stem, number in (("retry-payments-twice", "4f1c9be07a52"), ("cache", "4f1d00000000")):
        (folder / f"facts/{stem}.md").write_text(f"---\nid: {number}\n---\n# Of it\n")
    (folder / "facts/cache-4f1d.md").write_text("[[retry]], [[facts/ret]]")
    bank = opening(folder)
    assert bank.find(name) == path
    assert bank.find(name, changing=True) == path
    assert [ghost.name for ghost in ghosts(bank)] == ["facts/ret", "retry"], "no link is completed"


@pytest.mark.parametrize("name", ["facts/ret.md", "facts/", "4f1", "a", "", " ", "twice"])
def test_no_note_goes_by_what_is_no_unique_start(folder: Path, opening: Opening, name: str) -> None:
    (folder / "facts").mkdir()
    for stem in ("retry-twice", "append", "archive"):
        (folder / f"facts/{stem}.md").write_text(f"---\nid: 4f1{stem}\n---\n# Of it\n")
    bank = opening(folder)
    for changing in (True, False):
        with pytest.raises(NoteNotFound):
            bank.find(name, changing=changing)


def test_a_note_goes_by_its_exact_path_however_odd(folder: Path, opening: Opening) -> None:
    duplicates = [unicodedata.normalize(form, "é.md") for form in ("NFC", "NFD")]
    for path in (*duplicates, "X.md", "x.md", "what?.md", " y.md"):
        (folder / path).write_text(path, encoding="utf-8")
    bank = opening(folder)
    for path in (*duplicates, "X.md", "x.md", "what?.md", " y.md"):
        assert bank.find(path) == path


def test_memory_that_is_turned_off_refuses_and_says_where(folder: Path, opening: Opening) -> None:
    (folder / "config.toml").write_text("[memory]\nenabled = false\n")
    bank = opening(folder)
    for ask in (lambda: recall(bank, "x"), lambda: remember(bank, "x")):
        with pytest.raises(BadInput, match="turned off") as caught:
            ask()
        assert f"{folder}/config.toml:2" in caught.value.hint


@pytest.mark.usefixtures("default_embedder")
def test_an_unknown_embedder_is_a_bad_setting_with_its_place(folder: Path) -> None:
    (folder / "config.toml").write_text('[memory]\nembedder = "magic"\n')
    with open_bank(folder) as bank, pytest.raises(BadSetting, match=r"config\.toml:2.*magic"):
        recall(bank, "x")


def test_a_note_written_by_any_door_is_found_by_the_next_query(
    folder: Path, opening: Opening
) -> None:
    first, second = opening(folder), opening(folder)
    remember(first, "The kestrel hovers.")
    assert len(found(second, "kestrel")) == 1
    (folder / "plain.md").write_text("An osprey dives.")
    assert found(first, "osprey") == found(second, "osprey") == ["plain.md"]
    os.replace(folder / "plain.md", folder / "moved.md")
    assert found(second, "osprey") == found(first, "osprey") == ["moved.md"]
    (folder / "moved.md").write_text("A merlin.")
    assert (found(first, "osprey"), found(second, "merlin")) == ([], ["moved.md"])
    (folder / "moved.md").unlink()
    assert found(first, "merlin") == found(second, "merlin") == []


def test_quick_changes_of_one_size_are_seen(folder: Path, opening: Opening) -> None:
    """Clocks tick coarsely: two writes in one tick have one stamp."""
    bank = opening(folder)
    for number in range(30):
        (folder / "a.md").write_text(f"word{number:03}x")
        assert found(bank, f"word{number:03}x") == ["a.md"], number


def test_threads_may_share_a_bank(folder: Path, opening: Opening) -> None:
    bank = opening(folder)

    def work(number: int) -> int:
        path = remember(bank, f"Note {number} of threadword{number}.").path
        assert found(bank, f"threadword{number}")[0] == path
        return show(bank, path).access_count

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(24)))
    assert len(list(folder.rglob("*.md"))) == 24


def test_a_query_answers_while_another_process_indexes(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    assert found(bank, "kestrel") == ["a.md"]
    monkeypatch.setattr("memory_bank.search.index._WAIT", 0.1)
    (folder / "b.md").write_text("kestrel")
    with hold_lock(private_folder(folder / ".index")):
        answer = recall(bank, "kestrel", mode="lexical")
        assert [note.path for note in answer.notes] == ["a.md"]
        assert answer.problem is not None
        assert "another process" in answer.problem
        with pytest.raises(Busy):
            bank.catch_up(insist=True)
    answer = recall(bank, "kestrel", mode="lexical")
    assert answer.result_count == 2
    assert answer.problem is None


def test_a_question_waits_longer_where_there_is_nothing_to_answer_from(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_bank.search.index._WAIT", 0.1)
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    view_of(bank)  # made, and nothing in it yet
    with ThreadPoolExecutor(1) as other:
        with hold_lock(private_folder(folder / ".index")):
            answer = other.submit(found, bank, "kestrel")
            time.sleep(0.5)
            assert not answer.done()
        assert answer.result() == ["a.md"]
    assert bank.problem == ""


def test_an_answer_from_an_index_that_another_process_makes_anew_says_so(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").write_text("kestrel")
    bank, other = opening(folder), opening(folder)
    bank.catch_up()
    other._index.discard()
    view_of(other)  # made, and nothing in it yet
    monkeypatch.setattr("memory_bank.search.index.WAIT", 0.1)
    with hold_lock(private_folder(folder / ".index")):
        bank.read(lambda view: None)
    assert bank.take_notices() == [open_index.BUSY]


@pytest.mark.parametrize("version", ["TEXT_VERSION", "VECTORS_VERSION"])
def test_vectors_of_a_former_version_are_made_anew_by_a_question(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    (folder / "a.md").write_text("kestrel")
    with monkeypatch.context() as former:
        for module in (vector_index, vectors):
            former.setattr(module, version, 1)
        bank = opening(folder, memory__embedder="static")
        time.sleep(0.2)  # a younger stamp is not trusted: the file would be looked into again
        bank.sync()
        assert recall(bank, "kestrel").mode_used == "hybrid"
        bank.close()
    assert recall(opening(folder, memory__embedder="static"), "kestrel").mode_used == "hybrid"


def test_a_query_does_not_wait_for_a_writer(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    release = threading.Event()

    def hold() -> None:
        with hold_lock(folder):
            release.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert found(bank, "kestrel") == ["a.md"]
    assert thread.is_alive(), "it still writes"
    release.set()
    thread.join()


def test_what_a_killed_writer_left_goes_with_a_query(folder: Path, opening: Opening) -> None:
    left = folder / ".mb-0123456789ab"
    left.write_bytes(b"half a note")
    bank = opening(folder)
    recall(bank, "x")
    assert left.exists(), "its writer may be at work"
    hour_ago = time.time() - 3600
    os.utime(left, (hour_ago, hour_ago))
    recall(bank, "x")
    assert not left.exists()


def test_an_index_that_a_repository_brings_leads_nowhere(
    folder: Path, tmp_path: Path, opening: Opening
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.txt").write_text("mine")
    (folder / ".index/vectors").mkdir(parents=True)
    for name in ("keyword", "notes", "manifest.db", "index-id", "vectors/x"):
        (folder / ".index" / name).symlink_to(outside)
    (folder / "a.md").write_text("kestrel")
    assert found(opening(folder), "kestrel") == ["a.md"]
    assert [path.name for path in outside.iterdir()] == ["mine.txt"]


def test_a_secret_in_a_message_of_a_commit_is_not_kept(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0fR2uLk"
    tree = make(tmp_path / "tree", [Made({"a": "1"})])
    message = f"Rotate\n\nThe old token {token} is void.\n"
    run(tree, "commit", "-q", "--allow-empty", "-F", "-", given=message.encode())
    history = open_history(tree)
    at = history.at(run(tree, "rev-parse", "HEAD").strip())
    assert at is not None
    assert next(iter(at.commits())).body == "The old token [redacted] is void."
    history.close()
    assert token.encode() not in history.file.read_bytes()
