"""Derive commands of the command line from declared operations, with words of other tools."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.base.screen import FOUND
from memory_bank.frontends import declared
from memory_bank.frontends.cli.call import CommandCall
from memory_bank.frontends.cli.help import HelpCommand

if TYPE_CHECKING:
    from memory_bank.base.operation import Operation, Param, Parameter


COMMANDS: Mapping[str, str] = {
    "add": "remember",
    "append": "edit --append",
    "blame": "log --sections",
    "blast-radius": "code blast-radius",
    "context": "session context",
    "coupling": "code coupling",
    "delete": "rm",
    "explain-symbol": "code explain-symbol",
    "find": "recall",
    "grep": "recall",
    "hooks": "agents",
    "hooks install": "agents install --only hooks",
    "hooks status": "agents list",
    "hooks uninstall": "agents remove --only hooks",
    "list": "notes",
    "ls": "notes",
    "mcp": "agents",
    "mcp install": "agents install --only server",
    "mcp uninstall": "agents remove --only server",
    "new": "remember",
    "observations": "session show",
    "promote": "session promote",
    "publish": "shared publish",
    "rename": "mv",
    "restore": "trash restore",
    "search": "session search",
    "stats": "doctor --counts",
    "symbols": "code symbols",
    "tests-for": "code tests-for",
    "timeline": "session timeline",
    "update": "edit --replace",
    "watch": "sync --watch",
}
"""Our commands by the words of other tools, with the options that make them do the same."""

OPTIONS: Mapping[str, str] = {"--port": "--http", "--tag": "--tags"}
"""Our options by the names that other tools give them."""

RIGHTS = frozenset(
    [
        "--allow-host",
        "--allow-secret",
        "--discard-edits",
        "--force",
        "--no-token",
        "--write",
        "--yes",
    ]
)
"""Options that let a command do more, which no error suggests: who asks for them knows them."""


def translate_command(args: Sequence[str], commands: Collection[str]) -> list[str]:
    """Return arguments in which the words of other tools are replaced by those of our command."""
    for end in (2, 1) if args and args[0] not in commands else ():
        words = " ".join(args[:end])
        if words in COMMANDS:
            rest = args[end:]
            if end > 1:  # `--client NAME` of former commands is an argument now
                rest = [arg.removeprefix("--client=") for arg in rest if arg != "--client"]
            return [*COMMANDS[words].split(), *rest]
    return list(args)


def translate_options(args: Sequence[str], options: Collection[str]) -> list[str]:
    """Return arguments in which options of other tools have the names that a command knows."""
    end = args.index("--") if "--" in args else len(args)
    return [*(_translate_option(arg, options) for arg in args[:end]), *args[end:]]


def _translate_option(argument: str, options: Collection[str]) -> str:
    name, equals, value = argument.partition("=")
    option = OPTIONS.get(name, "")
    return f"{option}{equals}{value}" if option in options and name not in options else argument


_BANK, _JSON = "memory_bank.bank", "memory_bank.json"


def shared_options() -> list[click.Option]:
    """Return the options that the root and every command have."""
    return [
        click.Option(
            ["--bank"],
            metavar="DIR",
            expose_value=False,
            callback=_keep_option(_BANK),
            type=click.Path(),
            help="The bank or its project [env: MEMORY_BANK]",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            callback=_keep_option(_JSON),
            help="Print one JSON document; errors too, on stderr",
        ),
    ]


def named_bank(ctx: click.Context) -> str | None:
    """Return the folder given by `--bank`, before or after the command, or by MEMORY_BANK."""
    return ctx.meta.get(_BANK) or os.environ.get("MEMORY_BANK") or None


def _keep_option(key: str) -> Callable[[click.Context, click.Parameter, object], None]:
    def keep(ctx: click.Context, _: click.Parameter, value: object) -> None:
        if value:
            ctx.meta[key] = value

    return keep


def wants_json(ctx: click.Context) -> bool:
    """Return whether `--json` was given."""
    return bool(ctx.meta.get(_JSON))


def _complete_notes(ctx: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Return the note names that start with a text."""
    from memory_bank.bank.bank import open_bank
    from memory_bank.memory.show import known_names

    try:
        with open_bank(named_bank(ctx)) as bank:
            return _filter_start(known_names(bank), start)
    except MemoryBankError:
        return []  # a shell can't show errors during completion


