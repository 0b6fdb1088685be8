from __future__ import annotations

import pytest

from memory_bank.retrievers.base import Entry
from memory_bank.retrievers.vectors import text_of


@pytest.mark.parametrize(
    ("title", "headings", "embedded"),
    [
        ("Lakes", ("Lakes", "Depth"), "Lakes > Depth\nstill water"),
        ("equal-fusion-hurts", (), "equal-fusion-hurts\nstill water"),
        ("湖", (), "湖\nstill water"),
        ("2026-05-08", ("2026-05-08", "1."), "still water"),
        ("000123", (), "still water"),
        ("", (), "still water"),
    ],
)
def test_what_names_no_subject_is_not_embedded(
    title: str, headings: tuple[str, ...], embedded: str
) -> None:
    entry = Entry(1, 1, title, headings, (), " still water\n", 2)
    assert text_of(entry) == embedded
