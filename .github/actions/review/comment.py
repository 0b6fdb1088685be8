"""Write a file as a comment on a pull request, or update the comment that has the same first line.

A file with nothing but that line is no comment: an old one is deleted.

From the environment: COMMENT (the file), NUMBER (the pull request), AUTHOR (only its comments are
updated, since anyone can write the first line), TOKEN, GITHUB_API_URL, GITHUB_REPOSITORY. Standard
library only; redirects are refused, so that the token goes to no other host.
"""

from __future__ import annotations

import json
import os
import sys
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

_TIMEOUT = 30
_PAGE = 100
_PAGES = 50
_FORBIDDEN = frozenset({401, 403, 404})


class NoRedirects(HTTPRedirectHandler):
    """Refuse redirects."""

    def redirect_request(self, *_: object) -> None:
        """Follow none."""


class Comments:
    """The comments of a pull request."""

    def __init__(self, api: str, repository: str, number: int, token: str) -> None:
        """Keep where they are, and the token."""
        self._issues = f"{api.rstrip('/')}/repos/{repository}/issues"
        self._number = number
        self._token = token
        self._opener = build_opener(NoRedirects)

    def write(self, text: str, author: str) -> str:
        """Update the author's comment of the same first line, or add or delete it; return which."""
        marker, _, rest = text.partition("\n")
        for page in range(1, _PAGES + 1):
            path = f"{self._number}/comments?per_page={_PAGE}&page={page}"
            found = self._ask("GET", path)
            for one in found:
                is_ours = (one.get("user") or {}).get("login") == author
                lines = (one.get("body") or "").splitlines()
                if is_ours and lines[:1] == [marker]:
                    place = f"comments/{int(one['id'])}"
                    if not rest.strip():
                        self._ask("DELETE", place)
                        return "deleted"
                    self._ask("PATCH", place, {"body": text})
                    return "updated"
            if len(found) < _PAGE:
                break
        if not rest.strip():
            return "not needed"
        self._ask("POST", f"{self._number}/comments", {"body": text})
        return "created"

    def _ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401  (JSON)
        request = Request(  # noqa: S310  (the API of the runner)
            f"{self._issues}/{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "memory-bank",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        with self._opener.open(request, timeout=_TIMEOUT) as answer:
            return json.loads(answer.read() or b"null")


def main() -> int:
    """Write the comment; a token without that right is a warning, any other failure an error."""
    given = os.environ
    text = Path(given["COMMENT"]).read_text(encoding="utf-8")
    comments = Comments(
        given["GITHUB_API_URL"], given["GITHUB_REPOSITORY"], int(given["NUMBER"]), given["TOKEN"]
    )
    try:
        done = comments.write(text, given["AUTHOR"])
    except HTTPError as error:
        level = "warning" if error.code in _FORBIDDEN else "error"
        hint = "; the job needs `permissions: pull-requests: write`" if level == "warning" else ""
        say(f"::{level} title=memory-bank::the comment was not written: HTTP {error.code}{hint}")
        return int(level == "error")
    except (OSError, HTTPException, ValueError) as error:
        say(f"::error title=memory-bank::the comment was not written: {type(error).__name__}")
        return 1
    say(f"The comment was {done}.")
    return 0


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
