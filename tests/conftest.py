"""What every test stands on: private folders, a project in git, the shared data where it is."""

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import memory_bank
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base import paths
from memory_bank.base.file_watches import ChangeQueue
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.git import process as git_process
from tests.git.history_builder import commit_all
from tests.git.history_builder import run as run_git
from tests.support.cited_shop import make_shop
from tests.support.files import write_files
from tests.support.homes import live_at

# Where the environment forbids to keep bytecode, each process compiles all that it loads.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

pytest.register_assert_rewrite("tests.support.command_lines")  # its failures show what differs

MEMORY = Path("/dev/shm")
_ENOUGH = 2**30
_ARENA_MAX = -8
"""The number of this parameter of `mallopt`."""


def _keep_files_in_memory() -> None:
    """Let all temporary files be in memory, where there is room: nothing has to outlive a test.

    A disk takes most of the time of a small repository. TMPDIR chooses another place.
    """
    if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
        place = os.statvfs(MEMORY)
        usable = not place.f_flag & os.ST_NOEXEC  # tests write programs, and start them
        if usable and place.f_bavail * place.f_frsize > _ENOUGH:
            os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


_keep_files_in_memory()


def _share_one_arena() -> None:
    """Let all threads allocate from one arena, which glibc calls it, here and in processes begun here.

    tantivy starts threads for each commit; with an arena of its own for each, the system spends half
    of the time of a short test on new pages.
    """
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another library of C
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


_share_one_arena()


def pytest_xdist_auto_num_workers() -> int:
    """Start two workers more than there are processors: tests wait, for clocks and processes."""
    return 2 + (len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1)


settings.register_profile("few", max_examples=25, deadline=None)
settings.register_profile("many", settings.get_profile("ci"), max_examples=100)
settings.load_profile("many" if os.environ.get("CI") else "few")

_QUICK = " and not slow"


def pytest_configure(config: pytest.Config) -> None:
    """Run what is slow besides, where CI asks."""
    if os.environ.get("CI"):
        config.option.markexpr = config.option.markexpr.removesuffix(_QUICK)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage among what tests are made of, neither now nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Count what needs a browser among what is slow, and begin with what takes longest.

    At the end the other workers would wait for it.
    """
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")
    items.sort(key=lambda item: not any("first" in mark.kwargs for mark in item.iter_markers()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly that no browser was there: else nobody would miss its tests."""
    reasons = (str(one.longrepr) for one in terminalreporter.stats.get("skipped", ()))
    count = sum("NO CHROMIUM" in reason for reason in reasons)
    if count:
        terminalreporter.section("NO CHROMIUM", red=True, bold=True)
        terminalreporter.line(
            f"{count} tests of the dashboard in a browser were skipped: install it"
        )


SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a folder for each test; the factory would look through all that it has made."""
    root = tmp_path_factory.mktemp("homes")
    return (root / str(number) for number in count())


@pytest.fixture(autouse=True)
def private_folders(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep a test's settings, state and data away from the user's own."""
    home = next(homes)
    home.mkdir()
    live_at(home, monkeypatch)
    for name in [name for name in os.environ if name.startswith("MEMORY_BANK")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "static")  # few tests need the default, a slow one
    programs = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", *programs):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(git_process.TimeoutState, "until", 0.0)  # by a test that kept it waiting
    return home


@pytest.fixture(scope="session", autouse=True)
def watches_end_in_a_thread() -> Iterator[None]:
    """Close queues of changes in a thread: Linux takes 8 ms for each, in which it does nothing."""

    def close(queue: ChangeQueue) -> None:
        if queue._queue >= 0:
            closing.submit(os.close, queue._queue)
        queue._queue = -1

    with ThreadPoolExecutor(1) as closing, pytest.MonkeyPatch.context() as patched:
        patched.setattr(ChangeQueue, "close", close)
        yield


