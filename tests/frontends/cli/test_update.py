from __future__ import annotations

from pathlib import Path

from .conftest import Run, editor


def test_the_text_is_replaced_and_the_front_matter_stays(mb: Run, project: Path) -> None:
    file = project / ".memories/decisions/whoosh.md"
    answer = mb("update", "whoosh", "# New\n")
    assert (answer.code, answer.out) == (0, "changed .memories/decisions/whoosh.md\n")
    assert file.read_text(encoding="utf-8") == (
        "---\ntype: decision\ntags: [search]\ncreated_at: 2025-06-01\n---\n# New\n"
    )
    assert mb("update", "whoosh", "# New\n").out == "unchanged .memories/decisions/whoosh.md\n"


def test_from_a_pipe_and_refused(mb: Run) -> None:
    assert mb("update", "whoosh", stdin="# Piped\n").code == 0
    assert "# Piped" in mb("show", "whoosh").out
    assert mb("update", "whoosh", "").code == 2
    assert mb("update", "whoosh", "x", "--if-match", "other").code == 3
    assert mb("update", "nope", "x").code == 1


def test_on_a_terminal_the_present_text_is_edited(
    terminal: Run, project: Path, tmp_path: Path
) -> None:
    body = "path.write_text(text.replace('pure Python', 'pure joy'))"
    answer = terminal("update", "whoosh", env={"EDITOR": editor(tmp_path, body)})
    assert answer.code == 0, answer.out
    text = (project / ".memories/decisions/whoosh.md").read_text(encoding="utf-8")
    assert "Whoosh is pure joy" in text
    assert text.startswith("---\ntype: decision\n")
