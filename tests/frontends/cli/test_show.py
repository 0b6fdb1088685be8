from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run, plain_text


def test_a_pipe_gets_the_source(mb: Run, project: Path) -> None:
    text = (project / ".memories/decisions/tantivy.md").read_text(encoding="utf-8")
    for name in ("decisions/tantivy", "decisions/tantivy.md", "tantivy", "Tantivy over Whoosh"):
        assert mb("show", name).out == text
    assert mb("show", "4f1c9be07a52", "--raw").out == text


def test_one_section(mb: Run) -> None:
    answer = mb("show", "tantivy", "--section", "consequences")
    assert answer.out.startswith("## Consequences\n")
    assert answer.out.endswith("[[facts/bm25]]\n")
    found = mb("show", "tantivy", "--section", "Tantivy over Whoosh > Consequences", "--json").json
    assert (found["line"], found["heading"]) == (13, "Tantivy over Whoosh > Consequences")
    missing = mb("show", "tantivy", "--section", "Nope")
    assert missing.code == 1
    assert "Consequences" in missing.err


def test_the_json_has_the_etag(mb: Run) -> None:
    found = mb("show", "tantivy", "--json").json
    assert len(found["etag"]) == 64
    assert found["backlinks_count"] == 0


def test_an_unknown_name_gets_near_ones(mb: Run) -> None:
    answer = mb("show", "tantivi")
    assert answer.code == 1
    assert "decisions/tantivy" in answer.err


def test_tricks_are_written_out_unless_raw(mb: Run, real: Run) -> None:
    mb("remember", "A \x1b[31mtrick\x1b[0m", "--name", "trick")
    assert r"A \x1b[31mtrick" in mb("show", "trick").out
    assert "A \x1b[31mtrick" in real("show", "trick", "--raw").out


@pytest.mark.parametrize("raw", [False, True])
def test_line_ends_and_a_missing_last_one(real: Run, project: Path, *, raw: bool) -> None:
    (project / ".memories/dos.md").write_bytes(b"# Dos\r\n\r\nlast")
    shown = real("show", "dos", *(["--raw"] if raw else []))
    assert shown.out == ("# Dos\n\nlast" if raw else "# Dos\n\nlast\n")  # text mode reads \r\n so


def test_faults_are_told_beside(mb: Run, project: Path) -> None:
    (project / ".memories/odd.md").write_text("---\ntags: [a\n---\n# Odd\n", encoding="utf-8")
    answer = mb("show", "odd")
    assert answer.code == 0
    assert answer.err.startswith("warning: .memories/odd.md:")


def test_a_terminal_gets_it_drawn(terminal: Run, mb: Run) -> None:
    shown = terminal("show", "tantivy").out
    text = plain_text(shown)
    assert text.startswith(".memories/decisions/tantivy.md:1\n")
    assert "decision · #architecture · #search · 2026-01-10 · id 4f1c9be07a52 · 0 backlinks" in text
    assert "created_at" not in text
    assert "##" not in text
    assert plain_text(terminal("show", "tantivy", "--raw").out).startswith("---\n")
    mb("remember", "A \x1b[31mtrick [text](https://evil.example)", "--name", "trick")
    tricky = terminal("show", "trick").out
    assert "\x1b[31mtrick" not in tricky
    assert "\x1b]8" not in tricky
    assert "https://evil.example" in plain_text(tricky)
    assert "\x1b[31mtrick" not in terminal("show", "trick", "--raw").out
