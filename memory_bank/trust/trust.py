"""How far a note is to be trusted, by the commits of its lines: never by what its text says.

A section's tier is that of its least trusted line, a note's that of its least trusted section.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import cast

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.git import authorship, objects, repository
from memory_bank.git.commits import Change, Commit
from memory_bank.git.file_commits import FileCommits
from memory_bank.git.process import LIMIT
from memory_bank.notes.compare.note_change import align_runs
from memory_bank.search.engine import Hit
from memory_bank.trust.records import LineOrigin

REVIEWED, HUMAN, AGENT, UNCOMMITTED = "reviewed", "human", "agent", "uncommitted"

UNKNOWN = "unknown"
"""The tier where git can't say, as at the end of a shallow clone."""

_ORDER = {tier: place for place, tier in enumerate((REVIEWED, HUMAN, AGENT, UNCOMMITTED, UNKNOWN))}

# Of a version of a note that git gives.
_MOST_BYTES = 10_000_000

BADGE_SECONDS = 0.4
"""Most seconds for the commits of hits, and for their lines."""


class NoteTrust:
    """The origins of one note's lines."""

    def __init__(
        self,
        bank: Bank,
        path: str,
        edited: Collection[str] | None = None,
        data: bytes | None = None,
    ) -> None:
        """Look at the note at a path; the commits are those of the last `refresh`.

        `edited` are the notes that agents changed on this machine, `data` the bytes of the file, if
        they were read before.
        """
        self._bank = bank
        self.path = path
        self._data = data
        self._edited = edited
        self.commits: FileCommits | None = bank.commits(path)
        self.changes: tuple[Change, ...] = self.commits.changes(path) if self.commits else ()
        self._writes: Sequence[tuple[float, str]] | None = None

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        if self._data is None:
            self._data = self._bank.store.read_bytes(self.path)
        return self._data

    @property
    def clean(self) -> bool:
        """Whether the file has the bytes that HEAD has."""
        head = self.commits.blob(self.path) if self.commits else ""
        like = bytes.fromhex(head)
        return bool(head) and repository.hash_blob(self.data, like) == like

    def origin(self, commit: Commit) -> LineOrigin:
        """Return the origin of the lines of a commit."""
        assert self.commits is not None  # noqa: S101  (it has the commit)
        if commit.id in self.commits.ends:
            return LineOrigin(UNKNOWN, commit.id, time=commit.written)
        agent = _agent(commit) or self._list_recorded_agents(commit)
        brought = self.commits.brought(commit.id)
        request = brought[0] if brought else 0
        reviewers = tuple(name for name in _reviewers(commit) if name) if brought else ()
        reviewed = bool(request) or bool(reviewers)
        tier = REVIEWED if reviewed else AGENT if agent else HUMAN
        return LineOrigin(
            tier, commit.id, commit.author, commit.mail, agent, commit.written, commit.subject,
            request or None, reviewed, reviewers,
        )  # fmt: skip

    def uncommitted(self) -> LineOrigin:
        """Return the origin of lines that are not committed."""
        last = max((change.commit.made for change in self.changes), default=0)
        names = [agent for when, agent in self._list_local_changes() if int(when) >= last]
        return LineOrigin(UNCOMMITTED, agent=", ".join(dict.fromkeys(names)))

    def possible(self) -> frozenset[str]:
        """Return the tiers that lines may have, without a comparison of lines."""
        if self.commits is None or not self.commits.blob(self.path):
            return frozenset([UNKNOWN if self.commits and not self._known else UNCOMMITTED])
        tiers = {self.origin(change.commit).trust for change in self.changes}
        if not self.clean:
            tiers.add(UNCOMMITTED)
        return frozenset(tiers or [UNKNOWN])

    def lines(self, seconds: float = LIMIT) -> list[LineOrigin] | None:
        """Return the origin of each line of the file; None if git can't say in time."""
        count = len(_lines(self.data))
        if self.commits is None or not self.commits.blob(self.path):
            nothing = (
                LineOrigin(UNKNOWN) if self.commits and not self._known else self.uncommitted()
            )
            return [nothing] * count
        at_head = self._at_head(seconds)
        if at_head is None or self.clean:
            return at_head and (at_head + at_head[-1:] * count)[:count]
        old = self._head_text()
        if old is None:
            return None
        return _map_origins(_lines(old), at_head, _lines(self.data), self.uncommitted())

    @property
    def _known(self) -> bool:
        return self.commits is not None and (self.commits.empty or self.commits.known)

    def _at_head(self, seconds: float) -> list[LineOrigin] | None:
        """Return the origin of each line as of HEAD."""
        assert self.commits is not None  # noqa: S101
        commits = {change.commit.id: change.commit for change in self.changes}
        if len(commits) == 1:
            return [self.origin(at_head) for at_head in commits.values()] * max(
                len(_lines(self.data)), 1
            )
        lines = self.commits.lines(self.path, seconds)
        if lines is None:
            return None
        origins = {text: self.origin(commit) for text, commit in commits.items()}
        return [origins.get(line, LineOrigin(UNKNOWN, line)) for line in lines]

    def below(self, tree: Path) -> Callable[[str], str]:
        """Return what turns a path of the commits into one below the work tree."""
        prefix = repository.below_tree(tree, self._bank.roots.of(self.path).folder)
        return lambda path: path[1:] if path.startswith("/") else prefix + path

    def _head_text(self) -> bytes | None:
        assert self.commits is not None  # noqa: S101
        tree = self.commits.tree
        if tree is None:
            return None
        try:
            blobs = objects.read_blobs(tree, [self.commits.blob(self.path)], _MOST_BYTES)
            return next((data for _, data in blobs), None)
        except MemoryBankError:
            return None

    def _list_local_changes(self) -> Sequence[tuple[float, str]]:
        """Return when agents changed the note on this machine, by its id and its paths."""
        if self._edited is None:
            self._edited = self._bank.edits.written_notes()
        if not self._edited:
            return ()
        if self._writes is None:
            row = self._bank.read(lambda view: open_index.note_at(view.manifest, self.path))
            key = row.known_as if row else self.path
            names = {self.path, key, *(change.old for change in self.changes)}
            recorded = names.intersection(self._edited)
            self._writes = self._bank.edits.write_times(recorded) if recorded else ()
        return self._writes

    def _list_recorded_agents(self, commit: Commit) -> str:
        """Return the agents that wrote on this machine what a commit has: after the one before."""
        mine = next(
            (at for at, change in enumerate(self.changes) if change.commit.id == commit.id), -1
        )
        if mine < 0 or not self._list_local_changes():
            return ""
        before = self.changes[mine + 1 :]
        start = max((change.commit.made for change in before), default=0)
        end = max(commit.written, commit.made)
        return ", ".join(
            dict.fromkeys(
                agent for when, agent in self._list_local_changes() if start <= int(when) <= end
            )
        )


