"""Declare an operation once: a function whose annotations say what front ends show of it.

A parameter that front ends show is annotated `Annotated[type, Param(…)]`; commands, tools of agents
and the reference are derived from that. What is opened or known by a front end is given to the
parameters `bank`, `code`, `settings`, `progress`, `agent`, `source_agent`, `sample` and `quote`.
All others are of the Python API only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin

from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput
from memory_bank.base.text import agent_name

if TYPE_CHECKING:
    from memory_bank.base.view import View

Example = tuple[str, str]
"""A command line, and what it is for."""

Function = TypeVar("Function", bound=Callable[..., Any])

NONE: Mapping[str, Any] = MappingProxyType({})

MOST_FOR_AGENTS = 20
"""Most calls, tests, notes … of one answer about code, each."""

REQUIRED = ...
"""The default of what must be given."""


class Param(NamedTuple):
    """What front ends say of a parameter; of several, the first field that is set counts."""

    help: str = ""
    """What it is, for people, on one line."""
    flags: str = ""
    """`--other-name`, or `-i, --interactive`; by default `--` and the parameter's name."""
    metavar: str = ""
    argument: bool = False
    """Whether it is given by its place in a command, not by a flag."""
    words: bool = False
    """Whether several words of a command line are one text."""
    asked: bool = False
    """Whether a command reads it from stdin or an editor if it is missing."""
    choices: Sequence[str] = ()
    least: float | None = None
    most: float | None = None
    path: str = ""
    """`any`, `file`, `folder` or `existing` if it is a path of this machine."""
    complete: str = ""
    """What a shell completes: `notes` or `types`."""
    read: Callable[[Any], Any] | None = None
    """Makes the value of what was written in a command; raises BadInput."""
    excludes: bool = False
    """Whether `-word` in a query excludes a word."""
    shown_default: str = ""
    about: str = ""
    """What it is, for agents; each word costs tokens in every session."""
    only: Any = None
    """The type that front ends take, if the function takes more."""
    longest: int | None = None
    """The most characters that an agent may give, of each text of a list."""
    accept: Callable[[Any], Any] | None = None
    """Makes what an agent may give, too, a value of the type; raises ValueError."""


class Tool(NamedTuple):
    """An operation as a tool of agents.

    Texts name other tools in backticks; sentences that name a tool which is not served are left
    out.
    """

    about: str
    """What the tool does, for agents."""
    toolset: str
    name: str = ""
    """By default that of the function."""
    takes: Mapping[str, str] | Sequence[str] = ()
    """Its arguments in their order, with the parameter each is; by default all parameters that
    front ends show, but those that a front end gives."""
    defaults: Mapping[str, Any] = NONE
    """Defaults of arguments that differ from those of the parameters."""
    bare: Sequence[str] = ()
    """Arguments without a description."""
    fixed: Mapping[str, Any] = NONE
    """Values of other parameters."""
    reads: bool = False
    """Whether it changes nothing."""
    destroys: bool = False
    """Whether it changes or removes existing text."""
    repeatable: bool = False
    """Whether a second call changes nothing more."""
    aside: bool = False
    """Whether other calls continue meanwhile, since it may take long."""
    sought_by: str = ""
    """Words of questions that it answers, for programs that load tools when they are searched for:
    these should always load it, and find it by each word."""
    without: Sequence[str] = ()
    """Fields that structured answers leave out."""
    depth: int = 1
    """How deep the output schema describes fields, some seven tokens each."""
    view: Callable[..., View] | None = None
    """What it says of an answer, if that differs from the operation's view."""
    run: Callable[..., Any] | None = None
    """What is called in place of the function, with the same parameters or more."""


class Parameter(NamedTuple):
    """A parameter that front ends show."""

    name: str
    type: Any
    """Its type without the annotation."""
    default: Any
    """`REQUIRED` if it must be given."""
    param: Param

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    @property
    def kind(self) -> type:
        """The type of one value: str, int, float or bool."""
        return _kind(self.type, several=self.param.metavar.endswith("..."))[0]

    @property
    def many(self) -> bool:
        """Whether several values may be given."""
        return _kind(self.type, several=self.param.metavar.endswith("..."))[1]


