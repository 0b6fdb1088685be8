"""`memory-bank completion`: print a shell's completion script."""

from __future__ import annotations

import click

from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.click_adapter import COMPLETE
from memory_bank.frontends.cli.command import as_command

GROUP = "Look after"

_SHELLS = ("bash", "zsh", "fish")

_NAMES = ("memory-bank", "mb")


@as_command(
    "completion",
    why="""
    Prints a script that your shell runs when it starts. It completes commands, options, files,
    note names, tags and types, for `memory-bank` and for `mb`. In zsh it loads the completion
    system (`compinit`) if your `.zshrc` has not done so above.
    """,
    examples=(
        ("echo 'eval \"$(memory-bank completion bash)\"' >> ~/.bashrc", "bash"),
        ("echo 'eval \"$(memory-bank completion zsh)\"' >> ~/.zshrc", "zsh"),
        ("echo 'memory-bank completion fish | source' >> ~/.config/fish/config.fish", "fish"),
    ),
)
@click.argument("shell", type=click.Choice(_SHELLS))
def command(call: Call, *, shell: str) -> int:
    """Print a completion script for a shell."""
    from memory_bank.frontends.cli import completion_scripts  # start-up
    from memory_bank.frontends.cli.root import root

    script = "\n".join(completion_scripts.script(shell, root(), name, COMPLETE) for name in _NAMES)
    if call.json:
        call.console.document({"shell": shell, "script": script})
    else:
        call.console.write(script)
    return 0
