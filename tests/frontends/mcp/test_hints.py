"""Hints that stand outside of a quote are ours."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import memory_bank
from memory_bank.frontends.mcp.hints import HINTS
from memory_bank.frontends.mcp.toolbox import Toolbox


def test_each_hint_is_one_that_an_error_gives() -> None:
    sources = Path(memory_bank.__file__).parent.rglob("*.py")
    texts = {
        node.value
        for source in sources
        if source.name != "hints.py"
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    spoken = "\0".join(texts)
    assert [hint for hint in HINTS if hint not in spoken] == []


def test_hints_name_tools_that_there_are() -> None:
    tools = Toolbox().tools
    named = {name for hint in HINTS.values() for name in re.findall(r"[a-z]+_[a-z_]+", hint)}
    assert named <= set(tools)