@pytest.fixture
def default_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the default embedder be in force, or the one that a settings file names."""
    monkeypatch.delenv("MEMORY_BANK_EMBEDDER")


@pytest.fixture
def git() -> Callable[..., str]:
    """Run git in a folder and return what it prints."""
    return run_git


@pytest.fixture
def git_commands(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Record the commands of git that are run."""
    commands: list[tuple[str, ...]] = []
    real = subprocess.Popen

    class Recorded(real):  # type: ignore[type-arg,misc]
        def __init__(self, words: list[str], *args: object, **options: object) -> None:
            commands.append(tuple(words))
            super().__init__(words, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(git_process.subprocess, "Popen", Recorded)
    return commands


@pytest.fixture
def project(tmp_path: Path, new_project: Path) -> Path:
    """Make a git repository with a source file, a bank of three linked notes, and one commit."""
    # the files are as new as if they were written now
    return Path(shutil.copytree(new_project, tmp_path / "project", copy_function=shutil.copy))


@pytest.fixture(scope="session")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the repository that each test gets a copy of."""
    root = tmp_path_factory.mktemp("new") / "project"
    notes = {
        "src/index.py": "def build_index():\n    ...\n",
        ".memories/.gitignore": ".index/\n.trash/\n.mb-*\nsessions/\n",
        ".memories/decisions/tantivy.md": (
            "---\nid: 4f1c9be07a52\ntype: decision\ntags: [architecture, search]\n"
            "created_at: 2026-01-10T10:00:00Z\nfile_refs: [src/index.py]\n---\n"
            "# Tantivy over Whoosh\n\nWe chose Tantivy because Whoosh is no longer maintained and\n"
            "its index grows slowly. See [[src/index.py]], `build_index`.\n\n## Consequences\n\n"
            "- supersedes:: [[decisions/whoosh]]\n- BM25 ranking comes for free: [[facts/bm25]]\n"
        ),
        ".memories/decisions/whoosh.md": (
            "---\ntype: decision\ntags: [search]\ncreated_at: 2025-06-01\n---\n"
            "# Whoosh as the keyword index\n\nWhoosh is pure Python and easy to install.\n"
        ),
        ".memories/facts/bm25.md": (
            "# BM25\n\nBM25 scores a word by its rarity and damps long documents.\n"
        ),
    }
    write_files(root, notes)
    run_git(root, "init", "-q", "-b", "main")
    for example in root.glob(".git/hooks/*.sample"):
        example.unlink()  # most of the files that each test would copy
    commit_all(root, "Start")
    return root


@pytest.fixture
def conflict(project: Path, git: Callable[..., str]) -> Callable[..., Path]:
    """Have git merge two texts of a note that don't go together, and return the note's file."""

    def merge(
        ours: str, theirs: str, *, base: str = "", name: str = "facts/port", style: str = "merge"
    ) -> Path:
        file = project / f".memories/{name}.md"
        for branch, text in (("main", base), ("other", theirs), ("main", ours)):
            git(project, "checkout", "-q", *(["-b"] if text == theirs else []), branch)
            file.write_bytes(text.encode())
            git(project, "add", "-A")
            git(project, "commit", "-q", "--allow-empty", "-m", f"Say {text[-20:]!r}")
        with suppress(subprocess.CalledProcessError):
            git(project, "-c", f"merge.conflictStyle={style}", "merge", "-q", "other")
        assert b"<<<<<<< HEAD" in file.read_bytes()
        return file

    return merge


@pytest.fixture(scope="session")
def new_index(new_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the index of the repository that each test gets a copy of."""
    home = tmp_path_factory.mktemp("indexed")
    root = shutil.copytree(new_project, home / "project")
    with pytest.MonkeyPatch.context() as patched:
        live_at(home, patched)
        patched.setenv("MEMORY_BANK_EMBEDDER", "static")
        with open_bank(root) as bank:
            bank.sync()
            return bank.layout.index


@pytest.fixture
def indexed_project(project: Path, new_index: Path, private_folders: Path) -> None:
    """Index the project's notes, as if it was done before: making it takes most of a short test.

    An index that another fixture made stays.
    """
    place = project / ".memories" / new_index.name
    if not place.exists():
        shutil.copytree(new_index, place, copy_function=shutil.copy)
        known = private_folders / "state/memory-bank/indices"
        known.mkdir(parents=True, exist_ok=True)
        (known / (new_index / paths.NAME).read_text()).touch()


@pytest.fixture
def bank(project: Path, indexed_project: None) -> Iterator[Bank]:
    """Open the project's bank."""
    with open_bank(project) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make an empty folder of notes outside git."""
    root = tmp_path.resolve() / "notes"
    root.mkdir()
    return root


@pytest.fixture
def opening() -> Iterator[Callable[..., Bank]]:
    """Open banks that embed nothing, which is fast; all are closed in the end."""
    with ExitStack() as opened:

        def opening(path: Path, **settings: object) -> Bank:
            chosen = {"memory.embedder": "none"}
            chosen |= {name.replace("__", "."): value for name, value in settings.items()}
            return opened.enter_context(open_bank(path, settings=chosen))

        yield opening


@pytest.fixture
def ending() -> Iterator[Callable[[subprocess.Popen[Any]], subprocess.Popen[Any]]]:
    """Have a process end with the test: what a failed one leaves would fail others."""
    with ExitStack() as started:

        def ending(process: subprocess.Popen[Any]) -> subprocess.Popen[Any]:
            started.enter_context(process)
            started.callback(process.kill)
            return process

        yield ending


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a Python script in a process of its own, with the package that is tested."""

    def run(
        script: str, *arguments: object, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-c", script, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=check,
            env={**os.environ, "PYTHONPATH": str(Path(memory_bank.__file__).parents[1])},
        )

    return run


@pytest.fixture
def for_anyone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder that a process without root's rights can reach.

    Not one of pytest's: each start of pytest closes their parent again.
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        folder.chmod(0o755)
        for kind in ("CONFIG", "STATE", "DATA", "CACHE"):
            (folder / kind).mkdir()
            (folder / kind).chmod(0o777)
            monkeypatch.setenv(f"XDG_{kind}_HOME", str(folder / kind))
        yield folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of some megabytes, where that is allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real data beside the checkout; skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared data at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def cited_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("repository").resolve() / "shop")


@pytest.fixture
def code(cited_shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Codebase]:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    with open_codebase(cited_shop) as opened:
        yield opened


@pytest.fixture
def shop_bank(cited_shop: Path, code: Codebase) -> Iterator[Bank]:
    with open_bank(cited_shop) as opened:
        yield opened
