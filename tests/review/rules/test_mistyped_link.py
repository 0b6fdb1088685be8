from __future__ import annotations

from pathlib import Path

import pytest

from tests.review.rules.conftest import Lint

RULE = "mistyped-link"
NOTES = (
    "facts/retries.md", "facts/the-cidr-script-bd92.md", "part-a.md", "release-1.md", "ann.md",
    "model-o.md", "facts/spec-10 one index.md",
)  # fmt: skip


@pytest.fixture
def bank(folder: Path) -> Path:
    (folder / "facts").mkdir()
    for path in NOTES:
        (folder / path).write_text("# Title of its own\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("link", "note"),
    [
        ("[[facts/retires]]", "facts/retries"),
        ("[[retrys]]", ""),
        ("[[retrie]]", "facts/retries"),
        ("[[Retriess|shown]]", "facts/retries"),
        ("[[facts/the-cidr-script]]", "facts/the-cidr-script-bd92"),
        ("[[the-cidr-script]]", "facts/the-cidr-script-bd92"),
        ("[x](facts/retriez.md)", "facts/retries.md"),
        ("[[model-0]]", "model-o"),
        ("[[facts/spec-10]]", "facts/spec-10 one index"),
        ("[[facts/spec-1]]", ""),
        ("[[retries]]", ""),
        ("[[part-b]]", ""),
        ("[[release-2]]", ""),
        ("[[anna]]", ""),
        ("[[person:retrie]]", ""),
        ("[[src/retries.py]]", ""),
    ],
)
def test_a_link_that_is_nearly_the_name_of_a_note_names_it(
    bank: Path, lint: Lint, link: str, note: str
) -> None:
    (bank / "a.md").write_text(f"Words.\n\nSee {link}.\n", encoding="utf-8")
    found = lint(bank, RULE)
    assert [(one.path, one.line, one.fix) for one in found] == ([("a.md", 3, note)] if note else [])


def test_of_several_notes_all_are_named_and_none_is_chosen(bank: Path, lint: Lint) -> None:
    (bank / "retriex.md").write_text("x\n", encoding="utf-8")
    (bank / "a.md").write_text("[[retrie]]\n", encoding="utf-8")
    (found,) = lint(bank, RULE)
    assert found.message == (
        "'retrie' leads to no note; did you mean facts/retries.md or retriex.md?"
    )
    assert found.fix is None
