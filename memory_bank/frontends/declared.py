"""Find the declared operations: ours in the generated table, others in installed packages.

No operation is imported to list, describe or parse them; `frontends/reference.py` writes the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_bank.base import plugins
from memory_bank.frontends import operations

if TYPE_CHECKING:  # start-up: the list of commands needs no declaration
    from memory_bank.base.operation import Operation, Parameter, Tool

KIND = "operations"

Row = tuple[str, str, str]
"""Name, group and summary of a command."""

KINDS = {"str": str, "int": int, "float": float, "bool": bool}

_OF_AGENTS = frozenset(["about", "only", "longest", "accept"])
"""Fields that commands don't need."""


class Option(NamedTuple):
    """A parameter of a command, as the table describes it."""

    name: str
    kind: type
    many: bool
    required: bool
    default: Any
    fields: Mapping[str, Any]
    """The fields of its Param that are set; of functions, what calls them."""

    def __getattr__(self, field: str) -> Any:  # noqa: ANN401  (any field)
        """Return a field of its Param; its own default if it is not set."""
        return self.fields.get(field, _unset()[field])


class Described(NamedTuple):
    """What the command of an operation shows and takes."""

    name: str
    summary: str
    why: str
    examples: Sequence[Sequence[str]]
    options: Sequence[Option]
    allow_secret: bool
    kinds: bool


class DescribedTopic(NamedTuple):
    """What the command of a topic shows."""

    summary: str
    why: str
    examples: Sequence[Sequence[str]]
    default: str
    options: bool


@cache
def _unset() -> Mapping[str, Any]:
    from memory_bank.base.operation import Param

    return Param()._asdict()


def words() -> list[str]:
    """Return the first words of all commands, sorted, ours and those of installed packages."""
    own = {name.partition(" ")[0] for name in operations.COMMANDS}
    return sorted({*own, *(name.replace("_", "-") for name in plugins.installed(KIND))})


def overview() -> Iterator[Row]:
    """Yield what the list of commands shows, by name."""
    for name in words():
        if name in operations.COMMANDS:
            _, group, summary = operations.COMMANDS[name]
            if group:  # else programs run it
                yield name, group, summary
        else:
            from memory_bank.base import operation

            _load(name)
            current_topic = operation.topics.get(name) or operation.declared[name]
            yield name, current_topic.group, current_topic.summary.rstrip(".")


def described(name: str) -> Described:
    """Return what the command of an operation shows and takes."""
    found_table = _table()["operations"].get(name)
    if found_table is None or "parameters" not in found_table:
        found_table = row(load(name))
    options = [
        _option(name, number, table) for number, table in enumerate(found_table["parameters"])
    ]
    return Described(
        name, found_table["summary"], found_table["why"], found_table["examples"], options,
        found_table.get("allow_secret", False), found_table.get("kinds", False),
    )  # fmt: skip


def topic(word: str) -> tuple[DescribedTopic, list[str]] | None:
    """Return the topic of a word and the names of its operations; None if it is an operation."""
    if word not in operations.COMMANDS:
        _load(word)
        from memory_bank.base import operation

        found_topic = operation.topics.get(word)
        names: list[str] = list(operation.declared)
        described_topic = found_topic and DescribedTopic(
            found_topic.summary.rstrip("."),
            found_topic.why,
            found_topic.examples,
            found_topic.default,
            found_topic.options,
        )
    else:
        table = _table()["topics"].get(word)
        described_topic = table and DescribedTopic(**table)
        names = list(_table()["operations"])
    return (
        (described_topic, [name for name in names if name.startswith(f"{word} ")])
        if described_topic
        else None
    )


def load(name: str) -> Operation:
    """Import the module of an operation, and return the operation."""
    from memory_bank.base import operation

    if name not in operation.declared:
        _load(name)
    return operation.declared[name]


def toolset(tool: str) -> tuple[str, bool]:
    """Return the toolset of one of our tools, and whether it changes nothing."""
    return operations.TOOLS[tool][1:]


def toolsets() -> list[str]:
    """Return the names of our toolsets."""
    return sorted({toolset for _, toolset, _ in operations.TOOLS.values()})


