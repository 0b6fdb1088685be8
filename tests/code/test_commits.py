import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_bank.base.paths import user_folder
from memory_bank.code import commits
from memory_bank.code.commits import CodeHistory, CountedCommit, CountedCommits
from memory_bank.git import history as git_history
from memory_bank.git import repository
from memory_bank.git.authorship import CommitRecord
from tests.git.history_builder import Made, commit_all, make, run

LONG = "a line of text that is long enough to be known again\n" * 5


@pytest.fixture(autouse=True)
def answering(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Start with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the commits that git prints."""
    printed: list[str] = []
    real = git_history.yield_commits

    def records(output: Iterable[bytes]) -> Iterator[CommitRecord]:
        for one in real(output):
            printed.append(one[0].id)
            yield one

    monkeypatch.setattr(git_history, "yield_commits", records)
    return printed


def history(tree: Path, max_files: int = 50) -> CountedCommits:
    """Return the commits that a newly opened database tells."""
    found = CodeHistory(tree)
    try:
        return found.read_counted(max_files)
    finally:
        found.close()


def files(found: CountedCommits) -> list[tuple[str, ...]]:
    return [commit.files for commit in found.commits]


def same(one: CountedCommits, other: CountedCommits) -> bool:
    return (one.commits, one.renamed, one.notes) == (other.commits, other.renamed, other.notes)


def test_a_file_has_its_history_under_its_newest_name(tmp_path: Path) -> None:
    made = [
        Made({"a.py": LONG, "other.py": "1"}),
        Made({"a.py": LONG + "more\n", "other.py": "2"}),
        Made(renames=[("a.py", "b.py")]),
        Made({"b.py": LONG + "again\n"}),
        Made(renames=[("b.py", "lib/c.py")], texts={"other.py": "3"}),
    ]
    found = history(make(tmp_path / "tree", made))
    assert [set(some) for some in files(found)] == [
        {"lib/c.py", "other.py"}, {"lib/c.py"}, {"lib/c.py"}, {"lib/c.py", "other.py"},
        {"lib/c.py", "other.py"},
    ]  # fmt: skip
    assert found.renamed == {"a.py": "lib/c.py", "b.py": "lib/c.py"}
    assert [commit.age for commit in found.of("other.py")] == [0, 3, 4]
    assert found.of("other.py")[0].when == 1_600_000_000 + 5 * 86400
    assert found.of("a.py") == ()


def test_two_files_that_change_names_are_told_apart(tmp_path: Path) -> None:
    other = "quite another text, which nobody takes for the first\n" * 5
    made = [
        Made({"a": LONG, "b": other}),
        Made({"a": LONG + "more\n"}),
        Made({"a": other, "b": LONG + "more\n", "c": "1"}, removed=["a", "b"]),
        Made({"d": "1"}, renames=[("a", "e")]),
    ]
    found = history(make(tmp_path / "tree", made))
    # git tells a renamed file only if its old path is gone
    assert [set(some) for some in files(found)] == [{"d", "e"}, {"e", "b", "c"}, {"e"}, {"e", "b"}]


def test_large_commits_do_not_count_but_their_renames_do(tmp_path: Path) -> None:
    many = {f"src/{number}.py": LONG + str(number) for number in range(10)}
    moved = [(path, path.replace("src", "lib")) for path in many]
    made = [
        Made(many),
        Made({"src/1.py": LONG, "src/2.py": LONG + "two"}),
        Made(renames=moved),
        Made({"lib/1.py": "new"}),
    ]
    tree = make(tmp_path / "tree", made)
    found = history(tree, 5)
    assert files(found) == [("lib/1.py",), ("lib/1.py", "lib/2.py")]
    assert [commit.age for commit in found.commits] == [0, 2]
    assert len(history(tree, 10).commits) == 4


def test_merges_do_not_count(tmp_path: Path) -> None:
    made = [
        Made({"a": "1"}),
        Made({"b": "1"}),
        Made({"c": "1"}, parents=[1]),
        Made({"d": "1"}, parents=[2, 3]),
    ]
    found = history(make(tmp_path / "tree", made))
    assert files(found) == [("c",), ("b",), ("a",)]


def test_only_new_commits_are_read(tmp_path: Path, read: list[str]) -> None:
    tree = make(tmp_path / "tree", [Made({"a": "1"}), Made({"a": "2"})])
    commits = CodeHistory(tree)
    assert len(commits.read_counted(50).commits) == 2
    assert len(read) == 2
    assert commits.read_counted(50) is commits.read_counted(50)
    (tree / "a").write_text("3")
    run(tree, "commit", "-q", "-a", "-m", "Third")
    assert len(commits.read_counted(50).commits) == 3
    commits.close()
    assert read[2:] == [run(tree, "rev-parse", "HEAD").strip()]
    assert len(history(tree).commits) == 3
    assert len(read) == 3


def test_a_rewritten_history_is_told_as_it_is_now(tmp_path: Path, read: list[str]) -> None:
    tree = make(
        tmp_path / "tree",
        [Made({"a": "1", "b": "1"}), Made({"a": "2", "b": "2"}), Made({"c": "1"})],
    )
    assert files(history(tree)) == [("c",), ("a", "b"), ("a", "b")]
    run(tree, "reset", "-q", "--hard", "HEAD~2")
    (tree / "a").write_text("another")
    run(tree, "commit", "-q", "-a", "-m", "Another")
    assert files(history(tree)) == [("a",), ("a", "b")]
    assert len(read) == 4


def test_work_trees_share_what_was_read(tmp_path: Path, read: list[str]) -> None:
    tree = make(tmp_path / "tree", [Made({"a": "1"}), Made({"a": "2"})])
    run(tree, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), "HEAD~1")
    (tmp_path / "side/b").write_text("1")
    commit_all(tmp_path / "side", "Side")
    assert files(history(tree)) == [("a",), ("a",)]
    assert files(history(tmp_path / "side")) == [("b",), ("a",)]
    assert files(history(tree)) == [("a",), ("a",)]
    assert len(read) == 3
    run(tree, "checkout", "-q", "--detach", "HEAD~1")
    assert files(history(tree)) == [("a",)]
    assert len(read) == 3


def test_a_shallow_clone_tells_what_it_has(tmp_path: Path) -> None:
    tree = make(
        tmp_path / "tree", [Made({"a": str(number), "b": str(number)}) for number in range(6)]
    )
    run(tmp_path, "clone", "-q", "--depth=3", f"file://{tree}", "shallow")
    found = history(tmp_path / "shallow")
    assert files(found) == [("a", "b")] * 2
    assert found.notes == ("this is a shallow clone of 2 commits",)
    assert history(tmp_path / "shallow").notes == found.notes
    assert len(history(tree).commits) == 6
    run(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert same(history(tmp_path / "shallow"), history(tree))


def test_a_partial_clone_fetches_nothing(tmp_path: Path) -> None:
    made = [
        Made({"a.py": LONG, "b.py": LONG * 2}),
        Made({"new.py": LONG + "and more\n"}, removed=["a.py"], renames=[("b.py", "c.py")]),
    ]
    tree = make(tmp_path / "tree", made)
    run(tree, "config", "uploadpack.allowFilter", "true")
    run(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{tree}", "clone")
    missing = ("rev-list", "--objects", "--all", "--missing=print")
    before = run(tmp_path / "clone", *missing)
    found = history(tmp_path / "clone")
    assert files(found) == [("a.py", "c.py", "new.py"), ("a.py", "c.py")]
    assert "partial clone" in found.notes[0]
    assert run(tmp_path / "clone", *missing) == before
    whole = history(tree)
    assert [set(some) for some in files(whole)] == [{"new.py", "c.py"}] * 2
    assert not whole.notes


def test_a_clone_without_trees_says_what_it_lacks(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", [Made({"a.py": str(number)}) for number in range(3)])
    run(tree, "config", "uploadpack.allowFilter", "true")
    run(tmp_path, "clone", "-q", "--filter=tree:0", f"file://{tree}", "clone")
    found = history(tmp_path / "clone")
    assert not found.commits
    assert "objects are missing" in found.notes[0]


def test_names_that_are_not_utf8_are_left_out(tmp_path: Path) -> None:
    made = [Made({"\udcff.py": LONG, "a": "1"}), Made({"a": "2"}, renames=[("\udcff.py", "b.py")])]
    found = history(make(tmp_path / "tree", made))
    assert files(found) == [("a", "b.py")] * 2
    odd = history(make(tmp_path / "odd", made[:1]))
    assert files(odd) == [("a",)]
    assert odd.commits[0].size == 2


def test_without_git_there_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make(tmp_path / "tree", [Made({"a": "1"})])
    monkeypatch.setenv("PATH", "")
    found = history(tree)
    assert found.commits == ()
    assert found.notes == ("git is not installed: no history is used",)


def test_only_the_newest_commits_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "MOST", 3)
    tree = make(tmp_path / "tree", [Made({str(number): "1"}) for number in range(5)])
    found = history(tree)
    assert files(found) == [("4",), ("3",), ("2",)]
    assert found.notes == ("only the newest 3 commits are used",)


@pytest.mark.parametrize("damage", [b"", b"nonsense" * 1000])
def test_a_damaged_database_is_made_again(tmp_path: Path, damage: bytes) -> None:
    tree = make(tmp_path / "tree", [Made({"a": "1"})])
    before = history(tree)
    (repository.repository_cache(tree) / "history.db").write_bytes(damage)
    assert same(history(tree), before)


NAMES = ("a", "b", "c", "d", "e")


@st.composite
def histories(draw: st.DrawFn) -> list[Made]:
    """Draw commits that change, rename and remove a few files, with branches that are merged."""
    present: list[set[str]] = [set()]
    made: list[Made] = []
    for number in range(1, draw(st.integers(2, 9)) + 1):
        parents = draw(
            st.sampled_from(
                [(number - 1,), (max(1, number - 2),), (number - 1, max(1, number - 2))]
            )
        )
        parents = () if number == 1 else tuple(dict.fromkeys(parents))
        there = set(present[parents[0]]) if parents else set()
        renames = []
        free = sorted(set(NAMES) - there)
        if there and free and draw(st.booleans()):
            renames.append((draw(st.sampled_from(sorted(there))), draw(st.sampled_from(free))))
            there = there - {renames[0][0]} | {renames[0][1]}
        changed = draw(st.sets(st.sampled_from(NAMES), max_size=3))
        there |= changed
        texts = {name: f"{name} {LONG}{number}\n" for name in changed}
        days = draw(st.sampled_from([number, number - 0.5, 1]))  # clocks differ
        made.append(Made(texts, renames, parents=parents, days=days))
        present.append(there)
    return made


@settings(max_examples=6, deadline=None)
@given(made=histories(), data=st.data())
def test_read_in_steps_it_is_as_read_at_once(made: list[Made], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = make(Path(folder) / "tree", made)
        ids = run(tree, "rev-list", "--reverse", "HEAD").split()
        steps = sorted(data.draw(st.sets(st.integers(0, len(ids) - 1), max_size=3)))
        for step in steps:
            run(tree, "reset", "-q", "--hard", ids[step])
            history(tree)
        run(tree, "reset", "-q", "--hard", ids[-1])
        found = history(tree)
        shutil.rmtree(user_folder("cache"))
        afresh = history(tree)
        assert same(found, afresh)
        assert all(isinstance(commit, CountedCommit) for commit in found.commits)
