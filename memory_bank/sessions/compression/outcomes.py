"""What the output of a command says: how many tests failed, the first error, where it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from memory_bank.sessions.compression import rules, shell
from memory_bank.sessions.compression.definitions import Paths, names
from memory_bank.sessions.compression.edits import listed
from memory_bank.sessions.compression.rules import rule
from memory_bank.sessions.compression.texts import cut
from memory_bank.sessions.compression.tool_calls import ToolCall

_SUREST = 6

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


def tests(output: str) -> Tests:
    """Return how many tests failed and passed, added up over the runs of an output."""
    count = Counter[str]()
    for _, pattern in rules.rows("count"):
        for found in pattern.finditer(output):
            for name, text in found.groupdict().items():
                count[name] += int(text) if (text or "").isdigit() else bool(text)
    return Tests(count["failed"] + count["errors"], count["passed"])


def says_success(output: str) -> bool:
    """Tell whether a summary line says that all passed, and nothing speaks of a failure."""
    counts = tests(output)
    good = counts.passed > 0 or rule("good").search(output) is not None
    return good and not counts.failed and not rule("bad").search(rule("none").sub("", output))


def says_failure(output: str) -> bool:
    """Tell whether an output without an exit code is one of a failure."""
    return rule("surely").search(output) is not None


def problem(output: str) -> FirstError:
    """Return the error that says most, the earliest of them, and the lines that matter."""
    best, message, where, place = 0, "", "", ""
    kept = dict[str, int]()
    last = ""
    for line in _lines(output):
        last = line.strip() or last
        found = rule("place").match(line)
        if found:
            file = found["file"] or ""
            if not file or not re.search(r"site-packages|dist-packages|/lib/python|<frozen", file):
                place = found["rust"] or f"{file}:{found['line']}"
        score, text, spot = _judged(line)
        if score:
            kept.setdefault(line.strip()[:240], score)
        if score > best:
            best, message, where = score, text, spot or place
    if not where:
        where = place
    lines = [line for line, score in kept.items() if score >= min(best, _SUREST)][:_MOST_KEPT]
    return FirstError(message or last[:240], where, tuple(lines or filter(None, [last[:240]])))


def _judged(line: str) -> tuple[int, str, str]:
    """Return how much a line says about an error, its message and its place."""
    if len(line) < _LEAST_LINE or not rule("error_word").search(line):
        return 0, "", ""
    for row, pattern in rules.rows("error"):
        if found := pattern.match(line):
            told = found.groupdict("")
            return row["score"], told.get("message", "").strip(), told.get("where", "")
    return 0, "", ""


def _lines(output: str) -> Iterator[str]:
    lines = output.splitlines()
    if len(lines) > _MOST_LINES:
        lines = lines[: _MOST_LINES // 3] + lines[-2 * _MOST_LINES // 3 :]
    return (line[:_MOST_LINE].rstrip() for line in lines)


_FOUND = re.compile(r"^([^\s:\x00]{1,300}\.\w{1,8})(?::\d+[:\s]|$)", re.MULTILINE)

_NUMBERED = re.compile(r"^\s{0,8}\d+(?:→|\t|: |\|)", re.MULTILINE)

_MOST_FOUND, _MOST_FACTS, _MOST_TOLD = 4, 6, 1000


def look(call: ToolCall, paths: Paths) -> tuple[list[str], str]:
    """Return the files that a call read, and what it showed."""
    read, fact, cwd = list[str](), "", call.event.cwd
    if call.kind == "read" and call.path and not call.failed:
        read = [paths.shown(call.path, cwd)]
        fact = _defines(read[0], call.output)
    elif call.kind == "command":
        steps = shell.steps(call.command)
        shown = () if call.failed else (path for step in steps for path in shell.reads(step))
        read = [paths.shown(path, cwd) for path in shown]
        wanted = next(filter(None, map(_pattern, steps)), "")
        if wanted:
            fact = _search(wanted, call.output, paths, cwd)
        elif len(read) == 1:
            fact = _defines(read[0], call.output)
    elif call.kind == "search":
        fact = _search(call.words or call.path, call.output, paths, cwd)
    elif call.kind == "fetch":
        fact = ": ".join(filter(None, (cut(call.words, 100), cut(call.output, 120))))
    elif call.kind == "other" and call.event.tool_name:
        asked = cut(call.words or call.event.tool_input, 80)
        fact = f"{call.event.tool_name} of {asked}: {cut(call.output, 100)}"
    return read, fact


def _pattern(step: shell.SimpleCommand) -> str:
    """Return what a command searches for."""
    if step.program in ("grep", "rg", "ag", "egrep", "fgrep", "git-grep"):
        words = [word for word in step.words if not word.startswith("-")]
        first = 2 if step.program == "git-grep" else 1
        return words[first] if len(words) > first else ""
    return ""


def _defines(path: str, text: str) -> str:
    """Say what a file that was read defines."""
    shown = _NUMBERED.sub("", text[:60_000])
    found = tuple(dict.fromkeys(islice(names(path, shown.splitlines()[:1500]), 40)))
    return f"{path} has {listed(found, 5)}" if found else ""


def _search(wanted: str, output: str, paths: Paths, cwd: str) -> str:
    """Say where a search found something."""
    found = list(dict.fromkeys(match[1] for match in islice(_FOUND.finditer(output), 400)))
    shown = [paths.shown(path, cwd) for path in found[:_MOST_FOUND]]
    more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    if not output.strip() or re.match(r"(?i)no (?:files|matches)", output.strip()):
        return f"“{cut(wanted, 80)}” is found nowhere"
    return f"“{cut(wanted, 80)}” is found in {', '.join(shown)}{more}" if shown else ""


def failure_fact(call: ToolCall, counts: Tests) -> str:
    """Name a command that failed, with what it said."""
    code = f" with exit code {call.exit_code}" if call.exit_code else ""
    return f"`{cut(call.command, 160)}` fails{code}{said_of(counts, problem(call.output))}"


def said_of(counts: Tests, error: FirstError | None) -> str:
    """Return what the output of a failure says, after a colon."""
    parts = counts.shown, error.message if error else ""
    told = "; ".join(filter(None, parts))
    return f": {cut(told, 140)}" if told else ""


def result(output: str) -> str:
    """Return the line of an output that says its result: the last one that isn't progress."""
    lines = [line for line in output.splitlines()[-200:] if not rule("progress").match(line)]
    telling = (line for line in lines if rule("result").match(line.strip()))
    return cut(next(telling, lines[-1] if lines else ""), 120)
