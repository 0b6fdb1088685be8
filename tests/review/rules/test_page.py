"""docs/lint.md and the rules agree."""

from __future__ import annotations

import re
from pathlib import Path

from memory_bank.review.rules.base import rules

PAGE = Path(__file__).parents[3] / "docs" / "lint.md"


def test_the_table_has_all_rules_as_they_are() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\w+) \| (.+?) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert rows == [(name, rule.severity, rule.summary) for name, rule in rules().items()]
