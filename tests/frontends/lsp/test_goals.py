import pytest

from memory_bank.frontends.lsp.open_texts import (
    LinkTarget,
    Texts,
    find_references,
    leads_to,
    link_at,
    part_at,
    section_at,
)
from memory_bank.notes import parsing
from tests.frontends.lsp.conftest import Make, cursor

NOTES = {
    "facts/bm25.md": "# BM25\n\n## How it ranks\n\n### Rare words\n\nThey count more. ^rare\n",
    "facts/idf.md": "---\ntitle: Inverse frequency\naliases: [IDF]\n---\n# IDF\n",
    "old/idf.md": "x\n",
    "a.md": "See [[facts/bm25]], [[bm25#Rare words]] and [BM25](facts/bm25.md#how-it-ranks).\n",
}


def goal_at(texts: Texts, path: str, offset: int) -> LinkTarget:
    note = texts.read(path)
    written = link_at(note, offset)
    assert written is not None
    return leads_to(texts, path, [written.link])[0]


@pytest.mark.parametrize(
    ("link", "path", "line"),
    [
        ("[[facts/bm25]]", "facts/bm25.md", 1),
        ("[[bm25]]", "facts/bm25.md", 1),
        ("[[BM25.md]]", "facts/bm25.md", 1),
        ("[[facts/bm25#How it ranks]]", "facts/bm25.md", 3),
        ("[[bm25#how it ranks#rare words]]", "facts/bm25.md", 5),
        ("[[bm25#How `it` ranks]]", "facts/bm25.md", 3),
        ("[here](facts/bm25.md#How-It-Ranks)", "facts/bm25.md", 3),
        ("[[bm25^rare]]", "facts/bm25.md", 7),
        ("[[bm25#^rare]]", "facts/bm25.md", 7),
        ("[here](facts/bm25.md#how-it-ranks)", "facts/bm25.md", 3),
        ("[[Inverse frequency]]", "facts/idf.md", 1),
        ("[[#Down]]\n\n## Down", "b.md", 3),
        ("[[nothing]]", "", 1),
    ],
)
def test_a_link_leads_to_a_note_and_a_line(make: Make, link: str, path: str, line: int) -> None:
    texts = make(NOTES, b=link)
    goal = goal_at(texts, "b.md", 3)
    assert (goal.path, goal.line, goal.problem) == (path, line, "")


def test_an_ambiguous_link_has_its_candidates(make: Make) -> None:
    goal = goal_at(make(NOTES, b="[[idf]]"), "b.md", 3)
    assert goal.candidates == ("facts/idf.md", "old/idf.md")
    assert "several notes" in goal.problem


@pytest.mark.parametrize("link", ["[[bm25#Missing]]", "[[bm25^missing]]", "[x](facts/bm25.md#no)"])
def test_a_missing_part_is_a_problem(make: Make, link: str) -> None:
    goal = goal_at(make(NOTES, b=link), "b.md", 3)
    assert goal.path == "facts/bm25.md"
    assert "bm25.md has no" in goal.problem


def test_a_heading_that_is_not_saved_yet_is_found(make: Make) -> None:
    texts = make({**NOTES, "c.md": "x\n"}, c="x\n\n## New\n", b="[[c#New]]")
    assert goal_at(texts, "b.md", 3) == LinkTarget("c.md", goal_at(texts, "b.md", 3).file, 3)


def test_a_file_of_the_project_is_a_goal(make: Make) -> None:
    texts = make(NOTES, b="[[src/a.py:12]] [[../../secret]] [[src]]")
    source = texts.bank.layout.project / "src" / "a.py"
    source.parent.mkdir()
    source.write_text("x = 1\n")
    (texts.bank.layout.project.parent.parent / "secret").write_text("x")
    found = goal_at(texts, "b.md", 3)
    assert (found.file, found.line) == (str(source), 12)
    assert goal_at(texts, "b.md", 20).file == ""
    assert goal_at(texts, "b.md", 36).file == ""  # a folder


def test_references_are_the_links_of_other_notes(make: Make) -> None:
    texts = make(NOTES, b="New: [[bm25]]")
    found = find_references(texts, LinkTarget("facts/bm25.md"))
    words = [texts.read(path).text[start:end] for path, start, end in found]
    assert words == [
        "[[facts/bm25]]",
        "[[bm25#Rare words]]",
        "[BM25](facts/bm25.md#how-it-ranks)",
        "[[bm25]]",
    ]
    part = find_references(texts, LinkTarget("facts/bm25.md"), heading="How it ranks")
    assert [start for _, start, _ in part] == [NOTES["a.md"].index("[BM25]")]


def test_references_to_a_file_are_those_to_its_ghost(make: Make) -> None:
    texts = make({"a.md": "[[src/a.py]]", "b.md": "[a](../src/a.py) [[src/b.py]]"})
    found = find_references(texts, LinkTarget(ghost="src/a.py"))
    assert [path for path, _, _ in found] == ["a.md", "b.md"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("---\ntype: f‸act\n---\n# T\n", ("", "")),
        ("# Ti‸tle\n\nx\n", ("", "")),
        ("intro‸\n\n# Title\n", ("", "")),
        ("# Title\n\n## A\n\n### ‸B\n", ("Title#A#B", "")),
        ("# Title\n\ntext ^id‸\n", ("", "id")),
        ("# Title\n\nte‸xt\n", None),
    ],
)
def test_a_cursor_is_on_the_note_a_heading_or_a_block(
    text: str, part: tuple[str, str] | None
) -> None:
    plain, offset = cursor(text)
    assert part_at(parsing.parse("a.md", plain.encode()), offset) == part


def test_a_heading_is_found_by_its_path() -> None:
    note = parsing.parse("a.md", b"# A\n## X\n# B\n## X\n")
    found = section_at(note, "B#X")
    assert found is not None
    assert found.line == 4
    assert section_at(note, "C#Y") is None
