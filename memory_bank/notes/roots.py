"""Folders of notes: of the bank, included files and private sessions; which of them has a note."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from stat import S_ISDIR
from typing import Protocol, TypeVar

from memory_bank.base import NamedTuple
from memory_bank.base.dates import date_in_name
from memory_bank.base.documents import Committed, Dates, Scan, Signature
from memory_bank.base.errors import BadName, Hint, NoteExists, NoteReadOnly, StorageFailed
from memory_bank.base.file_watches import ChangeQueue
from memory_bank.base.filenames import (
    NOTE_SUFFIXES,
    StatSignature,
    is_trusted,
    is_utf8,
    signature_from_stat,
)
from memory_bank.notes import okf
from memory_bank.notes.characters import to_nfc
from memory_bank.notes.note import Meta
from memory_bank.notes.storage import files, folders
from memory_bank.notes.storage.files import UNKNOWN, scan

_WRITING_SECONDS = 2.0
"""Seconds after the creation date of a new file in which its mtime is not an update."""

_FEW_SCANS = 3 if sys.platform == "linux" else sys.maxsize
"""Scans of a process that compare files: for one that asks more often, changes are queued."""

SESSIONS = "sessions/"
"""Start of the keys of sessions' notes, which may be in the private root."""


class FileHistory(Protocol):
    """The history of files in the repository."""

    def dates_of(self, path: str) -> Committed | None:
        """Return the commits of a file, as of the last refresh; None if there are none."""

    @property
    def paths(self) -> Collection[str]:
        """The paths of all files that were ever committed, as of the last refresh."""

    @property
    def is_known(self) -> bool:
        """Whether there is a history that could be read."""

    @property
    def state(self) -> object:
        """An object that is another one whenever the commits of a file may have changed."""

    def is_content_of(self, data: bytes, blob: str) -> bool:
        """Return whether bytes are the content of a blob."""

    def refresh(self, *, again: bool = False) -> bool:
        """Read new commits; return whether anything changed."""

    def close(self) -> None:
        """Close all files."""


class Watched(NamedTuple):
    """A folder to watch for changes of notes."""

    folder: Path
    recursive: bool = True


