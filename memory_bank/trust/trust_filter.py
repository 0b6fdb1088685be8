"""Filter notes by their tiers of trust: by their commits first, by the lines of hits afterwards.

Which tiers a note may have is known from its commits without reading lines. Only the lines of hits
are then compared, where these commits have several tiers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.git.file_commits import FileCommits
from memory_bank.search import boosts
from memory_bank.search.boosts import TIERS, UNKNOWN
from memory_bank.search.engine import SearchResult
from memory_bank.search.index import View
from memory_bank.search.manifest import document_rows, entries
from memory_bank.search.manifest.document_rows import DocumentRow
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.retrievers.base import Scope
from memory_bank.trust import trust
from memory_bank.trust.trust import NoteTrust

SECONDS = 1.0
"""Most seconds for the lines of hits; the others have the tier of their least trusted commit."""

_TIERS = "tiers"

_WIDER = 4
"""Factor of the results that are looked at, of which some may not meet the conditions."""

Find = Callable[[Scope, int], SearchResult]
"""Returns at most so many hits in a scope."""


def search(
    bank: Bank, view: View, conditions: Iterable[Condition], within: Scope, limit: int, find: Find
) -> SearchResult:
    """Return the best hits that meet the conditions `trust:`; other conditions are left alone."""
    wanted = _wanted(conditions)
    if wanted is None:
        return find(within, limit)
    known = _possible(bank, view)
    sure = {number for number, one in known.items() if one.tiers <= wanted and number in within}
    waiting = {
        number: one.path
        for number, one in known.items()
        if number in within and number not in sure and one.tiers & wanted
    }
    checks = _Checks(bank, wanted, time.monotonic() + SECONDS)
    wide = limit * _WIDER if waiting else limit
    while True:
        found = find(entries.narrowed(view.manifest, within, sure | waiting.keys()), wide)
        good, bad = checks.of(found, waiting, limit)
        if not bad and wide == limit:
            return found
        for number in bad:
            del waiting[number]
        wide = limit if good == limit or len(found.hits) < wide else wide * _WIDER


def prepare(bank: Bank) -> None:
    """Read the commits of all notes, for later answers."""
    bank.read(lambda view: _possible(bank, view))


class _Checks:
    """Whether notes meet conditions, by their lines as long as there is time."""

    def __init__(self, bank: Bank, wanted: Collection[str], end: float) -> None:
        self._bank, self._wanted, self._end = bank, wanted, end
        self._edited = bank.edits.names()
        self._known: dict[str, bool] = {}

    def of(
        self, found: SearchResult, waiting: Mapping[int, str], limit: int
    ) -> tuple[int, set[int]]:
        """Return how many of the best hits meet them, at most a limit, and which notes do not.

        `waiting` are the paths of the notes to look at; after the time, all of them are.
        """
        good, bad = 0, set[int]()
        for number in (hit.document.number for hit in found.hits):
            if number in waiting and not self._met(waiting[number]):
                bad.add(number)
                continue
            good += 1
            if good == limit:
                break
        if time.monotonic() > self._end:
            bad |= {number for number, path in waiting.items() if not self._met(path)}
        return good, bad

    def _met(self, path: str) -> bool:
        if path not in self._known:
            tier = trust.tier_of(self._bank, path, self._end, self._edited)[0]
            self._known[path] = tier in self._wanted
        return self._known[path]


def _wanted(conditions: Iterable[Condition]) -> frozenset[str] | None:
    """Return the tiers that meet all conditions; None if none is about tiers."""
    found: frozenset[str] | None = None
    every = frozenset([*TIERS, UNKNOWN])
    for one in conditions:
        named = boosts.tiers_of(str(one.value)) if one.key == boosts.KEY else None
        if named is not None:
            found = (every if found is None else found) & (every - named if one.negated else named)
    return found


class _Possible(NamedTuple):
    path: str
    tiers: frozenset[str]
    """Those that its lines may have."""


def _possible(bank: Bank, view: View) -> Mapping[int, _Possible]:
    """Return the tiers that each indexed note may have, by its number."""
    rows = document_rows.all_documents(view.manifest)
    trust.refresh(bank, [row.key for row in rows])
    histories = dict.fromkeys(filter(None, (bank.commits(row.key) for row in rows)))
    state = "\n".join([*(one.key for one in histories), bank.edits.state()])
    cache = next(iter(histories), None)
    kept_state, kept = _kept(cache)
    edited, of_commits = bank.edits.names(), dict[str, str]()
    found, new = {}, {}
    for row in rows:
        had = kept.get(row.key)
        if had is None or had[0] != row.hash or kept_state != state:
            had = _looked_at(bank, row, had, edited, of_commits)
        new[row.key] = had
        found[row.number] = _Possible(row.key, frozenset(had[3].split()))
    if cache is not None and (new != kept or kept_state != state):
        cache.keep(_TIERS, json.dumps([state, new]))
    return found


def _kept(cache: FileCommits | None) -> tuple[str, dict[str, list[str]]]:
    """Return what was found last, by path, and of which state of commits and logs."""
    try:
        state, files = json.loads(cache.kept(_TIERS) if cache is not None else "")
        return str(state), dict(files)
    except (ValueError, TypeError, MemoryBankError):
        return "", {}


def _looked_at(
    bank: Bank,
    row: DocumentRow,
    had: Sequence[str] | None,
    edited: Collection[str],
    of_commits: dict[str, str],
) -> list[str]:
    """Return the hash of a note, its blob in HEAD, whether it has these bytes, and its tiers.

    Of what was returned before, `had`, only that the bytes are the same is taken.
    """
    try:
        note = NoteTrust(bank, row.key, edited, row.known_as)
        blob = note.commits.blob(row.key) if note.commits else ""
        same = had[2] == "clean" if had and list(had[:2]) == [row.hash, blob] else note.clean
        found = note.possible(clean=same, known=of_commits)
    except MemoryBankError:
        return ["", "", "", UNKNOWN]  # gone meanwhile
    return [row.hash, blob, "clean" if same else "", " ".join(sorted(found))]
