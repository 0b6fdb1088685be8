"""The ways into a bank that the torture uses: the library, the command line, an agent's client."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.memory.edit import append, update
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from memory_bank.memory.trash import delete
from tests.frontends.mcp.answers import unquoted

SETTINGS = {"memory.embedder": "none"}


class Refused(Exception):
    """What was asked for was refused for a reason that a caller can act on."""


class Door(Protocol):
    """One way to work on a bank."""

    def create(self, name: str, text: str) -> None: ...
    def append(self, name: str, text: str) -> None: ...
    def read(self, name: str) -> tuple[str, str]:
        """Return the etag and the body of a note."""

    def update(self, name: str, text: str, etag: str) -> None: ...
    def rename(self, name: str, new: str) -> None: ...
    def delete(self, name: str) -> None: ...
    def search(self, words: str) -> tuple[list[str], str]:
        """Return the sections found, and what made the answer poorer."""

    def close(self) -> None: ...


class Library:
    """The Python API."""

    def __init__(self, folder: Path) -> None:
        self.bank = open_bank(folder, settings=SETTINGS)

    def _do(self, action: Any, *words: Any, **named: Any) -> Any:
        try:
            return action(self.bank, *words, **named)
        except MemoryBankError as error:
            raise Refused(error.code, error.message) from error

    def create(self, name: str, text: str) -> None:
        self._do(remember, text, name=name)

    def append(self, name: str, text: str) -> None:
        self._do(append, name, text)

    def read(self, name: str) -> tuple[str, str]:
        found = self._do(show, name)
        return found.etag, found.body

    def update(self, name: str, text: str, etag: str) -> None:
        self._do(update, name, text, if_match=etag)

    def rename(self, name: str, new: str) -> None:
        self._do(rename, name, new)

    def delete(self, name: str) -> None:
        self._do(delete, name)

    def search(self, words: str) -> tuple[list[str], str]:
        found = self._do(recall, words, 20, "lexical", count_access=False)
        return [note.content for note in found.notes], found.problem or ""

    def close(self) -> None:
        self.bank.close()


class CommandLine:
    """One process for each command."""

    def __init__(self, folder: Path) -> None:
        self._words = [sys.executable, "-m", "memory_bank", "--json", "--bank", str(folder)]
        self._env = {**os.environ, "MEMORY_BANK_EMBEDDER": "none"}

    def _do(self, *words: str, text: str | None = None) -> Any:
        done = subprocess.run(
            [*self._words, *words], input=text, capture_output=True, text=True, check=False,
            env=self._env,
        )  # fmt: skip
        if "Traceback" in done.stderr or done.returncode < 0:
            raise RuntimeError(f"{words}: {done.returncode}\n{done.stderr}")
        if done.returncode and done.stderr.startswith("{"):
            error = json.loads(done.stderr)
            raise Refused(error["error"]["code"], error["error"]["message"])
        return json.loads(done.stdout) if done.stdout else {}

    def create(self, name: str, text: str) -> None:
        self._do("remember", "--name", name, "-", text=text)

    def append(self, name: str, text: str) -> None:
        self._do("append", name, text)

    def read(self, name: str) -> tuple[str, str]:
        found = self._do("show", name)
        return found["etag"], found["body"]

    def update(self, name: str, text: str, etag: str) -> None:
        self._do("update", name, "--if-match", etag, "-", text=text)

    def rename(self, name: str, new: str) -> None:
        self._do("mv", name, new)

    def delete(self, name: str) -> None:
        self._do("rm", name)

    def search(self, words: str) -> tuple[list[str], str]:
        found = self._do("recall", "--mode", "lexical", "--limit", "20", words)
        return [note["content"] for note in found["notes"]], found.get("problem") or ""

    def close(self) -> None:
        """Nothing stays open."""


class Agent:
    """An MCP client whose server is a process of its own, over stdio."""

    def __init__(self, folder: Path) -> None:
        from anyio.from_thread import start_blocking_portal
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client

        words = ["-m", "memory_bank", "--bank", str(folder), "serve", "mcp", "--structured"]
        env = {**os.environ, "MEMORY_BANK_EMBEDDER": "none"}
        server = StdioServerParameters(command=sys.executable, args=words, env=env)
        self._stack = ExitStack()
        # one task enters and leaves the client, as anyio asks for
        self._portal = self._stack.enter_context(start_blocking_portal())
        whole = self._portal.wrap_async_context_manager(Client(stdio_client(server)))
        self._client = self._stack.enter_context(whole)

    def _do(self, tool: str, **given: Any) -> Any:
        answer = self._portal.call(self._client.call_tool, tool, given)
        said = answer.content[0].text if answer.content else ""
        if answer.is_error:
            if "Error executing tool" in said and "etag" not in said and "note" not in said:
                raise RuntimeError(said)
            raise Refused(_code(said), said)
        return unquoted(answer.structured_content)

    def create(self, name: str, text: str) -> None:
        self._do("create_memory", filename=name, content=text, tags=[])

    def append(self, name: str, text: str) -> None:
        self._do("append_memory", filename=name, content=text)

    def read(self, name: str) -> tuple[str, str]:
        found = self._do("read_memory", filename=name)
        return found["etag"], found["content"]

    def update(self, name: str, text: str, etag: str) -> None:
        self._do("update_memory", filename=name, content=text, if_match=etag)

    def rename(self, name: str, new: str) -> None:
        self._do("rename_memory", filename=name, new_filename=new)

    def delete(self, name: str) -> None:
        self._do("delete_memory", filename=name)

    def search(self, words: str) -> tuple[list[str], str]:
        found = self._do("search_memories", query=words, limit=20)
        return [note["content"] for note in found["notes"]], found.get("problem") or ""

    def close(self) -> None:
        self._stack.close()


def _code(said: str) -> str:
    if "changed since it was read" in said or "being written" in said:
        return "conflict"
    return "note_exists" if "exists already" in said else "note_not_found"
