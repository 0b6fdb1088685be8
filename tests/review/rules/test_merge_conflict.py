from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.review.rules.conftest import Lint


def test_a_conflict_in_a_body_and_one_in_front_matter_are_errors(
    conflict: Callable[..., Path], project: Path, lint: Lint
) -> None:
    texts = (
        "---\ntags: [{}]\n---\nkept\n\nkept\n\nkept\n\n{}\n".format(*(word, word)) for word in "abc"
    )
    base, ours, theirs = texts
    conflict(ours, theirs, base=base)
    found = lint(project, "merge-conflict")
    assert [(one.severity, one.path, one.line) for one in found] == [
        ("error", "facts/port.md", 2),
        ("error", "facts/port.md", 14),
    ]
    assert found[0].message == "unresolved merge conflict"
    assert "keep the right lines" in (found[0].fix or "")


def test_it_is_no_fault_besides(conflict: Callable[..., Path], project: Path, lint: Lint) -> None:
    conflict("---\na: 1\n---\n", "---\na: 2\n---\n", base="---\na: 3\n---\n")
    assert lint(project, "fault") == []
    assert len(lint(project, "merge-conflict")) == 1
