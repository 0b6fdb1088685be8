"""What the next session is told at its start, written when a session starts or ends.

To find that out, a bank is opened, which takes as long as thirty starts of Python. So the text is
kept in the bank's private state, with a key of all that it depends on: the commit that is checked
out, the names, sizes and times of the notes and of the settings, and the day. With another key, the
bank is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory_bank.base import filenames
from memory_bank.base.filenames import PREPARED_CONTEXT
from memory_bank.base.version import __version__
from memory_bank.git import repository

if TYPE_CHECKING:
    from memory_bank.agents.hook_bank import HookBank
    from memory_bank.bank.bank import Bank


_LEFT_OUT = frozenset({".index", ".trash", ".git"})


class Prepared(NamedTuple):
    """A context whose key still holds."""

    git: str
    """The state of git, as the queue keeps it."""
    before: str
    quoted: str
    """What is to be quoted; empty, as all else, if there is nothing to tell."""
    after: str


def prepare(bank: Bank, quotes: Quoting) -> None:
    """Write what a new session in a bank's project is told; raise MemoryBankError."""
    from memory_bank.agents.rule_files import untold
    from memory_bank.base.errors import StorageFailed
    from memory_bank.memory.rules_block import FILE
    from memory_bank.sessions.records import git_text
    from memory_bank.sessions.start import start_text
    from memory_bank.sessions.state import git_state, project_of

    texts = [""]

    def quote(text: str) -> str:
        texts.append(text)
        return quotes.introduced(text)

    root, project = bank.layout.root, project_of(bank)
    include = bank.settings.memory.include if bank.layout.prefix else ()
    places = [str(one.folder) for one in bank.roots.written()]
    places += [str(bank.layout.project / path) for path in (*include, FILE)]
    before_it = _key(str(root), project, places)  # what changes meanwhile makes another key
    told = start_text(bank, project, rules=untold(bank), quote=quote)
    if before_it != _key(str(root), project, places):
        return
    places += [str(bank.layout.project / path) for path in told.files]
    key = _key(str(root), project, places)
    before, _, after = told.text.partition(quotes.introduced(texts[-1]))
    prepared = Prepared(git_text(git_state(root)), before, texts[-1], after)
    kept = key, places, prepared if after else Prepared(prepared.git, "", "", "")
    try:
        _write(bank.layout.state(bank.id), json.dumps(kept).encode())
    except OSError as error:
        raise StorageFailed(f"the next start can't be prepared: {error.strerror}") from error


def read(found: HookBank) -> Prepared | None:
    """Return what was prepared, if all that it depends on is as it was then."""
    if any(name.startswith("MEMORY_BANK") for name in os.environ):
        return None
    with (
        suppress(OSError, ValueError, TypeError),
        open(os.path.join(found.state, PREPARED_CONTEXT)) as file,
    ):
        key, places, values = json.load(file)
        if key == _key(found.root, found.project, places):
            return Prepared(*values)
    return None


def _key(root: str, project: str, places: Sequence[str]) -> list[str]:
    from memory_bank.agents.hook_bank import user_settings

    tree = filenames.work_tree(root)
    head = repository.branch_and_commit(Path(tree)) if tree else ("", "")
    files = sorted(_signatures([*places, user_settings()]))
    digest = hashlib.blake2b("\n".join(files).encode("utf-8", "surrogatepass")).hexdigest()
    return [__version__, root, project, *head, f"{datetime.now(UTC):%Y-%m-%d}", digest]


def _signatures(places: Sequence[str]) -> Iterator[str]:
    """Yield the path, size and time of all files in some folders, and of some files."""
    for place in places:
        try:
            with os.scandir(place) as entries:
                found = list(entries)
        except NotADirectoryError:
            yield _signature(place, os.stat(place))
            continue
        except OSError:
            yield place  # it is not there
            continue
        folders = []
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders += [entry.path] if entry.name not in _LEFT_OUT else []
            else:
                yield _signature(entry.path, entry.stat(follow_symlinks=False))
        yield from _signatures(folders)


def _signature(path: str, found: os.stat_result) -> str:
    return f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}"


def _write(folder: Path, data: bytes) -> None:
    file = folder / PREPARED_CONTEXT
    temporary = folder / f"{PREPARED_CONTEXT}.{os.urandom(4).hex()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as opened:
        opened.write(data)
    temporary.replace(file)


class Quoting(Protocol):
    """How a front-end quotes a text that is data."""

    @property
    def notice(self) -> str:
        """The sentence that explains the quotes."""

    def quote(self, text: str, about: Mapping[str, object]) -> str:
        """Return a text between marks, with attributes."""

    def introduced(self, text: str) -> str:
        """Return a text between marks, after the sentence that explains them."""
