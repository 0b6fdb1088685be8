"""The sections of two versions of a note are compared."""

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.notes.note_change import SectionChange
from memory_bank.notes.section_changes import compare_sections
from memory_bank.notes.sections import read_body

NOTE = """\
# Index

We chose Tantivy. It is fast.

## Size

The index of a thousand notes has two megabytes on disk and less in memory.

### Growth

It grows with the number of words, not of notes.

## Speed

- one query takes a millisecond
- ten take six
"""
PARTS = [
    "# A\n",
    "## B\n",
    "## C\n",
    "### D\n",
    "One claim. ",
    "Two claims.\n",
    "- item\n",
    "\n",
    "x ",
]
texts = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)


def compared(before: str, after: str) -> tuple[SectionChange, ...]:
    return compare_sections(read_body(before).sections, read_body(after).sections)


@given(text=texts)
def test_no_change_gives_nothing(text: str) -> None:
    assert compared(text, text) == ()


def test_white_space_is_no_change() -> None:
    after = NOTE.replace("Tantivy. It", "Tantivy.\nIt").replace("\n## Speed", "\n\n\n## Speed")
    assert compared(NOTE, after) == ()


def test_claims_are_added_changed_and_removed() -> None:
    after = NOTE.replace("It is fast.", "It is very fast. It runs anywhere.").replace(
        "- ten take six\n", ""
    )
    index, speed = compared(NOTE, after)
    assert (index.kind, index.headings, index.line, index.end_line) == ("changed", ("Index",), 1, 5)
    assert [(claim.kind, claim.line) for claim in index.claims] == [("changed", 3), ("added", 3)]
    assert [(claim.kind, claim.line) for claim in speed.claims] == [("removed", 16)]
    assert speed.claims[0].spans == (("delete", "- ten take six\n"),)


def test_a_renamed_section_is_followed_and_those_below_it_are_not_listed() -> None:
    (found,) = compared(NOTE, NOTE.replace("## Size", "## Bytes on disk"))
    assert (found.kind, found.headings) == ("renamed", ("Index", "Bytes on disk"))
    assert found.old_headings == ("Index", "Size")
    assert found.claims == ()


def test_a_section_that_was_renamed_and_edited_is_followed() -> None:
    after = NOTE.replace("## Size", "## Bytes").replace("two megabytes", "three megabytes")
    (found,) = compared(NOTE, after)
    assert (found.kind, found.old_headings) == ("changed", ("Index", "Size"))
    assert [claim.kind for claim in found.claims] == ["changed"]


def test_a_section_that_was_moved_below_another_one_is_followed() -> None:
    part = "### Growth\n\nIt grows with the number of words, not of notes.\n\n"
    after = f"{NOTE.replace(part, '')}\n{part}"
    (found,) = compared(NOTE, after)
    assert (found.kind, found.old_headings) == ("renamed", ("Index", "Size", "Growth"))
    assert found.headings == ("Index", "Speed", "Growth")


def test_a_section_that_moved_and_changed_is_changed() -> None:
    found = compared("# A\n\nOne.\n\n# B\n\nTwo.\n", "# B\n\nThree.\n\n# A\n\nOne.\n")
    assert ("changed", ("B",)) in [(one.kind, one.headings) for one in found]


def test_a_section_that_was_renamed_and_moved_is_renamed() -> None:
    size, speed = NOTE.index("## Size"), NOTE.index("## Speed")
    named = NOTE[size:speed].replace("## Size", "## Bytes")
    (found,) = compared(NOTE, f"{NOTE[:size]}{NOTE[speed:]}\n{named}")
    assert (found.kind, found.old_headings) == ("renamed", ("Index", "Size"))


def test_a_new_section_moves_none() -> None:
    (found,) = compared(NOTE, NOTE.replace("## Size", "## New\n\nText.\n\n## Size"))
    assert found.kind == "added"


def test_sections_with_the_same_heading_keep_their_texts() -> None:
    before = "## Day\n\nRain.\n\n## Day\n\nSun.\n"
    (found,) = compared(before, f"## Day\n\nSnow.\n\n{before}")
    assert (found.kind, found.line) == ("added", 1)


def test_indentation_of_code_is_a_change() -> None:
    before = "```py\nif x:\n    y()\n    z()\n```\n"
    (found,) = compared(before, before.replace("    z()", "z()"))
    (claim,) = found.claims
    assert claim.spans == (("delete", "    z()\n"), ("insert", "z()\n"))
