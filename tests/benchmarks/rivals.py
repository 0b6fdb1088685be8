"""What else documents can be searched with: SQLite, ripgrep.

Each takes whole documents and returns their names, the best first.
"""

import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS
from tests.benchmarks.collections import Collection

_WORD = re.compile(r"\w+")


class Rival(Protocol):
    """A way to find documents."""

    def ask(self, question: str, limit: int) -> list[str]:
        """Return the names of the best documents."""
        ...


class Fts5:
    """SQLite's FTS5 with Porter stems and bm25; any word of the question may match."""

    def __init__(self, one: Collection, _: Path) -> None:
        self.base = sqlite3.connect(":memory:")
        self.base.execute(
            "CREATE VIRTUAL TABLE notes USING fts5"
            "(name UNINDEXED, title, body, tokenize = 'porter unicode61')"
        )
        self.base.executemany("INSERT INTO notes VALUES (?, ?, ?)", one.documents())
        self.base.commit()

    def ask(self, question: str, limit: int) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        sql = "SELECT name FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT ?"
        return [name for (name,) in self.base.execute(sql, (words, limit))]


class Ripgrep:
    """`rg` for the question's words without stop words, whatever their case.

    Files are ranked by how many different words match, then by how many matches there are.
    """

    def __init__(self, one: Collection, work: Path) -> None:
        program = shutil.which("rg")
        if program is None:
            raise LookupError("rg is not installed")
        self.program = program
        self.folder = one.files(work)

    def ask(self, question: str, limit: int) -> list[str]:
        words = [word for word in map(str.lower, _WORD.findall(question)) if word not in STOP_WORDS]
        words = words or _WORD.findall(question.lower())
        patterns = [part for word in dict.fromkeys(words) for part in ("-e", word)]
        line = [
            self.program,
            "-oiF",
            "--with-filename",
            "--no-line-number",
            "--null",
            *patterns,
            "-g",
            "*.md",
            ".",
        ]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, check=False)
        found: dict[str, Counter[str]] = {}
        for row in done.stdout.decode(errors="replace").splitlines():
            file, _, match = row.partition("\0")
            found.setdefault(unquote(Path(file).stem), Counter())[match.lower()] += 1
        order = sorted(found, key=lambda name: (-len(found[name]), -found[name].total(), name))
        return order[:limit]


MAKERS: dict[str, Callable[[Collection, Path], Rival]] = {"ripgrep": Ripgrep, "SQLite FTS5": Fts5}
"""What makes each rival of a collection and a folder to keep its files in."""
