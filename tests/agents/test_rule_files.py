"""The files by which agents read a project's rules: written, compared, and taken out again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.agents import rule_files
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput, Conflict

Git = Callable[..., str]

RULE = "---\ntype: rule\n---\n# Money\n\nMoney is in cents.\n"


@pytest.fixture
def ruled(project: Path, git: Git) -> Iterator[Bank]:
    """Open the bank of a project with one rule that counts."""
    (project / ".memories/rules").mkdir()
    (project / ".memories/rules/cents.md").write_text(RULE)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Money")
    with open_bank(project, settings={"memory.embedder": "none"}) as bank:
        yield bank


def files(project: Path) -> dict[str, bytes]:
    found = [one for one in project.rglob("*") if one.is_file() and ".git/" not in f"{one}/"]
    return {
        one.relative_to(project).as_posix(): one.read_bytes()
        for one in found
        if ".index/" not in str(one)
    }


def test_what_was_written_is_current_and_leaves_no_byte(ruled: Bank, project: Path) -> None:
    (project / "AGENTS.md").write_bytes(b"# Agents\r\n\r\nBe kind.")
    (project / ".gemini").mkdir()
    (project / ".gemini/settings.json").write_text('{\n  // ours\n  "x": 1\n}\n')
    before = files(project)
    found = rule_files.look(ruled)
    assert not found.current
    assert files(project) == before
    rule_files.write(found)
    assert rule_files.look(ruled).current
    assert b"Money is in cents. [cents]" in (project / "AGENTS.md").read_bytes()
    assert (project / ".claude/CLAUDE.md").read_text() == "@../AGENTS.md\n"
    settings = (project / ".gemini/settings.json").read_text().replace("// ours", "")
    assert json.loads(settings)["context"] == {"fileName": ["GEMINI.md", "AGENTS.md"]}
    rule_files.write(rule_files.look(ruled, remove=True))
    assert files(project) == before


@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude/CLAUDE.md"])
def test_a_claude_file_of_the_project_stays(ruled: Bank, project: Path, name: str) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("Theirs.\n")
    found = rule_files.look(ruled)
    rule_files.write(found)
    assert (project / name).read_text() == "Theirs.\n"
    assert any("@AGENTS.md" in one for one in found.remarks) is (name == "CLAUDE.md")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"context": {"fileName": "X.md"}}', ["X.md", "AGENTS.md"]),
        ('{"context": {"fileName": ["AGENTS.md"]}}', ["AGENTS.md"]),
        ('{"context": {"importFormat": "tree"}}', ["GEMINI.md", "AGENTS.md"]),
    ],
)
def test_names_of_gemini_stay(ruled: Bank, project: Path, before: str, after: list[str]) -> None:
    (project / ".gemini").mkdir()
    file = project / ".gemini/settings.json"
    file.write_text(before)
    rule_files.write(rule_files.look(ruled))
    assert json.loads(file.read_text())["context"]["fileName"] == after
    rule_files.write(rule_files.look(ruled, remove=True))
    if "AGENTS" not in before:
        assert json.loads(file.read_text()) == json.loads(before)


def test_an_edited_block_is_not_overwritten_unasked(ruled: Bank, project: Path) -> None:
    rule_files.write(rule_files.look(ruled))
    file = project / "AGENTS.md"
    edited = file.read_text().replace("Money is", "Never log keys.\n- Money is")
    file.write_text(edited)
    found = rule_files.look(ruled)
    assert found.block.state == "edited"
    with pytest.raises(Conflict, match=r"Never log keys\."):
        rule_files.write(found)
    assert file.read_text() == edited
    rule_files.write(found, edited=True)
    assert "Never log" not in file.read_text()


def test_a_damaged_block_and_a_conflict_beside_it_are_refused(ruled: Bank, project: Path) -> None:
    rule_files.write(rule_files.look(ruled))
    file = project / "AGENTS.md"
    whole = file.read_text()
    for text in (whole * 2, f"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n{whole}"):
        file.write_text(text)
        with pytest.raises(BadInput):
            rule_files.write(rule_files.look(ruled))
        assert file.read_text() == text


def test_a_conflict_of_two_blocks_is_resolved(ruled: Bank, project: Path, git: Git) -> None:
    rule_files.write(rule_files.look(ruled))
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Block")
    for branch, start in (("ours", "main"), ("theirs", "main")):
        git(project, "checkout", "-q", "-b", branch, start)
        (project / f".memories/rules/{branch}.md").write_text(RULE.replace("Money", branch))
        git(project, "add", "-A")
        git(project, "commit", "-q", "-m", branch)
        rule_files.write(rule_files.look(ruled))
        git(project, "commit", "-q", "-a", "-m", f"{branch} block")
    with pytest.raises(Exception, match="merge"):
        git(project, "merge", "-q", "ours")
    assert rule_files.look(ruled).block.state == "conflict"
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "merged")
    rule_files.write(rule_files.look(ruled))
    text = (project / "AGENTS.md").read_text()
    assert all(f"{word} is in cents." in text for word in ("Money", "ours", "theirs"))
    assert "<<<<" not in text


@pytest.mark.parametrize("name", ["AGENTS.md", ".claude", ".gemini"])
def test_a_link_out_of_the_project_is_not_followed(
    ruled: Bank, project: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    (project / name).symlink_to(outside if "." in name[:1] else outside / "file")
    with pytest.raises(BadInput, match="leads out"):
        rule_files.look(ruled)


def test_a_link_in_the_project_stays_a_link(ruled: Bank, project: Path) -> None:
    (project / "CLAUDE.md").write_text("Theirs.\n")
    (project / "AGENTS.md").symlink_to("CLAUDE.md")
    rule_files.write(rule_files.look(ruled))
    assert (project / "AGENTS.md").is_symlink()
    assert "Money is in cents." in (project / "CLAUDE.md").read_text()


def test_a_rule_is_told_at_the_start_until_agents_md_has_it(ruled: Bank, project: Path) -> None:
    assert rule_files.untold(ruled) == ("Money is in cents. [cents]",)
    rule_files.write(rule_files.look(ruled))
    assert rule_files.untold(ruled) == ()
    (project / ".memories/rules/new.md").write_text(RULE.replace("Money", "Time"))
    assert rule_files.untold(ruled) == (), "a rule that is not committed waits"
