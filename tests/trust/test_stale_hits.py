"""Recall marks hits whose cited code changed, and ranks them lower, at little cost."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import StorageFailed
from memory_bank.git import history, process
from memory_bank.git.repository import repository_cache
from memory_bank.memory.retrieval import recall, recall_bank
from memory_bank.memory.retrieval.answers import Answer
from memory_bank.memory.show import show, show_section
from memory_bank.search import candidates
from memory_bank.trust import stale_cache
from memory_bank.trust.comparison import CodeComparison
from tests.git.history_builder import Made, commit_all, extend, make, run

CODE = "def retry(job):\n    return job.run(3)\n\n\ndef stop(job):\n    return job.end()\n"
CHANGED = CODE.replace("3", "4")
NOTES = {
    ".memories/a.md": "---\ncreated_at: 2020-01-01\n---\n# Walrus\n\nA walrus is tried often by `run(3)`, see [[jobs.py#retry]].\n\n## Ends\n\nA narwhal ends at once by `end`: [[jobs.py#stop]].\n",
    ".memories/b.md": "---\ncreated_at: 2020-01-01\n---\n# Walrus\n\nA walrus is tried often, see [[jobs.py#stop]] too.\n",
    ".memories/c.md": "---\nfile_refs: [other.py]\n---\n# Dugong\n\nA dugong has front matter.\n",
}
COMMANDS = {"rev-parse", "rev-list", "cat-file", "log", "diff-tree", "merge-base", "config", "grep"}
FIRST = Made({"jobs.py": CODE, "other.py": "A = 1\n", "README": "x", **NOTES})


@pytest.fixture
def root(homes: Iterator[Path]) -> Path:
    return make(next(homes), [FIRST])


def recalled(root: Path, query: str, **settings: object) -> Answer:
    chosen = {"memory.embedder": "none", "search.limit": 5, **settings}
    with open_bank(root / ".memories", settings=chosen) as bank:
        return recall.recall(bank, query, count_access=False)


def stale(root: Path, query: str, **settings: object) -> dict[str, str]:
    return {note.path: note.stale for note in recalled(root, query, **settings).notes}


def test_a_hit_whose_code_changed_says_so_and_since_when(root: Path) -> None:
    assert set(stale(root, "walrus").values()) == {""}
    extend(root, [Made({"jobs.py": CHANGED})], 1)
    found = stale(root, "walrus")
    assert found["a.md"].startswith("jobs.py#retry changed since 20")
    assert found["b.md"] == ""
    extend(root, [Made({}, removed=["other.py"])], 2)
    assert stale(root, "dugong")["c.md"].startswith("other.py is gone since ")
    extend(root, [Made({"other.py": "A = 1\n"})], 3)
    assert stale(root, "dugong")["c.md"] == ""


def test_each_line_that_is_shown_counts_not_only_the_section_that_was_hit(root: Path) -> None:
    orca = " ".join(f"An orca of pod {number} ends at once by `end`." for number in range(40))
    text = f"# Seals\n\nA seal is tried by `run(3)`, see [[jobs.py#retry]].\n\n## Ends\n\n{orca}\n"
    extend(root, [Made({".memories/d.md": text})], 1)
    extend(root, [Made({"jobs.py": CHANGED})], 2)
    (beside, *_) = recalled(root, "narwhal").notes
    assert (beside.heading, "run(3)" in beside.snippet) == ("Walrus > Ends", True)
    assert beside.stale.startswith("jobs.py#retry changed")
    with open_bank(root / ".memories", settings={"memory.embedder": "none"}) as bank:
        for detail, is_stale in (("section", False), ("note", True)):
            note = recall.recall(bank, "orca pod ends", detail=detail, count_access=False).notes[0]
            assert ("run(3)" in note.snippet, bool(note.stale)) == (False, is_stale)


def test_it_ranks_lower_and_says_why(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extend(root, [Made({"jobs.py": CHANGED})], 1)
    query = "walrus tried often run retry"

    def paths(weight: float) -> list[str]:
        with monkeypatch.context() as patched:
            patched.setattr(candidates, "STALE_WEIGHT", weight)
            return [note.path for note in recalled(root, query).notes]

    assert paths(1)[0] == "a.md"
    assert paths(0.2)[0] == "b.md"
    notes = {note.path: note for note in recalled(root, query).notes}
    (why,) = [reason for reason in notes["a.md"].reasons if reason.source == "stale"]
    assert why.score == 0.9
    assert "jobs.py#retry" in why.detail


def test_moved_code_is_not_stale(root: Path) -> None:
    extend(root, [Made(renames=[("jobs.py", "lib/jobs.py")])], 1)
    assert set(stale(root, "walrus").values()) == {""}
    extend(root, [Made({"lib/jobs.py": CHANGED})], 2)
    assert stale(root, "walrus")["a.md"].startswith("jobs.py#retry changed since ")


def test_an_edited_and_a_confirmed_note_are_fresh_at_once(root: Path) -> None:
    extend(root, [Made({"jobs.py": CHANGED})], 1)
    assert stale(root, "walrus")["a.md"]
    note = root / ".memories/a.md"
    before = note.read_text()
    note.write_text(before.replace("often", "four times"))
    assert not stale(root, "walrus")["a.md"]
    head = run(root, "rev-parse", "HEAD").strip()
    note.write_text(before.replace("---\n# W", f"verified_commit: {head}\n---\n# W"))
    assert not stale(root, "walrus")["a.md"]
    note.write_text(before)
    assert stale(root, "walrus")["a.md"]


@pytest.mark.parametrize("changed", [True, False])
def test_an_unchanged_head_costs_no_call_of_git(
    root: Path, git_commands: list[tuple[str, ...]], changed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if changed:
        extend(root, [Made({"jobs.py": CHANGED})], 1)
    time.sleep(0.15)  # git is asked as long as its files are so young that they may change unseen
    counted = []
    for marks in (True, False):
        if not marks:
            monkeypatch.setattr(recall_bank, "open_stale_hits", lambda *_: None)
        with open_bank(root / ".memories", settings={"memory.embedder": "none"}) as bank:
            for _ in range(3):
                git_commands.clear()
                found = recall.recall(bank, "walrus")
            assert any(note.stale for note in found.notes) == (changed and marks)
            counted.append([[word for word in words if word in COMMANDS] for words in git_commands])
    assert counted[0] == counted[1]


def test_a_commit_of_other_files_compares_nothing_again(
    root: Path, git_commands: list[tuple[str, ...]]
) -> None:
    extend(root, [Made({"jobs.py": CHANGED})], 1)
    stale(root, "walrus")
    extend(root, [Made({"README": "y"})], 2)
    git_commands.clear()
    assert stale(root, "walrus")["a.md"]
    assert any("log" in words for words in git_commands)
    assert not any("cat-file" in words for words in git_commands)


def test_a_file_that_is_not_there_is_looked_for_only_where_its_name_comes(
    root: Path, git_commands: list[tuple[str, ...]]
) -> None:
    note = "# Manatee\n\nA manatee reads [[lib/queue.py#take]], which is not written yet.\n"
    extend(root, [Made({".memories/d.md": note})], 1)
    assert not stale(root, "manatee")[".memories/d.md".removeprefix(".memories/")]
    extend(root, [Made({"README": "y"})], 2)
    git_commands.clear()
    stale(root, "manatee")
    assert not any("cat-file" in words for words in git_commands)
    extend(root, [Made({"src/lib/queue.py": "def take(job):\n    return job\n"})], 3)
    git_commands.clear()
    stale(root, "manatee")
    assert any("cat-file" in words for words in git_commands)


def test_another_branch_is_compared_again(root: Path) -> None:
    extend(root, [Made({"jobs.py": CHANGED})], 1)
    assert stale(root, "walrus")["a.md"]
    run(root, "checkout", "-q", "--detach", "HEAD~1")
    assert not stale(root, "walrus")["a.md"]
    run(root, "pack-refs", "--all")
    run(root, "checkout", "-q", "main")
    assert stale(root, "walrus")["a.md"]


def test_conditions_alone_are_marked_too(root: Path) -> None:
    extend(root, [Made({"jobs.py": CHANGED})], 1)
    assert stale(root, "since:2019")["a.md"]


def test_a_damaged_cache_is_made_again(root: Path) -> None:
    extend(root, [Made({"jobs.py": CHANGED})], 1)
    stale(root, "walrus")
    (repository_cache(root) / "history.db").write_bytes(b"nothing")
    assert stale(root, "walrus")["a.md"]


def test_a_history_that_takes_too_long_is_asked_for_once_for_each_commit(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extend(root, [Made({"jobs.py": CHANGED})], 1)
    asked: list[object] = []

    def slow(output: object) -> Iterator[object]:
        asked.append(output)
        raise process.GitFailed

    with monkeypatch.context() as patched:
        patched.setattr(history, "yield_commits", slow)
        assert not stale(root, "walrus")["a.md"]
        tries = len(asked)
        assert not stale(root, "walrus")["a.md"]
    assert len(asked) == tries > 0
    extend(root, [Made({"README": "z"})], 2)
    assert stale(root, "walrus")["a.md"]


def test_after_git_was_late_nobody_waits_for_it_for_a_while(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object, **__: object) -> None:
        raise StorageFailed("git can't say in time", "try again")

    extend(root, [Made({"jobs.py": CHANGED})], 1)
    with monkeypatch.context() as patched:
        patched.setattr(CodeComparison, "compare_citations", late)
        assert not stale(root, "walrus")["a.md"]
    assert not stale(root, "walrus")["a.md"]
    monkeypatch.setattr(stale_cache, "_AGAIN", 0.0)
    assert stale(root, "walrus")["a.md"]


def test_outside_git_nothing_is_marked_or_asked(
    homes: Iterator[Path], git_commands: list[tuple[str, ...]]
) -> None:
    place = next(homes) / ".memories"
    place.mkdir(parents=True)
    (place / "a.md").write_text(NOTES[".memories/a.md"])
    assert stale(place.parent, "walrus") == {"a.md": ""}
    assert not git_commands


def test_a_cited_file_that_changed_elsewhere_gives_no_mark_but_stands_on_the_notes_page(
    root: Path,
) -> None:
    (root / ".memories/d.md").write_text(
        "---\ncreated_at: 2020-01-01\nfile_refs: [jobs.py]\n---\n# Manatee\n\n`retry`\n"
    )
    commit_all(root, "note")
    recalled(root, "manatee")
    (before,) = recalled(root, "manatee").notes
    (root / "jobs.py").write_text(CODE.replace("job.end()", "job.halt()"))
    run(root, "commit", "-qam", "Halt")
    (after,) = recalled(root, "manatee").notes
    assert (after.stale, after.relevance_score) == ("", before.relevance_score)
    with open_bank(root / ".memories", settings={"memory.embedder": "none"}) as bank:
        shown = show(bank, "d")
        assert shown.stale == ""
        assert [one.split(" since")[0] for one in shown.touched] == ["jobs.py changed"]
        assert show(bank, "a").stale.startswith("jobs.py#stop changed")
        assert show_section(bank, "a", "Ends").stale == show(bank, "a").stale
        assert show_section(bank, "a", "Walrus").stale == "", "it cites something else"
    (root / "jobs.py").write_text(CODE.replace("retry(job)", "retry(job, tries)"))
    run(root, "commit", "-qam", "Tries")
    (marked,) = recalled(root, "manatee").notes
    assert marked.stale.startswith("jobs.py changed since")
    assert marked.stale.endswith(": retry")
    with open_bank(root / ".memories", settings={"memory.embedder": "none"}) as bank:
        shown = show(bank, "d")
        assert (shown.stale, shown.touched) == (marked.stale, ())
