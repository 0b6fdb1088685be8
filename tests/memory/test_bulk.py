import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.memory.create import RefusedDraft, remember_many
from memory_bank.memory.records import Draft, WrittenNote
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from memory_bank.notes.note import Entity, Meta

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


def written(found: WrittenNote | RefusedDraft) -> WrittenNote:
    assert isinstance(found, WrittenNote), found
    return found


def refused(found: WrittenNote | RefusedDraft) -> RefusedDraft:
    assert isinstance(found, RefusedDraft), found
    return found


def test_a_note_keeps_its_dates_its_id_its_source_and_its_name(bank: Bank) -> None:
    made, changed = datetime(2021, 3, 4, 5, 6, tzinfo=UTC), datetime(2022, 1, 2, tzinfo=UTC)
    item = Draft(
        "The kestrel hovers.",
        Meta(
            type="fact",
            title="Kestrels",
            tags=("Birds",),
            created_at=made,
            updated_at=changed,
            id="kestrel-1",
            source_type="import",
            source_agent="scribe",
            aliases=("falco tinnunculus",),
            entity_refs=(Entity("person", "sarah"),),
            file_refs=("src/birds.py",),
            symbol_refs=("Kestrel.hover",),
            extra={"rating": 5},
        ),
        "birds/kestrel",
    )
    (found,) = map(written, remember_many(bank, [item]))
    assert (found.action, found.path, found.note_id) == ("created", "birds/kestrel.md", "kestrel-1")
    note = show(bank, "falco tinnunculus")
    assert note.title == "Kestrels"
    assert (note.created_at, note.updated_at) == ("2021-03-04T05:06:00Z", "2022-01-02T00:00:00Z")
    assert (note.note_id, note.meta.source_type, note.meta.source_agent) == (
        "kestrel-1",
        "import",
        "scribe",
    )
    assert (note.meta.tags, note.meta.file_refs) == (("birds",), ("src/birds.py",))
    assert note.meta.symbol_refs == ("Kestrel.hover",)
    assert "rating: 5" in note.content
    assert [note.path for note in recall(bank, "kestrel", before="2021-04").notes] == [found.path]


def test_a_content_that_is_there_is_updated_among_the_items_too(bank: Bank) -> None:
    old = remember(bank, "The osprey dives.", tags=["a"])
    found = remember_many(
        bank,
        [
            Draft("The osprey dives.", Meta(tags=("b",))),
            Draft("The merlin chases.", Meta(tags=("x",))),
            Draft("The merlin chases.\r\n", Meta(tags=("y",))),
            Draft("The merlin chases.", Meta(tags=("z",), file_refs=("a.py",))),
            Draft("The osprey dives.", Meta(tags=("c",))),
        ],
    )
    actions = ["updated_existing", "created", *["updated_existing"] * 3]
    assert [one.action for one in found] == actions
    assert {written(found[0]).path, written(found[4]).path} == {old.path}
    assert show(bank, old.path).meta.tags == ("a", "b", "c")
    merlin = show(bank, written(found[1]).path)
    assert (merlin.meta.tags, merlin.meta.file_refs) == (("x", "y", "z"), ("a.py",))
    assert len(list(bank.layout.root.rglob("*.md"))) == 2


def test_an_item_that_can_not_be_written_is_named_and_the_others_are(bank: Bank) -> None:
    remember(bank, "Mine.", name="mine")
    items = [
        Draft("One."),
        Draft(f"The token is {TOKEN}"),
        Draft("  \n"),
        Draft("Two.", Meta(tags=("#",))),
        Draft("Three.", name="../out"),
        Draft("Four.", name="mine"),
        Draft("Five.", Meta(source_type="hearsay")),
        Draft("Six.", Meta(id="six")),
        Draft("Seven.", Meta(id="six")),
        Draft("Half \ud800."),
        Draft("Nine.", Meta(type="\ud800")),
        Draft("Ten.", name="\ud800"),
        Draft("Eight."),
    ]
    found = remember_many(bank, items)
    codes = [one.code if isinstance(one, RefusedDraft) else "" for one in found]
    assert codes == [
        "", "secret_found", "bad_input", "bad_input", "bad_name", "note_exists", "bad_input",
        "", "bad_input", "bad_input", "bad_input", "bad_name", "",
    ]  # fmt: skip
    assert TOKEN not in repr(found)
    assert "secret" in refused(found[1]).reason
    assert len(list(bank.layout.root.rglob("*.md"))) == 4
    assert recall(bank, "eight").result_count == 1


def test_front_matter_that_is_brought_stays_as_it_is(bank: Bank) -> None:
    head = "---\n# mine\nDate:   2020-05-06   # then\ntags: [Old]\nstatus: accepted\n---\n"
    made = datetime(2024, 1, 1, tzinfo=UTC)
    item = Draft(
        "\nText.\r\n", Meta(tags=("new",), aliases=("A",), created_at=made), front_matter=head
    )
    (found,) = map(written, remember_many(bank, [item]))
    content = show(bank, found.path).content
    assert "# mine\nDate:   2020-05-06   # then\n" in content
    assert content.endswith("---\n\nText.\r\n")
    assert (found.tags, found.created_at) == (("old", "new"), "2020-05-06T00:00:00Z")
    assert show(bank, "A").path == found.path


def test_front_matter_that_can_not_be_parsed_is_refused(bank: Bank) -> None:
    (found,) = remember_many(bank, [Draft("Text.", front_matter="---\na: [\n---\n")])
    assert refused(found).code == "unreadable_note"


def test_what_an_agent_wrote_is_known(bank: Bank) -> None:
    remember(bank, "The hobby glides.", name="hobby")
    (found,) = remember_many(
        bank,
        [Draft("The hobby glides.", Meta(tags=("a",), source_type="agent", source_agent="scribe"))],
    )
    assert found.action == "updated_existing"
    assert show(bank, "hobby").edited_by == ("scribe",)


def test_nothing_is_written_where_memory_is_off(folder: Path, opening: Callable[..., Bank]) -> None:
    with pytest.raises(BadInput):
        remember_many(opening(folder, memory__enabled=False), [Draft("One.")])
    assert not list(folder.rglob("*.md"))


def test_a_hundred_notes_take_about_a_second(folder: Path) -> None:
    """One after another they took 16 s; the bound leaves room for a busy machine."""
    items = [Draft(f"# Note {n}\n\nAbout topic {n % 7}, number {n}.") for n in range(100)]
    with open_bank(folder) as bank:
        start = time.process_time()
        found = remember_many(bank, items)
        taken = time.process_time() - start
        assert [one.action for one in found] == ["created"] * 100
        assert recall(bank, "note number 42").notes[0].path == written(found[42]).path
    assert taken < 5
