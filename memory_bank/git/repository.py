"""Read a git repository: its work tree, its first and current commit, its remotes.

A repository's settings can name programs and hosts; none of these is started or contacted.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import time
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from stat import S_ISDIR

from memory_bank.base import lazy_pattern
from memory_bank.base.paths import user_folder
from memory_bank.git import process
from memory_bank.git.process import read_output
from memory_bank.git.process import run as _run

_PLAIN = ("--no-ext-diff", "--no-textconv", "-O/dev/null")

ORDINARY = (*_PLAIN, "--no-mailmap", "--no-show-signature")

_EVERY = ("--cached", "--others", "--exclude-standard")
"""Options of `ls-files` for all files that are tracked, or would be by `git add --all`."""

_STATS = lazy_pattern(
    r"  ctime: .*\n  mtime: (\d+):(\d+)\n  dev: .*\n  uid: .*\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
"""What `ls-files --debug` lists of a file: its time and size when git read it last."""

_SKIPPED = 0x40000000
"""The flag of a file that a sparse checkout leaves out."""

_MAX_ARGUMENTS = 100
"""Maximum number of paths or commits in one command, whose length systems limit."""


def find_worktree(folder: Path) -> Path | None:
    """Return the work tree that holds a folder; None outside git."""
    for parent in (folder, *folder.parents):
        if os.path.exists(f"{parent}/.git"):  # noqa: PTH110  (several times in each answer)
            return parent
    return None


def find_problem(folder: Path) -> str:
    """Return why git can't read the work tree that holds a folder; empty if it can."""
    tree = find_worktree(folder)
    if tree is None:
        return ""
    if not process.has_given_up() and _run(tree, "rev-parse", "--git-dir") is not None:
        return ""
    if process.has_given_up():
        return f"git did not answer within {process.LIMIT:g} seconds; it is asked again in a minute"
    if process.find_git() is None:
        return "git is not installed"
    return f"git can't read the repository {tree}: try `git status` there"


def can_be_read(tree: Path) -> bool:
    """Tell whether git is there, and the commit that is checked out is known without it."""
    return process.find_git() is not None and bool(_read_commit_files(tree)[1])


def is_shallow(tree: Path) -> bool:
    """Tell whether a repository is a shallow clone, whose older commits are missing."""
    common = common_folder(tree)
    return common is not None and (common / "shallow").is_file()


def find_root_commit(tree: Path) -> str | None:
    """Return the first commit of a repository: the same in all its clones and work trees.

    None when there is no commit yet, git is missing, or a shallow clone hides the first one.
    """
    common = common_folder(tree)
    if common is None or (common / "shallow").exists():  # as git tells it
        return None
    text = _run(tree, "rev-list", "--max-parents=0", "HEAD")
    return min(text.split()) if text and text.strip() else None


def read_head(tree: Path) -> str | None:
    """Return the commit that is checked out; None when there is none."""
    text = _run(tree, "rev-parse", "--verify", "--quiet", "HEAD")
    return text.strip() if text else None


def read_branch(tree: Path) -> str:
    """Return the branch that is checked out; empty if there is none."""
    return (_run(tree, "symbolic-ref", "--quiet", "--short", "HEAD") or "").strip()


def has_branches(tree: Path) -> bool:
    """Tell whether a repository has several branches, here or in a remote repository.

    False if git can't say.
    """
    words = ("for-each-ref", "--count=2", "--format=%(refname)", "refs/heads/", "refs/remotes/")
    return len((_run(tree, *words) or "").split()) > 1


def find_commit_before(tree: Path, when: float, branch: str = "") -> str:
    """Return the last commit of a branch, or of HEAD, up to a time; empty if there is none."""
    tip = f"refs/heads/{branch}" if branch else "HEAD"
    commit = _run(tree, "rev-list", "-1", f"--before=@{int(when)}", "--end-of-options", tip)
    return (commit or "").strip()


def git_folder(tree: Path) -> Path | None:
    """Return the folder with the HEAD of a work tree, which may be linked; None if unknown."""
    entry = tree / ".git"
    if entry.is_dir():
        return entry
    try:
        text = entry.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    target = text.removeprefix("gitdir:").strip()
    return tree / target if target and text.startswith("gitdir:") else None


def common_folder(tree: Path) -> Path | None:
    """Return the folder of git that all work trees of a repository share; None if unknown."""
    folder = git_folder(tree)
    return None if folder is None else _find_common_folder(folder).resolve()


def _find_common_folder(folder: Path) -> Path:
    """Return the common folder that the own folder of a linked work tree names, else `folder`."""
    return folder / _read_text(folder / "commondir")


