"""An AGENTS.md that can't be read is as one without a block, for all that only reads."""

from pathlib import Path

import pytest

from memory_bank.agents.rule_files import list_unread_rules
from memory_bank.bank.bank import open_bank
from memory_bank.review.doctor import doctor
from memory_bank.review.lint import lint


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
