"""The notes of two revisions are compared."""

import time
from collections.abc import Mapping

import pytest

from memory_bank.notes import note_comparison, section_changes
from memory_bank.notes.note_change import KeyChange, NoteChange
from memory_bank.notes.note_comparison import compare

TEXT = "# Note\n\nThe index is kept in memory, since it is small and is asked often. See [[b]].\n"


def compared(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[NoteChange, ...]:
    sides = [{path: text.encode() for path, text in side.items()} for side in (before, after)]
    return compare(*sides, lambda path: f".memories/{path}")


def test_an_added_note_has_all_its_claims_keys_and_links() -> None:
    (found,) = compared({}, {"a.md": f"---\ntags: [x, y]\n---\n{TEXT}"})
    assert found[:5] == ("a.md", None, "added", ".memories/a.md", "Note")
    assert [claim.kind for claim in found.sections[0].claims] == ["added", "added"]
    assert found.front_matter == (KeyChange("tags", "added", None, '["x", "y"]', ("x", "y"), ()),)
    assert [(link.target, link.line) for link in found.gained] == [("b", 6)]
    assert (found.tokens_before, found.tokens_after > 20) == (0, True)
    assert (found.words_added, found.words_removed) == (16, 0)


def test_a_removed_note_has_what_it_said() -> None:
    (found,) = compared({"a.md": TEXT}, {})
    assert (found.kind, found.title) == ("removed", "Note")
    assert [section.kind for section in found.sections] == ["removed"]
    assert [link.target for link in found.lost] == ["b"]


def test_keys_are_compared_by_value() -> None:
    (found,) = compared(
        {"a.md": "---\ntags: [x, y]\nstatus: active\nold: 1\n---\nText\n"},
        {"a.md": "---\nstatus: archived\ntags: ['y', z]\nnew: {a: 1}\n---\nText\n"},
    )
    assert found.front_matter == (
        KeyChange("status", "changed", '"active"', '"archived"'),
        KeyChange("tags", "changed", '["x", "y"]', '["y", "z"]', ("z",), ("x",)),
        KeyChange("new", "added", None, '{"a": 1}'),
        KeyChange("old", "removed", "1", None),
    )
    assert found.sections == ()


def test_links_are_counted() -> None:
    (found,) = compared(
        {"a.md": "[[b]] [[c#h]] [[d]]\n"}, {"a.md": "[[b]] [[b]] [[b]]\n\n- supersedes:: [[d]]\n"}
    )
    assert [(*link[:2], link.times) for link in found.gained] == [
        ("b", "related_to", 2),
        ("d", "supersedes", 1),
    ]
    assert [link.target for link in found.lost] == ["c#h", "d"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"---\nid: 4f1c9be07a52\n---\n{TEXT}", "---\nid: 4f1c9be07a52\n---\nAll is new here.\n"),
        (TEXT, TEXT),
        (TEXT, TEXT.replace("small", "tiny")),
    ],
    ids=["id", "text", "likeness"],
)
def test_a_renamed_note_is_followed(before: str, after: str) -> None:
    (found,) = compared({"a.md": before}, {"new/a.md": after})
    assert found[:3] == ("new/a.md", "a.md", "renamed")


def test_notes_with_nothing_in_common_are_not_one() -> None:
    found = compared({"a.md": TEXT}, {"z.md": "# Other\n\nA queue of jobs that fail twice.\n"})
    assert [(change.path, change.kind) for change in found] == [
        ("a.md", "removed"),
        ("z.md", "added"),
    ]


def test_copies_of_one_text_are_not_guessed() -> None:
    found = compared({"a.md": "x\n"}, {"b.md": "x\n", "c.md": "x\n"})
    assert {change.kind for change in found} <= {"added", "removed", "renamed"}
    assert [change.path for change in found if change.kind == "added"]


def test_a_change_of_layout_is_named() -> None:
    (found,) = compared(
        {"a.md": "---\na: 1\n---\nOne two\n"}, {"a.md": "---\na: 1 # x\n---\nOne\ntwo\n"}
    )
    assert found.remark is not None
    assert found.remark.startswith("only white space")


def test_binary_and_large_files_are_named_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note_comparison, "MAX_BYTES", 100)
    monkeypatch.setattr(note_comparison, "MAX_TOTAL", 150)
    found = compared({}, {"a.md": "x" * 101, "b.md": "a\0b", "c.md": "y " * 50, "d.md": "z " * 45})
    remarks = {change.path: change.remark or "" for change in found}
    assert remarks["a.md"] == "101 bytes, more than 100: not compared"
    assert remarks["b.md"].startswith("not compared: the file contains NUL bytes")
    assert remarks["c.md"] == "changes of more than 150 bytes: not compared"
    assert remarks["d.md"] == ""
    tokens = {change.path: change.tokens_after for change in found}
    assert (tokens["a.md"], tokens["b.md"], tokens["c.md"]) == (25, 0, 25)
    assert [change.compared for change in found] == [False, False, False, True]


def test_of_very_many_sections_the_whole_texts_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(section_changes, "MAX_SECTIONS", 5)
    before = {"a.md": "Start.\n\n# A\n\nOne.\n\n# B\n\nTwo.\n"}
    after = {"a.md": "Start.\n\n# A\n\nOne.\n\n# C\n\nThree.\n"}
    (found,) = compared(before, after)
    (section,) = found.sections
    assert section.shortened == "6 sections, more than 5: compared as one"
    assert (section.kind, section.headings, section.line) == ("changed", (), 1)
    monkeypatch.setattr(section_changes, "MAX_SECTIONS", 6)
    (found,) = compared(before, after)
    assert {one.shortened for one in found.sections} == {None}


HOSTILE = {
    "one line": ("a b " * 25_000, "b a " * 25_000),
    "many lines": ("- a\n- b\n" * 7_500, "- b\n- b\n- a\n" * 5_000),
    "headings": (
        "".join(f"# h{n}\n" for n in range(5_000)),
        "".join(f"# h{n}\nx\n" for n in range(5_000, 0, -1)),
    ),
    "same headings": ("# h\nx y\n" * 5_000, "# h\ny z\n" * 5_000),
    "sentences": ("A b. C d? " * 7_500, "E f! " * 15_000),
    "stops": ("." * 60_000, ")" * 60_000),
    "fences": ("```\n" * 12_500, "~~~\n" * 12_500),
    "keys": (
        "---\n" + "".join(f"k{n}: [a, b]\n" for n in range(900)) + "---\n",
        "---\n" + "".join(f"k{n}: [b, a]\n" for n in range(900)) + "---\n",
    ),
    "aliases": (
        "---\na: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(20)) + "---\n",
        "---\na: &a [x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]\n---\n",
    ),
    "links": ("[[a]] " * 12_500, "[[b]] " * 12_500),
    "brackets": ("[" * 50_000, "](" * 25_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_note_takes_bounded_time(name: str) -> None:
    before, after = HOSTILE[name]
    start = time.process_time()
    assert compared({"a.md": before}, {"a.md": after})
    assert time.process_time() - start < 4
