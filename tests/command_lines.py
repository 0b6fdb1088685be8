"""Command lines as typed into a shell; those of our own commands alone run in this process.

That saves most of the time of a transcript. A line with anything else of a shell runs in bash.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from memory_bank.frontends.cli.main import run

SHELL = shutil.which("bash")
_SHELLS_OWN = frozenset("$`*~{!")
_TIMEOUT = 60


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def typed(line: str, *, terminal: bool = False) -> tuple[str, int]:
    """Run a command line without a stdin; return what it prints, and its exit code.

    With `terminal`, our own commands print as to a terminal.
    """
    words = _ours(line)
    if words is not None:
        return _here(words, _Terminal if terminal else io.TextIOWrapper)
    done = subprocess.run(
        [str(SHELL), "-c", line],
        stdin=subprocess.DEVNULL,
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


def _here(words: list[str], kind: type[io.TextIOWrapper]) -> tuple[str, int]:
    printed = io.BytesIO()
    stream = kind(printed, encoding="utf-8", write_through=True)
    errors = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    with pytest.MonkeyPatch.context() as patched, open(os.devnull, encoding="utf-8") as nothing:
        patched.setattr(sys, "stdout", stream)
        patched.setattr(sys, "stderr", errors)
        patched.setattr(sys, "stdin", nothing)
        code = run(words)
    return printed.getvalue().decode("utf-8"), code