class Operation(NamedTuple):
    """A declared operation."""

    name: str
    """The words of its command: `recall`, `session list`; empty if it is a tool only."""
    run: Callable[..., Any]
    why: str = ""
    examples: Sequence[Example] = ()
    group: str = ""
    through: Callable[..., Any] | None = None
    after: Callable[..., None] | None = None
    allow_secret: bool = False
    kinds: Callable[[], Mapping[str, str]] | None = None
    tools: Sequence[Tool] = ()
    view: Callable[..., View] | None = None

    @property
    def summary(self) -> str:
        """One line that says what it does."""
        return (self.run.__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters of its command, those of its view after those of the verb.

        One that is neither an argument nor has a help is for agents only.
        """
        functions = filter(None, (self.run, self.through, self.view))
        visible = {
            parameter.name: parameter
            for function in functions
            for parameter in parameters(function)
        }
        return [
            parameter
            for parameter in visible.values()
            if parameter.param.argument or parameter.param.help
        ]


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
"""The operations of the modules that were imported, by the names of their commands."""

tools: dict[str, tuple[Operation, Tool]] = {}
"""The tools of the modules that were imported, by name."""

topics: dict[str, Topic] = {}


def operation(
    name: str,
    *,
    why: str = "",
    examples: Sequence[Example] = (),
    group: str = "",
    through: Callable[..., Any] | None = None,
    after: Callable[..., None] | None = None,
    allow_secret: bool = False,
    kinds: Callable[[], Mapping[str, str]] | None = None,
    tool: Tool | Sequence[Tool] = (),
    view: Callable[..., View] | None = None,
) -> Callable[[Function], Function]:
    """Declare a function as an operation; its docstring's first line is what `-h` shows.

    A command runs the function, or `through` with the same parameters and `call`, the context of
    the command, if something must be asked or read first; if that returns a number, it is the exit
    code. `view` makes of the result what the front ends write; commands give it those of `bank`,
    `code` and their parameters that it names. Without one, the result is printed as JSON. `after`
    gets the context, the result and the bank when a command has written it, to ask a person what
    follows. With `allow_secret`, texts that look like secrets can be written on request. `kinds`
    lists what help shows below the usage.
    """

    def declare(function: Function) -> Function:
        tool_rows = (tool,) if isinstance(tool, Tool) else tuple(tool)
        described = Operation(
            name,
            function,
            why,
            examples,
            group,
            through,
            after,
            allow_secret,
            kinds,
            tool_rows,
            view,
        )
        if name:
            declared[name] = described
        tools.update({tool.name or function.__name__: (described, tool) for tool in tool_rows})
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
    """Yield the parameters of a function that front ends show, in their order."""
    import inspect  # start-up: what a hook asks has no options

    for name, parameter in inspect.signature(function).parameters.items():
        kind = parameter.annotation
        if isinstance(kind, str):
            try:
                kind = eval(kind, function.__globals__)  # noqa: S307  (our own annotation)
            except NameError:
                continue  # imported for type checkers only, so it is not for front ends
        if get_origin(kind) is not Annotated:
            continue
        params = [item for item in kind.__metadata__ if isinstance(item, Param)]
        if params:
            kind = get_args(kind)[0]
            param = _join_params(params, kind)
            default = REQUIRED if parameter.default is parameter.empty else parameter.default
            yield Parameter(name, param.only or kind, default, param)


def _join_params(params: Sequence[Param], kind: object) -> Param:
    """Return one description of several: an annotation may add to that of a shared type."""
    fields: dict[str, Any] = {}
    unset = Param()
    for param in params:
        fields |= {
            name: value for name, value in param._asdict().items() if value != getattr(unset, name)
        }
    kind = fields.get("only", kind)
    for choice in (kind, *get_args(kind)):
        if get_origin(choice) is Literal:
            fields.setdefault("choices", get_args(choice))
    return Param(**fields)


def _kind(kind: Any, *, several: bool = False) -> tuple[type, bool]:  # noqa: ANN401  (a type)
    """Return the type of one value without None, and whether several values may be given."""
    arms = [arm for arm in _arms(kind) if arm is not type(None)]
    lists = [arm for arm in arms if get_origin(arm) not in {None, Literal, dict}]
    if lists and (str not in arms or several):
        return _kind(get_args(lists[0])[0])[0], True
    first = str if str in arms else arms[0]
    return (str if get_origin(first) is Literal else first), False


def _arms(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401
    union = isinstance(kind, UnionType) or str(get_origin(kind)) == "typing.Union"
    return get_args(kind) if union else (kind,)


def split_list(argument: Any) -> Any:  # noqa: ANN401  (of an agent)
    """Take one text, or several separated by commas, as a list."""
    return [part.strip() for part in argument.split(",")] if isinstance(argument, str) else argument


def _split_tags(lists: Sequence[str]) -> tuple[str, ...]:
    tags = tuple(tag.strip() for words in lists for tag in words.split(","))
    if "" in tags:
        raise BadInput("a tag is empty", "")
    return tags


def visible_name(text: str | None) -> str | None:
    """Return the name of an agent; raise BadInput if nothing of it can be seen."""
    if text and not agent_name(text):
        raise BadInput("the name has no visible character", "")
    return text


def _drop_empty(argument: Any) -> Any:  # noqa: ANN401  (of an agent)
    """Take an empty text for none."""
    return argument or None


LONGEST_NAME, LONGEST_QUERY = 2_000, 10_000
"""Characters of a name and of a question that are taken: what is longer is a mistake."""

Note = Annotated[str, Param(argument=True, complete="notes", longest=LONGEST_NAME)]
Notes = Annotated[
    Sequence[str], Param(argument=True, complete="notes", metavar="NAME...", longest=LONGEST_NAME)
]
Text = Annotated[str, Param(argument=True, metavar="[TEXT]", asked=True)]
Texts = Annotated[Sequence[str], Param(longest=LONGEST_NAME, most=1000)]
Tags = Annotated[Sequence[str], Param(metavar="A,B", read=_split_tags, most=100, longest=200)]
Type = Annotated[str | None, Param(metavar="TYPE", complete="types")]
Limit = Annotated[int | None, Param(metavar="N")]
Since = Annotated[
    str | datetime | None,
    Param("Written or changed since: 7d, last week, 2026-05-08", metavar="WHEN", only=str | None),
]
Before = Annotated[
    str | datetime | None, Param("Written before: as --since", metavar="WHEN", only=str | None)
]
IncludeArchived = Annotated[bool, Param("Include archived notes")]
IfMatch = Annotated[
    str | None,
    Param("Only if the note still has this etag (show --json)", metavar="ETAG", accept=_drop_empty),
]
Agent = Annotated[
    str | None, Param("The agent that makes the change", metavar="NAME", read=visible_name)
]
FailOn = Annotated[
    str | None,
    Param(
        "Exit with 1 for this severity or a higher one; default: error",
        metavar="SEVERITY",
        choices=("error", "warning", "info", "never"),
    ),
]
