import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, BadName
from memory_bank.memory.change import set_status
from memory_bank.memory.edit import append
from memory_bank.memory.import_notes import import_notes
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.records import Imported
from memory_bank.memory.remember import remember
from memory_bank.memory.show import show
from memory_bank.memory.trash import trash
from tests.support import forked

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    (made / "sub").mkdir(parents=True)
    (made / "a.md").write_text("---\ntags: [x]   # mine\n---\nThe osprey dives.\n")
    (made / "sub" / "b.md").write_text("The merlin chases [[a]].\n")
    return made


def files(bank: Bank) -> dict[str, bytes]:
    root = bank.layout.root
    found = {file.relative_to(root).as_posix(): file for file in root.rglob("*.md")}
    return {path: file.read_bytes() for path, file in found.items() if ".trash/" not in path}


def actions(done: Imported) -> dict[str, str]:
    return {note.key: note.action for note in done.notes}


def test_a_second_import_does_nothing(bank: Bank, source: Path) -> None:
    first = import_notes(bank, "markdown", source, into="vault")
    assert actions(first) == {"a.md": "created", "sub/b.md": "created"}
    before, access = files(bank), show(bank, "vault/a").access_count
    second = import_notes(bank, "markdown", source, into="vault")
    assert second.counts == {"unchanged": 2}
    assert files(bank) == before
    assert show(bank, "vault/a").access_count == access
    assert not trash(bank)


def test_a_changed_source_updates_its_note_and_the_old_text_is_kept(
    bank: Bank, source: Path
) -> None:
    import_notes(bank, "markdown", source, into=".")
    old = show(bank, "sub/b")
    (source / "sub" / "b.md").write_text("---\ntags: [new]\n---\nThe merlin rests.\n")
    (source / "c.md").write_text("New here.\n")
    done = import_notes(bank, "markdown", source, into=".")
    assert actions(done) == {"a.md": "unchanged", "c.md": "created", "sub/b.md": "updated"}
    new = show(bank, "sub/b")
    assert (new.body, new.meta.tags) == ("The merlin rests.\n", ("new",))
    assert (new.note_id, new.created_at) == (old.note_id, old.created_at)
    assert [one.path for one in trash(bank)] == ["sub/b.md"]
    assert import_notes(bank, "markdown", source, into=".").counts == {"unchanged": 3}


def test_a_note_that_changed_here_is_never_written_over(bank: Bank, source: Path) -> None:
    import_notes(bank, "markdown", source, into=".")
    append(bank, "a", "And rises.")
    set_status(bank, "sub/b", "archived")
    assert import_notes(bank, "markdown", source, into=".").counts == {"unchanged": 2}
    before = files(bank)
    (source / "a.md").write_text("The osprey sleeps.\n")
    (source / "sub" / "b.md").write_text("The merlin sleeps.\n")
    done = import_notes(bank, "markdown", source, into=".")
    assert actions(done) == {"a.md": "kept", "sub/b.md": "kept"}
    assert done.notes[0].path == "a.md"
    assert done.notes[0].reason == "it changed both in the source and in the bank"
    assert files(bank) == before


def test_the_same_change_on_both_sides_is_none(bank: Bank, source: Path) -> None:
    import_notes(bank, "markdown", source, into=".")
    append(bank, "a", "And rises.")
    (source / "a.md").write_text("---\ntags: [x]\n---\nThe osprey dives.\n\nAnd rises.\n")
    assert actions(import_notes(bank, "markdown", source, into="."))["a.md"] == "unchanged"


def test_a_note_that_was_moved_here_is_known_again(bank: Bank, source: Path) -> None:
    import_notes(bank, "markdown", source, into=".")
    rename(bank, "sub/b", "birds/merlin")
    (source / "sub" / "b.md").write_text("The merlin rests.\n")
    done = import_notes(bank, "markdown", source, into=".")
    assert [(note.action, note.path) for note in done.notes] == [
        ("unchanged", "a.md"),
        ("updated", "birds/merlin.md"),
    ]


def test_a_dry_run_says_the_same_and_writes_nothing(bank: Bank, source: Path) -> None:
    (source / "secret.md").write_text(f"The token is {TOKEN}\n")
    (source / "twin.md").write_text("The osprey dives.\n")
    remember(bank, "Mine.", name="c")
    (source / "c.md").write_text("Another text.\n")
    before = files(bank)
    said = import_notes(bank, "markdown", source, dry_run=True, into=".")
    assert (said.dry_run, files(bank)) == (True, before)
    done = import_notes(bank, "markdown", source, into=".")
    assert said.notes == done.notes
    assert actions(done) == {
        "a.md": "created",
        "c.md": "refused",
        "secret.md": "refused",
        "sub/b.md": "created",
        "twin.md": "same_content",
    }
    assert TOKEN not in repr(done)
    assert set(files(bank)) == {"a.md", "c.md", "sub/b.md"}
    assert import_notes(bank, "markdown", source, into=".").counts == {
        "unchanged": 2,
        "refused": 2,
        "same_content": 1,
    }


