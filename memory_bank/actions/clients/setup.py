"""Write this server into a program's configuration, or take it out again."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memory_bank.actions.clients import jsonc, known, toml
from memory_bank.actions.clients.known import Client
from memory_bank.bank import Bank
from memory_bank.errors import BadInput, StorageFailed
from memory_bank.filenames import FOLDER, TEMPORARY_PREFIX
from memory_bank.notes import files
from memory_bank.notes.identity import etag

SERVER = "memory-bank"
"""What a server is called in a program's configuration unless another name is given."""


class _Form(Protocol):
    """How a kind of file is read and changed; raises BadInput."""

    def value_at(self, text: str, path: tuple[str, ...]) -> object:
        """Return what stands at a path of keys."""

    def put(self, text: str, path: tuple[str, ...], value: Mapping[str, object]) -> str:
        """Return the text with a value there."""

    def cut(self, text: str, path: tuple[str, ...]) -> str:
        """Return the text without what stands there."""


_FORMS: Mapping[str, _Form] = {"json": jsonc, "toml": toml}
_BANK = "--bank"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ADDRESSES = ("url", "serverUrl", "httpUrl")


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a program's configuration file; nothing is written yet."""

    client: str
    title: str
    """The program's name as it writes it."""
    scope: str
    file: Path
    name: str
    """What the server is called in the file."""
    entry: Mapping[str, object] | None
    """What the file is to say of the server; None when it says nothing."""
    before: str | None
    """The file's text; None when it isn't there."""
    after: str | None
    """The file's text then; None when it is removed."""
    then: str
    """What is to be done before the program sees the server."""

    @property
    def changed(self) -> bool:
        """Tell whether there is anything to write."""
        return self.before != self.after


