"""Run a command line with click, and translate click's errors into ours."""

from __future__ import annotations

import os

import click
from click.exceptions import Exit
from click.shell_completion import shell_complete

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import MemoryBankError
from memory_bank.base.screen import BadUsage
from memory_bank.frontends.cli.aliases import RIGHTS
from memory_bank.frontends.cli.overview import COMPLETE, PROGRAM
from memory_bank.frontends.cli.root import root


class ClickFailed(MemoryBankError):
    """An error of click other than wrong usage."""


def run_line(args: list[str]) -> int:
    """Run a command line and return its exit code.

    Raises BadUsage for wrong options, Failed, KeyboardInterrupt.
    """
    if COMPLETE in os.environ:
        return shell_complete(root(), {}, PROGRAM, COMPLETE, os.environ[COMPLETE])
    try:
        with root().make_context(PROGRAM, list(args)) as ctx:
            code = ctx.command.invoke(ctx)
    except Exit as done_error:
        return done_error.exit_code
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else PROGRAM
        if isinstance(error, click.NoSuchOption):
            near = [
                possibility
                for possibility in error.possibilities or ()
                if possibility not in RIGHTS
            ]
            error = click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx)
        message = " ".join(error.format_message().split())  # click lists choices in lines
        message = message[:1].lower() + message[1:].rstrip(".")
        dashed = isinstance(error, click.NoSuchOption) and any(map(_is_dashed_text, args))
        hint = "write `--` before a text that starts with '-'" if dashed else f"see `{path} -h`"
        if choices := _CHOICES.search(message):
            names = choices[1].replace("'", "")
            message, hint = message[: choices.start()], f"choose one of: {names}"
        raise BadUsage(message, hint) from error
    except click.ClickException as error:
        raise ClickFailed(error.format_message()) from error
    return code if isinstance(code, int) else 0


_CHOICES = lazy_pattern(r"(?s) is not (?:one of )?('.+)\Z")


def _is_dashed_text(argument: str) -> bool:
    """Tell whether an argument is a text, such as a list item, that was read as an option."""
    return argument.startswith("-") and len(argument.split()) > 1
