"""Markdown as HTML: what is shown, and what is not."""

import time

import pytest

from memory_bank.frontends.web import note_fields, note_html
from memory_bank.frontends.web.note_html import is_allowed, note_address, render
from memory_bank.memory.note_view import LinkedPlace, LinkTargets
from memory_bank.notes.okf import StatedSource

NOTHING = LinkTargets({})


def html(text: str, **known: LinkedPlace) -> str:
    goals = LinkTargets({("wiki", name, "", ""): goal for name, goal in known.items()})
    return str(render(text, goals).html)


def test_the_parsers_are_ready_before_threads_share_them() -> None:
    pages, fields = note_html._make_parser.__wrapped__(), note_fields._make_parser.__wrapped__()
    shared = [one.ruler for parser in (pages, fields) for one in (parser.core, parser.block)]
    assert all(ruler.__cache__ for ruler in (*shared, pages.inline.ruler, pages.inline.ruler2))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("<div>\n\nx", "&lt;div&gt;"),
        ("[x](javascript:alert)", "[x](javascript:alert)"),
        ("[x](//evil.example/)", "[x](//evil.example/)"),
        ("![x](data:image/png;base64,AAAA)", "![x]("),
        ("a\u202eb", "a\\u202eb"),
        ("[x](https://example.org/?a=1&b=2)", 'href="https://example.org/?a=1&amp;b=2"'),
        ("![x](https://example.org/p.png)", 'href="https://example.org/p.png" rel="noreferrer'),
        ("- [x] y\n- [ ] z", '<span class="hidden-text">done:</span> y'),
        ("    code <b>", "code &lt;b&gt;"),
        ("words ^here", '<span class="soft small" id="^here">'),
        ("~~x~~", "<s>x</s>"),
        ("a\rb\r\nc", "a\nb\nc"),
    ],
)
def test_markdown_is_shown_and_nothing_else(text: str, shown: str) -> None:
    assert shown in html(text)
    assert "<img" not in html(text)


def test_footnotes_lead_to_the_sources_of_their_names() -> None:
    text = "A.[^law] B.[^x] C.[^none] `[^law]`\n\n[^law]: The law\n[^x]: Some *words*.\n"
    sources = [
        StatedSource("https://example.org", is_subject=True),
        StatedSource("law.md", "A <law>", "law"),
    ]
    shown = str(render(text, NOTHING, sources=sources).html)
    assert '<a href="#source-1" title="A &lt;law&gt;"' in shown
    assert '<sup><a href="#note-x">x</a></sup>' in shown
    assert '<p class="small" id="note-x">x: Some <em>words</em>.</p>' in shown
    assert "C.[^none] <code>[^law]</code>" in shown
    assert "The law" not in shown


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://a", True),
        ("mailto:a@b", True),
        ("a/b.md#c", True),
        ("#c", True),
        ("\tjavascript:x", False),
        ("vbscript:x", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("blob:x", False),
        ("//host", False),
        ("/\\host", False),
    ],
)
def test_few_schemes_are_links(url: str, allowed: bool) -> None:
    assert is_allowed(url) == allowed


def test_headings_have_anchors_and_levels_in_order() -> None:
    found = render("# Title\n\n#### Deep *one*\n\n# Next\n\n## Next\n", NOTHING, title="title")
    assert list(found.headings) == [
        (2, "Deep one", "deep-one"),
        (2, "Next", "next"),
        (2, "Next", "next-1"),
    ]
    assert "Title" not in found.html


def test_a_wikilink_has_its_words_and_its_goal() -> None:
    note = LinkedPlace("note", "a b/c.md", "The title")
    assert '<a class="inside" href="/notes/a%20b/c" title="a b/c.md">The title</a>' in html(
        "[[c]]", c=note
    )
    assert ">words</a>" in html("![[c|words]]", c=note)
    assert ">words</a>" in html("| a |\n|---|\n| [[c\\|words]] |", c=note)
    assert "[[unknown]]" in html("[[unknown]]")
    assert "[[c]]" in html("`[[c]]`", c=note)
    assert note_address(note._replace(heading="A#In it")) == "/notes/a%20b/c#in-it"
    assert note_address(note._replace(block="id")) == "/notes/a%20b/c#%5Eid"
    inside = LinkedPlace("symbol", "src/a b.py", heading="L3", file="sub/src/a b.py")
    assert '<a class="cited" href="/code/sub/src/a%20b.py#L3"' in html("[[c]]", c=inside)
    assert note_address(inside._replace(heading="f")) == "/code/sub/src/a%20b.py"
    assert note_address(LinkedPlace("file", "src/a&b.py")) == "/notes?cites=src%2Fa%26b.py"


@pytest.mark.slow
@pytest.mark.parametrize("part", ["[", "[[", "![", "*a_", "`", "> ", "<a ", "[a](b ", "| "])
def test_hostile_marks_take_no_time(part: str) -> None:
    begun = time.process_time()
    render(part * 30_000, NOTHING)
    render(part * 8_000, NOTHING)
    render((part * 450 + "\n\n") * 8, NOTHING)
    assert time.process_time() - begun < 3


def test_a_paragraph_of_very_many_marks_is_text() -> None:
    found = render(f"# {'*a* ' * 300}\n\n*b*\n", NOTHING)
    assert "<em>a</em>" not in found.html
    assert "<em>b</em>" in found.html
    assert found.headings[0][1].startswith("*a* *a*")


def test_a_very_long_text_is_shown_as_it_is() -> None:
    found = render("<b> " * 100_000, NOTHING)
    assert found.too_long
    assert found.html.startswith('<pre tabindex="0">&lt;b&gt; ')
