from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.memory.links import ghosts, links_of, path_between, related
from tests.support.files import write_files

NOTES = {
    "a.md": "# A\n\nThe words before [[b]] and after.\n\nsupersedes:: [[old]]\n",
    "b.md": "See [[c#Part]], [[c#Nowhere]], [[c^block]], [[c^gone]], [c](c.md#the-part).\n",
    "c.md": "# Part\n\ntext ^block\n\n## The Part\n",
    "d/twin.md": "1",
    "e/twin.md": "2",
    "f.md": "[[twin]] [[src/server.py]] [[Src/Server.py]] [[Sarah]] [[f]]",
    "old.md": "x",
    "alone.md": "y",
}


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    write_files(folder, NOTES)
    return opening(folder)


def test_links_are_shown_with_the_words_around_them(bank: Bank) -> None:
    found = links_of(bank, "A")
    assert found.path == "a.md"
    first, second = found.outgoing
    assert (first.row.line, first.target, first.row.kind, first.problem) == (
        3,
        "b.md",
        "wiki",
        None,
    )
    assert first.context == "The words before [b] and after."
    assert (second.row.line, second.target, second.row.type) == (5, "old.md", "supersedes")
    assert found.incoming == ()
    assert [link.source for link in links_of(bank, "old").incoming] == ["a.md"]


def test_a_link_to_a_heading_or_block_that_is_not_there_is_a_problem(bank: Bank) -> None:
    problems = [link.problem for link in links_of(bank, "b").outgoing]
    assert problems[0] is None
    assert problems[1] == "c.md has no heading 'Nowhere'"
    assert problems[2] is None
    assert problems[3] == "c.md has no block ^gone"
    assert problems[4] is None


def test_a_link_that_may_mean_several_is_a_problem_and_no_ghost(bank: Bank) -> None:
    ambiguous = links_of(bank, "f").outgoing[0]
    assert ambiguous.problem is not None
    assert "several notes" in ambiguous.problem
    assert "twin" not in {ghost.name for ghost in ghosts(bank)}


def test_ghosts_are_what_no_note_answers_to(bank: Bank) -> None:
    found = {ghost.name: (ghost.count, ghost.sources) for ghost in ghosts(bank)}
    assert set(found) == {"src/server.py", "Src/Server.py", "Sarah"}
    assert found["Sarah"] == (1, ("f.md",))


@pytest.mark.parametrize("name", ["ghost:src/server.py", "SRC/server.py", "ghost:SRC/SERVER.PY"])
def test_a_ghost_has_links_in(bank: Bank, name: str) -> None:
    found = links_of(bank, name)
    assert found.path.startswith("ghost:")
    assert [link.source for link in found.incoming] == ["f.md", "f.md"]
    assert found.outgoing == ()


def test_a_file_that_no_note_names_has_no_links(bank: Bank) -> None:
    for name in ("src/new.py", "ghost:src/new.py", "./src/new.py:4"):
        found = links_of(bank, name)
        assert (found.path, found.incoming, found.outgoing) == ("ghost:src/new.py", (), ())
    assert related(bank, "src/new.py") == ()
    assert path_between(bank, "a", "src/new.py") == ()


def test_a_reference_written_in_another_form_leads_to_the_same_file(
    bank: Bank, folder: Path
) -> None:
    (folder / "g.md").write_text("---\nfile_refs: [./src/server.py, 'src\\server.py']\n---\n")
    sources = [link.source for link in links_of(bank, "src/server.py").incoming]
    assert sources == ["f.md", "f.md", "g.md", "g.md"]


@pytest.mark.parametrize("name", ["nothing", "ghost:nothing", "ghost:", "ghost:a"])
def test_what_is_neither_note_nor_ghost_is_said(bank: Bank, name: str) -> None:
    with pytest.raises(NoteNotFound):
        links_of(bank, name)


def test_a_path_is_the_shortest_chain_whichever_way_links_go(bank: Bank) -> None:
    steps = path_between(bank, "c", "old")
    assert [(step.source, step.target, step.type) for step in steps] == [
        ("b.md", "c.md", "mentions"),
        ("a.md", "b.md", "related_to"),
        ("a.md", "old.md", "supersedes"),
    ]
    assert path_between(bank, "a", "a") == ()
    assert path_between(bank, "a", "alone") == ()
    assert [step.target for step in path_between(bank, "f", "Sarah")] == ["ghost:Sarah"]


def test_of_paths_of_one_length_the_first_is_taken_at_each_start(bank: Bank, folder: Path) -> None:
    between = [f"between-{number:02}" for number in range(20)]
    write_files(folder, {f"{name}.md": "[[sink]]\n" for name in between})
    write_files(folder, {"source.md": "".join(f"[[{name}]]\n" for name in between), "sink.md": "S"})
    steps = path_between(bank, "source", "sink")
    assert [step.target for step in steps] == ["between-00.md", "sink.md"]


def test_the_nearest_are_related(bank: Bank) -> None:
    assert [near.path for near in related(bank, "a")] == ["c.md", "b.md", "old.md"]
    assert len(related(bank, "a", 1)) == 1
    assert related(bank, "alone") == ()


def test_anchors_are_those_of_github(folder: Path, opening: Callable[..., Bank]) -> None:
    headings = ("Added", "Added", "🚀 Launch", "Done ✅", "A & B", "What's new?")
    text = "\n\n".join(f"## {heading}" for heading in headings)
    (folder / "log.md").write_text(f"# Log\n\n{text}\n", encoding="utf-8")
    right = ("added", "added-1", "-launch", "done-", "a--b", "whats-new")
    wrong = ("added-2", "launches", "a-c")
    links = " ".join(f"[x](log.md#{anchor})" for anchor in (*right, *wrong))
    (folder / "r.md").write_text(f"# R\n\n{links}\n", encoding="utf-8")
    problems = [link.problem for link in links_of(opening(folder), "r").outgoing]
    assert problems == [*[None] * 6, *(f"log.md has no heading {name!r}" for name in wrong)]
