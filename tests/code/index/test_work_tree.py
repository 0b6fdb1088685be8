"""Which files of a work tree are read, and which are refused."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base.errors import NoRepository, StorageFailed
from memory_bank.code.index.work_tree import (
    BINARY,
    GENERATED,
    LINK,
    NOT_UTF8,
    TOO_LARGE,
    TreeScan,
    WorkTree,
    find_work_tree,
)
from tests.git.history_builder import commit_all

Git = Callable[..., str]


def scanned(root: Path, *exclude: str, max_bytes: int = 1000) -> TreeScan:
    tree = WorkTree(root, exclude=exclude, max_bytes=max_bytes)
    return tree.scan().filter(lambda path: path.endswith(".py"))


def test_tracked_and_new_files_are_read_but_no_ignored_ones(shop: Path) -> None:
    (shop / ".gitignore").write_text("build/\n")
    (shop / "build").mkdir()
    (shop / "build/made.py").write_text("x = 1\n")
    (shop / "new.py").write_text("x = 1\n")
    (shop / "new.txt").write_text("text")
    (shop / "shop/reports.py").unlink()
    assert sorted(scanned(shop).files) == [
        "new.py", "shop/__init__.py", "shop/orders.py", "shop/payments.py", "tests/test_orders.py",
    ]  # fmt: skip


def test_excluded_files_are_left_out_tracked_or_not(shop: Path) -> None:
    (shop / "new_pb2.py").write_text("x = 1\n")
    found = scanned(shop, "tests/", "*_pb2.py", "shop/*", "!shop/orders.py")
    assert list(found.files) == ["shop/orders.py"]
    assert found.refused == {}


def test_links_large_files_and_odd_names_are_refused_with_reasons(shop: Path) -> None:
    (shop / "loop.py").symlink_to("loop.py")
    (shop / "around").symlink_to(shop)
    (shop / "large.py").write_text("x = 1\n" * 1000)
    os.symlink("/etc/passwd", shop / "passwd.py")
    (shop / os.fsdecode(b"caf\xe9.py")).write_text("x = 1\n")
    found = scanned(shop)
    assert found.refused == {
        "caf?.py": NOT_UTF8, "large.py": TOO_LARGE, "loop.py": LINK, "passwd.py": LINK,
    }  # fmt: skip
    assert not any("around" in path for path in found.files)


def test_no_file_behind_a_folder_that_became_a_link_is_read(shop: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (shop / "shop").rename(elsewhere)
    (shop / "shop").symlink_to(elsewhere)
    assert list(scanned(shop).files) == ["tests/test_orders.py"]


def test_a_path_of_a_thousand_folders_is_no_problem(shop: Path, git: Git) -> None:
    blob = git(shop, "rev-parse", ":shop/__init__.py").strip()
    git(shop, "update-index", "--add", "--cacheinfo", f"100644,{blob},{'a/' * 1500}b.py")
    assert "shop/orders.py" in scanned(shop).files


def test_a_file_is_read_with_the_signature_from_before(shop: Path) -> None:
    tree = WorkTree(shop, max_bytes=5000)
    signature = tree.scan().files["shop/payments.py"]
    found = tree.read("shop/payments.py")
    assert found is not None
    assert (found.signature, found.data) == (signature, (shop / "shop/payments.py").read_bytes())
    assert tree.read("shop/gone.py") is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = 1\n\0", BINARY),
        (b"var a=1;" * 2000, GENERATED),
        (b"x" * 4000, ""),
        (b"x = 'a line of usual length'\n" * 500, ""),
        (b"caf\xe9 = 1\n", ""),
        (b"x" * 30_000, TOO_LARGE),
    ],
    ids=["binary", "minified", "one long line", "usual", "not UTF-8", "too large"],
)
def test_content_that_is_no_source_code_is_refused(shop: Path, data: bytes, reason: str) -> None:
    (shop / "odd.py").write_bytes(data)
    found = WorkTree(shop, max_bytes=20_000).read("odd.py")
    assert found is not None
    assert found.reason == reason


def test_a_pipe_is_not_waited_for(shop: Path) -> None:
    os.mkfifo(shop / "pipe.py")
    assert "pipe.py" not in scanned(shop).files
    assert WorkTree(shop, max_bytes=1000).read("pipe.py") is None


def test_other_repositories_inside_are_not_entered(shop: Path, tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "part")
    (tmp_path / "part/inner.py").write_text("x = 1\n")
    commit_all(tmp_path / "part", "Part")
    allowed = ("-c", "protocol.file.allow=always")
    git(shop, *allowed, "submodule", "--quiet", "add", str(tmp_path / "part"), "sub")
    git(shop, "clone", "-q", str(tmp_path / "part"), "nested")
    assert not any(path.startswith(("sub", "nested")) for path in scanned(shop).files)
    assert WorkTree(shop, max_bytes=1000).list_submodules() == ["sub"]


def test_a_work_tree_need_have_no_commit_and_no_branch(
    shop: Path, tmp_path: Path, git: Git
) -> None:
    git(tmp_path, "init", "-q", "empty")
    (tmp_path / "empty/a.py").write_text("x = 1\n")
    assert list(scanned(tmp_path / "empty").files) == ["a.py"]
    git(shop, "checkout", "-q", "--detach")
    assert "shop/orders.py" in scanned(shop).files
    git(shop, "worktree", "add", "-q", str(tmp_path / "other"))
    assert scanned(tmp_path / "other").files.keys() == scanned(shop).files.keys()
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{shop}", "shallow")
    assert "shop/orders.py" in scanned(tmp_path / "shallow").files


def test_files_that_are_not_checked_out_are_left_out(shop: Path, git: Git) -> None:
    git(shop, "sparse-checkout", "set", "tests")
    assert list(scanned(shop).files) == ["tests/test_orders.py"]


def test_without_a_work_tree_the_error_says_so(shop: Path, tmp_path: Path, git: Git) -> None:
    assert find_work_tree(shop / "tests") == shop
    git(tmp_path, "clone", "-q", "--bare", str(shop), "bare.git")
    for place in (tmp_path, tmp_path / "bare.git"):
        with pytest.raises(NoRepository, match="in no git work tree"):
            find_work_tree(place)
    (shop / ".git/HEAD").write_text("broken")
    with pytest.raises(NoRepository, match="git can't read the repository"):
        find_work_tree(shop)
    with pytest.raises(StorageFailed, match="git can't read the repository"):
        scanned(shop)


def test_without_git_the_error_says_so(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoRepository, match="git is not installed"):
        find_work_tree(shop)
