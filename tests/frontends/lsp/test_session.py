"""The session of the protocol in session.md is what a server says now.

With UPDATE_TRANSCRIPTS=1, the page is written anew.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.frontends.cli.conftest import command, environment
from tests.frontends.lsp.client import position, uri
from tests.frontends.lsp.conftest import NOTES, make_project

PAGE = Path(__file__).parent / "session.md"
_NOTE = ".memories/decisions/tantivy.md"
_TEXT = NOTES[_NOTE].replace("## Consequences", "Not saved yet: [[bm\n\n## Consequences")
_CAN = {
    "workspace": {"workspaceEdit": {"documentChanges": True, "resourceOperations": ["rename"]}},
}
_INTRODUCTION = """\
# A session of the protocol

What an editor and `memory-bank serve lsp` say to each other: `-->` is the editor, `<--` the server. A test records it, and
fails if a server says something else. The editor has opened `decisions/tantivy.md` and typed a line that is not saved:

```markdown
{text}```
"""
_SAID = {
    "initialize": "The editor says hello. The server answers what it can do, before it opens a bank.",
    "textDocument/completion": "Completion behind the `[[bm` that was typed.",
    "textDocument/definition": "The cursor is on `[[facts/bm25#Ranks]]`: its section is on line 5, which is 4 here.",
    "textDocument/hover": "What is there.",
    "textDocument/references": "From the title of `facts/bm25.md`: what links to the note. Columns count UTF-16 units.",
    "textDocument/rename": "The note behind the link gets a new name: its file moves, and links to it change.",
    "shutdown": "The editor leaves.",
}


class Wire:
    """A server, and what it and the client said."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.asked = 0

    def tell(self, method: str, params: Any, number: int | None = None) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()
        return message

    def ask(self, method: str, params: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self.asked += 1
        message = self.tell(method, params, self.asked)
        while (answer := self.read()).get("id") != self.asked:
            pass  # a notification: when it comes depends on the machine
        return message, answer

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name == b"Content-Length" else length
        found: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return found


def recorded(root: Path, process: subprocess.Popen[bytes]) -> str:
    wire = Wire(process)
    note, other = uri(root / _NOTE), uri(root / ".memories/facts/bm25.md")
    said = [
        wire.ask(
            "initialize",
            {
                "processId": None,
                "capabilities": _CAN,
                "workspaceFolders": [{"uri": uri(root), "name": "project"}],
                "rootUri": None,
            },
        )
    ]
    wire.tell("initialized", {})
    document = {"uri": note, "languageId": "markdown", "version": 1, "text": _TEXT}
    wire.tell("textDocument/didOpen", {"textDocument": document})

    def at(mark: str, inside: int) -> dict[str, Any]:
        found = position(_TEXT, mark, inside)
        place = {"line": found.line, "character": found.character}
        return {"textDocument": {"uri": note}, "position": place}

    link = at("[[facts/bm25#Ranks", 4)
    while not wire.ask("textDocument/definition", link)[1]["result"]:
        pass  # the notes are not indexed yet
    wire.asked = 1
    said += [
        wire.ask("textDocument/completion", at("[[bm", 4)),
        wire.ask("textDocument/definition", link),
        wire.ask("textDocument/hover", link),
        wire.ask(
            "textDocument/references",
            {
                "textDocument": {"uri": other},
                "position": {"line": 0, "character": 3},
                "context": {"includeDeclaration": False},
            },
        ),
        wire.ask("textDocument/rename", {**link, "newName": "facts/okapi"}),
        wire.ask("shutdown", None),
    ]
    wire.tell("exit", None)
    assert process.wait(60) == 0
    parts = [_INTRODUCTION.format(text=_TEXT)]
    for asked, answer in said:
        parts.append(
            f"\n{_SAID[asked['method']]}\n\n```jsonc\n{_shown('-->', asked)}{_shown('<--', answer)}```\n"
        )
    return "".join(parts).replace(uri(root), "file:///project")


def _shown(arrow: str, message: dict[str, Any]) -> str:
    kept = {key: value for key, value in message.items() if key != "jsonrpc"}
    text = json.dumps(kept, ensure_ascii=False, indent=1)
    lines = text if len(text) > 2_000 else json.dumps(kept, ensure_ascii=False)
    return f"// {arrow}\n{lines}\n"


def test_the_recorded_session_is_current(tmp_path: Path, ending: Callable[..., Any]) -> None:
    root = make_project(tmp_path / "project")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    words = command(["serve", "lsp"])
    found = recorded(root, ending(subprocess.Popen(words, cwd=root, env=environment(), **pipes)))
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        PAGE.write_text(found, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == found