def test_a_content_that_the_bank_has_is_not_written_again(bank: Bank, source: Path) -> None:
    mine = remember(bank, "The osprey dives.")
    done = import_notes(bank, "markdown", source, into=".")
    assert (done.notes[0].action, done.notes[0].path) == ("same_content", mine.path)
    assert show(bank, mine.path).access_count == 0


def test_a_source_can_not_say_that_its_notes_are_somebody_elses(bank: Bank, source: Path) -> None:
    head = "---\nsource_type: manual\nimported_from: x\nimported_hash: y\n---\n"
    (source / "a.md").write_text(f"{head}The osprey dives.\n")
    import_notes(bank, "markdown", source, into=".")
    note = show(bank, "a")
    assert note.meta.source_type == "import"
    assert note.content.count("imported_from") == note.content.count("imported_hash") == 1
    assert "imported_from: markdown:vault/a.md\n" in note.content
    assert import_notes(bank, "markdown", source, into=".").counts == {"unchanged": 2}


def test_two_sources_of_one_name_are_told_apart_by_their_folders(
    bank: Bank, source: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "vault"
    other.mkdir(parents=True)
    (other / "a.md").write_text("Another a.\n")
    import_notes(bank, "markdown", source, into="one")
    import_notes(bank, "markdown", other, into="two")
    assert show(bank, "one/a").body == "The osprey dives.\n"
    assert show(bank, "two/a").body == "Another a.\n"


def test_what_can_not_be_imported_is_wrong_use(bank: Bank, source: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no importer called 'notion'") as caught:
        import_notes(bank, "notion", source, into=".")
    assert "mcp-memory" in caught.value.hint
    with pytest.raises(BadInput, match="does not exist"):
        import_notes(bank, "markdown", tmp_path / "nowhere", into=".")
    with pytest.raises(BadInput, match="not a source that mcp-memory reads") as caught:
        import_notes(bank, "mcp-memory", source, into=".")
    assert "markdown" in caught.value.hint
    for path in (bank.layout.root, bank.layout.root.parent):
        with pytest.raises(BadInput, match="overlap"):
            import_notes(bank, "markdown", path, into=".")
    with pytest.raises(BadName):
        import_notes(bank, "markdown", source, into="../out")


@pytest.mark.slow
def test_an_import_that_was_killed_is_finished_by_the_next(
    folder: Path, source: Path, opening: Callable[..., Bank]
) -> None:
    for number in range(200):
        (source / f"n{number}.md").write_text(f"Note number {number}.\n")
    words = ("-m", "memory_bank", "import", "markdown", str(source), "--bank", str(folder))
    with forked.Popen([sys.executable, *words], stdout=subprocess.DEVNULL) as process:
        while len(list(folder.glob("vault/n*.md"))) < 20:
            assert process.poll() is None, "it ended before it could be killed"
        process.kill()
    done = import_notes(opening(folder), "markdown", source)
    assert done.counts["created"] + done.counts["unchanged"] == 202
    assert done.counts["created"] > 0
    assert len(list(folder.rglob("*.md"))) == 202


def test_notes_land_in_a_folder_of_the_source(bank: Bank, tmp_path: Path) -> None:
    source = tmp_path / "vault"
    source.mkdir()
    (source / "a.md").write_text("# A\n\nSee [[b]].\n")
    (source / "b.md").write_text("# B\n\nText.\n")
    assert {one.path for one in import_notes(bank, "markdown", source).notes} == {
        "vault/a.md",
        "vault/b.md",
    }
    assert import_notes(bank, "markdown", source).counts == {"unchanged": 2}
    one = tmp_path / "alone.md"
    one.write_text("# Alone\n\nOne note needs no folder.\n")
    assert [note.path for note in import_notes(bank, "markdown", one).notes] == ["alone.md"]
    graph = tmp_path / "memory.jsonl"
    graph.write_text('{"type":"entity","name":"Ada","entityType":"person","observations":["x"]}\n')
    assert [note.path for note in import_notes(bank, "mcp-memory", graph).notes] == [
        "mcp-memory/person/ada.md"
    ]
