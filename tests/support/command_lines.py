"""Command lines as typed into a shell, and tables of them: a command after `$ `, then what it prints.

Those of our own commands run in this process, which saves most of the time: alone, joined by `&&`,
with variables, at either end of a pipe, or with their output in a file. Any other line runs in bash.

Below an output, `[3]` is an exit code other than 0. What differs from run to run (ids, dates, times,
scores) is written as a word in angle brackets. After a change that is meant, write the tables anew
with UPDATE_TRANSCRIPTS=1 and read the difference.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from memory_bank.frontends.cli.main import run
from memory_bank.sessions.records import Session
from tests.support.files import write_files
from tests.support.session_builder import write as write_session
from tests.support.shop import FILES

SHELL = shutil.which("bash")
_SHELLS_OWN = frozenset("$`*~{!")
_TIMEOUT = 60
_SETTINGS = re.compile(r"(?:[A-Z_]+=[^\s'\"$]* )*")
_TO_FILE = re.compile(r"([^'\">|]+) > ([\w./-]+)")
_OURS = re.compile(_SETTINGS.pattern + r"(?:.* \| )?(?:mb|memory-bank) ", re.DOTALL)
VARYING = (
    (r"\b[0-9a-f]{64}\b", "<etag>"),
    (r"(?m)\b[0-9a-f]{40}\b|\b[0-9a-f]{10}(?=[ |]+20\d\d-)|^[0-9a-f]{10}(?=  )", "<commit>"),
    # An id that reads as a number, such as 123456789012 or 1234e5678901, is quoted in YAML.
    (r"(?<=id: )(\\?['\"])([0-9a-f]{12})\1", r"\2"),
    (r'(?m)(^size +|^counts: |"total_size": ")\d+B\b', r"\1<size>"),  # two more with such quotes
    (r"\b(?=[0-9a-f]*\d)[0-9a-f]{12}\b", "<id>"),
    (r"\b20\d{12}(\d{6})?\b", "<version>"),
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<moment>"),
    (r"\b20\d\d-\d\d-\d\d( \d\d:\d\d\S*)?", "<date>"),
    (r"(\bin|;) \d+\.\d s\b", r"\1 <seconds>"),
    (r"(?m)(?:(?<=:\d  )|(?<=:\d\d  ))\d{1,3}%(?=$|  )", "<score>"),
    (r"(?<=commit )[0-9a-f]{8,10}\b|\b[0-9a-f]{10}\.\.[0-9a-f]{10}\b", "<commit>"),
    (r"\b[0-9a-f]{10}(?=\.\.worktree)", "<commit>"),
    (r"(?m)^[0-9a-f]{10}(?=  )", "<commit>"),
    (r"(?<=-)[0-9a-f]{4,8}(?=\.md\b)", "<id>"),
    (r"(?<![\w>])/\S*/bin/memory-bank\b", "memory-bank"),
    (r"<(/?)q-(?!0{6})[0-9a-f]{6}", r"<\1q"),
    (r'(?<= etag=")[0-9a-f]{16}(?=")', "<etag>"),
    (r"(?<= score=)[01]\.\d\d|(?<= \| )[01]\.\d\d(?= \| )", "<score>"),
    (r"~\d+(?= \|)|(?<=\()\d+(?= tokens to read)|(?<=<date> \| )\d+(?= \|)", "<tokens>"),
    (r"(?<=\| )\d\d:\d\d(?= \|)", "<time>"),
    (r"\b(keyword|notes|vectors|neighbours) -?\d\.\d\d", r"\1 <share>"),
    (r'(?<= age=")[^"]+', "<age>"),
    (r"\S+/state/memory-bank/[0-9a-f]{16}/|(?<=sessions/)\d{4}/\d\d/\d\d(?=-)", "<private>"),
    (r"\b\d+ → \d+(?=\s+tokens)", "<from> → <to>"),
    (r'(?<=score": )[\d.]+', "<score>"),
    (r"(?m)(?<=\S )( +)\d\.\d\d(?=$|  )", r"\1<share>"),
)


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def typed(line: str, *, terminal: bool = False) -> tuple[str, int]:
    """Run a command line without a stdin; return what it prints, and its exit code.

    With `terminal`, our own commands print as to a terminal.
    """
    steps = line.split(" && ")
    if not any(map(_OURS.match, steps)) or not all(map(_is_whole, steps)):
        return _in_bash(line)
    printed, code = "", 0
    with pytest.MonkeyPatch.context() as patched:
        for step in steps:
            if step.startswith("cd ") and Path(step[3:]).is_dir():
                patched.chdir(step[3:])
                continue
            shown, code = _piped(step, terminal=terminal)
            printed += shown
            if code:
                break
    return printed, code


def _is_whole(step: str) -> bool:
    """Tell whether no quotes are torn apart in a part of a line."""
    try:
        return bool(shlex.split(step)) and not step.startswith("(")
    except ValueError:
        return False


def _piped(line: str, *, terminal: bool) -> tuple[str, int]:
    parts = line.split(" | ")
    for number, part in enumerate(parts):
        before = _SETTINGS.match(part)
        saved = _TO_FILE.fullmatch(part[before.end() :]) if before else None
        words = _ours(saved[1] if saved else part[before.end() :]) if before else None
        if before is None or words is None:
            continue
        given = _in_bash(" | ".join(parts[:number]))[0] if number else ""
        rest = " | ".join(parts[number + 1 :])
        kind = _Terminal if terminal and not rest else io.TextIOWrapper
        with pytest.MonkeyPatch.context() as patched:
            for setting in before[0].split():
                patched.setenv(*setting.split("=", 1))
            printed, code = _here(words, kind, given, saved and saved[2])
        return _in_bash(rest, printed) if rest else (printed, code)
    return _in_bash(line)


def _in_bash(line: str, given: str = "") -> tuple[str, int]:
    done = subprocess.run(
        [str(SHELL), "-c", line],
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=_TIMEOUT,
        check=False,
    )
    return done.stdout, done.returncode


def _ours(line: str) -> list[str] | None:
    """Return the arguments of a line that is one of our commands and nothing else."""
    lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return None
    if words[:1] not in (["mb"], ["memory-bank"]) or not _SHELLS_OWN.isdisjoint(line):
        return None
    operators = any(word and set(word) <= set("();<>|&") for word in words)
    return None if operators else words[1:]


def _here(
    words: list[str], kind: type[io.TextIOWrapper], given: str, file: str | None
) -> tuple[str, int]:
    printed = io.BytesIO()
    errors = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    with ExitStack() as stack:
        output = stack.enter_context(open(file, "wb")) if file else printed
        stream = kind(output, encoding="utf-8", write_through=True)
        patched = stack.enter_context(pytest.MonkeyPatch.context())
        patched.setattr(sys, "stdout", stream)
        patched.setattr(sys, "stderr", errors)
        patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8"))
        code = run(words)
    return printed.getvalue().decode("utf-8"), code


def replay(
    file: Path, known: dict[str, str], run: Callable[[str], tuple[str, int]] | None = None
) -> None:
    """Run the commands of a table, and compare; `known` maps paths to the words that are shown.

    Tables of a name that starts with `terminal` print as to a terminal.
    """
    told = file.read_text(encoding="utf-8")
    run = run or partial(typed, terminal=file.stem.startswith("terminal"))
    found = "".join(_told(line, *run(line), known) for line in commands(told))
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        file.write_text(found, encoding="utf-8")
    assert found == told


def commands(told: str) -> Iterator[str]:
    """Yield the lines behind `$ `; a line behind `> ` goes on with what is quoted above it."""
    parts: list[str] = []
    for line in told.splitlines():
        if line.startswith("$ "):
            if parts:
                yield "\n".join(parts)
            parts = [line[2:]]
        elif line.startswith("> ") and parts and not _is_whole("\n".join(parts)):
            parts.append(line[2:])
    if parts:
        yield "\n".join(parts)


def _told(line: str, output: str, status: int, known: dict[str, str]) -> str:
    for path, word in known.items():
        output = output.replace(path, word)
    for pattern, word in VARYING:
        output = re.sub(pattern, word, output)
    if output and not output.endswith("\n"):
        output += "\n"
    shown = line.replace("\n", "\n> ")
    code = f"[{status}]\n" if status else ""
    return f"$ {shown}\n{output}{code}"


def work_beside_shop(
    project: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *sessions: Session
) -> None:
    """Work in a project as a known author, beside the code of a shop and notes of sessions."""
    write_files(folder / "shop", FILES)
    write_session(folder / "worked", *sessions)
    monkeypatch.chdir(project)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "test@example.org")


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command be found, as after an install, and no client be configured."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("memory-bank", "mb"):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memory_bank "$@"\n', "utf-8")
        program.chmod(0o755)
    for name in ("NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("HOME", str(folder / "home"))
