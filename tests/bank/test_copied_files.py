import os
from pathlib import Path

import pytest

from memory_bank.bank import copies
from memory_bank.bank.copies import WantedFiles
from memory_bank.base.errors import StorageFailed
from tests.conftest import run_git as git

LIMIT = 1000

LARGE = "x" * 2 * LIMIT


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with some blobs."""
    root = tmp_path_factory.mktemp("blobs")
    git(root, "init", "-q")
    return root


@pytest.fixture(scope="module")
def ids(tree: Path) -> dict[str, str]:
    found = {}
    for text in ("", "one\n", "two\n", "three\n", LARGE):
        (tree / "text").write_text(text)
        found[text] = git(tree, "hash-object", "-w", str(tree / "text")).strip()
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make an empty folder with a name that has no upper-case twin."""
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def there(root: Path) -> dict[str, str]:
    return {
        Path(folder, name).relative_to(root).as_posix(): Path(folder, name).read_text()
        for folder, _, names in os.walk(root)
        for name in names
    }


def write(folder: Path, tree: Path, blobs: dict[str, str], limit: int = LIMIT) -> dict[str, str]:
    return copies.write_files(folder, tree, WantedFiles(blobs, {}), 1e9, limit)


def test_more_than_a_copy_may_have_is_listed(
    folder: Path, tree: Path, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "MOST_BYTES", 10)
    blobs = {f"{number}.md": ids["three\n"] for number in range(5)} | {"a.md": ids["one\n"]}
    refused = write(folder, tree, blobs)
    assert set(there(folder)) == {"a.md"}
    assert set(refused.values()) == {"the revision has more than 10 bytes of notes"}


def test_what_git_does_not_have_is_listed(folder: Path, tree: Path, ids: dict[str, str]) -> None:
    refused = write(folder, tree, {"a.md": ids["one\n"], "b.md": "1" * 40})
    assert refused == {"b.md": "git doesn't have its content"}


def test_names_that_the_file_system_refuses_are_listed(
    folder: Path, tree: Path, ids: dict[str, str]
) -> None:
    long, twice = "n" * 300 + ".md", "a.md/b.md"
    refused = write(folder, tree, dict.fromkeys([long, "a.md", twice, "b.md"], ids["one\n"]))
    assert set(there(folder)) == {"a.md", "b.md"}
    assert set(refused) == {long, twice}
    assert "this file system refuses its name: " in refused[long]


def test_twins_are_listed_where_the_file_system_takes_them_for_one(
    folder: Path, tree: Path, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = {
        "A.md": ids["one\n"],
        "a.md": ids["two\n"],
        "e\u0301.md": ids["one\n"],
        "é.md": ids["two\n"],
    }
    assert write(folder, tree, blobs) == {}
    assert set(there(folder)) == set(blobs)
    monkeypatch.setattr(copies, "tells_case", lambda _: False)
    assert set(write(folder, tree, blobs)) == {"a.md", "é.md"}


def test_a_full_disk_is_no_refused_name(
    folder: Path, tree: Path, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StorageFailed, match="No space left"):
        write(folder, tree, {"a.md": ids["one\n"]})