def hash_blob(data: bytes, like: bytes = b"") -> bytes:
    """Return git's object id of some bytes, by the hash function of the id `like`.

    If the bytes with LF line ends have the id `like`, return that: git may convert line ends to
    CRLF at checkout.
    """
    hash_function = hashlib.sha256 if len(like) == hashlib.sha256().digest_size else hashlib.sha1

    def hash_content(content: bytes) -> bytes:
        return hash_function(b"blob %d\0%b" % (len(content), content)).digest()

    if like and b"\r\n" in data and hash_content(data.replace(b"\r\n", b"\n")) == like:
        return like
    return hash_content(data)


def parse_tree_blobs(listed: str) -> Iterator[tuple[str, bytes]]:
    """Yield the paths that `ls-tree -z` lists, with their object ids."""
    for entry in listed.split("\0")[:-1]:
        details, _, path = entry.partition("\t")
        yield path, bytes.fromhex(details.split()[2])


def find_commit_of_text(tree: Path, folder: Path, text: str) -> str | None:
    """Return the last commit of any branch that added or removed a text below a folder.

    Empty if there is none; None if git can't say.
    """
    return _find_last_commit(tree, f"-S{text}", "--", tree_prefix(tree, folder) or ".")


def find_commit_of_files(tree: Path, files: Sequence[Path]) -> str | None:
    """Return the last commit of any branch that changed one of the files.

    Empty if there is none; None if git can't say.
    """
    paths = [file.relative_to(tree).as_posix() for file in files[:_MAX_ARGUMENTS]]
    return _find_last_commit(tree, "--", *paths)


def _find_last_commit(tree: Path, *words: str) -> str | None:
    commit = _run(tree, "log", "--all", *ORDINARY, "--format=%H", "-1", *words)
    return None if commit is None else commit.strip()


def tracks_below(tree: Path, folder: Path) -> bool:
    """Tell whether git tracks files below a folder, other than `.gitignore`."""
    text = _run(tree, "ls-files", "-z", "--", folder.relative_to(tree).as_posix()) or ""
    return any(not name.endswith(".gitignore") for name in text.split("\0") if name)


def list_trackable(tree: Path, files: Sequence[Path]) -> set[Path]:
    """Return the files among these that are tracked, or would be by `git add --all`.

    They are none if git can't say.
    """
    visible = list_not_ignored(tree, tree, [file.relative_to(tree).as_posix() for file in files])
    return {tree / name for name in visible or ()}


def list_not_ignored(tree: Path, folder: Path, paths: Sequence[str]) -> set[str] | None:
    """Return the files at or below these paths of a folder that git tracks, or would track.

    They are paths below the folder. Files of other repositories inside it are left out. None if
    git can't say.
    """
    prefix = tree_prefix(tree, folder)
    prefixes = [prefix + path if path != "." else prefix or "." for path in paths]
    files: set[str] = set()
    for start in range(0, len(prefixes), _MAX_ARGUMENTS):
        batch = prefixes[start : start + _MAX_ARGUMENTS]
        output = _run(tree, "ls-files", "-z", *_EVERY, "--", *batch)
        if output is None:
            return None
        # with a slash at the end: another repository
        names = (name for name in output.split("\0") if name and not name.endswith("/"))
        files.update(name.removeprefix(prefix) for name in names)
    return files


def list_files(tree: Path, exclude: Sequence[str] = ()) -> list[str] | None:
    """Return the files of a work tree that are tracked, or would be by `git add --all`.

    Those that match a pattern of `exclude`, as in .gitignore, are left out, tracked or not. A
    listed file may be missing, or be the folder of a submodule. Folders of other repositories are
    left out. Names that are not UTF-8 have surrogates. None when git can't say.
    """
    patterns = [f"--exclude={pattern}" for pattern in exclude]
    output = _run(tree, "ls-files", "-z", *_EVERY, *patterns)
    excluded = _run(tree, "ls-files", "-z", "--cached", "--ignored", *patterns) if patterns else ""
    if output is None or excluded is None:
        return None
    left_out = {*excluded.split("\0"), ""}
    # with a slash at the end: another repository
    names = (name for name in output.split("\0") if name not in left_out)
    return list(dict.fromkeys(name for name in names if not name.endswith("/")))


@lru_cache(maxsize=64)  # asked for each file of a history
def tree_prefix(tree: Path, folder: Path) -> str:
    """Return a folder's path below the work tree with a slash; empty for the work tree itself."""
    path = folder.relative_to(tree).as_posix()
    return "" if path == "." else f"{path}/"


