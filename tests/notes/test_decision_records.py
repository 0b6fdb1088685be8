import time
from datetime import UTC, datetime

import pytest

from memory_bank.notes import parsing
from memory_bank.notes.decision_records import read, says_nothing

NYGARD = """# 1. Record decisions

Date: {date}

## Status

{status}

## Context

Why.

## Decision

What.
"""
MADR = "# Use B\n\n## Context and Problem Statement\n\nWhy.\n\n## Decision Outcome\n\nB.\n"
NAMES = ["adr/0001-record", "adr/0012-x", "0012-other", "adr/adr-007-y"]


@pytest.mark.parametrize(
    ("said", "status", "line"),
    [
        ("Accepted", "accepted", "Accepted"),
        ("Proposed.", "proposed", "Proposed."),
        (
            "Superseded by [ADR-0012](0012-x.md)",
            "superseded",
            "superseded_by:: [[adr/0012-x|ADR-0012]]",
        ),
        ("- Replaced by [Y](./adr-007-y.md#a)", "replaced", "- replaced_by:: [[adr/adr-007-y|Y]]"),
        ("Superseded by ADR-12", "superseded", "superseded_by:: [[adr/0012-x|ADR-12]]"),
        ("Supersedes [Other](../0012-other.md)", "supersedes", "supersedes:: [[0012-other|Other]]"),
        (
            "Accepted\n\nSuperseded by [X](0012-x.md)",
            "superseded",
            "superseded_by:: [[adr/0012-x|X]]",
        ),
        ("Superseded by ADR-99", "superseded", "Superseded by ADR-99"),
        ("Superseded by [it](https://example.org/0012-x.md)", "superseded", "(https://example.org"),
        ("Accepted 12 votes", "accepted", "Accepted 12 votes"),
    ],
)
def test_the_status_of_nygards_form(said: str, status: str, line: str) -> None:
    found = read(NYGARD.format(date="2016-02-12", status=said), "", "adr/0001-record", NAMES)
    assert found is not None
    assert (found.status, found.date) == (status, datetime(2016, 2, 12, tzinfo=UTC))
    assert line in found.body
    assert found.body.startswith("# 1. Record decisions\n\nDate: 2016-02-12\n")
    assert found.body.endswith("## Context\n\nWhy.\n\n## Decision\n\nWhat.\n")


def test_a_date_that_starts_with_the_day() -> None:
    found = read(NYGARD.format(date="13/02/2016", status="Accepted"), "", "1-a", [])
    assert found is not None
    assert found.date == datetime(2016, 2, 13, tzinfo=UTC)


def test_the_front_matter_of_madr() -> None:
    said = "superseded by [ADR-0012](0012-x.md)"
    found = read(MADR, said, "adr/0001-record", NAMES)
    assert found is not None
    assert found.status == "superseded"
    assert found.body == f"{MADR}\nsuperseded_by:: [[adr/0012-x|ADR-0012]]\n"


def test_the_list_of_madr_2() -> None:
    listed = "* Status: superseded by [ADR-0012](0012-x.md)\n* Date: 2020-03-04\n"
    found = read(MADR.replace("\n\n", f"\n\n{listed}\n", 1), "", "adr/0001-record", NAMES)
    assert found is not None
    assert (found.status, found.date) == ("superseded", datetime(2020, 3, 4, tzinfo=UTC))
    assert "* Status: superseded\n* superseded_by:: [[adr/0012-x|ADR-0012]]\n" in found.body


def test_a_record_of_madr_may_leave_its_status_out() -> None:
    found = read(MADR, "", "adr/0001-record", NAMES)
    assert found is not None
    assert (found.status, found.date, found.body) == ("", None, MADR)


@pytest.mark.parametrize(
    "body",
    [
        "# Note\n\nText.\n",
        "# Note\n\n## Status\n\nDone.\n",
        "## Context\n\na\n\n## Decision\n\nb\n",
        "```\n## Status\nAccepted\n## Context\n## Decision\n```\n",
    ],
)
def test_another_note_is_no_decision_record(body: str) -> None:
    assert read(body, "", "adr/0001-record", NAMES) is None


