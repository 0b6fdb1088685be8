import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.errors import BadName
from memory_bank.notes import names
from memory_bank.notes.storage import folders

LEAVING = [
    "../x", "a/../../x", "a/..", "..", ".", "./a", "a/./b", "/etc/passwd", "\\x", "C:x", "c:/x",
    "//host/share/x", "a//b", "a/", "", " ", "\t",
]  # fmt: skip
HIDDEN = [".git/config", "a/.hidden", ".x", ".trash/a", ".index/a", ".mb-x"]
UNHOLDABLE = [
    "a\0b", "a\nb", "a\x7fb", "a\ud800b", "nul", "NUL.md", "con.txt", "a/aux/b", "com1", "lpt9.x",
    "folder./x", "folder /x", "x" * 300, "ü" * 130, "a/" * 500 + "x", "ghost:src/a.py",
]  # fmt: skip


@pytest.mark.parametrize("name", [*LEAVING, *HIDDEN, *UNHOLDABLE])
def test_a_name_that_leaves_the_bank_or_no_system_can_hold_is_refused(name: str) -> None:
    with pytest.raises(BadName):
        names.note_path(name)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", "a.md"),
        ("a.md", "a.md"),
        (" decisions/tantivy ", "decisions/tantivy.md"),
        ("v1.2", "v1.2.md"),
        ("a.markdown", "a.markdown"),
        ("Ünïcode/日本語 ноты", "Ünïcode/日本語 ноты.md"),
        ("..a", None),
        ("a..b", "a..b.md"),
        ("nullable", "nullable.md"),
        ("com10", "com10.md"),
        ("what? [x] (y) & z", "what? [x] (y) & z.md"),
    ],
)
def test_a_name_gets_its_suffix_and_nothing_else(name: str, path: str | None) -> None:
    if path is None:
        with pytest.raises(BadName):
            names.note_path(name)
    else:
        assert names.note_path(name) == path


def test_a_decomposed_name_is_composed() -> None:
    assert names.note_path(unicodedata.normalize("NFD", "Fähre")) == "Fähre.md"


@pytest.mark.parametrize("char", '<>:"|?*\\')
def test_what_windows_can_not_hold_is_refused_in_new_names_only(char: str) -> None:
    with pytest.raises(BadName, match="Windows"):
        names.check_new(f"a{char}b.md")
    names.check_new("a (b) [c] & d's.md")


@pytest.mark.parametrize(
    "path",
    [
        "a\u200db.md", "a\u200cb.md", "a/b\u202ecod.md", "a\u2028b.md", "a\u2029b.md", "\ufeffa.md",
        "a\u00adb.md", "a\x85b.md", "a\nb.md", "a\U000e0041.md", "-rf.md", "a/-x/b.md", "CONIN$.md",
        "conout$.txt.md", "COM¹.md", "a/lpt³.x/b.md", "com0.md", "aux/b.md",
    ],
)  # fmt: skip
def test_what_nobody_sees_and_what_programs_mistake_is_refused_in_new_names(path: str) -> None:
    with pytest.raises(BadName):
        names.check_new(path)
    assert names.find_oddity(path)


@pytest.mark.parametrize("path", ["a-b/c-.md", "👩🏽.md", "日本語 ноты.md", "conin.md", "a$.md"])
def test_other_names_are_not_odd(path: str) -> None:
    assert names.find_oddity(path) == ""


def test_name_of_takes_the_usual_suffix_only() -> None:
    assert names.name_of("a/b.md") == "a/b"
    assert names.name_of("a/b.markdown") == "a/b.markdown"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Decisions/Tantivy.md", "decisions/tantivy"),
        (unicodedata.normalize("NFD", "Fähre"), "fähre"),
        ("two  words\there", "two words here"),
        ("STRASSE", "straße"),
        ("X.MD", "x"),
    ],
)
def test_names_that_look_the_same_have_one_key(one: str, other: str) -> None:
    assert names.lookup_key(one) == names.lookup_key(other)


@given(st.text(max_size=30))
def test_what_file_systems_may_take_for_one_folds_to_one(text: str) -> None:
    for form in ("NFC", "NFD"):
        for change in (str.casefold, str.upper):
            if change(text).casefold() == text.casefold():
                assert names.fold_path(
                    unicodedata.normalize(form, change(text))
                ) == names.fold_path(text)


@given(st.text(max_size=40))
def test_an_accepted_name_stays_in_the_bank(text: str) -> None:
    try:
        path = names.note_path(text)
    except BadName:
        return
    parts = path.split("/")
    assert path.endswith((".md", ".markdown"))
    assert not any(part.startswith(".") or not part for part in parts)
    assert "\0" not in path
    assert names.note_path(path) == path


def test_links_do_not_lead_out_of_the_bank(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("x")
    (folder / "away").symlink_to(outside)
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "dangling.md").symlink_to(outside / "nothing.md")
    for path in ("away/secret.md", "away/new.md", "link.md", "dangling.md", "../outside/secret.md"):
        with pytest.raises(BadName):
            folders.resolve_inside(folder, path)
    assert folders.resolve_inside(folder, "new/deep/x.md") == folder / "new/deep/x.md"


def test_a_folder_whose_name_starts_like_the_banks_is_outside(folder: Path) -> None:
    (folder.parent / "notes2").mkdir()
    with pytest.raises(BadName):
        folders.resolve_inside(folder, "../notes2/x.md")
