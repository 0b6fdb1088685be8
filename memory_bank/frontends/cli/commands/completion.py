"""`memory-bank completion`: print a shell's completion script."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli.click_adapter import COMPLETE

_SHELLS = ("bash", "zsh", "fish")

_NAMES = ("memory-bank", "mb")


@operation(
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
    group="Look after",
)
def command(call: Call, *, shell: Annotated[str, Param(argument=True, choices=_SHELLS)]) -> int:
    """Print a completion script for a shell."""
    from memory_bank.frontends.cli import completion_scripts  # start-up
    from memory_bank.frontends.cli.root import root

    script = "\n".join(completion_scripts.script(shell, root(), name, COMPLETE) for name in _NAMES)
    if call.json:
        call.console.document({"shell": shell, "script": script})
    else:
        call.console.write(script)
    return 0