def _complete_types(_: click.Context, __: click.Parameter, start: str) -> list[str]:
    """Return the known types that start with a text."""
    from memory_bank.notes.schema import KNOWN_TYPES

    return _filter_start(KNOWN_TYPES, start)


_COMPLETIONS: Mapping[str, Callable[..., Sequence[str]]] = {
    "notes": _complete_notes,
    "types": _complete_types,
}
"""What completes the values of parameters, as these name it."""


def _filter_start(words: Iterable[str], start: str) -> list[str]:
    return [word for word in words if word.startswith(start) and word.isprintable()]


_SECRET = "allow_secret"  # noqa: S105  (the name of an option)

SECRET = "Write the text even if it looks like a secret"  # noqa: S105  (a help)
"""The help of `--allow-secret`."""

_NEGATED = lazy_pattern(r"-[^-\s].*", re.DOTALL)


class DerivedCommand(HelpCommand):
    """A command of an operation."""

    def __init__(self, operation: Operation) -> None:
        """Make click's parameters of the operation's, and add `--bank` and `--json`."""
        self._operation = operation
        self._parameters = operation.parameters
        super().__init__(
            operation.name.rpartition(" ")[2],
            help=operation.summary,
            why=operation.why,
            examples=operation.examples,
            callback=self._run,
            params=[_make_parameter(parameter) for parameter in self._parameters],
        )
        last = self.params[-2:]
        self.params = [
            *self.params[:-2],
            *_make_secret_options(operation),
            *shared_options(),
            *last,
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take options by names of other tools, and `-word` as an excluded word of a query."""
        options = [parameter for parameter in self.params if isinstance(parameter, click.Option)]
        args = translate_options(args, {name for option in options for name in option.opts})
        if any(parameter.param.excludes for parameter in self._parameters):
            args = _move_excluded(self.params, args)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (click's)
        """Write one line for each kind of what the operation takes."""
        kinds = self._operation.kinds
        if kinds is None:
            return
        formatter.write("\nKinds:\n")
        formatter.indent()
        formatter.write_dl(list(kinds().items()))
        formatter.dedent()

    def _run(self, **values: Any) -> int:  # noqa: ANN401  (click's)
        ctx = click.get_current_context()
        secret = bool(values.pop(_SECRET, False)) if self._operation.allow_secret else False
        call = CommandCall(
            ctx.command_path, bank=named_bank(ctx), json=wants_json(ctx), allow_secret=secret
        )
        values = {name: value for name, value in values.items() if value not in (None, ())}
        return answer(self._operation, call, values)


def answer(operation: Operation, call: CommandCall, fields: dict[str, Any]) -> int:
    """Run an operation and print its result; return the exit code."""
    from memory_bank.base.operation import parameters
    from memory_bank.base.view import write_view

    run = operation.through or operation.run
    view = operation.view
    view_options = {parameter.name for parameter in parameters(view)} if view else set()
    parameter_names = set(inspect.signature(run).parameters)
    arguments = {
        name: value
        for name, value in fields.items()
        if name not in view_options or name in parameter_names
    }
    with ExitStack() as exit_stack:
        values: dict[str, Any] = {}

        def once(name: str, make: Callable[[], Any]) -> Callable[[], Any]:
            return lambda: values[name] if name in values else values.setdefault(name, make())

        sources: dict[str, Callable[[], Any]] = {
            "call": lambda: call,
            "bank": once("bank", lambda: exit_stack.enter_context(call.open())),
            "code": once("code", lambda: exit_stack.enter_context(call.open_code())),
            "settings": call.settings,
            "progress": lambda: call.progress,
        }
        sources["codebase"] = sources["code"]
        result = run(
            **declared.fill_parameters(run, sources, named=call.named_bank is not None), **arguments
        )
        if isinstance(result, int):
            return result

        if view is None:
            call.document(result)
            return FOUND
        names = set(inspect.signature(view).parameters)
        view_arguments = {name: value for name, value in fields.items() if name in names}
        view_arguments |= declared.fill_parameters(view, sources)
        code = write_view(call, result, view(result, **view_arguments))
        if operation.after is not None:
            operation.after(call, result, sources["bank"]())
    return code


def _make_parameter(parameter: Parameter) -> click.Parameter:
    param = parameter.param
    settings: dict[str, Any] = {"is_flag": True}
    if parameter.kind is not bool:
        settings = {"type": _choose_type(parameter), "metavar": param.metavar or None}
        settings["required"] = parameter.required and not param.asked
    if parameter.kind is bool and parameter.default is True:
        settings["callback"] = _negate_flag
    elif not parameter.required and parameter.default not in (None, False, "", ()):
        settings["default"] = parameter.default
    if param.read or param.words:
        settings["callback"] = _make_reader(param)
    if param.complete:
        settings["shell_complete"] = _COMPLETIONS[param.complete]
    if param.argument:
        return click.Argument(
            [parameter.name], nargs=-1 if parameter.many or param.words else 1, **settings
        )
    flags = param.flags.split(", ") if param.flags else [f"--{parameter.name.replace('_', '-')}"]
    text = f"{param.help}  [default: {param.shown_default}]" if param.shown_default else param.help
    return click.Option([*flags, parameter.name], help=text, multiple=parameter.many, **settings)


def _negate_flag(_: click.Context, __: click.Parameter, is_given: bool) -> bool:  # noqa: FBT001  (click's)
    return not is_given


def _choose_type(parameter: Parameter) -> click.ParamType[Any] | type:
    param = parameter.param
    if param.path:
        return click.Path(
            exists=param.path == "existing",
            file_okay=param.path != "folder",
            dir_okay=param.path != "file",
        )
    if param.choices:
        return click.Choice(list(param.choices))
    if (param.least, param.most) != (None, None) and parameter.kind in {int, float}:
        bounds: Any = click.FloatRange if parameter.kind is float else click.IntRange
        param_type: click.ParamType[Any] = bounds(param.least, param.most)
        return param_type
    kind: type = parameter.kind
    return kind


def _make_reader(described: Param) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def callback(ctx: click.Context, param: click.Parameter, argument: Any) -> Any:  # noqa: ANN401
        if ctx.resilient_parsing:
            return argument
        value = (" ".join(argument) or None) if described.words else argument
        try:
            return described.read(value) if described.read else value
        except BadInput as error:
            raise click.BadParameter(error.message, ctx, param) from error

    return callback


def _make_secret_options(operation: Operation) -> list[click.Option]:
    option = click.Option(["--allow-secret", _SECRET], is_flag=True, help=SECRET)
    return [option] if operation.allow_secret else []


def _move_excluded(params: Sequence[click.Parameter], args: Sequence[str]) -> list[str]:
    """Move the excluded words of a query behind `--`."""
    end = args.index("--") if "--" in args else len(args)
    options = [
        parameter
        for parameter in params
        if isinstance(parameter, click.Option) and not parameter.is_flag
    ]
    with_value = {name for option in options for name in option.opts}
    excluded = [
        number
        for number, word in enumerate(args[:end])
        if len(word) > len("-h") and _NEGATED.fullmatch(word)
        if not number or args[number - 1] not in with_value
    ]
    words_before = [word for number, word in enumerate(args[:end]) if number not in excluded]
    behind = [*(args[number] for number in excluded), *args[end + 1 :]]
    # only if needed: an option without its value would take `--` as the value
    return [*words_before, *(["--", *behind] if behind else [])]
