from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_bank.bank.revisions import copies
from memory_bank.bank.revisions.copies import CopiedFiles
from memory_bank.bank.revisions.revision_files import WantedFiles
from memory_bank.base.errors import StorageFailed
from memory_bank.git import objects
from tests.conftest import run_git as git

TEXTS = ("", "one\n", "two\n", "three\n")
LIMIT = 1000


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with some blobs."""
    root = tmp_path_factory.mktemp("blobs")
    git(root, "init", "-q")
    return root


@pytest.fixture(scope="module")
def ids(tree: Path) -> dict[str, str]:
    found = {}
    for text in (*TEXTS, "x" * 2 * LIMIT):
        (tree / "text").write_text(text)
        found[text] = git(tree, "hash-object", "-w", str(tree / "text")).strip()
    return found


@pytest.fixture
def slot(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path


def there(slot: Path) -> dict[str, str]:
    root = slot / "project"
    return {
        Path(folder, name).relative_to(root).as_posix(): Path(folder, name).read_text()
        for folder, _, names in os.walk(root)
        for name in names
    }


def update(slot: Path, tree: Path, blobs: dict[str, str], limit: int = LIMIT) -> CopiedFiles:
    found = CopiedFiles(slot, slot / "project")
    found.update(tree, WantedFiles(blobs, {}), "c" * 40, limit)
    return found


# paths that become folders and files in turn
PATHS = st.sampled_from(["a.md", "b.md", "a.md/c.md", "d/e.md", "d/f/g.md", "d", "ü.md"])


def consistent(paths: dict[str, str]) -> dict[str, str]:
    """Leave out what can't be in one tree: a file where a folder is."""
    return {p: t for p, t in paths.items() if not any(q.startswith(f"{p}/") for q in paths)}


TREES = st.dictionaries(PATHS, st.sampled_from(TEXTS)).map(consistent)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees=st.lists(TREES, min_size=2, max_size=4), killed=st.integers(0, 12))
def test_whatever_was_there_and_wherever_it_was_killed_the_files_are_those_of_the_tree(
    trees: list[dict[str, str]],
    killed: int,
    tree: Path,
    ids: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    slot = tmp_path_factory.mktemp("slot")
    (slot / "project").mkdir()
    for number, texts in enumerate(trees):
        blobs = {path: ids[text] for path, text in texts.items()}
        if number == len(trees) - 2:
            with pytest.MonkeyPatch.context() as patched:
                die_after(killed, patched)
                try:
                    update(slot, tree, blobs)
                except KeyboardInterrupt:
                    continue
        else:
            update(slot, tree, blobs)
        assert there(slot) == texts
    assert there(slot) == trees[-1]


def die_after(steps: int, patched: pytest.MonkeyPatch) -> None:
    """Stop as a kill does: nothing is done any more after some steps."""
    left = [steps]
    for name in ("write_bytes", "unlink", "rmdir", "replace", "mkdir"):
        real = getattr(Path, name)

        def step(self: Path, *given: object, real: object = real, **named: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return real(self, *given, **named)  # type: ignore[operator]

        patched.setattr(Path, name, step)


def test_only_the_differences_are_written(
    slot: Path, tree: Path, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    update(slot, tree, {"a.md": ids["one\n"], "b.md": ids["two\n"]})
    read: list[str] = []
    real = objects.sized_blobs

    def spied(tree: Path, sizes: dict[str, int], limit: int) -> Iterator[tuple[str, bytes]]:
        read.extend(sizes)
        return real(tree, sizes, limit)

    monkeypatch.setattr(objects, "sized_blobs", spied)
    update(slot, tree, {"a.md": ids["one\n"], "b.md": ids["three\n"]})
    assert read == [ids["three\n"]]
    assert there(slot) == {"a.md": "one\n", "b.md": "three\n"}


def test_a_large_file_is_not_read_until_the_limit_allows_it(
    slot: Path, tree: Path, ids: dict[str, str]
) -> None:
    blobs = {"large.md": ids["x" * 2 * LIMIT], "a.md": ids["one\n"]}
    for _ in range(2):
        found = update(slot, tree, blobs)
        assert found.refused == {
            "large.md": f"{2 * LIMIT} bytes, more than the setting max_note_bytes = {LIMIT}"
        }
        assert set(found.files) == {"a.md"}
    assert update(slot, tree, blobs, 3 * LIMIT).refused == {}
    assert set(there(slot)) == {"a.md", "large.md"}


def test_more_than_a_copy_may_have_is_listed(
    slot: Path, tree: Path, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_MOST_BYTES", 10)
    blobs = {f"{number}.md": ids["three\n"] for number in range(5)} | {"a.md": ids["one\n"]}
    found = update(slot, tree, blobs)
    assert set(found.files) == {"a.md"}
    assert set(found.refused.values()) == {"the revision has more than 10 bytes of notes"}


def test_names_that_the_file_system_refuses_are_listed(
    slot: Path, tree: Path, ids: dict[str, str]
) -> None:
    long, twice = "n" * 300 + ".md", "a.md/b.md"
    found = update(slot, tree, dict.fromkeys([long, "a.md", twice, "b.md"], ids["one\n"]))
    assert set(found.files) == {"a.md", "b.md"}
    assert set(found.refused) == {long, twice}
    assert "this file system refuses its name: " in found.refused[long]


def test_twins_are_listed_where_the_file_system_takes_them_for_one(
    slot: Path, tree: Path, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = {
        "A.md": ids["one\n"],
        "a.md": ids["two\n"],
        "e\u0301.md": ids["one\n"],
        "é.md": ids["two\n"],
    }
    assert set(update(slot, tree, blobs).files) == set(blobs)
    for name in blobs:
        (slot / "project" / name).unlink()
    (slot / "files.json").unlink()
    monkeypatch.setattr(CopiedFiles, "_exact", False)
    found = update(slot, tree, blobs)
    assert set(found.files) == {"A.md", "e\u0301.md"}
    assert set(found.refused) == {"a.md", "é.md"}


def test_a_full_disk_is_no_refused_name(
    slot: Path, tree: Path, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(StorageFailed, match="No space left"):
            update(slot, tree, {"a.md": ids["one\n"]})
    update(slot, tree, {"a.md": ids["one\n"]})
    assert there(slot) == {"a.md": "one\n"}


@pytest.mark.parametrize("record", ["", "{", "[]", '{"version": 0}', '{"version": 1, "files": 3}'])
def test_a_damaged_record_means_that_all_is_written_again(
    slot: Path, tree: Path, ids: dict[str, str], record: str
) -> None:
    update(slot, tree, {"a.md": ids["one\n"], "b.md": ids["two\n"]})
    (slot / "files.json").write_text(record)
    (slot / "project/a.md").write_text("damaged")
    (slot / "project/left.md").write_text("left")
    update(slot, tree, {"a.md": ids["one\n"]})
    assert there(slot) == {"a.md": "one\n"}
    assert json.loads((slot / "files.json").read_text())["files"] == {"a.md": ids["one\n"]}
