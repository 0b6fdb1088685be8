import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import Finding
from memory_bank.review.rules.base import RuleContext, findings, rules
from tests.review.rules.conftest import Lint

PAGE = Path(__file__).parents[3] / "docs" / "lint.md"


@pytest.fixture
def context(bank: Bank) -> RuleContext:
    bank.sync()
    return bank.read(lambda view: RuleContext(bank, view))


def test_the_most_severe_comes_first_then_by_rule_and_place(project: Path, bank: Bank) -> None:
    notes = project / ".memories"
    (notes / "a b?.md").write_text("[[facts/bm25#no]]\n\n[[facts/bm25^no]]")
    (notes / "binary.md").write_bytes(b"\0")
    bank.sync()
    found = bank.read(lambda view: findings(RuleContext(bank, view)))
    assert [(one.severity, one.rule, one.line) for one in found] == [
        ("error", "unindexed", 1),
        ("warning", "broken-link", 1),
        ("warning", "broken-link", 3),
        ("info", "odd-name", 1),
    ]
    assert found[3] == Finding("odd-name", "info", "a b?.md", 1, found[3].message, None)


def test_a_question_that_several_rules_have_is_asked_once(context: RuleContext) -> None:
    asked = []

    def ask(bank: RuleContext) -> list[str]:
        asked.append(bank)
        return ["answer"]

    assert context.once(ask) == context.once(ask) == ("answer",)
    assert asked == [context]


def test_the_text_of_a_file_that_holds_none_is_none(context: RuleContext, project: Path) -> None:
    (project / ".memories/binary.md").write_bytes(b"\0")
    assert context.text("binary.md") is None
    assert context.text("gone.md") is None
    assert context.text("../src/index.py") is None
    assert (context.text("facts/bm25.md") or "").startswith("# BM25")
    assert "facts/bm25.md" in context.files


def test_what_was_moved_out_of_a_folder_has_no_name_there(
    context: RuleContext, git: Callable[..., str], project: Path
) -> None:
    git(project, "mv", "src/index.py", "index.py")
    assert context.moved(["src/index.py"], project) == {"src/index.py": "index.py"}
    assert context.moved(["index.py"], project / "src") == {}
    assert context.moved(["index.py"], project.parent) == {}


def test_the_list_has_all_rules_as_they_are() -> None:
    shown, severity = set(), ""
    block = PAGE.read_text("utf-8").partition("<!--rules-->\n```text\n")[2].partition("```")[0]
    for line in block.splitlines():
        if line.endswith(":"):
            severity = line[:-1]
        else:
            shown.add((*re.split(r" {2,}", line.strip(), maxsplit=1), severity))
    assert shown == {(name, rule.summary, rule.severity) for name, rule in rules().items()}


def test_an_accepted_decision_record_may_be_large(lint: Lint, folder: Path) -> None:
    long = "The queue survives restarts. " * 400
    for number, status in enumerate(("Accepted", "Proposed"), 1):
        text = f"# Queue {number}\n\n## Status\n\n{status}\n\n## Context\n\n{long}\n"
        (folder / f"000{number}-queue.md").write_text(f"{text}\n## Decision\n\nPostgres.\n")
    assert [finding.path for finding in lint(folder, "large-note")] == ["0002-queue.md"]
