import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, BadName, NoteExists, UnreadableNote
from memory_bank.frontends.lsp.open_texts import LastAnswer, Texts
from memory_bank.frontends.lsp.rename import (
    Renaming,
    find_renameable,
    map_moves,
    move_links,
    record,
    rename,
    rename_note,
)
from memory_bank.memory import move_and_merge
from tests.frontends.lsp.conftest import Make, cursor

NOTES = {
    "facts/bm25.md": "# BM25\n\nSee [whoosh](../decisions/whoosh.md) and [[facts/idf]].\n\n## Ranks\n",
    "facts/idf.md": "---\nrelated: '[[facts/bm25]]'\n---\nSee [[bm25|it]], [[facts/bm25.md#Ranks]].\n",
    "decisions/whoosh.md": "😀 [[BM25]] [b](<../facts/bm25.md> 't') [[other/bm25]]\r\n![[bm25#Ranks]]\r\n",
    "deep/er/n.md": "[x](../../facts/bm25.md#ranks) `[[bm25]]` [[idf]] ![p](p.png)\n",
}


def applied(texts: Texts, renaming: Renaming) -> dict[str, str]:
    """Return the notes that a rename changes."""
    changed: dict[str, str] = {}
    for one in sorted(renaming.edits, key=lambda one: -one.start):
        text = changed.get(one.path, texts.read(one.path).text)
        changed[one.path] = text[: one.start] + one.text + text[one.end :]
    return changed


@pytest.mark.parametrize(
    "new",
    ["facts/okapi", "./okapi", "decisions/bm25", "deep/er/bm25", "decisions/idf", "facts/日本 😀"],
)
def test_a_rename_changes_what_the_move_of_a_note_changes(
    make: Make, tmp_path: Path, opening: Callable[..., Bank], new: str
) -> None:
    texts = make(NOTES)
    shutil.copytree(
        tmp_path / "project", tmp_path / "copy", ignore=shutil.ignore_patterns(".index")
    )
    bank = opening(tmp_path / "copy")
    done = move_and_merge.rename(bank, "facts/bm25", new)
    renaming = rename_note(texts, "facts/bm25.md", new)
    changed = applied(texts, renaming)
    assert Path(renaming.new_file).name == Path(done.path).name
    for path, text in NOTES.items():
        after = done.path if path == done.old_path else path
        expected = (tmp_path / "copy" / ".memories" / after).read_bytes().decode()
        assert changed.get(path, text) == expected, path


def test_links_that_are_not_saved_yet_are_renamed(make: Make) -> None:
    texts = make(NOTES, **{"deep/er/n": "New text and [[bm25]] 😀\n"})
    changed = applied(texts, rename_note(texts, "facts/bm25.md", "facts/okapi"))
    assert changed["deep/er/n.md"] == "New text and [[okapi]] 😀\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("See [[facts/bm‸25#Ranks]].", "facts/bm25"),
        ("See [[facts/bm25#Ra‸nks]].", "Ranks"),
        ("See [[facts/bm25#Ranks|te‸xt]].", None),
        ("---\ntype: fa‸ct\n---\n", "new"),
        ("# A\n\n## Some ‸*words* ##\n", "Some *words*"),
        ("Text‸ alone", None),
        ("[[noth‸ing]]", None),
    ],
)
def test_what_a_rename_changes_depends_on_the_cursor(
    make: Make, text: str, name: str | None
) -> None:
    plain, offset = cursor(text)
    what = find_renameable(make(NOTES, new=plain), "new.md", offset)
    assert (what.name if what else None) == name


def test_a_heading_is_renamed_with_the_links_to_it(make: Make) -> None:
    text = "# T\n\n## Ranks\n\n### Deep\n\n[[#Ranks]] [[#T#Ranks#Deep]] [[#Deep]]\n"
    texts = make(
        {**NOTES, "new.md": text, "m.md": "[[new#ranks|x]] [y](new.md#ranks) [[new#Deep]]\n"}
    )
    what = find_renameable(texts, "new.md", text.index("Ranks"))
    assert what is not None
    changed = applied(texts, rename(texts, what, "Scores of 5"))
    assert changed == {
        "new.md": "# T\n\n## Scores of 5\n\n### Deep\n\n[[#Scores of 5]] [[#T#Scores of 5#Deep]] [[#Deep]]\n",
        "m.md": "[[new#Scores of 5|x]] [y](new.md#scores-of-5) [[new#Deep]]\n",
    }


