from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .conftest import Run, plain_text


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    (made / "a.md").write_text("The osprey dives.\n")
    (made / "pic.png").write_bytes(b"\x89PNG")
    return made


def test_what_became_of_each_note_is_said(mb: Run, vault: Path) -> None:
    done = mb("import", "markdown", str(vault), "--into", "birds")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "created .memories/birds/a.md\n"
        "not read: pic.png: an attachment: no Markdown file\n"
        "1 note: 1 created, 1 not read\n"
    )
    again = mb("import", "markdown", str(vault), "--into", "birds")
    assert again.code == 0
    assert again.out.endswith("1 note: 1 unchanged, 1 not read\n")
    mb("append", "birds/a", "And rises.")
    (vault / "a.md").write_text("The osprey sleeps.\n")
    kept = mb("import", "markdown", str(vault), "--into", "birds")
    assert kept.out.startswith(
        "not imported: a.md: it changed both in the source and in the bank (.memories/birds/a.md stays)\n"
    )


def test_a_dry_run_writes_nothing(mb: Run, vault: Path, project: Path) -> None:
    done = mb("import", "markdown", str(vault), "--dry-run")
    assert "1 note: would be: 1 created, 1 not read\n" in done.out
    assert not (project / ".memories" / "a.md").exists()


def test_as_json(mb: Run, vault: Path) -> None:
    found = mb("import", "markdown", str(vault), "--json").json
    assert found["counts"] == {"created": 1}
    assert found["notes"] == [{"key": "a.md", "action": "created", "path": "vault/a.md"}]
    assert found["unread"] == [{"place": "pic.png", "reason": "an attachment: no Markdown file"}]


def test_exit_codes(mb: Run, vault: Path) -> None:
    (vault / "a.md").unlink()
    assert mb("import", "markdown", str(vault)).code == 1
    assert mb("import", "notion", str(vault)).code == 2
    assert mb("import", "markdown", str(vault / "nowhere")).code == 2
    assert mb("import", "markdown", str(vault), "--into", "../x").code == 2
    assert mb("import", "markdown").code == 2


def test_the_secrets_gate_holds_and_can_be_opened(mb: Run, vault: Path) -> None:
    (vault / "a.md").write_text("Token: ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n")
    refused = mb("import", "markdown", str(vault))
    assert refused.out.startswith("not imported: a.md: nothing was written: it would add a secret")
    assert "created" in mb("import", "markdown", str(vault), "--allow-secret").out


@pytest.mark.parametrize(
    ("step", "bar"),
    [
        ("import_notes._ImportRun._plan_new", "comparing notes"),
        ("create._BulkWrite.write", "writing notes"),
        ("import_notes._ImportRun._update", "updating notes"),
        ("amendments.may_amend", "finding older notes"),
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
