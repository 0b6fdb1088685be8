"""Copies of a bank's files as of other revisions, in the user's cache: a folder each."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import posixpath
import shutil
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cached_property, partial
from pathlib import Path

from memory_bank.bank.bank_id import all_ids, bank_id
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Scan
from memory_bank.base.errors import BadInput, Busy, NoteReadOnly, StorageFailed
from memory_bank.base.filenames import (
    NOTE_SUFFIXES,
    SETTINGS,
    TEMPORARY_PREFIX,
    TEXT_SUFFIXES,
    StatSignature,
    as_utf8,
    is_utf8,
)
from memory_bank.base.locks import hold_lock
from memory_bank.base.paths import Layout, user_folder
from memory_bank.git import objects, repository
from memory_bank.git.objects import Blob, Revision
from memory_bank.git.process import read_output
from memory_bank.notes.roots import FileHistory, NoteRoot, Roots

MOST = 4
"""Number of copies of a bank that stay; more exist only while they are used at once."""

_FOLDER = "revisions"

_PROJECT, _REFUSED = "project", "refused.json"

_LEFT_SECONDS = 3600
"""Seconds after which an unfinished copy was left by a killed process."""

FEW = 20
"""Number of files of a revision that are copied and indexed each time: that takes 40 ms more."""

MOST_BYTES = 500_000_000
"""Maximum bytes of all files of one revision that are written."""

_NAMES = frozenset({errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR,
                    errno.EEXIST, errno.ELOOP, errno.ENOENT})  # fmt: skip
"""Errors of a file system that refuses a name."""

_indexed: set[Path] = set()
"""Copies that this process holds and has indexed: they no longer change."""


def list_copies(place: Layout) -> list[Path]:
    """Return the copies of a bank, the last used first, also those that it had by another id."""
    folders = (user_folder("cache") / _FOLDER / identity for identity in all_ids(place))
    return sorted((slot for path in folders for slot in path.glob("*")), key=_used_at, reverse=True)


@contextmanager
def hold_copy(
    place: Layout,
    tree: Path,
    files: WantedFiles,
    when: float,
    max_bytes: int,
    vectors: Path | None = None,
) -> Iterator[Path]:
    """Hold a copy of a revision's files, which nobody else uses; make one if there is none.

    One of few files does not stay. The first copy begins with `vectors`, the folder of those of an
    index. The mtimes are `when`. Files with more than `max_bytes` are not in it. Raises
    StorageFailed, and BadInput if git can't read them.
    """
    folder = user_folder("cache") / _FOLDER / bank_id(place)

    about = repr((when, max_bytes, sorted(files.blobs.items()), sorted(files.refused.items())))
    name = hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    write_to = partial(write_files, tree=tree, files=files, when=when, max_bytes=max_bytes)
    make = partial(_make, place, write_to, vectors)
    with ExitStack() as stack:
        slot, stays = folder / name, len(files.blobs) > FEW
        if stays:
            try:
                stack.enter_context(hold_lock(slot, wait=0, make=partial(make, slot)))
            except Busy:
                stays = False
        if not stays:
            slot = folder / f"{name}-{os.urandom(8).hex()}"
            stack.enter_context(hold_lock(slot, make=partial(make, slot)))
            stack.callback(shutil.rmtree, slot, ignore_errors=True)
        stack.callback(_indexed.discard, slot)
        with suppress(OSError):
            os.utime(slot)  # when it was used last
        yield slot
    for path in list_copies(place)[MOST:]:
        is_made = not path.name.startswith(TEMPORARY_PREFIX)
        with suppress(OSError):
            if is_made or time.time() - _used_at(path) > _LEFT_SECONDS:
                remove_copy(path, wait=0)


def mark_indexed(slot: Path) -> None:
    """Note that this process holds a copy and has indexed it, so that it no longer changes."""
    _indexed.add(slot)


def remove_copy(slot: Path, wait: float = 1) -> bool:
    """Remove a copy, unless another process uses it; tell whether it is gone. Raises OSError."""
    try:
        with hold_lock(slot, wait=wait):
            shutil.rmtree(slot)
    except Busy:
        return False
    except StorageFailed:
        return not slot.exists()
    return True


def index_in(slot: Path) -> Path:
    """Return the folder of a copy's derived files."""
    return slot / "index"


