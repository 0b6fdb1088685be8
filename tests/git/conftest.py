"""Each test starts with a git that answers."""

import pytest

from memory_bank.git import process


@pytest.fixture(autouse=True)
def git_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget that git kept the process waiting in a test before."""
    monkeypatch.setattr(process.TimeoutState, "timed_out", False)
