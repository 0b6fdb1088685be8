"""Calls of tools, read alike whichever client made them: kind, files, command, outcome."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

from memory_bank.base.text import estimate
from memory_bank.sessions.compression import definitions, edits
from memory_bank.sessions.compression.definitions import Paths, rule
from memory_bank.sessions.compression.edits import FileChange, between, of_patch
from memory_bank.sessions.queue_rows import MESSAGE, Event

Kind = Literal["edit", "read", "search", "command", "plan", "agent", "fetch", "message", "other"]

_MOST_TEXT, _DEEPEST = 400_000, 5


@dataclass(frozen=True, eq=False)
class ToolCall:
    """One event as a call of a tool."""

    event: Event
    kind: Kind
    arguments: Mapping[str, Any]
    answer: Any
    """The output, parsed if it is JSON."""

    @cached_property
    def command(self) -> str:
        """The command line of a shell."""
        for key in _keys("command"):
            given = self.arguments.get(key)
            if isinstance(given, str):
                return given
            if isinstance(given, list) and given:
                words = [str(word) for word in given[:1000]]
                script = len(words) > 1 and bool(re.fullmatch(r"-[a-z]{0,3}c", words[-2]))
                return words[-1] if script else shlex.join(words)
        return ""

    @cached_property
    def path(self) -> str:
        """The file or folder that is named first; empty if none."""
        return _first(self.arguments, _keys("path")).removeprefix("file://")

    @cached_property
    def words(self) -> str:
        """What is looked for or asked: a pattern, a URL, a question."""
        return _first(self.arguments, _keys("wanted"))

    @cached_property
    def output(self) -> str:
        """The output as text, without what clients wrap it in."""
        text = "\n".join(_texts(self.answer, 0))
        return rule("wrapping").sub("", text[:_MOST_TEXT]).strip("\n")

    @cached_property
    def exit_code(self) -> int | None:
        """The exit code of a command; None if the client doesn't say it."""
        found = _code(self.answer)
        if found is None:
            text = "\n".join(_texts(self.answer, 0))
            stated = rule("exit_code").search(text[:2000]) or rule("exit_code").search(text[-2000:])
            if stated is not None:
                found = int(next(filter(None, stated.groups())))
        return found

    @cached_property
    def failed(self) -> bool:
        """Tell whether the client or the exit code says that it failed."""
        error = self.answer.get("error") if isinstance(self.answer, dict) else None
        return self.event.failed or bool(error) or self.exit_code not in (None, 0)

    @cached_property
    def changes(self) -> tuple[FileChange, ...]:
        """What it changed in files, unless it failed."""
        if self.kind != "edit" or self.failed:
            return ()
        return tuple(_changes(self))

    def changed(self, paths: Paths) -> Iterator[str]:
        """Yield the files that it changed, as observations name them."""
        for change in self.changes:
            for path in filter(None, (change.path, change.moved_to)):
                yield paths.shown(path, self.event.cwd)

    @property
    def open_steps(self) -> list[str] | None:
        """The open steps of a plan; None if it has no plan."""
        given = map(self.arguments.get, ("todos", "plan", "items", "todoList"))
        plan = next((one for one in given if isinstance(one, list)), None)
        if plan is None:
            return None
        steps = [one for one in plan[:100] if isinstance(one, dict)]
        named = ("content", "step", "title", "description", "text")
        found = ((_first(one, named), _first(one, ("status", "state"))) for one in steps)
        closed = ("completed", "done", "complete", "cancelled")
        return [step for step, status in found if step and status.casefold() not in closed]


def tokens(event: Event) -> int:
    """Return the estimated tokens of an event."""
    return estimate(event.tool_input) + estimate(event.tool_output)


def read(event: Event) -> ToolCall:
    """Return an event as a call of a tool."""
    found = _parsed(event.tool_input)
    arguments = found if isinstance(found, dict) else {"input": event.tool_input}
    if event.tool_name == MESSAGE:
        return ToolCall(event, "message", arguments, event.tool_output)
    name = event.tool_name.rpartition(".")[2]
    found = definitions.lists("tools").get(re.sub(r"[^a-z]", "", name.casefold()), "other")
    kind = cast("Kind", found)
    if name.startswith(("mcp_", "MCP:", "mcp-")):
        kind = "other"
    patch = _patch(arguments)
    if edits.is_patch(patch):
        kind = "edit"
    elif kind == "edit" and arguments.get("command") == "view":
        kind = "read"
    elif kind == "agent" and _first(arguments, _keys("command")):
        kind = "command"
    return ToolCall(event, kind, arguments, _parsed(event.tool_output))


def _parsed(text: str) -> object:
    """Return a JSON value, twice parsed if a client sends JSON in a JSON string; else the text."""
    found: object = text
    for _ in range(2):
        if not isinstance(found, str) or found.lstrip()[:1] not in ("{", "[", '"'):
            break
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            break
    return found


