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
            one = operation.topics.get(name) or operation.declared[name]
            yield name, one.group, one.summary.rstrip(".")


def described(name: str) -> Described:
    """Return what the command of an operation shows and takes."""
    found = _table()["operations"].get(name)
    if found is None or "parameters" not in found:
        found = row(load(name))
    options = [_option(name, number, given) for number, given in enumerate(found["parameters"])]
    return Described(
        name, found["summary"], found["why"], found["examples"], options,
        found.get("allow_secret", False), found.get("kinds", False),
    )  # fmt: skip


def topic(word: str) -> tuple[DescribedTopic, list[str]] | None:
    """Return the topic of a word and the names of its operations; None if it is an operation."""
    if word not in operations.COMMANDS:
        _load(word)
        from memory_bank.base import operation

        found = operation.topics.get(word)
        names: list[str] = list(operation.declared)
        shown = found and DescribedTopic(
            found.summary.rstrip("."), found.why, found.examples, found.default, found.options
        )
    else:
        given = _table()["topics"].get(word)
        shown = given and DescribedTopic(**given)
        names = list(_table()["operations"])
    return (shown, [name for name in names if name.startswith(f"{word} ")]) if shown else None


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
    others = (one for one in installed_tools().values() if one[1].toolset == toolset)
    return [*(operation.tools[name] for name in own), *others]


def installed_tools() -> dict[str, tuple[Operation, Tool]]:
    """Import the operations of installed packages; return those that are tools, by name."""
    from memory_bank.base import operation

    for name in plugins.installed(KIND):
        plugins.load(KIND, name)
    return {
        name: one
        for name, one in operation.tools.items()
        if name not in operations.TOOLS and not one[0].run.__module__.startswith("memory_bank.")
    }


def row(one: Operation) -> dict[str, Any]:
    """Return what the table has of an operation, as JSON values."""
    from inspect import cleandoc  # start-up: the list of commands needs none

    found = {
        "summary": one.summary,
        "why": cleandoc(one.why),
        "examples": [list(example) for example in one.examples],
        "parameters": [_parameter(given) for given in one.parameters],
    }
    marks = {"allow_secret": one.allow_secret, "kinds": one.kinds is not None}
    return found | {name: True for name, given in marks.items() if given}


def given_to(
    function: Callable[..., Any], sources: Mapping[str, Callable[[], Any]], *, named: bool = False
) -> dict[str, Any]:
    """Return the values of a function's parameters that a front end gives.

    A bank or code that is optional is None where there is none; one of both must be there, and the
    bank if it was named.
    """
    import inspect  # start-up: the list of commands needs none

    from memory_bank.base.errors import MemoryBankError, NoBank, NoRepository

    found: dict[str, Any] = {}
    missing: list[MemoryBankError] = []
    optional = 0
    for name, one in inspect.signature(function).parameters.items():
        if name not in sources:
            continue
        if not str(one.annotation).endswith(" | None") or name not in {"bank", "code", "codebase"}:
            found[name] = sources[name]()
            continue
        optional += 1
        try:
            found[name] = sources[name]()
        except (NoBank, NoRepository) as error:
            if named and name == "bank":
                raise
            found[name] = None
            missing.append(error)
    if optional == len(missing) > 1:
        first, second = missing
        raise NoBank.after(first, f"{first.message}; {second.message}") from None
    return found


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

    found: dict[str, Any] = json.loads((files(__package__) / "operations.json").read_bytes())
    return found


def _parameter(one: Parameter) -> dict[str, Any]:
    fields = {
        name: True if callable(value) else value
        for name, value in one.param._asdict().items()
        if value != _unset()[name] and name not in _OF_AGENTS
    }
    found = {"name": one.name, "kind": one.kind.__name__, "many": one.many, **fields}
    if one.required:
        found["required"] = True
    elif one.default is not None and one.default is not False and one.default != ():
        found["default"] = one.default
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in found.items()
    }


def _option(name: str, number: int, given: Mapping[str, Any]) -> Option:
    fields = dict(given)

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
