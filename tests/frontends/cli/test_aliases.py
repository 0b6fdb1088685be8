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
