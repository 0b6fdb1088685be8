"""Write what is derived from the declarations: the table of operations.

`python -m memory_bank.frontends.reference` writes it; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from memory_bank.base import operation
from memory_bank.base.rendering import document
from memory_bank.frontends import declared

_PACKAGE = Path(__file__).parent.parent

_DECLARES = "from memory_bank.base.operation import"


def modules() -> Iterator[str]:
    """Import the modules that declare operations, and yield their names below `memory_bank`."""
    for file in sorted(_PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if _DECLARES in text and ("@operation(" in text or "topic(" in text):
            place = ".".join(file.relative_to(_PACKAGE).with_suffix("").parts)
            import_module(f"memory_bank.{place}")
            yield place


def files() -> dict[Path, str]:
    """Return the generated files, each with its text."""
    places = set(modules())
    own = {
        name: one
        for name, one in operation.declared.items()
        if one.run.__module__.removeprefix("memory_bank.") in places
    }
    table = {
        "operations": {
            name: {} if one.grows else declared.row(one) for name, one in sorted(own.items())
        },
        "topics": {
            name: {
                "summary": one.summary.rstrip("."),
                "why": one.why,
                "examples": one.examples,
                "default": one.default,
                "options": one.options,
            }
            for name, one in sorted(operation.topics.items())
        },
    }
    folder = _PACKAGE / "frontends"
    return {
        folder / "operations.py": _places(own),
        folder / "operations.json": _lines(table),
    }


def _lines(table: dict[str, dict[str, Any]]) -> str:
    """Return JSON with a line for each operation."""
    parts = []
    for part, found in table.items():
        rows = [f"{_text(name)}: {_text(one)}" for name, one in found.items()]
        parts.append(f"{_text(part)}: {{\n" + ",\n".join(rows) + "\n}")
    return "{" + ",\n".join(parts) + "}\n"


def _places(own: dict[str, operation.Operation]) -> str:
    """Return the table that the list of commands and the server's greeting need."""
    commands: dict[str, Any] = {}
    for name, one in sorted(own.items()):
        commands[name] = (_place(one), one.group, one.summary)
    for name, topic in operation.topics.items():
        place = next(place for word, (place, *_) in commands.items() if word.startswith(f"{name} "))
        commands[name] = (place, topic.group, topic.summary.rstrip("."))
    tools = {
        name: (_place(one), tool.toolset, tool.reads)
        for name, (one, tool) in sorted(operation.tools.items())
        if one.run.__module__.startswith("memory_bank.")
    }
    return "\n".join(
        [
            '"""The table of operations, which `memory_bank.frontends.reference` writes."""',
            "",
            "from __future__ import annotations",
            "",
            "# fmt: off",
            "# ruff: noqa: E501",
            "",
            "COMMANDS: dict[str, tuple[str, str, str]] = {",
            *(
                f"    {_text(name)}: ({', '.join(map(_text, commands[name]))}),"
                for name in sorted(commands)
            ),
            "}",
            '"""The module of each command, its group and its summary."""',
            "",
            "TOOLS: dict[str, tuple[str, str, bool]] = {",
            *(
                f"    {_text(name)}: ({_text(place)}, {_text(toolset)}, {reads}),"
                for name, (place, toolset, reads) in tools.items()
            ),
            "}",
            '"""The module of each tool, its toolset, and whether it changes nothing."""',
            "",
        ]
    )


def _place(one: operation.Operation) -> str:
    return one.run.__module__.removeprefix("memory_bank.")


def _text(value: Any) -> str:  # noqa: ANN401  (any JSON)
    return document(value, indent=None)


def main() -> None:
    """Write the generated files."""
    for file, text in files().items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
