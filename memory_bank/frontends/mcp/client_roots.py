"""Ask the client for its folders, where it offers that (MCP's roots, before 2026)."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from anyio import fail_after
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from memory_bank.frontends.serving.shared_bank import FOLDER_SECONDS

ASKED_AFTER = frozenset({"notifications/initialized", "notifications/roots/list_changed"})
"""Messages of a client after which it is asked."""

_MOST = 100

_log = logging.getLogger(__name__)


def offered(params: Mapping[str, Any] | None) -> bool:
    """Tell whether the parameters of `initialize` offer the client's folders."""
    capabilities = (params or {}).get("capabilities")
    return isinstance(capabilities, Mapping) and capabilities.get("roots") is not None


async def folders(session: ServerSession) -> list[Path]:
    """Return the client's folders; none if it doesn't offer them or gives no answer in time."""
    params = session.client_params
    if params is None or params.capabilities.roots is None:
        return []
    try:
        with fail_after(FOLDER_SECONDS), warnings.catch_warnings():
            # the protocol of 2026-07-28 advises against it, but has nothing in its place
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            found = await session.list_roots()
    except (TimeoutError, MCPError) as error:
        _log.warning(
            "the client gave no answer to roots/list: %s", str(error) or "it took too long"
        )
        return []
    return [folder for root in found.roots[:_MOST] if (folder := _folder(str(root.uri)))]


def _folder(uri: str) -> Path | None:
    """Return the folder of a `file:` URI; None if it names no folder of this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        return None
    folder = Path(url2pathname(parts.path))
    return folder if folder.is_absolute() and folder.is_dir() else None
