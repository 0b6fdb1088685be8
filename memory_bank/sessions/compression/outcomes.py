"""What the output of a command says: how many tests failed, the first error, where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from memory_bank.sessions.compression import shell
from memory_bank.sessions.compression.definitions import Paths, names
from memory_bank.sessions.compression.edits import listed
from memory_bank.sessions.compression.texts import cut
from memory_bank.sessions.compression.tool_calls import ToolCall

_COUNTS = tuple(
    re.compile(text, re.MULTILINE)
    for text in (
        # pytest; jest and vitest; cargo; node, TAP; deno; bun
        r"^(?=[^\n]{0,240} in [\d.]+ ?s)[= ]{0,80}(?:(?P<failed>\d+) failed,? ?)?(?:(?P<passed>\d+) passed,? ?)?(?:\d+ (?!errors?\b)\w+,? ?){0,5}(?:(?P<errors>\d+) errors?)?",
        r"^\s*Tests:?\s{1,12}(?:(?P<failed>\d+) failed[,|]? ?[|]? ?)?(?:\d+ (?:skipped|todo)[,|]? ?[|]? ?){0,2}(?:(?P<passed>\d+) passed)?",
        r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed",
        r"^(?:#|ℹ) fail (?P<failed>\d+)",
        r"^(?:#|ℹ) pass (?P<passed>\d+)",
        r"^\w+ \| (?P<passed>\d+) passed[^\n|]{0,40}\| (?P<failed>\d+) failed",
        r"^ {1,4}(?P<passed>\d+) pass$",
        r"^ {1,4}(?P<failed>\d+) fail$",
        # mocha; unittest; maven; gradle; rspec, exunit; minitest; phpunit; dotnet; ctest; xcode
        r"^ {2,8}(?P<failed>\d+) failing",
        r"^ {2,8}(?P<passed>\d+) passing",
        r"^FAILED \((?:failures=(?P<failed>\d+))?(?:, )?(?:errors=(?P<errors>\d+))?",
        r"^Ran (?P<passed>\d+) tests? in [\d.]+s\n+OK",
        r"Tests run: (?P<passed>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+)(?![^\n]* -- in )",
        r"^(?P<passed>\d+) tests completed, (?P<failed>\d+) failed",
        r"^(?P<passed>\d+) (?:examples?|tests?|doctests?, \d+ tests?), (?P<failed>\d+) failures?",
        r"^(?P<passed>\d+) runs, \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors",
        r"^OK \((?P<passed>\d+) tests?",
        r"^Tests: (?P<passed>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?(?:, Failures: (?P<failed>\d+))?",
        r"^(?:Failed|Passed)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+)",
        r"^\d+% tests passed, (?P<failed>\d+) tests failed out of (?P<passed>\d+)",
        r"Executed (?P<passed>\d+) tests?, with (?P<failed>\d+) failures?",
        # linters
        r"^Found (?P<failed>[1-9]\d*) errors?\b",
        r"^✖ \d+ problems? \((?P<failed>\d+) errors?",
    )
)  # fmt: skip

_GO_FAILED, _GO_PASSED = (
    re.compile(r"^\s*--- FAIL: ", re.MULTILINE),
    re.compile(r"^ok\s+\S+\s", re.MULTILINE),
)

_GOOD = re.compile(
    r"^(?:All checks passed!|Success: no issues found|(?:\[INFO\] )?BUILD SUCCESS(?:FUL)?\b|  congratulations :\)"
    r"|\d+ files? already formatted)",
    re.MULTILINE,
)
"""Summary lines without a number of tests."""

_BAD = re.compile(
    r"(?<![\w./-])(?:errors?|fail(?:ed|ures?|ing|s)?|panicked|traceback|interrupted|not ok)(?![\w/-]|\.\w)"
    r"|\bcode [1-9]|^make\S*: \*\*\*|[✖✗✘×]",
    re.IGNORECASE | re.MULTILINE,
)

_NONE = re.compile(
    r"\b(?:0|no) (?:tests? )?(?:errors?|fail\w*)|\b(?:errors?|fail\w*)(?:\s?[:=]\s{0,9}| )0\b",
    re.IGNORECASE,
)
"""Words of a failure; counts of none."""

_ONE_PASSES = re.compile(
    r"^\s*(?:[✔✓√]|PASS(?:ED)? |ok\b|--- PASS: ).*$|^.* (?:PASSED|\.\.\. ok)\b.*$", re.MULTILINE
)
"""A line of one test that passed, whose name may have any word."""

_PATH = r"(?P<where>(?:[A-Za-z]:)?[^\s:()'\"]{1,200}?"

_SIGNS = tuple(
    (score, re.compile(text))
    for score, text in (
        (9, r"(?:FAILED|ERROR) (?P<where>\S+?)(?: - (?P<message>.+))$"),
        (8, r"E {2,8}(?P<message>[\w.]{0,80}(?:Error|Exception|Exit|Failed|Timeout|Warning)\b.*)$"),
        (8, r"(?P<message>(?:[\w]+\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Exit|Interrupt|NotFound|DoesNotExist|Timeout)\b:? .*)$"),
        (8, rf"\s*(?:ERROR in )?{_PATH}[(:]\d+[,:]\d+\)?)(?::| -)? error (?P<message>(?:TS\d+: )?.+)$"),
        (8, rf"\s*{_PATH}:\d+(?::\d+)?): (?:fatal )?error:? (?P<message>.+)$"),
        (8, r"(?P<where>[^\s:]{1,80}:\d+)?.{0,120}?(?P<message>Assertion [`'‘].+failed.?)$"),
        (8, r"#? ?(?P<message>\w{0,60}(?:Error|Exception) \[\w{1,60}\]: .+)$"),
        (8, r"error(?:\[[A-Z]\d+\])?: (?!could not compile|aborting|process didn't|test failed)(?P<message>.+)$"),
        (8, rf"\s*{_PATH}\.go:\d+(?::\d+)?): (?P<message>.+)$"),
        (7, rf"\s*{_PATH}:\d+:\d+): (?P<message>[A-Z]{{1,4}}\d{{2,5}} .+)$"),
        (7, r"(?P<message>[A-Z]{1,4}\d{2,5} .+)$"),
        (7, r"\[ERROR\] (?P<where>\S+?:\[?\d+[,:]?\d*\]?)?:? ?(?P<message>.+)$"),
        (7, r"\s*(?:thread '.{0,80}' )?panicked at (?P<message>.+)$"),
        (7, r"\s*(?P<message>assertion `?.{1,80}failed.*)$"),
        (6, r"E {2,8}(?P<message>assert .+)$"),
        (6, r"\s*(?:\d+:\d+\s+)error\s+(?P<message>.+)$"),
        (6, r"\s*(?:●|✕|✗|×|✘|not ok \d+ -?|--- FAIL:|FAIL:|ERROR:|FAIL) +(?P<message>\S.+)$"),
        (6, r"(?:npm ERR!|npm error|fatal:|FATAL:|panic:|E:|Error:|ERROR:|error:|\w{1,20}: error:|FAILURE:) ?(?P<message>\S.+)$"),
        (6, r"make(?:\[\d+\])?: \*\*\* (?P<message>.+)$"),
        (6, r"(?P<message>.{1,160}(?:: command not found|: No such file or directory|[Pp]ermission denied|: not found|is not recognized as).{0,80})$"),
        (5, r"\s*(?P<message>(?:Failure/Error|Expected|expected|Received|received|left|right)\b:? .+)$"),
        (3, r"(?i)(?P<message>.{0,120}\b(?:errors?|failed|failure|exception|fatal|cannot|could not|can't|unable to|invalid|undefined|unknown|denied|refused|timed out|conflict)\b.{0,120})$"),
    )
)  # fmt: skip

_SUREST = 6

_QUICK = re.compile(
    r"(?i)error|fail|assert|expect|panic|not found|exception|fatal|exit|not ok|denied|no such|recogni|cannot|could not|can't"
    r"|unable|invalid|undefined|unknown|refused|timed|conflict|received|left:|right:|timeout|interrupt|[✕✗×●✘]|\.go:\d|:\d+: [A-Z]+\d"
)

_PLACE = re.compile(
    r"\s*(?:File \"(?P<file>[^\"]{1,300})\", line (?P<line>\d+)|--> (?P<rust>\S{1,300}:\d+))"
)

_SURELY = re.compile(
    r"^(?:Traceback \(most recent call last\)|error(?:\[E\d+\])?: |npm (?:ERR!|error) |make(?:\[\d+\])?: \*\*\*|fatal: "
    r"|FAIL\s|FAILED\b|FAILURES!|ERRORS!|=+ (?:FAILURES|ERRORS) =+|--- FAIL: |BUILD FAILED|FAILURE: |\[ERROR\] BUILD FAILURE|.{1,80}: command not found|.{1,120}: error TS\d+"
    r"|panic: |(?:[\w./-]{1,120}): No such file or directory|.{1,120}:\d+:\d+: (?:fatal )?error: |.{0,40}SyntaxError: )",
    re.MULTILINE,
)

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
    failed = passed = 0
    for pattern in _COUNTS:
        for found in pattern.finditer(output):
            groups = found.groupdict()
            failed += int(groups.get("failed") or 0) + int(groups.get("errors") or 0)
            passed += int(groups.get("passed") or 0)
    failed += len(_GO_FAILED.findall(output))
    passed += len(_GO_PASSED.findall(output))
    return Tests(failed, passed)


def says_success(output: str) -> bool:
    """Tell whether a summary line says that all passed, and nothing speaks of a failure."""
    counts = tests(output)
    good = counts.passed > 0 or _GOOD.search(output) is not None
    return (
        good and not counts.failed and not _BAD.search(_NONE.sub("", _ONE_PASSES.sub("", output)))
    )


def says_failure(output: str) -> bool:
    """Tell whether an output without an exit code is one of a failure."""
    return bool(_SURELY.search(output))


def problem(output: str) -> FirstError:
    """Return the error that says most, the earliest of them, and the lines that matter."""
    best, message, where, place = 0, "", "", ""
    kept = dict[str, int]()
    last = ""
    for line in _lines(output):
        last = line.strip() or last
        found = _PLACE.match(line)
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
    if len(line) < _LEAST_LINE or not _QUICK.search(line):
        return 0, "", ""
    for score, pattern in _SIGNS:
        found = pattern.match(line)
        if found is not None:
            groups = found.groupdict()
            return score, (groups["message"] or "").strip(), groups.get("where") or ""
    return 0, "", ""


def _lines(output: str) -> Iterator[str]:
    lines = output.splitlines()
    if len(lines) > _MOST_LINES:
        lines = lines[: _MOST_LINES // 3] + lines[-2 * _MOST_LINES // 3 :]
    return (line[:_MOST_LINE].rstrip() for line in lines)


_FOUND = re.compile(r"^([^\s:\x00]{1,300}\.\w{1,8})(?::\d+[:\s]|$)", re.MULTILINE)

_NUMBERED = re.compile(r"^\s{0,8}\d+(?:→|\t|: |\|)", re.MULTILINE)

_MOST_FOUND, _MOST_FACTS, _MOST_TOLD = 4, 6, 1000

_PROGRESS = re.compile(
    r"^(?:\s*$|[#=>*.-]{3,}|\s*\d+%|Downloading|Collecting|Requirement already|\s*Using cached|remote: |\[\d+/\d+\])"
)


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
    lines = [line for line in output.splitlines()[-200:] if not _PROGRESS.match(line)]
    chosen = next(
        (
            line
            for line in lines
            if re.match(
                r"(?i)success|created|built|installed|added|updated|done|total|ok\b", line.strip()
            )
        ),
        "",
    )
    return cut(chosen or (lines[-1] if lines else ""), 120)
