"""The list of commands, which is printed without the library that reads command lines."""

from __future__ import annotations

from textwrap import fill, wrap

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
    ("--bank DIR", "The bank, its project or its name [env: MEMORY_BANK]"),
    ("--json", "Print one JSON document; errors too, on stderr"),
    ("--version", "Show the version"),
    ("-h, --help", "Show short help; --help adds details and examples"),
)

_NARROWEST, _WIDEST = 50, 80

_WHY = """
A bank is a folder of Markdown files, `.memories/` in your project, kept in git with the code.
People write them in any editor; memory-bank finds them by words, by meaning and by links.
Everything else (indices, vectors, access counts) is derived from the files or private to this
machine.

Every command works in any folder of the project. Answers go to stdout, remarks and errors to
stderr; with --json both are JSON. Exit codes: 0 found or done, 1 nothing found, 2 wrong usage,
3 failed, 130 interrupted. Colours are used only on a terminal, and never with NO_COLOR.
"""

_EXAMPLES = (
    ("memory-bank init", "make a bank in this project"),
    ('memory-bank remember "We use tantivy: Whoosh is dead" --type decision', "write it down"),
    ("memory-bank recall why tantivy", "find it again"),
    ("memory-bank recall --help", "learn more about one command"),
)


def text(width: int, *, long: bool) -> str:
    """Return the help of the program; the long form has all commands, reasons and examples."""
    if not long:
        return "\n".join(_short(width)) + "\n"
    parts = [
        f"Usage: {PROGRAM} [OPTIONS] COMMAND [ARGS]...",
        "",
        "Project memory as Markdown files in your own git repository.",
    ]
    for paragraph in _WHY.strip().split("\n\n"):
        parts += ["", fill(" ".join(paragraph.split()), width, break_on_hyphens=False)]
    parts += ["", *_commands(), "", "Options:"]
    gap = max(len(name) for name, _ in _OPTIONS) + 4
    for name, current_text in _OPTIONS:
        first, *rest = wrap(current_text, max(width - gap, 10))
        parts += [f"  {name:<{gap - 2}}{first}", *(f"{'':<{gap}}{part}" for part in rest)]
    for number, (line, current_text) in enumerate(_EXAMPLES):
        parts += ["", *(() if number else ("Examples:",))]
        parts += [f"  # {current_text}", f"  {line}"]
    return "\n".join(parts) + "\n"


def _short(width: int) -> list[str]:
    """Return the help that fits a screen: everyday commands with a line, the others by name."""
    rows = {name: (group, summary) for name, group, summary in declared.overview()}
    entries: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for name, (group, _) in rows.items():
        if name not in _EVERYDAY:
            entries.setdefault(group, []).append(name)
    parts = [
        f"Usage: {PROGRAM} COMMAND ...",
        "Project memory as Markdown files in your own git repository.",
        "",
        *(f"  {name:<{_COLUMN - 2}}{rows[name][1]}" for name in _EVERYDAY if name in rows),
        "",
    ]
    for group, names in entries.items():
        first, *rest = wrap(" ".join(names), width - _COLUMN, break_on_hyphens=False) or [""]
        if first:
            parts += [f"{group:<{_COLUMN}}{first}", *(f"{'':<{_COLUMN}}{line}" for line in rest)]
    return [*parts, f"{PROGRAM} COMMAND --help: options, examples; {PROGRAM} help --all: more"]


def _commands() -> list[str]:
    """Return a line for each command; the first of each group follows the group's name."""
    entries: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for name, group, summary in declared.overview():
        rows = entries.setdefault(group, [])
        head = group if not rows else ""
        rows.append(f"{head:<{_COLUMN}}{name:<{_NAMES}}{summary}")
    return [line for rows in entries.values() for line in rows]


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
