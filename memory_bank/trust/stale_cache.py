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
from memory_bank.base.documents import Document
from memory_bank.base.errors import MemoryBankError, StorageFailed
from memory_bank.code.parse import VERSION
from memory_bank.git import objects, repository
from memory_bank.git.commits import CommitsAt
from memory_bank.git.file_commits import FileCommits
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.trust.records import MOVED, STALE, TOUCHED, verified_commit

if TYPE_CHECKING:  # start-up: a search compares little, since most is known
    from memory_bank.trust.citations import CodeCitation
    from memory_bank.trust.comparison import ComparedCitation

_TEXT = "stale"
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
    """The files on which that depends, below the work tree; ANY for all, or `in_any_folder`."""
    lines: tuple[StaleLine, ...]
    holds: bool = False
    """Whether it was confirmed, or cites code that was compared, and all of that is as it was."""


class StaleCache:
    """The stale citations of one bank's notes at one commit, kept with the commits."""

    def __init__(self, file_commits: FileCommits, commits: CommitsAt) -> None:
        """Load what is known, without what the commits since then may have changed."""
        self._file_commits = file_commits
        self._commits = commits
        self._states: dict[str, NoteState] = {}
        self._uncited: dict[str, str] = {}
        """The etags of notes that cite nothing, which are most."""
        self.late = 0.0
        """When git last could not say in time what changed up to the commit."""
        try:
            head, self.late, states, uncited = _read_states(file_commits.load_text(_TEXT))
            self._states, self._uncited = dict(states), dict(uncited)
        except (MemoryBankError, ValueError, TypeError):
            head, self.late = "", 0.0
        if head != _key(commits.head):
            self._advance(head)

    def get(self, notes: Mapping[str, str]) -> dict[str, NoteState]:
        """Return the known states of notes, given as path and etag."""
        states = {}
        for path, etag in notes.items():
            state = self._states.get(path)
            if self._uncited.get(path) == etag:
                states[path] = NoteState(etag, (), ())
            elif state is not None and state.etag == etag:
                states[path] = state
        return states

    def put(self, states: Mapping[str, NoteState]) -> None:
        """Keep new states."""
        for path, state in states.items():
            if any(state[1:]):
                self._states[path] = state
            else:
                self._uncited[path] = state.etag
        self.save()

    def save(self) -> None:
        """Save the states with the commits."""
        text = json.dumps([_key(self._commits.head), self.late, self._states, self._uncited])
        self._file_commits.save_text(_TEXT, text)

    def _advance(self, before: str) -> None:
        """Remove the states that commits since a former key may have changed."""
        self.late = 0.0
        changed = self._list_changed_files(before)
        if changed is None:
            self._states = {}
        else:
            changed = {*changed, *map(in_any_folder, changed)}
            self._states = {
                path: state
                for path, state in self._states.items()
                if not _depends_on(state.files, changed)
            }
        self.save()

    def _list_changed_files(self, before: str) -> Collection[str] | None:
        """Return the files that differ from those of a former key; None if all may."""
        version, _, old = before.partition(" ")
        if version != VERSION or not self._commits.is_before(old, self._commits.head):
            return None
        files: Collection[str] | None = self._commits.list_differing(old)
        if files is None and self._file_commits.tree is not None:
            files = objects.list_differing(self._file_commits.tree, old, self._commits.head)
        return None if files is None or len(files) > _MOST_CHANGED else frozenset(files)


@lru_cache(maxsize=2)
def _read_states(text: str) -> tuple[str, float, Mapping[str, NoteState], Mapping[str, str]]:
    head, late, notes, uncited = json.loads(text)
    states = {str(path): _parse_state(row) for path, row in dict(notes).items()}
    return str(head), late, states, dict(uncited)


def _key(head: str) -> str:
    return f"{VERSION} {head}"


def in_any_folder(path: str) -> str:
    """Return what stands for all files with the name of a path, in any folder."""
    return f"{ANY}/{path.rpartition('/')[2]}"


