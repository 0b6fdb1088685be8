"""The command `session`."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.sessions.sessions import store_observation, store_prompt
from tests.frontends.cli.conftest import Run
from tests.sessions.transcripts_of import FOLDER


def test_sessions_are_started_ended_listed_and_shown(mb: Run, project: Path) -> None:
    nothing = mb("session")
    assert (nothing.code, nothing.out) == (1, "")
    assert (
        mb("session", "start", "abc-1", "--project", "shop").out == "new: session abc-1 of shop\n"
    )
    assert mb("session", "start", "abc-1", "--json").json["state"] == "active"
    with open_bank(project) as bank:
        store_prompt(bank, "abc-1", "Retry \x1b[31mpayments. Please")
        store_observation(bank, "abc-1", "Bash", None, {"command": "ls"}, "a")
        stored = store_observation(bank, "abc-1", title="Retry", files_modified=["src/index.py"])
    assert mb("session", "compress", "--json").json["events"] == 1
    (row,) = mb("session", "list", "--project", "SHOP", "--json").json["sessions"]
    assert (row["session_id"], row["prompts"], row["pending"]) == ("abc-1", 1, 0)
    assert "ended_at" not in row
    shown = mb("session", "show", "abc")
    assert shown.code == 0
    assert str(stored.observation_id) in shown.out
    assert "src/index.py" in shown.out
    assert "\x1b" not in shown.out
    ended = mb("session", "end", "abc-1", "All is retried", "--json").json
    assert ended["summary_id"].startswith("sum-")
    assert "completed: All is retried" in mb("session", "show", "abc").out
    assert mb("session").out.startswith("abc-1")
    linking = mb("links", "src/index.py").out
    assert "modifies" in linking
    assert row["path"].removesuffix(".md") in linking.replace("\\", "/")
    assert mb("session", "show", "nothing").code == 2
    assert mb("session", "end", "nothing").code == 2


def test_transcripts_are_imported_and_the_report_says_what_was_not(
    mb: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    folder = tmp_path / "codex" / "sessions" / "2026" / "11" / "23"
    folder.mkdir(parents=True)
    text = (FOLDER / "codex.jsonl").read_text().replace("/home/dev/minidown", str(project))
    (folder / "rollout-1-\x1b[31m.jsonl").write_text("{}\n")
    (folder / "rollout-2.jsonl").write_text(text)
    (folder / "rollout-3.jsonl").write_text(text.replace(str(project), str(tmp_path)))
    dry = mb("session", "import", "--dry-run").out
    assert dry.startswith("would be new: 01a205c3-")
    assert dry.endswith(
        "1 session: 1 new or continued, 0 unchanged, 2 transcripts of other projects\n31 events\n"
    )
    done = mb("session", "import", "--client", "codex", "--json").json
    assert (done["events"], done["elsewhere"], done["dry_run"]) == (31, 2, False)
    assert done["observations"] == done["sessions"][0]["observations"] >= 3
    assert mb("session", "import").out.endswith(
        "1 unchanged, 2 transcripts of other projects\n0 observations of 0 events\n"
    )
    (folder / "rollout-2.jsonl").write_text(text + "no JSON\n")
    assert (
        "1 unchanged, 2 transcripts of other projects, 1 line damaged\n"
        in mb("session", "import").out
    )
    given = mb("session", "import", "--client", "codex", "--path", str(folder), "--dry-run").out
    assert "not imported: " in given
    assert "\x1b" not in given
    assert mb("session", "import", "--client", "emacs").code == 2
