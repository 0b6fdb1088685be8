"""List the files that change with a file."""

from __future__ import annotations

import posixpath
from datetime import UTC, datetime
from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.code import views
from memory_bank.code.code_names import known_file, path_from_shell
from memory_bank.code.coupled import Coupled
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.records import CoupledFile, CouplingAnswer

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
    coupled_files = tuple(map(shown_as, rows))
    return CouplingAnswer(
        SCHEMA_VERSION, path, commits, len(coupled_files), coupled_files, state.notices
    )


def shown_as(coupled: Coupled) -> CoupledFile:
    """Return a coupled file as answers show it."""
    last = datetime.fromtimestamp(coupled.last_changed, UTC) if coupled.last_changed else None
    return CoupledFile(
        file=coupled.file,
        confidence=round(coupled.confidence, 4),
        support=coupled.support,
        last_changed=last.strftime("%Y-%m-%dT%H:%M:%SZ") if last else "",
        risk=coupled.risk,
        fused_score=round(coupled.fused_score, 4),
        coupling_type=coupled.coupling_type,
        snippet=snippet(coupled, coupled.file),
    )


def snippet(coupled: Coupled, text: str) -> str:
    """Return one sentence about a coupled file, which names one of the two."""
    name = posixpath.basename(text)
    if not coupled.support:
        how = {"static": "Is connected by imports with", "semantic": "Is worded like"}
        start = how.get(coupled.coupling_type, "Is connected by imports with, and worded like,")
        return f"{start} {name} (no joint commits, type: {coupled.coupling_type})"
    share = f"{coupled.confidence:.0%} of commits"
    kind = f"{coupled.risk} coupling, type: {coupled.coupling_type}"
    return f"Co-changes with {name} in {share} ({kind})"
