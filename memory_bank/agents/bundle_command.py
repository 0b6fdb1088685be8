"""`memory-bank agents`: the files by which a team's agents use the memory after a clone."""

from __future__ import annotations

from typing import Annotated

from memory_bank.agents import bundle
from memory_bank.agents.bundle import Bundle
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.screen import FINDINGS, FOUND, Call, place


@operation(
    "agents bundle",
    why="""
    Writes files into the project; commit them. Everybody who clones it and trusts the folder then
    has a skill, hooks and the MCP server in Claude Code and Gemini CLI, without a further step if
    memory-bank is installed there; in Codex, Copilot and Cursor as far as these allow it: see
    docs/agents.md. Without memory-bank they do nothing, and the start of a session says so in a
    line. Nothing is downloaded, and no hook fails an agent.

    The plug-in in .claude/skills/memory-bank/ also is one of Agent Plugins 1.0. Of files that hold
    something else, such as .gemini/settings.json, all else stays. --check compares: the exit code
    is 1 if something would be written. --remove takes everything out again.
    """,
    examples=(
        ("memory-bank agents bundle", "write the files, then commit them"),
        ("memory-bank agents bundle --check", "for CI"),
        ("memory-bank agents bundle --remove", "leave no byte of it"),
    ),
)
def _bundle(
    call: Call,
    *,
    check: Annotated[bool, Param("Only compare; exit with 1 if it differs")] = False,
    remove: Annotated[bool, Param("Take the files out again")] = False,
) -> int:
    """Write what lets a team's agents use the memory after a clone."""
    if check and remove:
        raise call.usage_error("give --check or --remove, not both")
    with call.open() as bank:
        found = bundle.bundle(bank, remove=remove)
        if not check:
            bundle.write(found)
    changed = [str(one.file) for one in found.edits]
    call.answer(
        {"files": found.files, "changed": changed},
        lambda _: _show(call, found, check=check, remove=remove),
    )
    return FINDINGS if check and found.edits else FOUND


def _show(call: Call, found: Bundle, *, check: bool, remove: bool) -> None:
    for one in found.edits:
        state = "missing " if one.before is None else "differs "
        verb = state if check else "removed " if one.after is None else "wrote "
        call.console.line(verb, (place(one.file), "place"))
    if not found.edits:
        call.console.line("nothing to remove" if remove else "all of it is as it should be")
    elif check:
        call.console.line("next: ", ("memory-bank agents bundle", "bold"))
    elif any(one.after is not None for one in found.edits):
        call.remark("commit them: who clones the project and trusts the folder then has them")


topic(
    "agents",
    "Let a team's agents use the memory after a clone.",
    group="Agents",
    why="""
    bundle writes the files by which agents' programs find the memory: a plug-in, a skill, and the
    programs' own settings of the project.
    """,
    examples=(("memory-bank agents bundle", "once, then commit the files"),),
)