def refresh(bank: Bank, paths: Iterable[str], seconds: float = LIMIT) -> tuple[str, ...]:
    """Read new commits of the repositories of some notes; return what is not known, and why."""
    histories = dict.fromkeys(filter(None, map(bank.commits, paths)))
    for file_commits in histories:
        file_commits.refresh(again=seconds >= LIMIT, seconds=seconds)
        file_commits.refresh_requests()
    return tuple(dict.fromkeys(text for file_commits in histories for text in file_commits.limits))


def least_trusted(tiers: Iterable[str]) -> str:
    """Return the least trusted of some tiers; `unknown` is the least of all, and for none."""
    return max(tiers, key=_ORDER.__getitem__, default=UNKNOWN)


def _tiers_of_spans(
    bank: Bank, spans: Sequence[tuple[str, int, int, str]], seconds: float
) -> list[str]:
    """Return the tier of some line spans of notes: path, first line, the line after the last, hash.

    The hash is that of the file if it is known to be unchanged. Empty outside git. After `seconds`,
    a note of several tiers has that of its least trusted commit.
    """
    end = time.monotonic() + seconds
    paths: dict[str, tuple[str, list[LineOrigin] | None]] = {}
    edited = bank.edits.written_notes()
    entries = []
    for path, start, stop, etag in spans:
        if path not in paths:
            commits = bank.commits(path)
            outside = commits is not None and commits.tree is None
            paths[path] = ("", None) if outside else _tier_of(bank, path, end, edited, etag)
        whole, lines = paths[path]
        trusts = (
            [line_origin.trust for line_origin in lines[start - 1 : max(stop - 1, start)]]
            if lines
            else []
        )
        entries.append(least_trusted(trusts) if trusts else whole)
    return entries


