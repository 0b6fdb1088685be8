"""The folders of a bank and of this machine's user.

Such a folder has a random id, and the private state of this machine has a file with that name. The
id of a folder that came with a repository is not registered there. The file also caches data about
the bank.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from memory_bank.base.errors import (
    BadName,
    Hint,
    IndexDamaged,
    NoBank,
    StorageFailed,
)
from memory_bank.base.filenames import (
    FOLDER,
    SETTINGS,
    TEMPORARY_PREFIX,
    find_bank_above,
    find_link,
    notes_folder,
    replace_private,
    working_folder,
    write_private,
)
from memory_bank.base.settings import load

NAME = "index-id"

_LENGTH = 32

_DIGITS = frozenset(b"0123456789abcdef")

_OWN_RULES = ".gitignore"

KEPT = frozenset({NAME, _OWN_RULES})
"""Files that stay when an index is emptied."""


def read_id(index: Path) -> str:
    """Return the id of a folder, or empty; open no other file in it."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(index / NAME, flags)
    except OSError:
        return ""
    try:
        data = os.read(handle, _LENGTH + 1)
    except OSError:
        return ""
    finally:
        os.close(handle)
    return data.decode() if len(data) == _LENGTH and _DIGITS.issuperset(data) else ""


def is_registered(registry: Path, index_id: str) -> bool:
    """Tell whether an id is registered on this machine."""
    return bool(index_id) and os.access(registry / index_id, os.R_OK)


def is_empty(index: Path) -> bool:
    """Tell whether a folder has no data yet, for example since its maker was killed."""
    try:
        with os.scandir(index) as entries:
            return all(
                entry.name == _OWN_RULES or entry.name.startswith(TEMPORARY_PREFIX)
                for entry in entries
            )
    except OSError:
        return False


