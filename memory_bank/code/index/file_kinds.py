"""What a file of a project is for, by its name: files that are seldom asked for rank lower."""

from __future__ import annotations

import re
from typing import NamedTuple


class FileKind(NamedTuple):
    """A kind of file that is seldom meant, unless a question has a word that asks for it."""

    name: str
    paths: re.Pattern[str]
    factor: float
    """Of the likelihood that it answers; `tests/benchmarks/ask.py` measures it."""
    asked: frozenset[str]


_FOLDER = r"(?:^|/)"

KINDS = (
    FileKind(
        "lock file",
        re.compile(r"(?:\.lock|-lock\.(?:json|ya?ml)|\.sum|npm-shrinkwrap\.json)$", re.IGNORECASE),
        0.2,
        frozenset(["lock", "locked", "lockfile", "pinned"]),
    ),
    FileKind(
        "changelog",
        re.compile(
            rf"{_FOLDER}(?:change(?:s|log)?|history|news|releases?|release[-_]notes)(?:\.\w+)?$"
            rf"|{_FOLDER}(?:changes|changelog|newsfragments)/",
            re.IGNORECASE,
        ),
        0.6,
        frozenset(["changelog", "changes", "history", "news", "release", "released", "version"]),
    ),
    FileKind(
        "example",
        re.compile(rf"{_FOLDER}(?:examples?|samples?|demos?|benchmarks?|bench)/", re.IGNORECASE),
        0.8,
        frozenset(["benchmark", "benchmarks", "demo", "example", "examples", "sample", "tutorial"]),
    ),
    FileKind(
        "configuration",
        re.compile(
            rf"{_FOLDER}\.|\.(?:toml|cfg|ini|ya?ml|json|mod)$"
            rf"|{_FOLDER}(?:Makefile|Dockerfile|requirements[^/]*|setup\.py)$",
            re.IGNORECASE,
        ),
        0.8,
        frozenset(
            """
            action actions build bump ci config configuration dependencies dependency deps lint
            packaging pin pre python release requirements setup update version workflow
            """.split()  # noqa: SIM905
        ),
    ),
)
"""The first that a path is of counts."""


def factor(path: str, question: str) -> float:
    """Return the factor of the likelihood of a file's results; 1 where the question asks for it."""
    found = next((one for one in KINDS if one.paths.search(path)), None)
    if found is None or found.asked & set(re.findall(r"\w+", question.lower())):
        return 1.0
    return found.factor


def kind(path: str) -> str:
    """Return the name of the kind of a path; empty if it has none."""
    return next((one.name for one in KINDS if one.paths.search(path)), "")
