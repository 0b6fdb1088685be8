"""Findings are shown by GitLab."""

from __future__ import annotations

import json
from typing import Any

from memory_bank.review.formats.annotations import MOST
from memory_bank.review.formats.code_quality import code_quality
from tests.review.formats.reviews import finding


def issues(*found: Any) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads(code_quality(found))
    return made


def test_a_finding_is_an_issue() -> None:
    (one,) = issues(finding("is broken", fix="facts/okapi", severity="error"))
    assert one["description"] == "is broken. Fix: facts/okapi"
    assert (one["check_name"], one["severity"]) == ("broken-link", "critical")
    assert one["location"] == {
        "path": ".memories/facts/bm25.md",
        "lines": {"begin": 3, "end": 3},
    }


def test_issues_beyond_a_number_are_counted_by_the_last_one() -> None:
    *shown, last = issues(*[finding(line=number + 1) for number in range(MOST + 3)])
    assert len(shown) == MOST
    assert last["description"].startswith("3 more findings left out")
    assert (last["check_name"], last["severity"]) == ("left-out", "info")
    assert len({one["fingerprint"] for one in (*shown, last)}) == MOST + 1
