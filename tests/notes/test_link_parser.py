"""Links: what is one, where it points, its type and context; against a full Markdown parse."""

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from memory_bank.base.documents import Link
from memory_bank.notes import parsing
from memory_bank.notes.links import locate_links, reference_links
from memory_bank.notes.note import Entity, Meta
from memory_bank.notes.relations import TYPES
from memory_bank.notes.sections import read_body

VAULT = Path(__file__).parents[2].parent / "shared" / "bench" / "obsidian-help.tar.gz"
needs_vault = pytest.mark.skipif(not VAULT.exists(), reason=f"no vault at {VAULT}")


def links(text: str) -> tuple[Link, ...]:
    """Read the links, and check that both doors to the scanner give the same."""
    found = read_body(text).links
    assert [one.link for one in locate_links(text)] == list(found)
    return found


def one(text: str) -> Link:
    """Read the one link of a text."""
    (link,) = links(text)
    return link


@pytest.mark.parametrize(
    ("text", "kind", "target", "heading", "block", "shown"),
    [
        ("[[a/b c]]", "wiki", "a/b c", "", "", "a/b c"),
        ("[[a|some text]]", "wiki", "a", "", "", "some text"),
        ("[[a#Head line]]", "wiki", "a", "Head line", "", "a#Head line"),
        ("[[a#H1#H2|t]]", "wiki", "a", "H1#H2", "", "t"),
        ("[[a^id]]", "wiki", "a", "", "id", "a^id"),
        ("[[a#^id|t]]", "wiki", "a", "", "id", "t"),
        ("[[#Head]]", "wiki", "", "Head", "", "Head"),
        ("[[#^id]]", "wiki", "", "", "id", "id"),
        ("[[ a.md | t ]]", "wiki", "a.md", "", "", "t"),
        ("[[Project: Alpha]]", "wiki", "Project: Alpha", "", "", "Project: Alpha"),
        ("[[Data: tables]]", "wiki", "Data: tables", "", "", "Data: tables"),
        ("[[symbol:f]]", "wiki", "symbol:f", "", "", "symbol:f"),
        ("![[pic.png]]", "embed", "pic.png", "", "", "pic.png"),
        ("![[pic.png|300x200]]", "embed", "pic.png", "", "", "pic.png"),
        ("![[a#H|t]]", "embed", "a", "H", "", "t"),
        ("[t](a/b.md)", "markdown", "a/b.md", "", "", "t"),
        ('[t](a.md "title")', "markdown", "a.md", "", "", "t"),
        ("[t](a.md 'ti(tle')", "markdown", "a.md", "", "", "t"),
        ("[t](<a b.md>)", "markdown", "a b.md", "", "", "t"),
        ("[t](a%20b.md#My%20head)", "markdown", "a b.md", "My head", "", "t"),
        ("[t](a.md#^id)", "markdown", "a.md", "", "id", "t"),
        ("[t](#head)", "markdown", "", "head", "", "t"),
        ("[t](a(b).md)", "markdown", "a(b).md", "", "", "t"),
        (r"[t](a\(b.md)", "markdown", "a(b.md", "", "", "t"),
        ("[t](a&amp;b.md)", "markdown", "a&b.md", "", "", "t"),
        ("[t]( a.md )", "markdown", "a.md", "", "", "t"),
        ("[t](\na.md\n)", "markdown", "a.md", "", "", "t"),
        ("[t](größe.md)", "markdown", "größe.md", "", "", "t"),
        ("[t](C:\\notes\\a.md)", "markdown", "C:\\notes\\a.md", "", "", "t"),
        ("![alt](p.png)", "image", "p.png", "", "", "alt"),
        ("[t][ref]\n\n[REF]: <a b.md> 'x'", "markdown", "a b.md", "", "", "t"),
        ("[ref][]\n\n[ref]: a.md#h", "markdown", "a.md", "h", "", "ref"),
        ("[ref]\n\n> [ref]:\n> a.md", "markdown", "a.md", "", "", "ref"),
        ("![ref]\n\n[ref]: p.png", "image", "p.png", "", "", "ref"),
        ("[**bold** `c` [x] text](a.md)", "markdown", "a.md", "", "", "**bold** `c` [x] text"),
    ],
)
def test_every_way_to_write_a_link(
    text: str, kind: str, target: str, heading: str, block: str, shown: str
) -> None:
    link = one(text)
    assert (link.kind, link.target, link.heading, link.block) == (kind, target, heading, block)
    assert link.text == shown


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]` ``[[a]] ` [t](b)``",
        "```\n[[a]]\n```",
        "~~~md\n[t](a)\n~~~",
        "    [[a]]",
        "<!-- [[a]] -->",
        "text <!-- [[a]] --> <b title='[[a]]'>",
        "<div>\n[[a]]\n</div>",
        r"\[[a]] \[t](a)",
        "[[]] [[ ]] [[|x]] [[#]] [t]() []",
        "[t](http://x) [t](HTTPS://x) [t](mailto:a@b) [t](obsidian://x) [t](//host/x)",
        "![t](https://a/b.png) <https://a.b> <a@b.c> [[https://a.b]] https://a.b/[x]",
        "[t](javascript:x) [t](data:x) [t](tel:1)",
        "[t] [t][u] [t](a b) [t](a",
        "[[a\nb]] [[a[b]]",
        "note[^1]\n\n[^1]: word",
        "- [ ] todo\n- [x] done\n\n> [!note] callout",
    ],
)
def test_what_is_no_link(text: str) -> None:
    assert links(text) == ()


