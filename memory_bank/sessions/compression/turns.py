"""Compression mode `local`: what an agent did for one prompt, gathered from its calls of tools."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.sessions.compression import sentences, shell
from memory_bank.sessions.compression.edits import FileChange, Paths, file_kind, merge_changes
from memory_bank.sessions.compression.sentences import COMMAND, PART, compile_rule, cut
from memory_bank.sessions.compression.tool_calls import ParsedCall, estimate_tokens

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
    for _, pattern in sentences.compile_rows("count"):
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
    for row, pattern in sentences.compile_rows("error"):
        if match := pattern.match(line):
            groups = match.groupdict("")
            return row["score"], groups.get("message", "").strip(), groups.get("where", "")
    return 0, "", ""


def _lines(output: str) -> Iterator[str]:
    lines = output.splitlines()
    if len(lines) > _MOST_LINES:
        lines = lines[: _MOST_LINES // 3] + lines[-2 * _MOST_LINES // 3 :]
    return (line[:_MOST_LINE].rstrip() for line in lines)


def look_at_read(call: ParsedCall, paths: Paths) -> tuple[list[str], str]:
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


def failure_fact(call: ParsedCall, counts: Tests) -> str:
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


_HERE = lazy_pattern(
    r"^\$\(cat <<-?['\"]?(\w+)['\"]?\n|\n[ \t]*(?:EOF|END|MSG|COMMIT|EOM)\n?\)?\s*$"
)

_MESSAGE = ("-m", "--message", "-am", "-qm", "-qam", "-aqm", "-sm", "-asm")


@dataclass(eq=False, slots=True)
class Run:
    """One run of a command that tests, builds, or does something else."""

    shown: str
    """Its command line for people, without filters."""
    call: ParsedCall
    program: shell.ProgramRun
    failed: bool
    passed: bool
    """Whether it surely passed: its exit code or a summary line says so."""
    counts: Tests
    error: FirstError | None = None
    edits: int = 0
    """How many changes of code the turn had seen before it."""
    closed: bool = False
    """Whether a later run that contains it passed."""


@dataclass(eq=False, slots=True)
class TurnWork:
    """What becomes one observation: what was done up to a commit, or to the end of the turn."""

    prompt: int
    when: datetime
    tokens: int = 0
    changes: dict[str, list[FileChange]] = field(default_factory=dict)
    """By path."""
    reads: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    """What searches and reads showed."""
    runs: list[Run] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    """What subagents said."""
    commit: str = ""
    """The message of the commit that ends it."""
    words: list[FileChange] = field(default_factory=list)
    """Its changes in words, once all are known."""

    @property
    def modified(self) -> list[str]:
        """The files that it changed, also those that were moved."""
        moved = (
            change.moved_to
            for changes in self.changes.values()
            for change in changes
            if change.moved_to
        )
        return list(dict.fromkeys([*self.changes, *moved]))

    @property
    def mends(self) -> bool:
        """Whether a run that failed before its changes of code passed after them."""
        before = any(run.failed and run.closed and not run.edits for run in self.runs)
        return before and any(word.kind == "code" for word in self.words)

    def absorb(self, turn_work: TurnWork) -> None:
        """Add all of another work that changed nothing."""
        self.when, self.tokens = max(self.when, turn_work.when), self.tokens + turn_work.tokens
        self.reads += turn_work.reads
        self.looks += turn_work.looks
        self.runs += turn_work.runs
        self.reports += turn_work.reports

    def describe(self) -> None:
        """Tell its changes in words, but those that were put back."""
        for path, changes in self.changes.items():
            net = merge_changes(path, changes)
            if len(changes) == 1 or net.action != "update" or net.added or net.removed:
                self.words.append(net)


class Turn:
    """The calls of one prompt, taken one after the other."""

    def __init__(self, paths: Paths, request: str) -> None:
        self.paths = paths
        self.works = list[TurnWork]()
        self.said = ""
        """The last text of the agent."""
        self.steps = list[str]()
        """Open steps of the agent's plan."""
        self.request = request
        self.edits = 0
        """How many changes of code there were."""

    @property
    def runs(self) -> list[Run]:
        """All runs of commands, the first one first."""
        return [run for work in self.works for run in work.runs]

    def take(self, call: ParsedCall) -> None:
        """Add one call."""
        event = call.event
        if not self.works or self.works[-1].commit:
            self.works.append(TurnWork(event.prompt_number, event.created_at))
        work = self.works[-1]
        work.tokens += estimate_tokens(event)
        work.when = max(work.when, event.created_at)
        if call.kind == "message":
            self.said = call.output.strip() or self.said
        elif call.kind == "edit" and call.changes:
            self._edit(work, call, call.changes)
        elif call.kind == "command" and call.command:
            self._command(work, call)
        elif call.kind == "agent" and not call.failed:
            self._report(work, call)
        elif call.kind == "plan" and (steps := call.open_steps) is not None:
            self.steps = steps
        else:
            self._look(work, call)

    def end(self) -> list[TurnWork]:
        """Return the works of which each may become an observation, with their changes in words.

        What was only looked at, run or reported belongs to the changes before it, else after it.
        """
        for work in self.works:
            work.describe()
        turn_works = [work for work in self.works if work.modified or work.commit]
        if not turn_works:
            turn_works = self.works[:1]
        for number, work in enumerate(self.works):
            if work not in turn_works:
                before = [turn_work for turn_work in self.works[:number] if turn_work in turn_works]
                (before or turn_works)[-1 if before else 0].absorb(work)
        return turn_works

    def _look(self, work: TurnWork, call: ParsedCall) -> None:
        read, fact = look_at_read(call, self.paths)
        work.reads += read
        work.looks += [fact] if fact else []

    def _report(self, work: TurnWork, call: ParsedCall) -> None:
        """Keep what a subagent said, which two events may tell."""
        output = call.output.strip()
        texts = {" ".join(text.split()) for turn_work in self.works for text in turn_work.reports}
        if output and " ".join(output.split()) not in texts:
            work.reports.append(output)

    def _edit(self, work: TurnWork, call: ParsedCall, changes: Sequence[FileChange]) -> None:
        for change in changes:
            path = self.paths.shown(change.path, call.event.cwd)
            moved = self.paths.shown(change.moved_to, call.event.cwd) if change.moved_to else ""
            display = replace(change, path=path, moved_to=moved)
            work.changes.setdefault(path, []).append(display)
            self.edits += file_kind(path) == "code"

    def _command(self, work: TurnWork, call: ParsedCall) -> None:
        steps = shell.split_commands(call.command)
        if shell.only_looks(steps):
            self._look(work, call)
            if call.failed:
                fails = failure_fact(call, Tests(0, 0))
                work.looks.append(fails)
            return
        written = _writes(steps, failed=call.failed)
        self._edit(work, call, written)
        commit = None if call.failed else _commit(steps)
        if commit is not None:
            work.commit = commit or "commit"
            return
        run = self._run(call, steps)
        if run.failed or run.passed or not written:
            work.runs.append(run)

    def _run(self, call: ParsedCall, steps: list[shell.SimpleCommand]) -> Run:
        program = shell.run_of(steps)
        counts = count_tests(call.output)
        sure = program.sure and not (call.exit_code is None and isinstance(call.answer, str))
        failed = call.failed or counts.failed > 0
        if not failed and not sure:
            failed = says_failure(call.output)
        good = not program.selected and says_success(call.output)
        passed = not failed and (sure or good)
        error = find_problem(call.output) if failed else None
        command = cut(shell.show_command(call.command), COMMAND)
        run = Run(command, call, program, failed, passed, counts, error, self.edits)
        if passed:
            for former in self.runs:
                is_same = former.shown == command
                where = former.error.where if former.error else ""
                size = sum(counts), sum(former.counts)
                covered = is_same or shell.covers(program, former.program, where, size)
                former.closed = former.closed or (former.failed and covered)
        return run


def _writes(steps: Sequence[shell.SimpleCommand], *, failed: bool) -> list[FileChange]:
    """Return what commands write; of some that failed all but the last one were done."""
    last = steps[-1:] if failed else ()
    undone = {
        change
        for step in last
        for change in shell.list_writes(step)
        if change.path not in step.outputs
    }
    return [change for step in steps for change in shell.list_writes(step) if change not in undone]


def _commit(steps: Sequence[shell.SimpleCommand]) -> str | None:
    """Return the message of a `git commit`; None if there is none among the commands."""
    for step in steps:
        if step.program == "git-commit":
            texts = [_HERE.sub("", text) for text in shell.option_values(step, *_MESSAGE)]
            return "\n\n".join(text.strip() for text in texts) or step.here
    return None