def _depends_on(files: Collection[str], changed: Collection[str]) -> bool:
    """Tell whether a state that depends on some files may differ, as others changed."""
    return any(
        file == ANY or file in changed or any(path.startswith(f"{file}/") for path in changed)
        for file in files
    )


def _parse_state(row: Sequence[Any]) -> NoteState:
    etag, files, rows, holds = row
    lines = tuple(StaleLine(int(line), str(reason), bool(stale)) for line, reason, stale in rows)
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

    def __init__(self, bank: Bank, view: IndexView, tree: Path, head: str) -> None:
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
            if number in states and any(line.stale for line in states[number].lines)
        ]
        if not stale_rows:
            return {}
        places = document_rows.read_passages(self._view.manifest, stale_rows)
        sections = {
            row: range(place.section.line, place.section.end_line) for row, place in places.items()
        }
        reasons = {
            row: _write_reasons(states[rows[row]].lines, section)
            for row, section in sections.items()
        }
        return {row: reason for row, reason in reasons.items() if reason}

    def reason(self, number: int, lines: Collection[int]) -> str:
        """Return why lines of a note are stale that a search found; empty if they are not."""
        return _write_reasons(self._known[number].lines, lines) if number in self._known else ""

    def notes(self, numbers: Collection[int]) -> dict[int, NoteState]:
        """Return what became of the code that notes cite, by the numbers of the notes."""
        rows = document_rows.read_documents(self._view.manifest, set(numbers))
        states = self._states({row.key: row for row in rows.values()})
        self._known |= {number: states[row.key] for number, row in rows.items()}
        return {number: self._known[number] for number in rows}

    @cached_property
    def _cache(self) -> StaleCache | None:
        """What is known of the commit that is checked out; None if that can't be read in time."""
        file_commits = self._bank.commits("")
        if file_commits is not None:
            file_commits.refresh(seconds=_SECONDS)
            commits = file_commits.commits
            if commits is not None and commits.head == self._head:
                return StaleCache(file_commits, commits)
        return None

    def _states(self, notes: Mapping[str, Document]) -> dict[str, NoteState]:
        etags = {path: row.hash for path, row in notes.items()}
        states = self._judge_notes(self._cache, etags, notes) if self._cache else {}
        return {path: states.get(path) or NoteState(etag, (), ()) for path, etag in etags.items()}

    def _judge_notes(
        self, cache: StaleCache, etags: Mapping[str, str], notes: Mapping[str, Document]
    ) -> dict[str, NoteState]:
        """Return what became of the code that notes cite, as far as git can say in time."""
        states = cache.get(etags)
        missing = {row.number: row for path, row in notes.items() if path not in states}
        citing = {
            row.source for row in link_rows.find_to_ghosts(self._view.manifest, sorted(missing))
        }
        for number in missing.keys() - citing:  # nothing needs to be kept of most notes
            row = missing.pop(number)
            states[row.key] = _uncompared_state(row)
        if not missing or time.time() - cache.late < _AGAIN:
            return states
        new = self._compare_citations(missing)
        if new is None:
            cache.late = time.time()
        cache.put(new or {})
        return states | (new or {})

    def _compare_citations(self, notes: Mapping[int, Document]) -> dict[str, NoteState] | None:
        """Compare the citations of some notes now; None if git can't say in time."""
        states = {row.key: _uncompared_state(row) for row in notes.values()}
        from memory_bank.trust.citations import list_citations
        from memory_bank.trust.comparison import CodeComparison

        citations = list_citations(self._view.manifest, self._bank, self._tree, notes)
        if not citations:
            return states
        cited_by_note: dict[str, list[CodeCitation]] = {}
        for cited in citations:
            cited_by_note.setdefault(cited.note, []).append(cited)
        try:
            with CodeComparison(self._bank, self._head, end=self._head, seconds=_SECONDS) as code:
                untouched = code.list_untouched(citations, self._bank)
                touched = [cited for cited in citations if cited.note not in untouched]
                compared = code.compare_citations(touched, self._bank)
                files = {note: code.find_file(self._bank, note) for note in cited_by_note}
        except StorageFailed:
            return None
        except MemoryBankError:
            return {}  # the next search asks again
        for note, note_citations in cited_by_note.items():
            note_compared = [citation for citation in compared if citation.cited.note == note]
            paths = {path for citation in note_compared for path in _list_files(citation)}
            paths = paths or {cited.place.path for cited in note_citations}
            is_confirmed = bool(note_citations[-1].verified)
            states[note] = NoteState(
                states[note].etag,
                tuple(sorted({files[note], *paths} - {""})),
                tuple(_list_stale_lines(note_compared)),
                holds=note in untouched or _holds(note_compared, confirmed=is_confirmed),
            )
        return states


