"""No source file takes much memory or time, whatever its grammar makes of it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.base.errors import StorageFailed
from memory_bank.code.languages.base import list_languages
from memory_bank.code.parse import parse_process, parsing
from memory_bank.code.parse.parsed_file import ParsedFile
from tests.code.hostile_code import DEAR, REPEATED, hostile, memory
from tests.support.waiting import until

pytestmark = pytest.mark.slow

MEGABYTES, SECONDS = 300, 10
PLAIN = b"def f(): pass\n"
MEASURED = """
import json, resource, sys
from memory_bank.code.parse import parse_process
from tests.code.hostile_code import hostile

def taken():
    own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    # not `ru_maxrss`, which has that of the program before
    status = open("/proc/self/status").read()
    size = int(status.partition("VmHWM:")[2].split()[0])
    return sum(one.ru_utime + one.ru_stime for one in (own, others)), size + others.ru_maxrss

language, size, *names = sys.argv[1:]
for name in names:
    before = taken()[0]
    found = parse_process.parse(hostile(name, int(size), language), language)
    parse_process._end()
    seconds, size_of_all = taken()
    print(json.dumps([name, seconds - before, size_of_all / 1000, found.refused]))
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at other processes")


@pytest.fixture(autouse=True)
def own_process() -> Iterator[None]:
    """End the process that parses before and after a test."""
    parse_process._end()
    yield
    parse_process._end()


def running() -> int:
    """Return the number of the process that parses."""
    assert parse_process._SharedWorker.worker is not None
    return parse_process._SharedWorker.worker._process.pid


def measured(language: str, size: int, *names: str) -> list[tuple[str, float, float, str]]:
    """Parse texts in a process of its own; return name, seconds, megabytes and reason of each.

    Seconds are of the processors, which other work of the machine does not change.
    """
    words = [sys.executable, "-c", MEASURED, language, str(size), *names]
    root = str(Path(__file__).parents[3])
    done = subprocess.run(words, capture_output=True, text=True, cwd=root, check=True)
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@linux
@pytest.mark.parametrize(("language", "name"), DEAR)
def test_the_dearest_texts_are_refused_in_time(language: str, name: str) -> None:
    ((_, seconds, megabytes, refused),) = measured(language, 100_000, name)
    assert refused
    assert megabytes < MEGABYTES
    assert seconds < SECONDS


@linux
@pytest.mark.torture
@pytest.mark.parametrize("size", [100_000, 1_000_000])
@pytest.mark.parametrize("language", list_languages())
def test_each_grammar_is_held_by_the_limits(language: str, size: int) -> None:
    found = measured(language, size, *REPEATED)
    assert len(found) == len(REPEATED)
    worst = max(found, key=lambda one: one[1]), max(found, key=lambda one: one[2])
    assert worst[0][1] < SECONDS
    assert worst[1][2] < MEGABYTES


def test_a_refused_file_leaves_the_next_alone() -> None:
    found = parsing.parse(hostile("generics on lines", 100_000), "c_sharp")
    assert found == ParsedFile("c_sharp", refused="it takes more than 128 MB to parse")
    assert [one.name for one in parsing.parse(PLAIN, "python").symbols] == ["f"]


def test_a_refused_file_is_never_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = hostile("angle brackets", 20_000)
    monkeypatch.setattr(parse_process, "_SECONDS", 0.1)
    monkeypatch.setattr(parse_process, "_SECONDS_A_BYTE", 0)
    found = parsing.parse(data, "bash")
    assert found.refused == "it takes longer than 0.1 seconds to parse"
    asked: list[str] = []

    def parse(data: bytes, language: str) -> ParsedFile:
        asked.append(language)
        return ParsedFile(language)

    monkeypatch.setattr(parse_process, "parse", parse)
    parsing._refusals.cache_clear()  # as another process
    assert parsing.parse(data, "bash") == found
    assert asked == []
    parsing.parse(data + b" ", "bash")
    parsing.parse(data, "ruby")
    assert asked == ["bash", "ruby"]
    parsing._refusals.cache_clear()
    monkeypatch.setattr(parsing, "VERSION", "another")
    parsing.parse(data, "bash")
    assert asked == ["bash", "ruby", "bash"]


