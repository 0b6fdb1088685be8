"""Write what is derived from the declarations: the table of operations, and tables of the docs.

`python -m memory_bank.frontends.reference` writes them; a test compares. In the docs, they stand
between markers: `<!-- options: edit, append -->`, `<!-- settings: search -->`, `<!-- tools -->`,
`<!-- rules -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from memory_bank.base import operation
from memory_bank.base.rendering import document
from memory_bank.frontends import declared
from memory_bank.frontends.cli.derived import SECRET

_PACKAGE = Path(__file__).parent.parent

_DOCS = _PACKAGE.parent / "docs"

_MARKED = re.compile(r"^<!-- (\w+)(?:: (.*))? -->\n(?:.*\n)*?(?=<!-- /\1 -->$)", re.MULTILINE)

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
    pages = {file: file.read_text(encoding="utf-8") for file in sorted(_DOCS.glob("*.md"))}
    return {
        **{file: _MARKED.sub(_filled, text) for file, text in pages.items() if "<!-- /" in text},
        folder / "operations.py": _places(own),
        folder / "operations.json": _lines(table),
    }


def _filled(found: re.Match[str]) -> str:
    """Return a marker of the docs with what it stands for."""
    kind, names = found[1], [name.strip() for name in (found[2] or "").split(",")]
    tables = {"options": _options, "settings": _settings, "tools": _tools, "rules": _rules}
    if kind not in tables:
        return found[0]
    head = found[0].partition("\n")[0]
    return f"{head}\n{tables[kind](names)}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first, *others = [f"| {' | '.join(cells)} |\n" for cells in (heads, *rows)]
    return first + f"|{'---|' * len(heads)}\n" + "".join(others)


def _options(words: Sequence[str]) -> str:
    """Return the options of commands; of each, the commands that have it."""
    commands = [name for name in operation.declared if name.partition(" ")[0] in words]
    found: dict[tuple[str, str], list[str]] = {}
    for name in sorted(commands, key=lambda name: (words.index(name.partition(" ")[0]), name)):
        one = operation.declared[name]
        for each in one.parameters:
            if not (each.param.argument or each.param.hidden):
                found.setdefault((_flags(each), each.param.help), []).append(name)
        if one.allow_secret:
            found.setdefault(("`--allow-secret`", SECRET), []).append(name)
    if len(commands) == 1:
        return _table(("option", "meaning"), [(flags, what) for flags, what in found])
    of = ({name: name.removeprefix(f"{words[0]} ") for name in commands}) if words[1:] == [] else {}
    rows = [
        (
            flags,
            "all" if len(names) == len(commands) else ", ".join(f"`{of.get(n, n)}`" for n in names),
            what,
        )
        for (flags, what), names in found.items()
    ]
    return _table(("option", "of", "meaning"), rows) if rows else ""


def _flags(one: operation.Parameter) -> str:
    flags = one.param.flags.split(", ") if one.param.flags else [f"--{one.name.replace('_', '-')}"]
    value = "" if one.kind is bool else f" {one.param.metavar or one.kind.__name__.upper()}"
    value = (
        value if one.param.metavar or not one.param.choices else f" {'|'.join(one.param.choices)}"
    )
    return ", ".join(f"`{flag}{value}`".replace("|", "\\|") for flag in flags)


def _settings(sections: Sequence[str]) -> str:
    from memory_bank.base import settings

    rows = []
    for section, key, default, meta in settings.describe():
        if section not in sections:
            continue
        name = f"{section}.{key}"
        shown = _text(list(default) if isinstance(default, tuple) else default)
        variable = f"MEMORY_BANK_{name.removeprefix('memory.').replace('.', '_')}".upper()
        choices = f": {', '.join(f'`{one}`' for one in meta.choices)}" if meta.choices else ""
        said = f"{'**private**: ' if meta.private else ''}{meta.help}{choices}"
        said += f"; {meta.range}" if meta.range else ""
        rows.append((f"`{name}`", f"`{shown}`", "—" if meta.table else f"`{variable}`", said))
    return _table(("setting", "default", "variable", "meaning"), rows)


def _tools(_: Sequence[str]) -> str:
    from memory_bank.frontends.mcp.arguments import taken
    from memory_bank.frontends.mcp.toolbox import Toolbox

    rows = []
    for name in Toolbox(declared.toolsets()).tools:
        one, tool = operation.tools[name]
        arguments = ", ".join(f"`{argument}`" for argument in taken(one, tool))
        rows.append((f"`{name}`", f"`{tool.toolset}`", arguments, " ".join(tool.about.split())))
    return _table(("tool", "toolset", "arguments", "what it tells agents"), rows)


def _rules(_: Sequence[str]) -> str:
    from memory_bank.base.settings import Settings
    from memory_bank.review import lint

    rows = [(f"`{one.rule}`", one.severity, one.summary) for one in lint.listed(Settings())]
    return _table(("rule", "severity", "finds"), rows)


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
