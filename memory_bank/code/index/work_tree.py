"""The files of a git work tree: which may be read, what kinds they are, what is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from stat import S_ISLNK, S_ISREG

from memory_bank.base import NamedTuple, filenames, lazy_pattern
from memory_bank.base.errors import NoRepository, StorageFailed
from memory_bank.base.filenames import NOTE_SUFFIXES, StatSignature, as_utf8, is_utf8
from memory_bank.git import repository

LINK = "symbolic link: not followed"

NOT_UTF8 = "its name is not UTF-8"

MAX_FILE_BYTES = 1_000_000
"""A larger file is not read."""

TOO_LARGE = f"larger than {MAX_FILE_BYTES:,} bytes"

BINARY = "binary: it has NUL bytes"

GENERATED = "generated or minified: its lines are very long"

UNREADABLE = "it can't be read"

SUBMODULE = "submodule: not entered"
"""Reasons why a file is refused."""

_BINARY_BYTES = 8000
"""Bytes at the start of a file in which a NUL byte marks it as binary, as git does."""

_LONG_LINES = 500
"""Mean length of lines in bytes from which a file counts as generated or minified."""

_SMALL = 5000
"""A file of at most that many bytes is never generated."""


class TreeScan(NamedTuple):
    """The result of a scan, by paths below the work tree with forward slashes."""

    files: dict[str, StatSignature]
    refused: dict[str, str]
    """Files that would be read, were it not for the reason."""

    def filter(self, accepts: Callable[[str], bool]) -> TreeScan:
        """Return a copy with the files only whose paths are accepted."""
        return TreeScan(
            {path: file for path, file in self.files.items() if accepts(path)},
            {path: reason for path, reason in self.refused.items() if accepts(path)},
        )


class TreeRead(NamedTuple):
    """A file that was read."""

    signature: StatSignature | None
    """From before it was read; None if it can't be opened."""
    data: bytes = b""
    reason: str = ""
    """Why it is refused, if it is."""


