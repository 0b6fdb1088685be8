import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank import copies
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.bank.revisions import bank_at
from memory_bank.base.errors import BadInput, NoteReadOnly
from memory_bank.base.filenames import TEMPORARY_PREFIX
from memory_bank.git.objects import STAGED
from memory_bank.memory.forget import forget
from memory_bank.memory.remember import remember, session_note
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes
from memory_bank.search.embedders import static
from memory_bank.sessions.sessions import start_session
from tests.conftest import run_git as git
from tests.git.history_builder import commit_all, write_object, write_tree
from tests.support.files import write_files


@pytest.fixture
def history(project: Path) -> Path:
    """Change the bank in two commits after v1.0."""
    git(project, "tag", "v1.0")
    bank = project / ".memories"
    (bank / "facts/bm25.md").write_text("# BM25\n\nBM25 was replaced by a reranker.\n")
    (bank / "facts/rerank.md").write_text("# Reranker\n\nA cross-encoder sorts the candidates.\n")
    commit_all(project, "Two")
    git(project, "mv", ".memories/decisions/whoosh.md", ".memories/decisions/old.md")
    git(project, "commit", "-q", "-m", "Three")
    return project


@pytest.fixture
def copies_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let copies of few files stay, too."""
    monkeypatch.setattr(copies, "FEW", 0)


def texts(bank: Bank, query: str) -> dict[str, str]:
    return {note.path: note.content for note in recall(bank, query, count_access=False).notes}


def test_a_bank_has_the_notes_of_the_revision(history: Path) -> None:
    with open_bank(history) as bank:
        for rev in ("v1.0", "HEAD", "HEAD~1", "v1.0"):
            with bank_at(bank, rev) as then:
                listed = git(history, "ls-tree", "-r", "--name-only", rev, ".memories").split()
                wanted = {one.removeprefix(".memories/") for one in listed if one.endswith(".md")}
                assert set(then.store.paths()) == wanted
                for path in wanted:
                    text = git(history, "show", f"{rev}:.memories/{path}")
                    assert then.store.read_bytes(path).decode() == text
                assert ("reranker" in texts(then, "bm25")["facts/bm25.md"]) == (rev != "v1.0")


def test_what_is_staged_is_a_revision(history: Path) -> None:
    note = history / ".memories/facts/bm25.md"
    note.write_text("# BM25\n\nIt is staged.\n")
    git(history, "add", "-A")
    note.write_text("# BM25\n\nIt is in the work tree.\n")
    with open_bank(history) as bank, bank_at(bank, STAGED) as then:
        assert "staged" in texts(then, "bm25")["facts/bm25.md"]


def test_a_copy_can_not_be_changed(history: Path) -> None:
    with open_bank(history) as bank, bank_at(bank, "v1.0") as then, pytest.raises(NoteReadOnly):
        remember(then, "A new text about nothing that is known")


def test_a_revision_before_the_bank_is_refused_or_empty(project: Path) -> None:
    git(project, "checkout", "-q", "--orphan", "before")
    git(project, "rm", "-q", "-r", "--cached", ".memories")
    git(project, "commit", "-q", "-m", "No bank")
    git(project, "checkout", "-q", "-f", "main")
    with open_bank(project) as bank:
        with (
            pytest.raises(BadInput, match="no note was in it at before") as caught,
            bank_at(bank, "before", required=True),
        ):
            pass
        assert "first commit is" in caught.value.hint
        with bank_at(bank, "before") as then:
            assert texts(then, "bm25") == {}


class Embedded:
    """Counts the texts that are embedded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        embed = static.Static.embed

        def counted(own: Any, texts: Sequence[str], kind: Any) -> Any:
            self.texts += [text for text in texts if kind == "passage"]
            return embed(own, texts, kind)

        monkeypatch.setattr(static.Static, "embed", counted)

    def taken(self) -> list[str]:
        found, self.texts = self.texts, []
        return found


