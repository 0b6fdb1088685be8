"""The one history of a repository, compared with what git itself says of each path."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_bank.base.errors import StorageFailed
from memory_bank.git import history as git_history
from memory_bank.git import process, repository
from memory_bank.git.commits import Change, CommitsAt
from memory_bank.git.history import History
from tests.git.history_builder import Made, commit_all, extend, make, run

LONG = "a line of text that is long enough to be known again\n" * 5

MERGED = [
    Made({"notes/a.md": LONG, "notes/b.md": "1"}),
    Made({"notes/a.md": LONG + "main"}),
    Made({"notes/b.md": "2"}, parents=[1]),
    Made({}, parents=[2, 3]),
    Made({"notes/c.md": "1"}),
    Made({"notes/a.md": "side", "notes/d.md": "2"}, parents=[4]),
    Made({"notes/a.md": "both"}, parents=[5, 6]),
    Made({"notes/a.md": "end"}),
]

RENAMED = [
    Made({"notes/a.md": LONG, "src/x.py": LONG + "x"}),
    Made(renames=[("notes/a.md", "notes/b.md")]),
    Made({"notes/b.md": LONG + "2"}, renames=[("src/x.py", "notes/x.py")]),
    Made(renames=[("notes/b.md", "notes/sub/c.md")], texts={"notes/a.md": "other"}),
    Made(removed=["notes/a.md"]),
    Made({"notes/a.md": "again"}),
    Made({"notes/d.md": LONG + "2x"}, removed=["notes/sub/c.md"]),
]

LINEAR = [Made({f"notes/{n % 4}.md": f"{LONG}{n}\n", f"src/{n % 3}": f"{n}\n"}) for n in range(12)]


def clone(tree: Path, *options: str) -> Path:
    run(tree, "config", "uploadpack.allowFilter", "true")
    other = tree.with_name("clone")
    run(tree.parent, "clone", "-q", *options, f"file://{tree}", str(other))
    run(other, "config", "user.name", "Test")
    run(other, "config", "user.email", "test@example.org")
    return other


def rewritten(tree: Path) -> Path:
    at(tree)  # what is known before
    run(tree, "reset", "-q", "--hard", "HEAD~4")
    (tree / "notes/new.md").write_text("new")
    commit_all(tree, "Another")
    return tree


def grafted(tree: Path) -> Path:
    at(tree)
    ids = run(tree, "rev-list", "HEAD").split()
    run(tree, "replace", "--graft", ids[0], ids[-1])
    return tree


def two_roots(tree: Path) -> Path:
    run(tree, "checkout", "-q", "--orphan", "other")
    run(tree, "commit", "-q", "-m", "Other")
    run(tree, "merge", "-q", "-s", "ours", "--allow-unrelated-histories", "-m", "Both", "main")
    return tree


HISTORIES: dict[str, tuple[list[Made], Callable[[Path], Path]]] = {
    "linear": (LINEAR, lambda tree: tree),
    "renames": (RENAMED, lambda tree: tree),
    "merges": (MERGED, lambda tree: tree),
    "skewed clocks": (
        [Made({"notes/a.md": str(n)}, days=day) for n, day in enumerate((5, 1, 9, 2, 3))],
        lambda tree: tree,
    ),
    "shallow": (LINEAR, lambda tree: clone(tree, "--depth=4")),
    "partial": (RENAMED, lambda tree: clone(tree, "--no-checkout", "--filter=blob:none")),
    "rewritten": (LINEAR, rewritten),
    "grafted": (MERGED, grafted),
    "odd names": (
        [
            Made(dict.fromkeys(["Ünï", 'quo"te', "a\tb", "line\nbreak", ":c", "M", "\x1e", "\udcff"], LONG)),
            Made(renames=[("\udcff", "plain"), ("\x1e", "R100")]),
        ],
        lambda tree: tree,
    ),
    "two roots": (LINEAR, two_roots),
}  # fmt: skip


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=HISTORIES)
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made, then = HISTORIES[request.param]
    return then(make(tmp_path / "tree", made))


def at(tree: Path, rev: str = "HEAD") -> CommitsAt:
    found = History(tree).at(run(tree, "rev-parse", rev).strip())
    assert found is not None
    return found


def lines(tree: Path, *words: str) -> list[str]:
    return run(tree, *words).split("\n")[:-1]


def test_the_commits_are_those_of_git(tree: Path) -> None:
    found = list(at(tree).commits())
    listed = lines(tree, "log", "--topo-order", "--format=%H|%P|%at|%ct|%an|%ae|%s")
    said = {
        "|".join([one.id, " ".join(one.parents), str(one.written), str(one.made), one.author, one.mail, one.subject])
        for one in found
    }  # fmt: skip
    assert said == set(listed)
    seen: set[str] = set()
    for one in reversed(found):  # parents are older
        assert not set(one.parents) - seen - set(listed) - at(tree).ends
        assert all(parent in seen for parent in one.parents)
        seen.add(one.id)


def git_changes(tree: Path, path: str) -> set[tuple[str, str]]:
    """Return the commits that changed a path, asked of git for that path alone, each with a letter."""
    words = (
        "log", "--full-history", "--no-renames", "-c", "--format=%x01%H", "--name-status", "-z",
    )  # fmt: skip
    log = run(tree, "--literal-pathspecs", *words, "--", path)
    found = set()
    for record in log.split("\x01")[1:]:
        commit, *rest = record.replace("\n", "").split("\0")
        found |= {(commit, status) for status in [one for one in rest if one][::2]}
    return found


def test_the_changes_of_each_path_are_those_of_git(tree: Path) -> None:
    every = at(tree)
    paths = {path for one in every.changes_below("") for path in (one.old, one.path)}
    assert paths
    for path in paths:
        found = {(one.commit.id, one.status) for one in every.changes_below(path, renames=False)}
        assert found == git_changes(tree, path), path


def test_blobs_before_and_after_are_those_of_the_trees(tree: Path) -> None:
    every = at(tree)
    for one in every.changes_below("notes", merges=False, renames=False):
        commit = one.commit
        new = run(tree, "ls-tree", commit.id, "--", one.path).split()
        old = (
            run(tree, "ls-tree", commit.parents[0], "--", one.path).split()
            if commit.parents
            else []
        )
        assert (one.before, one.after) == (old[2] if old else "", new[2] if new else "")


@pytest.mark.parametrize("name", ["linear", "merges", "grafted", "two roots", "skewed clocks"])
def test_a_commit_is_before_those_that_git_says(name: str, tmp_path: Path) -> None:
    made, then = HISTORIES[name]
    tree = then(make(tmp_path / "tree", made))
    every = at(tree)
    ids = lines(tree, "rev-list", "HEAD")
    for one in ids:
        before = set(lines(tree, "rev-list", one))
        assert {other for other in ids if every.is_before(other, one)} == before


@pytest.mark.parametrize("name", HISTORIES)
def test_the_difference_of_two_commits_is_that_of_git_or_unknown(name: str, tmp_path: Path) -> None:
    made, then = HISTORIES[name]
    tree = then(make(tmp_path / "tree", made))
    every = at(tree)
    known = 0
    for one in lines(tree, "rev-list", "HEAD"):
        found = every.list_differing(one)
        words = ("diff-tree", "-r", "-z", "--no-renames", "--name-status", one, "HEAD")
        listed = run(tree, *words).split("\0")
        if found is not None:
            known += 1
            said = {path: change.status for path, change in found.items()}
            assert said == dict(zip(listed[1::2], listed[::2], strict=False))
    assert known > 0


def test_an_empty_or_missing_repository_has_no_history(tmp_path: Path) -> None:
    tree = make(tmp_path / "empty", [])
    assert History(tree).at("") is None
    assert History(tree).at("0" * 39 + "1") is None
    assert not process.has_given_up()


def test_without_git_what_was_read_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make(tmp_path / "tree", LINEAR)
    head = run(tree, "rev-parse", "HEAD").strip()
    before = [one.id for one in at(tree).commits()]
    extend(tree, [Made({"a": "1"})], 12)
    after = run(tree, "rev-parse", "HEAD").strip()
    monkeypatch.setenv("PATH", "")
    found = History(tree).at(head)
    assert found is not None
    assert [one.id for one in found.commits()] == before
    assert History(tree).at(after) is None


def test_after_a_commit_git_is_started_once_for_all_work_trees(
    tmp_path: Path, git_commands: list[tuple[str, ...]]
) -> None:
    tree = make(tmp_path / "tree", LINEAR)
    at(tree)
    run(tree, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), "HEAD~3")
    extend(tree, [Made({"new": "1"})], 12)
    head, side = (run(one, "rev-parse", "HEAD").strip() for one in (tree, tmp_path / "side"))
    git_commands.clear()
    found = History(tree).at(head)
    assert found is not None
    assert next(iter(found.commits())).id == head
    other = History(tmp_path / "side").at(side)
    assert other is not None
    assert len(list(other.commits())) == 9
    assert len(git_commands) == 1
    assert "log" in git_commands[0]


def message(tree: Path, text: str) -> str:
    run(tree, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-", given=text.encode())
    return run(tree, "rev-parse", "HEAD").strip()


def test_messages_are_read_with_their_bodies(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", LINEAR)
    body = "We chose it since it is small.\n\nIt has no dependencies, and it is quick to start.\n"
    reason = message(tree, f"Choose it\n\n{body}\nSigned-off-by: Ann <ann@example.org>\n")
    formal = message(tree, "Say little\n\n" + "Reviewed-by: Ann <ann@example.org>\n" * 12)
    every = at(tree)
    commit = every.commit(reason[:9])
    assert commit is not None
    assert (commit.subject, commit.body) == (
        "Choose it", f"{body}\nSigned-off-by: Ann <ann@example.org>",
    )  # fmt: skip
    assert [one.id for one in every.commits(worded=12)] == [reason]
    assert [one.id for one in every.commits()][:2] == [formal, reason]
    assert every.commit("ffffffff") is None
    assert every.commit("not an id") is None
    assert at(tree, "HEAD~2").commit(reason) is None, "it is not before that commit"


def test_a_message_has_no_control_characters_and_passes_the_gate(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", LINEAR[:1])
    message(tree, "Use \x1b[31mred\n\nThe word is hush-hush.\r\n\x07Next\x1e\x1f line\u202e.\n")
    history = History(tree, lambda texts: [one.replace("hush-hush", "[redacted]") for one in texts])
    found = history.at(run(tree, "rev-parse", "HEAD").strip())
    assert found is not None
    commit = next(iter(found.commits()))
    assert commit.subject == "Use  [31mred"
    assert commit.body == "The word is [redacted].\n Next   line ."
    assert b"hush-hush" not in database(tree).read_bytes()


def database(tree: Path) -> Path:
    return repository.repository_cache(tree) / "history.db"


@pytest.mark.parametrize("damage", [b"", b"nonsense" * 1000, None])
@pytest.mark.parametrize("reopened", [True, False])
def test_a_damaged_or_deleted_database_is_made_again(
    tmp_path: Path, damage: bytes | None, reopened: bool
) -> None:
    tree = make(tmp_path / "tree", MERGED)
    found = at(tree)
    before = (list(found.commits()), list(found.changes_below("")), found.changes("notes/a.md"))
    for file in database(tree).parent.glob("history.db*"):
        file.unlink()
    if damage is not None:
        database(tree).write_bytes(damage)
    found = at(tree) if reopened else found
    assert (
        list(found.commits()),
        list(found.changes_below("")),
        found.changes("notes/a.md"),
    ) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_in_a_cache_that_cannot_be_written_all_is_read_again(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", MERGED)
    (tmp_path / "cache").mkdir(mode=0o500)
    assert len(list(at(tree).commits())) == 8


def test_a_full_disk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make(tmp_path / "tree", MERGED)

    def refuse(_: Path) -> None:
        raise StorageFailed("the disk is full", "free some space")

    monkeypatch.setattr(git_history, "private_folder", refuse)
    assert len(list(at(tree).commits())) == 8


def test_two_writers_read_one_history(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", [Made({f"{n % 7}": str(n)}) for n in range(300)])
    head = run(tree, "rev-parse", "HEAD").strip()
    found: list[list[Change]] = []

    def read() -> None:
        commits = History(tree).at(head)
        found.append(list(commits.changes_below("")) if commits else [])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(found[0]) == 300
    assert all(one == found[0] for one in found)


def test_a_reader_that_is_cut_short_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make(tmp_path / "tree", [Made({"a": str(n)}) for n in range(50)])
    head = run(tree, "rev-parse", "HEAD").strip()
    real = git_history.yield_commits
    monkeypatch.setattr(git_history, "BATCH", 10)

    def cut(output: Iterator[bytes]) -> Iterator[object]:
        for number, one in enumerate(real(output)):
            if number == 25:
                raise process.GitFailed
            yield one

    monkeypatch.setattr(git_history, "yield_commits", cut)
    assert History(tree).at(head) is None
    read: list[object] = []
    monkeypatch.setattr(
        git_history,
        "yield_commits",
        lambda output: (read.append(one) or one for one in real(output)),
    )
    found = History(tree).at(head)
    assert found is not None
    assert len(list(found.commits())) == 50
    assert len(read) == 25


def test_what_no_head_reaches_is_told_apart(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", LINEAR)
    old = run(tree, "rev-parse", "HEAD").strip()
    at(tree)
    rewritten(tree)
    every = at(tree)
    assert every.commit(old) is None
    assert len(list(every.commits())) == 9
    assert {one.path for one in every.changes_below("notes")} >= {"notes/new.md"}


def test_what_was_rewritten_again_and_again_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_history, "MOST_OTHERS", 10)
    tree = make(tmp_path / "tree", LINEAR)
    for number in range(20):
        run(tree, "commit", "-q", "--amend", "--allow-empty", "-m", f"Again {number}")
        assert len(list(at(tree).commits())) == 12
    history = History(tree)
    assert len(history.graph()) < 40
    history.close()


def test_what_took_too_long_is_read_by_a_call_with_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make(tmp_path / "tree", LINEAR)
    head = run(tree, "rev-parse", "HEAD").strip()
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text(
        f"#!/bin/sh\necho $* >> {tmp_path}/asked\n"
        f'case "$*" in *topo-order*) sleep 1;; esac\nexec {shutil.which("git")} "$@"\n'
    )
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent), prepend=os.pathsep)
    history = History(tree)
    assert history.at(head, seconds=0.2) is None
    asked = (tmp_path / "asked").read_text()
    assert history.at(head, seconds=0.2) is None
    assert (tmp_path / "asked").read_text() == asked
    assert history.at(head, seconds=60) is not None


def test_a_repository_that_becomes_whole_is_read_again(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree", LINEAR)
    shallow = clone(tree, "--depth=4")
    assert len(list(at(shallow).commits())) == 4
    assert len(at(shallow).ends) == 1
    run(shallow, "fetch", "-q", "--unshallow")
    assert len(list(at(shallow).commits())) == 12
    assert at(shallow).ends == frozenset()


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(["edit", "rename", "branch", "merge", "remove"]), max_size=8))
def test_read_in_steps_it_is_as_read_at_once(
    tmp_path_factory: pytest.TempPathFactory, acts: list[str]
) -> None:
    made = [Made({"a": LONG, "b": "b"})]
    for number, act in enumerate(acts, 2):
        parents = [max(1, number - 2)] if act == "branch" else [number - 1]
        if act == "merge" and number > 2:
            parents = [number - 1, number - 2]
        texts = {} if act in {"rename", "remove"} else {"b": f"{number}"}
        made.append(Made(texts, [("a", f"a{number}")] if act == "rename" and number == 2 else [],
                         ["b"] if act == "remove" and number == 2 else [], parents))  # fmt: skip
    root = tmp_path_factory.mktemp("steps").resolve()
    tree = make(root / "tree", made)
    top = run(tree, "rev-parse", "HEAD").strip()
    steps = History(tree, file=root / "steps.db")
    for one in run(tree, "rev-list", "--topo-order", "--reverse", top).split():
        steps.at(one)
    one, other = steps.at(top), History(tree, file=root / "once.db").at(top)
    assert one is not None
    assert other is not None
    assert list(one.commits()) == list(other.commits())
    assert list(one.changes_below("")) == list(other.changes_below(""))
