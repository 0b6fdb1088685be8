"""The engine of PostgreSQL with pgvector."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from memory_bank.base.errors import SharedUnavailable
from memory_bank.base.plugins import install_hint
from memory_bank.shared import addresses
from memory_bank.shared.engines.base import NOT_INSTALLED

if TYPE_CHECKING:
    from memory_bank.shared.engines.postgres.postgres import Postgres

FORMS = addresses.FORMS


def load() -> None:
    """Import the driver; raise SharedUnavailable if it is not installed."""
    for package in ("psycopg", "pgvector"):
        if find_spec(package) is None:
            raise SharedUnavailable(
                f"the package {package} is not installed", install_hint("shared"), NOT_INSTALLED
            )


def connect(url: str, *, seconds: float = 0.0) -> Postgres:
    """Connect to a server; raise SharedUnavailable, BadSetting."""
    load()
    from memory_bank.shared.engines.postgres import connection
    from memory_bank.shared.engines.postgres.postgres import Postgres

    return Postgres(*connection.connect(url, seconds), seconds)