class NoteRoot:
    """The folder of a bank. The keys of its notes are their paths below it."""

    def __init__(self, folder: Path, *, history: FileHistory | None = None) -> None:
        """Read the notes in `folder`, which is resolved; `history` has dates of undated notes."""
        self._folder = folder
        self.leftover: list[str] = []
        """Temporary files that the last scan found."""
        self.history = history
        """The history of its files; None if they have none."""
        self.bundles: tuple[str, ...] = ()
        """The bundles of the Open Knowledge Format that the last scan found, by path below it."""
        self.reserved: tuple[str, ...] = ()
        """The lists and logs of these bundles."""
        self.is_bundle = False
        """Whether the settings say that its notes are a bundle."""
        self._indexes: dict[str, StatSignature] | None = None
        """The lists of the folders that may be bundles, when that was looked at."""
        self._scans_until_live = _FEW_SCANS
        self._queue: ChangeQueue | None = None
        self._last_scan, self._scanned_at = Scan({}), object()
        self._compared: tuple[dict[str, StatSignature], dict[str, str]] = {}, {}

    @property
    def folder(self) -> Path:
        """The folder, resolved."""
        return self._folder

    @property
    def folders(self) -> Sequence[str]:
        """The folders in it that may be bundles without saying so, and are looked at first."""
        return ("",)

    def scan(self) -> Scan:
        """Return the signatures of all notes.

        Raises StorageFailed for a folder that can't be read (its notes are not gone), NoBank if the
        folder is missing.
        """
        state = self.history and self.history.state
        if self._queue and self._scanned_at is state and self._take_changes(self._queue):
            return self._last_scan
        self._close_queue()
        self._scans_until_live -= 1
        if self._scans_until_live < 0:
            self._queue = ChangeQueue(self.folder)
            if self._queue.problem:
                self._close_queue()
                self._scans_until_live = sys.maxsize
        file_scan = scan(self.folder)
        self.leftover = file_scan.leftover
        compared = file_scan.files, file_scan.refused
        if self._scanned_at is not state or self._compared != compared:
            signatures = self._signatures(self._drop_reserved(file_scan.files))
            self._last_scan = Scan(signatures, compared[1], [])
        self._scanned_at, self._compared = state, compared
        return self._last_scan

    def _take_changes(self, queue: ChangeQueue) -> bool:
        """Apply the changes since the last scan; return False if only a new scan can tell."""
        paths = queue.take()
        if not paths:
            return paths is not None
        before = self._last_scan.signatures
        if len(paths - before.keys()) > 1:
            return False  # new ones are indexed in the order of a scan
        stat_signatures = dict[str, StatSignature | None]()
        for path in paths:
            name = path.rpartition("/")[2]
            if name in okf.RESERVED or not (name.endswith(NOTE_SUFFIXES) and is_utf8(path)):
                return False
            stat = folders.read_stat(self.folder, path)
            stat_signatures[path] = stat_signature = signature_from_stat(stat) if stat else None
            if stat_signature is None and (stat or path not in before):
                return False
        for path, stat_signature in stat_signatures.items():
            self._compared[0].pop(path, None)
            if stat_signature is not None:
                self._compared[0][path] = stat_signature
        self._last_scan = self._last_scan.change(
            {
                path: None if stat is None else self._signature(path, stat)
                for path, stat in stat_signatures.items()
            }
        )
        return True

    def _drop_reserved(self, stat_signatures: dict[str, StatSignature]) -> dict[str, StatSignature]:
        """Return files without the lists and logs of bundles; find the bundles if need be."""
        indexes = {
            path: stat_signatures[path] for path in stat_signatures if path.endswith(okf.INDEX)
        }
        if indexes != self._indexes:
            self.bundles, self._indexes = (
                okf.find_bundles(
                    self.folder, self.folders, stat_signatures, by_setting=self.is_bundle
                ),
                indexes,
            )
        self.reserved = tuple(
            path for path in stat_signatures if okf.is_reserved(path, self.bundles)
        )
        reserved = frozenset(self.reserved)  # the order stays: of equal scores, the first is shown
        return {path: stat for path, stat in stat_signatures.items() if path not in reserved}

    def _close_queue(self) -> None:
        if self._queue is not None:
            self._queue.close()
            self._queue = None

    def watched(self) -> list[Watched]:
        """Return the folders whose changes may change notes."""
        return [Watched(self.folder)]

    def has(self, key: str) -> bool:
        """Return whether there may be a file, or something else, at the path of a note."""
        try:
            return folders.read_stat(self.folder, key) is not None
        except OSError:
            return True  # reading it says why it can't be read

    def refresh(self, *, again: bool = False) -> bool:
        """Read the dates of undated notes from git; return whether any changed."""
        return self.history is not None and self.history.refresh(again=again)

    def committed(self) -> Collection[str]:
        """Return the paths of all files that were ever committed, as of the last refresh."""
        return () if self.history is None else self.history.paths

    def commits_of(self, key: str) -> Committed | None:
        """Return the commits of a note's file, as of the last refresh; None if there are none."""
        return self.history.dates_of(key) if self.history else None

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a note; None if it is gone. Raises BadName."""
        return files.read_in(self.folder, key)

    def close(self) -> None:
        """Close all files."""
        self._close_queue()
        if self.history is not None:
            self.history.close()

    def signature(self, key: str, stat_signature: StatSignature) -> Signature:
        """Return the signature of a file and its commits, or UNKNOWN if it must not be recorded."""
        return self._signature(key, stat_signature) if is_trusted(stat_signature) else UNKNOWN

    def dates(self, meta: Meta, key: str, stat_signature: StatSignature, data: bytes) -> Dates:
        """Return when a note was created and updated.

        It was created at the date in the front matter, else in the name, else of the first commit,
        else at the file's mtime, but not after the change that the front matter says.
        It was updated at the latest of the date in the front matter (else the creation), of the
        last commit, and, if the file differs from HEAD, of its mtime, which a checkout or a copy
        also sets.
        """
        committed = self.commits_of(key)
        mtime = stat_signature[1] / 1e9
        stated = meta.created_at or date_in_name(key)
        if stated is not None:
            created = stated.timestamp()
        else:
            created = committed.first if committed else mtime
        changed = meta.updated_at or okf.changed_at(meta.extra)
        if changed is not None and stated is None and not meta.updated_at:
            created = min(created, changed.timestamp())
        moments = [changed.timestamp() if changed else created]
        if committed and committed.last > committed.first:
            moments.append(committed.last)
        if self._is_edited(committed, data, meta, created, mtime):
            moments.append(mtime)
        return Dates(created, max(moments), stated is not None)

    def _is_edited(
        self, committed: Committed | None, data: bytes, meta: Meta, created: float, mtime: float
    ) -> bool:
        """Return whether a file's mtime is that of an edit."""
        if self.history is None:
            return False
        if committed and committed.blob:
            return not self.history.is_content_of(data, committed.blob)
        return (
            meta.updated_at is None and mtime > created + _WRITING_SECONDS and self.history.is_known
        )

    def _signatures(self, stat_signatures: Mapping[str, StatSignature]) -> dict[str, Signature]:
        return {path: self._signature(path, stat) for path, stat in stat_signatures.items()}

    def _signature(self, path: str, stat_signature: StatSignature) -> Signature:
        size, mtime, ctime, inode = stat_signature
        own = f"{size}.{mtime}.{ctime}.{inode}"
        committed = self.commits_of(path)
        if committed is None:
            return own
        return f"{own}.{committed.first}.{committed.last}.{committed.blob}"