@pytest.mark.parametrize(
    "line",
    ["# " + "#" * 300_000 + "x", "# " + " " * 300_000 + "x", "Status: " + "a" * 300_000 + " by"],
)
def test_a_long_line_is_read_in_time_that_grows_with_it(line: str) -> None:
    start = time.process_time()
    assert read(f"{line}\n{NYGARD}", "", "adr/0001-record", NAMES) is not None
    assert time.process_time() - start < 1


WHOLE = "\n## Context\n\nWhy.\n\n## Decision\n\nWhat.\n"


@pytest.mark.parametrize(
    ("text", "status", "day"),
    [
        ("# 1. A\n\nDate: 2016-02-12\n\n## Status\n\nAccepted\n", "accepted", 12),
        ("# 1. A\n\n## Status\n\nSuperceded by [2. B](0002-b.md)\n", "superseded", 0),
        ("# A\n\n## 1. Status:\n\n✅ Accepted\n", "accepted", 0),
        ("# A\n\n### 📜 Status\n\n**Rejected**\n", "rejected", 0),
        ("# A\n\n- Status: accepted\n- Date: 2016-02-12\n", "accepted", 12),
        ("# A\n\n* **Status**: Proposed\n* **Date**: 2016-02-12\n", "proposed", 12),
        ("# A\n\n**Status:** Superseded by [B](0002-b.md) · Kept\n", "superseded", 0),
        ("# A\n\n**Status:** Accepted · **Date:** 2016-02-12\n", "accepted", 12),
        ("# A\n\n> **Status: ACCEPTED** — ruled\n", "accepted", 0),
        ("# A\n\n| Status | Date |\n|:--|:--|\n| Accepted | 2016-02-12 |\n", "accepted", 12),
        ("# A\n\n| | |\n|---|---|\n| **Status** | Deprecated |\n", "deprecated", 0),
        ("---\nstatus: on hold\ndate: 2016-02-12\n---\n# A\n", "on-hold", 12),
        ("---\nstatus: superseded by [2](0002-b.md) (was: x)\n---\n# A\n", "superseded", 0),
        ("---\nstatus: superseded-in-part by [2](2-b.md)\n---\n# A\n", "superseded-in-part", 0),
        ("# A\n\n## Status\n\nPartly superseded by ADR-2\n", "partly-superseded", 0),
        ("# A\n\n- Status: [draft | proposed | accepted]\n", "active", 0),
        ("# A\n", "active", 0),
    ],
)
def test_a_record_is_a_decision_with_the_status_of_its_text(
    text: str, status: str, day: int
) -> None:
    note = parsing.parse("docs/adr/0001-a.md", f"{text}{WHOLE}".encode())
    assert (note.meta.type, note.meta.status) == ("decision", status)
    assert (note.meta.created_at.day if note.meta.created_at else 0) == day


@pytest.mark.parametrize(
    "name", ["docs/adr/README.md", "docs/adr/0000-template.md", "docs/plan.md", "0001-a.md"]
)
def test_other_files_are_no_records(name: str) -> None:
    note = parsing.parse(name, b"# Work\n\nStatus: waiting for Sarah\n\nText.\n")
    assert note.meta.type == ("decision" if name == "0001-a.md" else "")


def test_what_front_matter_says_stays() -> None:
    text = f"---\ntype: runbook\nstatus: draft\n---\n# A\n{WHOLE}"
    meta = parsing.parse("docs/adr/0001-a.md", text.encode()).meta
    assert (meta.type, meta.status) == ("runbook", "active")
    meta = parsing.parse("adr/0001-a.md", b"---\nstatus: archived\n---\n# A\n").meta
    assert meta.status == "archived"


@pytest.mark.parametrize(
    ("said", "target"),
    [("superseded by ADR-12", "ADR-12"), ('"superseded by [B](0002-b.md#x)"', "0002-b.md")],
)
def test_a_successor_in_front_matter_is_a_link(said: str, target: str) -> None:
    note = parsing.parse("adr/0001-a.md", f"---\nstatus: {said}\n---\n# A\n{WHOLE}".encode())
    assert [(one.target, one.type) for one in note.body.links] == [(target, "superseded_by")]


def test_title_and_status_say_nothing() -> None:
    text = f"# 1. A\n\nDate: 2016-02-12\n\n## Status\n\nAccepted\n{WHOLE}"
    note = parsing.parse("adr/0001-a.md", text.encode())
    assert [says_nothing(one) for one in note.body.sections] == [True, True, False, False]
