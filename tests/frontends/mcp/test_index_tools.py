"""The three layers for agents: an index, what is around, and the details."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_bank.base.text import estimate
from memory_bank.search.embedders.static import count_tokens
from tests.support.session_builder import observation, session, write

Make = Callable[..., Any]
IMPORTANT = (
    "3-LAYER WORKFLOW (ALWAYS FOLLOW): 1. search(query) -> Get index with IDs (~50-100"
    " tokens/result) 2. timeline(anchor=ID) -> Get context around interesting results"
    " 3. get_observations([IDs]) -> Fetch full details ONLY for filtered IDs. NEVER fetch full"
    " details without filtering first. 3.8x fewer tokens, measured."
)


def test_the_descriptions_say_the_steps(serving: Make) -> None:
    agent = serving("sessions")
    said = {tool.name: tool.description for tool in agent.ask(agent.client.list_tools).tools}
    assert said["__IMPORTANT"] == IMPORTANT
    for name, step in (("search", 1), ("timeline", 2), ("get_observations", 3), ("decisions", 1)):
        assert said[name].startswith(f"Step {step}:")


def test_a_row_costs_less_than_sixty_tokens(agent: Make, project: Path) -> None:
    title = "Retry the payment job three times before it fails for good, as number {} says"
    made = [observation(number, title.format(number)) for number in range(8)]
    write(project / ".memories", session("retry", *made, project="project"))
    answer = agent("search", query="payment job", type="observation")
    rows = [line for line in answer.text.splitlines() if line.startswith("obs-")]
    assert len(rows) == 8
    for row, tokens in zip(rows, count_tokens(rows), strict=True):
        assert tokens < 60, row
        assert estimate(row) < 60, row
    assert re.fullmatch(
        r"obs-\w{12} \| bugfix \| 2026-11-01 10:0\d \| \d+ \| Retry the payment job .*…", rows[0]
    )
