"""A text is removed from files without a change of any other byte."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_bank.base.errors import Conflict, UnreadableNote
from memory_bank.base.removed_text import RemovedText
from memory_bank.memory import forgotten_texts
from memory_bank.notes.storage import files

REMOVED = RemovedText("marigold")
PIECES = st.lists(
    st.sampled_from(
        [
            "marigold",
            "Marigold",
            "rose\r\n",
            "\n",
            "---\n",
            "title: x\n",
            "# ",
            "[",
            "](y)",
            "ä",
            " ",
        ]
    ),
    max_size=30,
)


def put(folder: Path, name: str, data: bytes) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


@given(PIECES, st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_all_other_bytes_stay(folder: Path, pieces: list[str], mark: bool) -> None:
    head = "\ufeff" if mark else ""
    file = put(folder, "a.md", (head + "".join(pieces)).encode())
    forgotten_texts.rewrite(folder, "a.md", REMOVED)
    after = file.read_bytes().decode()
    around = map(re.escape, (head + "".join(pieces)).split("marigold"))
    assert re.fullmatch(r"(?:\[forgotten\]|forgotten)".join(around), after)
    assert "marigold" not in after


def test_front_matter_stays_yaml(folder: Path) -> None:
    text = "---\r\ntags: [a, marigold]\r\ntitle: marigold\r\n---\r\nA marigold.\r\n"
    file = put(folder, "a.md", text.encode())
    forgotten_texts.rewrite(folder, "a.md", REMOVED)
    assert file.read_bytes().decode() == (
        "---\r\ntags: [a, forgotten]\r\ntitle: forgotten\r\n---\r\nA [forgotten].\r\n"
    )


def test_a_file_that_is_not_utf8_stays(folder: Path) -> None:
    file = put(folder, "a.md", b"\xe9 marigold")
    number, problem = forgotten_texts.count_text(folder, "a.md", REMOVED)
    assert number == 1
    assert "not UTF-8" in problem
    with pytest.raises(UnreadableNote):
        forgotten_texts.rewrite(folder, "a.md", REMOVED)
    assert file.read_bytes() == b"\xe9 marigold"


def test_a_save_in_between_is_not_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(folder, "a.md", b"marigold")
    read = files.read_in
    saves = [b"marigold, rose", b"marigold, rose, tulip"]

    def saved(root: Path, path: str) -> bytes | None:
        data = read(root, path)
        if saves:
            file.write_bytes(saves.pop(0))
        return data

    monkeypatch.setattr(files, "read_in", saved)
    forgotten_texts.rewrite(folder, "a.md", REMOVED)
    assert file.read_bytes() == b"[forgotten], rose, tulip"
    saves.extend(b"marigold %d" % number for number in range(20))
    file.write_bytes(b"marigold")
    with pytest.raises(Conflict):
        forgotten_texts.rewrite(folder, "a.md", REMOVED)


def test_files_of_git_and_of_the_index_are_left_out(folder: Path) -> None:
    for name in ("a.md", ".trash/1/b.md", "c/d.md", ".git/x", ".index/y", "c/.git/z", "c/.mb-12"):
        put(folder, name, b"")
    found = sorted(forgotten_texts.yield_files(folder))
    assert found == [".trash/1/b.md", "a.md", "c/.mb-12", "c/d.md"]
    assert [name for name in found if forgotten_texts.is_leftover(name)] == ["c/.mb-12"]
    assert [name for name in found if forgotten_texts.is_note(name)] == [
        ".trash/1/b.md",
        "a.md",
        "c/d.md",
    ]


def test_the_folders_of_a_removed_version_are_removed(folder: Path) -> None:
    put(folder, ".trash/1/a/b.md", b"")
    put(folder, "a/b.md", b"")
    forgotten_texts.remove_file(folder, ".trash/1/a/b.md")
    forgotten_texts.remove_file(folder, "a/b.md")
    assert sorted(path.name for path in folder.rglob("*")) == [".trash", "a"]


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("sessions/23-plan-the-falcon-project-s1.md", "sessions/23-plan-the-forgotten-s1.md"),
        ("Falcon  Project.md", "forgotten.md"),
        ("falcon-projects.md", "falcon-projects.md"),
        ("other.md", "other.md"),
    ],
)
def test_a_name_is_changed_where_it_has_the_text(path: str, new: str) -> None:
    assert forgotten_texts.new_name(path, RemovedText("Falcon Project")) == new
