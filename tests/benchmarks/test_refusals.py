"""What the notes are written from, where refusals are counted."""

from pathlib import Path

from tests.benchmarks.refusals import commits, notes, refused
from tests.git.history_builder import commit_all, run


def test_notes_about_a_commit_cite_it_and_are_not_refused(tmp_path: Path) -> None:
    (tmp_path / "cookies.py").write_text("def sign(value):\n    return value\n")
    run(tmp_path, "init", "-q")
    commit_all(tmp_path, "fix(auth): Sign the cookie")
    (commit,) = commits(tmp_path)
    assert (commit.files, commit.message.strip()) == (["cookies.py"], "fix(auth): Sign the cookie")
    written = list(notes(commit, "https://git.example.org/team/shop"))
    assert [refused(name, text) for name, text in written] == ["", ""]
    assert all(commit.id in text for _, text in written)
    assert "token or key" in refused("facts/ci", f"The deploy token is {'3f2504e04f' * 4}")
