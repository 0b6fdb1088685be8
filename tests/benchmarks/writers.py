"""Who works on the bank that the torture judges: writers through a door, an editor, a mender.

Each writes a line of its own into notes, and keeps a log of what it did and was told.
"""

import json
import os
import random
import re
import shutil
import time
from pathlib import Path
from typing import Any

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.notes.storage.files import exchange
from memory_bank.notes.storage.folders import FolderEntry
from tests.benchmarks.transports import SETTINGS, Door, Refused

NAMES = [f"area{number % 3}/note{number}" for number in range(9)]
TOKEN = re.compile(r"tok[a-z]+\d+x\d+z")


class Log:
    """What one writer did and was told, a JSON line each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.touch()

    def add(self, what: str, began: float, **about: Any) -> None:
        """Note what was done, since when; now it has ended."""
        row = {"what": what, "began": began, "ended": time.monotonic(), **about}
        with self._file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")


class Writer:
    """Works on the bank through a door."""

    def __init__(self, door: Door, who: str, log: Log, seed: int) -> None:
        self._door, self._who, self._log = door, who, log
        self._rng = random.Random(seed)
        self._number = 0
        self._last = ""

    def step(self) -> None:
        """Do one thing, whatever comes up."""
        names = ["create", "append", "update", "rename", "delete", "search"]
        name = self._rng.choices(names, [3, 8, 5, 2, 1, 4])[0]
        began = time.monotonic()
        try:
            getattr(self, f"_{name}")(began)
        except Refused as refused:
            code, said = refused.args
            self._log.add("refused", began, of=name, code=code, said=said)

    def _token(self) -> str:
        self._number += 1
        return f"tok{self._who}x{self._number}z"

    def _create(self, began: float) -> None:
        name, token = self._rng.choice(NAMES), self._token()
        self._door.create(name, f"{token}\n")
        self._log.add("wrote", began, token=token, dropped=[])
        self._last = token

    def _append(self, began: float) -> None:
        name, token = self._rng.choice(NAMES), self._token()
        self._door.append(name, token)
        self._log.add("wrote", began, token=token, dropped=[])
        self._last = token

    def _update(self, began: float) -> None:
        name, token = self._rng.choice(NAMES), self._token()
        etag, body = self._door.read(name)
        seen = list(dict.fromkeys(TOKEN.findall(body)))
        if self._rng.random() < 0.5:
            time.sleep(self._rng.random() * 0.05)
        dropped = seen[:1] if len(seen) > 20 else []
        kept = [*seen[len(dropped) :], token]
        # said before: a process that is killed may have written without having been told so
        self._log.add("tried", began, dropped=dropped)
        self._door.update(name, "".join(f"{line}\n\n" for line in kept), etag)
        self._log.add("wrote", began, token=token, dropped=dropped)
        self._last = token

    def _rename(self, began: float) -> None:
        self._door.rename(self._rng.choice(NAMES), self._rng.choice(NAMES))
        self._log.add("moved", began)

    def _delete(self, began: float) -> None:
        self._door.delete(self._rng.choice(NAMES))
        self._log.add("moved", began)

    def _search(self, began: float) -> None:
        if self._last:
            found, problem = self._door.search(self._last)
            missed = not any(self._last in content for content in found)
            self._log.add("searched", began, token=self._last, missed=missed, problem=problem)


class Editor:
    """Saves as editors do, knowing of no lock, and looks at what it saved over."""

    def __init__(self, folder: Path, who: str, log: Log, seed: int) -> None:
        self._folder, self._who, self._log = folder, who, log
        self._rng = random.Random(seed)
        self._number = 0

    def step(self) -> None:
        """Add a line to a note, in one of three ways."""
        file = self._folder / f"{self._rng.choice(NAMES)}.md"
        self._number += 1
        token = f"tok{self._who}x{self._number}z"
        began = time.monotonic()
        way = self._rng.choice([self._in_place, self._beside, self._backup])
        try:
            over = way(file, f"\n{token}\n")
        except FileNotFoundError:
            return
        if over is not None:
            self._log.add("wrote", began, token=token, dropped=over, by="editor")
        time.sleep(self._rng.random() * 0.05)

    def _in_place(self, file: Path, line: str) -> list[str] | None:
        """Write into the open file, if it has its name still."""
        with file.open("r+b") as stream:
            text = stream.read()
            if os.fstat(stream.fileno()).st_ino != file.stat().st_ino:
                return None
            stream.seek(0)
            stream.write(text + line.encode())
        return []

    def _beside(self, file: Path, line: str) -> list[str]:
        """Let a new file take the name; exchanged, so that it is known what was saved over."""
        text = file.read_text(encoding="utf-8")
        new = file.with_name(f"{file.name}.{self._who}")
        new.write_text(text + line, encoding="utf-8")
        try:
            if not exchange(FolderEntry(new), FolderEntry(file)):
                raise RuntimeError("files can't be exchanged on this file system")
            return self._lost(new.read_text(encoding="utf-8"), text)
        finally:
            new.unlink()

    def _backup(self, file: Path, line: str) -> list[str] | None:
        """Move the note away and write it anew, as vim does."""
        text = file.read_text(encoding="utf-8")
        backup = file.with_name(f"{file.name}~{self._who}")
        file.rename(backup)
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:  # somebody made a note of that name: ours is another's then
            os.link(backup, file.with_name(f"kept-{self._who}-{self._number}.md"))
            backup.unlink()
            return None
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text + line)
        over = self._lost(backup.read_text(encoding="utf-8"), text)
        backup.unlink()
        return over

    def _lost(self, replaced: str, read: str) -> list[str]:
        """Name the lines that this editor itself saved over."""
        return sorted(set(TOKEN.findall(replaced)) - set(TOKEN.findall(read)))


class Mender:
    """Makes the index anew while others use it, and lets it be made anew."""

    def __init__(self, folder: Path, log: Log, seed: int) -> None:
        self._folder, self._log = folder, log
        self._rng = random.Random(seed)
        self._bank = open_bank(folder, settings=SETTINGS)

    def step(self) -> None:
        """Rebuild, sync, or delete all that is derived, as users do."""
        name = self._rng.choice(["rebuild", "sync", "delete"])
        began = time.monotonic()
        try:
            if name == "delete":
                shutil.rmtree(self._folder / ".index", ignore_errors=True)
            else:
                getattr(self._bank, name)()
            self._log.add(name, began)
        except MemoryBankError as error:
            self._log.add("refused", began, of=name, code=error.code, said=error.message)
        time.sleep(self._rng.random() * 0.4)

    def close(self) -> None:
        self._bank.close()
