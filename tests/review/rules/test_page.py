"""docs/lint.md and the rules agree."""

from __future__ import annotations

import re
from pathlib import Path

from memory_bank.review.rules.base import rules

PAGE = Path(__file__).parents[3] / "docs" / "lint.md"


def test_the_list_has_all_rules_as_they_are() -> None:
    shown, severity = set(), ""
    block = PAGE.read_text("utf-8").partition("<!--rules-->\n```text\n")[2].partition("```")[0]
    for line in block.splitlines():
        if line.endswith(":"):
            severity = line[:-1]
        else:
            shown.add((*re.split(r" {2,}", line.strip(), maxsplit=1), severity))
    assert shown == {(name, rule.summary, rule.severity) for name, rule in rules().items()}
