"""`memory-bank forget`: shows where something is, asks, removes it, and says what is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run, plain_text

NOTE = ".memories/facts/flower.md"


@pytest.fixture(autouse=True)
def flower(project: Path) -> Path:
    file = project / NOTE
    file.write_text("# A flower\n\nThe marigold is in bloom, marigold indeed.\n")
    return file


def test_a_dry_run_shows_the_places(mb: Run, flower: Path) -> None:
    before = flower.read_bytes()
    done = mb("forget", "marigold", "--dry-run")
    assert done.code == 0
    assert "found the text (2 occurrences in 1 place); nothing was changed" in done.out
    assert f"replaced 2: {NOTE} (note)" in done.out
    assert "beyond reach:" in done.out
    assert "marigold" not in done.out + done.err
    assert flower.read_bytes() == before


def test_without_a_terminal_it_needs_yes(mb: Run, flower: Path) -> None:
    before = flower.read_bytes()
    done = mb("forget", "marigold")
    assert done.code != 0
    assert "confirmation needs a terminal" in done.err
    assert "add --yes" in done.err
    assert flower.read_bytes() == before
    assert mb("forget", "marigold", "--json").error["hint"].startswith("add --yes")


def test_yes_forgets_and_json_tells_it(mb: Run, flower: Path) -> None:
    done = mb("forget", "marigold", "--yes", "--json").json
    assert (done["kind"], done["done"], done["count"]) == ("text", True, 2)
    assert done["places"][0] == {
        "place": "facts/flower.md", "kind": "note", "count": 2, "action": "replaced",
    }  # fmt: skip
    assert {"place", "reason"} == set(done["beyond"][0])
    assert flower.read_text() == "# A flower\n\nThe [forgotten] is in bloom, [forgotten] indeed.\n"


def test_a_text_comes_from_stdin(mb: Run, flower: Path) -> None:
    assert mb("forget", "-", "--yes", stdin="marigold\n").code == 0
    assert "marigold" not in flower.read_text()


def test_an_id_may_be_meant_as_a_text(mb: Run, flower: Path) -> None:
    done = mb("forget", "facts/flower", "--text", "--yes", "--json").json
    assert done["kind"] == "text"
    assert flower.exists()
    assert mb("forget", "facts/flower", "--yes", "--json").json["kind"] == "note"
    assert not flower.exists()


@pytest.mark.parametrize(("key", "gone"), [("y", True), ("n", False)])
def test_a_terminal_is_asked(terminal: Run, flower: Path, key: str, *, gone: bool) -> None:
    done = terminal("forget", "marigold", keys=f"{key}\n")
    said = plain_text(done.out)
    assert done.code == 0
    assert "Remove the text (2 occurrences in 1 place) for good? [y/N]" in " ".join(said.split())
    assert ("marigold" not in flower.read_text()) is gone
    assert ("nothing was changed" in said) is not gone


def test_a_text_that_is_nowhere_is_exit_code_1(mb: Run, flower: Path) -> None:
    for options in ((), ("--yes",), ("--dry-run",)):
        answer = mb("forget", "nobody wrote this", *options)
        assert answer.code == 1
        assert "the text is nowhere here" in answer.out


def test_a_short_text_is_refused(mb: Run) -> None:
    done = mb("forget", "ab", "--yes")
    assert done.code != 0
    assert "at least 4 letters or digits" in done.err
    assert "Traceback" not in done.err


def test_it_is_no_tool_of_agents(mb: Run) -> None:
    assert "forget" not in mb("serve", "mcp", "--describe", "--toolsets", "all").out
