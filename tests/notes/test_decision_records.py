import time

import pytest

from memory_bank.notes import parsing

WHOLE = "\n## Context\n\nWhy.\n\n## Decision\n\nWhat.\n"


@pytest.mark.parametrize(
    "line",
    ["# " + "#" * 300_000 + "x", "# " + " " * 300_000 + "x", "Status: " + "a" * 300_000 + " by"],
)
def test_a_long_line_is_read_in_time_that_grows_with_it(line: str) -> None:
    start = time.process_time()
    note = parsing.parse("adr/0001-record.md", f"{line}\n{WHOLE}".encode())
    assert note.meta.type == "decision"
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("text", "status", "day"),
    [
        ("# 1. A\n\nDate: 2016-02-12\n\n## Status\n\nAccepted\n", "accepted", 12),
        ("# 1. A\n\n## Status\n\nSuperceded by [2. B](0002-b.md)\n", "superseded", 0),
        ("# A\n\n## 1. Status:\n\n✅ Accepted\n", "accepted", 0),
        ("# A\n\n### 📜 Status\n\n**Rejected**\n", "rejected", 0),
        ("# A\n\n- Status: accepted\n- Date: 12/02/2016\n", "accepted", 12),
        ("# A\n\n## Status\n\nAccepted\n\nSuperseded by [B](0002-b.md)\n", "superseded", 0),
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
    assert (meta.type, meta.status) == ("runbook", "draft")
    meta = parsing.parse("adr/0001-a.md", b"---\nstatus: archived\n---\n# A\n").meta
    assert meta.status == "archived"


@pytest.mark.parametrize(
    ("said", "target"),
    [("superseded by ADR-12", "ADR-12"), ('"superseded by [B](0002-b.md#x)"', "0002-b.md")],
)
def test_a_successor_in_front_matter_is_a_link(said: str, target: str) -> None:
    note = parsing.parse("adr/0001-a.md", f"---\nstatus: {said}\n---\n# A\n{WHOLE}".encode())
    assert [(one.target, one.type) for one in note.body.links] == [(target, "superseded_by")]
