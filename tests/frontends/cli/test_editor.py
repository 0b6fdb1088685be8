"""Commands that open an editor: what is written, kept, refused."""

import json
import random
import stat
import string
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.git.history_builder import commit_all

from .conftest import Run, editor, plain_text


def test_an_unknown_note_is_told_before_an_editor_opens(terminal: Run, tmp_path: Path) -> None:
    answer = terminal("append", "nope", env={"EDITOR": editor(tmp_path, "path.write_text('x')")})
    assert (answer.code, "there is no note" in answer.out) == (1, True)


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


def test_merge_in_an_editor_starts_with_all_texts(
    terminal: Run, project: Path, tmp_path: Path
) -> None:
    body = "assert 'damps' in text and 'pure Python' in text\npath.write_text('# Joined\\n')"
    answer = terminal(
        "merge", "bm25", "whoosh", "--into", "one", env={"EDITOR": editor(tmp_path, body)}
    )
    assert answer.code == 0, answer.out
    assert "# Joined" in (project / ".memories/one.md").read_text(encoding="utf-8")


def test_merge_in_an_editor_keeps_what_the_texts_link_to(
    terminal: Run, project: Path, tmp_path: Path
) -> None:
    notes = project / ".memories"
    (notes / "b").mkdir()
    (notes / "a.md").write_text(
        "---\nid: a1\n---\n# A\n\n![p](p.png) [x](b/sib.md) [b](b/beta.md)\n"
    )
    (notes / "b/beta.md").write_text(
        "# B\n\n[x](sib.md#s) [[./sib]] [[sib]] [c](../../c.py) [[a]]\n"
    )
    (notes / "b/sib.md").write_text("# S\n")
    saves = editor(tmp_path, "path.write_text(text + '\\n')")
    answer = terminal("merge", "a", "b/beta", "--into", "c/d/both", env={"EDITOR": saves})
    assert answer.code == 0, answer.out
    text = (notes / "c/d/both.md").read_text()
    assert "![p](../../p.png) [x](../../b/sib.md) [b](both.md)" in text
    assert "[x](../../b/sib.md#s) [[../../b/sib]] [[sib]] [c](../../../c.py) [[both]]" in text


def test_on_a_terminal_an_editor_opens(terminal: Run, project: Path, tmp_path: Path) -> None:
    writes = editor(tmp_path, "path.write_text('# From my editor\\n')")
    answer = terminal("remember", env={"VISUAL": writes})
    assert answer.code == 0, answer.out
    assert "# From my editor" in (project / ".memories/facts/from-my-editor.md").read_text()


def test_an_editor_that_writes_nothing_makes_no_note(terminal: Run, tmp_path: Path) -> None:
    answer = terminal("remember", env={"VISUAL": editor(tmp_path, "")})
    assert answer.code == 2
    assert "aborted: the text is empty" in answer.out


def test_an_editor_that_fails_is_told(terminal: Run, tmp_path: Path) -> None:
    answer = terminal("remember", env={"EDITOR": editor(tmp_path, "sys.exit(1)")})
    assert answer.code == 3
    assert "Editing failed" in answer.out
    answer = terminal("remember", env={"EDITOR": str(tmp_path / "no-such-editor")})
    assert answer.code == 3


SECRET = "gh" + "p_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))


@pytest.mark.parametrize(
    "words", [("edit", "bm25"), ("update", "bm25"), ("append", "bm25"), ("remember",)]
)
def test_an_edited_text_is_kept_where_only_its_author_can_read_it(
    words: tuple[str, ...], terminal: Run, tmp_path: Path, project: Path
) -> None:
    script = editor(tmp_path, f"path.write_text('password: ' + {SECRET!r})")
    answer = terminal(*words, env={"EDITOR": script, "TMPDIR": str(tmp_path)})
    assert answer.code == 2
    assert "GitHub token" in answer.out + answer.err
    kept = next(file for file in tmp_path.glob("memory-bank-*/*") if SECRET in file.read_text())
    assert kept.name in answer.out + answer.err
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    below = (project / ".memories").rglob("*")
    assert not any(SECRET.encode() in file.read_bytes() for file in below if file.is_file())


def test_on_a_terminal_the_present_text_is_edited(
    terminal: Run, project: Path, tmp_path: Path
) -> None:
    body = "path.write_text(text.replace('pure Python', 'pure joy'))"
    answer = terminal("update", "whoosh", env={"EDITOR": editor(tmp_path, body)})
    assert answer.code == 0, answer.out
    text = (project / ".memories/decisions/whoosh.md").read_text(encoding="utf-8")
    assert "Whoosh is pure joy" in text
    assert text.startswith("---\ntype: decision\n")


@pytest.fixture
def included(project: Path) -> Path:
    (project / "docs/adr").mkdir(parents=True)
    (project / "docs/adr/0001.md").write_text("# Postgres\n\n[[bm25]] kestrel\n")
    (project / "CLAUDE.md").write_text("# Guide\n\nosprey\n")
    settings = '[memory]\ninclude = ["docs/adr", "CLAUDE.md", "no"]\n'
    (project / ".memories/config.toml").write_text(settings)
    commit_all(project, "Include")
    return project


def test_a_change_is_refused_before_an_editor_opens(
    included: Path, terminal: Run, tmp_path: Path
) -> None:
    started = {"EDITOR": editor(tmp_path, f"pathlib.Path({str(tmp_path / 'ran')!r}).touch()")}
    for words in (("edit", "CLAUDE"), ("update", "CLAUDE"), ("append", "CLAUDE")):
        assert terminal(*words, env=started).code == 3
    assert not (tmp_path / "ran").exists()