class Roots:
    """The folder of a bank, the private folder of sessions, and included files of the project.

    If several have a file of one path, the key is that of the bank's note, else the private one's.
    """

    def __init__(
        self,
        bank: NoteRoot,
        prefix: str = "",
        included: IncludedRoot | None = None,
        private: PrivateRoot | None = None,
        *,
        is_bundle: bool = False,
    ) -> None:
        """Take the roots, and the bank's folder below the project: ".memories/", or empty."""
        bank.is_bundle = is_bundle
        if included is not None:
            included.is_bundle = is_bundle
        self.bank = bank
        self.prefix = prefix
        self.included = included
        self.private = private

    def all(self) -> list[NoteRoot]:
        """Return the roots, the bank's first."""
        return [root for root in (self.bank, self.private, self.included) if root is not None]

    def written(self) -> list[NoteRoot]:
        """Return the roots in which notes are made and removed: the bank's and the private one."""
        return [root for root in (self.bank, self.private) if root is not None]

    def of(self, key: str) -> NoteRoot:
        """Return the root of a note; that of a new note for one that does not exist."""
        return self.included if self.included and self.is_included(key) else self.home(key)

    def home(self, key: str) -> NoteRoot:
        """Return the root of a note that is not included, or of a new one."""
        return self.private if self.private and self.is_private(key) else self.bank

    def is_private(self, key: str) -> bool:
        """Return whether a note is in this machine's private state, or would be if it were new."""
        root = self.private
        if root is None or not key.startswith(SESSIONS) or self.bank.has(key):
            return False
        has = self.included is not None and self.included.owns(key) and self.included.has(key)
        return root.has(key) or (not has and root.takes_new())

    def is_included(self, key: str) -> bool:
        """Return whether a note is an included file, or would be if the file existed."""
        owner = self.included
        if owner is None or not owner.owns(key) or self.bank.has(key):
            return False
        return self.private is None or not (key.startswith(SESSIONS) and self.private.has(key))

    def bundle(self, key: str) -> str | None:
        """Return the folder of the bundle in which a note is; None if it is in none."""
        return okf.find_bundle(key, self.of(key).bundles)

    def place(self, key: str) -> str:
        """Return the path of a note's file below the project; private ones are as in the bank."""
        return key if self.is_included(key) else self.prefix + key

    def file(self, key: str) -> Path:
        """Return a note's file."""
        return self.of(key).folder / key

    def key_of(self, file: str) -> str:
        """Return the key of a private note by its file's absolute path; empty for other paths."""
        if self.private is None or not Path(file).is_absolute():
            return ""
        folder = f"{self.private.folder}{os.sep}"
        forms = (os.path.normpath(file), os.path.realpath(file))
        session_form = next((form for form in forms if form.startswith(folder + SESSIONS[:-1])), "")
        return session_form.removeprefix(folder).replace(os.sep, "/")

    def writable(self, key: str) -> bool:
        """Return whether tools may change a note."""
        return not self.is_included(key)

    def check_writable(self, key: str) -> None:
        """Raise NoteReadOnly if a note may not be changed, moved or removed."""
        if self.included is not None and self.is_included(key):
            raise NoteReadOnly(
                f"{key} is read-only: it is a file of the project, included by"
                f" {self.included.origin}",
                Hint.CHANGE_INCLUDED,
            )

    def check_move(self, old: str, new: str, *, root: NoteRoot | None = None) -> None:
        """Raise BadName for a move out of this machine's private state, or into it.

        `root` is that of the old note, if it is in the trash.
        """
        if (root or self.home(old)) is self.private:
            if not new.startswith(SESSIONS):
                raise BadName(
                    f"{old} can't become {new}: it is in this machine's private state, not in the"
                    " bank",
                    Hint.PROMOTE,
                )
        elif not old.startswith(SESSIONS) and self.is_private(new):
            raise BadName(
                f"{old} can't become {new}: new notes in {SESSIONS} are in this machine's private"
                " state, not in the bank",
                Hint.KEEP_IN_BANK,
            )

    def check_merge(self, paths: Sequence[str], target: str) -> None:
        """Raise BadName unless all notes that become one are in the bank, or all are private."""
        for path in paths:
            self.check_move(path, target)
        homes = {self.home(path): path for path in paths}
        if len(homes) > 1:
            raise BadName(
                f"{' and '.join(homes.values())} can't become one note: one of them is in this"
                " machine's private state, not in the bank",
                Hint.PROMOTE,
            )

    def taken(self, key: str) -> NoteExists | None:
        """Return the error for a name that an included file has; None if there is none."""
        if self.included is None or not (self.is_included(key) and self.included.has(key)):
            return None
        return NoteExists(
            f"{key} is taken: it is a file of the project, included by {self.included.origin}",
            Hint.CHOOSE_FREE_NAME,
        )

    def close(self) -> None:
        """Close all files."""
        for root in self.all():
            root.close()


