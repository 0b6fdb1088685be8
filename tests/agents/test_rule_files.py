"""The files by which agents read a project's rules: written, compared, and taken out again."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.agents import clients, rule_files
from memory_bank.agents.rule_files import list_unread_rules
from memory_bank.bank import setup
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput, Conflict
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.doctor import doctor
from memory_bank.review.lint import lint
from memory_bank.review.review import review
from tests.git.history_builder import commit_all
from tests.support.files import read_files

Git = Callable[..., str]

RULE = "---\ntype: rule\n---\n# Money\n\nMoney is in cents.\n"


@pytest.fixture
def ruled(project: Path) -> Iterator[Bank]:
    """Open the bank of a project with one rule that counts."""
    (project / ".memories/rules").mkdir()
    (project / ".memories/rules/cents.md").write_text(RULE)
    commit_all(project, "Money")
    with open_bank(project, settings={"memory.embedder": "none"}) as bank:
        yield bank


def test_what_was_written_is_current_and_leaves_no_byte(ruled: Bank, project: Path) -> None:
    (project / "AGENTS.md").write_bytes(b"# Agents\r\n\r\nBe kind.")
    (project / ".gemini").mkdir()
    (project / ".gemini/settings.json").write_text('{\n  // ours\n  "x": 1\n}\n')
    before = read_files(project)
    found = rule_files.check_files(ruled)
    assert not found.current
    assert read_files(project) == before
    rule_files.write_files(found)
    assert rule_files.check_files(ruled).current
    assert b"Money is in cents. [cents]" in (project / "AGENTS.md").read_bytes()
    assert (project / ".claude/CLAUDE.md").read_text() == "@../AGENTS.md\n"
    settings = (project / ".gemini/settings.json").read_text().replace("// ours", "")
    assert json.loads(settings)["context"] == {"fileName": ["GEMINI.md", "AGENTS.md"]}
    rule_files.write_files(rule_files.check_files(ruled, remove=True))
    assert read_files(project) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CLAUDE.md", "Theirs.\n"),
        ("CLAUDE.md", "See `@AGENTS.md`.\n\n```\n@AGENTS.md\n```\n"),
        (".claude/CLAUDE.md", "Theirs.\r\n"),
        (".claude/CLAUDE.md", "Theirs"),
        ("CLAUDE.local.md", "Mine.\n"),
    ],
)
def test_claude_code_reads_the_block_beside_a_file_of_the_project(
    ruled: Bank, project: Path, name: str, text: str
) -> None:
    (project / ".claude").mkdir()
    (project / name).write_text(text, newline="")
    before = read_files(project)
    rule_files.write_files(rule_files.check_files(ruled))
    assert rule_files.check_files(ruled).current
    loaded = clients.load_texts("claude-code", project)
    assert sum("Money is in cents." in one for one in loaded.values()) == 1
    shown = clients.load_texts("copilot", project)
    assert sum("Money is in cents." in one for one in shown.values()) == 1, "no second copy"
    rule_files.write_files(rule_files.check_files(ruled, remove=True))
    assert read_files(project) == before


@pytest.mark.parametrize("text", ["# Ours\n\n@AGENTS.md\n", "See @./AGENTS.md for more.\n"])
def test_a_project_that_imports_agents_md_gets_no_second_import(
    ruled: Bank, project: Path, text: str
) -> None:
    (project / "CLAUDE.md").write_text(text)
    rule_files.write_files(rule_files.check_files(ruled))
    assert not (project / ".claude/CLAUDE.md").exists()
    assert rule_files.check_files(ruled).current


def test_a_program_that_would_not_see_the_block_is_told(ruled: Bank, project: Path) -> None:
    (project / "CLAUDE.md").write_text("Theirs.\n")
    rule_files.write_files(rule_files.check_files(ruled))
    (project / "AGENTS.override.md").write_text("Mine.\n")
    (project / ".gitignore").write_text(".claude/\n")
    found = rule_files.check_files(ruled)
    assert not found.current
    assert found.unread == (
        "git ignores .claude/CLAUDE.md: no clone has it; track it",
        "Codex does not see the block: it reads AGENTS.override.md and no AGENTS.md",
    )
    (project / "AGENTS.override.md").unlink()
    (project / ".gitignore").unlink()
    (project / "AGENTS.md").write_text("x" * 40_000 + "\n" + (project / "AGENTS.md").read_text())
    (reason,) = rule_files.check_files(ruled).unread
    assert reason.startswith("Codex does not see the block: it reads AGENTS.md, of all together")


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
    rule_files.write_files(rule_files.check_files(ruled))
    assert json.loads(file.read_text())["context"]["fileName"] == after
    rule_files.write_files(rule_files.check_files(ruled, remove=True))
    if "AGENTS" not in before:
        assert json.loads(file.read_text()) == json.loads(before)


def test_an_edited_block_is_not_overwritten_unasked(ruled: Bank, project: Path) -> None:
    rule_files.write_files(rule_files.check_files(ruled))
    file = project / "AGENTS.md"
    edited = file.read_text().replace("Money is", "Never log keys.\n- Money is")
    file.write_text(edited)
    found = rule_files.check_files(ruled)
    assert found.block.state == "edited"
    with pytest.raises(Conflict, match=r"Never log keys\."):
        rule_files.write_files(found)
    assert file.read_text() == edited
    rule_files.write_files(found, edited=True)
    assert "Never log" not in file.read_text()


def test_a_damaged_block_and_a_conflict_beside_it_are_refused(ruled: Bank, project: Path) -> None:
    rule_files.write_files(rule_files.check_files(ruled))
    file = project / "AGENTS.md"
    whole = file.read_text()
    for text in (whole * 2, f"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n{whole}"):
        file.write_text(text)
        with pytest.raises(BadInput):
            rule_files.write_files(rule_files.check_files(ruled))
        assert file.read_text() == text


def test_a_conflict_of_two_blocks_is_resolved(ruled: Bank, project: Path, git: Git) -> None:
    rule_files.write_files(rule_files.check_files(ruled))
    commit_all(project, "Block")
    for branch, start in (("ours", "main"), ("theirs", "main")):
        git(project, "checkout", "-q", "-b", branch, start)
        (project / f".memories/rules/{branch}.md").write_text(RULE.replace("Money", branch))
        commit_all(project, branch)
        rule_files.write_files(rule_files.check_files(ruled))
        git(project, "commit", "-q", "-a", "-m", f"{branch} block")
    with pytest.raises(Exception, match="merge"):
        git(project, "merge", "-q", "ours")
    assert rule_files.check_files(ruled).block.state == "conflict"
    commit_all(project, "merged")
    rule_files.write_files(rule_files.check_files(ruled))
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
        rule_files.check_files(ruled)


def test_a_link_in_the_project_stays_a_link(ruled: Bank, project: Path) -> None:
    (project / "CLAUDE.md").write_text("Theirs.\n")
    (project / "AGENTS.md").symlink_to("CLAUDE.md")
    rule_files.write_files(rule_files.check_files(ruled))
    assert (project / "AGENTS.md").is_symlink()
    assert "Money is in cents." in (project / "CLAUDE.md").read_text()


def test_a_rule_is_told_at_the_start_until_the_program_reads_it(ruled: Bank, project: Path) -> None:
    ruled.catch_up()
    assert rule_files.list_unread_rules(ruled, "codex") == ("Money is in cents. [cents]",)
    rule_files.write_files(rule_files.check_files(ruled))
    for name in clients.list_clients(clients.INSTRUCTIONS):
        assert rule_files.list_unread_rules(ruled, name) == (), name
    (project / "CLAUDE.md").write_text("Theirs.\n")
    (project / ".claude/CLAUDE.md").unlink()
    assert rule_files.list_unread_rules(ruled, "codex") == ()
    assert rule_files.list_unread_rules(ruled, "claude-code") == ("Money is in cents. [cents]",)
    (project / ".memories/rules/new.md").write_text(RULE.replace("Money", "Time"))
    ruled.catch_up()
    assert rule_files.list_unread_rules(ruled, "codex") == (), "a rule that is not committed waits"


def committed(project: Path, name: str, text: str) -> None:
    (project / f".memories/rules/{name}.md").write_text(text)
    commit_all(project, name)


def test_a_block_that_is_not_what_the_notes_say_is_a_finding(
    ruled: Bank, project: Path, git: Git
) -> None:
    def found() -> list[str]:
        return [one.message for one in lint(ruled) if one.rule == "rules-block"]

    def reviewed(revisions: str | None = None, *, staged: bool = False) -> list[tuple[str, bool]]:
        whole = review(ruled, revisions, staged=staged).findings
        return [(one.file, one.new) for one in whole if one.rule == "rules-block"]

    assert not found()
    rule_files.write_files(rule_files.check_files(ruled))
    committed(project, "dates", RULE.replace("Money", "Dates"))
    assert found() == ["the notes of the block of rules changed since it was written"]
    assert reviewed("HEAD~1..HEAD") == [("AGENTS.md", True)]
    rule_files.write_files(rule_files.check_files(ruled))
    git(project, "add", "-A")
    assert not found()
    assert not reviewed(staged=True)
    git(project, "commit", "-q", "-m", "Write the block")
    assert not reviewed("HEAD~1..HEAD")
    assert reviewed("HEAD~2..HEAD~1") == [("AGENTS.md", True)]
    (project / "AGENTS.md").write_text((project / "AGENTS.md").read_text().replace("cents", "€"))
    assert found() == ["somebody edited the block of rules"]


def test_rules_of_cursor_are_included(project: Path, opening: Callable[..., Bank]) -> None:
    folder = project / ".cursor/rules"
    folder.mkdir(parents=True)
    (folder / "api.mdc").write_text(
        "---\ndescription: \nglobs: **/*.ts,*.tsx\nalwaysApply: false\n---\n\nUse zod for input.\n"
    )
    bank = opening(project, memory__include=[".cursor/rules"])
    (hit,) = recall(bank, "zod input", mode="lexical").notes
    assert hit.path == ".cursor/rules/api.mdc"
    assert bank.store.read(hit.path).meta.extra["globs"] == "**/*.ts,*.tsx"
    assert not [one for one in lint(bank) if one.path == hit.path and one.severity == "error"]


def test_what_the_rules_are_written_into_is_not_offered_as_notes(
    ruled: Bank, project: Path
) -> None:
    (project / "AGENTS.md").write_text("# Ours\n")
    assert [one.path for one in setup.find_candidates(project)] == ["AGENTS.md"]
    rule_files.write_files(rule_files.check_files(ruled))
    assert setup.find_candidates(project) == ()


@pytest.mark.parametrize("kind", ["out of the project", "nowhere", "folder", "no UTF-8"])
def test_hooks_doctor_and_lint_go_on(project: Path, tmp_path: Path, kind: str) -> None:
    file = project / "AGENTS.md"
    if kind == "out of the project":
        (tmp_path / "shared.md").write_text("Be brief.\n")
        file.symlink_to(tmp_path / "shared.md")
    elif kind == "nowhere":
        file.symlink_to(project / "missing.md")
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_bytes(b"\xff\xfe\xff")
    (project / ".memories/rules").mkdir()
    rule = "---\ntype: rule\n---\n# Wrens are counted twice\n\nOnce a day.\n"
    (project / ".memories/rules/wrens.md").write_text(rule)
    with open_bank(project) as bank:
        list_unread_rules(bank, "codex")
        for found in (doctor(bank).findings, lint(bank)):
            told = [one.message for one in found if one.rule == "rules-block"]
            assert len(told) == 1
            assert "it is not read" in told[0]
