from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memory_bank.frontends.lsp import navigation
from memory_bank.frontends.lsp.editor.destinations import Preview
from memory_bank.notes.note import Meta

HOSTILE = st.text(st.sampled_from("a `~*_[]()<>!#\\\n\u202e|-=&;{}$+^:/.1"), max_size=40)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_nothing_of_a_note_becomes_markup(title: str, tag: str, text: str) -> None:
    shown = navigation.of_preview(
        Preview(
            title=f"t{title}",
            path=f"p{title}",
            meta=Meta(type="x", tags=(tag,)),
            heading=tag,
            text=text,
        )
    )
    kinds = {token.type for token in MarkdownIt("commonmark", {"html": True}).parse(shown)}
    inline = {
        child.type
        for token in MarkdownIt("commonmark", {"html": True}).parse(shown)
        for child in token.children or ()
    }
    assert kinds <= {"paragraph_open", "inline", "paragraph_close", "fence"}
    assert inline <= {"text", "strong_open", "strong_close", "code_inline", "hardbreak", "text_special", "softbreak"}  # fmt: skip
    assert "\u202e" not in shown


def test_a_fence_is_longer_than_those_of_the_text() -> None:
    assert navigation.fenced("````\nx", "md") == "`````md\n````\nx\n`````"
    assert navigation.fenced("x", "a b") == "```\nx\n```"