class WorkTree:
    """The work tree of a repository, read only."""

    def __init__(self, root: Path, *, exclude: Sequence[str] = (), max_bytes: int) -> None:
        """Read the files of `root` of at most `max_bytes`, except those that `exclude` matches."""
        self.root = root
        self._exclude = tuple(exclude)
        self._max_bytes = max_bytes

    def scan(self) -> TreeScan:
        """Return the files that git tracks, or would track; nothing is read.

        Files of submodules and of other repositories inside are left
        out, as are files that are not checked out. Raises StorageFailed if git can't list them.
        """
        paths = repository.list_files(self.root, self._exclude)
        if paths is None:
            raise StorageFailed(
                repository.find_problem(self.root) or f"git can't list the files of {self.root}",
                "try `git status` there",
            )
        files, refused = dict[str, StatSignature](), dict[str, str]()
        plain_folders: dict[str, bool] = {"": True}
        for path in paths:
            if path.startswith(("../", "/")):
                continue
            if not is_utf8(path):
                refused[as_utf8(path)] = NOT_UTF8
                continue
            if not self._is_plain_folder(path.rpartition("/")[0], plain_folders):
                continue  # git has it in the index only: a link took the place of its folder
            try:
                stat = os.lstat(f"{self.root}/{path}")
            except OSError:
                continue  # not checked out, or removed
            if S_ISLNK(stat.st_mode):
                refused[path] = LINK
            elif S_ISREG(stat.st_mode):
                if stat.st_size > self._max_bytes:
                    refused[path] = TOO_LARGE
                else:
                    files[path] = filenames.read_signature(stat)
        return TreeScan(files, refused)

    def list_submodules(self) -> list[str]:
        """Return the submodules of the work tree, none of whose files are listed."""
        if not (self.root / ".gitmodules").exists():
            return []
        files = repository.list_files(self.root, self._exclude) or []
        paths = (path for path in files if is_utf8(path) and not path.startswith(("../", "/")))
        places = ((path, self.root / path) for path in paths)
        # git lists files, and submodules as if they were files
        return [path for path, file in places if file.is_dir() and not file.is_symlink()]

    def read_start(self, path: str, count: int) -> bytes:
        """Read the first bytes of a file; none if it can't be read."""
        try:
            handle = self._open_handle(path)
            with open(handle, "rb", buffering=0) as file:  # noqa: PTH123  (a handle)
                is_file = filenames.signature_from_stat(os.fstat(handle)) is not None
                return file.read(count) if is_file else b""
        except OSError:
            return b""

    def read(self, path: str) -> TreeRead | None:
        """Read a file; return None if it is no longer there."""
        try:
            handle = self._open_handle(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return TreeRead(None, reason=UNREADABLE)
        with open(handle, "rb") as file:  # noqa: PTH123  (a handle)
            signature = filenames.signature_from_stat(os.fstat(handle))
            if signature is None:
                return None
            try:
                data = file.read(self._max_bytes + 1)
            except OSError:
                return TreeRead(signature, reason=UNREADABLE)
        if len(data) > self._max_bytes:
            return TreeRead(signature, reason=TOO_LARGE)
        return TreeRead(signature, data, why_unreadable(data))

    def _open_handle(self, path: str) -> int:
        # O_NONBLOCK opens a pipe at once even without a writer
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        return os.open(self.root / path, flags | getattr(os, "O_BINARY", 0))

    def _is_plain_folder(self, folder: str, known: dict[str, bool]) -> bool:
        """Tell whether no part of a folder's path is a symbolic link."""
        parts = []
        while folder not in known:
            parts.append(folder)
            folder = folder.rpartition("/")[0]
        is_plain = known[folder]
        for parent in reversed(parts):
            is_plain = is_plain and not os.path.islink(f"{self.root}/{parent}")  # noqa: PTH114  (start-up)
            known[parent] = is_plain
        return is_plain


def find_work_tree(folder: Path) -> Path:
    """Return the work tree that holds a folder; raise NoRepository, saying why there is none."""
    tree = repository.find_worktree(folder.resolve())
    if tree is None:
        raise NoRepository(
            f"{folder} is in no git work tree: there is no code to read",
            "run this in a clone of a repository; notes need none",
        )
    if not repository.can_be_read(tree) and (problem := repository.find_problem(tree)):
        raise NoRepository(problem, "the notes are not affected")
    return tree


def why_unreadable(data: bytes) -> str:
    """Return why the content of a file is not source code; empty if it may be."""
    if b"\0" in data[:_BINARY_BYTES]:
        return BINARY
    if len(data) > _SMALL and len(data) > _LONG_LINES * (data.count(b"\n") + 1):
        return GENERATED
    return ""


LANE = "lane"
"""The field of an indexed file that says what it has: symbols, tests or docs."""

_SUFFIXES = frozenset(
    """
    .rst .txt .adoc .asciidoc .org .tex .textile
    .yaml .yml .toml .json .jsonc .json5 .ini .cfg .conf .properties .env .in .editorconfig
    .html .htm .css .scss .sass .less .vue .svelte .jade .pug .ejs .hbs .j2 .jinja .jinja2 .tmpl
    .sql .proto .graphql .gql .xml .xsd .gradle .cmake .mk .tf .dockerfile .bat .ps1 .service
    """.split()  # noqa: SIM905  (read as rows)
)

_NAMES = frozenset(
    """
    Makefile makefile GNUmakefile Dockerfile Containerfile Procfile Jenkinsfile Justfile justfile
    Vagrantfile LICENSE COPYING NOTICE AUTHORS CONTRIBUTORS CHANGES CHANGELOG HISTORY README INSTALL
    TODO CODEOWNERS .gitignore .gitattributes .dockerignore .npmrc .npmignore .eslintrc .prettierrc
    .babelrc .flake8
    """.split()  # noqa: SIM905
)

_LOCKS = frozenset(
    "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml packages.lock.json".split()  # noqa: SIM905
)
"""Files that programs write, whose names look like documents."""


def is_document(path: str) -> bool:
    """Tell whether a file is a document, by its name."""
    name = path.rpartition("/")[2]
    if name in _LOCKS:
        return False
    dot = name.rfind(".")
    return is_markdown(name) or name in _NAMES or (dot > 0 and name[dot:].lower() in _SUFFIXES)


def is_markdown(path: str) -> bool:
    """Tell whether a file is Markdown, by its name."""
    return path.endswith(NOTE_SUFFIXES)


class FileKind(NamedTuple):
    """A kind of file that is seldom meant, unless a question has a word that asks for it."""

    name: str
    paths: re.Pattern[str]
    factor: float
    """Of the likelihood that it answers; `tests/benchmarks/ask.py` measures it."""
    asked: frozenset[str]


_FOLDER = r"(?:^|/)"

KINDS = (
    FileKind(
        "test",
        re.compile(
            rf"{_FOLDER}(?:tests?|specs?|__tests__|testing|testdata|fixtures)/"
            rf"|{_FOLDER}(?:test_[^/]*|conftest|test)\.\w+$|[_.](?:test|spec)\.\w+$",
            re.IGNORECASE,
        ),
        0.6,
        frozenset(["test", "tests", "tested", "testing"]),
    ),
    FileKind(
        "lock file",
        re.compile(r"(?:\.lock|-lock\.(?:json|ya?ml)|\.sum|npm-shrinkwrap\.json)$", re.IGNORECASE),
        0.2,
        frozenset(["lock", "locked", "lockfile", "pinned"]),
    ),
    FileKind(
        "changelog",
        re.compile(
            rf"{_FOLDER}(?:change(?:s|log)?|history|news|releases?|release[-_]notes)(?:\.\w+)?$"
            rf"|{_FOLDER}(?:changes|changelog|newsfragments)/",
            re.IGNORECASE,
        ),
        0.6,
        frozenset(["changelog", "changes", "history", "news", "release", "released", "version"]),
    ),
    FileKind(
        "document",
        re.compile(r"\.(?:md|markdown|rst|txt|adoc|org)$", re.IGNORECASE),
        0.6,
        frozenset(["docs", "documentation", "documented", "document", "readme", "guide"]),
    ),
    FileKind(
        "example",
        re.compile(rf"{_FOLDER}(?:examples?|samples?|demos?|benchmarks?|bench)/", re.IGNORECASE),
        0.8,
        frozenset(["benchmark", "benchmarks", "demo", "example", "examples", "sample", "tutorial"]),
    ),
    FileKind(
        "configuration",
        re.compile(
            rf"{_FOLDER}\.|\.(?:toml|cfg|ini|ya?ml|json|mod)$"
            rf"|{_FOLDER}(?:Makefile|Dockerfile|requirements[^/]*|setup\.py)$",
            re.IGNORECASE,
        ),
        0.8,
        frozenset(
            """
            action actions build bump ci config configuration dependencies dependency deps lint
            packaging pin pre python release requirements setup update version workflow
            """.split()  # noqa: SIM905
        ),
    ),
)
"""The first kind that matches a path counts."""

_ASKS_HOW_TO = lazy_pattern(
    r"\bhow (?:do|can|could|should|would|must) (?:i|we|you|one)\b|\bhow to\b"
    r"|^\W*(?:install|set ?up|configure|enable|disable|upgrade|uninstall)\b",
    re.IGNORECASE,
)
"""Words of a user who wants to do something: documents say how, code says how it is done."""


def likelihood_factor(path: str, question: str) -> float:
    """Return the factor of the likelihood of a file's results; 1 where the question asks for it."""
    kind = next((kind for kind in KINDS if kind.paths.search(path)), None)
    if kind is None or kind.asked & set(re.findall(r"\w+", question.lower())):
        return 1.0
    if kind.name == "document" and _ASKS_HOW_TO.search(question):
        return 1.0
    return kind.factor


def name_kind(path: str) -> str:
    """Return the name of the kind of a path; empty if it has none."""
    return next((kind.name for kind in KINDS if kind.paths.search(path)), "")
