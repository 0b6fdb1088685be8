"""Run git so that no setting of a repository starts a program or reaches a host."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

LIMIT = 5.0
"""Time limit of one git command in seconds; the history of 100,000 commits takes two and a half.
After one timeout, a process does not run git again."""

_KILL_SECONDS = 1.0
"""Seconds to wait for a killed git process."""

_ALLOWED = {
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


class State:
    """Whether a git command of this process timed out."""

    timed_out = False


def run(tree: Path, *words: str, given: str = "", seconds: float = 0.0) -> str | None:
    """Run a read-only git command with `given` as its input; return its output, None if it fails.

    Bytes that are not UTF-8 become surrogates. A command with its own time limit in `seconds` may
    exceed it: later ones still run.
    """
    file = None if State.timed_out else program()
    if file is None:
        return None
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        process = subprocess.Popen(  # noqa: S603  (fixed words, paths behind --)
            [file, "-C", str(tree), "--no-pager", *settings, *words],
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # without a terminal for prompts; killed with its children
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError:
        return None
    try:
        found, _ = process.communicate(given.encode() or None, timeout=seconds or LIMIT)
    except subprocess.TimeoutExpired:
        State.timed_out = not seconds
        return None
    finally:
        _end(process)
    return found.decode("utf-8", "surrogateescape") if process.returncode == 0 else None


def program() -> str | None:
    """Return the path of git, from absolute folders of PATH only."""
    name = "git.exe" if os.name == "nt" else "git"
    for place in os.get_exec_path():
        file = os.path.join(place, name)  # noqa: PTH118  (start-up: for each answer)
        if os.path.isabs(place) and os.access(file, os.X_OK):  # noqa: PTH117
            return file
    return None


def _environment() -> dict[str, str]:
    """Return the environment without variables of git, which a hook or a client may have set."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith("GIT_") and name.upper() not in _OTHER_PROGRAMS
    }
    return {**kept, **_ALLOWED}


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill git with its children, if it still runs."""
    if process.poll() is not None:
        return
    if os.name == "nt":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    with suppress(subprocess.TimeoutExpired):  # blocked by a disk
        process.wait(_KILL_SECONDS)
