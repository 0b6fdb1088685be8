"""What reading, searching, agents and other commands leave in an observation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from memory_bank.sessions.compression import outcomes, shell
from memory_bank.sessions.compression.definitions import names
from memory_bank.sessions.compression.drafts import cut
from memory_bank.sessions.compression.edits import listed
from memory_bank.sessions.compression.items import Item
from memory_bank.sessions.compression.paths import Paths
from memory_bank.sessions.compression.tool_calls import ToolCall

_FOUND = re.compile(r"^([^\s:\x00]{1,300}\.\w{1,8})(?::\d+[:\s]|$)", re.MULTILINE)
_NUMBERED = re.compile(r"^\s{0,8}\d+(?:→|\t|: |\|)", re.MULTILINE)
_MOST_FOUND, _MOST_FACTS, _MOST_TOLD = 4, 6, 1000
_PROGRESS = re.compile(
    r"^(?:\s*$|[#=>*.-]{3,}|\s*\d+%|Downloading|Collecting|Requirement already|\s*Using cached|remote: |\[\d+/\d+\])"
)


def add(item: Item, calls: Sequence[ToolCall], paths: Paths, *, alone: bool) -> None:
    """Add the files that calls read and, if nothing else was done, what they showed."""
    facts = list[str]()
    for call in calls:
        read, fact = _look(call, paths)
        item.reads += read
        if call.failed and call.kind == "command":
            item.facts.append(failure_fact(call, outcomes.Tests(0, 0)))
        elif fact:
            facts.append(fact)
    if alone:
        item.facts += list(dict.fromkeys(facts))[:_MOST_FACTS]


def _look(call: ToolCall, paths: Paths) -> tuple[list[str], str]:
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
    elif call.kind == "other":
        asked = cut(call.words or call.event.tool_input, 80)
        fact = f"{call.event.tool_name} of {asked}: {cut(call.output, 100)}"
    return read, fact


def _pattern(step: shell.Step) -> str:
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


def failure_fact(call: ToolCall, counts: outcomes.Tests) -> str:
    """Name a command that failed, with what it said."""
    code = f" with exit code {call.exit_code}" if call.exit_code else ""
    told = counts.shown or outcomes.problem(call.output).message
    return f"`{cut(call.command, 160)}` fails{code}" + (f": {cut(told, 120)}" if told else "")


def ran(item: Item, call: ToolCall, shown: str, counts: outcomes.Tests | None) -> None:
    """Add a command that succeeded to an item, which gets its title from the first."""
    if counts is not None:
        told = counts.shown or result(call.output)
        line = f"{shown} passes" + (f": {told}" if told else "")
    else:
        told = result(call.output)
        line = f"Run {shown}" + (f": {told}" if told else "")
    item.title = item.title or line
    item.facts.append(
        f"`{shown}`" + (" passes" if counts is not None else "") + (f": {told}" if told else "")
    )


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


def agent(call: ToolCall) -> tuple[str, str]:
    """Return the title and the text of what a subagent found."""
    about = str(call.arguments.get("description") or call.words or "a subagent's task")
    told = call.output.strip()
    first = re.split(r"(?<=[.!?])\s|\n", told.lstrip("#*- "), maxsplit=1)[0] if told else ""
    title = f"{cut(about, 50)}: {first}" if first else f"Have a subagent do: {about}"
    return title, told[:_MOST_TOLD]
