"""Write what is derived from the declarations: the table of operations, and blocks of the docs.

`python -m memory_bank.frontends.reference` writes them; a test compares. In the docs, each is the
block behind a comment: `<!--options:edit,append-->`, `<!--settings:search-->`, `<!--tools-->`,
`<!--rules-->`, `<!--functions-->`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import TextWrapper, shorten
from typing import Any

from memory_bank.base import lazy_pattern, operation, settings
from memory_bank.base.rendering import render_document
from memory_bank.base.settings import Settings
from memory_bank.frontends import declared

_PACKAGE = Path(__file__).parent.parent

_DOCS = _PACKAGE.parent / "docs"

_BLOCK = lazy_pattern(
    r"^<!--(\w++):?(.*)-->\n```(.*)\n(?:(?!```$|<!--).*\n)*(?=```$)", re.MULTILINE
)

_WIDEST = 27
"""Columns of the longest option that has its meaning on the same line."""

_ONCE = frozenset(["--limit", "--dry-run", "--fail-on", "--agent", "--if-match"])
"""Options that the page of commands describes once, as it does `--yes` and `--allow-secret`."""

_DECLARES = "from memory_bank.base.operation import"


def load_modules() -> Iterator[str]:
    """Import the modules that declare operations, and yield their names below `memory_bank`."""
    for file in sorted(_PACKAGE.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if _DECLARES in source and ("@operation(" in source or "topic(" in source):
            module = ".".join(file.relative_to(_PACKAGE).with_suffix("").parts)
            import_module(f"memory_bank.{module}")
            yield module


def generate_files() -> dict[Path, str]:
    """Return the generated files, each with its text."""
    modules = set(load_modules())
    own = {
        name: command
        for name, command in operation.declared.items()
        if command.run.__module__.removeprefix("memory_bank.") in modules
    }
    folder = _PACKAGE / "frontends"
    pages = {file: file.read_text(encoding="utf-8") for file in sorted(_DOCS.glob("*.md"))}
    return {
        **{file: _BLOCK.sub(_fill_block, text) for file, text in pages.items() if "<!--" in text},
        folder / "operations.py": _write_table(own),
    }


def _fill_block(match: re.Match[str]) -> str:
    """Return a block of the docs with what its comment names."""
    writers = {
        "options": _write_options,
        "settings": _write_settings,
        "tools": _write_tools,
        "rules": _write_rules,
        "functions": _write_functions,
    }
    head = f"{match[0].partition('-->')[0]}-->\n```{match[3]}\n"
    return head + writers[match[1]](match[2].split(","))


def _write_options(words: Sequence[str]) -> str:
    """Return for each command its arguments and the options that are its own."""
    commands = [
        name
        for word in words
        for name in sorted(operation.declared)
        if _starts_with_word(name, word)
    ]
    lines = TextWrapper(100, subsequent_indent="    ", break_on_hyphens=False)
    rows = [
        lines.fill(" ".join([name, *_yield_usage(operation.declared[name])])) for name in commands
    ]
    return "".join(f"{row}\n" for row in rows).replace("\N{NO-BREAK SPACE}", " ")


def _yield_usage(command: operation.Operation) -> Iterator[str]:
    """Yield the arguments of a command, then its options but those that the page says once."""
    flags = {
        _describe_flags(parameter): parameter.param.help
        for parameter in command.parameters
        if not parameter.param.argument
    }
    for parameter in command.parameters:
        if parameter.param.argument:
            yield parameter.param.metavar or parameter.name.upper()
    for flag, text in flags.items():
        if not (flag.split(" ")[0] in _ONCE or text.endswith("without asking")):
            yield f"[{flag}]".replace(" ", "\N{NO-BREAK SPACE}")


def _starts_with_word(name: str, word: str) -> bool:
    return f"{name} ".startswith(f"{word} ")


def _describe_flags(parameter: operation.Parameter) -> str:
    param = parameter.param
    flags = param.flags or f"--{parameter.name.replace('_', '-')}"
    value = "" if parameter.kind is bool else f" {param.metavar or parameter.kind.__name__.upper()}"
    if param.choices and not param.metavar:
        value = f" {'|'.join(param.choices)}"
    return ", ".join(f"{flag}{value}" for flag in flags.split(", "))


def _write_settings(sections: Sequence[str]) -> str:
    """Return a section of settings with the defaults, as a file has it."""
    rows = [f"[{sections[0]}]\n"]
    for section, key, default, meta in settings.describe():
        if section not in sections:
            continue
        value = list(default) if isinstance(default, tuple) else default
        text = f"# [{section}.…]" if meta.table else f"{key} = {_to_json(value)}"
        choices = f": {', '.join(meta.choices)}" if meta.choices else ""
        help_text = f"{'private: ' if meta.private else ''}{meta.help}{choices}"
        help_text += f"; {meta.range}" if meta.range else ""
        rows.append(f"{text:<{_WIDEST}} # {help_text}\n")
    return "".join(rows)


def _write_tools(_: Sequence[str]) -> str:
    """Return the tools of agents by toolset, each with its first sentence."""
    from memory_bank.frontends.mcp.toolbox import Toolbox

    rows: dict[str, list[str]] = {}
    for name in Toolbox(declared.list_toolsets()).tools:
        tool = operation.tools[name][1]
        about = re.split(r"(?<=[a-z)`][.?]) ", " ".join(tool.about.split()))[0]
        line = f"  {name:<22} {shorten(about, 100, placeholder=' …')}\n"
        rows.setdefault(tool.toolset, []).append(line)
    return "".join(f"{toolset}:\n{''.join(row)}" for toolset, row in rows.items())


def _write_rules(_: Sequence[str]) -> str:
    """Return the lint rules by severity, each with what it finds."""
    from memory_bank.review.rules.base import list_settings

    rows: dict[str, list[str]] = {"error": [], "warning": [], "info": []}
    for rule in list_settings(Settings()):
        rows[rule.severity].append(f"  {rule.rule:<20} {rule.summary}\n")
    return "".join(f"{severity}:\n{''.join(row)}" for severity, row in rows.items())


def _write_functions(_: Sequence[str]) -> str:
    """Return the functions of the Python API: what must be given, and what they return."""
    import memory_bank

    rows = []
    for name in memory_bank.__all__:
        function = getattr(memory_bank, name)
        if not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        required = [
            key
            for key, parameter in signature.parameters.items()
            if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        ]
        rest = ["…"] if len(required) < len(signature.parameters) else []
        rows.append(f"{name}({', '.join(required + rest)}): {signature.return_annotation}\n")
    return "".join(rows)


def _write_table(own: dict[str, operation.Operation]) -> str:
    """Return the table that the list of commands and the server's greeting need."""
    commands: dict[str, Any] = {}
    for name, command in sorted(own.items()):
        commands[name] = (_name_module(command), command.group, command.summary)
    for name, topic in operation.topics.items():
        commands[name] = (_find_topic_module(name), topic.group, topic.summary.rstrip("."))
    tools = {
        name: (_name_module(command), tool.toolset, tool.reads)
        for name, (command, tool) in sorted(operation.tools.items())
        if command.run.__module__.startswith("memory_bank.")
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
                f"    {_to_json(name)}: ({', '.join(map(_to_json, commands[name]))}),"
                for name in sorted(commands)
            ),
            "}",
            '"""The module of each command, its group and its summary."""',
            "",
            "TOOLS: dict[str, tuple[str, str, bool]] = {",
            *(
                f"    {_to_json(name)}: ({_to_json(place)}, {_to_json(toolset)}, {reads}),"
                for name, (place, toolset, reads) in tools.items()
            ),
            "}",
            '"""The module of each tool, its toolset, and whether it changes nothing."""',
            "",
        ]
    )


def _find_topic_module(name: str) -> str:
    """Return the module that declares a topic."""
    start = f'topic(\n    "{name}",\n'
    files = (file for file in sorted(_PACKAGE.rglob("*.py")) if start in file.read_text("utf-8"))
    return ".".join(next(files).relative_to(_PACKAGE).with_suffix("").parts)


def _name_module(command: operation.Operation) -> str:
    return command.run.__module__.removeprefix("memory_bank.")


def _to_json(value: Any) -> str:  # noqa: ANN401  (any JSON)
    return render_document(value, indent=None)


def main() -> None:
    """Write the generated files."""
    for file, text in generate_files().items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
