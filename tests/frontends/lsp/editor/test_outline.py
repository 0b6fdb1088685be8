from __future__ import annotations

from memory_bank.frontends.lsp.editor.open_texts import OutlineHeading, outline, search
from memory_bank.notes import parsing
from tests.frontends.lsp.editor.conftest import Make


def shown(headings: tuple[OutlineHeading, ...]) -> list[object]:
    return [(one.name, shown(one.below)) if one.below else one.name for one in headings]


def test_the_headings_are_a_tree() -> None:
    text = "intro\n\n# A\n\n## B\n\n### C\n\n## D\n\n# E\n"
    note = parsing.parse("a.md", text.encode())
    found = outline(note)
    assert shown(found) == [("A", [("B", ["C"]), "D"]), "E"]
    assert text[found[0].start : found[0].end] == text[text.index("# A") : text.index("# E")]
    assert text[found[1].start : found[1].line_end] == "# E"


def test_a_skipped_level_and_an_empty_heading_are_in_the_tree() -> None:
    note = parsing.parse("a.md", b"### Deep\n# Top\n##\n")
    assert shown(outline(note)) == ["Deep", ("Top", ["(no text)"])]


def test_notes_and_headings_are_found_by_words(make: Make) -> None:
    notes = {"facts/bm25.md": "# BM25\n\n## Ranks of words\n", "ranks.md": "# All ranks\n"}
    bank = make(notes).bank
    found = search(bank, "ranks")
    assert [(one.name, one.path, one.line, one.is_note) for one in found] == [
        ("Ranks of words", "facts/bm25.md", 3, False),
        ("All ranks", "ranks.md", 1, True),
    ]
    assert [one.name for one in search(bank, "words ranks")] == ["Ranks of words"]
    assert search(bank, "nothing") == []
