from __future__ import annotations

from pathlib import Path

from tests.review.rules.conftest import Lint
from tests.review.rules.test_same_content import write


def test_the_newer_of_two_notes_of_one_title_is_named(folder: Path, lint: Lint) -> None:
    write(folder, "older", "2026-01-01", "# Retries\n\nThree times.\n")
    write(folder, "newer", "2026-01-02", "# retries\n\nFive times.\n")
    write(folder, "archived", "2026-01-03", "# Retries\n\nOnce.\n", "archived")
    write(folder, "copy", "2026-01-04", "# Retries\n\nThree times.\n")
    write(folder, "other", "2026-01-05", "# Payments\n\nThree times.\n")
    found = lint(folder, "same-title")
    assert [(one.path, one.message) for one in found] == [("newer.md", "has the title of older.md")]
