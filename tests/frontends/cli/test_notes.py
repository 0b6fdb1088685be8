from __future__ import annotations

from pathlib import Path

from memory_bank.base.screen import cells

from .conftest import Run, plain_text


def test_a_line_a_note_the_newest_first(mb: Run, project: Path) -> None:
    text = "---\ntype: plan\ntags: [x]\ncreated_at: 2999-01-01\n---\n# Newest\n"
    (project / ".memories/newest.md").write_text(text, encoding="utf-8")
    answer = mb("notes")
    lines = answer.out.splitlines()
    assert len(lines) == 4
    assert lines[0].split() == [".memories/newest.md:1", "2999-01-01", "plan", "Newest", "#x"]
    assert lines[-1].split()[:3] == [".memories/decisions/whoosh.md:1", "2025-06-01", "decision"]
    assert {line[:33].rstrip().endswith(".md:1") for line in lines} == {True}


def test_limit_and_filters(mb: Run) -> None:
    assert len(mb("notes", "--limit", "1").out.splitlines()) == 1
    assert len(mb("notes", "--type", "decision", "--json").json["notes"]) == 2
    assert mb("notes", "--tags", "architecture").out.count("\n") == 1
    assert mb("notes", "--before", "2025-12-31", "--type", "decision").out.count("\n") == 1


def test_none_is_exit_code_1(mb: Run) -> None:
    answer = mb("notes", "--before", "2001")
    assert (answer.code, answer.out, answer.err) == (1, "", "no notes\n")
    assert mb("notes", "--before", "2001", "--json").json == {"result_count": 0, "notes": []}


def test_a_mistyped_filter_is_remarked(mb: Run) -> None:
    remark = "no note has type:decison; did you mean type:decision?"
    assert mb("notes", "--type", "decison").err == f"{remark}\nno notes\n"
    assert mb("notes", "--type", "decison", "--json").json["notices"] == [remark]
    assert "decisions/tantivy.md" in mb("notes", "--since", "last year").out


def test_archived_notes_are_marked(mb: Run) -> None:
    mb("archive", "bm25")
    assert "bm25" not in mb("notes").out
    assert "BM25 (archived)" in mb("notes", "--include-archived").out


def test_a_narrow_terminal_gets_shorter_titles_and_whole_names(terminal: Run, mb: Run) -> None:
    mb("remember", f"# {'東京' * 30}", "--name", "tokyo", "--tags", "a,b")
    shown = plain_text(terminal("notes").out)
    line = next(line for line in shown.splitlines() if "tokyo" in line)
    assert line.split()[1] == "tokyo"
    assert "…" in line
    assert cells(line) <= 80
