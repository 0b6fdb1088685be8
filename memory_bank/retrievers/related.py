"""Words of a bank that mean about the same: a question's `bought` also finds `purchased`.

The words that the bank uses most, each with its static vector, stand in one small database. They
are counted as passages come; what goes is not counted off, for the most used hardly change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank import sqlite
from memory_bank.embedders._numpy import np
from memory_bank.embedders._vectors import packed, unit, unpacked
from memory_bank.retrievers._kept import Kept
from memory_bank.retrievers._words import LEAST, STOP_WORDS, Near, forms, stems
from memory_bank.retrievers.base import Entry, Matches, Question, Scope
from memory_bank.sqlite import Connection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memory_bank.embedders.base import Embedder

WORDS = 5000
"""Words with a vector; from 4,000 to all of them it makes no difference."""
NUMBERS = 128
"""Of a word's vector, how many are compared, the first ones: all 256 find the same, and take twice
the time and the room. The model was trained so that its first numbers say most."""
NEAREST = 3
"""Related words looked for beside one of a question."""
_GROWN = 1.2
"""How much more words than when the most used were chosen, for them to be chosen anew."""
_VERSION = 5
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE forms (word TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE chosen (counted INTEGER NOT NULL, stems TEXT NOT NULL, vectors BLOB NOT NULL)
"""
_WORD = re.compile(r"[^\W\d_]{3,40}")


class RelatedWords:
    """Filled like a retriever; finds words instead of passages."""

    name = "related"
    slow = False

    def __init__(self, folder: Path, owner: str, embedder: Embedder) -> None:
        """Keep the words in `folder`; `embedder` must be one that takes words apart from texts."""
        self.version = f"{_VERSION} {embedder.model_hash}"
        self._kept = Kept(
            folder / "related.db", _TABLES, _VERSION, f"{owner} {self.version}", self._forget
        )
        self._embedder = embedder
        self._chosen: _Chosen | None = None

    def again(self) -> Collection[int]:
        """Ask for no note: rows don't scatter."""
        return ()

    def put(self, entries: Sequence[Entry], replaced: Collection[int]) -> None:  # noqa: ARG002
        """Count the words of passages."""
        counts: Counter[str] = Counter()
        for entry in entries:
            counts.update(_WORD.findall(entry.text.lower()))
        used = {word: count for word, count in counts.items() if word not in STOP_WORDS}
        with sqlite.guarded(self._kept.file):
            base = self._kept.begun()
            base.executemany(
                "INSERT INTO forms VALUES (?1, ?2) ON CONFLICT DO UPDATE SET count = count + ?2",
                used.items(),
            )
            base.execute(
                "INSERT INTO meta VALUES ('counted', ?1)"
                " ON CONFLICT DO UPDATE SET value = value + ?1",
                (sum(used.values()),),
            )

    def commit(self) -> None:
        """Make what was put durable."""
        self._kept.commit()

    def holds(self, entries: Mapping[int, int]) -> bool:  # noqa: ARG002
        """Tell whether the words can be read: which passages they are from is not kept."""
        self.check()
        return True

    def state(self) -> str:
        """Return the stamps of the database's files."""
        return self._kept.state()

    def waiting(self) -> int:
        """Return 1 if the most used words must be chosen anew, else 0."""
        with sqlite.guarded(self._kept.file):
            base = self._kept.opened()
            return int(_counted(base) > _GROWN * (_chosen_at(base) or 0))

    def catch_up(self, seconds: float) -> int:  # noqa: ARG002
        """Choose the most used words, if they must be; return how many passages wait: none."""
        if self.waiting():
            with sqlite.guarded(self._kept.file):
                base = self._kept.opened()
                words = _most_used(base)
                vectors = packed(_cut(self._embedder.embed(list(words.values())))).tobytes()
                with sqlite.transaction(base):
                    base.execute("DELETE FROM chosen")
                    row = (_counted(base), "\n".join(words), vectors)
                    base.execute("INSERT INTO chosen VALUES (?, ?, ?)", row)
                sqlite.settle(base)
        return 0

    def find(self, question: Question, limit: int, scope: Scope) -> Matches:  # noqa: ARG002
        """Find no passages."""
        return Matches()

    def near(self, text: str) -> Mapping[str, tuple[Near, ...]]:
        """Map the stems of a question's words to those of related words, the nearest first."""
        with sqlite.guarded(self._kept.file):
            base = self._kept.opened()
            counted = _chosen_at(base)  # while it stays, others were not chosen
            if self._chosen is None or self._chosen.counted != counted:
                self._chosen = _Chosen(base)
        asked = {stem: form for stem, form in forms(text).items() if _WORD.fullmatch(form)}
        return self._chosen.near(asked, self._embedder) if asked else {}

    def check(self) -> None:
        """Raise IndexDamaged unless the words can be read."""
        self._kept.check()

    def clear(self) -> None:
        """Forget all words."""
        self._kept.close()
        sqlite.discard(self._kept.file)
        self._kept.start()

    def close(self) -> None:
        """Close the database; what was not committed is dropped."""
        self._kept.close()

    def _forget(self) -> None:
        self._chosen = None


