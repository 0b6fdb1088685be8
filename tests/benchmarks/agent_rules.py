"""Whether an agent's program shows its model the rule that governs a task's file, and at what cost.

    npm install --prefix FOLDER @anthropic-ai/claude-code @openai/codex @google/gemini-cli @github/copilot
    unshare -rn sh -c 'ip link set lo up; python -m tests.benchmarks.agent_rules FOLDER'

Three repositories with 100 rules each are made, 20 of which are for one task's file; the real programs
are started in a trusted clone, with a stand-in for the model that only answers. Counted is whether
what the rule says is in the first request that has the prompt. A program that is not there is left
out, and named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from memory_bank.bank.embedder_choice import count_tokens

AREAS = [
    "billing",
    "shipping",
    "search",
    "auth",
    "catalog",
    "reports",
    "mail",
    "queue",
    "cache",
    "export",
    "ledger",
    "tax",
    "stock",
    "coupons",
    "profiles",
    "audit",
    "pricing",
    "returns",
    "webhooks",
    "import",
]

TOPICS = [
    "retries",
    "timeouts",
    "logging",
    "amounts",
    "identifiers",
    "transactions",
    "encodings",
    "pagination",
    "locks",
    "errors",
]

DEMANDS = (
    "must go through the shared gateway, never directly",
    "are capped at three attempts with jitter",
    "use integer cents and no floats",
    "are idempotent by request key",
    "never log personal data",
    "raise DomainError and nothing else",
    "are validated at the edge only",
    "run inside one transaction",
    "use UTC with explicit offsets",
    "are paged by cursor, not by offset",
)

PRACTICES = [
    "Reviews",
    "Releases",
    "Docs",
    "Tests",
    "Names",
    "Comments",
    "Branches",
    "Dashboards",
    "Alerts",
    "Migrations",
]

RULES, REPOSITORIES, SECONDS = 100, 3, 90

VARIANTS = ("none", "block", "hook", "both")

ANSWER = "All done."


class Task(NamedTuple):
    """A prompt that names a file, and what the rule for it says."""

    prompt: str
    demand: str


class Started(NamedTuple):
    """How a program is started: its words, and what is added to the environment."""

    words: tuple[str, ...]
    environment: dict[str, str]


def git(folder: Path, *words: str) -> str:
    """Run git in a folder."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def make(root: Path, seed: int) -> list[Task]:
    """Make a repository with rules, and commit it; return its tasks."""
    rnd = random.Random(seed)
    folder = root / ".memories/rules"
    folder.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    tasks = []
    for number, area in enumerate(AREAS):
        topic = TOPICS[(number + seed) % len(TOPICS)]
        file = root / f"src/{area}/{topic}.py"
        file.parent.mkdir(parents=True)
        file.write_text(f"def {topic}():\n    ...\n")
        scope = (f"src/{area}/**", f"src/{area}/*.py", f"src/{area}/{topic}.py")[number % 3]
        demand = f"{topic.title()} of {area} {DEMANDS[(number * 3 + seed) % len(DEMANDS)]}"
        (folder / f"{area}-{topic}.md").write_text(
            f'---\ntype: rule\napplies_to: ["{scope}"]\n---\n# {area.title()} {topic}\n\n'
            f"{demand}. This was agreed after an incident in spring.\n"
        )
        what = ("customers", "partners", "suppliers")[number % 3]
        where = file.relative_to(root)
        tasks.append(Task(f"Change {where} so that it also handles new {what}; test it.", demand))
    for number in range(RULES - len(tasks)):
        one, other = rnd.choice(PRACTICES), rnd.choice(TOPICS)
        (folder / f"general-{number:02d}.md").write_text(
            f"---\ntype: rule\n---\n# {one} and {other} {number}\n\n"
            f"{one} about {other} {rnd.choice(DEMANDS)} ({number}). The handbook says why.\n"
        )
    (root / ".memories/.gitignore").write_text(".index/\n.trash/\nsessions/\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Start")
    before = contents(root)
    for words in (("rules", "--write"), ("agents", "bundle")):
        memory_bank(root, *words)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Add the rules and the bundle")
    without(root, "none")
    assert contents(root) == before, "the rules and the bundle left something"
    git(root, "checkout", "-q", "--", ".")
    return tasks


def contents(root: Path) -> dict[str, bytes]:
    """Return the files of a work tree, without git's and derived ones."""
    found = (one for one in root.rglob("*") if one.is_file())
    return {
        str(one.relative_to(root)): one.read_bytes()
        for one in found
        if not {".git", ".index"} & {*one.relative_to(root).parts}
    }


