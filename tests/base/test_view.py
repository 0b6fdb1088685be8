"""One view of an answer, written for a person and for an agent."""

import sys
from io import StringIO

import pytest

from memory_bank.base.hit_view import Place, ShownHit
from memory_bank.base.screen import NOTHING
from memory_bank.base.text import Quotes
from memory_bank.base.view import Entry, Lines, Table, View, write_agent, write_view
from memory_bank.frontends.cli.call import CommandCall

VIEW = View(
    "Moved",
    [
        Entry(Place("a.md"), {"path": "a.md", "same_as": Place("b.md")}, verb="moved"),
        Table(("id", "title"), [("1", "One\nmore")], below=["It says so."]),
        Lines("links changed in", [Place("c.md", 3)]),
    ],
    {"action": "moved"},
    notices=["look at it"],
)


def test_a_person_reads_places_rows_and_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    assert write_view(CommandCall("mb"), None, VIEW) == 0
    assert out.getvalue().splitlines() == [
        "moved a.md",
        "  same as: b.md",
        "1  One\\nmore",
        "    It says so.",
        "  links changed in: c.md:3",
        "look at it",
    ]


def test_an_agent_reads_all_that_files_say_between_marks() -> None:
    quotes = Quotes()
    text = write_agent(VIEW, quotes)
    head, *lines = text.splitlines()
    assert head.startswith("Moved (action: moved): id | title. ")
    inside, outside = False, []
    for line in lines:
        outside += [] if inside or line.startswith(("<q-", "Notice: <q-")) else [line]
        inside = (inside or line.startswith("<q-")) and not line.endswith(f"</q-{quotes.mark}>")
    assert not outside
    assert 'path="a.md" same_as="b.md"' in text
    assert "1 | One more\n  It says so." in text


def test_hits_that_are_weak_are_set_apart_and_rows_share_one_quote() -> None:
    strong = ShownHit("a.md", 0.9, "A", "a", about={"at": "a.md"}, text="the text")
    rows = [ShownHit("b.py", 0.5, "b", "", text=f"symbol | {name}") for name in "bc"]
    text = write_agent(View("3 notes", [strong._replace(weak=True), strong, *rows]), Quotes())
    assert text.index("the text") < text.index("Weaker matches:")
    assert "symbol | b\nsymbol | c\n" in text


def test_what_is_nowhere_is_said_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = StringIO(), StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert write_view(CommandCall("mb"), None, View("Nothing found", code=NOTHING)) == NOTHING
    assert (out.getvalue(), err.getvalue()) == ("", "nothing found\n")
