"""Add `memory-bank hook` to the hooks of a client, remove it, and tell where it is."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from memory_bank.agents import client_files, clients
from memory_bank.agents.client_files import GUARD, ClientPlace, HookClient, find_bundle_file
from memory_bank.agents.clients import SCOPES
from memory_bank.bank import written_files
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, Hint, MemoryBankError

_HOOKS = "hooks"

_OURS = r"(?:memory[-_]bank|\bmb)(?:\.exe)?[\"']*\s+hook\s+{name}\b"

_MARK = "// Written by memory-bank"

BUNDLE = "bundle"
"""The scope of hooks that are generated into a project for everybody who clones it."""

_MISSING = (
    "This project keeps its memory in .memories/ as Markdown. The program memory-bank, which finds"
    " in it, is not installed here: tell the user to install the Python package that has it."
)

_COMMAND = 'const COMMAND = ["memory-bank"]'

Path_ = tuple[str | int, ...]


Handler = tuple[str, Path_, str]
"""One of our entries in a client's file: its event, its path in the file, and its command."""


def add_hooks(client: HookClient, before: str | None, scope: str) -> str:
    """Return a file's text with a hook for each event, or our plug-in; keys of a hook stay.

    In the scope `BUNDLE` they do nothing where this program is not installed. Hooks in the user's
    own file hold for all projects, and do nothing in one without a bank.
    """
    if client.plugin:
        _check_plugin(before)
        text = client.plugin.read_text(encoding="utf-8")
        return text.replace(
            _COMMAND, f"const COMMAND = {json.dumps(client_files.find_command(scope))}"
        )
    text = before or ""
    handlers = _find_handlers(client, text)
    path_of = {event: path for event, path, _ in reversed(handlers)}
    for event, path, _ in reversed(handlers):  # of events no longer reported, and second ones
        if path != path_of[event] or event not in client.events:
            text = _remove_handler(client, text, path)
    for key, value in client.top.items():
        if client.editor.value_at(text, (key,)) is None:
            text = client.editor.set_value(text, (key,), value)
    path_of = {event: path for event, path, _ in _find_handlers(client, text)}
    for event in client.events:
        commands = {key: _make_command(client, event, scope, key) for key in client.command_keys}
        if event in path_of:
            for key, command in commands.items():
                text = client.editor.set_value(text, (*path_of[event], key), command)
        else:
            text = _add_hook(client, text, event, commands)
    return text


def remove_hooks(client: HookClient, before: str | None) -> str | None:
    """Return a file's text without our hooks; None if nothing else is left in it."""
    if client.plugin:
        _check_plugin(before)
        return None
    after = before
    for _, path, _ in reversed(_find_handlers(client, before or "")):
        after = _remove_handler(client, after or "", path)
    if after != before and client.editor.value_at(after or "", ()) == {**client.top}:
        return None
    return after if after and after.strip() else None


def list_places(client: str, bank: Bank | None) -> Iterator[ClientPlace]:
    """Yield the state of each file of a client; one that can't be read has a problem."""
    hook_client = client_files.hook_client(client)
    for scope in reversed(SCOPES):
        try:
            file = client_files.client_file(hook_client, bank, scope)
        except BadInput:
            continue
        project = bank.layout.project if bank else None
        bundle = find_bundle_file(client, clients.HOOKS, project)
        if bundle and scope == "project" and bundle != file:
            yield _read_place(hook_client, BUNDLE, bundle)
        try:
            yield _read_place(hook_client, BUNDLE if file == bundle else scope, file)
        except MemoryBankError as error:
            yield ClientPlace(
                client, _HOOKS, scope, str(file), installed=False, problem=error.message
            )


def _make_command(client: HookClient, event: str, scope: str, key: str) -> str:
    """Return the command of an event in a scope."""
    if scope == BUNDLE:
        return _guard_command(client, event, key)
    words = client_files.find_command(scope)
    quoted = " ".join(f'"{word}"' if " " in word else word for word in words)
    if os.name != "nt":
        quoted = shlex.join(words)
    return f"{quoted} hook {client.name} {event}"


