"""`mv`, `rm`, `restore`, `archive` and `merge`."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run, editor


def test_mv_takes_links_along(mb: Run, project: Path) -> None:
    answer = mb("mv", "bm25", "facts/ranking")
    assert answer.code == 0
    assert answer.out == (
        "moved .memories/facts/bm25.md to .memories/facts/ranking.md\n"
        "  links changed in .memories/decisions/tantivy.md\n"
    )
    text = (project / ".memories/decisions/tantivy.md").read_text(encoding="utf-8")
    assert "[[facts/ranking]]" in text
    assert mb("mv", "facts/ranking", "facts/ranking").out.endswith("already has that name\n")
    found = mb("mv", "facts/ranking", "ideas/", "--json").json
    assert (found["path"], found["relinked"]) == ("ideas/ranking.md", ["decisions/tantivy.md"])


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["bm25", "decisions/whoosh"], 3),
        (["nope", "x"], 1),
        (["bm25", "../x"], 2),
        (["bm25"], 2),
    ],
)
def test_mv_refuses(mb: Run, args: list[str], code: int) -> None:
    assert mb("mv", *args).code == code


def test_rm_and_restore(mb: Run, project: Path) -> None:
    file = project / ".memories/facts/bm25.md"
    answer = mb("rm", "bm25")
    assert answer.code == 0
    assert answer.out == (
        "deleted .memories/facts/bm25.md\n  to undo: memory-bank restore facts/bm25\n"
    )
    assert not file.exists()
    assert mb("recall", "damps", "--mode", "lexical").code == 1
    listed = mb("restore")
    assert listed.code == 0
    assert listed.out.startswith("facts/bm25  20")
    assert mb("restore", "--json").json["trash"][0]["path"] == "facts/bm25.md"
    assert mb("restore", "facts/bm25").out == "restored .memories/facts/bm25.md\n"
    assert file.exists()
    assert mb("recall", "damps", "--mode", "lexical").code == 0


def test_restore_under_another_name(mb: Run) -> None:
    mb("rm", "bm25")
    mb("remember", "in its place", "--name", "facts/bm25")
    assert mb("restore", "facts/bm25").code == 3
    assert mb("restore", "facts/bm25", "--as", "facts/old", "--json").json == {
        "path": "facts/old.md"
    }
    assert mb("restore", "--as", "x").code == 2


def test_an_empty_trash_is_nothing_found(mb: Run) -> None:
    answer = mb("restore")
    assert (answer.code, answer.out, answer.err) == (1, "", "the trash is empty\n")
    assert mb("restore", "nope").code == 1
    assert mb("restore", "--json").json == {"result_count": 0, "trash": []}


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


def test_the_trash_is_emptied_after_a_question(
    mb: Run, terminal: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mb("trash", "empty").err == "the trash is empty\n"
    mb("rm", "bm25", "whoosh")
    assert mb("trash", "empty").code == 2  # nobody to ask
    assert mb("trash", "empty", "--older-than", "soon").code == 2
    assert mb("trash", "empty", "--older-than", "1d", "--yes").err == (
        "nothing in the trash is that old\n"
    )
    answer = terminal("trash", "empty", keys="n\n")
    assert "Delete 2 notes for good" in answer.out
    assert "nothing was deleted" in answer.out
    assert len(mb("trash", "list").out.splitlines()) == 2
    gone = mb("trash", "empty", "--yes", "--json").json
    assert (gone["result_count"], len(gone["emptied"])) == (2, 2)
    assert mb("trash", "list").code == 1
    assert mb("trash", "list", "bm25").err == "there is no 'bm25' in the trash\n"


def test_rm_deletes_all_or_none(mb: Run, project: Path) -> None:
    assert mb("rm", "bm25", "nope").code == 1
    assert (project / ".memories/facts/bm25.md").exists()
    assert mb("rm", "bm25", "whoosh", "--if-match", "x").code == 2
    assert mb("rm", "bm25", "--if-match", "x").code == 3
    found = mb("rm", "bm25", "whoosh", "facts/bm25", "--json").json["deleted"]
    assert [trashed["path"] for trashed in found] == ["facts/bm25.md", "decisions/whoosh.md"]


def test_archive_and_back(mb: Run, project: Path) -> None:
    files = [project / ".memories" / path for path in ("facts/bm25.md", "decisions/whoosh.md")]
    before = [file.read_bytes() for file in files]
    answer = mb("archive", "bm25", "whoosh")
    assert answer.out == (
        "archived .memories/facts/bm25.md\narchived .memories/decisions/whoosh.md\n"
    )
    text = (project / ".memories/decisions/whoosh.md").read_text(encoding="utf-8")
    assert "status: archived\n" in text
    found = mb("archive", "--undo", "bm25", "--json").json
    assert (found["status"], found["notes"][0]["changed"]) == ("active", True)
    assert "bm25" in mb("notes").out
    assert mb("archive", "--undo", "bm25", "whoosh").out.startswith("unchanged ")
    assert [file.read_bytes() for file in files] == before
    assert mb("archive", "bm25", "nope").code == 1


def test_merge(mb: Run, project: Path) -> None:
    answer = mb(
        "merge", "bm25", "whoosh", "--into", "facts/all", "--text", "# All", "--tags", "extra"
    )
    assert answer.code == 0
    assert "merged .memories/facts/bm25.md\nmerged .memories/decisions/whoosh.md\n" in answer.out
    assert "into .memories/facts/all.md (id " in answer.out
    assert "links changed in .memories/decisions/tantivy.md" in answer.out
    text = (project / ".memories/facts/all.md").read_text(encoding="utf-8")
    assert "tags: [search, extra]" in text
    assert not (project / ".memories/facts/bm25.md").exists()


def test_merge_reads_a_pipe_and_refuses(mb: Run) -> None:
    assert mb("merge", "bm25", "whoosh", "--into", "all", stdin="# Piped").code == 0
    assert mb("merge", "all", "--into", "all2").code == 2  # no text
    assert mb("merge", "all", "--text", "x").code == 2  # no target
    assert mb("merge", "nope", "--into", "x", "--text", "y").code == 1
    assert mb("merge", "all", "--into", "decisions/tantivy", "--text", "y").code == 3


def test_merge_in_an_editor_starts_with_all_texts(
    terminal: Run, project: Path, tmp_path: Path
) -> None:
    body = "assert 'damps' in text and 'pure Python' in text\npath.write_text('# Joined\\n')"
    answer = terminal(
        "merge", "bm25", "whoosh", "--into", "one", env={"EDITOR": editor(tmp_path, body)}
    )
    assert answer.code == 0, answer.out
    assert "# Joined" in (project / ".memories/one.md").read_text(encoding="utf-8")
