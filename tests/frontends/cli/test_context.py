from __future__ import annotations

from pathlib import Path

from tests.frontends.cli.conftest import Run
from tests.sessions.test_context import observation, write


def test_the_context_is_printed_with_the_options_of_a_request(mb: Run, project: Path) -> None:
    bank = project / ".memories"
    write(bank, "retry", observation(1), observation(2, "discovery"))
    told = mb("context", "--type", "discovery", "--type", "bugfix", "--limit", "1")
    assert told.code == 0
    assert "| bugfix | Title 1 |" in told.out
    assert "Title 2" not in told.out
    found = mb("context", "--project", "shop", "--json").json
    assert found["project"] == "shop"
    assert found["observation_count"] == 1
    assert found["context"].endswith("to fetch full observations on-demand.")
    assert mb("context", "--type", "idea").code == 2