_AT_A_TIME = 500
"""Files that are named in one command."""


def is_partial(tree: Path) -> bool:
    """Tell whether a repository is a partial clone, whose objects may be missing."""
    common = common_folder(tree)
    try:
        config = (common / "config").read_text("utf-8", "replace").lower() if common else ""
    except OSError:
        return False
    return "promisor" in config or "partialclone" in config


def list_uncommitted(folder: Path, files: Collection[str] | None = None) -> frozenset[str]:
    """Return the tracked files below a folder, or those among `files`, that differ from HEAD.

    They are compared by size and time: `git diff-index HEAD` would read some of them, through
    filters that the repository names.
    """
    staged = _run(folder, "diff-index", "--cached", *_PLAIN, "-z", "--name-only", "--relative",
                  "HEAD", "--") or ""  # fmt: skip
    changed = {*staged.split("\0")} - {""}
    next_name, *details = (_run(folder, "ls-files", "-z", "--debug") or "").split("\0")
    for detail in details:
        match = _STATS.match(detail)
        if match is None:
            break  # no git prints that
        name, next_name = next_name, detail[match.end() :]
        seconds, nanoseconds, size, flags = match.groups()
        if files is not None and name not in files:
            continue
        try:
            stat = (folder / name).lstat()
        except OSError:
            if not int(flags, 16) & _SKIPPED:
                changed.add(name)
            continue
        modified = stat.st_mtime_ns if int(nanoseconds) else stat.st_mtime_ns // 10**9 * 10**9
        in_index = int(seconds) * 10**9 + int(nanoseconds), int(size)
        is_same = in_index == (modified, stat.st_size % 2**32)
        if not is_same and not S_ISDIR(stat.st_mode):  # a folder is that of a submodule
            changed.add(name)
    return frozenset(changed if files is None else changed.intersection(files))


def filter_converted(tree: Path, files: Sequence[str]) -> frozenset[str]:
    r"""Return the files among these of a work tree whose `\r\n` git stores as `\n`.

    Attributes decide it, else `core.autocrlf`.
    """
    setting = (_run(tree, "config", "--get", "core.autocrlf") or "").strip().lower()
    by_default = [] if setting in {"true", "input", "yes", "on", "1"} else ["-text"]
    converted = set()
    for start in range(0, len(files), _AT_A_TIME):
        batch = files[start : start + _AT_A_TIME]
        output = _run(tree, "--literal-pathspecs", "ls-files", "--eol", "-z", "--", *batch)
        for row in (output or "").split("\0"):
            columns, _, file = row.partition("\t")
            attributes = columns.partition("attr/")[2].split() or by_default
            if file and "-text" not in attributes:
                converted.add(file)
    return frozenset(converted)


def list_changed_elsewhere(folder: Path, files: Collection[str], since: float) -> frozenset[str]:
    """Return the files among these that another branch, stash or work tree changed.

    Commits count from a time on, in seconds since 1970, unless HEAD has them. The files are paths
    below the folder.
    """
    log = _run(folder, "log", "--all", "--not", "HEAD", f"--since={since:.0f}", "--format=", "-z",
               "--name-only", "--no-renames", "-m", "--relative", "--", ".") or ""  # fmt: skip
    changed = {name.strip("\n") for name in log.split("\0")}
    if (own_tree := find_worktree(folder)) is not None:
        prefix = os.path.relpath(os.path.realpath(folder), os.path.realpath(own_tree))
        output = _run(folder, "worktree", "list", "--porcelain", "-z") or ""
        trees = [Path(line[9:]) for line in output.split("\0") if line.startswith("worktree ")]
        for tree in trees:
            if tree != own_tree and (tree / prefix).is_dir():
                changed |= list_uncommitted(tree / prefix, files)
    return frozenset(changed.intersection(files))


def list_untracked(folder: Path) -> frozenset[str]:
    """Return the files below a folder that are neither tracked nor ignored."""
    output = _run(folder, "ls-files", "-z", "--others", "--exclude-standard") or ""
    return frozenset(output.split("\0")) - {""}


def list_staged_renames(tree: Path) -> dict[str, str]:
    """Map the former paths of files that were renamed in the git index to their new ones."""
    how = "--find-renames=100%" if is_partial(tree) else "--find-renames"
    options = ("diff-index", "--cached", *_PLAIN, "-z", "--name-status", "--diff-filter=R", how)
    fields = [field.lstrip("\n") for field in (_run(tree, *options, "HEAD") or "").split("\0")]
    return dict(zip(fields[1::3], fields[2::3], strict=False))


