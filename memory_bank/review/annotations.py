"""Findings as GitHub workflow commands, which mark lines of a pull request.

GitHub's runner reads each line of a step's output, so no text of a note may start a line or end a
command's part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

from memory_bank.bank.findings import Finding
from memory_bank.base.rendering import count, named, unhidden

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}

_MOST = 10
"""Annotations of a level that GitHub shows of one step."""

_LONGEST = 2000
"""Characters of a message; GitHub shows no more of it without scrolling."""

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})

_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def workflow_commands(findings: Iterable[Finding]) -> str:
    """Return a line for each new finding, at most ten of a level, and a line on those left out.

    Those of each level come in the given order. The text ends with a newline unless it is empty.
    """
    return "".join(f"{line}\n" for line in _lines(findings))


def _lines(findings: Iterable[Finding]) -> Iterator[str]:
    shown: Counter[str] = Counter()
    left_out = 0
    for finding in (one for one in findings if one.new):
        level = _LEVELS[finding.severity]
        # one notice is kept for the line on those left out
        if shown[level] < _MOST - (level == "notice"):
            shown[level] += 1
            yield _line(level, finding)
        else:
            left_out += 1
    if left_out:
        text = f"{count(left_out, 'more finding')}: GitHub shows ten of a level"
        yield f"::notice title=memory-bank::{text}"


def _line(level: str, finding: Finding) -> str:
    """Return the workflow command for a finding."""
    end_line = finding.end_line or finding.line
    properties: dict[str, object] = {
        "file": named(finding.file or finding.path),
        "line": finding.line,
        "endLine": end_line,
    }
    if finding.column and finding.end_column and end_line == finding.line:
        # GitHub takes columns only of one line
        properties |= {"col": finding.column, "endColumn": finding.end_column}
    properties["title"] = finding.rule
    shown = ",".join(f"{key}={_visible(value, _PROPERTY)}" for key, value in properties.items())
    fix = f"\nFix: {finding.fix}" if finding.fix else ""
    message = finding.text + fix
    cut = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
    return f"::{level} {shown}::{_visible(cut, _DATA)}"


def _visible(value: object, escaped: dict[int, str]) -> str:
    """Return a value without invisible characters, escaped for a part of a command."""
    return cast("str", unhidden(str(value))).translate(escaped)
