from __future__ import annotations

from memory_bank.frontends.lsp.editor.destinations import MAX_LINES, Preview, leads_to, preview
from memory_bank.frontends.lsp.editor.open_texts import link_at
from tests.frontends.lsp.editor.conftest import Make

NOTE = "---\ntype: fact\ntags: [search]\n---\n# BM25\n\nIt ranks.\n\n## Words\n\nRare ones.\n\nOne. ^one\n"


def shown(make: Make, link: str) -> Preview | None:
    texts = make({"facts/bm25.md": NOTE, "long.md": "x\n" * 100, "n.md": "x"}, n=link)
    written = link_at(texts.read("n.md"), 3)
    assert written is not None
    return preview(texts, leads_to(texts, "n.md", [written.link])[0], written.link)


def test_a_note_shows_its_title_and_first_lines(make: Make) -> None:
    found = shown(make, "[[bm25]]")
    assert found is not None
    assert (found.title, found.meta.type, found.meta.tags) == ("BM25", "fact", ("search",))
    assert found.text.startswith("It ranks.\n\n## Words")


def test_a_part_of_a_note_is_shown_alone(make: Make) -> None:
    found, block = shown(make, "[[bm25#Words]]"), shown(make, "[[bm25^one]]")
    assert found is not None
    assert block is not None
    assert (found.heading, found.text) == ("BM25 > Words", "Rare ones.\n\nOne. ^one")
    assert block.text == "One. ^one"


def test_a_long_note_is_cut(make: Make) -> None:
    found = shown(make, "[[long]]")
    assert found is not None
    assert (found.text.count("\n") + 1, found.more) == (MAX_LINES, True)


def test_what_is_not_there_has_no_preview(make: Make) -> None:
    assert shown(make, "[[nothing]]") is None
