"""Parse files in a process of their own, which may end at any file: the one home of tree-sitter.

A grammar may take gigabytes or minutes for a small file, or crash, and while its C code runs,
nothing in Python can stop it. `parse_process` starts this process, and ends it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO

from memory_bank.code.parse.parsed_file import (
    ANSWER,
    MAX_ANSWER,
    OUT_OF_MEMORY,
    READY,
    REQUEST,
    ParsedFile,
    dump_file,
)
from memory_bank.code.parse.parsing import TreeWalk, find_rules
from memory_bank.code.parse.syntax_tree import compile_query, find_matches

if TYPE_CHECKING:
    from tree_sitter import Parser, Query


_SHARE = 0.8
"""Share of its time after which only the first part of a file is read."""

_SLOWER = 2
"""Limit of wall-clock time where processor time has none, as a multiple of that."""

_BOM = b"\xef\xbb\xbf"


def parse(data: bytes, language: str, seconds: float) -> ParsedFile:
    """Return what is in a file, of its first part if all takes more than the processor time."""
    last = time.process_time() + _SHARE * seconds
    data = data.removeprefix(_BOM)
    rules = find_rules(find_rules(language).really(data) or language)
    parser, query = _parser_and_query(rules.name)
    tree = parser.parse(rules.readable(data) if rules.readable else data)
    matches = find_matches(query, tree.root_node)
    return TreeWalk(rules, data, last, matches).run(tree.root_node)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer with what is in each file, until there are no more."""
    answers.write(READY)
    answers.flush()
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        seconds, name, size = REQUEST.unpack(head)
        language, data = requests.read(name).decode(), requests.read(size)
        _end_after(seconds)
        answer = dump_file(parse(data, language, seconds)).encode()
        if len(answer) > MAX_ANSWER:
            refused = f"what it defines takes more than {MAX_ANSWER // 1_000_000} MB"
            answer = dump_file(ParsedFile(language, refused=refused)).encode()
        _end_after(0)
        answers.write(ANSWER.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def main() -> None:
    """Serve the parent process; its argument is the limit of memory in bytes."""
    _limit(int(sys.argv[1]))
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BrokenPipeError:
        pass
    os._exit(0)  # at once: nothing is to be saved


def _limit(memory: int) -> None:
    """Let the system limit this process, where it can: that holds without the parent, too."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # sent to a group: it ends with its parent
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPROF])
    for kind, most in (resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, memory):
        with suppress(ValueError, OSError):  # the system has no such limit, or a lower one
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def _end_after(seconds: float) -> None:
    """End this process after so much processor time, also in C code; 0 ends the limit."""
    if sys.platform == "win32":
        import faulthandler

        faulthandler.cancel_dump_traceback_later()
        if seconds:
            faulthandler.dump_traceback_later(_SLOWER * seconds, exit=True)
    else:
        signal.setitimer(signal.ITIMER_PROF, seconds)


@cache
def _parser_and_query(language: str) -> tuple[Parser, Query]:
    from tree_sitter import Language, Parser

    rules = find_rules(language)
    grammar = Language(getattr(import_module(rules.grammar), rules.entry)())
    return Parser(grammar), compile_query(rules, grammar)
