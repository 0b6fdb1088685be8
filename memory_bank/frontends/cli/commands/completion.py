"""`memory-bank completion`: let a shell complete commands, options, notes and tags."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.click_adapter import COMPLETE
from memory_bank.frontends.cli.command import as_command

GROUP = "Look after"

_SHELLS = ("bash", "zsh", "fish")
_NAMES = ("memory-bank", "mb")


@as_command(
    "completion",
    why="""
    Prints a script, for `memory-bank` and `mb` alike; your shell reads it at its start. Commands,
    options and files are completed, and names of notes, tags and types where one is wanted.
    """,
    examples=(
        ("echo 'eval \"$(memory-bank completion bash)\"' >> ~/.bashrc", "bash"),
        ("echo 'eval \"$(memory-bank completion zsh)\"' >> ~/.zshrc", "zsh"),
        ("echo 'memory-bank completion fish | source' >> ~/.config/fish/config.fish", "fish"),
    ),
)
@click.argument("shell", type=click.Choice(_SHELLS))
def command(call: Call, *, shell: str) -> int:
    """Print the script by which a shell completes commands."""
    from memory_bank.frontends.cli.root import root

    kind = get_completion_class(shell)
    if kind is None:
        raise call.wrong(f"click knows no shell {shell!r}")
    script = "\n".join(kind(root(), {}, name, COMPLETE).source() for name in _NAMES)
    if call.json:
        call.page.document({"shell": shell, "script": script})
    else:
        call.page.write(script)
    return 0
