import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput
from memory_bank.git import objects, process
from memory_bank.git.objects import (
    find_commit,
    is_safe,
    list_files_at,
    list_staged,
    read_blobs,
    read_sizes,
)
from tests.conftest import run_git as git
from tests.git.history_builder import commit_all, write_tree

ODD = ["with space.md", "Ünï.md", 'quo"te.md', "-dash.md", ":colon.md", "new\nline.md", "a\tb.md"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with odd names, a link and a submodule, three commits, a tag, a branch."""
    root = tmp_path_factory.mktemp("objects") / "tree"
    for name in (*ODD, "deep/er/note.md"):
        (root / "bank" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "bank" / name).write_bytes(name.encode())
    (root / "bankrupt.md").write_text("beside the bank")
    (root / "bank/run.sh").write_text("#!/bin/sh\n")
    (root / "bank/run.sh").chmod(0o755)
    (root / "bank/link.md").symlink_to("/etc/passwd")
    (root / "bank/folder").symlink_to("deep")
    with open(os.fsencode(root) + b"/bank/\xff.md", "wb") as file:
        file.write(b"a name that is not UTF-8")
    git(root.parent, "init", "-q", "-b", "main", str(root))
    git(root.parent, "init", "-q", "other")
    git(root.parent / "other", "commit", "-q", "--allow-empty", "-m", "Other")
    git(root, "-c", "protocol.file.allow=always", "submodule", "-q", "add", "../other", "bank/sub")
    git(root, "config", "uploadpack.allowFilter", "true")
    commit_all(root, "One")
    git(root, "tag", "-a", "v1.0", "-m", "First")
    (root / "bank/-dash.md").write_bytes(b"-dash.md changed")
    git(root, "commit", "-q", "-a", "-m", "Two")
    git(root, "rm", "-q", "bankrupt.md")
    git(root, "commit", "-q", "-m", "Three")
    git(root, "branch", "topic/one", "HEAD~1")
    return root


def at(tree: Path, words: str) -> str:
    return git(tree, "rev-parse", words).strip()


@pytest.mark.parametrize("rev", ["v1.0", "topic/one", "HEAD~2", "HEAD", "main@{0}", "HEAD^{/One}"])
def test_a_commit_is_named_as_for_git(tree: Path, rev: str) -> None:
    found = find_commit(tree, rev)
    assert found == at(tree, f"{rev}^{{}}")
    assert len(found) == 40
    assert find_commit(tree, found[:8]) == found
    assert find_commit(tree, found) == found


def test_the_upstream_is_a_revision(tree: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(tree), "clone")
    git(tmp_path / "clone", "commit", "-q", "--allow-empty", "-m", "Here")
    assert find_commit(tmp_path / "clone", "@{upstream}") == at(tree, "HEAD")


@pytest.mark.parametrize(
    "rev",
    [
        "", " ", "nothing", "v1.0..HEAD", "^HEAD", "HEAD^@", "HEAD:bank", "HEAD^{tree}", "f" * 40,
        "--output=x", "--all", "-", "--", "HEAD\n--all", "HEAD\0", "HEAD:bank/-dash.md",
        "x" * 5000, "\udcff", "../../etc", "HEAD --output=x", "@{-9}",
    ],
)  # fmt: skip
def test_what_names_no_commit_is_refused(tree: Path, tmp_path: Path, rev: str) -> None:
    before = sorted(os.listdir(tree))
    with pytest.raises(BadInput, match="there is no revision") as caught:
        find_commit(tree, rev)
    assert "git log" in caught.value.hint
    assert len(caught.value.message) < 1200
    assert sorted(os.listdir(tree)) == before


def test_the_files_of_a_commit_are_listed_below_a_folder(tree: Path) -> None:
    files = list_files_at(tree, find_commit(tree, "v1.0"), "bank")
    wanted = {f"bank/{name}" for name in (*ODD, "deep/er/note.md", "run.sh", "\udcff.md")}
    assert set(files) == wanted  # neither links, nor the submodule, nor the file beside
    for name in ODD:
        found = files[f"bank/{name}"]
        assert found.id == at(tree, f"v1.0:bank/{name}")
    assert files["bank/run.sh"].mode == 0o100755
    assert files["bank/-dash.md"].mode == 0o100644
    assert set(list_files_at(tree, find_commit(tree, "v1.0"))) == {
        *wanted,
        "bankrupt.md",
        ".gitmodules",
    }
    assert "bankrupt.md" not in list_files_at(tree, find_commit(tree, "HEAD"))


@pytest.mark.parametrize(
    "below", ["bank/link.md", "bank/folder", "bank/sub", "no", "--all", "../x"]
)
def test_a_link_a_submodule_or_no_folder_has_no_files(tree: Path, below: str) -> None:
    assert list_files_at(tree, find_commit(tree, "v1.0"), below) == {}
    assert list_staged(tree, below) == {}


def test_a_single_file_can_be_listed(tree: Path) -> None:
    assert list(list_files_at(tree, find_commit(tree, "v1.0"), "bankrupt.md")) == ["bankrupt.md"]


def test_what_is_staged_is_listed(project: Path) -> None:
    bank = project / ".memories"
    (bank / "facts/bm25.md").write_text("staged")
    (bank / "facts/new.md").write_text("staged too")
    git(project, "add", "-A")
    git(project, "rm", "-q", "--cached", ".memories/decisions/whoosh.md")
    (bank / "facts/bm25.md").write_text("not staged")
    files = list_staged(project, ".memories")
    assert set(files) == {
        ".memories/.gitignore", ".memories/decisions/tantivy.md",
        ".memories/facts/bm25.md", ".memories/facts/new.md",
    }  # fmt: skip
    found = dict(read_blobs(project, [one.id for one in files.values()], 1000))
    assert found[files[".memories/facts/bm25.md"].id] == b"staged"


def test_a_hook_of_a_partial_commit_sees_the_files_of_that_commit(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (project / ".memories/facts/new.md").write_text("new")
    other = project / ".git/next-index-1.lock"
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    git(project, "read-tree", "HEAD")
    git(project, "add", "-A")
    assert ".memories/facts/new.md" in list_staged(project)
    elsewhere = tmp_path / "index"
    other.rename(elsewhere)
    monkeypatch.setenv("GIT_INDEX_FILE", str(elsewhere))
    assert ".memories/facts/new.md" not in list_staged(project)  # not of this repository


def test_of_a_conflict_our_side_is_listed(project: Path, conflict: Callable[..., Path]) -> None:
    conflict("ours\n", "theirs\n", base="base\n")
    found = list_staged(project)[".memories/facts/port.md"]
    assert dict(read_blobs(project, [found.id], 1000)) == {found.id: b"ours\n"}


def test_blobs_are_read_each_once_and_large_ones_not_at_all(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = list_files_at(tree, find_commit(tree, "v1.0"), "bank")
    ids = [one.id for one in files.values()]
    monkeypatch.setattr(objects, "AT_ONCE", 30)  # several calls of git
    found = list(read_blobs(tree, [*ids, *ids], 10))
    sizes = read_sizes(tree, ids)
    assert sizes == {files[f"bank/{name}"].id: len(name.encode()) for name in ODD} | sizes
    small = {object_id for object_id, size in sizes.items() if size <= 10}
    assert [one for one, _ in found] == [one for one in dict.fromkeys(ids) if one in small]
    texts = dict(found)
    for name in ODD:
        if len(name.encode()) <= 10:
            assert texts[files[f"bank/{name}"].id] == name.encode()
    missing, no_blob = "0" * 39 + "1", at(tree, "HEAD^{tree}")
    assert list(read_blobs(tree, [missing, no_blob, ids[0]], 1000)) != []
    assert set(read_sizes(tree, [missing, no_blob, ids[0]])) == {ids[0]}


def test_a_bare_repository_and_a_linked_work_tree_can_be_read(tree: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(tree), "bare.git")
    git(tree, "worktree", "add", "-q", str(tmp_path / "linked"), "v1.0")
    commit = find_commit(tree, "v1.0")
    for other in (tmp_path / "bare.git", tmp_path / "linked"):
        assert find_commit(other, "v1.0") == commit
        assert list_files_at(other, commit, "bank") == list_files_at(tree, commit, "bank")
    git(tree, "worktree", "remove", "--force", str(tmp_path / "linked"))


def test_a_shallow_clone_says_what_it_lacks(tree: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tree}", "shallow")
    shallow = tmp_path / "shallow"
    assert list_files_at(shallow, find_commit(shallow, "HEAD")) == list_files_at(
        tree, find_commit(tree, "HEAD")
    )
    for rev in ("HEAD~1", find_commit(tree, "v1.0")):
        with pytest.raises(BadInput, match="there is no revision") as caught:
            find_commit(shallow, rev)
        assert "--unshallow" in caught.value.hint


def test_a_partial_clone_fetches_nothing_and_says_what_it_lacks(tree: Path, tmp_path: Path) -> None:
    options = ("--filter=blob:none", "--no-checkout", f"file://{tree}", "partial")
    git(tmp_path, "clone", "-q", *options)
    partial = tmp_path / "partial"
    commit = find_commit(partial, "HEAD")
    files = list_files_at(partial, commit)
    assert files.keys() == list_files_at(tree, commit).keys()
    packs = sorted((partial / ".git/objects").rglob("*"))
    with pytest.raises(BadInput, match="partial clone") as caught:
        list(read_blobs(partial, [one.id for one in files.values()], 1000))
    assert "--refetch" in caught.value.hint
    assert sorted((partial / ".git/objects").rglob("*")) == packs


def test_outside_git_and_without_git_it_says_so(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput):
        find_commit(tmp_path, "HEAD")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="git is not installed"):
        find_commit(tree, "HEAD")
    with pytest.raises(BadInput, match="git is not installed"):
        list_files_at(tree, "a" * 40)


@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "../x.md", "a/../../x.md", "a//b.md", "./a.md", "a/.git/config", ".git",
        ".GIT/hooks/x", ".git./x", ".git /x", "git~1/x", ".g\u200cit/config", ".git::$INDEX/x",
        "a\0.md",
    ],
)  # fmt: skip
def test_paths_that_leave_a_folder_or_are_of_git_are_unsafe(path: str) -> None:
    assert not is_safe(path)


@pytest.mark.parametrize("path", [*ODD, "a/.github/x.md", ".gitignore", "git.md", "...md", "a..b"])
def test_odd_paths_are_safe(path: str) -> None:
    assert is_safe(path)


def test_unsafe_paths_of_a_crafted_tree_are_left_out(project: Path) -> None:
    text = at(project, "HEAD:.memories/facts/bm25.md")
    below = write_tree(project, [("100644", "evil.md", text)])
    names = ("..", ".git", ".GIT", "bank")
    top = write_tree(project, [("40000", name, below) for name in names])
    commit = git(project, "commit-tree", "-m", "Evil", top).strip()
    assert set(list_files_at(project, commit)) == {"bank/evil.md"}


def test_a_tree_of_a_billion_files_stops_at_the_limit(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = at(project, "HEAD:.memories/facts/bm25.md")
    mode = "100644"
    for _ in range(9):
        one = write_tree(project, [(mode, f"f{number}", one) for number in range(10)])
        mode = "40000"
    commit = git(project, "commit-tree", "-m", "Many", one).strip()
    monkeypatch.setattr(objects, "MOST_FILES_BYTES", 1_000_000)
    with pytest.raises(Exception, match="can't list the files"):
        list_files_at(project, commit)
    assert not process.has_given_up(), "nor is its time limit reached"
