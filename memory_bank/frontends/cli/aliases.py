"""Words that other tools use for our commands and options; no help shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

COMMANDS: Mapping[str, str] = {
    "add": "remember",
    "append": "edit --append",
    "blame": "log --sections",
    "blast-radius": "code blast-radius",
    "context": "session context",
    "coupling": "code coupling",
    "delete": "rm",
    "explain-symbol": "code explain-symbol",
    "find": "recall",
    "grep": "recall",
    "hooks": "agents",
    "hooks install": "agents install --only hooks",
    "hooks status": "agents list",
    "hooks uninstall": "agents remove --only hooks",
    "list": "notes",
    "ls": "notes",
    "mcp": "agents",
    "mcp install": "agents install --only server",
    "mcp uninstall": "agents remove --only server",
    "new": "remember",
    "observations": "session show",
    "promote": "session promote",
    "publish": "shared publish",
    "rename": "mv",
    "restore": "trash restore",
    "search": "session search",
    "stats": "doctor --counts",
    "symbols": "code symbols",
    "tests-for": "code tests-for",
    "timeline": "session timeline",
    "update": "edit --replace",
    "watch": "sync --watch",
}
"""What a command is called here, with the options that make it the same."""

OPTIONS: Mapping[str, str] = {"--port": "--http", "--tag": "--tags"}
"""What an option is called here."""

RIGHTS = frozenset(
    [
        "--allow-host",
        "--allow-secret",
        "--discard-edits",
        "--force",
        "--no-token",
        "--write",
        "--yes",
    ]
)
"""Options that let a command do more, which no error suggests: who asks for them knows them."""


def translate_command(args: Sequence[str], commands: Collection[str]) -> list[str]:
    """Return arguments whose first words, if no command has them, are those of the command."""
    for end in (2, 1) if args and args[0] not in commands else ():
        words = " ".join(args[:end])
        if words in COMMANDS:
            rest = args[end:]
            if end > 1:  # `--client NAME` of former commands is an argument now
                rest = [arg.removeprefix("--client=") for arg in rest if arg != "--client"]
            return [*COMMANDS[words].split(), *rest]
    return list(args)


def translate_options(args: Sequence[str], entries: Collection[str]) -> list[str]:
    """Return arguments in which options of other names have those that a command knows."""
    end = args.index("--") if "--" in args else len(args)
    return [*(_known_option(arg, entries) for arg in args[:end]), *args[end:]]


def _known_option(argument: str, options: Collection[str]) -> str:
    name, equals, value = argument.partition("=")
    option = OPTIONS.get(name, "")
    return f"{option}{equals}{value}" if option in options and name not in options else argument
