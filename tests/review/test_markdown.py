import re
from collections.abc import Iterator
from html import unescape

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memory_bank.base.rendering import escape_hidden
from memory_bank.notes.note_change import KeyChange, LinkChange
from memory_bank.review.records import HEADINGS, Review, Side
from memory_bank.review.review_markdown import (
    LIMIT,
    MARKER,
    format_code,
    html_code,
    render_review,
    short_line,
)
from tests.review.reviews import (
    SENTINEL,
    claim,
    finding,
    hostile_reviews,
    note,
    review,
    section,
    texts,
)

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_TAGS = re.compile(
    r"<details(?: open)?><summary>[^<>]*</summary>|</details>|<!-- memory-bank review -->"
)
_CODE = re.compile(r"<code>[^<>]*</code>")


def tokens(text: str) -> Iterator[Token]:
    for token in MARKDOWN.parse(text):
        yield token
        yield from token.children or ()


def size(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def test_nothing_is_said_of_a_change_without_notes() -> None:
    assert render_review(review()) == f"{MARKER}\n" == "<!-- memory-bank review -->\n"


def test_the_verdict_comes_first() -> None:
    assert "**Nothing breaks** · 1 note changed: 1 changed" in render_review(
        review(changes=[note()])
    )
    to_check = review(finding("leads nowhere"), changes=[note()])
    assert "**Nothing breaks, 1 note to check** · 1 note changed" in render_review(to_check)
    broken = review(finding("broken", severity="error"), changes=[note()])
    assert "**1 problem, 1 note to check**" in render_review(broken)


def test_a_finding_says_severity_title_line_and_fix() -> None:
    shown = render_review(review(finding("leads nowhere", fix="facts/okapi"), changes=[note()]))
    assert (
        "- **warning** `.memories/facts/bm25.md` line 3: `leads nowhere` Fix: `facts/okapi`"
        in shown
    )
    assert "broken-link" not in shown


def test_equal_findings_of_a_note_are_counted_once() -> None:
    found = [finding("leads nowhere", line=line) for line in (3, 9)]
    shown = render_review(review(*found, changes=[note()]))
    assert "- **warning** `.memories/facts/bm25.md` lines 3, 9: `leads nowhere`" in shown
    assert shown.count("leads nowhere") == 1


def test_findings_that_were_there_before_are_closed_and_not_counted() -> None:
    shown = render_review(review(finding("old one", new=False)))
    assert "**Nothing breaks**" in shown
    assert "<summary>Findings that were there before (1)</summary>" in shown


def test_changed_words_stand_in_their_sentence() -> None:
    shown = render_review(review(changes=[note()]))
    assert "- `BM25 › Parameters`\n  - `k1 is` ~~`1.5`~~ **`1.2`**" in shown
    assert (
        "<details open><summary><code>BM25</code> <code>.memories/facts/bm25.md</code> changed</summary>"
        in shown
    )
    assert "tokens" not in shown


def test_a_new_note_is_one_sentence_with_its_path_and_the_others_folded() -> None:
    parts = section(claim(("insert", "Sessions end after 30 days. More text."), kind="added"))
    new = [note(f"{name}.md", kind="added", title=name, sections=(parts,)) for name in "ab"]
    shown = render_review(review(changes=[note(), *new]))
    said = "`Sessions end after 30 days.`"
    for name in "ab":
        line = f"- **new** `{name}` `.memories/{name}.md`: {said}\n\n  <details><summary>1 sentence"
        assert line in shown
    assert shown.count("  - `Sessions end after 30 days. More text.`\n") == 2


def test_all_of_a_long_new_note_is_folded_up_to_a_limit() -> None:
    claims = [claim(("insert", f"Sentence {n} {'x' * 200}"), kind="added") for n in range(90)]
    shown = render_review(
        review(changes=[note(kind="added", title="a", sections=(section(*claims),))])
    )
    assert "<summary>90 sentences</summary>" in shown
    assert "Sentence 50 " in shown
    assert re.search(r"\n  - and \d+ more\n", shown)


def test_the_date_and_status_of_a_new_record_do_not_stand_for_it() -> None:
    claims = [
        claim(("insert", text), kind="added")
        for text in ("Date: 2026-06-18", "- Status: accepted", "Caches have the type as their key.")
    ]
    shown = render_review(
        review(changes=[note(kind="added", title="a", sections=(section(*claims),))])
    )
    assert "- **new** `a` `.memories/facts/bm25.md`: `Caches have the type as their key.`" in shown


def test_a_claim_with_many_changes_is_shown_before_and_after() -> None:
    spans = [
        pair
        for n in range(9)
        for pair in (("equal", "a "), ("delete", f"b{n} "), ("insert", f"c{n} "), ("equal", "x "))
    ]
    shown = render_review(review(changes=[note(sections=(section(claim(*spans)),))]))
    assert "  - ~~`a b0 x a b1" in shown
    assert "**`a c0 x a c1" in shown


def test_unchanged_text_far_from_a_change_is_left_out() -> None:
    spans = (
        ("equal", "first " + "word " * 200 + "near "),
        ("insert", "new"),
        ("equal", " after" * 200),
    )
    shown = render_review(review(changes=[note(sections=(section(claim(*spans)),))]))
    assert "near` **`new`**" in shown
    assert "first" not in shown
    assert len(shown) < 1000


def test_a_long_part_is_closed() -> None:
    long = section(*[claim(("insert", f"claim {n}")) for n in range(30)])
    shown = render_review(review(changes=[note(sections=(long,))]))
    assert (
        "<details><summary><code>BM25</code> <code>.memories/facts/bm25.md</code> changed</summary>"
        in shown
    )
    assert "  - and 10 more changes" in shown


def test_keys_that_programs_write_are_left_out() -> None:
    keys = tuple(KeyChange(key, "added", None, '"x"') for key in ("id", "created_at", "status"))
    shown = render_review(review(changes=[note(front_matter=keys)]))
    assert "`status` added" in shown
    assert "created_at" not in shown


def test_front_matter_and_links_are_listed() -> None:
    keys = (
        KeyChange("status", "changed", '"active"', '"archived"'),
        KeyChange("tags", "changed", "[]", "[]", ("search",), ("rank",)),
    )
    gained = (LinkChange("facts/okapi", "extends", 4, 2),)
    shown = render_review(review(changes=[note(front_matter=keys, gained=gained)]))
    assert '- `status` changed: `"active"` → `"archived"`' in shown
    assert "- `tags` changed: +`search`, −`rank`" in shown
    assert "- link gained: `facts/okapi` (`extends`, line 4, 2 times)" in shown


def test_notes_to_check_are_listed_under_headings() -> None:
    found = [finding("see it", rule=rule, file=".memories/a.md", fix="b") for rule in HEADINGS]
    shown = render_review(review(*found, changes=[note("a.md")]))
    row = "- `.memories/a.md` line 3: `see it` Fix: `b`"
    for heading in HEADINGS.values():
        assert f"#### {heading}\n\n{row}" in shown
    assert "**Nothing breaks, 1 note to check**" in shown


@settings(deadline=None, max_examples=25)
@pytest.mark.slow
@given(hostile_reviews())
def test_text_of_a_pull_request_is_always_code(shown: Review) -> None:
    for token in tokens(render_review(shown)):
        if token.type in {"fence", "code_inline", "inline"}:
            continue
        if token.type in {"html_block", "html_inline"}:
            rest = _TAGS.sub("", _CODE.sub("", token.content)).strip()
            assert not rest, token
        assert SENTINEL not in _CODE.sub("", token.content), token
        assert token.type not in {"link_open", "image", "code_block", "table_open"}, token
        assert not token.attrs or token.type == "ordered_list_open", token


@settings(deadline=None, max_examples=25)
@pytest.mark.slow
@given(hostile_reviews())
def test_the_structure_does_not_depend_on_the_text(shown: Review) -> None:
    kinds = [token.type for token in MARKDOWN.parse(render_review(shown))]
    others = [one for one in shown.findings if one.rule not in HEADINGS]
    old = any(not one.new and one.severity != "info" for one in others)
    assert kinds.count("fence") == 0
    headings = 1 + any(one.new for one in others) + len(shown.to_check)
    assert kinds.count("heading_open") == headings
    assert kinds.count("html_block") == 3 + 2 * old


@settings(deadline=None, max_examples=25)
@given(hostile_reviews())
def test_nothing_that_a_reader_does_not_see_is_in_it(shown: Review) -> None:
    text = render_review(shown)
    assert escape_hidden(text) == text


@pytest.mark.parametrize(
    "letter",
    ["x", *(pytest.param(one, marks=pytest.mark.slow) for one in ("`", "&", "𝔘", "\u202e", "<"))],
)
def test_it_is_shorter_than_github_allows_and_says_what_is_cut(letter: str) -> None:
    long = letter * 3000
    changes = [
        note(
            f"{number}{long}",
            file=f"{number}{long}",
            title=f"{number}{long}",
            sections=(section(*[claim(("insert", long))] * 30),),
        )
        for number in range(150)
    ]
    found = [
        finding(long, file=long, fix=long, new=new, rule=rule)
        for rule in ("broken-link", *HEADINGS)
        for new in (True, False)
        for _ in range(99)
    ]
    shown = render_review(review(*found, changes=changes, notices=(long,) * 99))
    assert size(shown) <= LIMIT < 65_536
    assert "The comment is cut: GitHub allows 65,536 characters." in shown
    assert f"`memory-bank review {'a' * 40}..{'b' * 40}`" in shown
    assert "more notes changed." in shown


def test_a_note_with_a_long_diff_is_named_and_the_others_are_shown() -> None:
    long = section(*[claim(("insert", "word " * 900))] * 9)
    shown = render_review(review(changes=[note("a.md", sections=(long,)), note("b.md")]))
    assert shown.count("<summary><code>BM25</code> <code>.memories/") == 2


def test_the_command_for_the_rest_names_the_work_tree() -> None:
    changes = [
        note(f"{n}.md", front_matter=(KeyChange("x" * 299, "added", None, "y" * 299),) * 20)
        for n in range(99)
    ]
    shown = render_review(review(changes=changes, head=Side("staged", None)))
    assert "`memory-bank review --staged`" in shown


def test_soft_line_breaks_are_spaces_and_hard_ones_stay() -> None:
    spans = (("equal", "- it takes 0.1\n  s to "), ("insert", "open\nand close  \nall"))
    shown = render_review(review(changes=[note(sections=(section(claim(*spans)),))]))
    assert "  - `it takes 0.1 s to` **`open and close" in shown


@settings(deadline=None)
@given(texts)
def test_a_code_span_has_the_text_and_nothing_else(text: str) -> None:
    (_, inline, _) = MARKDOWN.parse(f"a {format_code(text)} b")
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
