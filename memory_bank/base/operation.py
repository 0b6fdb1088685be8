"""Declare an operation once: a function whose annotations say what front ends show of it.

A parameter that front ends show is annotated `Annotated[type, Param(…)]`; commands, tools of agents
and the reference are derived from that. All others are of the Python API only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from memory_bank.base.errors import BadInput
from memory_bank.base.text import agent_name

Example = tuple[str, str]
"""A command line, and what it is for."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Param(NamedTuple):
    """What front ends say of a parameter; of several, the first field that is set counts."""

    help: str = ""
    """What it is, for people, on one line."""
    flags: str = ""
    """`--other-name`, or `-i, --interactive`; by default `--` and the parameter's name."""
    metavar: str = ""
    argument: bool = False
    """Whether it is given by its place in a command, not by a flag."""
    choices: Sequence[str] = ()
    least: float | None = None
    most: float | None = None
    path: str = ""
    """`any`, `file`, `folder` or `existing` if it is a path of this machine."""
    complete: str | Callable[[str], Sequence[str]] = ""
    """What a shell completes: `notes`, `tags` …, or a function of the word's start."""
    read: Callable[[Any], Any] | None = None
    """Makes the value of what was written; raises BadInput."""
    excludes: bool = False
    """Whether `-word` in a query excludes a word."""
    shown_default: str = ""
    hidden: bool = False
    about: str = ""
    """What it is, for agents; each word costs tokens in every session."""


class Parameter(NamedTuple):
    """A parameter that front ends show."""

    name: str
    type: Any
    """Its type without the annotation."""
    default: Any
    """`inspect.Parameter.empty` if it must be given."""
    param: Param

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty


class Operation(NamedTuple):
    """A declared operation."""

    name: str
    """The words of its command: `recall`, `session list`."""
    run: Callable[..., Any]
    why: str
    examples: Sequence[Example]
    group: str
    show: Callable[..., int | None] | None
    allow_secret: bool
    kinds: Callable[[], Mapping[str, str]] | None

    @property
    def summary(self) -> str:
        """One line that says what it does."""
        return (self.run.__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def parameters(self) -> list[Parameter]:
        """Its parameters that front ends show, those of its view after those of the verb."""
        views = parameters(self.show) if self.show else ()
        return [*parameters(self.run), *views]


class Topic(NamedTuple):
    """Operations whose commands start with the same word."""

    name: str
    summary: str
    group: str
    why: str
    examples: Sequence[Example]
    default: str
    """The operation that runs without a second word; none if empty."""
    options: bool
    """Whether `--bank` and `--json` may stand before the second word."""


declared: dict[str, Operation] = {}
"""The operations of the modules that were imported, by name."""

topics: dict[str, Topic] = {}


def operation(
    name: str,
    *,
    why: str,
    examples: Sequence[Example],
    group: str = "",
    show: Callable[..., int | None] | None = None,
    allow_secret: bool = False,
    kinds: Callable[[], Mapping[str, str]] | None = None,
) -> Callable[[Function], Function]:
    """Declare a function as an operation; its docstring's first line is what `-h` shows.

    Its first parameter says what it gets: `bank`, `code`, or `call` for the whole context of a
    command, of which it returns the exit code. `show` prints the result of the others: it gets the
    context, the result, and parameters of its own, which only change what is printed; it returns
    an exit code, or None for that of the result. With `allow_secret`, texts that look like secrets
    can be written on request. `kinds` lists what help shows below the usage.
    """

    def declare(function: Function) -> Function:
        declared[name] = Operation(name, function, why, examples, group, show, allow_secret, kinds)
        return function

    return declare


def topic(
    name: str,
    summary: str,
    *,
    group: str,
    why: str,
    examples: Sequence[Example],
    default: str = "",
    options: bool = False,
) -> None:
    """Declare the word with which the commands of several operations start."""
    topics[name] = Topic(name, summary, group, why, examples, default, options)


def parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield the parameters of a function that front ends show, in their order.

    Other annotations are not evaluated: their names may be imported for type checkers only.
    """
    for name, one in inspect.signature(function).parameters.items():
        kind = one.annotation
        if isinstance(kind, str) and not kind.startswith(_SIMPLE):
            kind = eval(kind, function.__globals__)  # noqa: S307  (our own annotation)
        if get_origin(kind) is not Annotated:
            continue
        given = [item for item in kind.__metadata__ if isinstance(item, Param)]
        if given:
            kind = get_args(kind)[0]
            yield Parameter(name, kind, one.default, _joined(given, kind))


_SIMPLE = ("str", "int", "bool", "float", "tuple[", "Sequence[", "Bank", "Call", "Codebase", "None")


def _joined(given: Sequence[Param], kind: object) -> Param:
    """Return one description of several: an annotation may add to that of a shared type."""
    fields: dict[str, Any] = {}
    unset = Param()
    for one in given:
        fields |= {
            name: value for name, value in one._asdict().items() if value != getattr(unset, name)
        }
    for choice in (kind, *get_args(kind)):
        if get_origin(choice) is Literal:
            fields["choices"] = get_args(choice)
    return Param(**fields)


def _split(given: Sequence[str]) -> tuple[str, ...]:
    tags = tuple(tag.strip() for words in given for tag in words.split(","))
    if "" in tags:
        raise BadInput("a tag is empty", "")
    return tags


def _visible(given: str | None) -> str | None:
    if given and not agent_name(given):
        raise BadInput("the name has no visible character", "")
    return given


Note = Annotated[str, Param(argument=True, complete="notes")]
Notes = Annotated[tuple[str, ...], Param(argument=True, complete="notes", metavar="NAME...")]
Text = Annotated[str | None, Param(argument=True, metavar="[TEXT]")]
Tags = Annotated[tuple[str, ...], Param(metavar="A,B", read=_split, complete="tags")]
Type = Annotated[str | None, Param(flags="--type", metavar="TYPE", complete="types")]
Limit = Annotated[int | None, Param(metavar="N")]
Since = Annotated[
    str | None, Param("Written or changed since: 7d, last week, 2026-05-08", metavar="WHEN")
]
Before = Annotated[str | None, Param("Written before: as --since", metavar="WHEN")]
IncludeArchived = Annotated[bool, Param("Include archived notes")]
IfMatch = Annotated[
    str | None,
    Param("Change the note only if it still has this etag (see show --json)", metavar="ETAG"),
]
Agent = Annotated[
    str | None,
    Param("The agent that makes the change, if an agent does", metavar="NAME", read=_visible),
]
FailOn = Annotated[
    str | None,
    Param(
        "Exit with 1 for findings of this severity or a higher one; default: error",
        metavar="SEVERITY",
        choices=("error", "warning", "info", "never"),
    ),
]
