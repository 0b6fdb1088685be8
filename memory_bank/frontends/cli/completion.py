"""`memory-bank completion`: print click's completion script for a shell."""

from __future__ import annotations

from typing import Annotated

from click.shell_completion import get_completion_class

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli.overview import COMPLETE
from memory_bank.frontends.cli.root import root

_NAMES = ("memory-bank", "mb")


@operation(
    "completion",
    why="""
    Prints the script that your shell runs when it starts. It completes commands, options, files,
    names of notes and types, for `memory-bank` and for `mb`.
    """,
    examples=(
        ("echo 'eval \"$(memory-bank completion bash)\"' >> ~/.bashrc", "bash"),
        ("echo 'eval \"$(memory-bank completion zsh)\"' >> ~/.zshrc", "zsh"),
        ("echo 'memory-bank completion fish | source' >> ~/.config/fish/config.fish", "fish"),
    ),
)
def print_script(
    call: Call, *, shell: Annotated[str, Param(argument=True, choices=("bash", "zsh", "fish"))]
) -> int:
    """Print a completion script for a shell."""
    shell_class = get_completion_class(shell)
    if shell_class is None:
        raise BadInput(f"click has no completion for {shell}", "use bash, zsh or fish")
    script = "\n".join(shell_class(root(), {}, name, COMPLETE).source() for name in _NAMES)
    if call.json:
        call.console.document({"shell": shell, "script": script})
    else:
        call.console.write(script)
    return 0
