"""List the files that change with a file."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from memory_bank.base.errors import BadInput, FileNotFound, did_you_mean, similar_names
from memory_bank.base.operation import Param, operation
from memory_bank.code import shown
from memory_bank.code.codebase import Codebase
from memory_bank.code.coupled import Coupled, CouplingState

SCHEMA_VERSION = "1.0"

MOST = 100
"""Most files of one answer."""

_SIMILAR = 0.8
"""Least similarity of a path that is suggested instead of an unknown one."""


@dataclass(frozen=True, slots=True)
class CoupledFile:
    """A file that is coupled with the one that was asked for."""

    file: str
    """Its path below the work tree."""
    confidence: float
    """The share of the commits of the file asked for that changed this one too."""
    support: int
    """The number of these commits."""
    last_changed: str
    """When the newest of them was made; empty if there is none."""
    risk: str
    """Critical, High, Medium or Low."""
    fused_score: float
    coupling_type: str
    """temporal, static, semantic or multi."""
    snippet: str
    """All this in one sentence."""


@dataclass(frozen=True, slots=True)
class CouplingAnswer:
    """The files that are coupled with a file, the strongest coupling first."""

    schema_version: str
    file: str
    commits: int
    """The number of commits of the file that count."""
    result_count: int
    files: tuple[CoupledFile, ...]
    notices: tuple[str, ...]
    """What is left out of history and texts, and why."""


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
    show=shown.coupled,
)
def coupling(
    codebase: Codebase,
    file: Annotated[str, Param(argument=True, metavar="FILE", path="any", read=shown.given_path)],
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
    shown = tuple(map(shown_as, rows))
    return CouplingAnswer(SCHEMA_VERSION, path, commits, len(shown), shown, state.notices)


def known_file(root: Path, state: CouplingState, file: str) -> str:
    """Return the path of a file of the work tree; raise BadInput or FileNotFound."""
    if file in state.files:
        return file
    path = below(root, file)
    if path in state.files:
        return path
    if any(one.startswith(f"{path}/") for one in state.files):
        raise FileNotFound(f"{path} is a folder", "give one of its files")
    now = state.coupling.history.renamed.get(path, "")
    if now in state.files:
        message = f"there is no file {path} in {root}"
        raise FileNotFound(message, "it was renamed to {now}", now=now)
    near = [one for one in state.files if posixpath.basename(one) == posixpath.basename(path)]
    near = similar_names(path, near, least=0.0) or similar_names(path, state.files, least=_SIMILAR)
    raise FileNotFound(
        f"there is no file {path} in {root}{did_you_mean(near)}",
        "give a file that git tracks, or would track",
    )


def shown_as(one: Coupled) -> CoupledFile:
    """Return a coupled file as answers show it."""
    last = datetime.fromtimestamp(one.last_changed, UTC) if one.last_changed else None
    return CoupledFile(
        file=one.file,
        confidence=round(one.confidence, 4),
        support=one.support,
        last_changed=last.strftime("%Y-%m-%dT%H:%M:%SZ") if last else "",
        risk=one.risk,
        fused_score=round(one.fused_score, 4),
        coupling_type=one.coupling_type,
        snippet=snippet(one, one.file),
    )


def snippet(one: Coupled, other: str) -> str:
    """Return one sentence about a coupled file, which names one of the two."""
    name = posixpath.basename(other)
    if not one.support:
        how = {"static": "Is connected by imports with", "semantic": "Is worded like"}
        start = how.get(one.coupling_type, "Is connected by imports with, and worded like,")
        return f"{start} {name} (no joint commits, type: {one.coupling_type})"
    share = f"{one.confidence:.0%} of commits"
    return f"Co-changes with {name} in {share} ({one.risk} coupling, type: {one.coupling_type})"


def below(root: Path, file: str) -> str:
    """Return a path below a work tree, with forward slashes; raise BadInput for one outside."""
    given = file.strip()
    if "\0" not in given and Path(given).is_absolute():
        real = Path(given).parent.resolve() / Path(given).name  # the file itself may be a link
        if real.is_relative_to(root.resolve()):
            given = real.relative_to(root.resolve()).as_posix()
    path = posixpath.normpath(given.replace("\\", "/")) if given else ""
    if not path or path in {".", ".."} or path.startswith(("../", "/")) or "\0" in path:
        raise BadInput(f"{file!r} is no file below {root}", "give a path inside the work tree")
    return path
