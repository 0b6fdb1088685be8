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
from memory_bank.sessions.compression import edits, sentences
from memory_bank.sessions.compression.edits import (
    FileChange,
    Paths,
    changes_from_patch,
    compare_texts,
)
from memory_bank.sessions.compression.sentences import compile_rule
from memory_bank.sessions.queue_rows import MESSAGE
from memory_bank.sessions.records import Event

Kind = Literal["edit", "read", "search", "command", "plan", "agent", "fetch", "message", "other"]

# Of what a tool was given and said.
_MOST_TEXT, _DEEPEST = 400_000, 5


@dataclass(frozen=True, eq=False)
class ParsedCall:
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
            argument = self.arguments.get(key)
            if isinstance(argument, str):
                return argument
            if isinstance(argument, list) and argument:
                words = [str(word) for word in argument[:1000]]
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
        return compile_rule("wrapping").sub("", text[:_MOST_TEXT]).strip("\n")

    @cached_property
    def exit_code(self) -> int | None:
        """The exit code of a command; None if the client doesn't say it."""
        code = _code(self.answer)
        if code is None:
            text = "\n".join(_texts(self.answer, 0))
            stated = compile_rule("exit_code").search(text[:2000]) or compile_rule(
                "exit_code"
            ).search(text[-2000:])
            if stated is not None:
                code = int(next(filter(None, stated.groups())))
        return code

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
        argument = map(self.arguments.get, ("todos", "plan", "items", "todoList"))
        plan = next(
            (part for part in argument if isinstance(part, list)),
            None,
        )
        if plan is None:
            return None
        steps = [step for step in plan[:100] if isinstance(step, dict)]
        texts = ("content", "step", "title", "description", "text")
        firsts = ((_first(step, texts), _first(step, ("status", "state"))) for step in steps)
        closed = ("completed", "done", "complete", "cancelled")
        return [step for step, status in firsts if step and status.casefold() not in closed]


def estimate_tokens(event: Event) -> int:
    """Return the estimated tokens of an event."""
    return estimate(event.tool_input) + estimate(event.tool_output)


def read(event: Event) -> ParsedCall:
    """Return an event as a call of a tool."""
    parsed = _parse_json_twice(event.tool_input)
    arguments = parsed if isinstance(parsed, dict) else {"input": event.tool_input}
    if event.tool_name == MESSAGE:
        return ParsedCall(event, "message", arguments, event.tool_output)
    name = event.tool_name.rpartition(".")[2]
    parsed = sentences.lists_by_word("tools").get(re.sub(r"[^a-z]", "", name.casefold()), "other")
    kind = cast("Kind", parsed)
    if name.startswith(("mcp_", "MCP:", "mcp-")):
        kind = "other"
    patch = _patch(arguments)
    if edits.is_patch(patch):
        kind = "edit"
    elif kind == "edit" and arguments.get("command") == "view":
        kind = "read"
    elif kind == "agent" and _first(arguments, _keys("command")):
        kind = "command"
    return ParsedCall(event, kind, arguments, _parse_json_twice(event.tool_output))


def _parse_json_twice(text: str) -> object:
    """Return a JSON value, twice parsed if a client sends JSON in a JSON string; else the text."""
    parsed: object = text
    for _ in range(2):
        if not isinstance(parsed, str) or parsed.lstrip()[:1] not in ("{", "[", '"'):
            break
        try:
            parsed = json.loads(parsed)
        except (ValueError, RecursionError):
            break
    return parsed


def _keys(name: str) -> Collection[str]:
    return sentences.list_words("keys", name)


def _first(values: Mapping[str, Any], keys: Collection[str]) -> str:
    for key in keys:
        answer = values.get(key)
        if isinstance(answer, str) and answer:
            return answer
    return ""


