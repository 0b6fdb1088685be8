"""Find the declared operations: ours by a generated table of names, others in installed packages.

A command imports the module of its own operation only; `frontends/reference.py` writes the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memory_bank.base import plugins
from memory_bank.frontends import operations

if TYPE_CHECKING:  # start-up: the list of commands needs no declaration
    from memory_bank.base.operation import Operation, Tool, Topic

KIND = "operations"

Row = tuple[str, str, str]
"""Name, group and summary of a command."""


def list_words() -> list[str]:
    """Return the first words of all commands, sorted, ours and those of installed packages."""
    own = {name.partition(" ")[0] for name in operations.COMMANDS}
    return sorted({*own, *(name.replace("_", "-") for name in plugins.list_installed(KIND))})


def list_commands() -> Iterator[Row]:
    """Yield what the list of commands shows, by name."""
    for name in list_words():
        if name in operations.COMMANDS:
            _, group, summary = operations.COMMANDS[name]
            if group:  # else programs run it
                yield name, group, summary
        else:
            from memory_bank.base import operation

            _load(name)
            topic = operation.topics.get(name) or operation.declared[name]
            yield name, topic.group, topic.summary.rstrip(".")


def find_topic(word: str) -> Topic | None:
    """Import what declares the first word of a command; return its topic, if it is one."""
    from memory_bank.base import operation

    is_topic = any(name.startswith(f"{word} ") for name in operations.COMMANDS)
    if is_topic or word not in operations.COMMANDS:
        _load(word)
    return operation.topics.get(word)


def list_subcommands(word: str) -> dict[str, str]:
    """Return the second words of a topic's commands, each with its summary."""
    from memory_bank.base import operation

    if word in operations.COMMANDS:
        summaries = {name: summary for name, (_, _, summary) in operations.COMMANDS.items()}
    else:
        summaries = {name: declared.summary for name, declared in operation.declared.items()}
    start = f"{word} "
    return {
        name.removeprefix(start): summary
        for name, summary in summaries.items()
        if name.startswith(start)
    }


def load(name: str) -> Operation:
    """Import the module of an operation, and return the operation."""
    from memory_bank.base import operation

    if name not in operation.declared:
        _load(name)
    return operation.declared[name]


def find_toolset(tool: str) -> tuple[str, bool]:
    """Return the toolset of one of our tools, and whether it changes nothing."""
    return operations.TOOLS[tool][1:]


def list_toolsets() -> list[str]:
    """Return the names of our toolsets."""
    return sorted({toolset for _, toolset, _ in operations.TOOLS.values()})


def load_tools(toolset: str) -> list[tuple[Operation, Tool]]:
    """Import the operations of a toolset; return each with what makes it a tool."""
    from memory_bank.base import operation

    own = [name for name, row in operations.TOOLS.items() if row[1] == toolset]
    for name in own:
        import_module(f"memory_bank.{operations.TOOLS[name][0]}")
    installed = (pair for pair in load_installed_tools().values() if pair[1].toolset == toolset)
    return [*(operation.tools[name] for name in own), *installed]


def load_installed_tools() -> dict[str, tuple[Operation, Tool]]:
    """Import the operations of installed packages; return those that are tools, by name."""
    from memory_bank.base import operation

    for name in plugins.list_installed(KIND):
        plugins.load(KIND, name)
    return {
        name: tool
        for name, tool in operation.tools.items()
        if name not in operations.TOOLS and not tool[0].run.__module__.startswith("memory_bank.")
    }


def fill_parameters(
    function: Callable[..., Any], sources: Mapping[str, Callable[[], Any]], *, named: bool = False
) -> dict[str, Any]:
    """Return the values of those parameters of a function that `sources` gives.

    An optional bank or code is None where there is none; one of both must be there, and the bank if
    the user `named` it.
    """
    import inspect  # start-up: the list of commands needs none

    from memory_bank.base.errors import MemoryBankError, NoBank, NoRepository

    values: dict[str, Any] = {}
    missing: list[MemoryBankError] = []
    optional_count = 0
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in sources:
            continue
        is_optional = str(parameter.annotation).endswith(" | None")
        if not is_optional or name not in {"bank", "code", "codebase"}:
            values[name] = sources[name]()
            continue
        optional_count += 1
        try:
            values[name] = sources[name]()
        except (NoBank, NoRepository) as error:
            if named and name == "bank":
                raise
            values[name] = None
            missing.append(error)
    if optional_count == len(missing) > 1:
        first, second = missing
        raise NoBank.after(first, f"{first.message}; {second.message}") from None
    return values


def _load(name: str) -> None:
    """Import the module that declares an operation, or those of a topic."""
    if name in operations.COMMANDS:
        import_module(f"memory_bank.{operations.COMMANDS[name][0]}")
        return
    plugins.load(KIND, name.partition(" ")[0].replace("-", "_"))
