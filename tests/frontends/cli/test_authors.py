"""Commands say which agent gives them, where one does."""

from __future__ import annotations

import pytest

from .conftest import Run


@pytest.mark.parametrize(
    "change",
    [
        ("append", "whoosh", "More."),
        ("update", "whoosh", "-"),
        ("edit", "whoosh", "--old", "easy", "--new", "hard"),
    ],
)
def test_an_agents_change_is_named(mb: Run, change: tuple[str, ...]) -> None:
    text = "---\nsource_agent: root\n---\nWhoosh still."
    assert mb(*change, "--agent", "codex", stdin=text).code == 0
    note = mb("show", "whoosh", "--json").json
    assert (note["source_type"], note["source_agent"]) == ("manual", "")
    assert note["edited_by"] == ["codex"]
    assert "edited by codex" in mb("recall", "whoosh in:decisions").out


def test_a_persons_change_is_not(mb: Run) -> None:
    mb("append", "whoosh", "More.")
    assert mb("show", "whoosh", "--json").json["edited_by"] == []


def test_links_that_an_agents_move_changes_are_its(mb: Run) -> None:
    mb("mv", "facts/bm25", "ranking", "--agent", "codex")
    assert mb("show", "tantivy", "--json").json["edited_by"] == ["codex"]


def test_a_merge_is_by_whom_it_says(mb: Run) -> None:
    mb("merge", "whoosh", "--into", "a", "--text", "One.")
    assert mb("show", "a", "--json").json["source_type"] == "manual"
    mb("merge", "a", "--into", "b", "--text", "Two.", "--agent", "codex")
    note = mb("show", "b", "--json").json
    assert (note["source_type"], note["source_agent"]) == ("agent", "codex")


def test_an_agent_that_is_named_is_the_author(mb: Run) -> None:
    path = mb("remember", "Water boils.", "--agent", "codex", "--json").json["path"]
    note = mb("show", path, "--json").json
    assert (note["source_type"], note["source_agent"]) == ("agent", "codex")


@pytest.mark.parametrize("command", [("append", "whoosh", "x"), ("mv", "whoosh", "x")])
def test_a_name_that_nobody_can_see_is_refused(mb: Run, command: tuple[str, ...]) -> None:
    assert mb(*command, "--agent", "\u200b").code == 2
