from __future__ import annotations

from html import unescape

from hypothesis import given, settings
from markdown_it import MarkdownIt

from memory_bank.review.formats.markdown import code, html_code, short_line
from tests.review.formats.reviews import texts

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@settings(deadline=None)
@given(texts)
def test_a_code_span_has_the_text_and_nothing_else(text: str) -> None:
    (_, inline, _) = MARKDOWN.parse(f"a {code(text)} b")
    assert inline.children is not None
    before, span, after = inline.children
    assert (before.content, after.content) == ("a ", " b")
    assert span.type == "code_inline"
    assert span.content.strip() == short_line(text)


@settings(deadline=None)
@given(texts)
def test_a_code_element_has_no_tag_inside(text: str) -> None:
    inside = html_code(text).removeprefix("<code>").removesuffix("</code>")
    assert not set("<>\"'\n") & set(inside)
    assert unescape(inside) == short_line(text)


def test_long_texts_are_cut() -> None:
    assert short_line("word " * 1000).endswith("…")
    assert len(short_line("\u200b" * 1000)) == 300
