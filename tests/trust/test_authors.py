"""Who wrote a note, who changed it, and that no agent can say otherwise."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput, UnreadableNote
from memory_bank.memory.create import create
from memory_bank.memory.edit import append, edit, update
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.remember import remember, session_note
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from memory_bank.memory.trash import delete, restore
from memory_bank.notes import front_matter
from memory_bank.notes.schema import spelled_keys
from memory_bank.trust.author_keys import PROTECTED, copy_author_keys, keep_author_keys

PERSON = "---\nid: p1\ncreated_at: 2020-01-01\ntags: [x]\n---\n# Kestrels\n\nThey hover.\n"
FORGED = (
    "---\nid: forged\ncreated: 1999-01-01\nDate: 1998-01-01\nSource-Type: manual\n"
    "source_type: manual\nsource_agent: root\ntype: plan\ntags: [y]\ntitle: New\nowner: sarah\n"
    "---\n# Other words\n"
)


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    (folder / "p.md").write_text(PERSON)
    (folder / "plain.md").write_text("# Ospreys\n\nThey dive.\n")
    return opening(folder)


def said(text: str) -> dict[str, object]:
    return front_matter.read_metadata(front_matter.split(text))[0]


def of_author(text: str) -> dict[str, object]:
    found = said(text)
    return {key: found[key] for name in PROTECTED for key in spelled_keys(found, name)}


def test_front_matter_of_an_agents_content_says_nothing_of_its_author(bank: Bank) -> None:
    made = create(bank, "a", FORGED, source_type="agent", source_agent="codex")
    note = show(bank, "a")
    assert (note.meta.source_type, note.meta.source_agent) == ("agent", "codex")
    assert made.note_id == note.note_id != "forged"
    assert not note.created_at.startswith("199")
    assert set(said(note.content)) == {
        "id", "created_at", "source_type", "source_agent", "type", "tags", "title", "owner",
    }  # fmt: skip
    assert (note.meta.type, note.title, set(note.meta.tags)) == ("plan", "New", {"y"})


def test_an_agent_that_says_no_name_takes_none_from_its_content(bank: Bank) -> None:
    create(bank, "a", FORGED, source_type="agent")
    assert (show(bank, "a").meta.source_type, show(bank, "a").meta.source_agent) == ("agent", "")


def test_a_persons_front_matter_wins(bank: Bank) -> None:
    create(bank, "a", FORGED)
    assert show(bank, "a").note_id == "forged"


@pytest.mark.parametrize("name", ["p", "plain"])
def test_a_replaced_text_keeps_what_the_note_said_of_its_author(bank: Bank, name: str) -> None:
    before = of_author(show(bank, name).content)
    update(bank, name, FORGED, agent="codex")
    note = show(bank, name)
    assert of_author(note.content) == before
    assert (note.meta.type, note.title, note.meta.tags) == ("plan", "New", ("y",))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: p1", "id: p2"),
        ("created_at: 2020-01-01\n", "source_type: manual\n"),
        ("tags: [x]", "tags: [x]\nsource_agent: root\nsource_type: agent"),
        ("---\nid: p1\ncreated_at: 2020-01-01\ntags: [x]\n---\n", ""),
        ("tags: [x]\n---\n", "tags: [x]\n"),
        ("id: p1", "ID: p2"),
    ],
)
def test_an_edit_keeps_what_the_note_said_of_its_author(bank: Bank, old: str, new: str) -> None:
    edit(bank, "p", new, old=old, agent="codex")
    assert of_author(show(bank, "p").content) == {"id": "p1", "created_at": "2020-01-01"}
    edit(bank, "p", "They glide.", old="They hover.")
    assert of_author(show(bank, "p").content) == {"id": "p1", "created_at": "2020-01-01"}


def test_front_matter_can_not_be_broken_to_hide_an_author(bank: Bank, folder: Path) -> None:
    create(bank, "a", "# A\n", source_type="agent", source_agent="codex")
    before = (folder / "a.md").read_bytes()
    with pytest.raises((BadInput, UnreadableNote)):
        edit(bank, "a", "id: [", old="id: ", agent="zed")
    with pytest.raises((BadInput, UnreadableNote)):
        update(bank, "a", "---\na: [\n---\ntext", agent="zed")
    assert (folder / "a.md").read_bytes() == before


def test_text_appended_to_an_empty_file_makes_no_author(bank: Bank, folder: Path) -> None:
    (folder / "empty.md").write_text("")
    append(bank, "empty", FORGED, agent="codex")
    note = show(bank, "empty")
    assert (note.note_id, note.meta.source_type, note.meta.source_agent) == (
        "empty.md",
        "manual",
        "",
    )
    assert note.edited_by == ("codex",)


@given(old=st.sampled_from([PERSON, "text\n", "", "+++\nid = 'x'\n+++\nb"]), new=st.text())
def test_whatever_an_agent_writes_the_author_stays(old: str, new: str) -> None:
    texts = (new, f"---\n{new}\n---\n", f"---\nsource_type: {new}\n---\nx", f"{FORGED}{new}")
    for text in texts:
        try:
            found = keep_author_keys(old, text)
        except (BadInput, UnreadableNote):
            continue
        assert of_author(found) == of_author(old)


def test_a_stamp_needs_front_matter_that_can_be_read() -> None:
    assert copy_author_keys("text", {"id": "x"}) == "text"
    with pytest.raises(BadInput):
        copy_author_keys("---\na: [\n---\n", {"id": "x"})


@pytest.mark.parametrize("content", ["Both.", FORGED])
def test_a_merge_says_which_agent_made_it(bank: Bank, content: str) -> None:
    merge(bank, ["p", "plain"], "m", content, source_type="agent", source_agent="codex")
    note = show(bank, "m")
    assert (note.meta.source_type, note.meta.source_agent) == ("agent", "codex")
    assert note.note_id not in {"forged", "m.md"}
    assert not note.created_at.startswith("199")


def test_a_merge_into_one_of_its_sources_keeps_its_id(bank: Bank) -> None:
    merge(bank, ["p", "plain"], "p", FORGED, source_type="agent", source_agent="codex")
    note = show(bank, "p")
    assert (note.note_id, note.created_at) == ("p1", "2020-01-01T00:00:00Z")
    assert (note.meta.source_type, note.meta.source_agent) == ("agent", "codex")


def test_a_merge_by_a_person_is_manual(bank: Bank) -> None:
    create(bank, "a", "three", source_type="agent", source_agent="codex")
    merge(bank, ["a", "plain"], "b", "By hand, of both.")
    note = show(bank, "b")
    assert (note.meta.source_type, note.meta.source_agent, note.edited_by) == (
        "manual",
        "",
        ("codex",),
    )


def test_what_an_agent_changed_is_said_and_not_written(bank: Bank, folder: Path) -> None:
    edit(bank, "plain", "They plunge.", old="They dive.", agent="codex")
    append(bank, "plain", "Ever.", agent="zed")
    edit(bank, "plain", "Always.", old="Ever.", agent="codex")
    assert (folder / "plain.md").read_text() == "# Ospreys\n\nThey plunge.\n\nAlways.\n"
    assert show(bank, "plain").edited_by == ("codex", "zed")
    (note,) = recall(bank, "plunge").notes
    assert (note.meta.source_type, note.edited_by) == ("manual", ("codex", "zed"))
    assert show(bank, "p").edited_by == ()


def test_a_change_that_changes_nothing_and_a_persons_are_not_kept(bank: Bank) -> None:
    edit(bank, "plain", "They dive.", old="They dive.", agent="codex")
    append(bank, "plain", "By hand.")
    assert show(bank, "plain").edited_by == ()


@pytest.mark.parametrize("name", ["p", "plain"])
def test_it_is_known_wherever_the_note_goes(bank: Bank, name: str) -> None:
    append(bank, name, "Ever.", agent="codex")
    rename(bank, name, "deep/q")
    assert show(bank, "deep/q").edited_by == ("codex",)
    delete(bank, "deep/q")
    create(bank, "deep/q", "Another note.")
    assert show(bank, "deep/q").edited_by == ()
    restore(bank, "deep/q", "r")
    assert show(bank, "r").edited_by == ("codex",)
    merge(bank, ["r"], "s", "By hand, of it.")
    assert show(bank, "s").edited_by == ("codex",)


def test_an_author_is_no_editor(bank: Bank) -> None:
    create(bank, "a", "# A\n", source_type="agent", source_agent="codex")
    append(bank, "a", "More.", agent="codex")
    assert show(bank, "a").edited_by == ()
    append(bank, "a", "Yet more.", agent="zed")
    assert show(bank, "a").edited_by == ("zed",)
    done = session_note(bank, "Half done.", source_agent="codex")
    assert show(bank, done.path).edited_by == ()


def test_an_agents_note_that_lost_its_source_is_still_known(bank: Bank, folder: Path) -> None:
    create(bank, "a", "# A\n", source_type="agent", source_agent="codex")
    text = (folder / "a.md").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("source_")]
    (folder / "a.md").write_text("\n".join(lines))
    note = show(bank, "a")
    assert (note.meta.source_type, note.edited_by) == ("manual", ("codex",))


def test_an_agent_without_a_name_is_an_agent(bank: Bank) -> None:
    append(bank, "p", "Ever.", agent="")
    append(bank, "p", "Ever so.", agent="\u200b")
    assert show(bank, "p").edited_by == ("an agent",)


def test_tags_that_an_agent_adds_are_its_change(bank: Bank) -> None:
    content = "# Ospreys\n\nThey dive."
    remember(bank, content, source_type="agent", source_agent="codex")
    assert show(bank, "plain").edited_by == ()
    remember(bank, content, tags=["bird"], source_type="agent", source_agent="codex")
    assert show(bank, "plain").edited_by == ("codex",)


def test_links_that_follow_an_agents_move_are_its_change(bank: Bank, folder: Path) -> None:
    (folder / "links.md").write_text("See [[plain]].\n")
    rename(bank, "plain", "other", agent="codex")
    assert show(bank, "links").edited_by == ("codex",)
    assert show(bank, "other").edited_by == ()


def test_who_can_not_be_written_down_is_a_warning(
    bank: Bank, private_folders: Path, folder: Path
) -> None:
    (private_folders / "state").write_text("a file where the folder should be")
    done = append(bank, "plain", "Ever.", agent="codex")
    assert done.warning is not None
    assert "who changed it is not written down" in done.warning
    assert "Ever." in (folder / "plain.md").read_text()


def test_other_processes_know_it(project: Path) -> None:
    with open_bank(project) as one, open_bank(project) as other:
        append(one, "bm25", "Ever.", agent="codex")
        assert show(other, "bm25").edited_by == ("codex",)
