"""A model for a test: it answers a program's requests with a plan of tool calls, on loopback only.

    python -m tests.agents.hooks.programs.mock_model PLAN LOG PROGRAM WORDS...

PLAN is a JSON list of `[tool, arguments]`, or null for a text; a conversation with N answers so far
gets the one at N, then texts. One that is not offered the plan's first tool gets the text: it asks for a title, or
belongs to a subagent. Every request is appended to LOG as a line of JSON. The program is run with
`MODEL_URL` replaced by the model's address in its words and its environment; where the system
allows it, this all runs in a network of its own that has nothing but loopback (`isolated`).
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from tests.agents.hooks.programs.dialects import DIALECTS, Answer, Dialect, Json, Plan, ToolCall

URL = "MODEL_URL"
"""Stands for the model's address."""


class Model(ThreadingHTTPServer):
    """A model with a plan, and a log of what it was asked."""

    daemon_threads = True

    def __init__(self, plan: Plan, log: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plan = plan
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._log = log
        self._numbers = count(1)
        self._lock = Lock()

    def reply(self, address: str, request: Json) -> Answer:
        """Write a request down and answer it."""
        with self._lock, self._log.open("a", encoding="utf-8") as log:
            number = next(self._numbers)
            log.write(json.dumps({"address": address, "request": request}) + "\n")
        for dialect in DIALECTS:
            if dialect.path in address:
                return dialect.answer(address, request, self._next_call(dialect, request), number)
        models = [{"id": "mock", "object": "model"}]
        return Answer("application/json", json.dumps({"object": "list", "data": models}))

    def _next_call(self, dialect: Dialect, request: Json) -> ToolCall | None:
        first = next(filter(None, self.plan), None)
        if first is None or first.name not in dialect.tools(request):
            return None
        done = dialect.turns(request)
        return self.plan[done] if done < len(self.plan) else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def do_HEAD(self) -> None:
        self._send(Answer("application/json", ""))

    def do_GET(self) -> None:
        self._send(self.server.reply(self.path, {}))

    def do_POST(self) -> None:
        body = self._body()
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self._send(self.server.reply(self.path, json.loads(body or b"{}")))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, answer: Answer) -> None:
        data = answer.text.encode()
        self.send_response(200)
        self.send_header("content-type", answer.content_type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep quiet: the log is for the requests."""


def isolated() -> list[str]:
    """Return words that run a command in a network of its own; empty where that is not allowed."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return []
    alone = ["unshare", "--net", *(["--map-root-user"] if os.geteuid() else [])]
    words = [*alone, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    tried = subprocess.run([*words, "true"], capture_output=True, check=False)
    return [] if tried.returncode else words


def main(plan: str, log: str, *words: str) -> int:
    """Run a program with a model; return its exit code."""
    calls = [call and ToolCall(*call) for call in json.loads(Path(plan).read_text())]
    with Model(calls, Path(log)) as model:
        Thread(target=model.serve_forever, daemon=True).start()
        environment = {name: value.replace(URL, model.url) for name, value in os.environ.items()}
        command = [word.replace(URL, model.url) for word in words]
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False)
        model.shutdown()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