def test_the_title_is_renamed_with_the_links_by_title(make: Make) -> None:
    notes = {"a.md": "# Old title\n", "b.md": "[[Old title]] [[a]] [[Old title#Old title|x]]\n"}
    texts = make(notes)
    what = find_renameable(texts, "a.md", 3)
    assert what is not None
    changed = applied(texts, rename(texts, what, "New title"))
    assert changed == {
        "a.md": "# New title\n",
        "b.md": "[[New title]] [[a]] [[New title#New title|x]]\n",
    }


def test_a_setext_heading_is_renamed(make: Make) -> None:
    texts = make({"a.md": "Title\r\n=====\r\n\r\nx\r\n"})
    what = find_renameable(texts, "a.md", 2)
    assert what is not None
    assert applied(texts, rename(texts, what, "Other")) == {"a.md": "Other\r\n=====\r\n\r\nx\r\n"}


@pytest.mark.parametrize(
    ("new", "error"),
    [
        ("decisions/whoosh", NoteExists),
        ("../out", BadName),
        (".hidden", BadName),
        ("a:b", BadName),
        ("a#b", BadInput),
    ],
)
def test_a_name_that_a_note_can_not_have_is_refused(
    make: Make, new: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        rename_note(make(NOTES), "facts/bm25.md", new)


@pytest.mark.parametrize("new", ["", "two\nlines", "a ] b"])
def test_a_heading_that_no_link_can_name_is_refused(make: Make, new: str) -> None:
    texts = make({"a.md": "# T\n\n## Part\n\n[[#Part]]\n"})
    what = find_renameable(texts, "a.md", 8)
    assert what is not None
    with pytest.raises(BadInput):
        rename(texts, what, new)


def test_the_notes_of_a_moved_folder_move(make: Make) -> None:
    texts = make(NOTES)
    root = texts.bank.layout.root
    moves = map_moves(texts.bank, str(root / "facts"), str(root / "known/facts"))
    assert moves == {"facts/bm25.md": "known/facts/bm25.md", "facts/idf.md": "known/facts/idf.md"}
    changed = applied(texts, Renaming(tuple(move_links(texts, moves))))
    assert "[x](../../known/facts/bm25.md#ranks)" in changed["deep/er/n.md"]
    assert "[whoosh](../../decisions/whoosh.md)" in changed["facts/bm25.md"]
    assert map_moves(texts.bank, str(root / "facts"), "/elsewhere") == {}
    assert map_moves(texts.bank, str(root / "a.txt"), str(root / "b.txt")) == {}


def test_counts_stay_those_of_a_note_that_moved(make: Make) -> None:
    bank = make({"a.md": "x\n"}).bank
    bank.state.count_returned(["a.md"], 1.0)
    record(bank, {"a.md": "b.md"})
    assert bank.state.accesses(["b.md"])["b.md"].times == 1


def test_only_the_latest_text_of_a_file_is_kept() -> None:
    kept: LastAnswer[str, str] = LastAnswer(2)
    asked: list[str] = []

    def value(file: str, text: str) -> str:
        return kept.get(file, text, lambda: asked.append(text) or f"value of {text}")

    assert value("a", "1") == value("a", "1") == "value of 1"
    assert value("a", "2") == "value of 2"
    for file in "bacab":
        value(file, "2")
    assert asked == ["1", "2", "2", "2", "2"], "only b was forgotten"


def test_a_link_that_is_not_indexed_yet_is_renamed(make: Make) -> None:
    texts = make(NOTES)
    (texts.bank.layout.root / "later.md").write_text("[[facts/bm25]]\n")
    what = find_renameable(Texts(texts.bank, {"x.md": "[[bm25]]"}), "x.md", 3)
    assert what is not None
    changed = applied(texts, rename(texts, what, "facts/okapi"))
    assert changed["later.md"] == "[[facts/okapi]]\n"


def test_a_note_that_is_not_utf_8_is_not_rewritten(make: Make) -> None:
    texts = make(NOTES)
    (texts.bank.layout.root / "latin.md").write_bytes(b"caf\xe9 [[facts/bm25]]\n")
    texts.bank.catch_up()
    with pytest.raises(UnreadableNote, match=r"latin\.md"):
        rename_note(texts, "facts/bm25.md", "facts/okapi")


@pytest.mark.parametrize(("name", "file"), [("okapi", "facts/okapi.md"), ("./okapi", "okapi.md")])
def test_a_name_without_a_folder_keeps_the_folder(make: Make, name: str, file: str) -> None:
    found = rename_note(make(NOTES), "facts/bm25.md", name)
    assert found.new_file.endswith(f".memories/{file}")