def _texts(value: object, depth: int) -> Iterator[str]:
    """Yield the texts of an output: a string, or what the known keys of objects hold."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for item in value[:5000]:
            yield from _texts(item, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        texts = set[str]()
        for key in _keys("output"):
            for text in _texts(value.get(key), depth + 1):
                if text not in texts:
                    texts.add(text)
                    yield text


def _code(value: object) -> int | None:
    """Return the exit code that an object holds, itself or in its metadata."""
    if not isinstance(value, dict):
        return None
    for key in _keys("code"):
        answer = value.get(key)
        if isinstance(answer, int) and not isinstance(answer, bool):
            return answer
    return _code(value.get("metadata")) if isinstance(value.get("metadata"), dict) else None


def _patch(arguments: Mapping[str, Any]) -> str:
    keys = ("patch", "patchText", "input", "patch_text", "diff", *_keys("command"))
    return next((text for key in keys if edits.is_patch(text := _first(arguments, (key,)))), "")


def _changes(call: ParsedCall) -> Iterator[FileChange]:
    arguments, answer = call.arguments, call.answer
    patch = _patch(arguments)
    if patch:
        yield from changes_from_patch(patch)
        return
    listed = arguments.get("changes") or (isinstance(answer, dict) and answer.get("changes"))
    if isinstance(listed, dict):
        yield from _list_changes(listed)
        return
    edits = arguments.get("edits") or arguments.get("replacements")
    if isinstance(edits, list):
        for edit in edits[:1000]:
            if isinstance(edit, dict):
                path = _first(edit, _keys("path")) or call.path
                yield compare_texts(path, _first(edit, _keys("old")), _first(edit, _keys("new")))
    elif call.path:
        yield _change(call)


def _change(call: ParsedCall) -> FileChange:
    """Return the change of the file that a call names."""
    arguments, path = call.arguments, call.path
    if "delete" in call.event.tool_name.casefold() or "remove" in call.event.tool_name.casefold():
        return FileChange(path, "delete")
    answer = call.answer if isinstance(call.answer, dict) else {}
    lines = _hunks(answer.get("structuredPatch"))
    old, new = _first(arguments, _keys("old")), _first(arguments, _keys("new"))
    if old or new:
        return edits.compare_texts(
            path, old, new, "update" if old else _is_new_file(call, "update")
        )
    whole = _first(arguments, _keys("content"))
    action = _is_new_file(call, "add")
    before = answer.get("originalFile")
    if isinstance(before, str):
        return edits.compare_texts(path, before, whole, action)
    if lines and action == "update":
        return edits.change_from_lines(path, lines, action)
    if not any(isinstance(arguments.get(key), str) for key in _keys("content")):
        return FileChange(path, "update")  # the event does not say what was written
    return edits.compare_texts(path, "", whole, action)


def _is_new_file(call: ParsedCall, unsaid: edits.Action) -> edits.Action:
    """Tell whether a file was new, if the client says so."""
    answer = call.answer if isinstance(call.answer, dict) else {}
    for place in (answer, answer.get("metadata"), answer.get("returnDisplay")):
        result = place if isinstance(place, dict) else {}
        places = result.get("type"), result.get("isNewFile"), result.get("exists")
        if places[0] == "create" or places[1] is True or places[2] is False:
            return "add"
        if places[0] == "update" or places[1] is False or places[2] is True:
            return "update"
    return unsaid


def _hunks(patch: object) -> list[str]:
    """Return the lines of the hunks of a structured patch."""
    entries = list[str]()
    for hunk in patch[:1000] if isinstance(patch, list) else ():
        lines = hunk.get("lines") if isinstance(hunk, dict) else None
        entries += [str(line) for line in lines] if isinstance(lines, list) else []
    return entries


def _list_changes(listed: Mapping[str, Any]) -> Iterator[FileChange]:
    """Yield changes that a client lists by path, as in Codex's file changes."""
    for path, argument in list(listed.items())[:1000]:
        change = argument if isinstance(argument, dict) else {}
        kind, moved = _first(change, ("type", "kind")), _first(change, ("move_path",))
        diff = _first(change, ("unified_diff", "diff", "content"))
        if kind in ("add", "delete") and not diff.startswith(("@@", "---")):
            sides = ("", diff) if kind == "add" else (diff, "")
            yield edits.compare_texts(path, *sides, "add" if kind == "add" else "delete")
        else:
            change_by_lines = edits.change_from_lines(
                path, diff.splitlines()[:20_000], "move" if moved else "update"
            )
            yield replace(change_by_lines, moved_to=moved)
