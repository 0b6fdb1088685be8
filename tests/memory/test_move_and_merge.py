import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import (
    BadInput,
    BadName,
    Busy,
    Conflict,
    NoteExists,
    NoteNotFound,
    StorageFailed,
    UnreadableNote,
)
from memory_bank.base.locks import hold_lock
from memory_bank.base.paths import private_folder
from memory_bank.memory.links import links_of
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from memory_bank.memory.trash import delete, restore, trash
from memory_bank.notes.storage import journal
from memory_bank.search.manifest import link_rows
from tests.search.views import view_of
from tests.support.files import write_files

Put = Callable[[dict[str, str]], None]


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


@pytest.fixture
def put(folder: Path) -> Put:
    def put(notes: dict[str, str]) -> None:
        write_files(folder, notes)

    return put


def texts(bank: Bank) -> dict[str, str]:
    """Map each note to its text."""
    root = bank.layout.root
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode()
        for path in sorted(root.rglob("*.md"))
        if ".trash" not in path.parts
    }


def leads(bank: Bank) -> dict[str, list[str]]:
    """Map each note to the notes and ghosts that it links to."""
    bank.catch_up()
    found: dict[str, list[str]] = {}
    for row in link_rows.all_links(view_of(bank).manifest):
        found.setdefault(row.source_key, []).append(row.dest_key or f"ghost:{row.ghost}")
    return found


# --- rename


@pytest.mark.parametrize(
    ("link", "after"),
    [
        ("[[old]]", "[[new]]"),
        ("[[facts/old]]", "[[plans/deep/new]]"),
        ("[[facts/old.md]]", "[[plans/deep/new.md]]"),
        ("[[old|shown]]", "[[new|shown]]"),
        ("[[old#Part]]", "[[new#Part]]"),
        ("[[old^block]]", "[[new^block]]"),
        ("![[old]]", "![[new]]"),
        ("[[OLD]]", "[[new]]"),
        ("[x](../facts/old.md)", "[x](../plans/deep/new.md)"),
        ("[x](<../facts/old.md> 'title')", "[x](<../plans/deep/new.md> 'title')"),
        ("[x](../facts/old.md#part)", "[x](../plans/deep/new.md#part)"),
        ("[[../facts/old]]", "[[../plans/deep/new]]"),
        ("supersedes:: [[old]]", "supersedes:: [[new]]"),
        ("[[An alias]]", "[[An alias]]"),
        ("[[abc123]]", "[[abc123]]"),
        ("`[[old]]`", "`[[old]]`"),
        ("[[older]] [[old/x]]", "[[older]] [[old/x]]"),
    ],
)
def test_links_follow_a_renamed_note(bank: Bank, put: Put, link: str, after: str) -> None:
    text = "---\nid: abc123\naliases: [An alias]\n---\ntext ^block\n\n# Part\n"
    put({"facts/old.md": text, "d/a.md": f"See {link}.\r\n"})
    before = leads(bank)
    found = rename(bank, "facts/old", "plans/deep/new")
    assert texts(bank) == {"plans/deep/new.md": text, "d/a.md": f"See {after}.\r\n"}
    assert (found.old_path, found.path) == ("facts/old.md", "plans/deep/new.md")
    assert found.relinked == (("d/a.md",) if link != after else ())
    now = {s: [g.replace("facts/old", "plans/deep/new") for g in gs] for s, gs in before.items()}
    assert leads(bank) == now


def test_the_moved_notes_own_relative_links_stay_right(bank: Bank, put: Put) -> None:
    put(
        {
            "a/old.md": "[x](b.md) [y](../c.md) [z](../../src/x.py) [s](old.md) [[b]] [[./b]] [t](#t)",
            "a/b.md": "b",
            "c.md": "c",
        }
    )
    before = leads(bank)["a/old.md"]
    rename(bank, "a/old", "new")
    after = leads(bank)["new.md"]
    assert [goal.replace("a/old.md", "new.md") for goal in before[:2]] == after[:2]
    assert after[3:6] == ["new.md", "a/b.md", "a/b.md"]
    assert texts(bank)["new.md"].startswith("[x](a/b.md) [y](c.md) [z](../src/x.py) [s](new.md)")