def read_refused(slot: Path) -> dict[str, str]:
    """Return the files of a revision that are not in a copy, with the reason."""
    file = slot / _REFUSED
    document: dict[str, str] = json.loads(file.read_bytes()) if file.exists() else {}
    return document


def _used_at(slot: Path) -> float:
    try:
        return slot.stat().st_mtime
    except OSError:
        return 0


def _make(
    place: Layout, write_to: Callable[[Path], dict[str, str]], vectors: Path | None, slot: Path
) -> None:
    """Make a copy with the index of the one that was used last, so that few notes are read.

    It gets its name when it is complete. Another process may be faster.
    """
    paths = [path for path in list_copies(place) if not path.name.startswith(TEMPORARY_PREFIX)]
    sources = [(path, index_in(path), "") for path in paths]
    if vectors is not None:  # of the same texts
        sources.append((vectors.parent, vectors.parent, vectors.name))
    temporary = slot.with_name(f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}")
    try:
        (temporary / _PROJECT).mkdir(mode=0o700, parents=True)
        for path, index, part in sources:
            try:
                with nullcontext() if path in _indexed else hold_lock(path, wait=0):
                    shutil.copytree(index / part, index_in(temporary) / part)
            except (OSError, Busy, StorageFailed):
                shutil.rmtree(index_in(temporary), ignore_errors=True)
            else:
                break
        refused = write_to(temporary / _PROJECT)
        if refused:
            (temporary / _REFUSED).write_text(json.dumps(refused), encoding="utf-8")
        temporary.rename(slot)
    except OSError as error:
        if not slot.exists():
            raise _write_error(slot, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_files(
    folder: Path, tree: Path, files: WantedFiles, when: float, max_bytes: int
) -> dict[str, str]:
    """Write the files of a revision to an empty folder; return those that can't be, with reasons.

    Raises StorageFailed, and BadInput if git can't read them.
    """
    refused = dict(files.refused)
    paths = defaultdict(list)
    for path, blob in files.blobs.items():
        paths[blob].append(path)
    sizes = objects.read_sizes(tree, paths)
    for path, blob, reason in _too_large(paths, sizes, max_bytes):
        refused[path] = reason
        sizes.pop(blob, None)
    folded_paths = None if tells_case(folder) else set[str]()
    for blob, data in objects.sized_blobs(tree, sizes, max_bytes):
        for path in paths[blob]:
            folded = unicodedata.normalize("NFC", path).casefold()
            if folded_paths is not None and folded in folded_paths:
                refused[path] = "another note's name differs only in case or in Unicode form"
            elif reason := _write_file(folder / path, data, when):
                refused[path] = reason
            elif folded_paths is not None:
                folded_paths.add(folded)
    return refused


def tells_case(folder: Path) -> bool:
    """Tell whether the file system takes names that differ only in case for different ones."""
    return not folder.with_name(folder.name.upper()).exists()


def _write_file(file: Path, data: bytes, when: float) -> str:
    """Write a file; return why the file system refuses its name, if it does."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (when, when))
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno not in _NAMES:
            raise _write_error(file, error) from error
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return f"this file system refuses its name: {reason}"
    return ""


def _too_large(
    paths: Mapping[str, Collection[str]], sizes: Mapping[str, int], max_bytes: int
) -> Iterator[tuple[str, str, str]]:
    """Yield the files that are not read: path, object id and reason."""
    total = 0
    for object_id, same_content in paths.items():
        size = sizes.get(object_id)
        if size is None:
            reason = "git doesn't have its content"
        elif size > max_bytes:
            reason = f"{size} bytes, more than the setting max_note_bytes = {max_bytes}"
        elif total + size * len(same_content) > MOST_BYTES:
            reason = f"the revision has more than {MOST_BYTES:,} bytes of notes"
        else:
            total += size * len(same_content)
            continue
        for path in same_content:
            yield path, object_id, reason


def _write_error(file: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"{file} can't be written: {error.strerror}",
        "check the disk's space and permissions, or set XDG_CACHE_HOME to a folder of yours",
    )


class CopiedRoot(NoteRoot):
    """A copy of the folder of a bank."""

    def __init__(self, folder: Path, history: FileHistory, refused: Mapping[str, str]) -> None:
        """Use the notes in `folder`; others of the revision are `refused`, with the reason."""
        super().__init__(folder, history=history)
        self._refused = refused

    def scan(self) -> Scan:
        """Return the signatures of all notes, and what can be none."""
        scan = super().scan()
        return Scan(scan.signatures, {**scan.refused, **self._refused})

    def signature(self, key: str, stat_signature: StatSignature) -> str:
        """Return the signature of a note, however young its file: it will not change."""
        return self._signature(key, stat_signature)


class CopiedRoots(Roots):
    """The folders of notes of a copy."""

    def writable(self, key: str) -> bool:
        """Tell that no note may be changed."""
        del key
        return False

    def check_writable(self, key: str) -> None:
        """Raise NoteReadOnly."""
        raise NoteReadOnly(
            f"{key} is as of another revision: it can't be changed", "change the note itself"
        )


class PrivateLayout(Layout):
    """The folders of a bank whose index and private state are in a folder of their own."""

    def __init__(self, root: Path, private: Path) -> None:
        """Keep the index and the private state of the notes in `root` below `private`."""
        super().__init__(root, index_in(private), ids=private / "ids")
        self._private = private

    def renewed(self) -> Layout:
        """Return the same layout: it is never elsewhere."""
        return self

    def state(self, bank_id: str) -> Path:
        """Return a folder in place of the bank's private state, so that this stays as it is."""
        return self._private / "state" / bank_id

    def unused_indices(self) -> list[Path]:
        """Return no folders: there is one index."""
        return []


class CopyLayout(PrivateLayout):
    """The folders of a copy of a bank as of another revision, all of them in one folder."""

    def __init__(
        self, slot: Path, origin: Layout, names: Callable[[], Collection[str]], commit: str
    ) -> None:
        """Use the copy of the bank at `origin` in the folder `slot`.

        `names` returns the paths of all files that the project had, below the project. `commit` is
        that of the revision; empty for what is staged.
        """
        super().__init__((slot / _PROJECT / origin.prefix).resolve(), slot)
        self._origin = origin
        self._names = names
        self._commit = commit

    @property
    def origin(self) -> Layout:
        """The layout of the bank itself."""
        return self._origin

    @property
    def commit(self) -> str:
        """The commit whose files these are; empty for staged ones."""
        return self._commit

    def listed(self) -> Collection[str]:
        """Return the files that the project had, and the folders above them."""
        return self._paths

    def project_has(self, path: str) -> bool:
        """Tell whether the project had a file or folder at a path below it."""
        return path in self._paths

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The files, and the folders above them."""
        names: set[str] = set()
        for name in self._names():
            while name and name not in names:
                names.add(name)
                name = name.rpartition("/")[0]  # noqa: PLW2901  (the folder above it)
        return frozenset(names)


_MOST_PATH = 1000
"""Maximum length of a path in bytes."""

_MOST_FILES = 200_000
"""Maximum number of notes of one revision."""

_LINK = "symbolic link: not followed"

_SUBMODULE = "a submodule: its notes are in another repository"

_NO_NOTE = "its name ends in none of .md, .markdown and .mdc: mind the case"


class WantedFiles(NamedTuple):
    """The files of a revision, by their paths below the project."""

    blobs: Mapping[str, str]
    refused: Mapping[str, str]
    """Files that can't be notes, with the reason."""


def find_work_tree(place: Layout) -> Path:
    """Return the work tree with a bank; raise BadInput outside git."""
    tree = repository.find_worktree(place.root)
    if tree is None:
        raise BadInput(
            f"{place.root} is in no git repository: it has no other revisions",
            "put the bank under git: `git init` in the project",
        )
    if problem := repository.find_problem(tree):
        raise BadInput(problem, "a revision can't be read without git")
    return tree


def bank_files(tree: Path, place: Layout, revision: Revision) -> WantedFiles:
    """Return the files of a bank."""
    folder = _path_below(tree, place.project)
    bank = posixpath.join(folder, place.prefix.rstrip("/"))
    return _choose_notes(_list_blobs(tree, revision, bank), folder, place.prefix, notes_only=False)


def included_files(
    tree: Path, place: Layout, revision: Revision, paths: Iterable[str]
) -> WantedFiles:
    """Return the Markdown files at or below some paths of the project, except those of the bank."""
    if not place.prefix or not place.project.is_relative_to(tree):
        return WantedFiles({}, {})
    folder = _path_below(tree, place.project)
    blobs: dict[str, str] = {}
    refused: dict[str, str] = {}
    for path in dict.fromkeys(map(posixpath.normpath, paths)):
        below = folder if path == "." else posixpath.join(folder, path)
        inside = "" if path == "." else f"{path}/"
        files = _choose_notes(_list_blobs(tree, revision, below), folder, inside, notes_only=True)
        blobs |= files.blobs
        refused |= files.refused
    ours = place.prefix
    return WantedFiles(
        {path: blob for path, blob in blobs.items() if not path.startswith(ours)},
        {path: reason for path, reason in refused.items() if not path.startswith(ours)},
    )


def project_names(tree: Path, place: Layout, revision: Revision) -> list[str]:
    """Return the paths of all files of the project, below it."""
    folder = _path_below(tree, place.project) if place.project.is_relative_to(tree) else ""
    start = f"{folder}/" if folder else ""
    return [path.removeprefix(start) for path in _list_blobs(tree, revision, folder)]


def first_commit(tree: Path, place: Layout) -> str:
    """Return the first commit that HEAD has of a bank, with its date; empty if there is none."""
    below = _path_below(tree, place.root) or "."
    words = ("log", "--reverse", "--format=%h of %as", "--no-mailmap", "--no-show-signature")
    text = read_output(tree, *words, "--", below, most=10_000_000) or b""
    return text.decode("ascii", "replace").partition("\n")[0]


def _list_blobs(tree: Path, revision: Revision, below: str) -> dict[str, Blob]:
    if revision.staged:
        return objects.list_staged_entries(tree, below)
    return objects.list_entries_at(tree, revision.commit, below)


def _choose_notes(
    entries: Mapping[str, Blob], folder: str, prefix: str, *, notes_only: bool
) -> WantedFiles:
    """Return the notes of a list, and the settings of a bank, by their paths below the project."""
    start = f"{folder}/" if folder else ""
    blobs: dict[str, str] = {}
    refused: dict[str, str] = {}
    for full, blob in sorted(entries.items()):
        path = full.removeprefix(start)
        name = path.removeprefix(prefix)
        if notes_only and prefix and name == path:  # the file itself is included
            name = posixpath.basename(path).lstrip(".")
        reason = _find_refusal(name, blob, len(blobs))
        if reason is None or (notes_only and not name.endswith(NOTE_SUFFIXES)):
            continue
        if reason:
            refused[as_utf8(path)] = reason
        else:
            blobs[path] = blob.id
    return WantedFiles(blobs, refused)


def _find_refusal(name: str, blob: Blob, count: int) -> str | None:
    """Return why a file can't be a note; empty if it can, None if it is not meant as one."""
    lower = name.lower()
    special = blob.mode in {objects.LINK, objects.SUBMODULE}
    if name == SETTINGS and not special:
        return ""
    if name.startswith(".") or "/." in name:
        return None
    if blob.mode == objects.SUBMODULE:
        return _SUBMODULE
    if special or not lower.endswith((*NOTE_SUFFIXES, *TEXT_SUFFIXES)):
        return _LINK if special and name.endswith(NOTE_SUFFIXES) else None
    return next(_reasons(name, count), "")


def _reasons(name: str, count: int) -> Iterator[str]:
    if name.lower().endswith(NOTE_SUFFIXES) and not name.endswith(NOTE_SUFFIXES):
        yield _NO_NOTE
    if not is_utf8(name):
        yield "its name is not UTF-8"
    elif len(name) > _MOST_PATH // 4 and len(name.encode()) > _MOST_PATH:
        yield f"its path is longer than {_MOST_PATH:,} bytes"
    if count >= _MOST_FILES:
        yield f"the revision has more than {_MOST_FILES:,} notes"


def _path_below(tree: Path, folder: Path) -> str:
    """Return a folder's path below the work tree; empty for the work tree itself."""
    if not folder.is_relative_to(tree):
        return ""
    below = folder.relative_to(tree).as_posix()
    return "" if below == "." else below