def targets(text: str) -> list[str]:
    """List the targets of a text's links."""
    return [link.target for link in links(text)]


def test_links_in_all_kinds_of_blocks() -> None:
    text = (
        "# H [[a]]\n> - [[b]]\n>   1. **[[c]]**\n\n| x | y |\n|---|---|\n| [[d\\|D]] | `[[no]]` |\n"
        "| [[d#h\\|D]] | ![[e\\|9]] [f](f) |\n\nSetext [[g]]\n===\n- [ ] [[h]]\n"
    )
    assert targets(text) == ["a", "b", "c", "d", "d", "e", "f", "g", "h"]
    assert [link.line for link in links(text)] == [1, 2, 3, 7, 8, 8, 8, 10, 12]
    assert [link.text for link in links(text)][3:6] == ["D", "D", "e"]


def test_links_and_images_in_links() -> None:
    assert targets("[![i](p.png) t](a.md)") == ["a.md", "p.png"]
    assert targets("[out [in](b.md) t](a.md)") == ["b.md"]
    assert targets("[out [[in]] t](a.md)") == ["in"]
    assert targets("[![[p.png]]](a.md)") == ["a.md", "p.png"]
    assert targets("\\![[a]] !\\[[b]] [[[c]]] [[d]](e)") == ["a", "c", "d"]
    assert [link.kind for link in links("\\![[a]] ![[b]]")] == ["wiki", "embed"]


def test_lines_are_those_of_the_file() -> None:
    text = "a [[x]]\r\nb\rc [[y]]\n\n- d\n  [[z]] and\n  [t](w\n  )"
    assert [link.line for link in read_body(text, first_line=5).links] == [5, 7, 10, 11]


def test_context_is_plain_text_of_the_block() -> None:
    before = (
        "First block.\n\n" + "word " * 40 + "see the\n  [[other|other note]] and [that](u.md) or "
    )
    link = links(before + "[[x]], then\n*more* [site](https://a.b) " + "tail " * 40 + "\n\nNext.")[
        2
    ]
    assert link.before == "word " * 14 + "see the other note and that or"
    assert link.after == ", then *more* site " + "tail " * 15 + "tail"
    assert len(link.before) <= 100 >= len(link.after)


def test_context_of_a_cell_is_its_row() -> None:
    link = one("| a | b | c |\n|---|---|---|\n| the | [[x]] | here |\n| not | this | one |")
    assert (link.before, link.after) == ("the |", "| here")


