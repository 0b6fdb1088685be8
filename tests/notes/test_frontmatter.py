"""Decoding, splitting, reading, editing and composing, on the traps that we know of."""

import json
import time
from datetime import UTC, date, datetime
from pathlib import Path

import frontmatter as python_frontmatter
import pytest
import yaml

from memory_bank.base.errors import BadInput, UnreadableNote
from memory_bank.notes import parsing
from memory_bank.notes import yaml as yaml_tree
from memory_bank.notes.characters import BOM, decode
from memory_bank.notes.front_matter import (
    NoteHandler,
    Split,
    compose_text,
    read_metadata,
    set_keys,
    split,
)

ODD = Path(__file__).parents[2].parent / "shared" / "odd"
ODD_FILES = sorted(path for path in ODD.rglob("*") if path.is_file() and path.suffix != ".json")

needs_odd = pytest.mark.skipif(not ODD_FILES, reason=f"no odd files at {ODD}")


def read(block: str) -> dict[str, object]:
    """Return the values of a YAML block that has no faults."""
    values, faults = read_metadata(Split("---\n", block, "---\n", "", "yaml"))
    assert not faults
    return values


def edit(block: str, **changes: object) -> str:
    """Return a YAML block after a change of some keys."""
    text = set_keys(f"---\n{block}---\nbody\n", changes)
    assert text.startswith("---\n")
    assert text.endswith("---\nbody\n")
    return text[4:-9]


class TestDecode:
    """Bytes to text."""

    def test_plain_utf_8_is_writable(self) -> None:
        found = decode("é😀\r\n".encode())
        assert (found.text, found.encoding, found.faults, found.writable) == (
            "é😀\r\n", "utf-8", (), True,
        )  # fmt: skip

    def test_the_encoding_brings_the_byte_order_mark_back(self) -> None:
        data = BOM + b"---\ntitle: a\n---\n"
        found = decode(data)
        assert found.text.startswith("---")
        assert found.writable
        assert found.text.encode(found.encoding) == data

    @pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    def test_wide_encodings_are_read_by_their_mark_and_not_written(self, name: str) -> None:
        found = decode(f"\ufeff# é😀{chr(10)}".encode(name))
        assert found.text == "# é😀\n"
        assert not found.writable
        assert name[:6].upper() in found.faults[0].reason

    def test_an_odd_number_of_bytes_with_nul_is_no_text(self) -> None:
        with pytest.raises(UnreadableNote):
            decode(b"\xff\xfea\x00b")

    @pytest.mark.parametrize(("mark", "offset"), [(b"", 8), (BOM, 11)])
    def test_a_byte_of_another_encoding_is_named_with_offset_and_line(
        self, mark: bytes, offset: int
    ) -> None:
        found = decode(mark + b"one\r\ntwo\xe9\nthree")
        assert found.text == "one\r\ntwo\ufffd\nthree"
        assert not found.writable
        assert f"0xE9 at offset {offset}" in found.faults[0].reason
        assert found.faults[0].line == 2

    def test_nul_bytes_mean_that_this_is_no_text(self) -> None:
        with pytest.raises(UnreadableNote, match="contains NUL bytes"):
            decode(b"\x89PNG\0\0")

    def test_an_empty_file_is_an_empty_text(self) -> None:
        assert decode(b"").text == ""