def _keys(name: str) -> Collection[str]:
    return definitions.words("keys", name)


def _first(values: Mapping[str, Any], keys: Collection[str]) -> str:
    for key in keys:
        found = values.get(key)
        if isinstance(found, str) and found:
            return found
    return ""


def _texts(value: object, depth: int) -> Iterator[str]:
    """Yield the texts of an output: a string, or what the known keys of objects hold."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for item in value[:5000]:
            yield from _texts(item, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        seen = set[str]()
        for key in _keys("output"):
            for text in _texts(value.get(key), depth + 1):
                if text not in seen:
                    seen.add(text)
                    yield text


def _code(value: object) -> int | None:
    """Return the exit code that an object holds, itself or in its metadata."""
    if not isinstance(value, dict):
        return None
    for key in _keys("code"):
        found = value.get(key)
        if isinstance(found, int) and not isinstance(found, bool):
            return found
    return _code(value.get("metadata")) if isinstance(value.get("metadata"), dict) else None


def _patch(arguments: Mapping[str, Any]) -> str:
    keys = ("patch", "patchText", "input", "patch_text", "diff", *_keys("command"))
    return next((text for key in keys if edits.is_patch(text := _first(arguments, (key,)))), "")


def _changes(call: ToolCall) -> Iterator[FileChange]:
    arguments, answer = call.arguments, call.answer
    patch = _patch(arguments)
    if patch:
        yield from of_patch(patch)
        return
    listed = arguments.get("changes") or (isinstance(answer, dict) and answer.get("changes"))
    if isinstance(listed, dict):
        yield from _listed(listed)
        return
    edits = arguments.get("edits") or arguments.get("replacements")
    if isinstance(edits, list):
        for edit in edits[:1000]:
            if isinstance(edit, dict):
                path = _first(edit, _keys("path")) or call.path
                yield between(path, _first(edit, _keys("old")), _first(edit, _keys("new")))
    elif call.path:
        yield _change(call)


def _change(call: ToolCall) -> FileChange:
    """Return the change of the file that a call names."""
    arguments, path = call.arguments, call.path
    if "delete" in call.event.tool_name.casefold() or "remove" in call.event.tool_name.casefold():
        return FileChange(path, "delete")
    answer = call.answer if isinstance(call.answer, dict) else {}
    lines = _hunks(answer.get("structuredPatch"))
    old, new = _first(arguments, _keys("old")), _first(arguments, _keys("new"))
    if old or new:
        return edits.between(path, old, new, "update" if old else _written(call, "update"))
    whole = _first(arguments, _keys("content"))
    action = _written(call, "add")
    before = answer.get("originalFile")
    if isinstance(before, str):
        return edits.between(path, before, whole, action)
    if lines and action == "update":
        return edits.of_lines(path, lines, action)
    if not any(isinstance(arguments.get(key), str) for key in _keys("content")):
        return FileChange(path, "update")  # the event does not say what was written
    return edits.between(path, "", whole, action)


def _written(call: ToolCall, unsaid: edits.Action) -> edits.Action:
    """Tell whether a file was new, if the client says so."""
    answer = call.answer if isinstance(call.answer, dict) else {}
    for place in (answer, answer.get("metadata"), answer.get("returnDisplay")):
        said = place if isinstance(place, dict) else {}
        known = said.get("type"), said.get("isNewFile"), said.get("exists")
        if known[0] == "create" or known[1] is True or known[2] is False:
            return "add"
        if known[0] == "update" or known[1] is False or known[2] is True:
            return "update"
    return unsaid


def _hunks(patch: object) -> list[str]:
    """Return the lines of the hunks of a structured patch."""
    found = list[str]()
    for hunk in patch[:1000] if isinstance(patch, list) else ():
        lines = hunk.get("lines") if isinstance(hunk, dict) else None
        found += [str(line) for line in lines] if isinstance(lines, list) else []
    return found


def _listed(listed: Mapping[str, Any]) -> Iterator[FileChange]:
    """Yield changes that a client lists by path, as in Codex's file changes."""
    for path, given in list(listed.items())[:1000]:
        change = given if isinstance(given, dict) else {}
        kind, moved = _first(change, ("type", "kind")), _first(change, ("move_path",))
        diff = _first(change, ("unified_diff", "diff", "content"))
        if kind in ("add", "delete") and not diff.startswith(("@@", "---")):
            sides = ("", diff) if kind == "add" else (diff, "")
            yield edits.between(path, *sides, "add" if kind == "add" else "delete")
        else:
            found = edits.of_lines(path, diff.splitlines()[:20_000], "move" if moved else "update")
            yield replace(found, moved_to=moved)
