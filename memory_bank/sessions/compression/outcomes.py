"""What the output of a command says: how many tests failed, the first error, where it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from memory_bank.base import NamedTuple
from memory_bank.sessions.compression import definitions, shell
from memory_bank.sessions.compression.definitions import Paths, compile_rule
from memory_bank.sessions.compression.texts import COMMAND, PART, cut
from memory_bank.sessions.compression.tool_calls import ToolCall

# Score of a line that surely tells the error.
_SUREST = 6

# Of the lines of an output that may tell the error (tests/benchmarks/compression.py).
_LEAST_LINE, _MOST_LINE, _MOST_LINES, _MOST_KEPT = 2, 400, 6000, 6


class Tests(NamedTuple):
    """How many tests, or checks of a linter, failed and passed."""

    failed: int
    passed: int

    @property
    def shown(self) -> str:
        """The numbers as text; empty if there are none."""
        parts = (
            f"{self.failed} failed" if self.failed else "",
            f"{self.passed} passed" if self.passed else "",
        )
        return ", ".join(filter(None, parts))


class FirstError(NamedTuple):
    """The first error of an output."""

    message: str
    where: str
    """A file with a line, or a test; empty if unknown."""
    lines: tuple[str, ...]
    """The lines that matter."""


def count_tests(output: str) -> Tests:
    """Return how many tests failed and passed, added up over the runs of an output."""
    count = Counter[str]()
    for _, pattern in definitions.compile_rows("count"):
        for match in pattern.finditer(output):
            for name, text in match.groupdict().items():
                count[name] += int(text) if (text or "").isdigit() else bool(text)
    return Tests(count["failed"] + count["errors"], count["passed"])


def says_success(output: str) -> bool:
    """Tell whether a summary line says that all passed, and nothing speaks of a failure."""
    counts = count_tests(output)
    good = counts.passed > 0 or compile_rule("good").search(output) is not None
    return (
        good
        and not counts.failed
        and not compile_rule("bad").search(compile_rule("none").sub("", output))
    )


def says_failure(output: str) -> bool:
    """Tell whether an output without an exit code is one of a failure."""
    return compile_rule("surely").search(output) is not None


def find_problem(output: str) -> FirstError:
    """Return the error that says most, the earliest of them, and the lines that matter."""
    best, message, where, place = 0, "", "", ""
    entries = dict[str, int]()
    last = ""
    for line in _lines(output):
        last = line.strip() or last
        match = compile_rule("place").match(line)
        if match:
            file = match["file"] or ""
            if not file or not re.search(r"site-packages|dist-packages|/lib/python|<frozen", file):
                place = match["rust"] or f"{file}:{match['line']}"
        score, text, spot = _judge_line(line)
        if score:
            entries.setdefault(line.strip()[:240], score)
        if score > best:
            best, message, where = score, text, spot or place
    if not where:
        where = place
    lines = [line for line, score in entries.items() if score >= min(best, _SUREST)][:_MOST_KEPT]
    return FirstError(message or last[:240], where, tuple(lines or filter(None, [last[:240]])))


def _judge_line(line: str) -> tuple[int, str, str]:
    """Return how much a line says about an error, its message and its place."""
    if len(line) < _LEAST_LINE or not compile_rule("error_word").search(line):
        return 0, "", ""
    for row, pattern in definitions.compile_rows("error"):
        if match := pattern.match(line):
            groups = match.groupdict("")
            return row["score"], groups.get("message", "").strip(), groups.get("where", "")
    return 0, "", ""


def _lines(output: str) -> Iterator[str]:
    lines = output.splitlines()
    if len(lines) > _MOST_LINES:
        lines = lines[: _MOST_LINES // 3] + lines[-2 * _MOST_LINES // 3 :]
    return (line[:_MOST_LINE].rstrip() for line in lines)


def look_at_read(call: ToolCall, paths: Paths) -> tuple[list[str], str]:
    """Return the files that a call read, and what it showed where no answer tells it."""
    if call.kind == "command":
        read = [
            path for step in shell.split_commands(call.command) for path in shell.list_reads(step)
        ]
    else:
        read = [call.path] if call.kind == "read" and call.path else []
    command = cut(call.words or call.event.tool_input, PART)
    fact = f"{call.event.tool_name} of {command}: {cut(call.output, PART)}"
    entries = [] if call.failed else [paths.shown(path, call.event.cwd) for path in read]
    return entries, "" if call.kind in ("read", "command") else fact


def failure_fact(call: ToolCall, counts: Tests) -> str:
    """Name a command that failed, with what it said."""
    code = f" with exit code {call.exit_code}" if call.exit_code else ""
    return f"`{cut(call.command, COMMAND)}` fails{code}{quote_failure(counts, find_problem(call.output))}"


def quote_failure(counts: Tests, error: FirstError | None) -> str:
    """Return what the output of a failure says, after a colon."""
    parts = counts.shown, error.message if error else ""
    text = "; ".join(filter(None, parts))
    return f": {cut(text, COMMAND)}" if text else ""


def result_line(output: str) -> str:
    """Return the line of an output that says its result: the last one that isn't progress."""
    lines = [
        line for line in output.splitlines()[-200:] if not compile_rule("progress").match(line)
    ]
    telling = (line for line in lines if compile_rule("result").match(line.strip()))
    return cut(next(telling, lines[-1] if lines else ""), 120)