def is_ignored(tree: Path, file: Path) -> bool:
    """Tell whether git ignores a file by any of its rules; a tracked file is not ignored.

    False if git fails.
    """
    # check-ignore always takes literal paths, and refuses the option
    words = ("--no-literal-pathspecs", "check-ignore", "--quiet", "--", str(file))
    return _run(tree, *words) is not None


def repository_cache(tree: Path) -> Path:
    """Return the cache folder that all work trees of a repository share; it may not exist.

    It is named by the folder of git that the work trees share: that costs no call of git, and
    stays the same when a repository gets its first commit or a shallow clone the rest.
    """
    return user_folder("cache") / "code" / _hash_path(common_folder(tree) or tree)


def worktree_cache(tree: Path) -> Path:
    """Return the cache folder of one work tree; it may not exist."""
    return repository_cache(tree) / _hash_path(tree)


def _hash_path(path: Path) -> str:

    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]


COMMIT_ID = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A full id, by either hash function of git."""

_REF = lazy_pattern(r"ref: (refs/heads/[^\s~^:?*\[\\\x00-\x1f]+)")

# Bytes of HEAD, which names a branch.
_MOST_HEAD = 1000


def read_head_commit(tree: Path) -> str:
    """Return the id of the commit that is checked out; empty if there is none."""
    return read_branch_and_commit(tree)[1]


def read_branch_and_commit(tree: Path) -> tuple[str, str]:
    """Return the text of HEAD, which names the branch, and the id of its commit; empty for none.

    Git is only run for a branch whose commit stands in no file.
    """
    text, commit = _read_commit_files(tree)
    return text, commit or read_head(tree) or ""


def _read_commit_files(tree: Path) -> tuple[str, str]:
    """Return the text of HEAD, and the id of its commit if it stands in a file."""
    folder = git_folder(tree)
    text = _read_text(folder / "HEAD") if folder is not None else ""
    if COMMIT_ID.fullmatch(text):
        return text, text
    ref = _REF.fullmatch(text)
    if folder is None or ref is None or ".." in ref[1]:
        return text, ""
    shared = _find_common_folder(folder)
    commit = _read_text(shared / ref[1])
    return text, commit if COMMIT_ID.fullmatch(commit) else _read_packed(shared, ref[1])


def _read_packed(folder: Path, ref: str) -> str:
    """Return the commit of a branch that stands in `packed-refs`; empty if it does not."""
    try:
        with (folder / "packed-refs").open(encoding="utf-8", errors="replace") as file:
            for line in file:
                commit, _, name = line.rstrip("\n").partition(" ")
                if name == ref and COMMIT_ID.fullmatch(commit):
                    return commit
    except OSError:
        pass
    return ""


_REFS = ("packed-refs", "refs/heads", "refs/remotes/origin", "reftable/tables.list")

# A younger file may change without another time, as in base/filenames.py.
_YOUNG_NS = 100_000_000


def stat_refs(tree: Path, ref: str) -> object:
    """Return a value that changes whenever a branch does; None if only git can tell.

    Git writes each ref, or the list of all, by a rename, which changes its folder.
    """
    own_folder = git_folder(tree)
    if own_folder is None:
        return None
    folder = _find_common_folder(own_folder)
    states: list[object] = []
    for name in (*_REFS, posixpath.dirname(ref)):
        try:
            stat = (folder / name).stat()
        except OSError:
            states.append(None)
            continue
        if stat.st_mtime_ns > time.time_ns() - _YOUNG_NS:
            return None  # it may change again within one tick of the clock
        states.append((stat.st_mtime_ns, stat.st_ino, stat.st_size))
    return tuple(states)


def _read_text(file: Path) -> str:
    try:
        # three files an answer: `open` takes thrice as long
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _MOST_HEAD).decode("utf-8", "replace").strip()
    except OSError:
        return ""  # a folder
    finally:
        os.close(descriptor)


# Bytes of .git/config that are read.
_MOST_SETTINGS = 100_000

_ORIGIN = "origin"


def read_remote_url(tree: Path) -> str:
    """Return the URL of the remote `origin`, else of the only remote; empty if there is none.

    It may have a password.
    """
    words = ("config", "-z", "--get-regexp", r"^remote\..*\.url$")
    output = read_output(tree, *words, most=_MOST_SETTINGS) or b""
    urls: dict[str, str] = {}
    for entry in output.decode("utf-8", "replace").split("\0"):
        key, _, url = entry.partition("\n")
        if url:
            urls.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    if _ORIGIN in urls:
        return urls[_ORIGIN]
    return next(iter(urls.values())) if len(urls) == 1 else ""
