"""Memory or threads that run out are a plain error everywhere, and no damage."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_bank.base.errors import StorageFailed, find_exhausted
from memory_bank.frontends import merge_driver
from memory_bank.frontends.cli.main import run
from memory_bank.memory.retrieval import recall, recall_scopes
from tests.frontends.mcp.conftest import agent, serving  # noqa: F401  (fixtures)

pytestmark = pytest.mark.slow

Run = Callable[..., subprocess.CompletedProcess[str]]
MEMORY, THREAD = "no memory left", "no further thread"


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    error.__cause__ = cause
    return error


PanicException = type("PanicException", (BaseException,), {})
GROUP = BaseExceptionGroup("in a server", [ValueError("x"), RuntimeError("can't start new thread")])
SEEN: list[tuple[BaseException, str]] = [
    (MemoryError(), MEMORY),
    (OSError(12, "Cannot allocate memory"), MEMORY),
    (ImportError("x.so: failed to map segment from shared object"), MEMORY),
    (raised(ImportError("numpy failed"), ImportError("failed to map segment")), MEMORY),
    (RuntimeError("can't start new thread"), THREAD),
    (RuntimeError("Resource temporarily unavailable"), THREAD),
    (PanicException("Failed to spawn thread: Os { code: 11, kind: WouldBlock }"), THREAD),
    (GROUP, THREAD),
]  # fmt: skip
ERRORS = [MemoryError(), RuntimeError("can't start new thread")]


@pytest.mark.parametrize(("error", "said"), SEEN)
def test_it_is_told_by_the_error_or_its_cause(error: BaseException, said: str) -> None:
    found = find_exhausted(error)
    assert found
    assert said in found.message
    assert found.hint


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("x"), ValueError("a note says: out of cheese"), OSError(11, "would block"),
        KeyError("out of memory"), StorageFailed("a note on `cannot allocate memory`"),
    ],
)  # fmt: skip
def test_other_errors_are_what_they_are(error: Exception) -> None:
    error.__context__ = error
    assert find_exhausted(error) is None


@pytest.mark.parametrize("error", ERRORS)
def test_the_command_line_says_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Any
) -> None:
    monkeypatch.chdir(project)
    fail(monkeypatch, error)
    assert run(["recall", "tantivy", "--json"]) == 3
    found = json.loads(capsys.readouterr().err)["error"]
    assert found["code"] == "exhausted"
    assert "this machine" in found["message"]


def fail(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(recall, "recall", failing)
    monkeypatch.setattr(recall_scopes, "recall_across", failing, raising=False)


@pytest.mark.parametrize("error", ERRORS)
def test_the_server_of_agents_says_it_and_goes_on(
    serving: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: BaseException,
) -> None:
    agent = serving("store")  # noqa: F811
    with pytest.MonkeyPatch.context() as patched:
        fail(patched, error)
        answer = agent("recall", query="tantivy")
    assert answer.wrong
    assert "this machine" in answer.text
    assert "Traceback" not in caplog.text
    assert agent("recall", query="tantivy")["notes"]


@pytest.mark.parametrize("error", ERRORS)
def test_a_merge_falls_back_to_that_of_git(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    error: BaseException,
) -> None:
    for name in ("base", "ours", "theirs"):
        (tmp_path / name).write_text(f"# {name}\n")

    def failing(*_: object) -> None:
        raise error

    from memory_bank.review import merge_driver as merging

    monkeypatch.setattr(merging, "merge_files", failing)
    merge_driver.run([str(tmp_path / name) for name in ("base", "ours", "theirs")])
    assert "not merged as a note: this machine" in capfd.readouterr().err


LIMITED = """
import os, resource, sys
from memory_bank.frontends import merge_driver
from memory_bank.frontends.cli.main import run
os.chdir(sys.argv[1])
run(["recall", "tantivy"])
size = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
limit = size + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.exit(run(["ask", "tantivy"]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems bound no address space")
def test_threads_that_really_can_not_start_are_a_plain_error(
    project: Path, run_python: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX")  # as users have it: threads keep room of their own
    done = run_python(LIMITED, project, 4_000_000, check=False)
    # the index of notes may be open already and answer; what is not searched is said then
    expected = {0: "not searched: this machine", 3: "error: this machine"}
    assert expected.get(done.returncode, "an abort") in done.stderr, done.stdout + done.stderr
    assert "unexpected" not in done.stderr
    assert "damaged" not in done.stderr
