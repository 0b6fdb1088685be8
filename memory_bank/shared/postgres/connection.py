"""Connect to PostgreSQL, and convert its errors; no error shows a password."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memory_bank.errors import BadInput, BadSetting, Busy, Conflict, SharedUnavailable
from memory_bank.shared import server_url
from memory_bank.shared.engine import NO_INDEX, UNREACHABLE

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


class Opened(NamedTuple):
    """A connection, and where it goes."""

    connection: Connection
    place: str
    """Without user and password."""


def opened(url: str, seconds: float) -> Opened:
    """Connect; raise BadSetting for a URL that can't be used, SharedUnavailable."""
    server_url.check_form(url)
    if url.startswith(server_url.EMBEDDED):
        from memory_bank.shared.postgres.embedded import started

        url = started(url.removeprefix(server_url.EMBEDDED).strip())
    try:
        given = {key: str(value) for key, value in conninfo_to_dict(url).items()}
    except psycopg.Error:  # its message has parts of the URL
        raise BadSetting(server_url.UNREADABLE, server_url.QUOTE) from None
    server_url.check_parts(given)
    place = server_url.shown(given)
    secured = server_url.secured(given)
    secured.setdefault("connect_timeout", str(max(2, int(seconds or _CONNECT_SECONDS))))
    secured.setdefault("application_name", _PROGRAM)
    secured["client_encoding"] = "utf8"
    with guarded(place):
        connection = psycopg.connect(
            make_conninfo("", **secured), autocommit=True, prepare_threshold=None
        )
        if "sslmode" in secured and secured["sslmode"] == "verify-full":
            _check_tls(connection, place, local=server_url.is_local(given))
        limit = int(1000 * (seconds or _LONG_SECONDS))
        lock = int(1000 * min(seconds or _LOCK_SECONDS, _LOCK_SECONDS))
        connection.execute(
            "SELECT set_config('statement_timeout', %s, false),"
            " set_config('lock_timeout', %s, false),"
            " set_config('search_path', 'pg_catalog', false)",
            (str(limit), str(lock)),
        )
    return Opened(connection, place)


def _check_tls(connection: Connection, place: str, *, local: bool) -> None:
    if not (local or connection.pgconn.ssl_in_use):
        connection.close()
        raise SharedUnavailable(f"{place}: the connection is not encrypted", "", UNREACHABLE)


@contextmanager
def guarded(place: str) -> Iterator[None]:
    """Convert errors of the server and of the connection."""
    try:
        yield
    except _TRANSIENT as error:
        raise Conflict(f"{place}: another publication came first", "it is repeated") from error
    except _LATE as error:
        raise Busy(f"{place}: no answer in time", "try again") from error
    except errors.InsufficientPrivilege as error:
        raise refused(place) from error
    except _MISSING as error:
        raise no_index(place) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise SharedUnavailable(
            f"{place} can't be reached: {_reason(error)}",
            "is the server running, and are host, user and database right?",
            UNREACHABLE,
        ) from error
    except psycopg.Error as error:
        raise BadInput(f"{place}: {_reason(error)}") from error


def refused(place: str) -> BadInput:
    """Return the error for what a role may not do."""
    return BadInput(f"{place}: this role may not do that", "ask the operator of the shared index")


def no_index(place: str) -> SharedUnavailable:
    """Return the error for a database without a shared index, or one that a role may not see."""
    from memory_bank.hints import Hint

    return SharedUnavailable(
        f"{place}: no shared index that this role may use", Hint.MAKE_SHARED, NO_INDEX
    )


def identifier(name: str) -> sql.Identifier:
    """Return the name of a role or schema, quoted."""
    return sql.Identifier(name)


def clean(text: str) -> str:
    """Return a text that the server can store: without NUL, and without lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text.encode("utf-8", "replace").decode("utf-8")


def batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Yield some items at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _reason(error: psycopg.Error) -> str:
    """Return the first line of an error, without the values of rows."""
    said = error.diag.message_primary or str(error)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
