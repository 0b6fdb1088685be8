"""Relinking: only targets change, in the way they were written."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.documents import Link
from memory_bank.base.errors import BadInput
from memory_bank.notes.links import locate_links, relink

ODD = Path(__file__).parents[2].parent / "shared" / "odd"
ODD_FILES = sorted(path for path in ODD.rglob("*") if path.suffix in (".md", ".markdown"))


def to(new: str, old: str = "a") -> Callable[[Link], str | None]:
    """Rename the note `old`, with or without `.md`."""
    return lambda link: new if link.target.removesuffix(".md") == old else None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[a]] [[ a ]] [[b]]", "[[x/y]] [[ x/y ]] [[b]]"),
        ("[[a#H|t]] ![[a^b]] [[a#^b|a]]", "[[x/y#H|t]] ![[x/y^b]] [[x/y#^b|a]]"),
        ("[[a.md]] [[a.md#a]]", "[[x/y.md]] [[x/y.md#a]]"),
        ("[a](a.md 'a') [a](<a.md#a> \"a\")", "[a](x/y.md 'a') [a](<x/y.md#a> \"a\")"),
        ("[a]( a )![a](a)", "[a]( x/y )![a](x/y)"),
        (
            "[a][r] [r] and [r][]\n\n[r]: <a.md> 'a'\n",
            "[a][r] [r] and [r][]\n\n[r]: <x/y.md> 'a'\n",
        ),
        ("> [r]\n>\n> [r]:\n> a\n", "> [r]\n>\n> [r]:\n> x/y\n"),
        (
            "| h |\n|---|\n| [[a\\|a]] `[[a]]` [[a]] |",
            "| h |\n|---|\n| [[x/y\\|a]] `[[a]]` [[x/y]] |",
        ),
        ("| [[b\\|a]] | [[a]] |\n|-|-|\n", "| [[b\\|a]] | [[x/y]] |\n|-|-|\n"),
        ("`[[a]]`\n\n    [[a]]\n\n<!-- [[a]] -->\n", "`[[a]]`\n\n    [[a]]\n\n<!-- [[a]] -->\n"),
        ("- \t[[a]]\r\n  > b\r  > c [[a]]\n", "- \t[[x/y]]\r\n  > b\r  > c [[x/y]]\n"),
        ("# [[a]] ##\n[[a]]\n---\n", "# [[x/y]] ##\n[[x/y]]\n---\n"),
        ("[![[a]]](a)", "[![[x/y]]](x/y)"),
        ("\x0c\n[[a]] \0 [[a]]", "\x0c\n[[x/y]] \0 [[x/y]]"),
    ],
)
def test_targets_change_and_all_else_stays(before: str, after: str) -> None:
    assert relink(before, to("x/y")) == after
    assert relink(before, to("x/y.md")) == after


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("[t](a.md)", "b c", "[t](b%20c.md)"),
        ("[t](<a.md>)", "b c", "[t](<b c.md>)"),
        ("[t](<a.md>)", "b<c>#d", "[t](<b%3Cc%3E%23d.md>)"),
        ("[t](a.md)", "b(c)", "[t](b(c).md)"),
        ("[t](a.md)", "b)c", "[t](b%29c.md)"),
        ("[t](a.md)", "größe", "[t](größe.md)"),
        ("[t](%61.md)", "größe x", "[t](gr%C3%B6%C3%9Fe%20x.md)"),
        ("[t](a.md)", "50%25", "[t](50%2525.md)"),
        ("[t](a.md)", "x&amp;y", "[t](x%26amp;y.md)"),
        ("[t](a.md)", "x\\y", "[t](x%5Cy.md)"),
        ("[t](a.md#h%20i)", "b", "[t](b.md#h%20i)"),
        ("| [t](a) |\n|---|", "b|c", "| [t](b%7Cc) |\n|---|"),
    ],
)
def test_a_destination_is_written_so_that_it_is_read_again(
    before: str, new: str, after: str
) -> None:
    assert relink(before, to(new)) == after
    assert locate_links(after)[0].link.target.removesuffix(".md") == new


def test_wikilinks_in_front_matter_change_and_comments_stay() -> None:
    head = (
        '---\nrelated: ["[[a]]", \'[[a|t]]\']  # [[a]]\n# [[a]]\nup: "[[a#H]] and [[b]]"\n'
        "bare: [[a]]\ntext: |\n  see [[a]]\nfile_refs: [a]\n---\n"
    )
    text = head + "# [[a]]\n"
    changed = relink(text, to("it's"))
    assert changed == (
        "---\nrelated: [\"[[it's]]\", '[[it''s|t]]']  # [[a]]\n"
        '# [[a]]\nup: "[[it\'s#H]] and [[b]]"\n'
        "bare: [[it's]]\ntext: |\n  see [[it's]]\nfile_refs: [a]\n---\n# [[it's]]\n"
    )
    assert relink(changed, to("a", "it's")) == text
    assert relink(text, to("x"), body_start=len(head)) == relink(text, to("x"))
    assert relink('---\nup: "[[a]]"\n---\n', to('say "b"')) == '---\nup: "[[say \\"b\\"]]"\n---\n'
    assert (
        relink('+++\r\nup = "[[a]]"\r\n+++\r\n[[a]]', to("b"))
        == '+++\r\nup = "[[b]]"\r\n+++\r\n[[b]]'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("supersedes: old", "supersedes: new"),
        ("supersedes: old.md  # old", "supersedes: new.md  # old"),
        ("superseded_by: 'old'\r\ntitle: old", "superseded_by: 'new'\r\ntitle: old"),
        ('supersedes: [old, x/c, "old"]', 'supersedes: [new, x/c, "new"]'),
        (
            "supersedes:\n  - old\n  - cc\ntags:\n  - old",
            "supersedes:\n  - new\n  - cc\ntags:\n  - old",
        ),
        ("supersedes: the old", "supersedes: the old"),
        ("# supersedes: old", "# supersedes: old"),
    ],
)
def test_plain_names_of_superseded_notes_change(before: str, after: str) -> None:
    assert relink(f"---\n{before}\n---\n", to("new", "old")) == f"---\n{after}\n---\n"


def test_a_plain_name_becomes_a_wikilink_where_the_new_one_has_spaces() -> None:
    before = "---\nsupersedes: old\nsuperseded_by: 'old'\n---\n"
    after = "---\nsupersedes: \"[[b c]]\"\nsuperseded_by: '[[b c]]'\n---\n"
    assert relink(before, to("b c", "old")) == after


def test_links_have_their_lines_and_kinds() -> None:
    seen: list[tuple[str, int]] = []

    def note(link: Link) -> None:
        seen.append((link.kind, link.line))

    relink("---\r\nup: '[[a]]'\r\n---\r\n\r\n[[a]] [a](a)\r\n![[a]]", note)
    assert seen == [("reference", 2), ("wiki", 5), ("markdown", 5), ("embed", 6)]


def test_a_link_may_become_one_inside_its_note() -> None:
    assert relink("[[a#H]] [t](a.md#h)", to("")) == "[[#H]] [t](#h)"
    assert relink("[[#H]] [t](#h)", lambda _: "b") == "[[b#H]] [t](b#h)"


@pytest.mark.parametrize("new", ["", "x|y", "x]]", "x#y", "x^y", " x", "x\ny"])
def test_a_target_that_no_wikilink_can_hold_is_refused(new: str) -> None:
    with pytest.raises(BadInput):
        relink("[[a]]", to(new))


BITS = (
    *"[]()!`\\<>\n|*#^",
    *("a", "b c", "[[w]]", "[[w.md|x]]", "![[e]]", "[[w#h]]", "[t](u)", "![i](p)", "[t](<u v>)"),
    *("``", "<a>", "](", "[[", "]]", ' "q"', "%20", "\n\n", "\n> ", "\n- ", "\t", "\r\n", "\r"),
    *("\n\n|h|h|\n|--|--|\n| ", "\\|", "[r]", "[r]: d.md\n", "---\n", "k: '[[w]]'\n", "\x0c", "\0"),
)
markdown = st.lists(st.sampled_from(BITS), max_size=25).map("".join)


@given(markdown)
def test_the_same_names_give_the_same_text(text: str) -> None:
    assert relink(text, lambda link: link.target) == text
    assert relink(text, lambda _: None) == text


@given(markdown)
def test_only_target_spans_change(text: str) -> None:
    found = locate_links(text)
    spans = sorted({(one.start, one.end) for one in found})
    parts, done = [], 0
    for start, end in spans:
        assert done <= start <= end
        suffix = re.search(r"\.md\Z", text[start:end])
        parts += [text[done:start], "NEW", suffix[0] if suffix else ""]
        done = end
    expected = "".join([*parts, text[done:]])
    assert relink(text, lambda _: "NEW", body_start=0) == expected
    assert [one.link.target.removesuffix(".md") for one in locate_links(expected)] == (
        ["NEW"] * len(found)
    )


@pytest.mark.skipif(not ODD_FILES, reason=f"no odd files at {ODD}")
@pytest.mark.parametrize("path", ODD_FILES, ids=lambda path: path.name[:40])
def test_odd_files_stay_as_they_are(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert relink(text, lambda link: link.target) == text