Value = TypeVar("Value")

Known = Callable[[Sequence[str]], "Collection[str] | None"]
"""Returns the files at or below some paths that git does not ignore; None if it can't say.

Their names are NFC, with `?` for what is not UTF-8."""

_NO_FILE = "git knows no file of it: it is ignored, empty, or part of another repository"

_UNKNOWN = "git can't say which of its files are ignored: try `git status` there"


class IncludedRoot(NoteRoot):
    """Included files and folders. The keys of their notes are their paths below the project."""

    def __init__(
        self,
        project: Path,
        paths: Iterable[str],
        *,
        bank: str,
        origin: str = "the settings",
        known_to_git: Known | None = None,
        history: FileHistory | None = None,
        optional: bool = False,
    ) -> None:
        """Include normalised `paths` of `project`, a resolved folder, except in its folder `bank`.

        If `known_to_git` is None, git ignores none. `origin` says where they are set. A missing
        path is no fault if `optional`.
        """
        super().__init__(project, history=history)
        self.origin = origin
        self._paths = tuple(dict.fromkeys(path for path in paths if not _is_below(path, bank)))
        self._known = known_to_git
        self._optional = optional

    @property
    def folders(self) -> Sequence[str]:
        """The paths that are included."""
        return self._paths

    def owns(self, key: str) -> bool:
        """Return whether a path is included."""
        return any(_is_below(key, path) for path in self._paths)

    def scan(self) -> Scan:
        """Return the signatures of all included notes, and why other files can't be included.

        Raises StorageFailed for a folder that can't be read: its notes are not gone.
        """
        known_files = None
        if self._known is not None and (known_files := self._known(self._paths)) is None:
            return Scan({}, dict.fromkeys(self._paths, _UNKNOWN))
        above = None if known_files is None else _folders_above(known_files)
        file_scan, refused = files.FileScan(), dict[str, str]()
        for path in self._paths:
            reason = files.scan_part(self.folder, path, file_scan, above)
            if reason == files.MISSING and self._optional:
                continue
            if not (
                reason
                or known_files is None
                or any(_is_below(file, to_nfc(path)) for file in known_files)
            ):
                reason = _NO_FILE
            if reason:
                refused[path] = reason
        refused |= _keep_known(file_scan.refused, known_files)
        notes = self._drop_reserved(_keep_known(file_scan.files, known_files))
        return Scan(self._signatures(notes), refused)

    def watched(self) -> list[Watched]:
        """Return the folders whose changes may change notes, or make a missing one."""
        return list(dict.fromkeys(self._watched_folder(path) for path in self._paths))

    def _watched_folder(self, path: str) -> Watched:
        stat = self._read_stat(path)
        if stat is not None and S_ISDIR(stat.st_mode):
            return Watched(self.folder / path)
        while (path := posixpath.dirname(path)) and self._read_stat(path) is None:
            pass
        return Watched(self.folder / path, recursive=False)

    def _read_stat(self, path: str) -> os.stat_result | None:
        try:
            return self.folder.lstat() if path == "." else folders.read_stat(self.folder, path)
        except OSError:
            return None  # the scan says why


