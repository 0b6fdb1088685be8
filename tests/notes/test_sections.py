"""Sections, block ids, tags and titles; and that the fast block parser is markdown-it."""

import re
import tarfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim

from memory_bank.notes.blocks import InlineBlock, parse_blocks
from memory_bank.notes.inline import plain_text
from memory_bank.notes.note import Body
from memory_bank.notes.sections import read_body

SHARED = Path(__file__).parents[2].parent / "shared"
VAULT = SHARED / "bench" / "obsidian-help.tar.gz"
ODD = sorted(path for path in (SHARED / "odd").rglob("*") if path.suffix in (".md", ".markdown"))

needs_odd = pytest.mark.skipif(not ODD, reason=f"no odd files below {SHARED}")
needs_vault = pytest.mark.skipif(not VAULT.exists(), reason=f"no vault at {VAULT}")

NEWLINE = re.compile(r"\r\n|\r|\n")
BITS = (
    *"`~>*+-_=#<|:[]!\\\t ab1.)(\"'^&;/",
    *("\n", "\n", "\n", "\n\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\0", "\ufeff"),
    *("- ", "* ", "> ", "> *", "1. ", "10. ", "```", "~~~\n", "    ", "\t", "***", "---", "==="),
    *("# ", "## ", "### a ###", "| a | b |", "\n|--|--|\n", "[a]: /x", "[[w]]", "<!--", "-->"),
    *("<div>", "word word", " ^id", " #tag", "\n# H\n", "\n- "),
)
markdown = st.lists(st.sampled_from(BITS), max_size=30).map("".join)


def vault(folder: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of the vault's notes in one folder."""
    with tarfile.open(VAULT) as archive:
        for member in archive:
            if f"/{folder}/" in f"/{member.name}" and member.name.endswith(".md"):
                file = archive.extractfile(member)
                yield member.name, file.read().decode() if file else ""


def headings(body: Body) -> list[tuple[str, ...]]:
    """List the heading paths of a body."""
    return [section.headings for section in body.sections]


def check_cover(text: str, body: Body, first_line: int = 1, offset: int = 0) -> None:
    """Assert that the sections are the text, and that lines and offsets say where."""
    if not text.strip():
        assert body == Body(())
        return
    assert "".join(section.text for section in body.sections) == text
    at = 0
    for section in body.sections:
        assert section.start == offset + at
        assert section.line == first_line + len(NEWLINE.findall(text[:at]))
        lines = len(NEWLINE.findall(section.text)) + (not section.text.endswith(("\r", "\n")))
        assert section.end_line == section.line + lines
        at += len(section.text)


def test_sections_follow_headings_of_both_kinds() -> None:
    text = "Intro.\n\n# One #\n\na\n\n### Three\nb\n\nTwo\n---\nc\n# Four\n"
    body = read_body(text, first_line=11, offset=100)
    assert headings(body) == [(), ("One",), ("One", "Three"), ("One", "Two"), ("Four",)]
    assert [section.level for section in body.sections] == [0, 1, 3, 2, 1]
    assert [section.line for section in body.sections] == [11, 13, 17, 20, 23]
    assert [section.end_line for section in body.sections] == [13, 17, 20, 23, 24]
    check_cover(text, body, 11, 100)
    assert body.title == "One"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\r\n \t\r", "\u3000\n"])
def test_a_blank_body_has_no_sections(text: str) -> None:
    assert read_body(text) == Body(())


def test_blank_lines_before_the_first_heading_belong_to_it() -> None:
    body = read_body("\n\n## A\ntext", first_line=5, offset=40)
    (section,) = body.sections
    assert (section.line, section.end_line, section.start) == (5, 9, 40)
    assert section.text == "\n\n## A\ntext"
    assert body.title == ""


def test_headings_in_quotes_lists_and_code_start_no_section() -> None:
    text = "# A\n> # quoted\n\n- # listed\n\n```\n# code\n```\n\n    # code\n\n<!--\n# html\n-->\n"
    assert headings(read_body(text)) == [("A",)]


def test_a_heading_may_be_empty_and_levels_may_skip() -> None:
    assert headings(read_body("#\n###### F\n## B\n")) == [("",), ("", "F"), ("", "B")]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("plain words", "plain words"),
        ("**bold** and *it* and __b__ _i_ ~~s~~ ==m==", "bold and it and b i s m"),
        ("`a*b*c` *x*", "a*b*c x"),
        ('[text](url "t") [[a/b]] [[a|alias]]', "text a/b alias"),
        ("**[[a|b]]** `` ` ``", "b `"),
        ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
        (r"\*not\* \[x\] &amp; A&lt;B", "*not* [x] & A<B"),
        ("Title ^block-1", "Title"),
        ("<a id='x'></a>Title<br>two", "Title two"),
        ("see <https://a.b/c_d_e>", "see https://a.b/c_d_e"),
        ("C# and F#", "C# and F#"),
        ("![pic](x.png) after", "pic after"),
        ("***both***", "both"),
    ],
)
def test_heading_text_is_plain(written: str, plain: str) -> None:
    assert plain_text(written) == plain
    assert headings(read_body(f"# {written}\n")) == [(plain,)]