class TestSplit:
    """Text to front matter and body."""

    @pytest.mark.parametrize(
        ("text", "kind", "block", "body"),
        [
            ("---\na: 1\n---\nx", "yaml", "a: 1\n", "x"),
            ("---\r\na: 1\r\n---\r\nx", "yaml", "a: 1\r\n", "x"),
            ("---\ra: 1\r---\rx", "yaml", "a: 1\r", "x"),
            ("--- \t\na: 1\n... \nx", "yaml", "a: 1\n", "x"),
            ("---\na: 1\n---", "yaml", "a: 1\n", ""),
            ("---\n---\nx", "yaml", "", "x"),
            ("---\n\n---\nx", "yaml", "\n", "x"),
            ("---\n\na: 1\n---\nx", "yaml", "\na: 1\n", "x"),
            ("---\na: |\n  ---\n---\nx", "yaml", "a: |\n  ---\n", "x"),
            ("\ufeff---\na: 1\n---\nx", "yaml", "a: 1\n", "x"),
            ("+++\na = 1\n+++\nx", "toml", "a = 1\n", "x"),
            ("+++\na = 1\n---\nx", "none", "", None),
            ("---\na: 1\n+++\n", "none", "", None),
            ("---\na: 1\nx", "none", "", None),
            ("\n---\na: 1\n---\n", "none", "", None),
            ("----\na: 1\n----\n", "none", "", None),
            ("--- a\n---\n", "none", "", None),
            ("---\n\nA rule, then prose.\n\n---\nx", "none", "", None),
            ("---", "none", "", None),
            ("", "none", "", None),
        ],
    )
    def test_the_four_parts_are_the_text_again(
        self, text: str, kind: str, block: str, body: str | None
    ) -> None:
        parts = split(text)
        assert parts.opening + parts.block + parts.closing + parts.body == text
        assert (parts.format, parts.block) == (kind, block)
        assert parts.body == (text if body is None else body)


class TestMetadata:
    """Front matter to values."""

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ("012", "012"), ("12:30", "12:30"), ("yes", "yes"), ("1.10", "1.10"), ("0x1F", "0x1F"),
            ("1_000", "1_000"), ("-0", "-0"), ("1e3", "1e3"), ("True", "True"), (".inf", ".inf"),
            ("2024-13-45", "2024-13-45"), ("2026-11-21", "2026-11-21"), ("=", "="), ("<<", "<<"),
            ("007", "007"), ("+5", "+5"), ("9" * 30, "9" * 30), ("9" * 6000, "9" * 6000),
            ("12345678e901", "12345678e901"), ("'5'", "5"), ('"true"', "true"), ("!!str 5", "5"),
            ("!custom x", "x"), ("!!int x", "x"), ("!!bool maybe", "maybe"), ("!!timestamp x", "x"),
            ("!!python/name:os.system x", "x"), ("[[Note]]", "[[Note]]"), ("a#b", "a#b"),
            ("[[a/b#c|d]]", "[[a/b#c|d]]"), ("{{date}}", "{{date}}"), ("http://x.org", "http://x.org"),
            ("5", 5), ("-5", -5), ("0", 0), ("0.98", 0.98), ("1.5", 1.5), ("1e+16", 1e16),
            ("true", True), ("false", False), ("null", None), ("~", None), ("", None),
            ("#foo", None), ("[a, 1, yes, 1.10]", ["a", 1, "yes", "1.10"]), ("[[1, 2]]", [[1, 2]]),
            ("{a: {b: c}}", {"a": {"b": "c"}}),
        ],
    )  # fmt: skip
    def test_a_word_that_would_print_otherwise_stays_as_written(
        self, written: str, value: object
    ) -> None:
        found = read(f"k: {written}\n")["k"]
        assert (type(found), found) == (type(value), value)
        json.dumps(found)

    def test_keys_that_yaml_reads_as_something_else_are_text(self) -> None:
        block = "on: yes\n2024: x\n2024-01-01: y\n1.10: z\nnull: n\n? [a, b]\n: c\n"
        assert list(read(block)) == ["on", "2024", "2024-01-01", "1.10", "null", "[a, b]"]

    def test_aliases_are_followed_and_merge_keys_are_keys(self) -> None:
        block = "base: &b {x: 1}\nalso: *b\nc:\n  <<: *b\n"
        assert read(block) == {"base": {"x": 1}, "also": {"x": 1}, "c": {"<<": {"x": 1}}}

    def test_the_last_of_duplicate_keys_counts_and_the_fault_names_its_line(self) -> None:
        values, faults = read_metadata(split("---\na: 1\nb: 2\n'a': 3\n---\n"))
        assert values == {"a": 3, "b": 2}
        assert [(fault.reason, fault.line) for fault in faults] == [
            ("key 'a' is given twice, the last counts", 4)
        ]

    @pytest.mark.parametrize(
        ("block", "line"),
        [
            ("a: 1\nb: c: d\n", 3),
            ("bad: [\n", 2),
            ("a: 1\naliases:\n  - %\n", 4),
            ("a: @x\n", 2),
            ("a: *x\n", 2),
            ("- a\n- b\n", 2),
            ("# hi\njust words\n", 3),
            ("null\n", 2),
            ("a: 1\r\nb: \x07\r\n", 3),
            ("\ufeffa: 1\n", 2),
            ("a: 1\n--- b\n", 3),
            ("a:\n\t- b\n", 3),
            ("a: b\ud800\n", 2),
        ],
    )
    def test_what_can_not_be_parsed_is_a_fault_with_the_line_in_the_file(
        self, block: str, line: int
    ) -> None:
        values, faults = read_metadata(Split("---\n", block, "---\n", "", "yaml"))
        assert values == {}
        assert [fault.line for fault in faults] == [line]
        with pytest.raises(UnreadableNote, match=f"line {line}"):
            set_keys(f"---\n{block}---\n", {"title": "x"})

    @pytest.mark.parametrize(
        "block",
        [
            "a: " + "[" * 200_000,
            "a:\n" + "- " * 100_000,
            "? " * 100_000,
            "{a: " * 100_000,
            "a: &a [*a]",
            "a: &a [x,x,x,x]\n" + "".join(f"k{n}: &a [*a,*a,*a,*a]\n" for n in range(30)),
        ],
    )
    def test_deep_nesting_and_aliases_of_aliases_do_no_harm(self, block: str) -> None:
        values, faults = read_metadata(Split("---\n", block + "\n", "---\n", "", "yaml"))
        assert values == {}
        assert faults

    def test_front_matter_that_is_never_closed_is_told_and_a_rule_is_not(self) -> None:
        assert read_metadata(split("---\ntitle: x\n\n# Text\n"))[1]
        assert not read_metadata(split("---\nTom Preston-Werner\ngithub.com/mojombo\n"))[1]

    def test_dates_of_toml_are_dates_and_its_faults_name_the_line_in_the_file(self) -> None:
        values, faults = read_metadata(split("+++\ntitle = 'Posts'\nday = 2023-01-01\n+++\n"))
        assert values == {"title": "Posts", "day": date(2023, 1, 1)}
        assert not faults
        for block, line in (("a = 1\nb = = 2\n", 3), ("a = 1\rb = 2\n", 2), ("a = [\n", 3)):
            values, faults = read_metadata(split(f"+++\n{block}+++\n"))
            assert values == {}
            assert [fault.line for fault in faults] == [line]


