"""What `git log` prints: its format, and the commits read from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.git import authorship, repository
from memory_bank.git.commits import Commit, Person
from memory_bank.git.process import GitFailed

_MOST_WORD = 50_000_000
"""Bytes of a message or a path above which the history is not read."""

_UNIT, _RECORD = "\x1f", b"\x1e"

_FORMAT = (
    "--format=%x1e%H%x00%P%x00%at%x00%ct%x00%an%x00%ae%x00%s%x00"
    "%(trailers:key=Reviewed-by,valueonly,unfold,separator=%x1f)%x00%b%x00"
)

LOG = (
    "-c", "trailer.separators=:", "log", *repository.ORDINARY, "--encoding=UTF-8", _FORMAT, "-z",
    "--raw", "--no-abbrev",
)  # fmt: skip
"""The command whose output `yield_commits` reads."""

_FIELDS = 9
"""Number of fields of a commit in git's output, before its files."""

_LONGEST = 300
"""Characters of a name, an address or a subject that are kept."""

# Characters of a message that are read: longer ones are generated.
_LONGEST_BODY = 20_000

_MOST_TRAILERS = 50

LAST_SECOND = 253_402_300_799
"""Last second of the year 9999."""

_CO_AUTHOR = lazy_pattern(r"^[ \t]*co-authored-by[ \t]*:(.+)$", re.IGNORECASE | re.MULTILINE)

_FORMAL = lazy_pattern(
    r"^[ \t]*([\w-]+-by|change-id|git-svn-id)[ \t]*:.*$", re.IGNORECASE | re.MULTILINE
)
"""Lines of a message that say nothing of the change."""


RawChange = tuple[str, bytes | None, bytes, bytes, bytes]
"""Status, old path if it is another, path, blobs before and after."""


class CommitRecord(NamedTuple):
    """A commit as git prints it; its texts may have secrets."""

    commit: Commit
    words: int
    """Number of words in the body, but for lines such as `Signed-off-by`."""
    changes: Sequence[RawChange]


def _split_words(output: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the words of git's output, which NULs separate."""
    rest = b""
    for part in output:
        *whole, rest = (rest + part).split(b"\0")
        yield from whole
        if len(rest) > _MOST_WORD:
            raise GitFailed
    if rest:
        yield rest


def yield_commits(output: Iterable[bytes]) -> Iterator[CommitRecord]:
    """Yield the commits of a log; raise GitFailed after the last one that is whole.

    A record starts with the separator of records where a status could stand: no path or message
    can pass for one, since they contain no NUL, and the count of fields is fixed.
    """
    fields: list[bytes] = []
    changes: list[RawChange] = []
    words = _split_words(output)
    for word in words:
        start = word.lstrip(b"\n")
        if start.startswith(_RECORD):
            if fields:
                yield _parse_record(fields, changes)
            fields = [start[1:], *(next(words, b"") for _ in range(_FIELDS - 1))]
            changes = []
        elif start.startswith(b":"):
            parents = len(start) - len(start.lstrip(b":"))
            columns = start[parents:].decode("ascii", "replace").split()
            status = columns[-1]
            old = new = next(words, b"")
            if status[0] in "RC" and status[1:].isdigit():
                new, status = next(words, b""), status[0]
            before, after = _parse_blob(columns[parents + 1]), _parse_blob(columns[-2])
            changes.append((status, old if old != new else None, new, before, after))
    if fields:
        yield _parse_record(fields, changes)


def _parse_blob(text: str) -> bytes:
    return bytes.fromhex(text) if text.strip("0") else b""


def _parse_record(fields: Sequence[bytes], changes: Sequence[RawChange]) -> CommitRecord:
    texts = [field.decode("utf-8", "replace") for field in fields]
    commit_id, parents, written, made, author, mail, subject, reviewers, body = texts
    commit = Commit(
        commit_id, tuple(parents.split()), _parse_seconds(written), _parse_seconds(made),
        clean_line(author), clean_line(mail), clean_line(subject), _clean_lines(body),
        _parse_people(_CO_AUTHOR.findall(body)), _parse_people(reviewers.split(_UNIT)),
        authorship.find_request_number(subject, body, merge=" " in parents),
    )  # fmt: skip
    words = len(_FORMAL.sub("", body[:_LONGEST_BODY]).split())
    return CommitRecord(commit, words, changes)


def _parse_people(lines: Iterable[str]) -> tuple[Person, ...]:
    people = []
    for line in [line for line in lines if line.strip()][:_MOST_TRAILERS]:
        name, _, rest = line.partition("<")
        people.append(Person(clean_line(name), clean_line(rest.partition(">")[0])))
    return tuple(people)


def clean_line(text: str) -> str:
    """Return a text on one line without control characters."""
    return "".join(char if char.isprintable() else " " for char in text[:_LONGEST]).strip()


def _clean_lines(text: str) -> str:
    """Return a text of lines without other control characters."""
    body = text[:_LONGEST_BODY].replace("\r\n", "\n").replace("\t", " ").strip()
    if body.isprintable():
        return body
    return "".join(char if char.isprintable() or char == "\n" else " " for char in body)


def _parse_seconds(text: str) -> int:
    return min(int(text), LAST_SECOND) if text.isdigit() else 0