def tiers_of_hits(bank: Bank, hits: Sequence[Hit]) -> list[str]:
    """Return the tiers of the sections of hits; empty outside git.

    An answer waits for it less than a second: what then is not known is `unknown`.
    """
    refresh(bank, [hit.document.key for hit in hits], BADGE_SECONDS)
    spans = [
        (hit.document.key, hit.best.section.line, hit.best.section.end_line, hit.document.hash)
        for hit in hits
    ]
    return _tiers_of_spans(bank, spans, BADGE_SECONDS)


def tiers_of_notes(bank: Bank, paths: Sequence[str], seconds: float) -> list[str]:
    """Return the tiers of some notes; empty outside git. The caller has called `refresh`."""
    return _tiers_of_spans(bank, [(path, 1, 1 << 40, "") for path in paths], seconds)


def _tier_of(
    bank: Bank, path: str, end: float, edited: Collection[str], etag: str
) -> tuple[str, list[LineOrigin] | None]:
    """Return the tier of a note, and the origins of its lines if they differ.

    Of a file with a known hash it is remembered as long as the commits are the same; but not that
    a human wrote it where agents did on this machine, since another of their writes may be recorded
    after its commit.
    """
    commits = bank.commits(path)
    remembered = commits.remembered if etag and commits else {}
    version = path, etag, bool(edited)
    if version in remembered:
        return cast("tuple[str, list[LineOrigin] | None]", remembered[version])
    try:
        data = bank.source.data(path, etag) if etag else None
        note = NoteTrust(bank, path, edited, data)
        possible = note.possible()
        several = len(possible) > 1
        lines = note.lines(min(end - time.monotonic(), authorship.SECONDS)) if several else None
    except MemoryBankError:
        return UNKNOWN, None  # gone meanwhile
    tiers = (line_origin.trust for line_origin in lines) if lines else possible
    tier = least_trusted(tiers), lines
    if (lines or not several) and not (edited and HUMAN in possible):
        remembered[version] = tier
    return tier


def _agent(commit: Commit) -> str:
    people = [
        (commit.mail, commit.author),
        *((person.mail, person.name) for person in commit.co_authors),
    ]
    names = [authorship.name_agent(mail, name) for mail, name in people]
    return ", ".join(dict.fromkeys(filter(None, names)))


def _reviewers(commit: Commit) -> list[str]:
    """Return who reviewed a commit by its trailers: no author of it, and no agent."""
    authors = {commit.mail.casefold(), *(person.mail.casefold() for person in commit.co_authors)}
    return [
        person.name or person.mail
        for person in commit.reviewers
        if person.mail
        and person.mail.casefold() not in authors
        and not authorship.name_agent(person.mail, person.name)
    ]


def _lines(data: bytes) -> list[bytes]:
    """Return the lines of a file, with any line ends."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n").split(b"\n")


def _map_origins(
    old: Sequence[bytes],
    origins: Sequence[LineOrigin],
    new: Sequence[bytes],
    line_origin: LineOrigin,
) -> list[LineOrigin]:
    """Return the origins of new lines: those of the equal old ones, else `other`."""
    line_origins = [line_origin] * len(new)
    for run in align_runs(old, new) if len(origins) >= len(old) else ():
        if run.kind == "equal":
            line_origins[run.other_start : run.other_end] = origins[run.start : run.end]
    return line_origins
