from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.links import links_of
from tests.review.rules.conftest import Lint

Git = Callable[..., str]
RULE = "moved-link"


@pytest.fixture
def moved(project: Path, git: Git) -> Path:
    """Move a note in git, without our knowing."""
    bank = project / ".memories"
    (bank / "ideas").mkdir()
    git(project, "mv", ".memories/decisions/whoosh.md", ".memories/ideas/old whoosh.md")
    git(project, "commit", "-q", "-m", "Move")
    return bank


@pytest.mark.parametrize(
    ("link", "fix"),
    [
        ("[[decisions/whoosh]]", "ideas/old whoosh"),
        ("[[decisions/whoosh.md|text]]", "ideas/old whoosh"),
        ("![[Whoosh]]", "ideas/old whoosh"),
        ("- supersedes:: [[.memories/decisions/whoosh]]", "ideas/old whoosh"),
        ("[text](../decisions/whoosh.md)", "../ideas/old whoosh.md"),
    ],
)
def test_a_link_to_a_note_that_git_moved_is_told_the_new_name(
    moved: Path, lint: Lint, link: str, fix: str
) -> None:
    (moved / "facts/new.md").write_text(f"# New\n\n{link}\n")
    found = {one.path: one for one in lint(moved, RULE)}
    assert set(found) == {"facts/new.md", "decisions/tantivy.md"}
    one = found["facts/new.md"]
    assert (one.severity, one.line, one.fix) == ("warning", 3, fix)
    assert one.message == "leads to decisions/whoosh.md, which git moved to ideas/old whoosh.md"


def test_the_fix_leads_to_the_note(moved: Path, lint: Lint, opening: Callable[..., Bank]) -> None:
    (moved / "facts/new.md").write_text("[a](../decisions/whoosh.md) [[decisions/whoosh]]")
    markdown, wiki = (one.fix for one in lint(moved, RULE) if one.path == "facts/new.md")
    (moved / "facts/new.md").write_text(f"[a](<{markdown}>) [[{wiki}]]")
    links = links_of(opening(moved), "facts/new").outgoing
    assert {link.target for link in links} == {"ideas/old whoosh.md"}


def test_ghosts_that_never_were_notes_and_deleted_notes_are_fine(
    project: Path, lint: Lint, git: Git
) -> None:
    git(project, "rm", "-q", ".memories/facts/bm25.md")
    git(project, "commit", "-q", "-m", "Delete")
    (project / ".memories/new.md").write_text("[[sarah]] [[src/index.py]] [[facts/bm25]]")
    assert lint(project, RULE) == []


def test_a_name_that_two_former_notes_had_is_not_guessed(
    project: Path, lint: Lint, git: Git
) -> None:
    bank = project / ".memories"
    (bank / "plans").mkdir()
    (bank / "plans/whoosh.md").write_text("# A plan of quite another kind\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Add")
    for number, name in enumerate(("decisions/whoosh", "plans/whoosh")):
        git(project, "mv", f".memories/{name}.md", f".memories/moved{number}.md")
    git(project, "commit", "-q", "-m", "Move")
    (bank / "new.md").write_text("[[whoosh]] [[plans/whoosh]]")
    found = lint(project, RULE)
    assert [one.fix for one in found if one.path == "new.md"] == ["moved1"]


def test_outside_git_there_is_nothing_to_know(folder: Path, lint: Lint) -> None:
    (folder / "a.md").write_text("[[gone]]")
    assert lint(folder, RULE) == []
