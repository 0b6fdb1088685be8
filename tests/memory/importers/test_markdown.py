import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.import_notes import import_notes
from memory_bank.memory.links import links_of
from memory_bank.memory.records import Imported, NotImported
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from tests.support.files import write_files as write


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    return made


def reasons(done: Imported) -> dict[str, str]:
    return {unread.place: unread.reason for unread in done.unread}


def test_a_vault_keeps_front_matter_aliases_links_and_folders(bank: Bank, source: Path) -> None:
    head = "---\naliases:\n  - Home page   # mine\ntags: [Start]\ncssclasses: [wide]\n---\n"
    write(
        source,
        {
            "Home.md": f"{head}# Home\n\n[[daily/2024-01-01|New year]], ![[pic.png]], [[Plan]] #todo\n",
            "daily/2024-01-01.md": "Back to [[Home page]].\n",
            "work/Plan.md": "---\ncreated: 2023-05-06\nmodified: 2023-06-07\n---\n- [ ] a task\n",
            ".obsidian/app.md": "no note",
        },
    )
    os.utime(source / "daily/2024-01-01.md", (1.7e9, 1.7e9))
    done = import_notes(bank, "markdown", source, into="vault")
    assert done.counts == {"created": 3}
    home = show(bank, "Home page")
    assert home.path == "vault/Home.md"
    assert "aliases:\n  - Home page   # mine\ntags: [Start]\ncssclasses: [wide]\n" in home.content
    assert (home.meta.tags, home.meta.source_type) == (("start", "todo"), "import")
    paths = {link.target for link in links_of(bank, "vault/Home").outgoing}
    assert {"vault/daily/2024-01-01.md", "vault/work/Plan.md"} <= paths
    plan = show(bank, "Plan")
    assert (plan.created_at[:10], plan.updated_at[:10]) == ("2023-05-06", "2023-06-07")
    assert show(bank, "2024-01-01").created_at == "2023-11-14T22:13:20Z"


def test_what_is_no_note_is_named(bank: Bank, source: Path) -> None:
    write(
        source,
        {"a.md": "A.", "empty.md": "---\na: 1\n---\n\n", "broken.md": "---\na: [\n---\nB.\n"},
    )
    (source / "pic.png").write_bytes(b"\x89PNG")
    (source / "latin.md").write_bytes("Käse".encode("latin-1"))
    (source / "binary.md").write_bytes(b"\0\1\2\xff" * 100)
    (source / "out.md").symlink_to("/etc/hostname")
    (source / "linked").symlink_to("/etc")
    done = import_notes(bank, "markdown", source, into=".")
    assert [note.key for note in done.notes] == ["a.md"]
    found = reasons(done)
    assert set(found) == {
        "empty.md", "broken.md", "pic.png", "latin.md", "binary.md", "out.md", "linked",
    }  # fmt: skip
    assert found["pic.png"] == "an attachment: no Markdown file"
    assert found["out.md"] == found["linked"] == "a symbolic link, which is not followed"
    assert "can't be parsed" in found["broken.md"]
    assert all(isinstance(one, NotImported) for one in done.unread)


def test_a_name_that_some_systems_refuse_is_changed_and_stays_an_alias(
    bank: Bank, source: Path
) -> None:
    write(source, {"q/What is it?.md": "An osprey.", "b.md": "See [[What is it?]]."})
    import_notes(bank, "markdown", source, into=".")
    assert show(bank, "What is it?").path == "q/What is it-.md"


def test_decision_records_are_decisions_with_status_date_and_successor(
    bank: Bank, source: Path
) -> None:
    context = "## Context\n\nQueues.\n\n## Decision\n\nPostgres is the queue.\n"
    write(
        source,
        {
            "0001-redis.md": f"# 1. Redis\n\nDate: 2016-02-12\n\n## Status\n\nSuperseded by [2. Postgres](0002-postgres.md)\n\n{context.replace('Postgres', 'Redis')}",
            "0002-postgres.md": f"---\nstatus: accepted\ndate: 2020-03-04\n---\n# Postgres\n\n{context}",
            "README.md": "# Decisions\n\nThe index.\n",
        },
    )
    import_notes(bank, "markdown", source, into="decisions")
    old, new = show(bank, "0001-redis"), show(bank, "0002-postgres")
    assert (old.meta.type, new.meta.type, show(bank, "README").meta.type) == (
        "decision",
        "decision",
        "note",
    )
    assert (old.created_at[:10], new.created_at[:10]) == ("2016-02-12", "2020-03-04")
    assert "\nstatus: superseded\n" in old.content
    assert "---\nstatus: accepted\ndate: 2020-03-04\n" in new.content
    assert old.body.endswith(context.replace("Postgres", "Redis"))
    notes = {note.path: note for note in recall(bank, "queue").notes}
    assert notes[old.path].superseded_by == new.path


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse these names")
def test_files_of_odd_names_are_named(bank: Bank, source: Path) -> None:
    write(source, {"-dash.md": "1.", "CON.md": "2.", "up.md": "3.", "UP.MD": "4.", "ok.md": "5."})
    (source / os.fsdecode(b"\xff.md")).write_text("6.")
    os.mkfifo(source / "fifo.md")
    done = import_notes(bank, "markdown", source, into=".")
    assert {note.key for note in done.notes if note.action == "created"} == {"ok.md", "UP.MD"}
    assert all(note.reason for note in done.notes if note.action == "refused")
    assert list(reasons(done)) == ["fifo.md"]
