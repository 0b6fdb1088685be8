"""`memory-bank review` shows what a change does to the notes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run, plain_text

NOTE = (
    "---\ntype: fact\ntags: [queue]\n---\n# Queue\n\nEvents wait in [[facts/nothing]] a queue.\n"
    "\n- one\n"
)


@pytest.fixture
def changed(project: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change notes of the project in one commit on a branch."""
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    git(project, "branch", "-M", "main")
    git(project, "switch", "-qc", "topic")
    (project / ".memories/facts/queue.md").write_text(NOTE)
    tantivy = project / ".memories/decisions/tantivy.md"
    tantivy.write_text(tantivy.read_text().replace("grows slowly", "grows very slowly"))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Change notes")
    return project


def test_a_terminal_shows_a_summary_then_findings_then_notes(mb: Run, changed: Path) -> None:
    answer = mb("review")
    lines = answer.out.splitlines()
    assert answer.code == 0
    assert lines[0].startswith("2 notes changed: 1 added, 1 changed; ")
    assert "1 remark" in lines[0]
    assert lines[1].startswith("info .memories/facts/queue.md:7 links to facts/nothing")
    assert any("grows {+very+} slowly" in line for line in lines)
    assert "  + - one" in lines or "    + - one" in lines
    assert '  + type: "fact"' in lines


def test_the_lowest_severity_that_fails_is_chosen(mb: Run, changed: Path) -> None:
    assert mb("review", "--fail-on", "warning").code == 0
    assert mb("review", "--fail-on", "info").code == 1
    (changed / ".memories/facts/queue.md").write_text(
        f"{NOTE}\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
    )
    assert mb("review", "--worktree").code == 1
    assert mb("review", "--worktree", "--fail-on", "never").code == 0


def test_the_first_findings_are_shown_unless_all_are(
    mb: Run, changed: Path, tmp_path: Path
) -> None:
    links = " ".join(f"[[facts/nothing-{number}]]" for number in range(130))
    (changed / ".memories/facts/many.md").write_text(f"# Many\n\n{links}\n")
    shown = mb("review", "HEAD").out
    assert shown.count("[ghost-made]") == 100
    assert "… 30 more new findings (--all shows them)" in shown
    assert mb("review", "HEAD", "--all").out.count("[ghost-made]") == 130


def test_known_findings_decide_nothing(mb: Run, changed: Path, git: Callable[..., str]) -> None:
    note = changed / ".memories/facts/queue.md"
    note.write_text(f"{NOTE}\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")
    git(changed, "commit", "-qam", "Conflict")
    note.write_text(f"{note.read_text()}\nMore.\n")
    answer = mb("review", "HEAD")
    assert answer.code == 0
    assert "at BASE already" in answer.out


def test_json_has_everything(mb: Run, changed: Path) -> None:
    found = mb("review", "main..topic", "--json").json
    assert found["schema_version"] == "1.0"
    assert [one["path"] for one in found["changes"]] == ["decisions/tantivy.md", "facts/queue.md"]
    assert found["findings"][0]["new"] is True
    assert mb("review", "--format", "json", "main..topic").json == found


@pytest.mark.parametrize("form", ["markdown", "sarif", "github", "json"])
def test_other_formats_go_to_stdout_or_to_a_file(
    mb: Run, changed: Path, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "report"
    shown = mb("review", "--format", form)
    assert shown.code == 0
    assert mb("review", "--format", form, "--output", str(file)).out == ""
    assert file.read_text() == shown.out
    if form in {"sarif", "json"}:
        json.loads(shown.out)


def test_one_run_writes_several_formats(mb: Run, changed: Path, tmp_path: Path) -> None:
    formats = ("markdown", "sarif", "github")
    args = [f"--{option}={value}" for one in formats for option, value in (
        ("format", one), ("output", str(tmp_path / one)))]  # fmt: skip
    answer = mb("review", *args, "--fail-on", "info")
    assert (answer.code, answer.out) == (1, "")
    for one in formats:
        assert (tmp_path / one).read_text() == mb("review", "--format", one).out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nothing..HEAD"], "there is no revision 'nothing'"),
        (["--staged", "--worktree"], "not of both"),
        (["--output", "x"], "--output needs --format"),
        (["--json", "--format", "sarif"], "say different things"),
        (["--format", "xml"], "xml"),
        (["--format", "json", "--format", "sarif"], "several formats need an --output each"),
        (["--format", "json", "--output", "a", "--output", "b"], "an --output each"),
        (["--", "--output=x"], "there is no revision '--output=x'"),
    ],
)
def test_wrong_use_exits_with_2(mb: Run, changed: Path, args: list[str], said: str) -> None:
    answer = mb("review", *args)
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert "Traceback" not in answer.err


def test_a_file_that_cannot_be_written_exits_with_3(mb: Run, changed: Path, tmp_path: Path) -> None:
    answer = mb("review", "--format", "json", "--output", str(tmp_path))
    assert (answer.code, "can't be written" in answer.err) == (3, True)


def test_it_fits_a_terminal_of_80_columns(terminal: Run, changed: Path) -> None:
    lines = plain_text(terminal("review").out).splitlines()
    assert max(map(len, lines)) <= 80
    assert any("grows" in line for line in lines)
