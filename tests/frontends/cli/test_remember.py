from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run, editor, plain_text


def test_a_text_becomes_a_note(mb: Run, project: Path) -> None:
    answer = mb(
        "remember", "# Retries need jitter", "--tags", "HTTP, lesson", "--tags", "net",
        "--type", "bugfix", "--symbol-ref", "retry", "--entity", "person:sarah",
    )  # fmt: skip
    assert answer.code == 0
    assert answer.out.startswith("created .memories/bugfixes/retries-need-jitter.md (id ")
    text = (project / ".memories/bugfixes/retries-need-jitter.md").read_text(encoding="utf-8")
    assert "tags: [http, lesson, net]" in text
    assert "symbol_refs: [retry]" in text
    assert "{kind: person, id: sarah}" in text
    assert "source_type: manual" in text


@pytest.mark.parametrize("source", ["manual", "agent", "session", "import"])
def test_a_source_can_be_named(mb: Run, source: str) -> None:
    done = mb("remember", "Water boils.", "--source", source, "--json").json
    assert done["source_type"] == source
    assert mb("show", done["path"], "--json").json["source_type"] == source


def test_an_entity_has_a_kind_and_an_id(mb: Run) -> None:
    path = mb("remember", "Sarah knows.", "--entity", "person:sarah", "--json").json["path"]
    (note,) = mb("recall", "Sarah knows", "--limit", "1", "--json").json["notes"]
    assert note["entity_refs"] == [{"kind": "person", "id": "sarah"}]
    assert mb("show", path, "--json").json["entity_refs"] == note["entity_refs"]


def test_the_same_text_again_updates_the_note(mb: Run) -> None:
    first = mb("remember", "Water boils at 100 °C", "--tags", "a", "--json").json
    assert (first["schema_version"], first["action"]) == ("1.0", "created")
    assert first["source_type"] == "manual"
    second = mb("remember", "Water boils at 100 °C", "--tags", "b", "--json").json
    assert second["action"] == "updated_existing"
    assert second["tags"] == ["a", "b"]
    assert second["note_id"] == first["note_id"]
    assert mb("remember", "Water boils at 100 °C").out.startswith("updated ")


@pytest.mark.parametrize("args", [[], ["-"]])
def test_a_pipe_is_read(mb: Run, args: list[str]) -> None:
    path = mb("remember", *args, "--json", stdin="Piped  text\n").json["path"]
    assert "Piped  text" in mb("show", path).out


def test_a_text_on_the_command_line_leaves_stdin_alone(mb: Run) -> None:
    assert (
        "not me" not in mb("show", mb("remember", "me", "--json", stdin="not me").json["path"]).out
    )


def test_file_refs_are_named_as_the_project_does(
    mb: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "src")
    path = mb(
        "remember", "About the index", "--file-ref", "index.py", "--file-ref", "gone.py", "--json"
    ).json["path"]
    assert "file_refs: [src/index.py, gone.py]" in mb("show", path).out


def test_a_file_ref_names_the_file_and_no_note_that_is_called_like_it(
    mb: Run, project: Path
) -> None:
    (project / "Makefile").write_text("all:\n")
    (project / ".memories/makefile.md").write_text("# How we make\n")
    refs = ("Makefile", ".memories/makefile.md", "facts/bm25")
    given = [word for ref in refs for word in ("--file-ref", ref)]
    path = mb("remember", "Build with make", *given, "--json").json["path"]
    written = "file_refs: [Makefile, .memories/makefile.md, .memories/facts/bm25.md]"
    assert written in mb("show", path).out
    shown = {name: mb("links", name).out for name in ("Makefile", "makefile")}
    assert shown["Makefile"].startswith("1 link to ghost:Makefile\n")
    assert shown["makefile"].startswith("1 link to makefile.md\n")


@pytest.mark.parametrize(
    ("args", "stdin"),
    [
        ([""], ""),
        (["  \n"], ""),
        ([], ""),
        (["-"], " \n"),
        (["x", "--tags", ""], ""),
        (["x", "--tags", "a,,b"], ""),
        (["x", "--entity", "sarah"], ""),
        (["x", "--entity", ":sarah"], ""),
        (["x", "--name", "../out"], ""),
        (["x", "--name", "/etc/passwd"], ""),
        (["x", "y"], ""),
    ],
)
def test_what_can_not_be_used_is_refused(
    mb: Run, project: Path, args: list[str], stdin: str
) -> None:
    before = sorted(project.rglob("*.md"))
    answer = mb("remember", *args, stdin=stdin)
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert sorted(project.rglob("*.md")) == before


def test_empty_content_says_so(mb: Run) -> None:
    assert mb("remember", "", "--json").error["message"] == "content must not be empty"


def test_stdin_that_is_not_utf8_is_named(mb: Run) -> None:
    answer = mb("remember", stdin=b"Gr\xfc\xdfe")
    assert (answer.code, "not UTF-8" in answer.err) == (2, True)


def test_a_note_that_says_nearly_the_same_is_named(mb: Run) -> None:
    text = "BM25 scores a word by its rarity, and damps long documents."
    answer = mb("remember", text, "--name", "facts/again")
    assert answer.out.endswith("\n  similar: .memories/facts/bm25.md\n")
    again = mb("remember", f"{text} Or so.", "--json").json
    assert (again["action"], again["similar_to"]) == ("created", "facts/again.md")


def test_a_taken_name_is_refused(mb: Run) -> None:
    assert mb("remember", "x", "--name", "facts/bm25").code == 3


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


@pytest.mark.parametrize(("keys", "relation"), [("y\n", "supersedes"), ("n\n", "related_to")])
def test_a_terminal_asks_whether_an_older_note_is_replaced(
    terminal: Run, project: Path, keys: str, relation: str
) -> None:
    old = "Access logs are kept for thirty days, then the nightly job deletes them."
    new = "Legal decided: access logs are no longer kept for thirty days, the job deletes them weekly."
    folder = project / ".memories"
    (folder / "old.md").write_text(f"---\ncreated_at: 2026-01-05\n---\n{old}\n", encoding="utf-8")
    answer = terminal("remember", new, keys=keys)
    assert answer.code == 0, answer.out
    assert "Does it replace .memories/old.md? [y/N]" in plain_text(answer.out)
    (note,) = (file for file in folder.rglob("*.md") if "Legal" in file.read_text(encoding="utf-8"))
    assert f"- {relation}:: [[old]]" in note.read_text(encoding="utf-8")
    assert "Does it replace" not in terminal("edit", note.stem, env={"EDITOR": "true"}).out
