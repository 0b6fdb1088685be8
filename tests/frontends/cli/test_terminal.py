"""What only a terminal shows: questions, colours, folds and bars."""

import re
import sys
from pathlib import Path

import pytest

from .conftest import Run, plain_text


@pytest.fixture
def flower(project: Path) -> Path:
    file = project / ".memories/facts/flower.md"
    file.write_text("# A flower\n\nThe marigold is in bloom, marigold indeed.\n")
    return file


@pytest.mark.parametrize(("key", "gone"), [("y", True), ("n", False)])
def test_a_terminal_is_asked(terminal: Run, flower: Path, key: str, *, gone: bool) -> None:
    done = terminal("forget", "marigold", keys=f"{key}\n")
    said = plain_text(done.out)
    assert done.code == 0
    assert "Remove the text (2 occurrences in 1 place) for good? [y/N]" in " ".join(said.split())
    assert ("marigold" not in flower.read_text()) is gone
    assert ("nothing was changed" in said) is not gone


def test_a_terminal_sees_the_change_and_may_say_no(
    terminal: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = project / ".mcp.json"
    file.write_text('{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    line = ("agents", "install", "claude-code", "--only", "server", "--scope", "project")
    answer = terminal(*line, keys="n\n")
    shown = plain_text(answer.out)
    assert '+    "memory-bank": {' in shown
    assert "Change .mcp.json? [y/N]: n" in shown
    assert "nothing was changed" in shown
    assert answer.code == 1
    assert "memory-bank" not in file.read_text()
    assert terminal(*line, keys="y\n").code == 0
    assert "memory-bank" in file.read_text()


def test_on_a_terminal_it_is_coloured_and_folded(terminal: Run, mb: Run) -> None:
    mb("remember", "# Long\n\n" + "jabberwocky " * 15, "--name", "long")
    shown = terminal("recall", "jabberwocky").out
    assert "\x1b[36m.memories/long.md:" in shown
    assert max(len(line) for line in plain_text(shown).splitlines()) <= 80


def many_notes(project: Path, count: int) -> None:
    for number in range(count):
        text = f"# Retry {number}\n\n" + f"Sentence about waiting {number}. " * 9 + "Retries end.\n"
        (project / f".memories/retry-{number}.md").write_text(text, encoding="utf-8")


def test_an_answer_fits_one_screen_of_a_terminal(terminal: Run, mb: Run, project: Path) -> None:
    many_notes(project, 8)
    shown = terminal("recall", "retry", env={"LINES": "24"}).out
    assert "\x1b[1;33mRetry\x1b[0m" in shown  # the title
    assert "\x1b[1;33mRetries\x1b[0m end." in shown
    lines = plain_text(shown).splitlines()
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80
    assert [line[0] for line in lines if line[:1].isdigit()] == list("12345")
    assert "also" not in shown
    assert len(mb("recall", "retry", "--json").json["notes"]) == 8
    wanted = terminal("recall", "retry", env={"MEMORY_BANK_SEARCH_LIMIT": "7"}).out
    assert "\n7  " in plain_text(wanted)


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


def test_a_terminal_gets_it_drawn(terminal: Run, mb: Run) -> None:
    shown = terminal("show", "tantivy").out
    text = plain_text(shown)
    assert text.startswith(".memories/decisions/tantivy.md:1\n")
    assert "decision · #architecture · #search · 2026-01-10 · id 4f1c9be07a52 · 0 backlinks" in text
    assert "created_at" not in text
    assert "##" not in text
    mb("remember", "A \x1b[31mtrick [text](https://evil.example)", "--name", "trick")
    tricky = terminal("show", "trick").out
    assert "\x1b[31mtrick" not in tricky
    assert "\x1b]8" not in tricky
    assert "https://evil.example" in plain_text(tricky)


@pytest.mark.slow  # a bar is drawn after a second
@pytest.mark.parametrize(
    ("step", "bar"),
    [
        ("import_notes._ImportRun._plan_new", "comparing notes"),
        ("create._BulkWrite.write", "writing notes"),
        ("import_notes._ImportRun._update", "updating notes"),
        ("amendments.find_amended_indexed", "finding older notes"),
    ],
)
def test_a_bar_is_drawn_for_each_slow_step_on_a_terminal(
    terminal: Run, mb: Run, tmp_path: Path, step: str, bar: str
) -> None:
    source = tmp_path / "many"
    source.mkdir()
    for number in range(10):
        (source / f"{number}.md").write_text(f"# Bird {number}\n\nIt sings {number} songs.\n")
    if "update" in step:
        mb("import", "markdown", str(source))
        for file in source.iterdir():
            file.write_text(f"{file.read_text()}\nAt dawn.\n")
    owner, _, name = step.rpartition(".")
    slow = (
        "import sys, time\n"
        "from memory_bank.memory import amendments, create, import_notes\n"
        "from memory_bank.frontends.cli.main import run\n"
        f"quick = {step}\n"
        "def slowly(*given):\n"
        "    time.sleep(0.1)\n"
        "    return quick(*given)\n"
        f"{owner}.{name} = slowly\n"
        f"sys.exit(run(['import', 'markdown', {str(source)!r}]))\n"
    )
    assert bar in plain_text(terminal(program=[sys.executable, "-c", slow]).out)


def test_a_bar_is_drawn_after_a_second_on_a_terminal_only(terminal: Run, real: Run) -> None:
    slow = (
        "import sys, time\n"
        "from memory_bank.bank.bank import Bank\n"
        "from memory_bank.frontends.cli.main import run\n"
        "def sync(self, progress=None):\n"
        "    for done in range(1, 15):\n"
        "        time.sleep(0.1)\n"
        "        if progress: progress('embedding', done, 14)\n"
        "    from memory_bank.search.document_changes import SyncReport\n"
        "    return SyncReport()\n"
        "Bank.sync = sync\n"
        "sys.exit(run(['sync']))\n"
    )
    shown = terminal(program=[sys.executable, "-c", slow]).out
    assert "embedding" in plain_text(shown)
    assert real("sync").err == ""


def test_the_trash_is_emptied_after_a_question(mb: Run, terminal: Run) -> None:
    mb("rm", "bm25", "whoosh")
    answer = terminal("trash", "empty", keys="n\n")
    assert "Delete 2 notes for good" in answer.out
    assert "nothing was deleted" in answer.out
    assert len(mb("trash", "list").out.splitlines()) == 2


def test_help_in_a_terminal_has_bold_headings(terminal: Run) -> None:
    shown = terminal("-h").out
    assert "\x1b[1mUsage:\x1b[0m" in shown
    assert "\x1b" not in terminal("-h", env={"NO_COLOR": "1"}).out
    assert "\x1b" not in terminal("-h", env={"TERM": "dumb"}).out


def test_the_last_part_of_a_path_is_a_name_where_no_other_note_has_it(
    terminal: Run, mb: Run
) -> None:
    for name in ("decisions/one/same", "facts/two/same", "plans/a/rather-long-name-" + "x" * 60):
        mb("remember", f"# {name} is here", "--name", name)
    lines = plain_text(terminal("notes").out).splitlines()
    names = {line.split()[0] for line in lines if re.search(r"  20\d\d-\d\d-\d\d  ", line)}
    assert {"decisions/one/same", "facts/two/same", "tantivy"} < names
    assert f"rather-long-name-{'x' * 8}…" in names, "its start opens it"
