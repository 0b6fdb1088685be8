"""`memory-bank coupling`: list the files that change with a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count, named
from memory_bank.base.screen import FOUND, NOTHING, Call


@operation(
    "coupling",
    why="""
    Lists the files that change together with a file: by the commits of the git history, by
    imports in either direction, and by likeness of their texts. The confidence is the share of the
    file's commits that changed the other one too; merges and commits of many files don't count.

    The risk is Critical from 75 % and 5 joint commits, High from 50 % and 3, Medium from 25 % and
    2, else Low. No bank is needed.
    """,
    examples=(
        ("memory-bank coupling src/jobs.py", "what to look at when this file changes"),
        ("memory-bank coupling src/jobs.py --limit 3", "only the strongest"),
        ("memory-bank coupling src/jobs.py --json | jq -r '.files[].file'", "for a program"),
    ),
    group="Code",
)
def command(
    call: Call,
    *,
    file: Annotated[str, Param(argument=True, metavar="FILE", path="any")],
    limit: Annotated[int, Param("Most files; default: 10", metavar="N")] = 10,
) -> int:
    """List the files that change with a file."""
    from memory_bank.code import coupling

    with call.open_code() as codebase:
        here = Path(file)
        # a path is meant as the shell completes it, else as answers give it
        given = str(here.absolute()) if here.exists() else file
        found = coupling.coupling(codebase, given, limit)
    if call.json:
        call.document(found)
        return FOUND if found.files else NOTHING
    commits = count(found.commits, "commit")
    if found.files:
        call.console.line((f"{named(found.file)}, {commits}", "bold"))
        headings = ("file", "confidence", "commits", "last", "risk", "type", "score")
        rows = [
            (
                named(one.file), f"{one.confidence:.0%}", str(one.support), one.last_changed[:10],
                one.risk, one.coupling_type, f"{one.fused_score:.2f}",
            )
            for one in found.files
        ]  # fmt: skip
        call.console.table(headings, rows)
    else:
        call.remark(f"no file is coupled with {found.file} ({commits})")
    call.notices(found.notices)
    return FOUND if found.files else NOTHING