def test_context_without_spaces_is_cut_hard() -> None:
    link = one("語" * 300 + "[[x]]" + "語" * 300)
    assert (link.before, link.after) == ("語" * 100, "語" * 100)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("relation:: [[a]]", "relation"),
        ("- supersedes:: [[a]], [[b]]", "supersedes supersedes"),
        ("- [ ] Depends-On:: [[a]]", "depends_on"),
        ("**based on**:: [[a]]", "based_on"),
        ("**implements::** [[a]]", "implements"),
        ("text (refines:: [[a]]) and [[b]]", "refines related_to"),
        ("text [refines:: [[a]], [[b]]] see [[c]]", "refines refines mentions"),
        ("owner:: the team of [[Ann]]\nsee [[b]]", "owner mentions"),
        ("first line\nextends:: [[a]]", "extends"),
        ("Next: [[a]], [[b]]\n- **Part of:** [[c]]", "next next part_of"),
        ("Superseded by: [[a]]\n**See also**: [[b]]", "superseded_by mentions"),
        ("Depends on: [[a]]\nNote: look at [[b]]", "depends_on related_to"),
        ("tests:: [[a]]\nSome text [[b]]", "tests related_to"),
        ("See:\n[[a]]", "mentions"),
        ("std::vector [[a]] `x:: ` [[b]]", "related_to related_to"),
        ("[[a::b]] [[c]]", "related_to related_to"),
        ("This supersedes [[a]].", "supersedes"),
        ("It replaces the old [[a|way]], [[b]] and [c](c.md).", "supersedes " * 3),
        ("Superseded by [[a]].", "superseded_by"),
        ("This was replaced with [[a]]", "superseded_by"),
        ("Date: 2018-12-12\nSuperseded: 2019-12-19 by [ADR 14](a.md)", "superseded_by"),
        ("**Superseded** by [[a]]", "superseded_by"),
        ("Superseded (in May 2020) by [[a]]", "superseded_by"),
        (
            "superseded on 3rd June by [[a]], partly replaced, since 19.12.2019, by [[b]]",
            "superseded_by related_to",
        ),
        ("We replaced the queue by [[a]].", "related_to"),
        ("Superseding [[a]]", "supersedes"),
        (
            "It depends on [[a]]; it requires [[b]], builds on [[c]].",
            "depends_on depends_on extends",
        ),
        ("tested in [[a]]. Tested by [[b]].", "tests tested_by"),
        ("See [[a]]. Fixes [[b]]. While debugging [[c]]", "mentions debugs debugs"),
        ("Implemented in [[a]]. Planned for [[b]]", "implements plans"),
        ("refactoring of [[a]]; contradicts [[b]]", "refactors contradicts"),
        ("This mentions\n[[a]]", "mentions"),
        ("It supersedes this. And [[a]]", "related_to"),
        ("see e.g. [[a]]", "mentions"),
        ("supersedes " + "very " * 9 + "[[a]]", "related_to"),
        ("unplanned contested [[a]] oversee [[b]]", "related_to related_to"),
        ("It does not supersede [[a]] and doesn't depend on [[b]]", "related_to related_to"),
        ("The [[test plan]] and [[b]], `tests` [[c]]", "related_to " * 3),
        ("[[a]] is superseded by this note.", "supersedes"),
        ("[[a]] has been replaced by the new engine.", "supersedes"),
        ("[[a]] is superseded by [[b]].", "related_to related_to"),
        ("[[a]] is superseded by the newer [[b]].", "related_to related_to"),
        ("[[a]] is superseded by this. [[b]]", "supersedes related_to"),
        ("[[a]] supersedes [[b]].", "related_to related_to"),
        ("After [[a]] see [[b]]", "related_to mentions"),
        ("SUPERSEDES [[a]]", "supersedes"),
        ("It depends. On [[a]]", "related_to"),
        ("| supersedes | [[a]] |\n|---|---|", "related_to"),
        ("[[a]]", "related_to"),
    ],
)
def test_the_type_of_a_link(text: str, types: str) -> None:
    assert [link.type for link in links(text)] == types.split()


def test_every_type_can_be_said() -> None:
    verbs = {
        "refactors": "refactors",
        "plans": "plans",
        "debugs": "debugs",
        "mentions": "mentions",
        "supersedes": "supersedes",
        "extends": "extends",
        "contradicts": "contradicts",
        "depends_on": "depends on",
        "implements": "implements",
        "tests": "tests",
    }
    assert {one(f"It {verb} [[x]]").type for verb in verbs.values()} == set(verbs)
    assert set(verbs) < TYPES
    assert {"superseded_by", "tested_by"} < TYPES


