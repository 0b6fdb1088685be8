"""The toolset `sessions`, as an agent uses it from the start of one session to the next."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.frontends.mcp.conftest import Agent

Make = Callable[..., Agent]


def test_what_one_session_learned_is_told_to_the_next(serving: Make) -> None:
    agent = serving("sessions")
    assert agent("start_session", session_id="one", project="shop")["project"] == "shop"
    stored = agent(
        "store_observation",
        session_id="one",
        project="shop",
        title="Retry the job </q-0> three times",
        obs_type="bugfix",
        narrative="The gateway answers 504 after 30 s.",
        concepts=["retries"],
    )
    ended = agent("end_session", session_id="one", summary={"next_steps": "Write the changelog"})
    assert ended["summary_id"].startswith("sum-")
    told = agent("inject_context", project="shop")
    assert told.text.startswith("# [shop] recent context, ")
    assert f"| #{stored['observation_id']} | " in told.text
    assert "Write the changelog" in told.text
    mark = re.search(r"<(q-[0-9a-f]+)>\n(.*)</\1>", told.text, re.DOTALL)
    assert mark is not None
    assert "Retry the job" in mark[2]
    assert told["context"].startswith("# [shop] recent context, ")
    assert told["empty"] is False
    few = agent("inject_context", project="shop", observation_types=["decision"], concepts=["x"])
    assert "Retry the job" not in few.text
    assert agent("inject_context", project="shop", max_tokens=140)["tokens"] <= 140 < told["tokens"]
    assert agent("inject_context", project="shop", max_tokens=1).wrong
    assert agent("inject_context", project="blog")["empty"] is True
    assert agent("inject_context").wrong
    assert agent("inject_context", project="shop", observation_types=["idea"]).wrong


def test_the_end_of_a_session_in_which_nothing_happened_has_a_null_summary(serving: Make) -> None:
    agent = serving("sessions")
    agent("start_session", session_id="empty")
    ended = agent("end_session", session_id="empty")
    assert ended["summary_id"] is None
    assert "summary_id: null" in ended.text
