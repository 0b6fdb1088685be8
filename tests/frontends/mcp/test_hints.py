"""Hints that stand outside of a quote are ours, and name tools that there are."""

from __future__ import annotations

import re

from memory_bank.frontends.mcp.hints import HINTS
from memory_bank.frontends.mcp.toolbox import Toolbox


def test_hints_name_tools_that_there_are() -> None:
    tools = Toolbox().tools
    named = {name for hint in HINTS.values() for name in re.findall(r"[a-z]+_[a-z_]+", hint)}
    assert named <= set(tools)


def test_a_command_is_for_a_person() -> None:
    for hint in HINTS.values():
        if "`memory-bank" in hint:
            assert hint.startswith(("a person may", "run `memory-bank init`", "is the server"))
