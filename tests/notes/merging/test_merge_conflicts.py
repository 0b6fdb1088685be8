from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, UnreadableNote
from memory_bank.memory.change import set_status, write
from memory_bank.memory.create import create
from memory_bank.memory.edit import append, edit
from memory_bank.memory.move_and_merge import merge as merged
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.remember import remember
from memory_bank.memory.show import show
from memory_bank.memory.trash import delete, restore
from memory_bank.notes.merging import conflicts
from memory_bank.notes.parsing import parse

Conflict = Callable[..., Path]

HEAD = "---\nid: 0123456789ab\ntags: [{}]\n---\n"
BOTH = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_what_git_writes_is_found_with_its_line(conflict: Conflict, style: str) -> None:
    file = conflict("# Port\n\n8081\n", "# Port\n\n8082\n", base="# Port\n\n8080\n", style=style)
    (found,) = conflicts.find(file.read_text())
    assert found.line == 3
    assert [marker[0] for marker in found.markers] == list("<=>" if style == "merge" else "<|=>")
    assert parse("a.md", file.read_bytes()).faults == (("unresolved merge conflict", 3),)


def test_each_of_several_is_found_in_a_fence_and_with_any_line_ends(conflict: Conflict) -> None:
    parts = "# Port\r\n\r\n{}\r\n\r\nkept\r\n\r\nkept\r\n\r\nkept\r\n\r\n```sh\r\n{}\r\n```\r\n"
    file = conflict(
        *(parts.format(*(port, port)) for port in (8081, 8082)), base=parts.format(1, 1)
    )
    assert [found.line for found in conflicts.find(file.read_bytes().decode())] == [3, 16]


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n\n>>>>>>> quoted often\n",
        "git writes `<<<<<<< HEAD`, `=======` and `>>>>>>> other`.\n",
        "<<<<<<< HEAD\nhow a conflict starts\n",
        "```\n" + "".join(f" {line}\n" for line in BOTH.splitlines()) + "```\n",
        ">>>>>>> other\n=======\n<<<<<<< HEAD\n",
        "<<<<<<< HEAD\n>>>>>>> other\n",
        "<<<<<<<< HEAD\n========\n>>>>>>>> other\n",
    ],
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert conflicts.find(text) == []
    conflicts.check("a.md", text)


def test_in_front_matter_it_is_named_instead_of_an_error_of_yaml(conflict: Conflict) -> None:
    base, ours, theirs = (HEAD.format(tag) + "text\n" for tag in ("one", "two", "three"))
    file = conflict(ours, theirs, base=base)
    note = parse("a.md", file.read_bytes())
    assert note.faults == (("unresolved merge conflict", 3),)
    assert note.meta.id == ""
    assert note.body_text == "text\n"


def test_one_that_goes_from_front_matter_into_the_body_is_named_once(conflict: Conflict) -> None:
    ours, theirs = "---\na: 2\n...\ntwo\n", "---\na: 3\n---\nthree\n"
    file = conflict(ours, theirs, base="---\na: 1\n---\none\n", style="diff3")
    assert parse("a.md", file.read_bytes()).faults == (("unresolved merge conflict", 2),)


@pytest.fixture
def bank(conflict: Conflict, project: Path, opening: Callable[..., Bank]) -> Bank:
    """Open a bank in which `facts/port` has a conflict, and `facts/bm25` links to it."""
    conflict("# Port\n\n8081\n", "# Port\n\n8082\n", base="# Port\n\n8080\n")
    return opening(project)


WRITES: dict[str, Callable[[Bank], object]] = {
    "append": lambda bank: append(bank, "facts/port", "more"),
    "edit": lambda bank: edit(bank, "facts/port", "9090", old="8081"),
    "edit a marker": lambda bank: edit(bank, "facts/port", "", old="<<<<<<< HEAD\n"),
    "edit to the end of ours": lambda bank: edit(
        bank, "facts/port", "8081\n", old="<<<<<<< HEAD\n8081\n=======\n"
    ),
    "archive": lambda bank: set_status(bank, "facts/port", "archived"),
    "mv": lambda bank: rename(bank, "facts/port", "facts/ports"),
    "merge": lambda bank: merged(bank, ["facts/port", "facts/bm25"], "facts/one", "one text"),
    "merge into it": lambda bank: merged(bank, ["facts/port", "facts/bm25"], "facts/port", "one"),
    "create": lambda bank: create(bank, "facts/new", BOTH),
    "remember": lambda bank: remember(bank, f"# New\n\n{BOTH}"),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_leaves_one_is_refused_and_nothing_changes(bank: Bank, name: str) -> None:
    before = {path: bank.store.read_bytes(path) for path in bank.store.scan().files}
    with pytest.raises(
        UnreadableNote, match=r"\.md has an unresolved merge conflict \(line \d"
    ) as e:
        WRITES[name](bank)
    assert "in one edit" in e.value.hint
    assert {path: bank.store.read_bytes(path) for path in bank.store.scan().files} == before


def test_an_edit_that_resolves_it_is_written(bank: Bank) -> None:
    conflicted = show(bank, "facts/port").content
    text = conflicted[conflicted.index("<<<<<<<") :]
    assert edit(bank, "facts/port", "8082\n", old=text, agent="tester").changed
    assert show(bank, "facts/port").content == "# Port\n\n8082\n"
    assert append(bank, "facts/port", "more").changed


def test_a_heading_like_a_marker_that_was_there_before_may_stay(bank: Bank) -> None:
    file = bank.layout.root / "facts/port.md"
    file.write_text(f"Title\n=======\n\n{BOTH}")
    assert write(bank, "facts/port", lambda _: "Title\n=======\n\nb\n").changed
    file.write_text(f"Title\n=======\n\n{BOTH}")
    with pytest.raises(UnreadableNote, match="line 2"):
        write(bank, "facts/port", lambda _: "Title\n=======\n\na\n=======\nb\n")


def test_a_note_that_links_to_a_moved_one_must_be_whole_too(bank: Bank) -> None:
    file = bank.layout.root / "facts/port.md"
    file.write_text(f"[[decisions/whoosh]]\n\n{BOTH}")
    with pytest.raises(UnreadableNote, match=r"facts/port\.md has"):
        rename(bank, "decisions/whoosh", "decisions/old")
    assert (bank.layout.root / "decisions/whoosh.md").exists()


def test_it_can_be_deleted_and_comes_back_as_it_was(bank: Bank) -> None:
    before = bank.store.read_bytes("facts/port.md")
    delete(bank, "facts/port")
    restore(bank, "facts/port")
    assert bank.store.read_bytes("facts/port.md") == before


def test_an_agent_resolves_no_front_matter(
    conflict: Conflict, project: Path, opening: Callable[..., Bank]
) -> None:
    base, ours, theirs = (HEAD.format(tag) + "text\n" for tag in ("one", "two", "three"))
    file = conflict(ours, theirs, base=base)
    bank = opening(project)
    with pytest.raises(BadInput, match="unresolved merge conflict"):
        write(bank, "facts/port", lambda _: ours, agent="tester")
    with pytest.raises(UnreadableNote, match="unresolved merge conflict"):
        set_status(bank, "facts/port", "archived")
    assert write(bank, "facts/port", lambda _: ours).changed
    assert file.read_text() == ours