def test_what_a_file_defines_is_bounded() -> None:
    classes = "".join(f"{' ' * depth}class {'A' * 290}:\n" for depth in range(12))
    data = (classes + f"{' ' * 12}def f(): pass\n" * 5_000).encode()
    assert len(data) < 1_000_000
    assert parsing.parse(data, "python").refused == "what it defines takes more than 16 MB"


def test_a_file_during_which_the_process_is_killed_is_parsed_again() -> None:
    parsing.parse(PLAIN, "python")
    text = "x = f(1)\n" * 50_000
    killer = threading.Timer(0.05, os.kill, [running(), signal.SIGKILL])
    killer.start()
    assert not parsing.parse(text.encode(), "python").refused
    killer.join()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="a signal of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_to_the_group_do_not_refuse_a_file(name: str) -> None:
    parsing.parse(PLAIN, "python")
    os.kill(running(), getattr(signal, name))
    before = running()
    assert parsing.parse(PLAIN, "python").symbols
    assert running() == before


def test_an_interrupted_question_gets_no_other_ones_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    parsing.parse(PLAIN, "python")
    with monkeypatch.context() as patch:
        patch.setattr(parse_process.Worker, "_read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            parsing.parse(b"def first(): pass\n", "python")
    (found,) = parsing.parse(b"def second(): pass\n", "python").symbols
    assert found.name == "second"


def test_the_process_ends_when_there_is_nothing_to_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_process, "_IDLE_SECONDS", 0.05)
    parsing.parse(PLAIN, "python")
    worker = parse_process._SharedWorker.worker
    assert worker is not None
    worker._process.wait(60)
    assert parsing.parse(PLAIN, "python").symbols


def test_a_process_that_is_being_ended_is_asked_no_more() -> None:
    parsing.parse(PLAIN, "python")
    worker = parse_process._SharedWorker.worker
    assert worker is not None
    worker._closed = True  # by another thread, before it kills it
    assert parsing.parse(PLAIN, "python").symbols
    assert parse_process._SharedWorker.worker is not worker


def test_a_process_that_can_not_be_started_is_a_plain_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(StorageFailed, match="can't be started") as raised:
            parsing.parse(PLAIN, "python")
        assert "limits" in raised.value.hint
    assert parsing.parse(PLAIN, "python").symbols


@linux
@pytest.mark.parametrize("text", [b"", hostile("angle brackets", 30_000)])
def test_it_ends_with_its_parent_even_while_it_parses(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(text)
    script = """
import sys
from memory_bank.code.parse import parse_process
parse_process.parse(b"", "bash")
print(parse_process._SharedWorker.worker._process.pid, flush=True)
parse_process.parse(open(sys.argv[1], "rb").read(), "bash")
input()
"""
    words = [sys.executable, "-c", script, str(tmp_path / "text")]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.3)
        parent.kill()
        parent.wait()
        until(lambda: memory(child) == 0)


@linux
def test_it_has_no_descriptor_of_its_parent(tmp_path: Path) -> None:
    with open(tmp_path / "lock", "w") as lock:
        reading, writing = os.pipe()
        parsing.parse(PLAIN, "python")
        folder = Path(f"/proc/{running()}/fd")
        found = {one.name: os.readlink(one) for one in folder.iterdir()}
        assert lock.name not in found.values()
    os.close(reading)
    os.close(writing)
    assert found.keys() == {"0", "1", "2"}
    assert found["2"] == "/dev/null"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_parses_with_a_process_of_its_own() -> None:
    script = """
import os
from memory_bank.code.parse import parse_process
number = lambda: parse_process._SharedWorker.worker._process.pid
parse_process.parse(b"", "python")
before = number()
if os.fork() == 0:
    parse_process.parse(b"", "python")
    raise SystemExit(number() == before)
_, status = os.wait()
assert parse_process.parse(b"def f(): pass", "python").symbols and number() == before
raise SystemExit(os.waitstatus_to_exitcode(status))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)


def test_where_nothing_changed_no_process_is_started(shop: Path) -> None:
    script = """
import sys
from memory_bank.code.index.codebase import open_codebase
with open_codebase() as code:
    code.refresh()
print("memory_bank.code.parse.parse_process" in sys.modules)
"""
    words = [sys.executable, "-c", script]
    time.sleep(0.05)
    said = [
        subprocess.run(words, cwd=shop, capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["True", "False"]
