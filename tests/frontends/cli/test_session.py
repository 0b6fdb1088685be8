"""The command `session`."""

from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run
from tests.sessions.transcripts_of import FOLDER


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
