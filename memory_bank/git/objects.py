"""Read commits, trees and blobs of a repository, without its work tree.

Names of revisions and of files are data: no name becomes an option, leads out of a folder, or makes
git fetch. In a partial clone, a missing object is an error.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader, BytesIO
from pathlib import Path
from subprocess import Popen
from typing import BinaryIO

from memory_bank.base import Closable, NamedTuple, in_json, lazy_pattern, shorten
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import BadInput, StorageFailed
from memory_bank.base.filenames import is_utf8
from memory_bank.git import repository
from memory_bank.git.process import LIMIT, end_git, kill_git, read_output, start_git
from memory_bank.git.repository import COMMIT_ID

STAGED = "staged"
"""The revision that is the git index: what the next commit would have. A branch of that name is
`refs/heads/staged`."""

MOST_FILES_BYTES = 100_000_000
"""Maximum bytes of a list of files: that of 500,000 files has as many."""

AT_ONCE = 32_000_000
"""Maximum bytes of blobs that are read at a time."""

_BLOB_SECONDS = 60.0
"""Time limit in seconds of reading so many bytes."""

_ROOM = 200
"""Bytes for the header of a blob."""

_LONGEST = 1000
"""Maximum number of characters in the name of a revision."""

_PLAIN_FILES = (0o100644, 0o100755, 0o100664)
"""Modes of files: not of symbolic links, nor of submodules. The last one is in old trees."""

LINK, SUBMODULE = 0o120000, 0o160000
"""Modes of symbolic links and submodules."""

_SIDES = "023"
"""Stages of a file in the git index by preference: merged, ours, theirs."""

_IGNORED = dict.fromkeys(
    [0x200C, 0x200D, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
"""Characters that the file system of macOS ignores in names."""

_PART = r"(?!\.git)\.?[a-z0-9_][\w.-]*+"

_SIMPLE = lazy_pattern(rf"(?:{_PART}/)*+{_PART}", re.ASCII | re.IGNORECASE)
"""Matches most safe paths at once, and no unsafe one."""

_GIT_FOLDERS = frozenset({".git", "git~1"})

_SURROGATES = "surrogateescape"


class Blob(NamedTuple):
    """A file as a tree or the git index has it."""

    id: str
    """The object id of its content."""
    mode: int
    """`0o100644`, or `0o100755` if it can be executed."""


@in_json("commit", "asked", "committed_at")
class Revision(NamedTuple):
    """A revision of the repository."""

    commit: str
    """Its full id; of what is staged, that of HEAD, empty if there is none."""
    asked: str
    """The name by which the user asked for it."""
    when: float
    """Time of the commit in seconds since the epoch."""

    @property
    def committed_at(self) -> str:
        """Return the time of the commit in UTC."""
        return seconds_to_iso(self.when)

    @property
    def day(self) -> str:
        """Return the day of the commit, in UTC."""
        return self.committed_at[:10]

    @property
    def staged(self) -> bool:
        """Tell whether it is what the next commit would have."""
        return self.asked == STAGED


def find_revision(tree: Path, rev: str) -> Revision:
    """Return the revision of a name, as `find_commit`, or what is staged."""
    commit = (repository.read_head(tree) or "") if rev == STAGED else find_commit(tree, rev)
    return Revision(commit, rev, read_commit_time(tree, commit))


def find_commit(tree: Path, rev: str) -> str:
    """Return the full id of the commit that a revision names: a tag, a branch, `HEAD~3`, an id.

    Raises BadInput if there is none.
    """
    has_option = rev.startswith("-") or any(char < " " or char == "\x7f" for char in rev)
    if rev.strip() and not has_option and len(rev) <= _LONGEST:
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
        text = (read_output(tree, *words, most=_ROOM) or b"").decode("ascii", "replace").strip()
        if COMMIT_ID.fullmatch(text):  # not `^<id>`, which excludes a commit
            return text
    if problem := repository.find_problem(tree):
        raise BadInput(problem, "a revision can't be read without git")
    if rev == "HEAD":
        raise BadInput("there are no commits yet", "commit the code and the notes first")
    raise BadInput(f"there is no revision {shorten(rev, _LONGEST)!r}", _suggest_revision(tree))


def is_ancestor(tree: Path, commit: str, end: str) -> bool:
    """Tell whether a commit is `end` or before it; False if it is unknown."""
    if not COMMIT_ID.fullmatch(commit):
        return False
    words = ("merge-base", "--is-ancestor", f"{commit}^{{commit}}", end)
    return read_output(tree, *words, most=_ROOM) is not None


def find_merge_base(tree: Path, commit: str, head: str) -> str:
    """Return the last common ancestor of two commits; empty if there is none."""
    output = read_output(tree, "merge-base", commit, head, most=_ROOM)
    return (output or b"").decode("ascii", "replace").strip()


def list_differing(tree: Path, base: str, end: str) -> dict[str, str] | None:
    """Map the files that differ between two commits to A, M, D or T; None if git fails."""
    plain = ("--no-renames", "--no-ext-diff", "--no-textconv", "-O/dev/null")
    words = ("diff-tree", "-r", "-z", "--name-status", *plain, base, end, "--")
    output = read_output(tree, *words, most=MOST_FILES_BYTES, seconds=_BLOB_SECONDS)
    if output is None:
        return None
    fields = output.decode("utf-8", _SURROGATES).split("\0")
    return dict(zip(fields[1::2], fields[::2], strict=False))


def list_files_at(tree: Path, commit: str, below: str = "") -> dict[str, Blob]:
    """Return the plain files of a commit in a folder, by their paths below the work tree.

    `below` is a folder or file; empty for all. Symbolic links, submodules and paths that are not
    safe (see `is_safe`) are left out. Names that are not UTF-8 have surrogates. Raises
    BadInput if git can't list them in time.
    """
    return _keep_plain(list_entries_at(tree, commit, below))


def list_staged(tree: Path, below: str = "") -> dict[str, Blob]:
    """Return the plain files of the git index in a folder, as `list_files_at` does.

    Of a file with a merge conflict, it is our side, else the other one. A file that is only
    announced (`git add --intent-to-add`) is empty.
    """
    return _keep_plain(list_staged_entries(tree, below))


def list_entries_at(tree: Path, commit: str, below: str = "") -> dict[str, Blob]:
    """Return what `list_files_at` does, with symbolic links and submodules."""
    if below and not is_safe(below):
        return {}
    words = ("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
    output = read_output(tree, *words, *_pathspec(below), most=MOST_FILES_BYTES)
    if output is None:
        raise _read_error(tree, f"git can't list the files of the commit {commit}")
    files = {}
    for details, path in _yield_entries(output, below):
        mode, _, object_id = details.split()
        files[path] = Blob(object_id, int(mode, 8))
    return files


def list_staged_entries(tree: Path, below: str = "") -> dict[str, Blob]:
    """Return what `list_staged` does, with symbolic links and submodules."""
    if below and not is_safe(below):
        return {}
    words = ("ls-files", "--stage", "-z", "--full-name")
    output = read_output(
        tree, *words, *_pathspec(below), most=MOST_FILES_BYTES, variables=_index_variable(tree)
    )
    if output is None:
        raise _read_error(tree, "git can't list what is staged")
    files: dict[str, tuple[int, Blob]] = {}
    for details, path in _yield_entries(output, below):
        mode, object_id, stage = details.split()
        candidate = (_SIDES.find(stage), Blob(object_id, int(mode, 8)))
        if candidate[0] >= 0:
            files[path] = min(files.get(path, candidate), candidate)
    return {path: blob for path, (_, blob) in files.items()}


class ObjectReader(Closable):
    """Reads objects by one process of git, which runs until it is closed.

    Its methods raise BadInput or StorageFailed if git can't read an object, as in a partial clone.
    """

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._process: Popen[bytes] | None = None
        self._old = False
        """Whether git is older than 2.36, and is started for each request."""

    def close(self) -> None:
        """End git; the next request starts it again."""
        if self._process is not None:
            with suppress(OSError):
                self._process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
            end_git(self._process)
        self._process = None

    def describe(self, names: Sequence[str]) -> list[tuple[str, str, int]]:
        """Return the kinds, ids and sizes of objects by names such as `COMMIT:path`.

        The kind is empty for one that is missing. No name has a line break.
        """
        rows = []
        with self._request("info", names) as output:
            for _ in names:
                words = self._read_line(output).split()
                is_present = len(words) == _WORDS and words[1] in _KINDS and words[2].isdigit()
                kind, size = (words[1].decode(), int(words[2])) if is_present else ("", 0)
                rows.append((kind, words[0].decode() if is_present else "", size))
        return rows

    def blob_ids(self, names: Iterable[str]) -> dict[str, str]:
        """Return the blobs that names such as `COMMIT:path` mean; others are left out."""
        unique_names = [name for name in dict.fromkeys(names) if "\n" not in name and is_utf8(name)]
        rows = zip(unique_names, self.describe(unique_names), strict=True)
        return {name: object_id for name, (kind, object_id, _) in rows if kind == "blob"}

    def sizes_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the bytes of some blobs; those that are missing, or no blobs, are left out."""
        rows = self.describe(list(dict.fromkeys(ids)))
        return {object_id: size for kind, object_id, size in rows if kind == "blob"}

    def blobs(self, ids: Iterable[str], max_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the content of some blobs, each once, except larger and missing ones."""
        yield from self.sized_blobs(self.sizes_of(ids), max_bytes)

    def sized_blobs(self, sizes: dict[str, int], max_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the content of blobs whose sizes are known, as `read_blobs` does."""
        ids: list[str] = []
        total = 0
        for object_id, size in sizes.items():
            if size > max_bytes:
                continue
            if ids and total + size > AT_ONCE:
                yield from self._read_contents(ids)
                ids, total = [], 0
            ids.append(object_id)
            total += size
        if ids:
            yield from self._read_contents(ids)

    def _read_contents(self, ids: Sequence[str]) -> list[tuple[str, bytes]]:
        contents = []
        with self._request("contents", ids) as output:
            for object_id in ids:
                words = self._read_line(output).split()
                if words[1:2] == [b"blob"]:  # else it was removed meanwhile
                    size = int(words[2])
                    contents.append((object_id, output.read(size + 1)[:size]))
        return contents

    def _read_line(self, output: BinaryIO) -> bytes:
        line = output.readline()
        if not line:
            self.close()
            raise _read_error(self._tree, "git can't read the files of a revision")
        return line

    @contextmanager
    def _request(self, command: str, names: Sequence[str]) -> Iterator[BinaryIO]:
        """Send git a command for each name, and yield the output with its answers."""
        from threading import Thread, Timer  # start-up: few commands need them

        lines = [f"{command} {name}\n".encode("utf-8", _SURROGATES) for name in names]
        if not names or self._old:
            yield BytesIO(self._run_once(command, names) if names else b"")
            return
        if self._process is None:
            words = ("cat-file", f"--batch-command={_ABOUT}", "--buffer")
            self._process = start_git(self._tree, words, given=True)
        running = self._process
        if running is None:
            raise _read_error(self._tree, "git can't read the files of a revision")
        assert isinstance(running.stdout, BufferedReader)  # noqa: S101  (a pipe)
        timer = Timer(_BLOB_SECONDS, kill_git, [running])
        timer.daemon = True
        timer.start()
        feeder = Thread(target=_write_lines, args=(running, [*lines, b"flush\n"]), daemon=True)
        feeder.start()
        try:
            if not running.stdout.peek(1) and running.wait() == _NO_OPTION:
                self.close()
                self._old = True
                yield BytesIO(self._run_once(command, names))
            else:
                yield running.stdout
        except BaseException:
            self.close()  # else the next request would read the rest of this one's answers
            raise
        finally:
            timer.cancel()
            feeder.join(1)

    def _run_once(self, command: str, names: Sequence[str]) -> bytes:
        """Return the answers of a git that is started for this request only."""
        option = f"--batch-check={_ABOUT}" if command == "info" else "--batch"
        text = "".join(f"{name}\n" for name in names).encode("utf-8", _SURROGATES)
        most = AT_ONCE * 2 + len(text) * 4 + len(names) * _ROOM
        words = ("cat-file", option, "--buffer")
        output = read_output(self._tree, *words, most=most, given=text, seconds=_BLOB_SECONDS)
        if output is None:
            raise _read_error(self._tree, "git can't read the files of a revision")
        return output


_ABOUT = "%(objectname) %(objecttype) %(objectsize)"

_WORDS = 3

_KINDS = frozenset({b"blob", b"tree", b"commit", b"tag"})

_NO_OPTION = 129
"""Exit code of a git that doesn't know an option."""


def _write_lines(process: Popen[bytes], lines: Sequence[bytes]) -> None:
    """Write to git; it may have ended before it read all."""
    with suppress(OSError, ValueError):
        process.stdin.writelines(lines)  # type: ignore[union-attr]  # it is a pipe
        process.stdin.flush()  # type: ignore[union-attr]


def read_blob_ids(tree: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the blobs that names mean, as `ObjectReader.blob_ids`."""
    with ObjectReader(tree) as reader:
        return reader.blob_ids(names)


def read_sizes(tree: Path, ids: Iterable[str]) -> dict[str, int]:
    """Return the bytes of some blobs, as `ObjectReader.sizes_of` does."""
    with ObjectReader(tree) as reader:
        return reader.sizes_of(ids)


def read_blobs(tree: Path, ids: Iterable[str], max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield the content of some blobs, as `ObjectReader.blobs` does."""
    with ObjectReader(tree) as reader:
        yield from reader.blobs(ids, max_bytes)


def sized_blobs(tree: Path, sizes: dict[str, int], max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield the content of blobs whose sizes are known, as `read_blobs` does."""
    with ObjectReader(tree) as reader:
        yield from reader.sized_blobs(sizes, max_bytes)


def is_safe(path: str) -> bool:
    """Tell whether a path of a tree stays below its folder and is no part of a repository's data.

    Trees that git did not make can have `..`, absolute paths and `.git`, also in forms that a file
    system takes for it.
    """
    if _SIMPLE.fullmatch(path):
        return True
    if not path or "\0" in path:
        return False
    if os.name == "nt" and ("\\" in path or ":" in path):
        return False
    for part in path.split("/"):
        if part in {"", ".", ".."}:
            return False
        if part.translate(_IGNORED).split(":")[0].rstrip(". ").casefold() in _GIT_FOLDERS:
            return False
    return True


def _yield_entries(output: bytes, below: str) -> Iterator[tuple[str, str]]:
    """Yield the details and the path of each listed entry that is at or below a path."""
    for entry in output.decode("utf-8", _SURROGATES).split("\0")[:-1]:
        details, _, path = entry.partition("\t")
        if is_safe(path) and (not below or path == below or path.startswith(f"{below}/")):
            yield details, path


def _keep_plain(entries: dict[str, Blob]) -> dict[str, Blob]:
    return {path: blob for path, blob in entries.items() if blob.mode in _PLAIN_FILES}


def _pathspec(path: str) -> tuple[str, ...]:
    return ("--", path) if path else ()


def read_commit_time(tree: Path, commit: str) -> float:
    """Return when a commit was made; without one, now."""
    if not commit:
        return time.time()
    words = ("log", "-1", "--format=%ct", "--no-mailmap", "--no-show-signature", "--no-patch")
    text = (read_output(tree, *words, "--end-of-options", commit, most=_ROOM) or b"").strip()
    return float(text) if text.isdigit() else 0.0


def _index_variable(tree: Path) -> dict[str, str]:
    """Return the variable that names the git index of the commit whose hook this is, if it is one.

    `git commit FILE` runs its hooks with a temporary index in the repository's own folder.
    """
    file = os.environ.get("GIT_INDEX_FILE", "")
    folder = repository.git_folder(tree) or tree
    path = Path(os.path.realpath(tree / file))
    inside = file and path.parent == Path(os.path.realpath(folder)) and path.is_file()
    return {"GIT_INDEX_FILE": str(path)} if inside else {}


def _read_error(tree: Path, text: str) -> BadInput | StorageFailed:
    if problem := repository.find_problem(tree):
        return BadInput(problem, "a revision can't be read without git")
    if repository.is_partial(tree):
        return BadInput(
            f"{text}: it is a partial clone, and some are missing",
            "get them with `git fetch --refetch --no-filter`",
        )
    return StorageFailed(f"{text} within {LIMIT:g} seconds", "try `git fsck`")


def _suggest_revision(tree: Path) -> str:
    if repository.is_shallow(tree):
        return "name a commit, tag or branch; this is a shallow clone: `git fetch --unshallow`"
    return "name a commit, tag or branch: `git log --oneline` lists commits"
