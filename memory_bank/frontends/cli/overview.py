"""The list of commands, which is printed without the library that reads command lines."""

from __future__ import annotations

from textwrap import wrap

from memory_bank.frontends import declared
from memory_bank.frontends.cli.console import Console

PROGRAM = "memory-bank"

COMPLETE = "_MEMORY_BANK_COMPLETE"
"""The environment variable by which a shell asks for completions."""

_GROUPS = (
    "Start",
    "Write",
    "Find",
    "Code",
    "Review",
    "Organise",
    "Sessions",
    "Agents",
    "Share",
    "Look after",
)

_COLUMN, _NAMES = 12, 15

_EVERYDAY = ("recall", "ask", "remember", "edit", "notes", "review", "stale", "doctor", "serve")
"""The commands that have a line in the short help; the others are named."""

_OPTIONS = (
    ("--bank DIR", "The bank or its project [env: MEMORY_BANK]"),
    ("--json", "Print one JSON document; errors too, on stderr"),
    ("--version", "Show the version"),
    ("-h, --help", "Show short help; --help adds details and examples"),
)

_NARROWEST, _WIDEST = 50, 80


def text(width: int, *, long: bool) -> str:
    """Return the help of the program; the long form has a line for each command and option."""
    if not long:
        return "\n".join(_list_everyday(width)) + "\n"
    parts = [
        f"Usage: {PROGRAM} [OPTIONS] COMMAND [ARGS]...",
        "Project memory as Markdown files in your own git repository.",
        "",
        *_list_commands(),
        "",
        "Options:",
    ]
    gap = max(len(name) for name, _ in _OPTIONS) + 4
    for name, meaning in _OPTIONS:
        first, *rest = wrap(meaning, max(width - gap, 10))
        parts += [f"  {name:<{gap - 2}}{first}", *(f"{'':<{gap}}{part}" for part in rest)]
    parts += [f"{PROGRAM} COMMAND --help: what it does, options, examples"]
    return "\n".join(parts) + "\n"


def _list_everyday(width: int) -> list[str]:
    """Return the help that fits a screen: everyday commands with a line, the others by name."""
    rows = {name: (group, summary) for name, group, summary in declared.list_commands()}
    names_by_group: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for name, (group, _) in rows.items():
        if name not in _EVERYDAY:
            names_by_group.setdefault(group, []).append(name)
    parts = [
        f"Usage: {PROGRAM} COMMAND ...",
        "Project memory as Markdown files in your own git repository.",
        "",
        *(f"  {name:<{_COLUMN - 2}}{rows[name][1]}" for name in _EVERYDAY if name in rows),
        "",
    ]
    for group, names in names_by_group.items():
        first, *rest = wrap(" ".join(names), width - _COLUMN, break_on_hyphens=False) or [""]
        if first:
            parts += [f"{group:<{_COLUMN}}{first}", *(f"{'':<{_COLUMN}}{line}" for line in rest)]
    return [*parts, f"{PROGRAM} COMMAND --help: options, examples; {PROGRAM} help --all: more"]


def _list_commands() -> list[str]:
    """Return a line for each command; the first of each group follows the group's name."""
    rows_by_group: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for name, group, summary in declared.list_commands():
        rows = rows_by_group.setdefault(group, [])
        head = group if not rows else ""
        rows.append(f"{head:<{_COLUMN}}{name:<{_NAMES}}{summary}")
    return [line for rows in rows_by_group.values() for line in rows]


def show(text: str, console: Console) -> None:
    """Print help, with bold headings on a terminal."""
    for line in text.splitlines():
        heading, colon, rest = line.partition(":")
        if colon and not rest and not line.startswith(" "):
            console.line((line, "bold"))
        elif heading == "Usage":
            console.line((f"{heading}:", "bold"), rest)
        else:
            console.line(line)


def help_width(console: Console) -> int:
    """Return the columns that help takes on a console."""
    return max(_NARROWEST, min(console.columns, _WIDEST))