class _Chosen:
    """The most used words with their vectors, in memory."""

    def __init__(self, base: Connection) -> None:
        row = base.execute("SELECT counted, stems, vectors FROM chosen").fetchone()
        self.counted: int | None = row[0] if row else None
        self.stems = row[1].split("\n") if row and row[1] else []
        numbers = np.frombuffer(row[2] if self.stems else b"", np.int8)
        self._vectors = unpacked(numbers.reshape(-1, NUMBERS))
        self._known: dict[str, tuple[Near, ...]] = {}

    def near(self, asked: Mapping[str, str], embedder: Embedder) -> dict[str, tuple[Near, ...]]:
        """Map stems to the nearest words of theirs, for words by stem."""
        if not self.stems:
            return {}
        new = {stem: form for stem, form in asked.items() if stem not in self._known}
        vectors = _cut(embedder.embed(list(new.values()))) if new else ()
        for stem, vector in zip(new, vectors, strict=True):
            # one product a word: for so few, a product of matrices takes several times as long
            self._known[stem] = self._nearest(stem, self._vectors @ vector)
        return {stem: self._known[stem] for stem in asked}

    def _nearest(self, stem: str, cosines: NDArray[np.float32]) -> tuple[Near, ...]:
        places = np.flatnonzero(cosines > LEAST)
        places = places[np.argsort(-cosines[places], kind="stable")][: NEAREST + 1]
        found = [Near(self.stems[place], float(cosines[place])) for place in places]
        return tuple(near for near in found if near.stem != stem)[:NEAREST]


def _cut(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the numbers of each row that are compared, as rows of length 1."""
    return unit(vectors[:, :NUMBERS].copy())


def _chosen_at(base: Connection) -> int | None:
    """Return how many words were counted when the most used were chosen; None if none are."""
    row = base.execute("SELECT counted FROM chosen").fetchone()
    return int(row[0]) if row else None


def _counted(base: Connection) -> int:
    """Return how many words were counted; a sum over all would be taken at each edit."""
    row = base.execute("SELECT value FROM meta WHERE key = 'counted'").fetchone()
    return int(row[0]) if row else 0


def _most_used(base: Connection) -> dict[str, str]:
    """Map the stems that are used most to their most used forms."""
    sql = "SELECT word, count FROM forms ORDER BY count DESC, word LIMIT ?"
    used: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for word, count in base.execute(sql, (3 * WORDS,)):
        for stem in stems(word)[:1]:
            used.setdefault(stem, word)
            counts[stem] += count
    return {stem: used[stem] for stem, _ in counts.most_common(WORDS)}