@pytest.mark.usefixtures("copies_stay")
def test_no_text_is_embedded_twice(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = Embedded(monkeypatch)
    with open_bank(history) as bank:
        bank.sync()
        assert len(embedded.taken()) > 4
        with bank_at(bank, "HEAD"):
            assert embedded.taken() == []  # the bank has them all
        with bank_at(bank, "v1.0"):
            assert [text[:4] for text in embedded.taken()] == ["BM25"]  # the former text
        with bank_at(bank, "HEAD"), bank_at(bank, "v1.0"), bank_at(bank, "HEAD~1"):
            assert embedded.taken() == []
        with bank_at(bank, "v1.0") as then:
            found = recall(then, "rarity of a word", 1, "semantic", count_access=False)
            assert found.notes[0].path == "facts/bm25.md"


@pytest.mark.usefixtures("copies_stay")
def test_copies_lend_each_other_vectors_of_a_bank_without_an_index(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = Embedded(monkeypatch)
    with open_bank(history) as bank:
        with bank_at(bank, "v1.0"):
            assert len(embedded.taken()) == 4
        with bank_at(bank, "v1.0"), bank_at(bank, "HEAD"):
            assert sorted(text[:4] for text in embedded.taken()) == ["BM25", "Rera"]


def test_undated_notes_have_the_dates_of_their_commits_up_to_then(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = project / ".memories/facts/bm25.md"
    for day in ("01", "02"):
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{role}_DATE", f"2030-01-{day}T00:00:00Z")
        note.write_text(f"# BM25\n\nBM25 on day {day}.\n")
        (project / f".memories/facts/{day}.md").write_text(f"# Day {day}\n\nBM25 again.\n")
        commit_all(project, day)
    note.write_text("# BM25\n\nBM25 is staged.\n")
    (project / ".memories/facts/03.md").write_text("# Day 03\n\nBM25 is staged.\n")
    git(project, "add", "-A")

    def dates(rev: str) -> dict[str, tuple[str, str]]:
        with open_bank(project) as bank, bank_at(bank, rev) as then:
            return {
                one.path: (one.created_at[:10], one.updated_at[:10])
                for one in list_notes(then, 10).notes
                if one.path.startswith("facts/0")
            }

    assert dates("HEAD~1") == {"facts/01.md": ("2030-01-01", "2030-01-01")}
    assert dates("HEAD") == {
        "facts/01.md": ("2030-01-01", "2030-01-01"),
        "facts/02.md": ("2030-01-02", "2030-01-02"),
    }
    assert dates(STAGED)["facts/03.md"] == ("2030-01-02", "2030-01-02")  # that of HEAD
    assert dates("HEAD~1") == {"facts/01.md": ("2030-01-01", "2030-01-01")}


def test_included_files_and_settings_are_those_of_the_revision(project: Path) -> None:
    config, adr = project / ".memories/config.toml", project / "docs/adr"
    adr.mkdir(parents=True)
    (adr / "0001-rust.md").write_text("# Rust\n\nWe write it in Rust.\n")
    (project / "docs/other.md").write_text("# Rust elsewhere\n")
    config.write_text(
        '[memory]\ninclude = ["docs/adr"]\nembedder = "static"\n[search]\nlimit = 7\n'
    )
    commit_all(project, "Include")
    (adr / "0001-rust.md").write_text("# Rust\n\nWe wrote it anew in Go.\n")
    config.write_text("[search]\nlimit = 3\n")
    git(project, "commit", "-q", "-a", "-m", "Exclude")
    with open_bank(project) as bank:
        with bank_at(bank, "HEAD~1") as then:
            assert texts(then, "rust")["docs/adr/0001-rust.md"].endswith("in Rust.")
            assert "docs/other.md" not in texts(then, "rust elsewhere")
            assert then.settings.search.limit == 7
            assert then.settings.memory.embedder == bank.settings.memory.embedder
            assert then.layout.project_has("docs/other.md")
            assert then.layout.project_has("docs/adr")
            assert not then.layout.project_has("docs/adr/0002.md")
        with bank_at(bank, "HEAD") as then:
            assert "docs/adr/0001-rust.md" not in texts(then, "rust")
            assert then.settings.search.limit == 3


def test_a_hidden_folder_or_file_that_is_named_is_included(project: Path) -> None:
    paths = (".decisions/0001-rust.md", ".decisions/.drafts/0002-go.md", ".rules.md")
    write_files(project, dict.fromkeys(paths, "# Rust\n\nWe write it in Rust.\n"))
    config = project / ".memories/config.toml"
    config.write_text('[memory]\ninclude = [".decisions", ".rules.md"]\nembedder = "static"\n')
    commit_all(project, "Include")
    with open_bank(project) as bank, bank_at(bank, "HEAD") as then:
        found = {path for path in texts(then, "rust") if path.startswith(".")}
    assert found == {".decisions/0001-rust.md", ".rules.md"}


def test_settings_that_can_not_be_read_are_those_of_today(project: Path) -> None:
    config = project / ".memories/config.toml"
    config.write_text("[search\nlimit = ")
    commit_all(project, "Broken")
    config.write_text("[search]\nlimit = 4\n")
    with open_bank(project) as bank, bank_at(bank, "HEAD") as then:
        assert then.settings.search.limit == 4
        assert then.take_notices() == [
            "the settings of that revision can't be read: those of today are used"
        ]


def test_what_can_be_no_note_is_listed(project: Path) -> None:
    notes = project / ".memories"
    (notes / "link.md").symlink_to("/etc/passwd")
    (notes / "UPPER.MD").write_text("# Upper\n")
    (notes / "large.md").write_text("x" * 3000)
    deep = "d/" * 600
    (notes / ".hidden").mkdir()
    (notes / ".hidden/a.md").write_text("# Hidden\n")
    git(project, "add", "-A")
    blob = git(project, "hash-object", "-w", str(notes / "facts/bm25.md")).strip()
    git(project, "update-index", "--add", "--cacheinfo", f"100644,{blob},.memories/{deep}n.md")
    git(project, "commit", "-q", "-m", "Odd")
    small = {"memory.max_note_bytes": 2000}
    with open_bank(project, settings=small) as bank, bank_at(bank, "HEAD") as then:
        refused = then.source.scan().refused
        assert set(refused) == {"link.md", "UPPER.MD", "large.md", f"{deep}n.md"}
        assert refused["large.md"].startswith("3000 bytes, more than")
        assert "longer than 1,000 bytes" in refused[f"{deep}n.md"]
        assert not any("hidden" in path for path in then.store.paths())
        assert texts(then, "passwd root").keys() <= {
                "decisions/tantivy.md", "decisions/whoosh.md", "facts/bm25.md",
            }  # fmt: skip


def test_notes_of_sessions_in_the_private_state_are_not_in_it(history: Path) -> None:
    with open_bank(history) as bank:
        start_session(bank, "s1")
        session_note(bank, "Try the reranker again tomorrow", session_id="s1")
        assert any(path.startswith("sessions/") for path in texts(bank, "reranker tomorrow"))
        with bank_at(bank, "HEAD") as then:
            assert not any(
                path.startswith("sessions/") for path in texts(then, "reranker tomorrow")
            )


SCRIPT = """
import os, sys, signal
from memory_bank.bank import copies
from memory_bank.bank.bank import open_bank
from memory_bank.bank.revisions import bank_at
from memory_bank.memory.retrieval.recall import recall
copies.FEW = 0
wanted, steps = sys.argv[2], int(sys.argv[3])
if steps >= 0:
    left = [steps]
    def watch(event, arguments):
        if event.startswith(("open", "os.", "sqlite3.")) and "/revisions/" in str(arguments[:1]):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    with bank_at(bank, wanted) as then:
        print(sorted(then.store.paths()), [one.path for one in recall(then, "bm25", count_access=False).notes])
"""


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_what_the_next_one_repairs(
    history: Path, run_python: Callable[..., Any]
) -> None:
    right = run_python(SCRIPT, history, "HEAD", -1).stdout
    ends = set()
    for steps in (5, 15, 25, 40, 80):
        killed = run_python(SCRIPT, history, "v1.0", steps, check=False)
        ends.add(killed.returncode)
        assert run_python(SCRIPT, history, "HEAD", -1).stdout == right
    assert -9 in ends


@pytest.mark.slow
def test_processes_do_not_disturb_each_other(history: Path, run_python: Callable[..., Any]) -> None:
    right = {rev: run_python(SCRIPT, history, rev, -1).stdout for rev in ("HEAD", "v1.0")}
    with ThreadPoolExecutor(4) as pool:
        asked = ["HEAD", "v1.0"] * 3
        found = pool.map(lambda rev: run_python(SCRIPT, history, rev, -1).stdout, asked)
        assert list(found) == [right[rev] for rev in asked]
    with open_bank(history) as bank:
        assert len(copies.list_copies(bank.layout)) == 2


def test_nothing_stays_of_a_copy_of_few_notes(history: Path) -> None:
    with open_bank(history, settings={"memory.embedder": "none"}) as bank:
        with bank_at(bank, "v1.0") as then, bank_at(bank, "v1.0") as again:
            assert texts(then, "bm25") == texts(again, "bm25")
            assert len(copies.list_copies(bank.layout)) == 2
        assert copies.list_copies(bank.layout) == []


@pytest.mark.usefixtures("copies_stay")
def test_more_copies_than_stay_can_be_open_at_once(history: Path) -> None:
    with open_bank(history, settings={"memory.embedder": "none"}) as bank, ExitStack() as opened:
        for number in range(copies.MOST + 2):
            rev = ("HEAD", "v1.0")[number % 2]
            then = opened.enter_context(bank_at(bank, rev))
            assert ("facts/rerank.md" in then.store.paths()) == (rev == "HEAD")
        assert len(copies.list_copies(bank.layout)) == copies.MOST + 2
        opened.close()
        assert len(copies.list_copies(bank.layout)) == 2


@pytest.mark.usefixtures("copies_stay")
def test_the_last_used_copies_stay_and_unfinished_ones_until_they_are_old(history: Path) -> None:
    with open_bank(history, settings={"memory.embedder": "none"}) as bank:
        with bank_at(bank, "v1.0") as then:
            slot = then.layout.index.parent
        left = slot.with_name(f"{TEMPORARY_PREFIX}left")
        for number in range(copies.MOST):
            (slot.parent / str(number)).mkdir()
            os.utime(slot.parent / str(number), (number, number))
        left.mkdir()
        with bank_at(bank, "v1.0"):
            pass
        assert {one.name for one in copies.list_copies(bank.layout)} == {
            slot.name,
            left.name,
            "2",
            "3",
        }
        os.utime(left, (1, 1))
        with bank_at(bank, "v1.0"):
            pass
        assert left in copies.list_copies(bank.layout)
        with bank_at(bank, "HEAD"):
            pass
        assert left not in copies.list_copies(bank.layout)


@pytest.mark.usefixtures("copies_stay")
def test_forgetting_removes_the_copies(history: Path) -> None:
    with open_bank(history) as bank:
        with bank_at(bank, "v1.0"):
            pass
        (slot,) = copies.list_copies(bank.layout)
        assert any(b"rarity" in file.read_bytes() for file in slot.rglob("*.md"))
        planned = forget(bank, "rarity of nothing", as_text=True, dry_run=True)
        assert planned.count == 0
        assert slot.exists()
        done = forget(bank, "rarity", as_text=True)
        assert str(slot) in {one.place for one in done.places}
        assert list(slot.parent.iterdir()) == []


def test_a_copy_in_use_is_named_by_forgetting(history: Path) -> None:
    with open_bank(history) as bank, bank_at(bank, "v1.0") as then:
        slot = str(then.layout.index.parent)
        done = forget(bank, "rarity", as_text=True)
        assert slot in {one.place for one in done.beyond}


def test_a_crafted_tree_stays_in_its_folder_and_changes_no_limit(
    project: Path, private_folders: Path
) -> None:
    note, large = (write_object(project, "blob", data) for data in (b"# Evil\n", b"x" * 20_000))
    config = write_object(
        project,
        "blob",
        b'[memory]\nmax_note_bytes = 100000000\nembedder = "http"\nenabled = false\n',
    )
    evil = write_tree(project, [("100644", name, note) for name in ("config", "evil.md")])
    names = (".git", "..", ".GIT", "good")
    folders = [("40000", name, evil) for name in names]
    files = [("100644", "config.toml", config), ("100644", "large.md", large)]
    bank = write_tree(project, folders + files)
    top = write_tree(project, [("40000", ".memories", bank)])
    commit = git(project, "commit-tree", "-m", "Evil", top).strip()
    small = {"memory.max_note_bytes": 10_000, "memory.embedder": "none"}
    with open_bank(project, settings=small) as opened, bank_at(opened, commit) as then:
        assert list(then.store.paths()) == ["good/evil.md"]
        assert set(then.source.scan().refused) == {"large.md"}
        assert then.settings.memory.embedder == "none"
        assert then.settings.memory.enabled
        slot = then.layout.index.parent
        assert [file.name for file in (slot / "project").rglob("*") if file.is_file()] == [
            "config.toml", "evil.md",
        ]  # fmt: skip
    assert not any(file.name == "evil.md" for file in project.rglob("*"))
