from __future__ import annotations

from pathlib import Path

from .conftest import Run, editor


def test_a_paragraph_is_added(mb: Run, project: Path) -> None:
    file = project / ".memories/facts/bm25.md"
    before = file.read_text(encoding="utf-8")
    answer = mb("append", "bm25", "Okapi is its system.")
    assert (answer.code, answer.out) == (0, "changed .memories/facts/bm25.md\n")
    assert file.read_text(encoding="utf-8") == f"{before}\nOkapi is its system.\n"
    assert mb("append", "bm25", stdin="From a pipe.").code == 0
    assert file.read_text(encoding="utf-8").endswith("\n\nFrom a pipe.\n")


def test_another_version_is_a_conflict(mb: Run) -> None:
    etag = mb("show", "bm25", "--json").json["etag"]
    first = mb("append", "bm25", "one", "--if-match", etag, "--json").json
    assert (first["path"], first["changed"]) == ("facts/bm25.md", True)
    answer = mb("append", "bm25", "two", "--if-match", etag, "--json")
    assert (answer.code, answer.error["code"]) == (3, "conflict")
    assert mb("append", "bm25", "two", "--if-match", first["etag"]).code == 0


def test_nothing_to_add_is_wrong_use(mb: Run) -> None:
    assert mb("append", "bm25", " ").code == 2
    assert mb("append", "bm25", "-").code == 2


def test_an_unknown_note_is_told_before_an_editor_opens(terminal: Run, tmp_path: Path) -> None:
    answer = terminal("append", "nope", env={"EDITOR": editor(tmp_path, "path.write_text('x')")})
    assert (answer.code, "there is no note" in answer.out) == (1, True)
