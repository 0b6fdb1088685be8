"""Tell which hits of a search are stale; what is known is kept by content and commit."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import MemoryBankError, StorageFailed
from memory_bank.code.parse.parsed_file import VERSION
from memory_bank.git import objects, repository
from memory_bank.git.commits import CommitsAt
from memory_bank.git.file_commits import FileCommits
from memory_bank.search.index import View
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.document_rows import DocumentRow
from memory_bank.trust.records import verified_commit

if TYPE_CHECKING:  # start-up: a search compares little, since most is known
    from memory_bank.trust.citations import Cited
    from memory_bank.trust.comparison import ComparedCitation

_KEPT = "stale"
"""Name of what is kept with the commits."""

_MOST_CHANGED = 5_000
"""Number of changed files above which all notes are compared again."""

ANY = "*"
"""Stands for all files, among those on which a result depends."""


class StaleLine(NamedTuple):
    """A citation of code in a note that is another now, and what is said of it."""

    line: int
    """0 for one in the front matter, which is about all of the note."""
    reason: str
    stale: bool = True
    """False if only the cited file changed, not what the note names in it."""


class NoteState(NamedTuple):
    """What became of the code that a version of a note cites."""

    etag: str
    files: tuple[str, ...]
    """The files on which that depends, below the work tree; ANY for all, or `any_folder`."""
    found: tuple[StaleLine, ...]
    holds: bool = False
    """Whether it was confirmed, or cites code that was compared, and all of that is as it was."""


class StaleCache:
    """The stale citations of one bank's notes at one commit, kept with the commits."""

    def __init__(self, commits: FileCommits, at: CommitsAt) -> None:
        """Load what is known, without what the commits since then may have changed."""
        self._commits = commits
        self._at = at
        self._states: dict[str, NoteState] = {}
        self._uncited: dict[str, str] = {}
        """The etags of notes that cite nothing, which are most."""
        self.late = 0.0
        """When git last could not say in time what changed up to the commit."""
        try:
            head, self.late, states, uncited = _read_states(commits.kept(_KEPT))
            self._states, self._uncited = dict(states), dict(uncited)
        except (MemoryBankError, ValueError, TypeError):
            head, self.late = "", 0.0
        if head != _key(at.head):
            self._advance(head)

    def get(self, notes: Mapping[str, str]) -> dict[str, NoteState]:
        """Return what is known of notes, given as path and etag."""
        states = {path: self._states[path] for path in notes if path in self._states}
        states = {path: state for path, state in states.items() if state.etag == notes[path]}
        uncited = (path for path, etag in notes.items() if self._uncited.get(path) == etag)
        return states | {path: NoteState(notes[path], (), ()) for path in uncited}

    def put(self, states: Mapping[str, NoteState]) -> None:
        """Keep what was found."""
        nothing = {path: state.etag for path, state in states.items() if not any(state[1:])}
        self._uncited |= nothing
        self._states |= {path: states[path] for path in states if path not in nothing}
        self.save()

    def save(self) -> None:
        """Keep what is known."""
        text = json.dumps([_key(self._at.head), self.late, self._states, self._uncited])
        self._commits.keep(_KEPT, text)

    def _advance(self, before: str) -> None:
        """Remove what another commit may have changed."""
        self.late = 0.0
        changed = self._list_changed_files(before)
        if changed is None:
            self._states = {}
        else:
            changed = {*changed, *map(any_folder, changed)}
            self._states = {
                path: state
                for path, state in self._states.items()
                if not _depends(state.files, changed)
            }
        self.save()

    def _list_changed_files(self, before: str) -> Collection[str] | None:
        """Return the files that differ from the commit before; None if all notes may."""
        version, _, old = before.partition(" ")
        if version != VERSION or not self._at.before(old, self._at.head):
            return None
        at: Collection[str] | None = self._at.difference(old)
        if at is None and self._commits.tree is not None:
            at = objects.list_differing(self._commits.tree, old, self._at.head)
        return None if at is None or len(at) > _MOST_CHANGED else frozenset(at)


@lru_cache(maxsize=2)
def _read_states(text: str) -> tuple[str, float, Mapping[str, NoteState], Mapping[str, str]]:
    head, late, notes, uncited = json.loads(text)
    states = {str(path): _state(row) for path, row in dict(notes).items()}
    return str(head), late, states, dict(uncited)


def _key(head: str) -> str:
    return f"{VERSION} {head}"


def any_folder(path: str) -> str:
    """Stand for all files with the name of a path, in any folder."""
    return f"{ANY}/{path.rpartition('/')[2]}"


def _depends(files: Collection[str], changed: Collection[str]) -> bool:
    """Tell whether a result depends on a changed file, in its folder or `any_folder`."""
    for file in files:
        if file == ANY or file in changed or any(path.startswith(f"{file}/") for path in changed):
            return True
    return False


