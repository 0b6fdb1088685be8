"""Search, timeline and observations on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session_builder import observation, session, write

from .conftest import Run, plain_text


def obs(number: int) -> str:
    return f"obs-{number:012x}"


@pytest.fixture
def worked(project: Path) -> None:
    """Leave two sessions in the project's bank."""
    retry = [
        observation(1, "Retry the payment job", files_modified=("src/job.py",)),
        observation(
            2,
            "Choose a queue that keeps jobs for as long as the gateway is away, and then some",
            "decision",
            facts=("It answers 504",),
            narrative="\x1b[31mBecause\x1b[0m of it.",
            concepts=("retries",),
            discovery_tokens=1800,
        ),
    ]
    write(project / ".memories", session("retry", *retry))
    write(project / ".memories", session("cache", observation(60, "Cache prices", "feature")))


@pytest.mark.usefixtures("worked")
def test_search_lists_rows_with_ids(mb: Run) -> None:
    answer = mb("search", "retry", "payment")
    assert answer.code == 0
    first = answer.out.splitlines()[0]
    assert first.startswith(f"{obs(1)}  bugfix")
    assert "2026-11-01 10:01" in first
    assert "Retry the payment job" in first
    found = mb("search", "--obs-type", "decision,feature", "--json").json
    assert [row["id"] for row in found["results"]] == [obs(60), obs(2)]
    assert (found["count"], found["schema_version"]) == (2, "1.0")
    assert mb("search", "--type", "session", "--json").json["results"][0]["obs_type"] is None
    assert mb("search", "--files", "src/job.py", "--order-by", "date_asc").out.startswith(obs(1))
    decisions = mb("search", "--decisions").out
    assert obs(2) in decisions
    assert "decisions/tantivy" in decisions
    assert mb("search", "--changes", "src/job.py").out.count("\n") == 1


def test_wrong_use_is_told(mb: Run) -> None:
    assert mb("search", "zzqqxx").code == 1
    assert mb("search", "--decisions", "--changes", "a").code == 2
    assert mb("search", "x", "--decisions").code == 2
    assert "not a type of observation" in mb("search", "--obs-type", "bug").err
    nothing = mb("timeline")
    assert (nothing.code, nothing.err.splitlines()[0]) == (2, "error: anchor or query required")
    assert "Observation not found" in mb("timeline", "obs-ffffffffffff").err
    assert "obs-3f2a9c1b7d04" in mb("observations", "12").err
    assert mb("observations", "obs-ffffffffffff").code == 1


@pytest.mark.usefixtures("worked")
def test_timeline_marks_the_anchor(mb: Run) -> None:
    lines = mb("timeline", obs(2), "--depth-after", "1").out.splitlines()
    assert [line[:18].strip() for line in lines][-3:-1] == [obs(1), f"> {obs(2)}"]
    assert len(lines) == 4
    assert mb("timeline", "--query", "cache", "--json").json["anchor_id"] == obs(60)


@pytest.mark.usefixtures("worked")
def test_observations_show_all_of_them(mb: Run) -> None:
    answer = mb("observations", obs(2), "bm25", "obs-ffffffffffff")
    assert answer.code == 0
    assert "fact: It answers 504\n" in answer.out
    assert "decision · 2026-11-01T10:02:00Z · shop · .memories/sessions/retry.md" in answer.out
    assert "\x1b" not in answer.out
    assert "BM25 scores a word" in answer.out
    assert answer.err == "not found: obs-ffffffffffff\n"
    (one,) = mb("observations", obs(2), "--json").json["observations"]
    assert (one["concepts"], one["discovery_tokens"], one["git"]) == (["retries"], 1800, None)
    whole = mb("observations", "retry").out
    assert "request: Work on retry" in whole
    assert obs(2) in whole


@pytest.mark.usefixtures("worked")
def test_rows_fit_a_terminal_of_80_columns(terminal: Run) -> None:
    lines = plain_text(terminal("search", "--obs-type", "decision").out).splitlines()
    assert lines
    assert all(len(line.rstrip()) <= 80 for line in lines)
    assert lines[0].startswith(f"{obs(2)}  decision  2026-11-01 10:02")
    assert "…" in lines[0]
