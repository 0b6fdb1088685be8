"""Run git so that no setting of a repository starts a program or reaches a host."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import MappingProxyType

LIMIT = 5.0
"""Time limit of one git command in seconds; the history of 100,000 commits takes two and a half."""

_AGAIN = 60.0
"""Seconds after a timeout in which a process runs no git: each answer would wait for one that
hangs. A server runs it again then: the machine may just have been busy."""

_MOST_CONFLICTS = 127
"""Largest exit code of `git merge-file` that is a number of conflicts."""

_KILL_SECONDS = 1.0
"""Seconds to wait for a killed git process."""

_PART = 1 << 16
"""Bytes of output that are read at a time."""

_NONE: Mapping[str, str] = MappingProxyType({})

ALLOWED = {
    "GIT_ALLOW_PROTOCOL": "none",  # before protocol.*.allow, remote helpers, ssh and proxies
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
    "LC_ALL": "C",
}
"""The only variables of git in its environment, and the language of its output."""

_OTHER_PROGRAMS = frozenset({"SSH_ASKPASS", "PAGER", "EDITOR", "VISUAL"})

_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.askPass=",
    "core.sshCommand=", "core.gitProxy=", "core.alternateRefsCommand=", "core.attributesFile=",
    "credential.helper=", "diff.external=", "diff.ignoreSubmodules=all", "submodule.recurse=false",
    "gpg.program=", "gpg.openpgp.program=", "gpg.x509.program=", "gpg.ssh.program=",
    "gpg.ssh.defaultKeyCommand=", "log.showSignature=false", "log.mailmap=false", "mailmap.blob=",
    "mailmap.file=", "protocol.allow=never", "core.quotePath=false",
)  # fmt: skip
"""They override settings in files. Drivers of `filter`, `diff` and `merge` have arbitrary names and
can't be overridden, so no command here reads a file of the work tree, shows a diff, merges,
fetches, pushes, signs or edits."""


class TimeoutState:
    """The time until which this process runs no git, since a command timed out."""

    until = 0.0


def has_given_up() -> bool:
    """Tell whether a git command timed out a short while ago."""
    return time.monotonic() < TimeoutState.until


def run(tree: Path, *words: str, given: str = "", seconds: float = 0.0) -> str | None:
    """Run a read-only git command with `given` as its input; return its output, None if it fails.

    Bytes that are not UTF-8 become surrogates. A command with its own time limit in `seconds` may
    exceed it: later ones still run.
    """
    process = start_git(tree, words, given=bool(given))
    if process is None:
        return None
    try:
        content, _ = process.communicate(given.encode() or None, timeout=seconds or LIMIT)
    except subprocess.TimeoutExpired:
        if not seconds:
            TimeoutState.until = time.monotonic() + _AGAIN
        return None
    finally:
        end_git(process)
        if process.stdin is not None:
            with suppress(OSError):  # git ended before it read all
                process.stdin.close()
    return content.decode("utf-8", "surrogateescape") if process.returncode == 0 else None


class GitFailed(Exception):
    """A git command failed, or exceeded a limit."""


def read_output(
    tree: Path,
    *words: str,
    most: int,
    given: bytes = b"",
    seconds: float = LIMIT,
    variables: Mapping[str, str] = _NONE,
) -> bytes | None:
    """Run a read-only git command; return its output, None if it fails or exceeds a limit.

    `most` is the maximum number of bytes of the output: a small tree can list billions of files.
    Later commands run after a timeout, too. `variables` are added to its environment.
    """
    parts, size = [], 0
    output = yield_output(tree, *words, given=given, seconds=seconds, variables=variables)
    try:
        with closing(output):
            for part in output:
                parts.append(part)
                size += len(part)
                if size > most:
                    return None
    except GitFailed:
        return None
    return b"".join(parts)


def yield_output(
    tree: Path,
    *words: str,
    given: bytes = b"",
    seconds: float = LIMIT,
    variables: Mapping[str, str] = _NONE,
) -> Generator[bytes, None, None]:
    """Yield the output of a read-only git command as it comes; raise GitFailed at its end.

    Git is killed after `seconds`, or when the generator is closed before its end.
    """
    from threading import Thread, Timer  # start-up: few commands need them

    process = start_git(tree, words, given=bool(given), variables=variables)
    if process is None:
        raise GitFailed
    assert process.stdout is not None  # noqa: S101  (a pipe was asked for)
    timer = Timer(seconds, kill_git, [process])
    timer.daemon = True
    timer.start()
    feeder = Thread(target=_feed_input, args=(process, given), daemon=True)
    feeder.start()
    try:
        # what is there, not a full buffer
        while part := process.stdout.read1(_PART):  # type: ignore[attr-defined]  # it is buffered
            yield part
        process.wait()  # killed by the timer, if it hangs
    finally:
        timer.cancel()
        end_git(process)
        feeder.join(_KILL_SECONDS)
    if process.returncode != 0:
        raise GitFailed


def merge_texts(
    folder: Path, files: Sequence[Path], labels: Sequence[str], size: int
) -> bytes | None:
    """Return what git makes of three files: ours, the base, theirs; None if it can't merge them.

    Conflicts have markers of `size` characters with the labels of the files. No setting names a
    program for it, since it merges files and not paths.
    """
    options = [word for label in labels for word in ("-L", label)]
    words = ("merge-file", "--stdout", "--quiet", f"--marker-size={size}", *options, "--")
    process = start_git(folder, (*words, *map(str, files)), given=False)
    if process is None:
        return None
    try:
        content, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end_git(process)
    return content if process.returncode <= _MOST_CONFLICTS else None


def find_git() -> str | None:
    """Return the path of git, from absolute folders of PATH only."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.get_exec_path():
        file = os.path.join(folder, name)  # noqa: PTH118  (start-up: for each answer)
        if os.path.isabs(folder) and os.access(file, os.X_OK):  # noqa: PTH117
            return file
    return None


