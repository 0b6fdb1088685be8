from __future__ import annotations

import pytest

from memory_bank.frontends.web.export.written_site import to_file

FILES = {"/": "index.html", "/notes/a b": "notes/a-b.html", "/notes?from=50": "notes/from-50.html"}


def made(page: str, address: str = "/notes/x/y", file: str = "notes/x/y.html") -> str:
    return to_file(page, address, file, lambda one: FILES.get(one.replace("%20", " "), ""))


@pytest.mark.parametrize(
    ("written", "file"),
    [
        ('<a class="b" href="/">', '<a class="b" href="../../index.html">'),
        ('<a href="/notes/a%20b#why">', '<a href="../a-b.html#why">'),
        ('<a href="/nothing" title="&lt;b&gt;">', '<a title="&lt;b&gt;">'),
        ('<a href="/sessions/1?a=1&amp;b=2">', "<a>"),
        ('<a href="#here">', '<a href="#here">'),
        ('<a href="https://example.org/?a=1&amp;b=2">',) * 2,
        ('<a href="//example.org/">',) * 2,
        ('<a href="mailto:a@example.org">',) * 2,
        ('<img src="/" alt="" hidden>', '<img src="../../index.html" alt="" hidden>'),
        ('<p hx-get="/" hx-trigger="load" class="a">', '<p class="a">'),
        ("<p>a &lt;b&gt; &amp;amp; &#39; &nbsp; ü</p><!doctype html>",) * 2,
        ('<svg viewBox="0 0 1 1"><path d="M0"/></svg>',) * 2,
    ],
)
def test_what_becomes_of_a_tag(written: str, file: str) -> None:
    assert made(written) == file


def test_a_link_may_be_relative_to_the_page() -> None:
    page = '<a rel="next" href="?from=50">'
    assert made(page, "/notes?from=0", "notes.html") == '<a rel="next" href="notes/from-50.html">'


def test_forms_that_need_a_server_are_left_out_whole() -> None:
    page = 'a<form action="/edit"><p>b<input name="c"><br></p><form></form></form>d'
    assert made(page) == "ad"
    assert (
        made('<form action="/"><input></form>') == '<form action="../../index.html"><input></form>'
    )


def test_the_policy_stands_in_the_head() -> None:
    page = made('<head><meta charset="utf-8"><script src="/"></script></head>')
    assert page.index("Content-Security-Policy") < page.index("<script")
    assert "frame-ancestors" not in page, "browsers complain of it there"
