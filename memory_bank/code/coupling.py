"""List the files that change with a file."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.code import views
from memory_bank.code.code_names import known_file, path_from_shell
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.records import CouplingAnswer

SCHEMA_VERSION = "1.0"

MOST = 100
"""Most files of one answer."""


@operation(
    "code coupling",
    why="""
    Lists the files that change together with a file: by the commits of the git history, by
    imports in either direction, and by likeness of their texts. The confidence is the share of the
    file's commits that changed the other one too; merges and commits of many files don't count.

    The risk is Critical from 75 % and 5 joint commits, High from 50 % and 3, Medium from 25 % and
    2, else Low. No bank is needed.
    """,
    examples=(
        ("memory-bank code coupling src/jobs.py", "what to look at when this file changes"),
        ("memory-bank code coupling src/jobs.py --limit 3", "only the strongest"),
        ("memory-bank code coupling src/jobs.py --json | jq -r '.files[].file'", "for a program"),
    ),
    view=views.view_coupling,
)
def coupling(
    codebase: Codebase,
    file: Annotated[str, Param(argument=True, metavar="FILE", path="any", read=path_from_shell)],
    limit: Annotated[int, Param("Most files; default: 10", metavar="N")] = 10,
) -> CouplingAnswer:
    r"""List the files that change with a file.

    Return the files that are coupled with a file.

    `file` is a path below the work tree, or an absolute one in it; it may have `./` and `\`.
    Raises BadInput for a path outside, FileNotFound with similar names for an unknown one.
    """
    with codebase.lock:
        state = codebase.coupling()
        path = known_file(codebase.root, state, file)
        rows = state.coupling.of(path)[: min(max(limit, 1), MOST)]
        commits = len(state.coupling.history.of(path))
    return CouplingAnswer(SCHEMA_VERSION, path, commits, len(rows), tuple(rows), state.notices)
