"""The commands that other programs run: agents, git, shells, editors, and servers for them.

`__main__` answers `hook` and `merge-driver` without this module, which is for their help.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click.shell_completion import get_completion_class

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.screen import Call
from memory_bank.frontends.cli.overview import COMPLETE
from memory_bank.frontends.cli.root import root

if TYPE_CHECKING:
    from memory_bank.frontends.mcp.toolbox import Cost
    from memory_bank.frontends.serving.endpoint import Endpoint

_NAMES = ("memory-bank", "mb")


@operation(
    "hook",
    why="""
    Programs such as Claude Code start it for each event of a session, with the event as JSON on
    stdin. It stores prompts and the use of tools in this
    machine's private state, without secrets and without what stands in <private>…</private>, and
    adds what the project's memory knows to the start of a session and to a prompt.

    Exits with 0 whatever happens, so that it never stops an agent: `memory-bank doctor` says what
    failed. Without a bank, or where the settings memory.enabled or sessions.capture are false, it
    does nothing.
    """,
    examples=(("memory-bank hook claude-code Stop < event.json", "answer one event"),),
)
def answer_hook(
    call: Call,  # noqa: ARG001  (a hook prints for itself)
    *,
    client: Annotated[str, Param(argument=True)],
    event: Annotated[str, Param(argument=True)] = "",
) -> int:
    """Answer one event of an agent's program."""
    from memory_bank.agents.hook import run  # start-up: help loads each command

    return run([client, event])


@operation(
    "merge-driver",
    why="""
    git runs this for each note that two branches changed, once `memory-bank git install` has
    named it as their merge driver. It merges BASE, OURS and THEIRS into OURS: front matter by
    key, tags and references as sets, the text by sections; of two texts at the same place, both
    are kept. PATH is the note's path, for messages. The exit code is 1 if conflicts are left.

    A file that can't be read as a note is merged as `git merge-file` does.
    """,
    examples=(("memory-bank git install", "let git run it"),),
)
def merge_note(
    call: Call,
    *,
    marker_size: Annotated[str, Param("Length of conflict markers [7]", metavar="N")] = "",
    ours: Annotated[str, Param("Our side in conflict markers", metavar="NAME")] = "",
    theirs: Annotated[str, Param("Their side in conflict markers", metavar="NAME")] = "",
    files: Annotated[tuple[str, ...], Param(argument=True, metavar="BASE OURS THEIRS [PATH]")],
) -> int:
    """Merge a note that two branches changed; git runs it."""
    from memory_bank.frontends import merge_driver  # start-up: it has libraries of its own

    del call
    options = [f"--marker-size={marker_size}", f"--ours={ours}", f"--theirs={theirs}"]
    return merge_driver.run([*options, "--", *files])


@operation(
    "completion",
    why="""
    Prints the script that your shell runs when it starts. It completes commands, options, files,
    names of notes and types, for `memory-bank` and for `mb`.
    """,
    examples=(
        ("echo 'eval \"$(memory-bank completion bash)\"' >> ~/.bashrc", "bash"),
        ("echo 'eval \"$(memory-bank completion zsh)\"' >> ~/.zshrc", "zsh"),
        ("echo 'memory-bank completion fish | source' >> ~/.config/fish/config.fish", "fish"),
    ),
)
def print_script(
    call: Call, *, shell: Annotated[str, Param(argument=True, choices=("bash", "zsh", "fish"))]
) -> int:
    """Print a completion script for a shell."""
    shell_class = get_completion_class(shell)
    if shell_class is None:
        raise BadInput(f"click has no completion for {shell}", "use bash, zsh or fish")
    script = "\n".join(shell_class(root(), {}, name, COMPLETE).source() for name in _NAMES)
    if call.json:
        call.console.document({"shell": shell, "script": script})
    else:
        call.console.write(script)
    return 0


_Hosts = Annotated[
    tuple[str, ...],
    Param("Another host name of this server", flags="--allow-host", metavar="NAME"),
]


