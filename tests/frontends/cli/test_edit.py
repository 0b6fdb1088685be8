from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Run, editor, plain_text


def test_one_text_is_replaced(mb: Run, project: Path) -> None:
    answer = mb("edit", "bm25", "--old", "rarity", "--new", "rareness")
    assert (answer.code, answer.out) == (0, "changed .memories/facts/bm25.md\n")
    text = (project / ".memories/facts/bm25.md").read_text(encoding="utf-8")
    assert text == "# BM25\n\nBM25 scores a word by its rareness and damps long documents.\n"


def test_how_often_it_is_there_must_be_right(mb: Run) -> None:
    assert mb("edit", "bm25", "--old", "BM25", "--new", "x").code == 3
    assert mb("edit", "bm25", "--old", "BM25", "--new", "x", "--count", "2").code == 0
    assert mb("edit", "bm25", "--old", "s", "--new", "", "--count", "0").code == 0
    assert mb("edit", "bm25", "--old", "absent", "--new", "x").code == 1


def test_one_section_is_replaced(mb: Run, project: Path) -> None:
    answer = mb("edit", "tantivy", "--section", "Consequences", "--new", "-", stdin="- none\n")
    assert answer.code == 0
    text = (project / ".memories/decisions/tantivy.md").read_text(encoding="utf-8")
    assert re.search(r"## Consequences\n\n- none\n$", text)
    assert mb("edit", "tantivy", "--section", "Nope", "--new", "x").code == 1


@pytest.mark.parametrize(
    "args",
    [
        ["--old", "a", "--section", "b", "--new", "c"],
        ["--old", "a"],
        ["--section", "a"],
        ["--new", "a"],
        ["--section", "a", "--new", "b", "--count", "2"],
        ["--old", "a", "--new", "b", "--count", "-1"],
        ["--count", "2"],
        [],
    ],
)
def test_options_that_do_not_go_together(mb: Run, args: list[str]) -> None:
    answer = mb("edit", "bm25", *args)
    assert (answer.code, answer.out) == (2, "")


def test_an_editor_gets_the_whole_file_byte_for_byte(
    terminal: Run, project: Path, tmp_path: Path
) -> None:
    file = project / ".memories/dos.md"
    file.write_bytes(b"---\r\n# a comment\r\ntype: fact\r\n---\r\n\r\n# Dos\r\n\r\nold\r\n\r\n\r\n")
    before = file.read_bytes()
    assert "unchanged" in terminal("edit", "dos", env={"EDITOR": editor(tmp_path, "")}).out
    assert file.read_bytes() == before
    body = "path.write_bytes(text.replace('old', 'new').encode())"
    answer = terminal("edit", "dos", env={"EDITOR": editor(tmp_path, body)})
    assert answer.code == 0, answer.out
    assert file.read_bytes() == before.replace(b"old", b"new")


def test_the_editor_sees_the_notes_name(terminal: Run, tmp_path: Path) -> None:
    body = "(path.parent.parent / 'seen').write_text(path.name)"
    script = editor(tmp_path, body)
    terminal("edit", "bm25", env={"EDITOR": script, "TMPDIR": str(tmp_path)})
    assert (tmp_path / "seen").read_text() == "bm25.md"
    assert list(tmp_path.glob("memory-bank-*")) == []


def test_a_conflict_keeps_what_the_user_wrote(terminal: Run, project: Path, tmp_path: Path) -> None:
    note = project / ".memories/facts/bm25.md"
    body = (
        "path.write_text(text + 'mine\\n')\n"
        f"other = pathlib.Path({str(note)!r})\n"
        "other.write_text(other.read_text() + 'theirs\\n')"
    )
    answer = terminal(
        "edit", "bm25", "--json", env={"EDITOR": editor(tmp_path, body), "TMPDIR": str(tmp_path)}
    )
    assert answer.code == 3
    assert note.read_text(encoding="utf-8").endswith("theirs\n")
    (kept,) = tmp_path.glob("memory-bank-*/bm25.md")
    assert kept.read_text(encoding="utf-8").endswith("mine\n")
    assert json.loads(plain_text(answer.out))["error"] == {
        "code": "conflict",
        "message": ".memories/facts/bm25.md changed while it was open in your editor: nothing was"
        " overwritten",
        "hint": f"your text is kept in {kept}; compare it with the note, then edit the note again",
    }


def test_an_empty_text_in_the_editor_aborts(terminal: Run, project: Path, tmp_path: Path) -> None:
    note = project / ".memories/facts/bm25.md"
    before = note.read_bytes()
    env = {"EDITOR": editor(tmp_path, "path.write_text(' \\n')"), "TMPDIR": str(tmp_path)}
    answer = terminal("edit", "bm25", env=env)
    assert answer.code == 2
    assert plain_text(answer.out) == ("error: aborted: the text is empty, so nothing was written\n")
    assert note.read_bytes() == before
    assert list(tmp_path.glob("memory-bank-*")) == []


def test_a_merge_conflict_is_resolved_in_an_editor_and_nothing_half_resolved_is_written(
    terminal: Run, conflict: Callable[..., Path], tmp_path: Path
) -> None:
    note = conflict("# Port\n\n8081\n", "# Port\n\n8082\n", base="# Port\n\n8080\n")
    before = note.read_text()
    half = "path.write_text(text.replace('<<<<<<< HEAD\\n', ''))"
    env = {"EDITOR": editor(tmp_path, half), "TMPDIR": str(tmp_path)}
    answer = terminal("edit", "facts/port", env=env)
    assert answer.code == 3
    assert note.read_text() == before
    (kept,) = tmp_path.glob("memory-bank-*/port.md")
    shown = " ".join(plain_text(answer.out).split())
    assert "facts/port.md has an unresolved merge conflict (line 4)" in shown
    assert "your text is kept in" in shown
    assert kept.read_text() == before.replace("<<<<<<< HEAD\n", "")
    whole = "path.write_text('# Port\\n\\n8082\\n')"
    assert terminal("edit", "facts/port", env={"EDITOR": editor(tmp_path, whole)}).code == 0
    assert note.read_text() == "# Port\n\n8082\n"


def test_a_file_that_can_not_be_written_is_told_before_the_editor_opens(
    terminal: Run, project: Path, tmp_path: Path
) -> None:
    (project / ".memories/wide.md").write_bytes("# Wide\n".encode("utf-16"))
    script = editor(tmp_path, "path.write_text('touched')")
    answer = terminal("edit", "wide", env={"EDITOR": script, "TMPDIR": str(tmp_path)})
    assert answer.code == 3
    assert "your text is kept" not in answer.out
