"""Words that other tools use for our commands and options; no help shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

COMMANDS: Mapping[str, str] = {
    "add": "remember",
    "delete": "rm",
    "find": "recall",
    "grep": "recall",
    "list": "notes",
    "ls": "notes",
    "new": "remember",
    "rename": "mv",
}
"""What a command is called here."""

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


def with_known_options(args: Sequence[str], known: Collection[str]) -> list[str]:
    """Return arguments in which options of other names have those that a command knows."""
    end = args.index("--") if "--" in args else len(args)
    return [*(_known_option(one, known) for one in args[:end]), *args[end:]]


def _known_option(argument: str, known: Collection[str]) -> str:
    name, equals, value = argument.partition("=")
    option = OPTIONS.get(name, "")
    return f"{option}{equals}{value}" if option in known and name not in known else argument
