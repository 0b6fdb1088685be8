"""Each command with each kind of its answers, typed in a project: tables of (call, output)."""

from pathlib import Path

import pytest

from tests.support.command_lines import SHELL, install, replay, work_beside_shop
from tests.support.session_builder import observation, session

HERE = Path(__file__).parent / "calls"
SLOW = {"merges", "review"}
"""Tables of seconds: of merges, git starts our commands; each review makes two indices."""
RETRY = observation(1, "Retry the payment job", files_modified=("src/job.py",))
QUEUE = observation(
    2, "Choose a queue that keeps jobs for as long as the gateway is away", "decision",
    facts=("It answers 504",), narrative="\x1b[31mBecause\x1b[0m of it.", concepts=("retries",),
    discovery_tokens=1800,
)  # fmt: skip


@pytest.fixture
def beside(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the project, beside which are the code of a shop and notes of two sessions."""
    cache = session("cache", observation(60, "Cache prices", "feature"))
    work_beside_shop(project, tmp_path, monkeypatch, session("retry", RETRY, QUEUE), cache)
    install(tmp_path, monkeypatch)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("beside")
@pytest.mark.skipif(SHELL is None, reason="the tables are typed into bash")
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=[pytest.mark.slow] * (file.stem in SLOW))
        for file in sorted(HERE.glob("*.txt"))
    ],
)
def test_calls(file: Path, project: Path, tmp_path: Path, private_folders: Path) -> None:
    replay(
        file, {str(project): "<project>", str(private_folders): "<home>", str(tmp_path): "<tmp>"}
    )
