"""No text of a server names a tool that it does not serve, whatever toolsets it has."""

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_bank.base.errors import Hint, NoteNotFound
from memory_bank.frontends import declared
from memory_bank.frontends.hints import choose_hints
from memory_bank.frontends.mcp.server import MemoryServer
from memory_bank.frontends.mcp.tool import report_failure
from memory_bank.frontends.mcp.toolbox import DEFAULT, Toolbox
from memory_bank.frontends.serving.shared_bank import SharedBank
from tests.frontends.mcp.calls import CALLS
from tests.frontends.mcp.conftest import Agent

Make = Callable[..., Agent]
EVERY = Toolbox(declared.list_toolsets()).tools
SETS = [
    (),
    *itertools.combinations(declared.list_toolsets(), 1),
    ("store", "code"),
    tuple(declared.list_toolsets()),
]
CASES = [(toolsets, read_only) for toolsets in SETS for read_only in (False, True)]
CALLED = re.compile(
    r"(?:\b(?:[Cc]all|[Uu]se|load|by|then|with|as|in one|or) |`)({})\b(?! \w+s\b)|\b({})\(".format(
        *(["|".join(sorted(EVERY, key=len, reverse=True))] * 2)
    )
)


def named(text: str) -> set[str]:
    """Return the tools that a text names: words with a line below, or words that are called."""
    text = re.sub(r"`memory-bank[^`]*`", "", text)
    found = {name for name in EVERY if "_" in name and re.search(rf"\b{name}\b", text)}
    return found | {one or other for one, other in CALLED.findall(text)}


def outside(text: str) -> str:
    """Return a text without what is quoted in it."""
    return re.sub(r"<q-(\w+).*?</q-\1>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(("toolsets", "read_only"), CASES, ids=str)
def test_what_a_server_says_of_itself_names_only_its_tools(
    serving: Make, toolsets: tuple[str, ...], *, read_only: bool
) -> None:
    agent = serving(*toolsets, read_only=read_only, structured=False)
    served = {tool.name for tool in agent.ask(agent.client.list_tools).tools}
    texts = [agent.server.instructions or ""]
    for tool in agent.ask(agent.client.list_tools).tools:
        texts += [tool.description or "", str(tool.input_schema)]
    for prompt in agent.ask(agent.client.list_prompts).prompts:
        given = {one.name: "x" for one in prompt.arguments or ()}
        for message in agent.ask(agent.client.get_prompt, prompt.name, given).messages:
            texts.append(message.content.text)  # type: ignore[union-attr]
    for text in texts:
        assert named(text) <= served, text
    wanted = {"recall", "remember", "search_linked_memories", "search"}
    assert named(texts[0]) >= wanted & served, "instructions say when to call what there is"


@pytest.mark.parametrize(("toolsets", "read_only"), CASES, ids=str)
def test_hints_of_errors_name_only_tools_that_are_served(
    toolsets: tuple[str, ...], *, read_only: bool
) -> None:
    served = Toolbox(toolsets or DEFAULT, read_only=read_only).tools
    for hint in Hint:
        text = report_failure(NoteNotFound("x", hint, **ARGUMENTS), str, choose_hints(served))
        assert named(text) <= set(served), text


ARGUMENTS = {"bank": "b", "name": "n", "file": "f", "hashes": "h"}


def answers(agent: Agent) -> Iterator[str]:
    """Yield the answers of each tool: to a right call, and to one for what does not exist."""
    served = {tool.name for tool in agent.ask(agent.client.list_tools).tools}
    for call in CALLS:
        if call.tool in served:
            yield agent(call.tool, **call.arguments).text
            wrong = {name: _missing(value) for name, value in call.arguments.items()}
            yield agent(call.tool, **wrong).text


def _missing(value: Any) -> Any:
    return "no-such-thing" if isinstance(value, str) else value


@pytest.mark.parametrize("toolsets", [(), ("store",), ("code",)], ids=str)
def test_answers_name_only_tools_that_are_served(serving: Make, toolsets: tuple[str, ...]) -> None:
    agent = serving(*toolsets, structured=False)
    served = {tool.name for tool in agent.ask(agent.client.list_tools).tools}
    for text in answers(agent):
        assert named(outside(text)) <= served, text


def test_the_tools_that_are_told_of_early_are_those_that_are_served() -> None:
    for toolsets, read_only in CASES:
        toolbox = Toolbox(toolsets or DEFAULT, read_only=read_only)
        assert toolbox.early <= set(toolbox.tools)
        wanted = {name for name in Toolbox().early if name in toolbox.tools}
        assert toolbox.early == wanted


def test_nothing_is_loaded_to_tell_what_is_served(project: Path) -> None:
    toolbox = Toolbox()
    assert "`recall`" in (MemoryServer(SharedBank(str(project)), toolbox).instructions or "")
    assert "tools" not in vars(toolbox)