BLOCK = """\
# about
title: "Index design: v2"   # trailing comment
tags: [index, "tantivy", search] # c
aliases:
  # first
  - a
  - 'b'  # bee
  # see
  - c
weight: 1.50
empty:   # nothing yet
desc: |  # hd
  one
  two

# between
quoted: "x
  y"
multi: [a, # x
  b,
  c]
nested:
  k: v
base: &b {x: 1}
alias: *b
later:
  value # why
on: yes
"""


class TestSetKeys:
    """Edits that touch nothing else."""

    @pytest.mark.parametrize(
        ("change", "old", "new"),
        [
            ({"title": "New: title"}, '"Index design: v2"', '"New: title"'),
            ({"tags": ["index", "new"]}, '[index, "tantivy", search]', "[index, new]"),
            ({"tags": ["index", "tantivy", "search", "x"]}, "search]", "search, x]"),
            ({"tags": ["tantivy"]}, '[index, "tantivy", search]', '["tantivy"]'),
            ({"tags": []}, '[index, "tantivy", search]', "[]"),
            ({"tags": None}, 'tags: [index, "tantivy", search] # c\n', ""),
            ({"aliases": ["a", "b", "c", "z"]}, "  - c\n", "  - c\n  - z\n"),
            ({"aliases": ["a", "c"]}, "  - 'b'  # bee\n", ""),
            ({"aliases": ["a", "B: b", "c"]}, "  - 'b'  # bee\n", '  - "B: b"\n'),
            ({"weight": 2.5}, "1.50", "2.5"),
            ({"weight": "1.50"}, "", ""),
            ({"empty": 3}, "empty:   #", "empty: 3   #"),
            ({"empty": ["a"]}, "empty:   #", "empty: [a]   #"),
            ({"desc": "x\ny"}, "|  # hd\n  one\n  two\n", '"x\\ny"  # hd\n'),
            ({"desc": None}, "desc: |  # hd\n  one\n  two\n", ""),
            ({"quoted": "z"}, '"x\n  y"', "z"),
            ({"multi": ["a", "b", "c", "d"]}, "  c]", "  c,\n  d]"),
            ({"multi": ["b", "c"]}, "[a, # x\n  b,", "[b,"),
            ({"nested": True}, "nested:\n  k: v\n", "nested: true\n"),
            ({"nested": None}, "nested:\n  k: v\n", ""),
            ({"alias": "x"}, "*b", "x"),
            ({"alias": None}, "alias: *b\n", ""),
            ({"later": "x"}, "value # why", "x # why"),
            ({"on": "no"}, "yes", '"no"'),
            ({"absent": None}, "", ""),
        ],
    )
    def test_a_change_is_the_one_replacement_that_a_person_would_make(
        self, change: dict[str, object], old: str, new: str
    ) -> None:
        where = f"{next(iter(change))}:" if not old.startswith(" ") else ""
        start = BLOCK.index(old, BLOCK.index(where) if old and where in BLOCK else 0)
        wanted = BLOCK[:start] + new + BLOCK[start + len(old) :]
        assert edit(BLOCK, **change) == wanted
        assert edit(BLOCK.replace("\n", "\r\n"), **change) == wanted.replace("\n", "\r\n")

    @pytest.mark.parametrize("change", [{"base": 1}, {"base": None}])
    def test_a_value_that_others_refer_to_is_not_taken_away_from_them(
        self, change: dict[str, object]
    ) -> None:
        with pytest.raises(UnreadableNote, match=r"alias \*b"):
            edit(BLOCK, **change)

    def test_the_lines_of_items_go_and_the_key_stays(self) -> None:
        assert edit("a:\n- x\n- y\nb: 1\n", a=[]) == "a: []\nb: 1\n"

    def test_new_items_look_like_the_first_one(self) -> None:
        block = "refs:\n-   kind: person\n    id: sarah\n"
        refs = [{"kind": "person", "id": "sarah"}, {"kind": "ticket", "id": "X-1"}]
        assert edit(block, refs=refs) == f"{block}-   {{kind: ticket, id: X-1}}\n"

    def test_new_keys_are_lines_before_the_closing_one_in_the_order_given(self) -> None:
        changes = {
            "created_at": datetime(2026, 11, 21, 10, 0, 5, 9, tzinfo=UTC),
            "entity_refs": [{"kind": "person", "id": "sarah"}],
            "path": "C:\\x",
            "day": date(2026, 1, 2),
        }
        assert edit("a: 1\n# end\n", **changes) == (
            "a: 1\n# end\n"
            "created_at: 2026-11-21T10:00:05Z\n"
            "entity_refs: [{kind: person, id: sarah}]\n"
            "path: C:\\x\n"
            "day: 2026-01-02\n"
        )

    def test_a_new_key_of_an_indented_block_stands_below_the_others(self) -> None:
        assert edit("  a: 1\n  b: 2\n", c=3) == "  a: 1\n  b: 2\n  c: 3\n"

    def test_the_duplicate_that_counts_is_changed_and_a_removal_takes_both(self) -> None:
        block = "a: 1\nb: 2\na: 3\n"
        assert edit(block, a=4) == "a: 1\nb: 2\na: 4\n"
        assert edit(block, a=3) == block
        assert edit(block, a=None) == "b: 2\n"

    def test_blank_lines_that_a_scalar_owns_go_with_it(self) -> None:
        assert edit("a: |+\n  x\n\n\nb: 1\n", a="z") == "a: z\nb: 1\n"
        assert edit("a: |+\n  x\n\n\nb: 1\n", a=None) == "b: 1\n"

    def test_a_complex_key_is_not_removed_by_halves_and_its_neighbours_are_edited(self) -> None:
        assert edit("? a\n: b\nc: 1\n", c=2) == "? a\n: b\nc: 2\n"
        with pytest.raises(UnreadableNote):
            edit("? a\n: b\nc: 1\n", a=None)

    def test_a_removal_that_would_let_a_comment_slip_into_a_text_is_refused(self) -> None:
        with pytest.raises(UnreadableNote, match="'a' would not say"):
            edit("a: |\n x\nb: 1\n  # note\nc: 2\n", b=None)

    def test_a_map_between_braces_stays_one_and_json_stays_json(self) -> None:
        assert edit("{a, b: 2}\n", a="x, y", c=["z"]) == '{a: "x, y", b: 2, c: [z]}\n'
        assert edit("{}\n", a=1) == "{a: 1}\n"
        block = '{\n  "tags": "journal",\n  "publish": false\n}\n'
        wanted = '{\n  "tags": ["a"],\n  "publish": false,\n  "id": "x: y"\n}\n'
        assert edit(block, tags=["a"], id="x: y") == wanted
        json.loads(wanted)
        assert edit(block, publish=None) == '{\n  "tags": "journal"\n}\n'

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("", "---\nid: x\n---\n"),
            ("# A\r\nb", "---\r\nid: x\r\n---\r\n# A\r\nb"),
            ("---\nTom\n", "---\nid: x\n---\n---\nTom\n"),
            ("---\n\nrule\n\n---\n", "---\nid: x\n---\n---\n\nrule\n\n---\n"),
            ("\ufeffa", "\ufeff---\nid: x\n---\na"),
            ("---\r\n---\r\na", "---\r\nid: x\r\n---\r\na"),
            ("---\n# c\n---", "---\n# c\nid: x\n---"),
            ("---\nb: 1\r\n...\na", "---\nb: 1\r\nid: x\r\n...\na"),
            ("---\rb: 1\r---\ra", "---\rb: 1\rid: x\r---\ra"),
        ],
    )
    def test_what_is_new_takes_the_line_ends_around_it_and_the_body_stays(
        self, text: str, wanted: str
    ) -> None:
        assert set_keys(text, {"id": "x"}) == wanted
        assert set_keys(wanted, {"id": "x"}) == wanted
        assert set_keys(text, {"id": None}) == text

    @pytest.mark.parametrize(
        "value", [b"x", float("nan"), 10**18, {1, 2}, "\ud800", [object()], {"a": b""}]
    )
    def test_nothing_is_written_of_values_that_do_not_fit(self, value: object) -> None:
        for text in ("---\na: 1\n---\n", "+++\na = 1\n+++\n", "x"):
            with pytest.raises(BadInput):
                set_keys(text, {"b": value})
        with pytest.raises(BadInput):
            compose_text({"b": value}, "")

    TOML = (
        "+++\n# c\ntitle = 'Posts' # t\ntags = [ # x\n 'a#b',\n]\n\na.b = 1\n[params]\nx = 1\n+++\n"
    )

    @pytest.mark.parametrize(
        ("change", "old", "new"),
        [
            ({"title": 'N "e"'}, "'Posts'", '"N \\"e\\""'),
            ({"tags": ["q"]}, "[ # x\n 'a#b',\n]", '["q"]'),
            ({"tags": None}, "tags = [ # x\n 'a#b',\n]\n", ""),
            ({"id": "x", "my key": 2}, "a.b = 1\n", 'a.b = 1\nid = "x"\n"my key" = 2\n'),
            ({"title": datetime(2026, 1, 2, tzinfo=UTC)}, "'Posts'", "2026-01-02T00:00:00Z"),
            ({"title": [{"kind": "p"}]}, "'Posts'", '[{kind = "p"}]'),
            ({"title": "Posts"}, "", ""),
        ],
    )
    def test_toml_is_edited_alike_above_its_first_table(
        self, change: dict[str, object], old: str, new: str
    ) -> None:
        assert set_keys(self.TOML, change) == self.TOML.replace(old, new, 1 if old else 0)

    @pytest.mark.parametrize("key", ["params", "a"])
    def test_tables_and_dotted_keys_of_toml_stay_as_they_are(self, key: str) -> None:
        with pytest.raises(UnreadableNote):
            set_keys(self.TOML, {key: None})