def give_id(index: Path, registry: Path) -> str:
    """Give a folder a registered id, unless another process has; return its id.

    Raises OSError.
    """
    identity = os.urandom(_LENGTH // 2).hex()
    remember(registry, identity, b"")
    temporary = index / f"{TEMPORARY_PREFIX}{identity}"
    write_private(str(temporary), identity.encode())
    try:
        os.link(temporary, index / NAME)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        with suppress(FileExistsError):
            write_private(str(index / NAME), identity.encode())
    finally:
        temporary.unlink(missing_ok=True)
    recorded = read_id(index)
    if recorded != identity:
        (registry / identity).unlink(missing_ok=True)
    return recorded


def remember(registry: Path, index_id: str, content: bytes) -> None:
    """Register an id, and store some bytes with it; raise OSError."""
    registry.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_private(str(registry / index_id), content)


def read_remembered(registry: Path, index_id: str) -> bytes:
    """Return the bytes that are stored with an id; none if it is not registered."""
    try:
        return (registry / index_id).read_bytes() if index_id else b""
    except OSError:
        return b""


def read_all_remembered(registry: Path) -> list[bytes]:
    """Return the bytes that are stored with all ids of this machine."""
    try:
        names = os.listdir(registry)  # noqa: PTH208
    except OSError:
        return []
    return [remembered for name in names if (remembered := read_remembered(registry, name))]


INDEX = ".index"
"""Folder of a bank that holds derived files."""

LEFT_ALONE = (
    "the bank's .index was not made on this machine, or by an older version: it is left alone,"
    " and the index is in the user's cache; delete .index to have it in the bank again"
)
"""The notice about an index that was not made on this machine."""

NOTES = "notes"
"""Folder of a bank's private state that holds notes of sessions."""

HEADER = "# written by memory-bank: derived and private files"

GITIGNORE = f"""\
{HEADER}
.index/
.trash/
{TEMPORARY_PREFIX}*
# notes of agents' sessions stay on this machine; delete the next line to share them
sessions/
"""


class Layout:
    """The folders of one bank."""

    def __init__(
        self, root: Path, index: Path, *, ids: Path | None = None, left_alone: bool = False
    ) -> None:
        """Take the folder of notes, resolved, and the folder of derived files.

        `ids` is this machine's registry of ids of such folders; see `index_ids`.
        """
        self.root = root
        self.index = index
        self.ids = ids
        self.left_alone = left_alone
        """Whether the bank has an `.index` that was not made on this machine."""
        self.index_id = read_id(index) if ids else ""
        """The id that the files of the index must have; empty before it is made."""

    @property
    def origin(self) -> Layout:
        """The layout of the bank that this one is a copy of; that of a real bank is itself."""
        return self

    def renewed(self) -> Layout:
        """Return the layout as it is now, since the index may belong elsewhere meanwhile."""
        return layout_at(self.root)

    def project_has(self, path: str) -> bool:
        """Tell whether the project has a file or folder at a path below it."""
        return os.path.lexists(self.project / path)

    @property
    def commit(self) -> str:
        """The commit whose files these are; empty for those of the work tree, or staged ones."""
        return ""

    def listed(self) -> Collection[str] | None:
        """Return what git has below the project, if these are a copy; None if git must be asked."""
        return None

    @property
    def project(self) -> Path:
        """The project's folder, which has `.memories` in it."""
        return self.root.parent if self.root.name == FOLDER else self.root

    @property
    def name(self) -> str:
        """By what the bank is told from others in an answer."""
        return self.root.name

    @property
    def prefix(self) -> str:
        """The bank's folder below the project, with a slash; empty if they are the same."""
        return "" if self.project == self.root else f"{self.root.name}/"

    @property
    def config(self) -> Path:
        """The project's settings."""
        return self.root / SETTINGS

    @property
    def trash(self) -> Path:
        """Deleted notes."""
        return self.root / ".trash"

    @property
    def manifest(self) -> Path:
        """The database of what is indexed."""
        return self.index / "manifest.db"

    def make_index(self) -> None:
        """Make the folder of derived files; raise NoBank if the bank no longer exists.

        Raises IndexDamaged if a folder from another machine has appeared meanwhile.
        """
        if not self.root.is_dir():
            raise NoBank(f"the bank {self.root} is gone", "bring the folder back")
        without_links(private_folder(self.index))
        if self.ids is None:
            return
        self.index_id = read_id(self.index)
        if is_registered(self.ids, self.index_id):
            return
        if self._in_bank and not is_empty(self.index):
            self.index_id = read_id(self.index)  # another process may have given it an id meanwhile
            if is_registered(self.ids, self.index_id):
                return
            raise IndexDamaged(f"{self.index} was made elsewhere", "another one is used")
        try:
            self.index_id = self.index_id or give_id(self.index, self.ids)
            self.remember(b"")
        except OSError as error:
            if self._in_bank:
                raise StorageFailed(f"{self.ids} can't be written: {error.strerror}") from error

    def remember(self, content: bytes) -> None:
        """Cache some bytes about the bank in the private state; raise OSError."""
        if self.ids is not None and self.index_id:
            remember(self.ids, self.index_id, content)

    def remembered(self) -> bytes:
        """Return the cached bytes about the bank, or no bytes."""
        return b"" if self.ids is None else read_remembered(self.ids, self.index_id)

    def first_left_alone(self) -> bool:
        """Tell whether an index from another machine is ignored; True once for each such index."""
        if not self.left_alone:
            return False
        path = self.index / "left-alone"
        theirs = read_id(self.root / INDEX) or "none"
        with suppress(OSError):
            if path.read_text(encoding="utf-8") == theirs:
                return False
        with suppress(OSError):  # it is said again then
            path.write_text(theirs, encoding="utf-8")
        return True

    def spare(self) -> Iterator[Layout]:
        """Yield the bank with its index elsewhere on this machine, for a disk that is full."""
        name = _cache_name(self.root)
        yield Layout(self.root, user_folder("cache") / name, ids=self.ids)
        with suppress(StorageFailed):
            yield Layout(self.root, temporary_folder() / name, ids=self.ids)

    def unused_indices(self) -> list[Path]:
        """Return the folders of derived files of this bank that are not in use."""
        places = (self.root / INDEX, user_folder("cache") / _cache_name(self.root))
        return [place for place in places if place != self.index and place.is_dir()]

    @property
    def _in_bank(self) -> bool:
        return self.index.parent == self.root

    def state(self, bank_id: str) -> Path:
        """Return the private folder of the bank on this machine."""
        return user_folder("state") / bank_id


def locate(
    path: str | os.PathLike[str] | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    start: Path | None = None,
) -> Layout:
    """Find the bank of a folder of notes, of a project, or of the working directory.

    Without a path, `.memories` is searched in the working directory and above it; with the setting
    `storage_strategy = "user"`, it is the user's bank with the name of the project. `start` is the
    folder to take for the working directory.
    `settings` are flags, as `config.load` takes them. Raises NoBank, BadSetting.
    """
    if path is not None:
        return layout_at(Path(notes_folder(str(Path(path).expanduser()))))
    if load(flags=settings).memory.storage_strategy == "project":
        return find(start or Path(working_folder()))
    folder = user_bank_folder(project_name(start or Path.cwd()))
    if not folder.is_dir():
        raise NoBank(f"there is no {folder} yet", Hint.MAKE_BANK)
    return layout_at(folder)


def layout_at(root: Path, environ: Mapping[str, str] | None = None) -> Layout:
    """Return the layout of the bank in `root`.

    Its index is `.index` if this machine has made it, or can make it. It is in the user's cache if
    the bank is read-only, or if its `.index` may have come with it.
    """
    root = root.resolve()
    if not root.is_dir():
        raise NoBank(f"{root} is not a folder", Hint.MAKE_FOLDER)
    index, ids = root / INDEX, user_folder("state", environ) / "indices"
    if not os.path.lexists(index):
        ours, writable = True, os.access(root, os.W_OK) and _can_be_made(ids)
    elif index.is_symlink() or not index.is_dir():
        ours = writable = False
    else:
        ours, writable = is_registered(ids, read_id(index)), os.access(index, os.W_OK)
        if not ours and is_empty(index):
            ours, writable = True, writable and _can_be_made(ids)
    if ours and writable:
        return Layout(root, index, ids=ids)
    return Layout(root, _cache_folder(root, environ), ids=ids, left_alone=not ours)


def _cache_folder(root: Path, environ: Mapping[str, str] | None) -> Path:
    """Return the folder in the user's cache for the index of a bank."""
    name = _cache_name(root)
    cache = user_folder("cache", environ) / name
    if _can_be_made(cache):
        return cache
    return temporary_folder() / name


def _cache_name(root: Path) -> str:

    return hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def temporary_folder(*, make: bool = True) -> Path:
    """Return the user's folder of temporary files, for a home folder that is read-only.

    Raises StorageFailed if it may belong to somebody else: the folder above it is everybody's.
    """
    import tempfile  # start-up: few need it

    user = os.getuid() if sys.platform != "win32" else 0  # each has a folder of his own there
    folder = Path(tempfile.gettempdir()) / f"memory-bank-{user}"
    try:
        if make:
            folder.mkdir(mode=0o700, exist_ok=True)
        stat = folder.lstat()
    except OSError as error:
        raise StorageFailed(
            f"{folder} can't be made: {error.strerror}", "set XDG_CACHE_HOME"
        ) from error
    mine = sys.platform == "win32" or (stat.st_uid == user and not stat.st_mode & 0o022)
    if not (mine and S_ISDIR(stat.st_mode)):
        raise StorageFailed(f"{folder} may belong to somebody else", "set XDG_CACHE_HOME")
    return folder


def _can_be_made(folder: Path) -> bool:
    """Tell whether a folder can be written to, or made."""
    there = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    return there.is_dir() and os.access(there, os.W_OK)


def find(start: Path, environ: Mapping[str, str] | None = None) -> Layout:
    """Find the bank of a working directory: `.memories` in it or in a folder above it.

    Raises NoBank if there is none, or if a symbolic link that a repository may contain leads to it.
    """
    bank = find_bank_above(str(start.resolve()))
    if bank is None:
        raise NoBank(f"no {FOLDER} folder in {start} or above it", Hint.MAKE_OR_NAME_BANK)
    if link := find_link(str(start.absolute()), bank):
        raise link_error(link, bank)
    return layout_at(Path(bank), environ)


def link_error(link: str | Path, bank: str | Path) -> NoBank:
    """Return the error for a bank behind a symbolic link that a repository may contain."""
    goal = os.path.realpath(bank)
    return NoBank(
        f"{link} is a symbolic link: a repository may lead to the bank {goal} that way",
        Hint.NAME_THAT_BANK,
        bank=goal,
    )


def user_bank_folder(name: str) -> Path:
    """Return the folder of the user's bank of that name, which may not exist."""
    if not name or name.startswith(".") or not all(c.isalnum() or c in "-_." for c in name):
        raise BadName(f"{name!r} can't name a bank", "use letters, digits, '-', '_' and '.'")
    return user_folder("data") / name


def project_name(start: Path) -> str:
    """Return the name of the user's bank of a project: that of its work tree, or its folder."""
    start = start.resolve()
    tree = next((place for place in (start, *start.parents) if (place / ".git").exists()), start)
    text = "".join(char if char.isalnum() or char in "-_." else "-" for char in tree.name)
    return text.lstrip(".") or "project"


def user_folder(kind: str, environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's folder for `data`, `state` or `cache` of this program."""
    environ = os.environ if environ is None else environ
    fallback = {"data": ".local/share", "state": ".local/state", "cache": ".cache"}[kind]
    chosen = environ.get(f"XDG_{kind.upper()}_HOME")
    if not chosen and os.name == "nt":
        chosen = environ.get("LOCALAPPDATA")
    return Path(chosen or Path.home() / fallback) / "memory-bank"


_IGNORE_ALL = "*\n"


def private_folder(path: Path) -> Path:
    """Make a folder with a `.gitignore` that ignores all of it, or below one that has it.

    Raises StorageFailed if it can't be made, or is a symbolic link.
    """
    if path.is_symlink():
        raise StorageFailed(f"{path} is a symbolic link", "remove it: a plain folder is made")
    try:
        path.mkdir(parents=True, exist_ok=True)
        ignore = path / ".gitignore"
        if not ignore.is_symlink() and not ignore.exists() and not _is_ignored(path):
            ignore.write_text(_IGNORE_ALL, encoding="utf-8")
    except OSError as error:
        raise StorageFailed(
            f"{path} can't be made: {error.strerror}", "check the disk's space and permissions"
        ) from error
    return path


def _is_ignored(folder: Path) -> bool:
    """Tell whether one of the two folders above has such a file; no link is followed."""
    for rules in (path / ".gitignore" for path in folder.parents[:2]):
        with suppress(OSError):
            stat = rules.lstat()
            plain = S_ISREG(stat.st_mode) and stat.st_size == len(_IGNORE_ALL)
            if plain and rules.read_bytes() == _IGNORE_ALL.encode():
                return True
    return False


def without_links(folder: Path) -> Path:
    """Remove the symbolic links in a folder of derived files, which may lead out of the bank."""
    try:
        _unlink_links(str(folder))
    except OSError as error:
        raise StorageFailed(f"{folder} can't be cleaned: {error.strerror}") from error
    return folder


def _unlink_links(folder: str) -> None:
    try:
        entries = os.scandir(folder)  # start-up: done before each cold answer
    except OSError:
        return  # reading it will raise the error
    with entries:
        for entry in entries:
            if entry.is_symlink():
                Path(entry.path).unlink(missing_ok=True)
            elif entry.is_dir():
                _unlink_links(entry.path)
