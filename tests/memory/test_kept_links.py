"""Links keep the note that they meant when another note gets their name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import Conflict
from memory_bank.memory.change import rewrite
from memory_bank.memory.create import create
from memory_bank.memory.edit import archive, edit
from memory_bank.memory.import_notes import import_notes
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.remember import remember
from tests.memory.test_move_and_merge import leads, texts
from tests.support.files import write_files

FOO = "# The first\n"


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


def put(bank: Bank, notes: dict[str, str]) -> None:
    write_files(bank.layout.root, notes)


def moved(bank: Bank) -> str | None:
    put(bank, {"c/bar.md": "# Bar\n\n[[foo]]\n"})
    assert "other.md" in rename(bank, "c/bar", "a/foo").relinked
    return None


def remembered(bank: Bank) -> str | None:
    return remember(bank, "Another text", name="a/foo").warning


def created(bank: Bank) -> str | None:
    return create(bank, "a/foo", "Another text").warning


def imported(bank: Bank) -> str | None:
    source = bank.layout.root.parent / "vault"
    source.mkdir()
    (source / "foo.md").write_text("Another text\n")
    (note,) = import_notes(bank, "markdown", source, into="a").notes
    return note.reason


def merged(bank: Bank) -> str | None:
    put(bank, {"c/x.md": "# X\n", "c/y.md": "# Y\n"})
    assert "other.md" in merge(bank, ["c/x", "c/y"], "a/foo", "# Both\n").relinked
    return None


DOORS = [moved, remembered, created, imported, merged]


@pytest.mark.parametrize("door", DOORS)
def test_a_link_by_file_name_is_written_with_the_folder_of_its_note(
    bank: Bank, door: Callable[[Bank], str | None]
) -> None:
    put(bank, {"b/foo.md": FOO, "other.md": "[[foo]], [[foo#The first|it]], ![[FOO]], [[b/foo]]\n"})
    said = door(bank)
    assert texts(bank)["other.md"] == "[[b/foo]], [[b/foo#The first|it]], ![[b/foo]], [[b/foo]]\n"
    assert leads(bank)["other.md"] == ["b/foo.md"] * 4
    assert said is None or "[[foo]] of other.md meant b/foo.md" in said


@pytest.mark.parametrize(
    ("there", "link", "new", "content", "after"),
    [
        ({"b/x.md": "---\naliases: [foo]\n---\n# T\n"}, "[[foo]]", "a/foo", "N", "[[b/x]]"),
        ({"b/x.md": "# Foo\n"}, "[[Foo]]", "foo", "N", "[[b/x]]"),
        ({"b/x.md": "# The title\n"}, "[[The title]]", "a/n", "# The Title\n", "[[b/x]]"),
        ({"d/0007-x.md": "# X\n"}, "[[ADR-7]]", "d/0007-y", "# Y\n", "[[d/0007-x]]"),
        ({"foo.md": FOO}, "[t](../foo.md#the-first)", "a/foo", "N", "[t](../foo.md#the-first)"),
        ({"foo.md": FOO}, "[t](foo.md)", "n/foo", "N", "[t](../foo.md)"),
        ({"b/x/foo.md": FOO}, "[[x/foo]]", "x/foo", "N", "[[b/x/foo]]"),
        ({"foo.md": FOO}, "[[foo]]", "a/foo", "N", "[[foo]]"),
        ({"b/foo.md": FOO}, "`[[foo]]`", "a/foo", "N", "`[[foo]]`"),
        ({"a/foo.md": FOO, "b/foo.md": "# B\n"}, "[[foo]]", "c/foo", "N", "[[foo]]"),
        ({"b/o.md": FOO}, "[[foo]]", "a/foo", "N", "[[foo]]"),
    ],
    ids=[
        "alias", "title and file name", "title", "record's number", "path", "path from the bank",
        "path's end", "whole name", "code", "ambiguous before", "not written yet",
    ],
)  # fmt: skip
def test_what_a_new_note_may_take_is_what_its_names_are(
    bank: Bank, there: dict[str, str], link: str, new: str, content: str, after: str
) -> None:
    put(bank, {**there, "n/other.md": f"{link}\n"})
    remembered = remember(bank, content, name=new)
    assert texts(bank)["n/other.md"] == f"{after}\n"
    assert (remembered.relinked == ("n/other.md",)) is (link != after)
    assert (remembered.warning is None) is (link == after)


def test_the_moved_note_itself_keeps_its_links_to_the_other(bank: Bank) -> None:
    put(bank, {"b/foo.md": FOO, "c/bar.md": "# Bar\n\n[[foo]] [[bar]]\n"})
    rename(bank, "c/bar", "a/foo")
    assert texts(bank)["a/foo.md"] == "# Bar\n\n[[b/foo]] [[a/foo]]\n"
    assert leads(bank)["a/foo.md"] == ["b/foo.md", "a/foo.md"]


def test_links_in_front_matter_are_kept(bank: Bank) -> None:
    put(bank, {"b/foo.md": FOO, "o.md": '---\nsupersedes: foo\nrelated: "[[foo]]"\n---\nO\n'})
    remember(bank, "N", name="a/foo")
    assert texts(bank)["o.md"] == '---\nsupersedes: b/foo\nrelated: "[[b/foo]]"\n---\nO\n'


def test_pictures_move_with_their_note(bank: Bank) -> None:
    put(bank, {"a/n.md": "![p](p.png) ![q](<../x y.png>) ![[r.png]] ![](https://x.org/y.png)\n"})
    rename(bank, "a/n", "c/d/n")
    assert texts(bank)["c/d/n.md"] == (
        "![p](../../a/p.png) ![q](<../../x y.png>) ![[r.png]] ![](https://x.org/y.png)\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "other", "after"),
    [
        ("# Old\n", "# The Title\n", "[[The title]]\n", "[[b/x]]\n"),
        ("# Old\n", "---\naliases: [tt]\n---\n# Old\n", "[[tt]] [[x]]\n", "[[b/x]] [[x]]\n"),
        ("# Old\n", "# Old\n\nThe title\n", "[[The title]]\n", "[[The title]]\n"),
        ("# The title\n", "# The title\n\nN\n", "[[The title]]\n", "[[The title]]\n"),
    ],
    ids=["title", "alias", "no new name", "ambiguous before"],
)
def test_a_note_that_gets_a_new_name_by_an_edit_takes_no_link(
    bank: Bank, old: str, new: str, other: str, after: str
) -> None:
    put(bank, {"b/x.md": "---\naliases: [tt]\n---\n# The title\n", "a.md": old, "o.md": other})
    written = rewrite(bank, "a", new)
    assert texts(bank)["o.md"] == after
    assert written.relinked == (("o.md",) if after != other else None)
    assert ("of o.md meant b/x.md, as it now says" in (written.warning or "")) is (after != other)


def test_an_edited_note_keeps_its_own_links_to_the_note_whose_name_it_gets(bank: Bank) -> None:
    put(bank, {"b/x.md": "# Foo\n", "a.md": "# Old\n\n[[Foo]] [[a]] `[[Foo]]`\n"})
    written = edit(bank, "a", "# Foo", old="# Old")
    assert texts(bank)["a.md"] == "# Foo\n\n[[b/x]] [[a]] `[[Foo]]`\n"
    assert leads(bank)["a.md"] == ["b/x.md", "a.md"]
    assert written.relinked is None
    assert "[[Foo]] of a.md meant b/x.md, as it now says" in (written.warning or "")


def test_an_edit_that_fails_rewrites_no_link(bank: Bank) -> None:
    put(bank, {"b/x.md": "# Foo\n", "a.md": "# Old\n", "o.md": "[[Foo]]\n"})
    before = texts(bank)
    with pytest.raises(Conflict):
        rewrite(bank, "a", "# Foo\n", if_match="0123")
    assert texts(bank) == before


def test_a_status_takes_no_link(bank: Bank) -> None:
    put(bank, {"b/x.md": "# Foo\n", "a.md": "# Foo\n", "o.md": "[[Foo]] [[x]]\n"})
    archive(bank, ["a"])
    assert texts(bank)["o.md"] == "[[Foo]] [[x]]\n"
