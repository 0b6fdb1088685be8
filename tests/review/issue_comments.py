"""An HTTP server that stands for GitHub's comments on pull requests."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

BOT = "github-actions[bot]"


class Comments:
    """Comments of one pull request, and what was asked."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.tokens: set[str | None] = set()
        self.refused: int | None = None
        """The status of every answer, if writing is refused."""
        self.drops = False
        """Whether connections are closed without an answer."""
        self.url = ""

    def add(self, body: str, login: str = BOT) -> None:
        self.found.append({"id": len(self.found) + 1, "body": body, "user": {"login": login}})

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        url = urlsplit(path)
        self.asked.append(f"{method} {url.path}")
        if self.refused and method != "GET":
            return self.refused, {"message": "Resource not accessible by integration"}
        if url.path == "/repos/shop/project/issues/7/comments":
            if method == "POST":
                self.add(body["body"])
                return 201, self.found[-1]
            asked = {key: int(value[0]) for key, value in parse_qs(url.query).items()}
            start = (asked["page"] - 1) * asked["per_page"]
            return 200, self.found[start : start + asked["per_page"]]
        one = re.fullmatch(r"/repos/shop/project/issues/comments/(\d+)", url.path)
        if one and method == "PATCH":
            self.found[int(one[1]) - 1]["body"] = body["body"]
            return 200, self.found[int(one[1]) - 1]
        if one and method == "DELETE":
            self.found = [comment for comment in self.found if comment["id"] != int(one[1])]
            return 204, None
        return 404, {"message": "Not Found"}


@contextmanager
def served() -> Iterator[Comments]:
    """Serve comments on this machine."""
    comments = Comments()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            comments.tokens.add(self.headers.get("Authorization"))
            if comments.drops:
                return
            status, found = comments.answer(self.command, self.path, body)
            data = b"" if status == 204 else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815  (their names in the library)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    comments.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield comments
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
