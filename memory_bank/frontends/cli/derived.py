"""Derive commands of the command line from declared operations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import click

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Operation, Param, Parameter
from memory_bank.frontends.cli import shell_completion
from memory_bank.frontends.cli.call import FOUND, Call
from memory_bank.frontends.cli.help import Command
from memory_bank.frontends.cli.shared_options import named_bank, shared_options, wants_json

_SECRET = "allow_secret"  # noqa: S105  (the name of an option)

_NEGATED = re.compile(r"-[^-\s].*", re.DOTALL)


class DerivedCommand(Command):
    """A command of an operation."""

    def __init__(self, operation: Operation) -> None:
        """Make the parameters of the operation's, and `--bank` and `--json`."""
        self._operation = operation
        super().__init__(
            operation.name.rpartition(" ")[2],
            help=operation.run.__doc__,
            why=operation.why,
            examples=operation.examples,
            callback=self._run,
            params=[_made(one) for one in operation.parameters],
        )
        last = self.params[-2:]
        self.params = [*self.params[:-2], *_secret(operation), *shared_options(), *last]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `-word` as an excluded word of a query, not as options."""
        if any(one.param.excludes for one in self._operation.parameters):
            args = _excluding(self.params, args)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (click's)
        """Write one line for each kind of what the operation takes."""
        if self._operation.kinds is None:
            return
        formatter.write("\nKinds:\n")
        formatter.indent()
        formatter.write_dl(list(self._operation.kinds().items()))
        formatter.dedent()

    def _run(self, **given: Any) -> int:  # noqa: ANN401  (click's)
        ctx = click.get_current_context()
        secret = bool(given.pop(_SECRET, False)) if self._operation.allow_secret else False
        call = Call(
            ctx.command_path, bank=named_bank(ctx), json=wants_json(ctx), allow_secret=secret
        )
        return answer(self._operation, call, given)


def answer(operation: Operation, call: Call, given: dict[str, Any]) -> int:
    """Run an operation and print its result; return the exit code."""
    wanted = next(iter(inspect.signature(operation.run).parameters), "")
    if wanted == "call":
        code: int = operation.run(call, **given)
        return code
    view = operation.show or _shown_as_json
    shown = {name for name in inspect.signature(view).parameters if name in given}
    mine = {name: value for name, value in given.items() if name not in shown}
    with call.open_code() if wanted == "code" else call.open() as opened:
        found = operation.run(opened, **mine)
        done = view(call, found, **{name: given[name] for name in shown})
    return FOUND if done is None else done


def _shown_as_json(call: Call, found: object) -> None:
    call.document(found)


def _made(one: Parameter) -> click.Parameter:
    param = one.param
    kind, many = _kind(one.type)
    settings: dict[str, Any] = {"is_flag": True}
    if one.type is not bool:
        settings = {"type": _type(param, kind), "metavar": param.metavar or None}
        settings["required"] = one.required
    if not one.required and one.default not in ((), None):
        settings["default"] = one.default
    if param.read:
        settings["callback"] = _reading(param.read)
    if param.complete:
        settings["shell_complete"] = _completing(param.complete)
    if param.argument:
        return click.Argument([one.name], nargs=-1 if many else 1, **settings)
    flags = param.flags.split(", ") if param.flags else [f"--{one.name.replace('_', '-')}"]
    what = f"{param.help}  [default: {param.shown_default}]" if param.shown_default else param.help
    return click.Option(
        [*flags, one.name], help=what, hidden=param.hidden, multiple=many, **settings
    )


def _type(param: Param, kind: type) -> click.ParamType[Any] | type:
    if param.path:
        return click.Path(
            exists=param.path == "existing",
            file_okay=param.path != "folder",
            dir_okay=param.path != "file",
        )
    if param.choices:
        return click.Choice(list(param.choices))
    if (param.least, param.most) != (None, None):
        bounds: Any = click.FloatRange if kind is float else click.IntRange
        made: click.ParamType[Any] = bounds(param.least, param.most)
        return made
    return kind


def _kind(given: Any) -> tuple[type, bool]:  # noqa: ANN401  (a type)
    """Return the type of a parameter without None, and whether several values may be given."""
    if get_origin(given) is UnionType or type(None) in get_args(given):
        given = next(one for one in get_args(given) if one is not type(None))
    if get_origin(given) is Literal:
        return str, False
    many = get_origin(given) is not None
    return (get_args(given)[0] if many else given), many


def _reading(read: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def callback(ctx: click.Context, param: click.Parameter, given: Any) -> Any:  # noqa: ANN401
        if ctx.resilient_parsing:
            return given
        try:
            return read(given)
        except BadInput as error:
            raise click.BadParameter(error.message, ctx, param) from error

    return callback


def _completing(complete: str | Callable[[str], Sequence[str]]) -> Callable[..., Sequence[str]]:
    if isinstance(complete, str):
        found: Callable[..., Sequence[str]] = getattr(shell_completion, complete)
        return found
    return lambda _, __, start: complete(start)


def _secret(operation: Operation) -> list[click.Option]:
    what = "Write the text even if it looks like a secret"
    option = click.Option(["--allow-secret", _SECRET], is_flag=True, help=what)
    return [option] if operation.allow_secret else []


def _excluding(params: Sequence[click.Parameter], args: Sequence[str]) -> list[str]:
    """Move the excluded words of a query behind `--`."""
    end = args.index("--") if "--" in args else len(args)
    options = [one for one in params if isinstance(one, click.Option) and not one.is_flag]
    valued = {name for one in options for name in one.opts}
    words = [
        number
        for number, word in enumerate(args[:end])
        if len(word) > len("-h") and _NEGATED.fullmatch(word)
        if not number or args[number - 1] not in valued
    ]
    kept = [word for number, word in enumerate(args[:end]) if number not in words]
    behind = [*(args[number] for number in words), *args[end + 1 :]]
    # only if needed: an option without its value would take `--` as the value
    return [*kept, *(["--", *behind] if behind else [])]