def tools(toolset: str) -> list[tuple[Operation, Tool]]:
    """Import the operations of a toolset; return each with what makes it a tool."""
    from memory_bank.base import operation

    own = [name for name, (_, of, _) in operations.TOOLS.items() if of == toolset]
    for name in own:
        import_module(f"memory_bank.{operations.TOOLS[name][0]}")
    others_installed_tools = (
        installed_tool
        for installed_tool in installed_tools().values()
        if installed_tool[1].toolset == toolset
    )
    return [*(operation.tools[name] for name in own), *others_installed_tools]


def installed_tools() -> dict[str, tuple[Operation, Tool]]:
    """Import the operations of installed packages; return those that are tools, by name."""
    from memory_bank.base import operation

    for name in plugins.installed(KIND):
        plugins.load(KIND, name)
    return {
        name: tool
        for name, tool in operation.tools.items()
        if name not in operations.TOOLS and not tool[0].run.__module__.startswith("memory_bank.")
    }


def row(operation: Operation) -> dict[str, Any]:
    """Return what the table has of an operation, as JSON values."""
    from inspect import cleandoc  # start-up: the list of commands needs none

    entries = {
        "summary": operation.summary,
        "why": cleandoc(operation.why),
        "examples": [list(example) for example in operation.examples],
        "parameters": [_parameter(parameter) for parameter in operation.parameters],
    }
    marks = {"allow_secret": operation.allow_secret, "kinds": operation.kinds is not None}
    return entries | {name: True for name, mark in marks.items() if mark}


def given_to(
    function: Callable[..., Any], sources: Mapping[str, Callable[[], Any]], *, named: bool = False
) -> dict[str, Any]:
    """Return the values of a function's parameters that a front end gives.

    A bank or code that is optional is None where there is none; one of both must be there, and the
    bank if it was named.
    """
    import inspect  # start-up: the list of commands needs none

    from memory_bank.base.errors import MemoryBankError, NoBank, NoRepository

    entries: dict[str, Any] = {}
    missing: list[MemoryBankError] = []
    optional = 0
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in sources:
            continue
        if not str(parameter.annotation).endswith(" | None") or name not in {
            "bank",
            "code",
            "codebase",
        }:
            entries[name] = sources[name]()
            continue
        optional += 1
        try:
            entries[name] = sources[name]()
        except (NoBank, NoRepository) as error:
            if named and name == "bank":
                raise
            entries[name] = None
            missing.append(error)
    if optional == len(missing) > 1:
        first, second = missing
        raise NoBank.after(first, f"{first.message}; {second.message}") from None
    return entries


def _load(name: str) -> None:
    """Import the module that declares an operation, or those of a topic."""
    if name in operations.COMMANDS:
        import_module(f"memory_bank.{operations.COMMANDS[name][0]}")
        return
    plugins.load(KIND, name.partition(" ")[0].replace("-", "_"))


@cache
def _table() -> dict[str, Any]:
    import json
    from importlib.resources import files

    document: dict[str, Any] = json.loads((files(__package__) / "operations.json").read_bytes())
    return document


def _parameter(parameter: Parameter) -> dict[str, Any]:
    fields = {
        name: True if callable(value) else value
        for name, value in parameter.param._asdict().items()
        if value != _unset()[name] and name not in _OF_AGENTS
    }
    entries = {
        "name": parameter.name,
        "kind": parameter.kind.__name__,
        "many": parameter.many,
        **fields,
    }
    if parameter.required:
        entries["required"] = True
    elif (
        parameter.default is not None and parameter.default is not False and parameter.default != ()
    ):
        entries["default"] = parameter.default
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in entries.items()
    }


def _option(name: str, number: int, given_fields: Mapping[str, Any]) -> Option:
    fields = dict(given_fields)

    def read(value: Any) -> Any:  # noqa: ANN401  (any)
        of_parameter = load(name).parameters[number].param.read
        return of_parameter(value) if of_parameter else value

    if fields.get("read") is True:
        fields["read"] = read
    default = fields.pop("default", None)
    kind, many = KINDS.get(fields.pop("kind"), str), bool(fields.pop("many"))
    return Option(
        str(fields.pop("name")), kind, many, bool(fields.pop("required", False)), default, fields
    )
