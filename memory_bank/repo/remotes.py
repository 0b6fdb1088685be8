"""The remotes of a repository."""

from __future__ import annotations

from pathlib import Path

from memory_bank.repo.git_process import read

_MOST = 100_000
_FIRST = "origin"


def remote_url(tree: Path) -> str:
    """Return the URL of the remote `origin`, else of the only remote; empty if there is none.

    It may have a password.
    """
    found = read(tree, "config", "-z", "--get-regexp", r"^remote\..*\.url$", most=_MOST) or b""
    urls: dict[str, str] = {}
    for entry in found.decode("utf-8", "replace").split("\0"):
        key, _, url = entry.partition("\n")
        if url:
            urls.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    if _FIRST in urls:
        return urls[_FIRST]
    return next(iter(urls.values())) if len(urls) == 1 else ""