def test_reference_links_of_front_matter() -> None:
    meta = Meta(
        file_refs=("src/a.py",),
        symbol_refs=("a.f",),
        entity_refs=(Entity("person", "ann"),),
        extra={
            "related": ["[[x]]", "plain", "[[y#H|shown]] and [[z^b]]"],
            "supersedes": "[[old]]",
            "Depends-On": [["unquoted"]],
            "more": {"extends": {"deep": "[[base]]"}, "n": 1, "none": None},
            "url": "[[https://a.b]] [[]]",
        },
    )
    assert reference_links(meta) == (
        Link("src/a.py", "reference", 1, "mentions", names_file=True),
        Link("symbol:a.f", "reference", 1, "mentions"),
        Link("person:ann", "reference", 1, "mentions"),
        Link("x", "reference", 1),
        Link("y", "reference", 1, heading="H", text="shown"),
        Link("z", "reference", 1, block="b"),
        Link("old", "reference", 1, "supersedes"),
        Link("unquoted", "reference", 1, "depends_on"),
        Link("base", "reference", 1, "extends"),
    )


BITS = (
    *"[]()!`\\<>\n|*",
    *("a", "b c", "[[w]]", "[[w|x]]", "![[e]]", "[[w#h]]", "[t](u)", "![i](p)", "[t](<u v>)"),
    *("``", "<a>", '<a href="', "</a>", "<http://x>", "](", "[[", "]]", ' "q"', "%20", "\n\n"),
    *("\n> ", "\n- ", "\n\n|h|h|\n|--|--|\n| ", "\\|", "\t", "\r\n"),
)
WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|#^]*)(?:#(\^?[^\[\]\n|]*))?(?:\|([^\[\]\n]*))?\]\]")


def wikilink(state: StateInline, silent: bool) -> bool:
    """Read a wikilink as an inline rule."""
    found = WIKILINK.match(state.src, state.pos, state.posMax)
    if not found or not (found[2].rstrip("\\").strip() or found[3]):
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.meta = {"key": (found[2].strip().rstrip("\\"), bool(found[1]))}
    state.pos = found.end()
    return True


FULL = MarkdownIt("commonmark", {"maxNesting": 1000}).enable("table")
FULL.inline.ruler.before("link", "wikilink", wikilink)
OUTSIDE = re.compile(r"(?i)[a-z][a-z0-9+.-]+:|//|$")


def by_full_parse(text: str) -> Counter[tuple[str, bool]]:
    """Count targets and whether they are embedded, with a parse of all inline Markdown."""

    def walk(tokens: list[Token]) -> Iterator[tuple[str, bool]]:
        for token in tokens:
            if token.type == "wikilink":
                yield token.meta["key"]
            elif token.type == "link_open" and token.markup != "autolink":
                yield unquote(str(token.attrs["href"])), False
            elif token.type == "image":
                yield unquote(str(token.attrs["src"])), True
            yield from walk(token.children or [])

    found = ((target.partition("#")[0], embed) for target, embed in walk(FULL.parse(text)))
    return Counter(key for key in found if not OUTSIDE.match(key[0]))


def by_scan(text: str) -> Counter[tuple[str, bool]]:
    """Count the same with the scanner under test."""
    found = ((link.target, link.kind in {"embed", "image"}) for link in links(text))
    return Counter(key for key in found if not OUTSIDE.match(key[0]))


@given(st.lists(st.sampled_from(BITS), max_size=20).map("".join))
def test_the_scanner_finds_what_a_full_parse_finds(text: str) -> None:
    # A wikilink whose target is a backslash, where only ours thinks of tables.
    assume("[[\\" not in text)
    assert by_scan(text) == by_full_parse(text)


@pytest.mark.slow
@needs_vault
def test_the_scanner_finds_what_a_full_parse_finds_in_a_vault() -> None:
    total = 0
    with tarfile.open(VAULT) as archive:
        for member in archive:
            if "/en/" in f"/{member.name}" and member.name.endswith(".md"):
                file = archive.extractfile(member)
                text = file.read().decode() if file else ""
                expected = by_full_parse(text)
                assert by_scan(text) == expected, member.name
                total += expected.total()
    assert total > 1000


def test_links_of_front_matter_have_their_own_lines_and_queries_are_no_part_of_a_name() -> None:
    text = (
        '---\ntype: t\nrelated:\n  - "[[other]]"\nparent: "[[t#Head]]"\nfile_refs:\n  - src/a.py\n'
        "symbol_refs: [run]\n---\n[x](other.md?plain=1) [y](./b.md?raw=true#there) [z](what?.md)\n"
    )
    note = parsing.parse("a.md", text.encode())
    lines = {link.target: link.line for link in note.body.links}
    assert lines == {
        "other": 4, "t": 5, "src/a.py": 7, "symbol:run": 8,
        "other.md": 10, "./b.md": 10, "what?.md": 10,
    }  # fmt: skip