def _guard_command(client: HookClient, event: str, key: str) -> str:
    """Return a command that starts an installed program, and else says how to get it, once."""
    module = clients.find(client.name, clients.HOOKS)
    run = f"{written_files.PROGRAM} hook {client.name} {event}"
    answer = module.answer(event, "start", _MISSING) if module.EVENTS[event] == "start" else None
    text = f"echo '{json.dumps(answer)}'" if answer else ""
    if key == "powershell":
        there = f"Get-Command {written_files.PROGRAM} -ErrorAction SilentlyContinue"
        return f"if ({there}) {{ {run} }} else {{ {text} }}; exit 0"
    absent = f"{{ {text}; exit 0; }}" if text else "exit 0"
    return f"{GUARD} || {absent}; {run} || exit 0"


def _add_hook(client: HookClient, text: str, event: str, commands: Mapping[str, str]) -> str:
    limits = {key: client.short.get(event, value) for key, value in client.timeouts.items()}
    entry: dict[str, object] = {**client.extra, **commands, **limits}
    if client.form == "groups":
        entry = {_HOOKS: [entry]}
    there = client.editor.value_at(text, (_HOOKS, event))
    if there is None:
        return client.editor.set_value(text, (_HOOKS, event), [entry])
    number = len(there) if isinstance(there, list) else 0
    return client.editor.set_value(text, (_HOOKS, event, number), entry)


def _remove_handler(client: HookClient, text: str, path: Path_) -> str:
    """Return the text without a handler, and without the group that held it alone."""
    if client.form == "groups":
        siblings = client.editor.value_at(text, path[:-1])
        if isinstance(siblings, list) and len(siblings) == 1:
            path = path[:-2]
    return client.editor.remove(text, path)


def _find_handlers(client: HookClient, text: str) -> list[Handler]:
    """Return our entries in a text, in order; they are known by their command."""
    ours = re.compile(_OURS.format(name=client.name))
    entries = []
    for event, path, entry in _yield_entries(client, client.editor.value_at(text, (_HOOKS,))):
        words = [entry.get(key) for key in (*client.command_keys, "command")]
        args = entry.get("args")
        more = [str(word) for word in args] if isinstance(args, list) else []
        for word in words:
            command = " ".join((word, *more)) if isinstance(word, str) else ""
            if ours.search(command):
                entries.append((event, path, command))
                break
    return entries


def _yield_entries(
    client: HookClient, hooks: object
) -> Iterator[tuple[str, Path_, Mapping[str, object]]]:
    """Yield each handler with its event and path; what has another form is skipped."""
    for event, rows in hooks.items() if isinstance(hooks, dict) else ():
        for number, row in enumerate(rows if isinstance(rows, list) else ()):
            if not isinstance(row, dict):
                continue
            path: Path_ = (_HOOKS, event, number)
            if client.form == "flat":
                yield event, path, row
                continue
            inner = row.get(_HOOKS)
            for at, entry in enumerate(inner if isinstance(inner, list) else ()):
                if isinstance(entry, dict):
                    yield event, (*path, _HOOKS, at), entry


def _check_plugin(text: str | None) -> None:
    if text is not None and not text.startswith(_MARK):
        raise BadInput("it was not written by memory-bank")


def _read_place(client: HookClient, scope: str, file: Path) -> ClientPlace:
    text = written_files.read_text(file, Hint.EDIT_HOOKS_BY_HAND)
    if text is None:
        return ClientPlace(client.name, _HOOKS, scope, str(file), installed=False)
    if client.plugin:
        match = re.search(r"^const COMMAND = (\[.*\])$", text, re.MULTILINE)
        words: list[str] = []
        with suppress(ValueError):
            words = json.loads(match[1]) if match else []
        ours = text.startswith(_MARK)
        command, events = shlex.join(map(str, words)), client.events if ours else ()
    else:
        with written_files.explain_errors(file, Hint.EDIT_HOOKS_BY_HAND):
            handlers = _find_handlers(client, text)
        ours, command = bool(handlers), handlers[0][2] if handlers else ""
        if command.startswith(GUARD):
            command = f"{written_files.PROGRAM} hook "
        events = tuple(dict.fromkeys(event for event, _, _ in handlers))
        words = _split_words(command)
    off = client.off and not client.plugin and client.editor.value_at(text, (client.off,)) is True
    return ClientPlace(
        client=client.name,
        part=_HOOKS,
        scope=scope,
        file=str(file),
        installed=ours,
        events=events,
        missing=tuple(event for event in client.events if event not in events) if ours else (),
        command=command.partition(" hook ")[0],
        runs=bool(words and shutil.which(words[0])),
        problem=f"{client.off} is true: no hook runs" if off else "",
    )


def _split_words(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=os.name != "nt")
    except ValueError:
        return []