def test_closing_marks_and_reference_links_leave_a_heading() -> None:
    body = read_body("## [The spec][s] ##\n\nlong\nheading\n===\n\n[s]: x.md\n")
    assert headings(body) == [("The spec",), ("long heading",)]


def test_block_ids_stand_at_the_ends_of_lines() -> None:
    text = (
        "A paragraph ^one\nof two lines ^two\n\n- item ^d1-3\n- x^2 and ^no here\n\n"
        "| a |\n|---|\n| b |\n\n^table\n\n```\ncode ^code\n```\n\n"
        "`in code ^no2`\n# Head ^head\n^one\n"
    )
    blocks = read_body(text, first_line=3).blocks
    assert dict(blocks) == {"one": 3, "two": 4, "d1-3": 6, "table": 13, "head": 20}


def test_block_ids_have_their_line_after_code_of_two_lines() -> None:
    assert read_body("`a\nb` c\nd ^x\n").blocks == {"x": 3}


def test_tags_are_obsidians() -> None:
    text = (
        "#One #two/three (#four) #one\n#1984 #y1984 #a_b-c #größe #한국어 #हिन्दी #slash/\n"
        "no#tag [#no2](x) `#no3` https://a.b/#no4 [[a#no5]] \\#no6 ##no7 #\n\n"
        "```\n#no8\n```\n\n<!-- #no9 -->\n\ntext <!-- #no10 --> <b c=' #no11'>\n\n#end. #stop, #q\n"
    )
    assert read_body(text).tags == (
        *("one", "two/three", "four", "y1984", "a_b-c", "größe", "한국어", "हिन्दी", "slash"),
        *("end", "stop", "q"),
    )


def test_tags_in_headings_count_and_headings_are_no_tags() -> None:
    body = read_body("# Head\n## Meeting #work\n#nospace\n")
    assert body.tags == ("work", "nospace")
    assert headings(body) == [("Head",), ("Head", "Meeting #work")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_in_markdown_only(end: str) -> None:
    text = end.join(["a\x0bb\x0cc\x85d\u2028e\0f", "# H [[x]]", "", "z ^id"])
    body = read_body(text)
    assert [section.line for section in body.sections] == [1, 2]
    assert (body.links[0].line, body.blocks["id"]) == (2, 4)
    check_cover(text, body)


def test_a_first_line_of_a_form_feed_shifts_no_line() -> None:
    assert [link.line for link in read_body("\x0c\n[[a]]\n[[b]]").links] == [2, 3]


@given(markdown)
def test_sections_joined_are_the_text(text: str) -> None:
    check_cover(text, read_body(text, 7, 50), 7, 50)


@needs_odd
@pytest.mark.parametrize("path", ODD, ids=lambda path: path.name[:40])
def test_odd_files_are_covered(path: Path) -> None:
    data = path.read_bytes()
    text = data.decode(
        "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8", "replace"
    )
    check_cover(text, read_body(text))
    assert parse_blocks(text).inline_blocks == expected(text)


@pytest.mark.slow
@needs_vault
def test_a_vault_is_covered_and_parsed_as_by_markdown_it() -> None:
    for _, text in vault("en"):
        check_cover(text, read_body(text))
        assert parse_blocks(text).inline_blocks == expected(text)


@given(markdown)
def test_blocks_are_those_of_markdown_it(text: str) -> None:
    assert parse_blocks(text).inline_blocks == expected(text)


REFERENCE = MarkdownIt("commonmark", {"maxNesting": 1000}).enable("table")
REFERENCE.core.ruler.disable("inline")


def expected(text: str) -> list[InlineBlock]:
    """Cut a text into inline_blocks with an unchanged markdown-it."""
    lines = NEWLINE.split(text)
    tokens = REFERENCE.parse(text)
    inline_blocks = []
    cells: list[str] | None = None
    for before, token in zip([None, *tokens], tokens, strict=False):
        first, end = token.map or (0, 0)
        if token.type == "tr_open":
            cells, row = [], first
        elif token.type == "tr_close":
            inline_blocks.append(InlineBlock(tuple(cells or ()), row, 0, row=True))
            cells = None
        elif token.type == "inline" and cells is not None:
            cells.append(token.content)
        elif token.type == "inline" and before:
            while token.content.count("\n") + 1 < end - first and not mdTrim(lines[first]):
                first += 1
            heading = before.type == "heading_open" and not before.level
            level = int(before.tag[1]) if heading else 0
            inline_blocks.append(InlineBlock((token.content,), first, level))
    return inline_blocks


def test_deep_nesting_loses_nothing_behind_it() -> None:
    deep = {
        "quotes": ">" * 5000 + " a [[x]]\n\n# After\n\n[[y]]\n",
        "list": "- " * 5000 + "[[x]]\n\n# After\n\n[[y]]\n",
        "outline": "".join("\t" * n + "- item\n" for n in range(60)) + "\n# After\n\n[[x]] [[y]]\n",
    }
    for text in deep.values():
        body = read_body(text)
        assert headings(body)[-1] == ("After",)
        assert [link.target for link in body.links] == ["x", "y"]


def test_threads_share_the_parser() -> None:
    texts = [f"# {n}\n\n- a [[x{n}]]\n- b ^id{n}\n\n| a | b |\n|--|--|\n" * 20 for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read_body, texts)) == [read_body(text) for text in texts]


