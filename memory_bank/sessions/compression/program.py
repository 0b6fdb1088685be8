"""Compression mode `command`: a program of the user makes observations of events."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Timer
from typing import IO, Any

from memory_bank.git.process import kill
from memory_bank.sessions.compression.command import MOST_ANSWER, NoObservations
from memory_bank.sessions.compression.texts import cut

SECONDS = 120.0
"""Time limit of the program."""

_MOST_REASON = 200

_BYTES = 4
"""Most bytes of a character."""


def ask(command: str, question: Mapping[str, Any]) -> str:
    """Return what a program prints that reads a question as JSON; raise Failed if it fails.

    It is started without a shell, in the home folder: a relative path must not run a file of the
    project.
    """
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError as error:
        raise NoObservations(f"compression.command can't be read: {error}") from None
    if not words:
        raise NoObservations("compression.command is not set")
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
        given.write(json.dumps(question, ensure_ascii=False).encode(errors="replace"))
        given.seek(0)
        answer, code, late = _run(words, given, errors)
        errors.seek(0)
        said = cut(errors.read(8000).decode(errors="replace"), _MOST_REASON)
    name = cut(Path(words[0]).name, 60)
    if late:
        raise NoObservations(f"{name} took longer than {SECONDS:g} s")
    if len(answer) > MOST_ANSWER * _BYTES:
        raise NoObservations(f"{name} printed more than {MOST_ANSWER:,} characters")
    if code:
        raise NoObservations(f"{name} ended with exit code {code}" + (f": {said}" if said else ""))
    return answer.decode(errors="replace")


def _run(words: list[str], given: IO[bytes], errors: IO[bytes]) -> tuple[bytes, int, bool]:
    """Return what a program printed, its exit code, and whether it was stopped for its time."""
    late = Event()

    def stop() -> None:
        late.set()
        kill(running)

    try:
        running = subprocess.Popen(  # noqa: S603 - the user's own setting, without a shell
            words,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=Path.home(),
            start_new_session=True,
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise NoObservations(f"{cut(words[0], 60)} can't be started: {error}") from None
    timer = Timer(SECONDS, stop)
    timer.daemon = True
    with running:
        timer.start()
        try:
            assert running.stdout is not None  # noqa: S101  (narrows the type)
            answer = running.stdout.read(MOST_ANSWER * _BYTES + 1)
            if len(answer) <= MOST_ANSWER * _BYTES:
                running.wait()
        finally:
            timer.cancel()
            kill(running)
    return answer, running.returncode, late.is_set()
