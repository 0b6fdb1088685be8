from __future__ import annotations

from pathlib import Path

import pytest

from memory_bank.git import history
from memory_bank.git.history import Change
from tests.git.history_builder import Made, make, run

LONG = "a line of text that is long enough to be known again\n" * 5


def listed_of(tree: Path, most: int = 10) -> history.ListedCommits:
    extent = history.extent(tree)
    assert extent is not None
    listed = history.listed(tree, extent, most)
    assert listed is not None
    return listed


def changes(tree: Path) -> list[list[Change]]:
    """Return the changes of all commits, the newest first."""
    listed = listed_of(tree)
    found = history.changes(tree, [commit for commit, _ in listed.commits], exact=False)
    assert found is not None
    return [list(history.parsed(found.get(commit, ""))) for commit, _ in listed.commits]


def test_the_newest_commit_is_first_and_merges_are_left_out(tmp_path: Path) -> None:
    made = [
        Made({"a": "1"}),
        Made({"b": "1"}),
        Made({"c": "1"}, parents=[1]),
        Made({"merged": "1"}, parents=[2, 3]),
        Made({"a": "2"}),
    ]
    tree = make(tmp_path / "tree", made)
    listed = listed_of(tree)
    assert [when for _, when in listed.commits] == [
        1_600_000_000 + 86400 * day for day in (5, 3, 2, 1)
    ]
    assert not listed.more
    assert [[one.path for one in some] for some in changes(tree)] == [["a"], ["c"], ["b"], ["a"]]
    fewer = listed_of(tree, 2)
    assert len(fewer.commits) == 2
    assert fewer.more


def test_what_a_commit_did_is_told(tmp_path: Path) -> None:
    made = [
        Made({"old.py": LONG, "gone.py": "x"}),
        Made({"new.py": LONG + "and more\n"}, removed=["old.py"]),
        Made({"new.py": LONG + "changed\n"}, removed=["gone.py"]),
    ]
    assert changes(make(tmp_path / "tree", made)) == [
        [Change("D", "gone.py", "gone.py"), Change("M", "new.py", "new.py")],
        [Change("R", "old.py", "new.py")],
        [Change("A", "gone.py", "gone.py"), Change("A", "old.py", "old.py")],
    ]


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "Ünï",
        'quo"te',
        "tab\there",
        "line\nbreak",
        "-dash",
        ":colon",
        "R100",
        "M",
        "\x1e",
        "\udcff",
    ],
)
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    tree = make(tmp_path / "tree", [Made({name: LONG}), Made(renames=[(name, "plain")])])
    assert changes(tree) == [[Change("R", name, "plain")], [Change("A", name, name)]]


def test_a_file_named_like_a_commit_is_a_file(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", [Made({"a": "1"})])
    first = run(tree, "rev-parse", "HEAD").strip()
    (tree / first).write_text("x")
    run(tree, "add", "-A")
    run(tree, "commit", "-q", "-m", "A hash")
    assert changes(tree) == [[Change("A", first, first)], [Change("A", "a", "a")]]


def test_commits_whose_parents_are_missing_are_left_out(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", [Made({"a": str(number)}) for number in range(5)])
    run(tmp_path, "clone", "-q", "--depth=3", f"file://{tree}", "shallow")
    extent = history.extent(tmp_path / "shallow")
    assert extent is not None
    assert extent.ends == {run(tree, "rev-parse", "HEAD~2").strip()}
    assert len(listed_of(tmp_path / "shallow").commits) == 2
    whole = history.extent(tree)
    assert whole is not None
    assert (whole.head, whole.ends) == (extent.head, frozenset())
    assert whole.key != extent.key


def test_without_commits_or_git_there_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert history.extent(make(tmp_path / "empty", [])) is None
    assert history.extent(tmp_path) is None
    tree = make(tmp_path / "tree", [Made({"a": "1"})])
    extent = history.extent(tree)
    assert extent is not None
    monkeypatch.setenv("PATH", "")
    assert history.listed(tree, extent, 10) is None
    assert history.changes(tree, [extent.head], exact=False) is None
