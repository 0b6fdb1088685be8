"""Derived files may go, or be damaged, at any time: the next question answers rightly and heals."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.memory.maintenance import compare
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.doctor import doctor
from tests.search.views import view_of
from tests.support import forked

pytestmark = pytest.mark.slow

Opening = Callable[..., Bank]

PLACES = ("harbour", "orchestra", "volcano", "library", "railway", "vineyard")


@pytest.fixture
def bank(folder: Path, opening: Opening) -> Bank:
    """Open a bank with every kind of derived file: words, whole notes and vectors."""
    for number, place in enumerate(PLACES):
        text = (
            f"# Note {number}\n\nThe kestrel hovers over the {place}.\n\n[[{(number + 1) % 6}]]\n"
        )
        (folder / f"{number}.md").write_text(text)
    opened = opening(folder, memory__embedder="static")
    opened.sync()
    right(opened)
    return opened


def right(bank: Bank) -> None:
    """Ask in every mode; each answer must be right."""
    for mode in ("lexical", "semantic", "hybrid"):
        found = recall(bank, PLACES[3], mode=mode, count_access=False)
        assert found.notes[0].path == "3.md", mode
        assert (found.mode_used, found.problem) == (mode, None)
    assert len(recall(bank, "kestrel", 100, "lexical").notes) == 6
    assert recall(bank, "links:4", mode="lexical").notes[0].path == "3.md"


def repaired(bank: Bank) -> None:
    right(bank)
    assert compare(bank)[1] == ()


def derived(folder: Path) -> Iterator[Path]:
    for file in sorted((folder / ".index").rglob("*")):
        if file.is_file() and file.name != ".gitignore":
            yield file


KINDS = (
    "manifest.db", "manifest.db-wal", "manifest.db-shm", "keyword/meta.json",
    "keyword/.managed.json", "keyword/*.term", "keyword/*.idx", "keyword/*.fast",
    "keyword/*.store", "keyword/sealed.json", "notes/meta.json", "notes/*.pos", "vectors/*/vectors.db",
    "vectors/*/vectors.db-wal", "vectors/*/*.usearch",
)  # fmt: skip


def a_file(folder: Path, kind: str) -> Path:
    """Return a derived file of a kind; skip where SQLite has put it away."""
    found = sorted((folder / ".index").glob(kind))
    if not found:
        pytest.skip(f"no {kind} here now")
    return found[0]


HARM: dict[str, Callable[[bytes], bytes | None]] = {
    "gone": lambda _: None,
    "empty": lambda _: b"",
    "cut": lambda data: data[: len(data) // 2],
    "garbage": lambda data: bytes(byte ^ 0xA5 for byte in data),
    "garbage inside": lambda data: (
        data[: len(data) // 3] + b"\xa5" * (len(data) // 3) + data[len(data) // 3 * 2 :]
    ),
}


def put(file: Path, data: bytes | None) -> None:
    """Put other bytes in a file's place, as a program that syncs folders does."""
    if data is None:
        file.unlink()
        return
    new = file.with_name("new")
    new.write_bytes(data)
    new.replace(file)


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_replaced_by_a_damaged_one_changes_no_answer_of_an_open_bank(
    bank: Bank, folder: Path, kind: str, harm: str
) -> None:
    file = a_file(folder, kind)
    put(file, HARM[harm](file.read_bytes()))
    right(bank)  # from the file that it has open, or from one made again
    bank.close()
    repaired(bank)


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_mended_when_the_bank_is_opened(
    bank: Bank, folder: Path, kind: str, harm: str
) -> None:
    bank.close()
    file = a_file(folder, kind)
    put(file, HARM[harm](file.read_bytes()))
    repaired(bank)


IN_PLACE = """
import sys
from pathlib import Path
from memory_bank.bank.bank import open_bank
from tests.program.test_damage import HARM, KINDS, repaired, right

folder, harm = Path(sys.argv[1]), sys.argv[2]

def opened():
    return open_bank(folder, settings={"memory.embedder": "static"})

def write_over(kind):
    found = sorted((folder / ".index").glob(kind))
    if found:
        data = HARM[harm](found[0].read_bytes())
        with found[0].open("r+b") as stream:
            stream.write(data)
            stream.truncate()

for kind in KINDS:
    if kind.endswith("-shm"):
        continue  # cutting memory that SQLite shares ends the process
    print(kind, flush=True)
    with opened() as bank:
        right(bank)
        write_over(kind)
    with opened() as bank:
        repaired(bank)
print("repaired")
"""


