from __future__ import annotations

import pytest

from .conftest import Run


def test_both_ways(mb: Run) -> None:
    answer = mb("links", "tantivy")
    assert answer.code == 0
    assert "from decisions/tantivy.md" in answer.out
    assert "  .memories/decisions/tantivy.md:15  supersedes → decisions/whoosh.md" in answer.out
    into = mb("links", "bm25")
    assert into.out.startswith("1 link to facts/bm25.md\n")
    shown = mb("links", "tantivy", "--json").json
    assert len(shown["outgoing"]) >= 3


def test_a_ghost_has_links_too(mb: Run) -> None:
    answer = mb("links", "src/index.py")
    assert (answer.code, answer.out.count("\n")) >= (0, 2)
    assert "to ghost:src/index.py" in answer.out


def test_ghosts(mb: Run) -> None:
    answer = mb("links", "--ghosts")
    assert answer.code == 0
    assert answer.out.split()[:2] == ["src/index.py", "2"]
    assert mb("links", "--ghosts", "--json").json["ghosts"][0]["name"] == "src/index.py"
    of_one = mb("links", "tantivy", "--ghosts", "--json").json
    assert {link["target"] for link in of_one["outgoing"]} == {"ghost:src/index.py"}
    assert mb("links", "bm25", "--ghosts").code == 1


def test_a_chain_between_two_notes(mb: Run) -> None:
    answer = mb("links", "whoosh", "--path", "bm25")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "decisions/tantivy.md  supersedes → decisions/whoosh.md",
        next(line for line in answer.out.splitlines() if line.endswith("→ facts/bm25.md")),
    ]
    mb("remember", "alone", "--name", "alone")
    answer = mb("links", "alone", "--path", "bm25")
    assert (answer.code, answer.out) == (1, "")
    assert mb("links", "alone", "--path", "bm25", "--json").json == {
        "result_count": 0,
        "steps": [],
    }


def test_related(mb: Run) -> None:
    answer = mb("links", "bm25", "--related")
    assert ".memories/decisions/tantivy.md:1" in answer.out
    found = mb("links", "bm25", "--related", "--json").json
    assert found["result_count"] == len(found["related"]) > 0


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["x", "--related", "--ghosts"],
        ["x", "--path", "y", "--related"],
        ["--related"],
    ],
)
def test_wrong_use(mb: Run, args: list[str]) -> None:
    assert mb("links", *args).code == 2


def test_an_unknown_name(mb: Run) -> None:
    assert mb("links", "nope").code == 1