def test_a_short_name_that_would_mean_another_note_becomes_long(bank: Bank, put: Put) -> None:
    put({"x/old.md": "1", "y/new.md": "2", "a.md": "[[old]]"})
    rename(bank, "old", "x/new")
    assert texts(bank)["a.md"] == "[[x/new]]"
    assert leads(bank) == {"a.md": ["x/new.md"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [("note.md", "Note"), ("Ä.md", "ä"), (unicodedata.normalize("NFD", "é.md"), "é")],
)
def test_a_note_may_change_the_case_or_form_of_its_name(
    bank: Bank, put: Put, old: str, new: str
) -> None:
    put({old: "text", "a.md": f"[[{new}]]"})
    assert rename(bank, old, new).path == f"{new}.md"
    assert texts(bank) == {f"{new}.md": "text", "a.md": f"[[{new}]]"}
    assert leads(bank) == {"a.md": [f"{new}.md"]}


def test_a_note_moves_into_a_folder(bank: Bank, put: Put) -> None:
    put({"old.md": "x"})
    assert rename(bank, "old", "deep/er/").path == "deep/er/old.md"
    assert rename(bank, "deep/er/old", "deep/er/old").relinked == ()


@pytest.mark.parametrize("taken", ["b", "B", "deep/c"])
def test_a_name_that_is_taken_is_not_taken_again(bank: Bank, put: Put, taken: str) -> None:
    put({"a.md": "a", "b.md": "[[a]]", "Deep/C.md": "c"})
    before = texts(bank)
    with pytest.raises(NoteExists):
        rename(bank, "a", taken)
    assert texts(bank) == before


@pytest.mark.parametrize("name", ["../out", ".git/x", "x/../../y", "nul", "a?b", "/x"])
def test_a_note_does_not_leave_the_bank(bank: Bank, put: Put, name: str) -> None:
    put({"a.md": "a"})
    with pytest.raises(BadName):
        rename(bank, "a", name)
    assert texts(bank) == {"a.md": "a"}


def test_a_rename_that_can_not_be_done_whole_is_not_done(
    bank: Bank, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    put({"old.md": "x", "a.md": "[[old]]", "b.md": "[[old]]"})
    before = texts(bank)
    do = journal.do_step
    steps = iter(range(9))

    def failing(*arguments: object) -> None:
        if next(steps) == 3:
            raise StorageFailed("no space")
        do(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(journal, "do_step", failing)
    with pytest.raises(StorageFailed):
        rename(bank, "old", "new")
    assert texts(bank) == before
    assert leads(bank) == {"a.md": ["old.md"], "b.md": ["old.md"]}


def test_a_link_in_a_file_that_is_never_rewritten_stops_the_rename(
    bank: Bank, put: Put, folder: Path
) -> None:
    put({"old.md": "x", "b.md": "[[old]]"})
    (folder / "latin.md").write_bytes(b"caf\xe9 [[old]]\n")
    with pytest.raises(UnreadableNote, match=r"latin\.md"):
        rename(bank, "old", "new")
    assert (folder / "b.md").read_text() == "[[old]]"
    assert (folder / "old.md").exists()


def test_a_file_that_is_never_rewritten_may_move(bank: Bank, put: Put, folder: Path) -> None:
    put({"other.md": "x"})
    (folder / "latin.md").write_bytes(b"caf\xe9 [[other]]\n")
    rename(bank, "latin", "moved")
    assert (folder / "moved.md").read_bytes() == b"caf\xe9 [[other]]\n"


def test_links_that_are_not_indexed_yet_are_not_forgotten(
    bank: Bank, put: Put, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process indexes for long: a rename must wait or refuse, not miss a link."""
    put({"old.md": "x"})
    bank.sync()
    put({"a.md": "[[old]]"})
    monkeypatch.setattr("memory_bank.search.index._WAIT", 0.1)
    with hold_lock(private_folder(folder / ".index")), pytest.raises(Busy):
        rename(bank, "old", "new")
    assert texts(bank) == {"old.md": "x", "a.md": "[[old]]"}
    rename(bank, "old", "new")
    assert texts(bank) == {"new.md": "x", "a.md": "[[new]]"}


def test_a_note_that_can_not_be_renamed_is_said(bank: Bank, put: Put) -> None:
    put({"a/x.md": "1", "b/x.md": "2"})
    with pytest.raises(NoteNotFound):
        rename(bank, "nothing", "new")
    with pytest.raises(NoteNotFound, match="2 notes"):
        rename(bank, "x", "new")


# --- delete and restore


def test_a_deleted_note_is_found_no_more_and_comes_back(bank: Bank, put: Put) -> None:
    put({"deep/a.md": "kestrel", "b.md": "[[a]]"})
    etag = show(bank, "a").etag
    with pytest.raises(Conflict):
        delete(bank, "a", if_match="0" * 64)
    gone = delete(bank, "a", if_match=etag)
    assert recall(bank, "kestrel").result_count == 0
    assert leads(bank) == {"b.md": ["ghost:a"]}
    assert trash(bank) == [gone]
    assert restore(bank, "deep/a") == "deep/a.md"
    assert recall(bank, "kestrel").notes[0].path == "deep/a.md"
    assert leads(bank) == {"b.md": ["deep/a.md"]}
    assert show(bank, "a").etag == etag
    assert trash(bank) == []


def test_a_note_comes_back_under_another_name(bank: Bank, put: Put) -> None:
    put({"a.md": "old"})
    delete(bank, "a")
    put({"a.md": "new"})
    with pytest.raises(NoteExists):
        restore(bank, "a")
    with pytest.raises(BadName):
        restore(bank, "a", "../a")
    assert restore(bank, "a.md", "b") == "b.md"
    assert texts(bank) == {"a.md": "new", "b.md": "old"}
    with pytest.raises(NoteNotFound):
        restore(bank, "a")


@pytest.mark.parametrize("name", ["nul.md", "what?.md", "trailing .md", "com1/x.md"])
def test_a_note_of_an_odd_name_comes_back(bank: Bank, put: Put, name: str) -> None:
    put({name: "x"})
    delete(bank, name)
    assert restore(bank, name) == name


# --- merge


def test_several_notes_become_one(bank: Bank, put: Put, folder: Path) -> None:
    put(
        {
            "a.md": "---\ntype: fact\ntags: [x, y]\nfile_refs: [src/a.py]\n---\nA\n",
            "b.md": "---\ntype: fact\ntags: [y, z]\nfile_refs: [src/a.py, src/b.py]\n---\nB [[a]]\n",
            "c.md": "[[a]] [[b#Part|shown]] [x](a.md) [[other]]",
            "other.md": "o",
        }
    )
    found = merge(bank, ["a", "b", "a.md"], "deep/new", "# New\n\ntext", tags=["W"])
    assert found.path == "deep/new.md"
    assert found.merged == ("a.md", "b.md")
    assert found.relinked == ("c.md",)
    now = texts(bank)
    assert set(now) == {"c.md", "deep/new.md", "other.md"}
    assert now["c.md"] == "[[new]] [[new#Part|shown]] [x](deep/new.md) [[other]]"
    shown = show(bank, "deep/new")
    assert (shown.etag, shown.note_id, shown.meta.type) == (found.etag, found.note_id, "fact")
    assert shown.meta.tags == ("x", "y", "z", "w")
    assert recall(bank, "links:src/b.py").notes[0].meta.file_refs == ("src/a.py", "src/b.py")
    assert {note.path for note in trash(bank)} == {"a.md", "b.md"}
    assert restore(bank, "a", "a again") == "a again.md"


def test_the_target_may_be_one_of_the_notes(bank: Bank, put: Put, folder: Path) -> None:
    put({"a.md": "A", "b.md": "B", "c.md": "[[a]] [[b]]"})
    found = merge(bank, ["a", "b"], "a", "both")
    assert texts(bank)["c.md"] == "[[a]] [[a]]"
    assert show(bank, "a").body.strip() == "both"
    assert found.merged == ("a.md", "b.md")
    old = {(folder / ".trash" / note.version / note.path).read_text() for note in trash(bank)}
    assert old == {"A", "B"}


def test_content_with_front_matter_keeps_its_own(bank: Bank, put: Put) -> None:
    put({"a.md": "---\ntags: [x]\n---\nA", "b.md": "B"})
    merge(bank, ["a", "b"], "c", "---\nown: 1\n---\ntext")
    assert texts(bank) == {"c.md": "---\nown: 1\n---\ntext\n"}


def test_a_merge_that_can_not_be_is_not_begun(bank: Bank, put: Put) -> None:
    put({"a.md": "A", "b.md": "B", "taken.md": "[[a]]"})
    before = texts(bank)
    for sources, target, content, error in (
        (["a", "b"], "taken", "x", NoteExists),
        (["a", "b"], "Taken", "x", NoteExists),
        (["a", "nothing"], "c", "x", NoteNotFound),
        ([], "c", "x", BadInput),
        (["a", "b"], "c", " \n", BadInput),
        (["a", "b"], "c", "x\0", BadInput),
        (["a", "b"], "../c", "x", BadName),
    ):
        with pytest.raises(error):
            merge(bank, sources, target, content)
    with pytest.raises(BadInput):
        merge(bank, ["a", "b"], "c", "x", tags=[""])
    assert texts(bank) == before
    assert trash(bank) == []


def test_backlinks_of_a_merged_note_are_those_of_all(bank: Bank, put: Put) -> None:
    put({"a.md": "A", "b.md": "B", "x.md": "[[a]]", "y.md": "[[b]]"})
    merge(bank, ["a", "b"], "c", "both")
    assert [link.source for link in links_of(bank, "c").incoming] == ["x.md", "y.md"]


def test_a_note_that_others_are_merged_into_is_answered_as_updated(
    folder: Path, opening: Callable[..., Bank]
) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text(f"---\ncreated_at: 2020-01-01\n---\n{name}\n")
    bank = opening(folder)
    merge(bank, ["a", "b"], "a", "both")
    shown = show(bank, "a")
    assert "updated_at" not in shown.content
    assert shown.updated_at > shown.created_at == "2020-01-01T00:00:00Z"


def test_a_plain_name_of_a_superseded_note_follows(bank: Bank, put: Put) -> None:
    put({"old.md": "# A\n", "b.md": "---\nsupersedes: old\ntitle: old\n---\nText.\n"})
    assert rename(bank, "old", "c/newer").relinked == ("b.md",)
    assert texts(bank)["b.md"] == "---\nsupersedes: newer\ntitle: old\n---\nText.\n"


def test_a_wikilink_in_front_matter_follows(bank: Bank, put: Put) -> None:
    put({"a.md": "# A\n", "b.md": "---\ntags: [x]\nsee:\n  - '[[a]]'\nup: '[[a|A]]'\n---\n[[a]]\n"})
    assert rename(bank, "a", "c/d").relinked == ("b.md",)
    assert texts(bank)["b.md"] == "---\ntags: [x]\nsee:\n  - '[[d]]'\nup: '[[d|A]]'\n---\n[[d]]\n"
