"""`memory-bank serve`: let other programs ask this bank."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from memory_bank.frontends.cli._command import Call, as_command
from memory_bank.frontends.cli._help import Group

if TYPE_CHECKING:
    from memory_bank.frontends.mcp.cost import Cost

GROUP = "Agents"


def _split(_: click.Context, __: click.Parameter, given: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())


@as_command(
    "mcp",
    why="""
    Serves the bank to an agent by the Model Context Protocol, over stdin and stdout. The program
    in which the agent runs starts this command by itself, once for each of its windows; any number
    may run at once, beside the command line and your editor.

    It answers at once, and starts where there is no bank yet: tools then say what to do. What
    notes say reaches the agent as quoted data. --describe shows the tools and how much of the
    agent's context they take.
    """,
    examples=(
        ("memory-bank serve mcp", "what the agent's configuration calls"),
        ("memory-bank --bank ~/project serve mcp", "where it starts elsewhere"),
        ("memory-bank serve mcp --read-only", "an agent that may look, not write"),
        ("memory-bank serve mcp --describe", "its tools, and what they cost"),
    ),
)
@click.option(
    "--toolsets",
    metavar="A,B",
    callback=_split,
    help="Groups of tools: store, bank (both by default), upkeep",
)
@click.option("--read-only", is_flag=True, help="Leave out every tool that writes")
@click.option("--describe", is_flag=True, help="List the tools and their cost in tokens; no server")
def _mcp(call: Call, *, toolsets: Sequence[str], read_only: bool, describe: bool) -> int:
    """Serve the bank to agents (MCP)."""
    from memory_bank.frontends.mcp.source import Source
    from memory_bank.frontends.mcp.toolbox import DEFAULT, Toolbox

    toolbox = Toolbox(toolsets or DEFAULT, read_only=read_only)
    if describe:
        from memory_bank.frontends.mcp.cost import cost

        call.answer(cost(toolbox), lambda found: _show(call, found))
        return 0
    from memory_bank.frontends.mcp.server import build, serve_stdio

    if sys.stdin.isatty():
        call.remark("waiting for an agent's program on stdin; Ctrl-C ends it, --help tells more")
    serve_stdio(build(Source(call.named_bank), toolbox))
    return 0


def _show(call: Call, found: Cost) -> None:
    rows = [
        (one.name, "writes" if one.writes else "reads", str(one.model_tokens), str(one.tokens))
        for one in found.tools
    ]
    rows.append(("all", "", f"{found.model_tokens:,}", f"{found.tokens:,}"))
    call.page.table(("tool", "", "tokens a model is given", "of all that is listed"), rows)
    call.remark(found.method)


command = Group(
    "serve",
    help="Let agents ask this bank.",
    why="""
    Serves the bank to other programs. There is one protocol so far: mcp.
    """,
    examples=(("memory-bank serve mcp", "to agents"),),
    commands={made.name or "": made for made in (_mcp,)},
)