def _state(row: Sequence[Any]) -> NoteState:
    etag, files, answer, holds = row
    lines = tuple(StaleLine(int(line), str(reason), bool(stale)) for line, reason, stale in answer)
    return NoteState(str(etag), tuple(map(str, files)), lines, bool(holds))


_SECONDS = 1.0
"""Time limit of listing the commits of the notes."""

_AGAIN = 600.0
"""Seconds after a search that git kept waiting in which others don't wait for it."""

_DAY = 10

# Characters of a reason that a hit has.
_MOST_REASON = 200

# Names of changed code that a reason has.
_MOST_NAMES = 3


class StaleHits:
    """The stale passages of a bank, as of the commit that is checked out."""

    def __init__(self, bank: Bank, view: View, tree: Path, head: str) -> None:
        self._bank = bank
        self._view = view
        self._tree = tree
        self._head = head
        self._known: dict[int, NoteState] = {}

    def __call__(self, rows: Mapping[int, int]) -> dict[int, str]:
        """Return why passages are stale, given as row and document; only those that are."""
        states = self.notes(set(rows.values()))
        stale_rows = [
            row
            for row, number in rows.items()
            if number in states and any(line.stale for line in states[number].found)
        ]
        if not stale_rows:
            return {}
        places = document_rows.read_passages(self._view.manifest, stale_rows)
        sections = {
            row: range(place.section.line, place.section.end_line) for row, place in places.items()
        }
        reasons = {
            row: _first_reason(states[rows[row]].found, section)
            for row, section in sections.items()
        }
        return {row: reason for row, reason in reasons.items() if reason}

    def reason(self, number: int, lines: Collection[int]) -> str:
        """Return why lines of a note are stale that a search found; empty if they are not."""
        return _first_reason(self._known[number].found, lines) if number in self._known else ""

    def notes(self, numbers: Collection[int]) -> dict[int, NoteState]:
        """Return what became of the code that notes cite, by the numbers of the notes."""
        rows = document_rows.read_documents(self._view.manifest, set(numbers))
        states = self._states({row.key: row for row in rows.values()})
        self._known |= {number: states[row.key] for number, row in rows.items()}
        return {number: self._known[number] for number in rows}

    @cached_property
    def _cache(self) -> StaleCache | None:
        """What is known of the commit that is checked out; None if that can't be read in time."""
        commits = self._bank.commits("")
        if commits is not None:
            commits.refresh(seconds=_SECONDS)
            if commits.at is not None and commits.at.head == self._head:
                return StaleCache(commits, commits.at)
        return None

    def _states(self, notes: Mapping[str, DocumentRow]) -> dict[str, NoteState]:
        etags = {path: row.hash for path, row in notes.items()}
        states = self._judge_notes(self._cache, etags, notes) if self._cache else {}
        return {path: states.get(path) or NoteState(etag, (), ()) for path, etag in etags.items()}

    def _judge_notes(
        self, cache: StaleCache, etags: Mapping[str, str], notes: Mapping[str, DocumentRow]
    ) -> dict[str, NoteState]:
        """Return what became of the code that notes cite, as far as git can say in time."""
        states = cache.get(etags)
        missing = {row.number: row for path, row in notes.items() if path not in states}
        citing = {
            row.source for row in link_rows.find_to_ghosts(self._view.manifest, sorted(missing))
        }
        for number in missing.keys() - citing:  # nothing needs to be kept of most notes
            row = missing.pop(number)
            states[row.key] = _uncompared(row)
        if not missing or time.time() - cache.late < _AGAIN:
            return states
        new = self._compare_citations(missing)
        if new is None:
            cache.late = time.time()
        cache.put(new or {})
        return states | (new or {})

    def _compare_citations(self, notes: Mapping[int, DocumentRow]) -> dict[str, NoteState] | None:
        """Compare the citations of some notes now; None if git can't say in time."""
        states = {row.key: _uncompared(row) for row in notes.values()}
        from memory_bank.trust.citations import list_cited
        from memory_bank.trust.comparison import CodeComparison

        chosen = list_cited(self._view.manifest, self._bank, self._tree, notes)
        if not chosen:
            return states
        try:
            with CodeComparison(
                self._bank, self._head, end=self._head, seconds=_SECONDS
            ) as comparison:
                untouched = comparison.untouched(chosen, self._bank)
                touched = [
                    cited_place for cited_place in chosen if cited_place.note not in untouched
                ]
                judged = comparison.judge(touched, self._bank)
                files = {
                    cited_place.note: comparison.file(self._bank, cited_place.note)
                    for cited_place in chosen
                }
        except StorageFailed:
            return None
        except MemoryBankError:
            return {}  # the next search asks again
        by_note: dict[str, list[ComparedCitation]] = {}
        for compared in judged:
            by_note.setdefault(compared.cited.note, []).append(compared)
        places: dict[str, list[Cited]] = {}
        for chosen_citation in chosen:
            places.setdefault(chosen_citation.note, []).append(chosen_citation)
        for note, citations in places.items():
            compared_citations = by_note.get(note, [])
            paths = {path for compared in compared_citations for path in _files(compared)}
            paths = paths or {chosen_citation.place.path for chosen_citation in citations}
            depends = {files[note], *paths} - {""}
            holds = note in untouched or _holds(
                compared_citations, confirmed=bool(citations[-1].verified)
            )
            states[note] = NoteState(
                states[note].etag, tuple(sorted(depends)), tuple(_lines(compared_citations)), holds
            )
        return states