class TestCompose:
    """New notes."""

    def test_keys_stand_in_their_order_and_lists_between_brackets(self) -> None:
        values = {
            "id": "4f1c9be07a52",
            "type": "decision",
            "tags": ["a", "b c", "012"],
            "created_at": datetime(2026, 11, 21, 10, tzinfo=UTC),
            "entity_refs": [{"kind": "person", "id": "sarah"}],
        }
        assert compose_text(values, "# Tantivy\n\n") == (
            '---\nid: 4f1c9be07a52\ntype: decision\ntags: [a, b c, "012"]\n'
            "created_at: 2026-11-21T10:00:00Z\nentity_refs: [{kind: person, id: sarah}]\n"
            "---\n# Tantivy\n"
        )  # fmt: skip

    @pytest.mark.parametrize("body", ["---\nx\n---\n", "+++\na = 1\n+++\n", "  x", "", "\n\nx {}"])
    @pytest.mark.parametrize("values", [{}, {"content": "c", "handler": 1, "on": "yes"}])
    def test_a_body_like_front_matter_survives_and_keys_like_arguments(
        self, values: dict[str, object], body: str
    ) -> None:
        text = compose_text(values, body)
        parts = split(text)
        assert read_metadata(parts) == (values, ())
        assert parts.body.rstrip("\n") == body.rstrip("\n")
        assert text.endswith("\n")
        assert not text.endswith("\n\n")

    @pytest.mark.parametrize(
        "text",
        [
            "", " a", "a ", "yes", "No", "y", "null", "~", "12", "1.5", "1e3", "0x1f", "0o7", "012",
            "12:30", "1_0", "2026-11-21", "2026-11-21T10:00:00Z", "@a", "*a", "&a", "!a", "%a",
            "#a", "`a", "-", "- a", "-a", "? a", ": a", "a: b", "a:", "a #b", "[a", "{a", "]", "|",
            ">", "'a", '"a', "a\nb", "a\tb", "\x07", "\x85", "\u2028", "\ufeffa", "<<", "=", "---",
            "...", ".5", "12e03", "123456789e12", "C:\\a", "\0", "\xa0a", "1,000", "--- a", "é: ü",
            ".inf", "True", "a?",
        ],
    )  # fmt: skip
    def test_every_reader_takes_it_for_the_same_text(self, text: str) -> None:
        block = split(compose_text({"a": text, "b": [text]}, "")).block
        assert yaml.safe_load(block) == {"a": text, "b": [text]}
        assert read(block) == {"a": text, "b": [text]}
        assert block.count("\n") == 2

    @pytest.mark.parametrize(
        "text",
        ["a", "Ünïcode – 漢字 😀", "1.2.3", "it's", 'say "hi"', "a, b", "a:b", "a#b", "x" * 300],
    )  # fmt: skip
    def test_plain_words_stay_plain_however_long(self, text: str) -> None:
        assert f"\ntitle: {text}\n" in compose_text({"title": text}, "")

    def test_of_two_keys_that_cannot_be_removed_the_first_is_named(self) -> None:
        text = "+++\n" + "".join(f"[{name}]\na = 1\n" for name in "tuvwxyz") + "+++\n"
        with pytest.raises(UnreadableNote, match="'t'"):
            set_keys(text, dict.fromkeys("zyxwvut"))

    def test_python_frontmatter_reads_it_with_our_handler(self) -> None:
        text = "---\non: yes\nzip: 007\n---\nbody\n"
        values, body = python_frontmatter.parse(text, handler=NoteHandler())
        assert (values, body) == ({"on": "yes", "zip": "007"}, "body")
        assert python_frontmatter.parse("no", handler=NoteHandler()) == ({}, "no")


