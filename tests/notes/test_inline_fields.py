"""Sections say their name and the fields of their lines."""

import time

import pytest

from memory_bank.base.documents import UNDATED, Section
from memory_bank.base.text import estimate
from memory_bank.notes import parsing, sections
from memory_bank.notes.sections import read_body
from memory_bank.notes.source import build_document

OBSERVATION = """\
# Retry payments

## Retry the job three times

- obs_type:: Bugfix
- created_at:: 2026-11-22T10:20:00Z
- concepts:: retries, [[Late, but paid]], `a,b`, one\\, two
- reads:: [[src/pay.py]], [[src/Job.py|the job]]
- Read More:: [page](docs/a.md) and more

It failed.

^obs-1a2b3c4d5e6f
"""


def only(text: str) -> Section:
    (section,) = read_body(text).sections
    return section


def test_a_section_has_its_fields_and_its_block_id() -> None:
    first, second = read_body(OBSERVATION).sections
    assert (first.name, first.fields) == ("", ())
    assert second.name == "obs-1a2b3c4d5e6f"
    assert second.fields == (
        ("obs_type", "Bugfix"),
        ("created_at", "2026-11-22T10:20:00Z"),
        ("concepts", "retries"),
        ("concepts", "Late, but paid"),
        ("concepts", "a,b"),
        ("concepts", "one, two"),
        ("reads", "src/pay.py"),
        ("reads", "src/Job.py"),
        ("read_more", "docs/a.md and more"),
    )


def test_the_index_gets_fields_in_lower_case_a_time_and_tokens() -> None:
    note = parsing.parse("a.md", OBSERVATION.encode())
    first, second = build_document(note, UNDATED, "", "").sections
    assert (first.name, first.fields, first.created, first.tokens) == ("", (), 0.0, 0)
    assert second.created == 1795342800.0
    assert second.tokens == pytest.approx(estimate("\n".join(OBSERVATION.splitlines()[2:])), abs=1)
    assert ("obs_type", "bugfix") in second.fields
    assert ("reads", "src/job.py") in second.fields


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("key:: a", (("key", "a"),)),
        ("**Key Name**:: a", (("key_name", "a"),)),
        ("key::", ()),
        ("key:: , ,", ()),
        ("key:: [[b#H|x]]", (("key", "b#H"),)),
        ("one\nkey:: a\nother:: b", (("key", "a"), ("other", "b"))),
        ("> quoted:: a", (("quoted", "a"),)),
        ("- [x] done:: yes", (("done", "yes"),)),
        ("std::string s", ()),
        ("a key in a long sentence that is no key but has two colons:: a", ()),
        ("`key:: a`", ()),
        ("`two lines\nkey:: a`", ()),
        ("<!--\nkey:: a\n-->", ()),
        ("```\nkey:: a\n```", ()),
        ("    key:: a", ()),
        ("## Name:: a", ()),
        ("http://x:: a", ()),
    ],
)
def test_a_field_is_a_line_with_a_key_outside_of_code(
    text: str, fields: tuple[tuple[str, str], ...]
) -> None:
    assert only(text).fields == fields


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("text\n\n^one", "one"),
        ("text\n\n^one\n\nmore\n\n^two\n", "two"),
        ("text ^one", ""),
        ("text\n^one", "one"),
        ("text\n\n^one\n\nmore ^two", "one"),
        ("```\n^one\n```", ""),
    ],
)
def test_the_name_is_the_last_block_id_alone_on_a_line(text: str, name: str) -> None:
    assert only(text).name == name


def test_a_divided_section_keeps_its_name() -> None:
    text = "## One\n\nkey:: a\n\n### Why\n\nSo.\n\n^one\n\n## Two\n\n### Deep\n\n^two\n"
    names = {section.headings[-1]: section.name for section in read_body(text).sections}
    assert names == {"One": "one", "Why": "", "Two": "", "Deep": "two"}
    again = read_body(text.replace("key:: a", "key:: a\n\n^first")).sections
    assert [section.name for section in again][:2] == ["first", "one"]


def test_fields_are_bounded_and_read_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    started = time.process_time()
    monkeypatch.setattr(sections, "MAX_FIELDS", 5_000)
    many = only("key:: value\n" * (10_000))
    assert len(many.fields) == 5_000
    assert len(only("key:: " + "a, " * 100_000).fields) == 200
    assert len(only("key:: " + "a" * 100_000).fields[0][1]) == 300
    assert only("key:: \x00, \x01[[a]], \x02").fields
    assert time.process_time() - started < 5


@pytest.mark.slow
def test_a_long_session_has_the_fields_of_all_observations() -> None:
    block = "## {0}\n\n" + "".join(f"- key{n}:: v\n" for n in range(8)) + "\n^obs-{0}\n\n"
    found = read_body("".join(block.format(n) for n in range(700))).sections
    assert [one.name for one in found] == [f"obs-{n}" for n in range(700)]
    assert {len(one.fields) for one in found} == {8}