def _split(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


@operation(
    "serve mcp",
    why="""
    Serves the bank to an agent by the Model Context Protocol, over stdin and stdout. The agent's
    program starts this command itself, once for each of its windows; any number may run at the
    same time, beside the command line and your editor.

    It serves the bank of the project in which the program works: that of the program's folders, or
    of the working directory, unless --bank names one.

    The server starts at once, even without a bank: its tools then return an error with the next
    step. The text of notes reaches the agent as quoted data. --describe lists the tools and their
    cost in tokens. Answers are text; programs that are not known as agents also get the fields of
    the commands' JSON, with --structured all do. Some agents' programs then give their model only
    these, which takes more tokens.

    With --http it serves many agents by streamable HTTP until Ctrl-C or SIGTERM. On an address
    that other machines can reach, each request needs a bearer token. The token is created on
    first use, in a file that only you can read. The connection is not encrypted.
    """,
    examples=(
        ("memory-bank serve mcp", "the command in the agent's configuration"),
        ("memory-bank --bank ~/notes serve mcp", "one bank in all projects"),
        ("memory-bank serve mcp --read-only", "for an agent that must not write"),
        ("memory-bank serve mcp --describe", "the tools and their cost in tokens"),
        ("memory-bank serve mcp --http 127.0.0.1:8765", "for many agents on this machine"),
    ),
)
def _serve_mcp(
    call: Call,
    *,
    toolsets: Annotated[
        str,
        Param(
            "Groups of tools [store,bank,sessions,code]; also first, maintenance, review",
            metavar="A,B",
            read=_split,
        ),
    ] = "",
    read_only: Annotated[bool, Param("Leave out every tool that writes")] = False,
    structured: Annotated[bool, Param("Add schemas, and structured content for agents")] = False,
    describe: Annotated[bool, Param("List the tools and their cost in tokens, and exit")] = False,
    http: Annotated[
        str | None, Param("Serve HTTP on this address instead of stdio", metavar="HOST:PORT")
    ] = None,
    token_file: Annotated[
        str | None,
        Param(
            "The bearer token's file; requires the token on any address",
            metavar="FILE",
            path="file",
        ),
    ] = None,
    hosts: _Hosts = (),
) -> int:
    """Serve the bank to agents (MCP)."""
    from memory_bank.frontends.mcp.toolbox import DEFAULT, Toolbox
    from memory_bank.frontends.serving.shared_bank import SharedBank

    if not http and (token_file or hosts):
        raise call.usage_error("--token-file and --allow-host need --http")
    toolbox = Toolbox(toolsets or DEFAULT, read_only=read_only, structured=structured)
    if describe:
        from memory_bank.frontends.mcp.toolbox import count_cost

        call.answer(count_cost(toolbox), lambda report: _show_cost(call, report))
        return 0
    from memory_bank.frontends.mcp.server import MemoryServer, serve_stdio

    server = MemoryServer(SharedBank(call.named_bank), toolbox)
    if http:
        from memory_bank.frontends.mcp.http_transport import serve_http

        file = Path(token_file) if token_file else None
        show_endpoint = partial(_show_endpoint, call)
        serve_http(server, http, token_file=file, hosts=hosts, on_start=show_endpoint)
        return 0
    if sys.stdin.isatty():
        call.remark("waiting for an agent's program on stdin; press Ctrl-C to stop, or see --help")
    serve_stdio(server)
    return 0


@operation(
    "serve lsp",
    why="""
    Serves the notes to an editor by the Language Server Protocol, over stdin and stdout. The editor
    starts this command itself; any number may run at the same time, beside agents and the command
    line. docs/editors has what to write into the settings of VS Code, Neovim, Helix and Zed.

    In a note: completion of [[links]], definition, references, hover, rename, problems and their
    fixes. Changes that are not saved yet count. Each file belongs to the bank of its folder;
    without a bank the server offers nothing, until there is one.
    """,
    examples=(
        ("memory-bank serve lsp", "the command in the editor's settings"),
        ("memory-bank --bank ~/notes serve lsp", "one bank for all files"),
    ),
)
def _serve_lsp(
    call: Call,
    *,
    stdio: Annotated[  # noqa: ARG001  (there is no other transport)
        bool, Param("Accepted, as editors add it: stdio is always used")
    ] = False,
) -> int:
    """Serve the notes to an editor (LSP)."""
    from memory_bank.frontends.lsp.features import build_server
    from memory_bank.frontends.lsp.language_server import serve_stdio

    server = build_server(call.named_bank)
    if sys.stdin.isatty():
        call.remark("waiting for an editor on stdin; press Ctrl-C to stop, or see --help")
    return serve_stdio(server)


@operation(
    "serve web",
    why="""
    Serves a dashboard: pages to search and read the notes in a browser, and to see what sessions
    did. It runs until Ctrl-C or SIGTERM, beside agents, editors and the command line.

    Without --write it changes nothing. A browser needs a token once: the printed address has it.
    So other users of this machine see nothing. The token is a new one with each start, unless
    --token-file names a file; on an address that other machines can reach it is the one of your
    agents, in a file that only you can read. The connection is not encrypted.
    """,
    examples=(
        ("memory-bank serve web", "on http://127.0.0.1:8766/"),
        ("memory-bank serve web --open", "and open it in the browser"),
        ("memory-bank serve web --write", "with forms to change notes"),
        ("memory-bank serve web --http 127.0.0.1:0", "on any free port"),
    ),
)
def _serve_web(
    call: Call,
    *,
    http: Annotated[
        str, Param("The address to listen on", metavar="HOST:PORT", shown_default="127.0.0.1:8766")
    ] = "127.0.0.1:8766",
    write: Annotated[bool, Param("Let the pages change notes")] = False,
    opened: Annotated[bool, Param("Open it in the browser", flags="--open")] = False,
    token_file: Annotated[
        str | None,
        Param("Use the token of this file, in place of a new one", metavar="FILE", path="file"),
    ] = None,
    no_token: Annotated[bool, Param("Let every user of this machine in")] = False,
    hosts: _Hosts = (),
) -> int:
    """Serve a dashboard to browsers."""
    from memory_bank.frontends.serving.shared_bank import SharedBank
    from memory_bank.frontends.web.app import first_address, redirect_file, serve_web
    from memory_bank.frontends.web.site import Site

    if no_token and token_file:
        raise call.usage_error("--no-token and --token-file exclude each other")
    with ExitStack() as exit_stack:

        def show_endpoint(endpoint: Endpoint) -> None:
            address = first_address(endpoint)
            _show_endpoint(call, endpoint, address)
            if endpoint.token is None:
                call.warn("every user and program of this machine can read it")
            if opened:
                import webbrowser

                if endpoint.token:
                    address = exit_stack.enter_context(redirect_file(address))
                webbrowser.open(address)

        site = Site(SharedBank(call.named_bank), write=write)
        file = Path(token_file) if token_file else None
        serve_web(
            site, http, token_file=file, no_token=no_token, hosts=hosts, on_start=show_endpoint
        )
    return 0


def _show_endpoint(call: Call, endpoint: Endpoint, entrance: str = "") -> None:
    """Print the server's URL, for a browser with the token in it, and what a client needs."""
    file = endpoint.token.file if endpoint.token else None
    if call.json:
        fields: dict[str, object] = {"url": endpoint.url, "token_file": file}
        if entrance:
            fields["token"] = endpoint.token.value.decode() if endpoint.token else None
        call.console.document(fields, indent=None)
    else:
        call.console.line("serving ", (entrance or endpoint.url, "place"))
    call.console.flush()
    if endpoint.token and file:
        verb = "was created" if endpoint.token.made else "is"
        how = "the address has it" if entrance else "send `Authorization: Bearer TOKEN`"
        call.remark(f"the token {verb} in {file}: {how}")
    if endpoint.remote:
        call.warn("the connection is not encrypted: use a proxy with TLS, or a tunnel")


def _show_cost(call: Call, cost: Cost) -> None:
    rows = [
        (tool.name, "writes" if tool.writes else "reads", str(tool.model_tokens), str(tool.tokens))
        for tool in cost.tools
    ]
    rows.append(("all", "", f"{cost.model_tokens:,}", f"{cost.tokens:,}"))
    call.console.table(("tool", "", "tokens in the model's context", "tokens listed"), rows)
    call.remark(cost.method)


topic(
    "serve",
    "Serve the bank to agents, editors and browsers.",
    group="Agents",
    why="""
    Serves the bank to other programs: to agents by mcp, to editors by lsp, to browsers by web.
    """,
    examples=(
        ("memory-bank serve mcp", "serve it to agents"),
        ("memory-bank serve lsp", "serve it to an editor"),
        ("memory-bank serve web", "serve a dashboard to a browser"),
    ),
)