def _uncompared(row: DocumentRow) -> NoteState:
    """Return the state of a note of which no citation was compared."""
    return NoteState(row.hash, (), (), holds=bool(verified_commit(row.data)))


def stale_hits(bank: Bank, view: View) -> StaleHits | None:
    """Return what tells stale passages; None outside git."""
    tree = repository.find_worktree(bank.layout.root)
    if tree is None or tree != repository.find_worktree(bank.layout.project):
        return None
    head = repository.read_head_commit(tree)
    return StaleHits(bank, view, tree, head) if head else None


def check_citations(
    bank: Bank, path: str, lines: range | None = None
) -> tuple[str, tuple[str, ...]]:
    """Return why a note, or its lines and front matter, is stale; empty if it is not.

    Also returns which cited files changed, though not what the note names in them.
    """

    def ask(view: View) -> tuple[str, tuple[str, ...]]:
        judge = stale_hits(bank, view)
        if judge is None:
            return "", ()
        numbers = document_rows.find_numbers(view.manifest, {path})
        found = [line for state in judge.notes(numbers).values() for line in state.found]
        touched = (line for line in found if not line.stale and _is_about(line, lines))
        return _first_reason(found, lines), tuple(line.reason for line in touched)

    return bank.read(ask)


def _is_about(line: StaleLine, lines_shown: Collection[int] | None) -> bool:
    """Tell whether a citation is about some lines of its note, or all of it; None for all lines."""
    return lines_shown is None or not line.line or line.line in lines_shown


def _first_reason(found: Iterable[StaleLine], lines_shown: Collection[int] | None) -> str:
    """Return the first reason why some lines of a note are stale, and the number of the others."""
    reasons = [line.reason for line in found if line.stale and _is_about(line, lines_shown)]
    return reasons[0] + (f" and {len(reasons) - 1} more" if reasons[1:] else "") if reasons else ""


def _files(judged: ComparedCitation) -> Iterable[str]:
    """Return the files on which a result depends."""
    compared, cited = judged.compared, judged.cited
    if compared.state == "unknown" and not cited.by_name:
        return [cited.place.path, any_folder(cited.place.path)]
    if compared.state not in {"fresh", "touched", "changed"}:
        return [ANY]  # any commit may bring it back
    places = [compared.place, compared.before, cited.place]
    return [place.path for place in places if place and place.path] or [ANY]


def _lines(judged: Iterable[ComparedCitation]) -> list[StaleLine]:
    """Return the citations of a note whose code is another now, the most severe first."""
    from memory_bank.trust.stale_report import STALE, TOUCHED

    order = [*STALE, TOUCHED]
    citations = [citation for citation in judged if citation.compared.state in order]
    citations.sort(key=lambda citation: order.index(citation.compared.state))
    return [
        StaleLine(
            0 if citation.cited.in_front_matter else citation.cited.line,
            _reason(citation),
            citation.compared.state != TOUCHED,
        )
        for citation in citations
    ]


def _holds(judged: Sequence[ComparedCitation], *, confirmed: bool) -> bool:
    """Tell whether a note was confirmed or has a citation that was compared, and none differs."""
    from memory_bank.trust.stale_report import MOVED, STALE

    states = {citation.compared.state for citation in judged if citation.base} - {"unknown"}
    if confirmed:
        return states.isdisjoint(STALE)
    return bool(states) and states <= {"fresh", *MOVED}


def _reason(judged: ComparedCitation) -> str:
    cited, compared = judged.cited, judged.compared
    since = f" since {seconds_to_iso(judged.since.time)[:_DAY]}" if judged.since.time else ""
    text = "is gone" if compared.state == "gone" else "changed"
    names = f": {', '.join(judged.names[:_MOST_NAMES])}"[:_MOST_REASON] if judged.names else ""
    return f"{cited.written[:_MOST_REASON]} {text}{since}{names}"
