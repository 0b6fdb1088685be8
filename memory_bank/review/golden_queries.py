"""Golden queries of a bank: what must be found, kept beside its notes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, BadName, MemoryBankError
from memory_bank.base.filenames import QUERIES
from memory_bank.base.setting_sections import BANK
from memory_bank.base.settings import Settings
from memory_bank.memory.retrieval.recall import recall
from memory_bank.notes.storage import files, folders
from memory_bank.review.targets import resolve_known
from memory_bank.search import measures
from memory_bank.search.measures import Qrels

MOST_BYTES = 1_000_000
"""Maximum size of the file."""


def text_in(folder: Path, name: str = QUERIES) -> str | None:
    """Return the text of a bank's file of queries; None if there is none.

    No symbolic link is followed. Raises BadInput, which calls the file `name`.
    """
    found = folders.stat_of(folder, QUERIES)
    if found is None:
        return None
    if not S_ISREG(found.st_mode):
        kind = "a symbolic link" if S_ISLNK(found.st_mode) else "no plain file"
        raise BadInput(f"{name}: is {kind}", "make it a plain file")
    if found.st_size > MOST_BYTES:
        raise BadInput(f"{name}: larger than {MOST_BYTES:,} bytes", "remove queries")
    try:
        data = files.read_in(folder, QUERIES) or b""
        return data.decode("utf-8-sig")
    except BadName as error:
        raise BadInput(f"{name}: is a symbolic link", "make it a plain file") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: is not UTF-8", "save it as UTF-8") from error


DEPTH = 10
"""Results of a query in which a note has a rank."""

MOST_COMPARED = 200
"""Maximum number of queries that are run on two banks."""

MOST_CHARACTERS = 30_000
"""Maximum length of them together."""

_HOW = 'write it, with [[queries]] tables of `text = "…"` and `find = ["note"]`, or name a file'


class RankChange(NamedTuple):
    """A note that a golden query finds later than before, or no longer."""

    query: str
    note: str
    """Its path."""
    rank_before: int
    """1-based."""
    rank_after: int | None
    """None if it is not among the first results."""


def golden_queries(bank: Bank) -> list[Qrels]:
    """Return the queries of a bank; raise BadInput if it has none, or its file can't be read."""
    name = _shown(bank.layout.origin.root / QUERIES)
    text = text_in(bank.roots.bank.folder, name)
    if text is None:
        raise BadInput(f"there is no {name}", _HOW)
    return measures.parse(text, name)


def compare(before: Bank, after: Bank) -> tuple[RankChange, ...]:
    """Run the queries of the bank `after` on both, and return the notes whose rank fell.

    The banks are those of two revisions. Boosts by age and use are off, so that the result is the
    same on all machines. Without a file of queries that can be read, nothing is returned: a lint
    rule reports it. Of more than 200 queries, or 30,000 characters of
    them, the others are not run.
    """
    try:
        every = golden_queries(after)[:MOST_COMPARED]
    except MemoryBankError:
        return ()
    ends = accumulate(len(one.text) for one in every)
    wanted = [one for one, end in zip(every, ends, strict=True) if end <= MOST_CHARACTERS]
    with ExitStack() as opened:
        banks = [
            opened.enter_context(one.with_settings(unboosted(one.settings)))
            for one in (before, after)
        ]
        was, now = (_ranks(one, wanted) for one in banks)
    return tuple(
        RankChange(query, path, rank, now.get((query, path)))
        for (query, path), rank in was.items()
        if (now.get((query, path)) or DEPTH + 1) > rank
    )


def unboosted(settings: Settings) -> Settings:
    """Return settings without boosts that differ on each machine, and the factor of stale hits.

    The boosts are those by age, use and trust.
    """
    memory = settings.memory._replace(
        recency_boost_factor=1.0,
        access_recency_weight=0.0,
        access_count_weight=0.0,
        stale_weight=1.0,
    )
    return settings._replace(memory=memory, search=settings.search._replace(trust_boost=0.0))


def _ranks(bank: Bank, queries: Sequence[Qrels]) -> dict[tuple[str, str], int]:
    """Return the ranks of the notes that each query must find, as far as it finds them."""
    ranks: dict[tuple[str, str], int] = {}
    bank.catch_up()
    for targets in resolve_known(bank, queries):
        if not targets.grades:
            continue
        text = targets.qrels.text
        found = recall(bank, text, DEPTH, count_access=False, scope=BANK, with_trust=False)
        names = targets.names(found.notes)
        ranks |= {
            (text, name): rank for rank, name in enumerate(names, 1) if name in targets.grades
        }
    return ranks


def _shown(file: Path) -> str:
    """Return a path as it is shorter: below the working directory, or whole."""
    below = os.path.relpath(file)
    return str(file) if below.startswith("..") else below