def _uncompared_state(row: Document) -> NoteState:
    """Return the state of a note of which no citation was compared."""
    return NoteState(row.hash, (), (), holds=bool(verified_commit(row.data)))


def open_stale_hits(bank: Bank, view: IndexView) -> StaleHits | None:
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

    def ask(view: IndexView) -> tuple[str, tuple[str, ...]]:
        judge = open_stale_hits(bank, view)
        if judge is None:
            return "", ()
        numbers = document_rows.find_numbers(view.manifest, {path})
        stale_lines = [line for state in judge.notes(numbers).values() for line in state.lines]
        touched = (line for line in stale_lines if not line.stale and _is_about(line, lines))
        return _write_reasons(stale_lines, lines), tuple(line.reason for line in touched)

    return bank.read(ask)


def _is_about(line: StaleLine, scope: Collection[int] | None) -> bool:
    """Tell whether a citation is about some lines of its note, or all of it; None for all lines."""
    return scope is None or not line.line or line.line in scope


def _write_reasons(lines: Iterable[StaleLine], scope: Collection[int] | None) -> str:
    """Return the first reason why some lines of a note are stale, and the number of the others."""
    reasons = [line.reason for line in lines if line.stale and _is_about(line, scope)]
    return reasons[0] + (f" and {len(reasons) - 1} more" if reasons[1:] else "") if reasons else ""


def _list_files(citation: ComparedCitation) -> Iterable[str]:
    """Return the files on which a result depends."""
    comparison, cited = citation.comparison, citation.cited
    if comparison.state == "unknown" and not cited.by_name:
        return [cited.place.path, in_any_folder(cited.place.path)]
    if comparison.state not in {"fresh", "touched", "changed"}:
        return [ANY]  # any commit may bring it back
    places = [comparison.place, comparison.before, cited.place]
    return [place.path for place in places if place and place.path] or [ANY]


def _list_stale_lines(compared: Iterable[ComparedCitation]) -> list[StaleLine]:
    """Return the citations of a note whose code is another now, the most severe first."""
    order = [*STALE, TOUCHED]
    citations = [citation for citation in compared if citation.comparison.state in order]
    citations.sort(key=lambda citation: order.index(citation.comparison.state))
    return [
        StaleLine(
            0 if citation.cited.in_front_matter else citation.cited.line,
            _write_reason(citation),
            citation.comparison.state != TOUCHED,
        )
        for citation in citations
    ]


def _holds(citations: Sequence[ComparedCitation], *, confirmed: bool) -> bool:
    """Tell whether a note was confirmed or has a citation that was compared, and none differs."""
    states = {citation.comparison.state for citation in citations if citation.base} - {"unknown"}
    if confirmed:
        return states.isdisjoint(STALE)
    return bool(states) and states <= {"fresh", *MOVED}


def _write_reason(citation: ComparedCitation) -> str:
    cited, comparison = citation.cited, citation.comparison
    changed = citation.last_change.time
    since = f" since {seconds_to_iso(changed)[:_DAY]}" if changed else ""
    text = "is gone" if comparison.state == "gone" else "changed"
    names = f": {', '.join(citation.names[:_MOST_NAMES])}"[:_MOST_REASON] if citation.names else ""
    return f"{cited.written[:_MOST_REASON]} {text}{since}{names}"