def memory_bank(folder: Path, *words: str) -> None:
    """Run this program in a folder."""
    program = [sys.executable, "-P", "-m", "memory_bank"]
    subprocess.run([*program, *words], cwd=folder, check=True, capture_output=True)


def without(tree: Path, variant: str) -> None:
    """Take out of a work tree what a variant does not have."""
    if variant in {"none", "block"}:
        memory_bank(tree, "agents", "bundle", "--remove")
    if variant in {"none", "hook"}:
        memory_bank(tree, "rules", "--remove")


class Model(ThreadingHTTPServer):
    """A stand-in for the model: it answers each protocol by one sentence, and keeps the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """List one model."""
        self._say({"object": "list", "data": [{"id": "mock", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        """Keep a request, and answer it."""
        body = self._body()
        self.server.asked.append(body.decode("utf-8", "replace"))
        asked = json.loads(body or b"{}")
        if "count" in self.path:
            self._say({"input_tokens": 10, "totalTokens": 10})
        elif "/v1/messages" in self.path:
            self._say_events(_anthropic(asked.get("model", "")), named=True)
        elif self.path.endswith("/responses"):
            self._say_events(_responses(), named=True)
        elif "chat/completions" in self.path:
            self._say_events(_chat(), named=False)
        else:
            found = {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "index": 0}
            answer = {"candidates": [{**found, "finishReason": "STOP"}]}
            if "stream" in self.path:
                self._say_events([answer], named=False)
            else:
                self._say(answer)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        found = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def _say(self, answer: object, kind: str = "application/json") -> None:
        data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _say_events(self, events: Sequence[Mapping[str, Any]], *, named: bool) -> None:
        lines = (
            (f"event: {one['type']}\n" if named else "") + f"data: {json.dumps(one)}\n\n"
            for one in events
        )
        self._say("".join(lines), "text/event-stream")


def _anthropic(model: str) -> list[dict[str, Any]]:
    usage = {"input_tokens": 100, "output_tokens": 20}
    message: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    text = {"type": "text", "text": ""}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": text},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": ANSWER},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]


def _responses() -> list[dict[str, Any]]:
    said = {"type": "output_text", "text": ANSWER, "annotations": []}
    item = {
        "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [said],
    }  # fmt: skip
    usage = {
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120,
    }  # fmt: skip
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
    ]


def _chat() -> list[dict[str, Any]]:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    said, end = {"role": "assistant", "content": ANSWER}, {"index": 0, "delta": {}}
    return [
        {**base, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        {**base, "choices": [{**end, "finish_reason": "stop"}], "usage": usage},
    ]


@contextmanager
def answering() -> Iterator[Model]:
    """Run the stand-in for the model."""
    with Model() as model:
        thread = threading.Thread(target=model.serve_forever, daemon=True)
        thread.start()
        try:
            yield model
        finally:
            model.shutdown()


def claude(modules: Path, home: Path, tree: Path, url: str, prompt: str) -> Started:
    """Start Claude Code in a folder that is trusted."""
    own = {
        "hasCompletedOnboarding": True,
        "projects": {str(tree): {"hasTrustDialogAccepted": True}},
    }
    _written(home / ".claude/.claude.json", json.dumps(own))
    words = (_built(modules, "@anthropic-ai", "claude-code-*", "claude"), "-p", prompt)
    return Started(
        (*words, "--model", "claude-sonnet-5", "--output-format", "json"),
        {
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        },
    )


def codex(modules: Path, home: Path, tree: Path, url: str, prompt: str) -> Started:
    """Start Codex in a project that is trusted."""
    _written(
        home / ".codex/config.toml",
        'model_provider = "mock"\nmodel = "mock"\n[model_providers.mock]\nname = "mock"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\n'
        f'[projects."{tree}"]\ntrust_level = "trusted"\n',
    )
    script = _there(modules / "@openai/codex/bin/codex.js")
    words = ("node", script, "exec", "--sandbox", "read-only", prompt)
    return Started(words, {"CODEX_HOME": str(home / ".codex")})


def codex_approved(modules: Path, home: Path, tree: Path, url: str, prompt: str) -> Started:
    """Start Codex as if its hooks had been approved."""
    found = codex(modules, home, tree, url, prompt)
    return found._replace(words=(*found.words, "--dangerously-bypass-hook-trust"))


def gemini(modules: Path, home: Path, tree: Path, url: str, prompt: str) -> Started:
    """Start Gemini CLI in a folder that is trusted."""
    own = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    _written(home / ".gemini/settings.json", json.dumps(own))
    script = _there(modules / "@google/gemini-cli/bundle/gemini.js")
    return Started(
        ("node", script, "-p", prompt, "-y", "-m", "gemini-2.5-pro"),
        {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
    )


def copilot(modules: Path, home: Path, tree: Path, url: str, prompt: str) -> Started:
    """Start Copilot CLI in a folder that is trusted."""
    words = (_built(modules, "@github", "copilot-*", "copilot"), "-p", prompt)
    return Started(
        (*words, "--allow-all-tools", "--no-color", "--trust-folder"),
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": "mock",
            "COPILOT_AUTO_UPDATE": "false",
        },
    )


Starter = Callable[[Path, Path, Path, str, str], Started]

PROGRAMS: dict[str, Starter] = {
    "claude": claude, "codex": codex, "codex, hooks approved": codex_approved, "gemini": gemini,
    "copilot": copilot,
}  # fmt: skip


def _written(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _there(file: Path) -> str:
    if not file.is_file():
        raise FileNotFoundError(file)
    return str(file)


def _built(modules: Path, scope: str, package: str, name: str) -> str:
    """Return the program of a package for this platform."""
    for file in sorted((modules / scope).glob(f"{package}/{name}")):
        return str(file)
    raise FileNotFoundError(f"{modules}/{scope}/{package}/{name}")


class Result(NamedTuple):
    """What was seen of a program in a variant."""

    found: int
    tasks: int
    tokens: int
    """Of the first request, the median."""
    changed: str
    """What git says changed in the clone."""


def measured(
    start: Starter, modules: Path, repositories: Sequence[tuple[Path, list[Task]]], variant: str,
    number: int, work: Path,
) -> Result:  # fmt: skip
    """Run a program on tasks of all repositories, one after the other, each in the next one."""
    found, sizes, changed = 0, [], ""
    for at in range(REPOSITORIES):
        repository, tasks = repositories[at]
        place = Path(tempfile.mkdtemp(dir=work))  # a program may still write into the one before
        tree, home = place / "tree", place / "home"
        git(work, "clone", "-q", str(repository), str(tree))
        without(tree, variant)
        before = git(tree, "status", "--short")
        for task in tasks[at:number:REPOSITORIES]:
            first = asked_first(start, modules, home, tree, task.prompt)
            found += task.demand in first
            sizes += count_tokens([first])
        if (after := git(tree, "status", "--short")) != before:
            changed += after
    return Result(found, len(sizes), round(statistics.median(sizes or [0])), changed)


def asked_first(start: Starter, modules: Path, home: Path, tree: Path, prompt: str) -> str:
    """Return the first request of a program that has the prompt; empty if there is none."""
    with answering() as model:
        started = start(modules, home, tree, model.url, prompt)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CLAUDE", "XDG_", "MEMORY_BANK"))
        }
        folders = {"HOME": str(home), "XDG_STATE_HOME": str(home / "s")}
        try:
            subprocess.run(
                started.words, cwd=tree, env={**kept, **folders, **started.environment},
                stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"  no end after {SECONDS} s: {prompt}", file=sys.stderr)
        return next((one for one in model.asked if prompt in one), "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each program and variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where npm installed the programs")
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--only", choices=[*PROGRAMS], action="append")
    parser.add_argument("--variant", choices=VARIANTS, action="append")
    chosen = parser.parse_args(arguments)
    if chosen.folder is None or not (chosen.folder / "node_modules").is_dir():
        print("no programs of agents are there: nothing is measured")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        work = Path(name).resolve()
        repositories = []
        for number in range(REPOSITORIES):
            root = work / f"r{number}"
            root.mkdir()
            repositories.append((root, make(root, number)))
        for program in chosen.only or PROGRAMS:
            for variant in chosen.variant or VARIANTS:
                few = 3 if variant == "none" else chosen.tasks
                try:
                    seen = measured(
                        PROGRAMS[program], chosen.folder / "node_modules", repositories, variant,
                        few, work,
                    )  # fmt: skip
                except FileNotFoundError as error:
                    print(f"{program}: not there: {error}", flush=True)
                    break
                print(
                    f"{program:24}{variant:8}{seen.found:3} of {seen.tasks:2}"
                    f"{seen.tokens:9,} tokens  {seen.changed or 'git clean'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
