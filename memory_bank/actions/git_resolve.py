"""Finish conflicts of notes that git left after a merge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank import Bank
from memory_bank.errors import BadInput, MemoryBankError
from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.notes import merge_conflicts, names, note_parser
from memory_bank.notes.decoding import BOM
from memory_bank.notes.identity import etag
from memory_bank.notes.merging import note_merge
from memory_bank.notes.merging.note_merge import CannotMerge, MergedNote
from memory_bank.repo import git, git_objects, git_process

_MOST_BYTES = 100_000_000
_MOST_NAMES = 1000
_BASE, _OURS, _THEIRS = "1", "2", "3"
MERGED, TWO_NOTES, LEFT = "merged", "two_notes", "left"


class Resolved(NamedTuple):
    """One note with a conflict, and what became of it."""

    path: str
    outcome: str
    """`merged`, `two_notes` or `left`."""
    new_path: str = ""
    """The note that theirs became."""
    conflicts: int = 0
    reason: str = ""
    """Why it is left."""


class _Versions(NamedTuple):
    """The three versions of a note; None where a side does not have it."""

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


def resolve(bank: Bank) -> tuple[Resolved, ...]:
    """Merge the notes that git left with conflicts, where that is possible without a decision.

    Two notes of one name, which both sides made, become two notes: ours keeps the name. A file that
    is no longer as git left it stays as it is. The file before is copied to the trash; git is not
    told, so that a person looks at it before `git add`. Raises BadInput outside a git work tree.
    """
    root = bank.layout.root
    tree = git.worktree(root)
    if tree is None:
        raise BadInput(f"{root} is in no git repository", "there is nothing that git merged")
    bank.settings.check_enabled()
    found = tuple(_resolved(bank, path, some) for path, some in _unmerged(tree, root))
    bank.catch_up()
    return found


def _unmerged(tree: Path, root: Path) -> Iterator[tuple[str, _Versions]]:
    """Yield the notes with conflicts, by their paths below the bank, with their versions."""
    below = root.relative_to(tree).as_posix()
    asked = ("ls-files", "--unmerged", "-z", "--full-name", "--", below)
    listed = git_process.run(tree, *asked)
    if listed is None:
        raise BadInput(git.problem(root) or "git can't list conflicts", "try `git status`")
    stages: dict[str, dict[str, str]] = {}
    for entry in filter(None, listed.split("\0")):
        about, _, path = entry.partition("\t")
        _, name, stage = about.split()
        if git_objects.is_safe(path) and path.endswith(NOTE_SUFFIXES):
            stages.setdefault(path, {})[stage] = name
    wanted = {name for some in stages.values() for name in some.values()}
    data = dict(git_objects.blobs(tree, wanted, _MOST_BYTES))
    prefix = "" if below == "." else f"{below}/"
    for path, some in stages.items():
        yield path.removeprefix(prefix), _versions(some, data)


def _versions(stages: Mapping[str, str], data: Mapping[str, bytes]) -> _Versions:
    return _Versions(*(data.get(stages.get(stage, "")) for stage in (_BASE, _OURS, _THEIRS)))


def _resolved(bank: Bank, path: str, versions: _Versions) -> Resolved:
    """Resolve one note; a failure is its reason."""
    try:
        return _finished(bank, path, versions)
    except CannotMerge as error:
        return Resolved(path, LEFT, reason=str(error))
    except MemoryBankError as error:
        return Resolved(path, LEFT, reason=error.message)


def _finished(bank: Bank, path: str, versions: _Versions) -> Resolved:
    base, ours, theirs = versions
    if ours is None or theirs is None:
        missing = "ours" if ours is None else "theirs"
        return Resolved(path, LEFT, reason=f"{missing} deleted it: keep it or `git rm` it")
    now = bank.store.read_bytes(path)
    if not merge_conflicts.find(now.decode(errors="replace")):
        return Resolved(path, LEFT, reason="it has no conflict any more: `git add` it")
    made = note_merge.merge(base or b"", ours, theirs)
    if not _is_untouched(now, versions, made):
        return Resolved(path, LEFT, reason="it was edited since: resolve the rest by hand")
    if made.are_two_notes:
        return _two_notes(bank, path, versions, etag(now))
    if not made.conflicts:
        _write(bank, path, made.data, etag(now))
        return Resolved(path, MERGED)
    count = made.conflicts
    return Resolved(path, LEFT, conflicts=count, reason="both sides changed the same place")


def _is_untouched(now: bytes, versions: _Versions, made: MergedNote) -> bool:
    """Tell whether a file is as a merge left it: labels and styles of markers differ.

    Its lines are those of the versions, and it has each of their lines that the merge keeps.
    """
    text = now.decode(errors="replace")
    marks = {marker for one in merge_conflicts.find(text) for marker in one.markers}
    known = {line for data in versions if data for line in _lines(data)}
    kept, lines = known & _lines(made.data), _lines(now)
    return kept <= lines and lines - known - _lines(made.data) <= {
        marker.encode() for marker in marks
    }


def _lines(data: bytes) -> set[bytes]:
    return {line.removesuffix(b"\r") for line in data.removeprefix(BOM).split(b"\n")}


def _two_notes(bank: Bank, path: str, versions: _Versions, expected: str) -> Resolved:
    """Give ours the name and theirs another one."""
    ours, theirs = versions.ours or b"", versions.theirs or b""
    text = theirs.decode("utf-8-sig")
    new_path = _free(bank, path, note_parser.front_matter(theirs).id)
    bank.store.create(new_path, text, given=text)
    _write(bank, path, ours, expected)
    return Resolved(path, TWO_NOTES, new_path)


def _free(bank: Bank, path: str, key: str) -> str:
    """Return a free name for a note: with the start of its id, else with a number."""
    stem = names.name_of(path)
    ends = [key[:4]] if key[:4].isalnum() else []
    for end in (*ends, *range(2, _MOST_NAMES)):
        new = f"{stem}-{end}.md"
        if not bank.store.exists(new):
            return new
    raise BadInput(f"{_MOST_NAMES} notes are named like {path}", "rename some")


def _write(bank: Bank, path: str, data: bytes, expected: str) -> None:
    """Replace a note's text, after copying the file to the trash."""
    text = data.decode("utf-8-sig")
    bank.store.keep(path)
    bank.store.change(path, lambda _: text, expected, given=text)
