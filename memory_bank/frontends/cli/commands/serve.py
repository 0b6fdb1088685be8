"""`memory-bank serve`: let other programs ask this bank."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command
from memory_bank.frontends.cli.help import Group

if TYPE_CHECKING:
    from memory_bank.frontends.mcp.http_transport import Opened
    from memory_bank.frontends.mcp.server import MemoryServer
    from memory_bank.frontends.mcp.token_cost import Cost

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
    agent's context they take. Answers are texts; --structured adds the fields of the commands'
    JSON and their schemas, for programs: some agents' programs then give their model the structure
    only, which takes more of its context.

    With --http it serves many agents by streamable HTTP until Ctrl-C or SIGTERM. On an address
    that other machines can reach, each request must bring a bearer token. The token is made on
    first use, in a file that only you can read. What is sent is not encrypted.
    """,
    examples=(
        ("memory-bank serve mcp", "what the agent's configuration calls"),
        ("memory-bank --bank ~/project serve mcp", "where it starts elsewhere"),
        ("memory-bank serve mcp --read-only", "an agent that may look, not write"),
        ("memory-bank serve mcp --describe", "its tools, and what they cost"),
        ("memory-bank serve mcp --http 127.0.0.1:8765", "many agents of this machine"),
    ),
)
@click.option(
    "--toolsets",
    metavar="A,B",
    callback=_split,
    help="Groups of tools: store, bank (both by default), maintenance",
)
@click.option("--read-only", is_flag=True, help="Leave out every tool that writes")
@click.option("--structured", is_flag=True, help="Add structured content to answers, for programs")
@click.option("--describe", is_flag=True, help="List the tools and their cost in tokens; no server")
@click.option("--http", metavar="HOST:PORT", help="Listen there, not on stdin")
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Where the bearer token is; asks for it on any address",
)
@click.option(
    "--allow-host", "hosts", metavar="NAME", multiple=True, help="Another name clients call us by"
)
def _mcp(
    call: Call,
    *,
    toolsets: Sequence[str],
    read_only: bool,
    structured: bool,
    describe: bool,
    http: str | None,
    token_file: str | None,
    hosts: Sequence[str],
) -> int:
    """Serve the bank to agents (MCP)."""
    from memory_bank.frontends.mcp.toolbox import DEFAULT, Toolbox
    from memory_bank.serving.shared_bank import SharedBank

    if not http and (token_file or hosts):
        raise call.wrong("--token-file and --allow-host go with --http")
    toolbox = Toolbox(toolsets or DEFAULT, read_only=read_only, structured=structured)
    if describe:
        from memory_bank.frontends.mcp.token_cost import cost

        call.answer(cost(toolbox), lambda found: _show(call, found))
        return 0
    from memory_bank.frontends.mcp.server import build, serve_stdio

    server = build(SharedBank(call.named_bank), toolbox)
    if http:
        _listen(call, server, http, token_file, hosts)
        return 0
    if sys.stdin.isatty():
        call.remark("waiting for an agent's program on stdin; Ctrl-C ends it, --help tells more")
    serve_stdio(server)
    return 0


def _listen(
    call: Call, server: MemoryServer, http: str, token_file: str | None, hosts: Sequence[str]
) -> None:
    from memory_bank.frontends.mcp.http_transport import serve_http

    file = Path(token_file) if token_file else None
    serve_http(server, http, token_file=file, hosts=hosts, said=lambda door: _say(call, door))


def _say(call: Call, door: Opened) -> None:
    """Tell where the server is, and what a client needs."""
    file = door.token.file if door.token else None
    if call.json:
        call.page.document({"url": door.url, "token_file": file}, indent=None)
    else:
        call.page.line("serving ", (door.url, "place"))
    call.page.flush()
    if door.token:
        verb = "was made" if door.token.made else "is"
        call.remark(f"the token {verb} in {file}: send `Authorization: Bearer TOKEN`")
    if door.remote:
        call.warn("what is sent is not encrypted: put it behind a proxy with TLS, or a tunnel")


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