def start_git(
    tree: Path, words: Sequence[str], *, given: bool, variables: Mapping[str, str] = _NONE
) -> subprocess.Popen[bytes] | None:
    """Start a git command; return None if there is no git, or one has just timed out."""
    file = None if has_given_up() else find_git()
    if file is None:
        return None
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        return subprocess.Popen(  # noqa: S603  (fixed words, paths behind --)
            [file, "-C", str(tree), "--no-pager", *settings, *words],
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**_environment(), **variables},
            start_new_session=True,  # without a terminal for prompts; killed with its children
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError):  # ValueError: a NUL in a word
        return None


def _feed_input(process: subprocess.Popen[bytes], content: bytes) -> None:
    """Write the input of git and close it."""
    if process.stdin is not None:
        with suppress(OSError, ValueError):  # git ended before it read all
            process.stdin.write(content)
        with suppress(OSError, ValueError):
            process.stdin.close()


def _environment() -> dict[str, str]:
    """Return the environment without variables of git, which a hook or a client may have set."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith("GIT_") and name.upper() not in _OTHER_PROGRAMS
    }
    return {**variables, **ALLOWED}


def end_git(process: subprocess.Popen[bytes]) -> None:
    """Kill git with its children, if it still runs, and close its output, also if it has ended."""
    running = process.poll() is None
    if running:
        kill_git(process)
    if process.stdout is not None:
        process.stdout.close()
    if running:
        with suppress(subprocess.TimeoutExpired):  # blocked by a disk
            process.wait(_KILL_SECONDS)


def kill_git(process: subprocess.Popen[bytes]) -> None:
    """Kill git with its children."""
    if os.name == "nt":
        process.kill()
        return
    with suppress(ProcessLookupError):  # it has just ended
        os.killpg(process.pid, signal.SIGKILL)
