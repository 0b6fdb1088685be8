"""Words of other tools work, no help shows them, and no error suggests an option that gives rights."""

from pathlib import Path

import pytest

from memory_bank.frontends import declared
from memory_bank.frontends.cli import derived

from .conftest import Run


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("find", "tantivy"), ("recall", "tantivy")),
        (("grep", "tantivy"), ("recall", "tantivy")),
        (("ls",), ("notes",)),
        (("list",), ("notes",)),
        (("recall", "index", "--tag", "search"), ("recall", "index", "--tags", "search")),
        (("recall", "index", "--tag=search"), ("recall", "index", "--tags=search")),
        (("search", "--limit", "3"), ("session", "search", "--limit", "3")),
        (("observations", "obs-1", "obs-2"), ("session", "show", "obs-1", "obs-2")),
        (("restore",), ("trash",)),
        (("stats", "--json"), ("doctor", "--counts", "--json")),
        (("blame", "facts/bm25", "--lines"), ("log", "facts/bm25", "--sections", "--lines")),
        (
            ("mcp", "install", "--client", "zed", "--dry-run"),
            ("agents", "install", "zed", "--only", "server", "--dry-run"),
        ),
        (
            ("hooks", "install", "--client=codex", "--dry-run"),
            ("agents", "install", "codex", "--only", "hooks", "--dry-run"),
        ),
        (("hooks", "status", "--json"), ("agents", "list", "--json")),
    ],
)
def test_a_word_of_another_tool_does_the_same(
    mb: Run, project: Path, typed: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    assert project
    found, same = mb(*typed), mb(*meant)
    assert (found.code, found.out, found.err) == (same.code, same.out, same.err)


def test_notes_are_written_renamed_and_deleted_by_other_words(mb: Run, project: Path) -> None:
    assert mb("add", "A note.", "--name", "facts/a").code == 0
    assert mb("rename", "facts/a", "facts/b").code == 0
    assert (project / ".memories/facts/b.md").exists()
    assert mb("delete", "facts/b").code == 0
    assert not (project / ".memories/facts/b.md").exists()


def test_former_words_write_as_options_of_edit_do(mb: Run, project: Path) -> None:
    note = project / ".memories/facts/bm25.md"
    assert mb("append", "facts/bm25", "Two.").code == 0
    assert mb("edit", "facts/bm25", "--append", "Three.").code == 0
    assert note.read_text("utf-8").endswith("\n\nTwo.\n\nThree.\n")
    assert mb("update", "facts/bm25", "# New").code == 0
    assert note.read_text("utf-8").endswith("# New\n")
    assert mb("edit", "facts/bm25", "--append", "--replace", "x").code == 2
    assert mb("edit", "facts/bm25", "x").code == 2
    assert mb("sync", "--watch", "--rebuild").code == 2


def test_aliases_mean_commands_that_there_are_and_are_hidden(mb: Run) -> None:
    known = declared.list_words()
    for meant in derived.COMMANDS.values():
        words = meant.partition(" --")[0].split()
        assert mb(*meant.split(), "-h").out.startswith(f"Usage: memory-bank {' '.join(words)} ")
    assert not set(derived.COMMANDS) & set(known)
    listed = {name for name, _, _ in declared.list_commands()}
    assert not listed & {*derived.COMMANDS, "hook", "merge-driver"}
    assert "merge-driver" not in mb("help", "--all").out


@pytest.mark.parametrize(
    "line",
    [
        ("serve", "web", "--writ"),
        ("serve", "web", "--no-toke"),
        ("serve", "web", "--por", "80"),
        ("remember", "x", "--allow-secrets"),
        ("init", "--yess"),
    ],
)
def test_no_error_suggests_an_option_that_gives_rights(mb: Run, line: tuple[str, ...]) -> None:
    found = mb(*line)
    assert found.code == 2
    assert not [name for name in derived.RIGHTS if f"'{name}'" in found.err]


def test_a_port_alone_is_one_of_this_machine(mb: Run) -> None:
    assert "'x' is not HOST:PORT" in mb("serve", "web", "--port", "x").err
