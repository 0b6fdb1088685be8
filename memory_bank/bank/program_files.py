"""Read and write the configuration files of clients, and name this program in them."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memory_bank.base.errors import BadInput, Hint, StorageFailed
from memory_bank.base.filenames import TEMPORARY_PREFIX
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage import files

PROGRAM = "memory-bank"

RULES = f"{PROGRAM} rules"
"""What is in the marker of each text of rules that this program writes into a file."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A planned change of a file."""

    file: Path
    before: str | None
    """The file's text; None if it does not exist."""
    after: str | None
    """The text that it gets; None if it is removed."""

    @property
    def changed(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after

    def write(self, *tops: Path) -> None:
        """Replace the file atomically if it changes; it keeps its mode.

        With a file that is removed go folders that it leaves empty, below `tops`. Raises Conflict
        when the file is no longer what it was, StorageFailed.
        """
        if not self.changed:
            return
        absent = files.ABSENT if self.before is None else hash_bytes(self.before.encode())
        file = self.file.resolve()  # the link to a file kept elsewhere stays a link
        if self.after is not None:
            files.replace(file, self.after.encode(), absent)
            return
        aside = file.with_name(f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}")
        files.remove(file, aside, absent)
        folder = self.file.parent
        with suppress(OSError):  # it has something, or is a link
            while folder not in tops:
                folder.rmdir()
                folder = folder.parent


def find_program() -> list[str]:
    """Return this program's command with its full path, because desktops have another PATH."""
    script = Path(sysconfig.get_path("scripts"), f"{PROGRAM}.exe" if os.name == "nt" else PROGRAM)
    if script.is_file():
        return [str(script)]
    return [sys.executable, "-P", "-m", "memory_bank"]  # -P: not one in the working directory


def read_text(file: Path, hint: Hint = Hint.EDIT_BY_HAND) -> str | None:
    """Return the text of a file; None if it does not exist. Raises BadInput, StorageFailed."""
    data = files.read(file)
    if data is None and file.is_symlink() and not file.exists():
        raise StorageFailed(f"{file} is a link that leads nowhere", "remove it, or repair it")
    with explain_errors(file, hint):
        return None if data is None else data.decode()


def project_file(project: Path, name: str, hint: str = "remove the link") -> Path:
    """Return a file of a project; raise BadInput if a link of the repository leads out of it."""
    file = project / name
    if not file.resolve().is_relative_to(project.resolve()):
        raise BadInput(f"{file} leads out of the project", hint)
    return file


@contextmanager
def explain_errors(file: Path, hint: Hint = Hint.EDIT_BY_HAND) -> Iterator[None]:
    """Add the file to errors of reading and changing it."""
    try:
        yield
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} is no UTF-8"
        raise BadInput(f"{file} stays as it is: {reason}", hint) from error
    except BadInput as error:
        if error.hint:
            raise
        raise BadInput(f"{file} stays as it is: {error.message}", hint) from error