@pytest.mark.parametrize("harm", ["empty", "cut", "garbage", "garbage inside"])
def test_files_that_are_written_over_while_a_bank_is_open_are_repaired_by_the_next_one(
    bank: Bank, folder: Path, harm: str
) -> None:
    """In a process of its own: a map that is read beyond its file's end ends the process."""
    bank.close()
    words = [sys.executable, "-c", IN_PLACE, str(folder), harm]
    done = forked.run(words, capture_output=True, text=True)
    assert done.stdout.endswith("repaired\n"), f"{done.returncode}: {done.stdout}{done.stderr}"
    repaired(bank)


@pytest.mark.parametrize("harm", HARM)
def test_all_files_may_be_damaged_at_once(bank: Bank, folder: Path, harm: str) -> None:
    for file in list(derived(folder)):
        put(file, HARM[harm](file.read_bytes()))
    repaired(bank)


@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize("place", [".index", ".index/keyword", ".index/notes", ".index/vectors"])
def test_a_folder_may_be_deleted(bank: Bank, folder: Path, place: str, opened: bool) -> None:
    if not opened:
        bank.close()
    shutil.rmtree(folder / place)
    repaired(bank)


def test_two_banks_that_are_open_both_heal(bank: Bank, folder: Path, opening: Opening) -> None:
    other = opening(folder, memory__embedder="static")
    right(other)
    shutil.rmtree(folder / ".index")
    repaired(other)
    repaired(bank)
    remember(other, "A new osprey.", name="new")
    assert recall(bank, "osprey").notes[0].path == "new.md"
    assert recall(bank, "osprey", mode="semantic").notes[0].path == "new.md"
    repaired(bank)


def test_files_of_another_bank_are_not_taken_for_ones_own(
    bank: Bank, folder: Path, tmp_path: Path, opening: Opening
) -> None:
    """A folder copied with its index, and then changed: its rows are another bank's."""
    shutil.copytree(folder, copy := tmp_path / "copy")
    (copy / "3.md").write_text("An osprey.")
    other = opening(copy, memory__embedder="static")
    other.sync()
    bank.close()
    shutil.rmtree(folder / ".index/keyword")
    shutil.copytree(copy / ".index/keyword", folder / ".index/keyword")
    other.close()
    put(folder / ".index/manifest.db", None)
    repaired(bank)


@pytest.mark.parametrize("sql", [
    "DELETE FROM documents WHERE key = '3.md'",
    "DROP TABLE passages",
    "DELETE FROM meta",
    "UPDATE meta SET value = 'other' WHERE key = 'owner'",
    "UPDATE documents SET data = 'no json'",
    "UPDATE documents SET title = CAST(x'ff' AS TEXT)",
    "DELETE FROM passages WHERE document IN (SELECT id FROM documents WHERE key = '3.md')",
])  # fmt: skip
def test_rows_that_are_wrong_are_made_again(bank: Bank, sql: str) -> None:
    """Some wrongs only a check finds; a question that meets them must not fail for good."""
    view_of(bank).manifest.execute(sql)
    bank.close()
    doctor(bank)
    right(bank)


def test_suggestions_are_taken_from_rows_that_can_be_read(bank: Bank) -> None:
    view_of(bank).manifest.execute("UPDATE documents SET data = 'no json'")
    with pytest.raises(NoteNotFound) as caught:
        bank.find("22")
    assert "did you mean 2" in caught.value.hint
    repaired(bank)


def test_the_notes_are_not_touched_by_healing(bank: Bank, folder: Path) -> None:
    before = {
        file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.glob("*.md")
    }
    shutil.rmtree(folder / ".index")
    repaired(bank)
    after = {
        file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.glob("*.md")
    }
    assert after == before