HEAVY = {
    "open brackets": "[[" * 20_000,
    "one line": "word " * 200_000,
    "links in one line": "see [[a]], " * 5_000,
    "backticks": "".join("`" * n + " " for n in range(1, 1000)),
    "comments": "x <!-- " * 20_000,
    "destinations": '[a](b "c ' * 10_000,
    "parentheses": "[a](" * 10_000,
    "nested": "[" * 20_000 + "a" + "](b)" * 20_000,
    "block ids": "x ^a\n" * 20_000,
    "heading": "# " + "*a " * 10_000,
    "references": "[a]: /x\n\n" + "[" * 20_000 + "a" + "]" * 20_000,
    "definitions": "[a]: b 'c\n" * 10_000,
    "quotes": (">" * 100 + " x\n") * 500,
    "tags": "#a " * 20_000,
    "rows": "| a |\n|---|\n" + "| [[x\\|y]] |\n" * 3_000,
}


@pytest.mark.parametrize("text", HEAVY.values(), ids=HEAVY)
@pytest.mark.slow
def test_no_text_is_slow(text: str) -> None:
    began = time.process_time()
    body = read_body(text)
    assert time.process_time() - began < 3, "time must grow with the length, not its square"
    check_cover(text, body)


@pytest.mark.slow
def test_of_very_many_links_the_first_are_read() -> None:
    body = read_body("[[a]] water\n\n" * 30_000)
    assert len(body.links) == 20_000
    assert [fault.reason for fault in body.faults] == [
        "only the first 20,000 of 30,000 links were read"
    ]


def test_of_very_many_headings_the_first_start_a_section() -> None:
    body = read_body("# a\n" * 20_005 + "water\n")
    assert len(body.sections) == 20_000
    assert body.sections[-1].text.endswith("# a\n# a\nwater\n")
    assert [fault.reason for fault in body.faults] == [
        "only the first 20,000 of 20,005 headings start a section"
    ]


def test_a_long_heading_is_cut() -> None:
    body = read_body("# " + "a" * 100_000 + "\n## b\n")
    assert body.title == "a" * 300
    assert body.sections[1].headings == ("a" * 300, "b")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[a]] " * 100_001, "200,002 of the signs [ ` <, more than 200,000"),
        ("[x](y.md) " * 200_001, "200,001 of the signs [ ` <, more than 200,000"),
        ("- a\n" * 200_001, "200,002 lines, more than 200,000"),
    ],
)
def test_what_would_take_minutes_to_parse_is_plain_text(text: str, reason: str) -> None:
    body = read_body(text)
    (section,) = body.sections
    assert section.text == text
    assert not body.links
    (fault,) = body.faults
    assert fault.reason == f"{reason}: read as plain text, without headings, links and tags"
