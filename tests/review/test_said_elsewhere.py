"""A review says which new sentences other notes may repeat or contradict."""

from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.review.records import Review
from memory_bank.review.review import review
from memory_bank.review.review_markdown import markdown
from tests.conftest import run_git

BASE = {
    "limits.md": "# Limits\n\nBodies are limited to 2 MB. A header may have 8 kB.\n",
    "jobs.md": "# Jobs\n\nJobs are stored in Postgres, not in Redis.\n",
    "typing.md": "# Sizes\n\nA body is limitted to 2 MB.\n",
}


def reviewed(root: Path, head: dict[str, str]) -> Review:
    folder = root / ".memories"
    folder.mkdir()
    run_git(root, "init", "-q", "-b", "main")
    for notes in (BASE, head):
        for name, text in notes.items():
            (folder / name).write_text(text, encoding="utf-8")
        run_git(root, "add", ".")
        run_git(root, "commit", "-q", "-m", "notes")
    with open_bank(root, settings={"memory.embedder": "none"}) as bank:
        return review(bank, "HEAD~1..HEAD")


def test_a_new_note_that_contradicts_another_has_a_finding(tmp_path: Path) -> None:
    found = reviewed(tmp_path, {"new.md": "# Default body limit raised to 4 MB\n"})
    (finding,) = [one for one in found.findings if one.rule == "may-contradict"]
    assert (finding.path, finding.line, finding.severity) == ("new.md", 1, "warning")
    said = "limits.md:3 (4 MB, there 2 MB): “Bodies are limited to 2 MB.”"
    assert finding.text == f"may contradict .memories/{said}"
    assert finding.words == "Default body limit raised to 4 MB"
    shown = markdown(found)
    assert f"  - `new:   {finding.words}`\n  - `there: Bodies are limited to 2 MB.`" in shown


def test_a_changed_value_that_another_note_still_has(tmp_path: Path) -> None:
    text = BASE["jobs.md"].replace("Postgres, not in Redis", "Redis")
    other = "# Queue\n\nThe queue stores jobs in Postgres, not in Redis.\n"
    found = reviewed(tmp_path, {"queue.md": other, "jobs.md": text})
    said = [one.rule for one in found.findings if one.rule.startswith("may-")]
    assert said == ["may-contradict"], "of two changed notes, once"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("typing.md", BASE["typing.md"].replace("limitted", "limited")),
        ("jobs.md", f"{BASE['jobs.md']}\nA worker takes one at a time.\n"),
        ("logs.md", "# Logs\n\nLogs are written as JSON.\n"),
    ],
)
def test_what_was_said_before_or_elsewhere_has_none(tmp_path: Path, name: str, text: str) -> None:
    found = reviewed(tmp_path, {name: text}).findings
    assert not [one for one in found if one.rule.startswith("may-")]


def test_two_notes_of_one_title_from_two_sides_of_a_merge_have_a_finding(tmp_path: Path) -> None:
    root = tmp_path
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "first")
    for branch, wait in (("one", "a day"), ("two", "an hour")):
        run_git(root, "checkout", "-q", "-b", branch, "main")
        (root / ".memories").mkdir(exist_ok=True)
        (root / f".memories/retries-{branch}.md").write_text(f"# Retries\n\nUp to {wait}.\n")
        run_git(root, "add", ".")
        run_git(root, "commit", "-q", "-m", branch)
    run_git(root, "merge", "-q", "--no-edit", "one")
    with open_bank(root, settings={"memory.embedder": "none"}) as bank:
        found = [one for one in review(bank, "one..two").findings if one.rule == "same-title"]
    assert [one.message for one in found] == ["has the title of retries-one.md"]