@needs_odd
@pytest.mark.parametrize("path", ODD_FILES, ids=lambda path: path.name)
class TestOddFiles:
    """Real files that break tools."""

    def test_they_are_decoded_split_and_read(self, path: Path) -> None:
        data = path.read_bytes()
        found = decode(data)
        if found.writable:
            assert found.text.encode(found.encoding) == data
        parts = split(found.text)
        assert parts.opening + parts.block + parts.closing + parts.body == found.text
        values, faults = read_metadata(parts)
        json.dumps(values, default=str)
        assert all(1 <= fault.line <= found.text.count("\n") + 1 for fault in faults)

    def test_an_edit_keeps_all_lines_but_those_of_its_key(self, path: Path) -> None:
        text = decode(path.read_bytes()).text
        parts = split(text)
        before, faults = read_metadata(parts)
        broken = bool(faults) and not before and parts.format != "none"
        for key in ["x_new", *before]:
            if broken:
                with pytest.raises(UnreadableNote):
                    set_keys(text, {key: "A new: value"})
                continue
            new = set_keys(text, {key: "A new: value"})
            assert split(new).body == parts.body
            assert read_metadata(split(new))[0] == {**before, key: "A new: value"}
            assert set_keys(new, {key: "A new: value"}) == new
            added = [line for line in new.splitlines(keepends=True) if "A new: value" in line]
            if key == "x_new" and parts.format != "none" and not parts.block.startswith("{"):
                assert new.replace(added[0], "", 1) == text
            assert len(added) == 1


