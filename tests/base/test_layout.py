import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base import paths
from memory_bank.base.errors import BadName, NoBank, StorageFailed
from memory_bank.frontends.hints import find_hint


def test_a_bank_lays_its_files_below_itself(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "project" / ".memories"
    root.mkdir(parents=True)
    place = paths.layout_at(root)
    assert place.root == root
    assert place.index == root / ".index"
    assert place.trash == root / ".trash"
    assert place.manifest == root / ".index" / "manifest.db"
    assert place.config == root / "config.toml"
    assert (place.project, place.prefix) == (root.parent, ".memories/")


def test_a_folder_of_any_name_is_its_own_project(folder: Path) -> None:
    place = paths.layout_at(folder)
    assert (place.project, place.prefix) == (folder, "")


def test_the_bank_is_found_from_any_folder_below(tmp_path: Path) -> None:
    (tmp_path / ".memories/decisions").mkdir(parents=True)
    (tmp_path / "src/deep").mkdir(parents=True)
    for start in (tmp_path, tmp_path / "src/deep", tmp_path / ".memories/decisions"):
        assert paths.find(start).root == (tmp_path / ".memories").resolve()


def test_no_bank_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    for look in (paths.find, paths.layout_at):
        with pytest.raises(NoBank, match="folder") as caught:
            look(tmp_path / "nothing")
        assert "memory-bank init" in find_hint(caught.value)


def test_folders_of_the_user_follow_the_environment(tmp_path: Path) -> None:
    for kind in ("data", "state", "cache"):
        found = paths.user_folder(kind, {f"XDG_{kind.upper()}_HOME": str(tmp_path)})
        assert found == tmp_path / "memory-bank"
    assert paths.user_folder("state", {}) == Path.home() / ".local/state/memory-bank"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", ".hidden", "a b", "a\0"])
def test_a_users_bank_stays_in_the_users_folder(name: str) -> None:
    with pytest.raises(BadName):
        paths.user_bank_folder(name)


def test_a_users_bank_has_its_folder(private_folders: Path) -> None:
    assert paths.user_bank_folder("work-2") == private_folders / "data" / "memory-bank" / "work-2"


def test_a_private_folder_hides_itself_from_git(tmp_path: Path) -> None:
    place = paths.private_folder(tmp_path / "a/b")
    assert (place / ".gitignore").read_text() == "*\n"
    (place / ".gitignore").write_text("mine\n")
    paths.private_folder(place)
    assert (place / ".gitignore").read_text() == "mine\n"


def test_links_that_a_repository_brings_are_not_followed(folder: Path, tmp_path: Path) -> None:
    """`.index -> ../../..` would have us make, fill and empty folders outside of the bank."""
    outside = tmp_path / "outside"
    (outside / "keyword").mkdir(parents=True)
    (outside / "keyword" / "mine").write_text("mine")
    (folder / ".index").symlink_to(outside)
    assert paths.layout_at(folder).index.is_relative_to(paths.user_folder("cache"))
    with pytest.raises(StorageFailed, match="symbolic link"):
        paths.private_folder(folder / ".index")
    (folder / ".index").unlink()
    (folder / ".index" / "deep").mkdir(parents=True)
    (folder / ".index" / "keyword").symlink_to(outside / "keyword")
    (folder / ".index" / "manifest.db").symlink_to(outside / "some.db")
    (folder / ".index" / "deep" / "x").symlink_to(outside)
    (folder / ".index" / ".gitignore").symlink_to(outside / "new")
    paths.without_links(paths.private_folder(folder / ".index"))
    assert sorted(os.listdir(folder / ".index")) == ["deep"]
    assert os.listdir(folder / ".index" / "deep") == []
    assert sorted(path.name for path in outside.rglob("*")) == ["keyword", "mine"]


READ_ONLY = """
import os, sys
from memory_bank.bank.bank import open_bank
from memory_bank.base import paths
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.doctor import doctor

def ask(path):
    with open_bank(path, settings={"memory.embedder": "none"}) as bank:
        found = recall(bank, "kestrel")
        outside = bank.layout.index.is_relative_to(paths.user_folder("cache"))
        return outside, [note.path for note in found.notes], found.problem, doctor(bank).healthy

state = os.environ["XDG_STATE_HOME"]
os.environ["XDG_STATE_HOME"] = sys.argv[2]
ask(sys.argv[2])  # loads what root alone may read
os.environ["XDG_STATE_HOME"] = state
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
print(*ask(sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("indexed_before", [False, True])
def test_a_bank_that_can_not_be_written_is_searched_all_the_same(
    for_anyone: Path,
    opening: Callable[..., Bank],
    run_python: Callable[..., subprocess.CompletedProcess[str]],
    indexed_before: bool,
) -> None:
    root, other = for_anyone / "bank", for_anyone / "other"
    root.mkdir()
    (root / "a.md").write_text("# Birds\n\nThe kestrel hovers.\n")
    shutil.copytree(root, other)
    if indexed_before:
        opening(root).sync()
        shutil.rmtree(for_anyone / "STATE/memory-bank")  # who asks has a state of his own
    before = sorted(path.name for path in root.rglob("*"))
    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        done = run_python(READ_ONLY, root, other, check=False)
    finally:
        for path in (root, *root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.stdout == "True ['a.md'] None True\n", done.stderr
    assert sorted(path.name for path in root.rglob("*")) == before


NO_HOME = """
import os, sys, tempfile
from memory_bank import open_bank, recall

def ask(path):
    with open_bank(path, settings={"memory.embedder": "none"}) as bank:
        found = [note.path for note in recall(bank, "kestrel", count_access=False).notes]
        return bank.layout.index, found

ask(sys.argv[1])  # loads what root alone may read
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
print(*ask(sys.argv[2]), sep="\\n")
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_user_whose_home_is_read_only_has_an_index_among_temporary_files(
    for_anyone: Path,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sandbox may let a program write nowhere else: no id could be made known for next time."""
    for name in ("one", "two", "tmp"):
        (for_anyone / name).mkdir()
        (for_anyone / name).chmod(0o777)
        (for_anyone / name / "a.md").write_text("# Birds\n\nThe kestrel hovers.\n")
    monkeypatch.setenv("TMPDIR", str(for_anyone / "tmp"))
    for kind in ("STATE", "CACHE"):
        (for_anyone / kind).chmod(0o555)
    done = run_python(NO_HOME, for_anyone / "one", for_anyone / "two", check=False)
    assert done.returncode == 0, done.stderr
    index, found = done.stdout.splitlines()[-2:]
    if os.getuid() == 0:
        assert Path(index).is_relative_to(for_anyone / "tmp"), done.stderr
        assert Path(index).parent.stat().st_mode & 0o777 == 0o700
        assert not (for_anyone / "two/.index").exists()
    assert found == "['a.md']"


def test_an_index_that_another_process_makes_meanwhile_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".memories").mkdir()
    layout = paths.layout_at(tmp_path / ".memories")
    ids = layout.ids
    assert ids is not None
    bare = paths.is_empty

    def made_meanwhile(index: Path) -> bool:
        paths.give_id(index, ids)
        (index / "manifest.db").touch()
        return bare(index)

    monkeypatch.setattr(paths, "is_empty", made_meanwhile)
    layout.make_index()
    assert layout.index_id == paths.read_id(layout.index) != ""
