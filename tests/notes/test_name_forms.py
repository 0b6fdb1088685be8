from pathlib import Path

import pytest

from memory_bank.base.paths import Layout
from memory_bank.base.text import one_line
from memory_bank.notes import names


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    """Lay out a project with a source file, a page, a folder of notes and a link that leads out."""
    root = tmp_path.resolve() / "project"
    for folder in (".memories/facts", "src", "docs"):
        (root / folder).mkdir(parents=True)
    for file in ("src/a.py", "docs/guide.md", "Makefile"):
        (root / file).touch()
    (tmp_path / "same").symlink_to(root)
    return Layout(root / ".memories", root / ".memories/.index")


@pytest.mark.parametrize(
    "form",
    ["facts/x", " facts/x ", "./facts/x", "././facts/x", "facts\\x", ".\\facts\\x", ".memories/facts/x",
     "./.memories/facts/x", ".memories\\facts\\x", "memory://note/facts/x", "memory://note/facts%2Fx",
     "{root}/.memories/facts/x", "{link}/.memories/facts/x", "{root}/src/../.memories/facts/x",
     "facts/x:3", "facts/x:3:14", ".memories/facts/x:3", "facts//x", "facts/./x", ".memories//./facts/x",
     "[[facts/x]]", "[[facts/x|the note]]", "`facts/x`"],
)  # fmt: skip
def test_all_forms_of_a_notes_name_are_one(place: Layout, tmp_path: Path, form: str) -> None:
    named = form.format(root=place.project, link=tmp_path / "same")
    assert names.link_name(named, place) == "facts/x"
    assert names.file_link_name(named, place) == "facts/x"


@pytest.mark.parametrize(
    "form",
    ["src/a.py", "./src/a.py", "src\\a.py", "{root}/src/a.py", "{link}/src/a.py", "src/a.py:7",
     "src//a.py", "src/./a.py", "[[src/a.py]]", "`src/a.py`"],
)  # fmt: skip
def test_all_forms_of_a_files_name_are_one(place: Layout, tmp_path: Path, form: str) -> None:
    named = form.format(root=place.project, link=tmp_path / "same")
    assert names.file_link_name(named, place) == "src/a.py"


@pytest.mark.parametrize(
    "name",
    ["Plan: 2026", "ticket:42", "clause:4.2:3", "A title", "v1.2", "/etc/passwd:3:", "..", ""],
)
def test_what_is_no_such_form_stays(place: Layout, name: str) -> None:
    assert names.link_name(name, place) == name


@pytest.mark.parametrize("char", ["\u200c", "\u202e", "\u2028", "\U000e0041", "\xad", "\x1b"])
def test_a_name_may_be_given_as_answers_write_it(place: Layout, char: str) -> None:
    shown = one_line(f"facts/a{char}b.md")
    assert shown.isprintable()
    assert names.link_name(shown, place) == f"facts/a{char}b.md"


def test_what_answers_never_write_out_is_a_windows_path(place: Layout) -> None:
    assert names.file_link_name(r"src\u0061.py", place) == "src/u0061.py"
    assert names.file_link_name(r"src\Uffffffff", place) == "src/Uffffffff"


def test_a_file_outside_of_the_bank_is_no_note(place: Layout) -> None:
    """Else a page of the project would name the note that is called like it."""
    page = f"{place.project}/docs/guide.md"
    assert names.link_name(page, place) == page
    assert names.file_link_name(page, place) == "docs/guide.md"
    assert names.file_link_name("/etc/passwd", place) == "/etc/passwd"


def test_a_folder_of_notes_alone_has_no_prefix(tmp_path: Path) -> None:
    place = Layout(tmp_path, tmp_path / ".index")
    assert names.link_name(".memories/x", place) == ".memories/x"
    assert names.link_name(f"{tmp_path}/a/x.md:2", place) == "a/x.md"


@pytest.mark.parametrize(
    "name",
    ["src/a.py", "src/new.py", "new.py", "Makefile", "docs/guide.md", "docs/new.md", "lib/new",
     ".env.local", "symbol:build_index", "person:sarah"],
)  # fmt: skip
def test_a_name_may_be_that_of_a_file(place: Layout, name: str) -> None:
    assert names.may_be_file(name, place)


@pytest.mark.parametrize(
    "name",
    ["nothing", "facts/bm52", "facts/bm52.md", "bm52.md", "Release 1.2", "Plan: next", "",
     "../../etc/passwd", "/etc/passwd", "src/../../x.py", "a\0b", "x" * 5000],
)  # fmt: skip
def test_a_name_that_only_a_note_may_have_is_none_of_a_file(place: Layout, name: str) -> None:
    assert not names.may_be_file(name, place)
