"""Commands on notes, where a table of calls cannot show it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memory_bank.memory.retrieval import recall
from memory_bank.memory.retrieval.answers import Answer
from tests.git.history_builder import commit_all

from .conftest import Run


def test_weaker_matches_are_set_apart(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find = recall.recall

    def judged(*args: Any, weak_from: int = 1, **options: Any) -> Answer:
        found = find(*args, **options)
        notes = [note._replace(weak=rank >= weak_from) for rank, note in enumerate(found.notes)]
        return found._replace(notes=tuple(notes), answered=weak_from > 0)

    query = ("recall", "tantivy whoosh")
    monkeypatch.setattr(recall, "recall", judged)
    good, weaker = mb(*query).out.split("\n\nWeaker matches\n")
    assert good.startswith("1  ")
    assert weaker.startswith("2  ")
    assert "\n\nWeaker matches:\n\n2. [" in mb(*query, "--format", "md").out
    assert [note["weak"] for note in mb(*query, "--json").json["notes"]][:2] == [False, True]
    monkeypatch.setattr(recall, "recall", partial(judged, weak_from=0))
    answer = mb(*query)
    assert answer.out.startswith("Weaker matches\n1  ")
    assert (answer.code, answer.err) == (0, "probably nothing in the bank answers this\n")
    assert mb(*query, "--json").json["answered"] is False


def test_one_of_several_deleted_versions_is_chosen(mb: Run, project: Path) -> None:
    for text in ("# One", "# Two"):
        mb("remember", text, "--name", "ideas/a b")
        mb("rm", "ideas/a b")
    new, old = mb("trash", "list", "ideas/a b", "--json").json["trash"]
    assert (new["first_line"], old["first_line"]) == ("# Two", "# One")
    assert old["path"] == "ideas/a b.md"
    assert old["deleted_at"].startswith("20")
    rows = mb("trash", "list").out.splitlines()
    assert rows == mb("restore").out.splitlines()
    assert [row.rpartition("  ")[2] for row in rows] == ["# Two", "# One"]
    assert rows[1].split()[-3] in old["version"]
    several = mb("restore", "ideas/a b", "--version", "20")
    assert several.code == 3
    assert old["version"] in several.err
    assert mb("restore", "ideas/a b", "--version", "1999").code == 1
    done = mb("restore", "ideas/a b", "--version", old["version"])
    assert done.out == "restored .memories/ideas/a b.md\n"
    assert done.err == "1 other version in the trash: memory-bank trash list 'ideas/a b'\n"
    assert "# One" in (project / ".memories/ideas/a b.md").read_text(encoding="utf-8")
    assert mb("restore", "ideas/a b", "--as", "c").err == ""  # the only one left
    assert mb("restore", "--version", "2").code == 2


def test_stdin_that_is_not_utf8_is_named(mb: Run) -> None:
    answer = mb("remember", stdin=b"Gr\xfc\xdfe")
    assert (answer.code, "not UTF-8" in answer.err) == (2, True)


@pytest.fixture
def notes(project: Path) -> Path:
    return project / ".memories"


def test_fixes_change_only_what_they_mean_to(
    mb: Run, notes: Path, project: Path, git: Callable[..., str]
) -> None:
    odd = "\ufeff---\r\ntags: [ a,b ]  # mine\r\n---\r\na\u200bb \u202ec  \r\n"
    (notes / "odd.md").write_bytes(odd.encode())
    (notes / "one.md").write_text("---\nid: oldest\ncreated_at: 2026-01-01\n---\nThe same.\n")
    (notes / "two.md").write_text("---\nid: newest\ncreated_at: 2026-02-01\n---\nThe same.\n")
    (notes / "from.md").write_text("[[two]] and [[facts/bm25|it]]\n")
    commit_all(project, "Notes")
    git(project, "mv", ".memories/facts/bm25.md", ".memories/facts/ranking.md")
    git(project, "mv", "src/index.py", "src/main.py")
    git(project, "commit", "-qm", "Move")
    answer = mb("lint", "--fix")
    assert answer.code == 0
    assert answer.out.endswith("no findings\n")
    fixed = odd.replace("\u200b", "").replace("\u202e", "")
    assert (notes / "odd.md").read_bytes() == fixed.encode()
    assert not (notes / "two.md").exists()
    assert "id: oldest" in (notes / "one.md").read_text()
    assert (notes / "from.md").read_text() == "[[one]] and [[facts/ranking|it]]\n"
    assert "src/main.py" in (notes / "decisions/tantivy.md").read_text()