def test_the_scanner_without_libyaml_gives_the_same_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_tree, "LOADER", yaml.SafeLoader)
    assert edit(BLOCK, title="a", tags=["x"], aliases=["a"], desc="b", quoted=None, new=1) == (
        BLOCK.replace('"Index design: v2"', "a")
        .replace('[index, "tantivy", search]', "[x]")
        .replace("  - 'b'  # bee\n", "")
        .replace("  - c\n", "")
        .replace("|  # hd\n  one\n  two\n", "b  # hd\n")
        .replace('quoted: "x\n  y"\n', "")
        + "new: 1\n"
    )


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("---\na: " + "b" * 100_000 + "\n---\n", "longer than 100,000 characters"),
        ("---\n" + "".join(f"k{i}: 1\n" for i in range(1001)) + "---\n", "more than 1,000 keys"),
        ("+++\n" + "".join(f"k{i} = 1\n" for i in range(1001)) + "+++\n", "more than 1,000 keys"),
        ("---\na: [" + "1, " * 20_001 + "]\n---\n", "more than 20,000 keys and values"),
        ("---\na: " + "[" * 101 + "\n---\n", "nested deeper than 100 levels"),
        ("+++\na = " + "[" * 101 + "\n+++\n", "nested deeper than 100 levels"),
        ("+++\n" + "a." * 32 + "a = 1\n+++\n", "a key of more than 32 parts"),
        ("+++\n" + "a." * 30_000 + "a = 1\n+++\n", "a key of more than 32 parts"),
        ("---\na: &a " + "b" * 5000 + "\nc: [" + "*a, " * 5000 + "]\n---\n", "aliases stand for"),
        ("---\n%TAG !a! b\na: b\n---\n", "a directive (%) has no place in front matter"),
        ("---\n# c\n\n%YAML 1.1\na: b\n---\n", "a directive (%) has no place"),
    ],
)
def test_front_matter_beyond_a_bound_is_a_fault_and_never_rewritten(
    block: str, reason: str
) -> None:
    text = f"{block}# Water\n\ndeep [[lake]]\n"
    began = time.process_time()
    note = parsing.parse("a.md", text.encode())
    assert time.process_time() - began < 2
    (fault,) = note.faults
    assert reason in fault.reason
    assert note.title == "Water"
    assert [link.target for link in note.body.links] == ["lake"]
    with pytest.raises(UnreadableNote, match="not rewritten"):
        set_keys(text, {"title": "x"})


def test_front_matter_within_the_bounds_is_read() -> None:
    keys = "".join(f"k{i}: v\n" for i in range(999))
    text = f"---\n{keys}a: {'b' * 80_000}\n---\nx\n"
    assert len(read_metadata(split(text))[0]) == 1000
    assert "title: water\n" in set_keys(text.replace("k0: v\n", ""), {"title": "water"})
