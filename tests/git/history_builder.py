"""Repositories with a made-up history, by `git fast-import`."""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Made(NamedTuple):
    """A commit to be made: new texts of files, renames, and files that are removed."""

    texts: Mapping[str, str] = {}
    renames: Sequence[tuple[str, str]] = ()
    removed: Sequence[str] = ()
    parents: Sequence[int] = ()
    """Numbers of the commits before it, from 1; empty for the one just before, if there is one."""
    days: float | None = None
    """When it is made; by default a day after the one before."""


def run(folder: Path, *words: str, given: bytes = b"") -> str:
    """Run git in a folder and return what it prints."""
    # `maintenance` would start a second process after each commit
    settings = ("user.name=Test", "user.email=test@example.org", "commit.gpgsign=false",
                "maintenance.auto=false")  # fmt: skip
    options = [word for setting in settings for word in ("-c", setting)]
    done = subprocess.run(
        ["git", "-C", str(folder), *options, *words], input=given, capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "surrogateescape")


def make(folder: Path, commits: Sequence[Made]) -> Path:
    """Make a repository with these commits on the branch main, checked out."""
    folder.mkdir(parents=True, exist_ok=True)
    run(folder, "init", "-q", "-b", "main")
    if commits:
        extend(folder, commits)
    return folder


def extend(folder: Path, commits: Sequence[Made], start: int = 0) -> None:
    """Add commits to the branch main of a repository that has `start` commits made by these functions."""
    run(
        folder,
        "fast-import",
        "--quiet",
        "--force",
        "--date-format=raw",
        given=_stream(folder, commits, start),
    )
    run(folder, "reset", "-q", "--hard", "main")


def _stream(folder: Path, commits: Sequence[Made], start: int) -> bytes:
    lines: list[bytes] = []
    for number, made in enumerate(commits, start + 1):
        days = number if made.days is None else made.days
        who = f"Test <test@example.org> {1_600_000_000 + round(days * 86400)} +0000"
        # to a branch that the next one replaces, so that parents can be any
        lines += [b"commit refs/heads/main", b"mark :%d" % number]
        lines += [f"author {who}".encode(), f"committer {who}".encode(), b"data 1", b"x"]
        parents = made.parents or ((number - 1,) if number - 1 > start else ())
        if number == start + 1 and start:
            lines.append(b"from refs/heads/main^0")
        elif parents:
            lines.append(b"from :%d" % parents[0])
        lines += [b"merge :%d" % parent for parent in parents[1:]]
        lines += [b"D " + _quoted(path) for path in made.removed]
        lines += [b"R " + _quoted(old) + b" " + _quoted(new) for old, new in made.renames]
        for path, text in made.texts.items():
            data = text.encode()
            lines += [b"M 100644 inline " + _quoted(path), b"data %d" % len(data), data]
        lines.append(b"")
    return b"\n".join(lines) + b"\n"


def _quoted(path: str) -> bytes:
    raw = path.encode("utf-8", "surrogateescape")
    return b'"' + raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def commit_all(folder: Path, message: str) -> None:
    """Commit all that is in a work tree."""
    run(folder, "add", "-A")
    run(folder, "commit", "-q", "-m", message)


def write_object(folder: Path, kind: str, data: bytes) -> str:
    """Write an object that git itself might not make; return its name."""
    words = ("hash-object", "-t", kind, "-w", "--literally", "--stdin")
    return run(folder, *words, given=data).strip()


def write_tree(folder: Path, entries: Iterable[tuple[str, str, str]]) -> str:
    """Write a tree of modes, names and objects; return its name."""
    rows = (
        f"{mode} {name}".encode() + b"\0" + bytes.fromhex(object_)
        for mode, name, object_ in entries
    )
    return write_object(folder, "tree", b"".join(rows))
