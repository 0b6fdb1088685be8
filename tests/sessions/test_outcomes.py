"""A command "passes" only if its own exit code or a summary line says so."""

import pytest

from tests.sessions.events_of import Work
from tests.sessions.outcomes_of import FAILED, PASSED, QUIET, UNKNOWN


def told(command: str, output: str) -> str:
    """Return all that a session tells of a command that ended with exit code 0."""
    work = Work("Please mend the retries").edit("src/job.py", "times = 2", "times = 3")
    return "\n".join(map(repr, work.run(command, output).drafts()))


@pytest.mark.parametrize(("command", "output"), [*PASSED, *QUIET])
def test_a_summary_line_or_its_own_exit_code_passes(command: str, output: str) -> None:
    assert " passes" in told(command, output)


@pytest.mark.parametrize(("command", "output"), PASSED)
def test_a_summary_line_passes_without_an_exit_code(command: str, output: str) -> None:
    hidden = command if "|" in command else f"{command} | tail -40"
    assert " passes" in told(hidden, output)


@pytest.mark.parametrize(("command", "output"), FAILED)
def test_an_output_that_names_a_failure_never_passes(command: str, output: str) -> None:
    assert " passes" not in told(command, output)


@pytest.mark.parametrize(("command", "output"), UNKNOWN)
def test_an_output_that_says_nothing_claims_nothing(command: str, output: str) -> None:
    shown = told(command, output)
    assert " passes" not in shown
    assert " fails" not in shown


@pytest.mark.parametrize("tail", ["| head -3", "| grep ok", "| sed -n 1,2p"])
def test_a_filter_that_may_hide_a_package_passes_nothing(tail: str) -> None:
    assert " passes" not in told(f"go test ./... {tail}", "ok  \tgithub.com/a/b\t0.004s")
    assert " passes" in told("go test ./...", "ok  \tgithub.com/a/b\t0.004s")