def install(
    bank: Bank, client: str, *, scope: str | None = None, name: str = SERVER, blank: bool = False
) -> Change:
    """Return the change by which a program starts this server for a bank.

    The entry in a project's file holds for everybody who has the project; one in the user's own
    file holds the paths of this machine. `blank` looks at no file: as if it were not there.
    Raises BadInput when the file can't be read, or serves another bank under this name.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} can't name a server", "use letters, digits, '-' and '_'")
    one = known.client(client)
    scope = _scope(one, scope)
    file = _file(one, scope, bank)
    entry = _entry(one, scope, bank)
    before = None if blank else _text(file)
    with _readable(file):
        old = _FORMS[one.form].value_at(before or "", (one.key, name))
        _check_same(file, name, old, entry)
        entry["args"] = [*_listed(entry), *_options(old)]
        after = _FORMS[one.form].put(before or "", (one.key, name), entry)
    if before is None:
        after += "\n"
    then = one.then if scope == "project" or not one.project else "restart it"
    return Change(client, one.title, scope, file, name, entry, before, after, then)


def uninstall(
    bank: Bank | None, client: str, *, scope: str | None = None, name: str = SERVER
) -> Change:
    """Return the change by which a program knows this server no more.

    A file in which nothing else is left, and which `install` made, is removed. The user's own
    file needs no bank. Raises BadInput.
    """
    one = known.client(client)
    scope = _scope(one, scope)
    file = _file(one, scope, bank)
    before = _text(file)
    after: str | None = before
    if before:
        with _readable(file):
            after = _FORMS[one.form].cut(before, (one.key, name))
        if not after and before.endswith("\n"):
            after = None
    return Change(client, one.title, scope, file, name, None, before, after, "restart it")


def write(change: Change) -> None:
    """Make a change: the file is replaced whole or not at all, and keeps its mode.

    Raises Conflict when the file is no longer what it was, StorageFailed.
    """
    if not change.changed:
        return
    before = files.ABSENT if change.before is None else etag(change.before.encode())
    file = change.file.resolve()  # the link to a file kept elsewhere stays a link
    if change.after is not None:
        files.replace(file, change.after.encode(), before)
        return
    aside = file.with_name(f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}")
    files.remove(file, aside, before)


def needs_bank(client: str, scope: str | None) -> bool:
    """Tell whether a program's file of this scope is found from the bank's project."""
    return _scope(known.client(client), scope) == "project"


def _scope(one: Client, scope: str | None) -> str:
    if scope == "project" and not one.project:
        raise BadInput(f"{one.title} reads no file of a project", "use --scope user")
    return scope or (one.scope if one.project else "user")


def _file(one: Client, scope: str, bank: Bank | None) -> Path:
    if scope == "user":
        return known.user_file(one)
    if bank is None or bank.layout.root.name != FOLDER:
        raise BadInput("this bank is not in a project's .memories", "use --scope user")
    file = bank.layout.project / one.project
    if not file.resolve().is_relative_to(bank.layout.project):  # a repository may bring a link
        raise BadInput(f"{file} leads out of the project", "remove the link, or use --scope user")
    return file


def _entry(one: Client, scope: str, bank: Bank) -> dict[str, object]:
    """Return what a program is told: a command that works from wherever it is started."""
    serve = ["serve", "mcp"]
    if scope == "project":
        folder = [_BANK, one.folder] if one.folder else []
        return {**one.extra, "command": SERVER, "args": [*serve, *folder]}
    command, *first = _program()
    return {**one.extra, "command": command, "args": [*first, *serve, _BANK, _named(bank)]}


def _program() -> list[str]:
    """Return how this program is started by its full path; a desktop has another PATH."""
    name = f"{SERVER}.exe" if os.name == "nt" else SERVER
    script = Path(sysconfig.get_path("scripts"), name)
    if script.is_file():
        return [str(script)]
    return [sys.executable, "-P", "-m", "memory_bank"]  # -P: not one in the working directory


def _named(bank: Bank) -> str:
    root = str(bank.layout.root)
    try:
        root.encode()
    except UnicodeEncodeError as error:
        raise BadInput("the bank's path is no UTF-8 text", "move the bank elsewhere") from error
    return root


def _check_same(file: Path, name: str, old: object, new: Mapping[str, object]) -> None:
    """Raise BadInput when an entry of that name serves another bank, or is not started at all."""
    hint = f"give this one a name of its own, for example --name {name}-2"
    theirs, ours = _bank_of(old), _bank_of(new)
    if theirs and ours and theirs != ours:
        raise BadInput(f"{file} has a server {name!r} for another bank, {theirs}", hint)
    if isinstance(old, Mapping) and any(key in old for key in _ADDRESSES):
        raise BadInput(f"{file} has a server {name!r} that is reached by its address", hint)


def _bank_of(entry: object) -> str:
    """Return the bank that an entry names; empty when it names none."""
    args = _listed(entry)
    found = args[args.index(_BANK) + 1 :] if _BANK in args else []
    return str(found[0]) if found else ""


def _options(entry: object) -> list[object]:
    """Return what an entry tells `serve mcp` besides the bank, as `--read-only`: it stays."""
    args = _listed(entry)
    if "mcp" not in args:
        return []
    given = args[args.index("mcp") + 1 :]
    at = given.index(_BANK) if _BANK in given else len(given)
    return given[:at] + given[at + 2 :]


def _listed(entry: object) -> list[object]:
    args = entry.get("args") if isinstance(entry, Mapping) else None
    return args if isinstance(args, list) else []


def _text(file: Path) -> str | None:
    data = files.read(file)
    if data is None:
        if file.is_symlink() and not file.exists():
            raise StorageFailed(f"{file} is a link that leads nowhere", "remove it, or mend it")
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _unreadable(file, f"byte {error.start + 1} is no UTF-8") from error


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Say of what can't be read or changed in which file it is."""
    try:
        yield
    except BadInput as error:
        if error.hint:
            raise
        raise _unreadable(file, error.message) from error


def _unreadable(file: Path, reason: str) -> BadInput:
    hint = "mend it, or make the change yourself: `mcp install --print` shows the entry"
    return BadInput(f"{file} stays as it is: {reason}", hint)
