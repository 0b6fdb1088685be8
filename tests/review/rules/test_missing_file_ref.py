from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.review.rules.conftest import Lint

Git = Callable[..., str]
RULE = "missing-file-ref"


def note(project: Path, *refs: str, status: str = "active") -> None:
    listed = "".join(f"  - {ref}\n" for ref in refs)
    text = f"---\nstatus: {status}\nfile_refs:\n{listed}---\nRefers.\n"
    (project / ".memories/refs.md").write_text(text)


def move(project: Path, git: Git, old: str, new: str) -> None:
    (project / new).parent.mkdir(exist_ok=True)
    git(project, "mv", old, new)
    git(project, "commit", "-q", "-m", "Move")


def test_what_is_there_is_fine(project: Path, lint: Lint) -> None:
    here = (
        "src/index.py",
        "./src/index.py:1",
        "'src/index.py#L1'",
        "src",
        ".memories/facts/bm25.md",
    )
    note(project, *here, "facts/bm25.md")
    assert lint(project, RULE) == []


def test_a_file_that_git_moved_is_named_as_it_is_called_now(
    project: Path, lint: Lint, git: Git
) -> None:
    note(project, "src/other.py", "src/index.py")
    move(project, git, "src/index.py", "src/indexer.py")
    move(project, git, "src/indexer.py", "lib/indexer é.py")
    found = {(one.path, one.line): one for one in lint(project, RULE)}
    assert set(found) == {("decisions/tantivy.md", 6), ("refs.md", 4), ("refs.md", 5)}
    assert found["refs.md", 4].message == "file_refs names src/other.py, which does not exist"
    assert found["refs.md", 4].fix is None
    assert found["refs.md", 5].message == "file_refs names src/index.py, which git moved"
    assert found["refs.md", 5].fix == "lib/indexer é.py"
    assert {one.severity for one in found.values()} == {"warning"}


def test_a_move_that_is_only_staged_counts(project: Path, lint: Lint, git: Git) -> None:
    git(project, "mv", "src/index.py", "src/main.py")
    assert [one.fix for one in lint(project, RULE)] == ["src/main.py"]


def test_a_file_that_was_moved_and_then_deleted_is_gone(
    project: Path, lint: Lint, git: Git
) -> None:
    move(project, git, "src/index.py", "src/main.py")
    git(project, "rm", "-q", "src/main.py")
    git(project, "commit", "-q", "-m", "Delete")
    assert [one.fix for one in lint(project, RULE)] == [None]


@pytest.mark.parametrize(
    "ref", ["https://example.org/a.py", "/etc/nothing", "../beside.py", "src/*.py", "C:\\a.py"]
)
def test_nothing_is_said_of_what_is_not_below_the_project(
    project: Path, lint: Lint, ref: str
) -> None:
    note(project, ref)
    assert lint(project, RULE) == []


def test_an_archived_note_may_name_what_is_gone(project: Path, lint: Lint) -> None:
    note(project, "src/gone.py", status="archived")
    assert lint(project, RULE) == []


def test_a_hostile_reference_spoils_no_other(project: Path, lint: Lint, git: Git) -> None:
    note(project, '"a\\0b"', "x" * 5000, "--output=x", ":(glob)*", "' '", "src/index.py")
    move(project, git, "src/index.py", "src/main.py")
    assert "src/main.py" in {one.fix for one in lint(project, RULE)}
    assert not (project / "x").exists()


def test_a_bank_without_a_project_has_no_files_to_look_for(folder: Path, lint: Lint) -> None:
    (folder / "a.md").write_text("---\nfile_refs: [src/gone.py]\n---\n")
    assert lint(folder, RULE) == []


def test_a_project_without_git_has_no_names_to_tell(tmp_path: Path, lint: Lint) -> None:
    (tmp_path / ".memories").mkdir()
    (tmp_path / ".memories/a.md").write_text("---\nfile_refs: [src/gone.py]\n---\n")
    assert [one.fix for one in lint(tmp_path / ".memories", RULE)] == [None]