def _is_below(path: str, folder: str) -> bool:
    """Return whether a path is that of a folder or below it."""
    return folder in {".", path} or path.startswith(f"{folder}/")


def _folders_above(files: Iterable[str]) -> set[str]:
    """Return the folders that hold Markdown files, with all above them, each with a slash."""
    folders_found: set[str] = set()
    for file in files:
        above = posixpath.dirname(file) if file.endswith(NOTE_SUFFIXES) else ""
        while above and f"{above}/" not in folders_found:
            folders_found.add(f"{above}/")
            above = posixpath.dirname(above)
    return folders_found


def _keep_known(
    files_found: Mapping[str, Value], known_files: Collection[str] | None
) -> dict[str, Value]:
    """Return those files that git knows, or all if it ignores none."""
    if known_files is None:
        return dict(files_found)
    return {
        path: value
        for path, value in files_found.items()
        if to_nfc(path.rstrip("/")) in known_files
    }


_FOLDER = SESSIONS.rstrip("/")


class PrivateRoot(NoteRoot):
    """A folder of sessions' notes outside of the bank. Their keys start with `sessions/`.

    The folder may be missing, and its place may change: it has the bank's id, and a repository gets
    another one with its first commit.
    """

    def __init__(self, find: Callable[[], Path], *, in_bank: bool = False) -> None:
        """Read the notes in the folder that `find` returns.

        New notes belong there, unless the user wants them `in_bank`.
        """
        super().__init__(Path())
        self._find = find
        self._in_bank = in_bank
        self._found: Path | None = None

    @property
    def folder(self) -> Path:
        """The folder, which may not exist; those above it are resolved."""
        if self._found is None:
            place = self._find()
            self._found = place.parent.resolve() / place.name
        return self._found

    def make(self) -> None:
        """Make the folder for this user only; raise StorageFailed if that can't be done."""
        try:
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise files.refusal_error("make", self.folder, error) from error
        if self.folder.is_symlink():
            raise StorageFailed(
                f"{self.folder} is a symbolic link", "remove it: a plain folder is made"
            )

    def takes_new(self) -> bool:
        """Return whether new notes of sessions belong here."""
        return not self._in_bank

    def scan(self) -> Scan:
        """Return the signatures of all notes; none if the folder is missing.

        Raises StorageFailed for a folder that can't be read: its notes are not gone.
        """
        self._found = None
        file_scan = files.FileScan()
        reason = files.scan_part(self.folder, _FOLDER, file_scan)
        self.leftover = file_scan.leftover
        if reason and reason != files.MISSING:
            file_scan.refused[SESSIONS] = reason
        return Scan(self._signatures(file_scan.files), file_scan.refused)

    def watched(self) -> list[Watched]:
        """Return the folder to watch; while it is missing, the one in which it would be made."""
        folder = self.folder
        if folder.is_dir():
            return [Watched(folder)]
        return [Watched(next(path for path in folder.parents if path.is_dir()), recursive=False)]
