"""The output of `git log` about the commits of files, and its records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

_UNIT, _RECORD = "\x1f", "\x1e"
FORMAT = (
    "--format=%x1e%H%x00%P%x00%at%x00%ct%x00%an%x00%ae%x00%s%x00"
    "%(trailers:key=Reviewed-by,valueonly,unfold,separator=%x1f)%x00%b%x00"
)
_FIELDS = 9
"""Fields of a commit in the output, before its files."""
_LONGEST = 300
"""Characters of a name, an address or a subject that are kept."""
_MOST_TRAILERS = 50
_CO_AUTHOR = re.compile(r"^[ \t]*co-authored-by[ \t]*:(.+)$", re.IGNORECASE | re.MULTILINE)
_LAST_SECOND = 253_402_300_799


class Person(NamedTuple):
    """A person whom a line at the end of a commit's message names."""

    name: str
    mail: str


class FileCommit(NamedTuple):
    """A commit that changed a file of the folder."""

    id: str
    parents: tuple[str, ...]
    time: int
    """When it was written (its author's time), in seconds since the epoch."""
    committed: int
    """When it was made or rebased, in seconds since the epoch."""
    author: str
    mail: str
    subject: str
    co_authors: tuple[Person, ...]
    """Of all lines `Co-authored-by`: forges and hooks add paragraphs below them, and a line that
    names an agent only lowers trust."""
    reviewers: tuple[Person, ...]
    """Of the trailers `Reviewed-by`, as git parses them: in the last paragraph only."""


class Change(NamedTuple):
    """What a commit did to a file, by the names before and after."""

    commit: FileCommit
    status: str
    """A letter of git: A, M, D, R or T; for a merge, one for each parent."""
    old: str
    path: str


def parsed(log: str, prefix: str) -> Iterable[tuple[FileCommit, tuple[tuple[str, str, str], ...]]]:
    """Yield the commits of a log with what each changed below the folder.

    With `-z`, git separates fields and paths by NUL; a record starts with a NUL or the start of the
    output, the separator of records, and an id: a path or a message can't look like that, since
    they contain no NUL and the count of fields is fixed.
    """
    words = log.split("\0")
    place = 0
    while place < len(words):
        start = words[place].lstrip("\n")
        if not start.startswith(_RECORD):
            place += 1
            continue
        fields = [start[1:], *words[place + 1 : place + _FIELDS]]
        place += _FIELDS
        changes = []
        while place < len(words) and not words[place].lstrip("\n").startswith(_RECORD):
            status = words[place].lstrip("\n")
            place += 1
            if not status:
                continue
            old = path = words[place] if place < len(words) else ""
            place += 1
            if status[0] in "RC" and status[1:].isdigit():
                path = words[place] if place < len(words) else ""
                place += 1
                status = status[0]
            changes.append((status, old, path))
        ours = tuple(
            (status, below(old, prefix), below(path, prefix))
            for status, old, path in changes
            if path.startswith(prefix)
        )
        if ours and len(fields) == _FIELDS:
            yield _commit_of(fields), ours


def _commit_of(fields: Sequence[str]) -> FileCommit:
    commit, parents, time, committed, author, mail, subject, reviewers, body = fields
    return FileCommit(
        commit, tuple(parents.split()), _second(time), _second(committed), clean(author),
        clean(mail), clean(subject), _people(_CO_AUTHOR.findall(body)),
        _people(reviewers.split(_UNIT)),
    )  # fmt: skip


def _people(lines: Iterable[str]) -> tuple[Person, ...]:
    found = []
    for line in islice(filter(str.strip, lines), _MOST_TRAILERS):
        name, _, rest = line.partition("<")
        found.append(Person(clean(name), clean(rest.partition(">")[0])))
    return tuple(found)


def clean(text: str) -> str:
    """Return a text on one line without control characters, and what is not UTF-8 replaced."""
    plain = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[:_LONGEST]
    return "".join(char if char.isprintable() else " " for char in plain).strip()


def _second(text: str) -> int:
    return min(int(text), _LAST_SECOND) if text.isdigit() else 0


def below(path: str, prefix: str) -> str:
    """Return a path below the folder; one outside of it with what leads there."""
    inside = path[len(prefix) :] if path.startswith(prefix) else f"/{path}"
    return inside.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
