"""How far a note is to be trusted, by the commits of its lines: never by what its text says.

A section's tier is that of its least trusted line, a note's that of its least trusted section.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.git import authorship, objects, repository
from memory_bank.git.commits import Change, Commit
from memory_bank.git.file_commits import FileCommits
from memory_bank.git.process import LIMIT
from memory_bank.notes.note_change import align_runs
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
        """Look at the note at a path; the commits are those of the last `refresh_commits`.

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
        agent = _name_agents(commit) or self._list_recorded_agents(commit)
        request_merge = self.commits.find_request(commit.id)
        number = request_merge[0] if request_merge else 0
        reviewers = tuple(name for name in _list_reviewers(commit) if name) if request_merge else ()
        reviewed = bool(number) or bool(reviewers)
        tier = REVIEWED if reviewed else AGENT if agent else HUMAN
        return LineOrigin(
            tier, commit.id, commit.author, commit.mail, agent, commit.written, commit.subject,
            number or None, reviewed, reviewers,
        )  # fmt: skip

    def uncommitted_origin(self) -> LineOrigin:
        """Return the origin of lines that are not committed."""
        last = max((change.commit.made for change in self.changes), default=0)
        names = [agent for when, agent in self._list_agent_writes() if int(when) >= last]
        return LineOrigin(UNCOMMITTED, agent=", ".join(dict.fromkeys(names)))

    def possible_tiers(self) -> frozenset[str]:
        """Return the tiers that lines may have, without a comparison of lines."""
        if self.commits is None or not self.commits.blob(self.path):
            return frozenset([UNKNOWN if self.commits and not self._is_known else UNCOMMITTED])
        tiers = {self.origin(change.commit).trust for change in self.changes}
        if not self.clean:
            tiers.add(UNCOMMITTED)
        return frozenset(tiers or [UNKNOWN])

    def line_origins(self, seconds: float = LIMIT) -> list[LineOrigin] | None:
        """Return the origin of each line of the file; None if git can't say in time."""
        count = len(_split_lines(self.data))
        if self.commits is None or not self.commits.blob(self.path):
            is_unknown = self.commits and not self._is_known
            return [LineOrigin(UNKNOWN) if is_unknown else self.uncommitted_origin()] * count
        origins = self._blame_head(seconds)
        if origins is None or self.clean:
            return origins and (origins + origins[-1:] * count)[:count]
        head_data = self._read_head()
        if head_data is None:
            return None
        old, new = _split_lines(head_data), _split_lines(self.data)
        return _carry_origins(old, origins, new, self.uncommitted_origin())

    @property
    def _is_known(self) -> bool:
        return self.commits is not None and (self.commits.is_empty or self.commits.is_known)

    def _blame_head(self, seconds: float) -> list[LineOrigin] | None:
        """Return the origin of each line as of HEAD."""
        assert self.commits is not None  # noqa: S101
        commits = {change.commit.id: change.commit for change in self.changes}
        if len(commits) == 1:
            return [self.origin(*commits.values())] * len(_split_lines(self.data))
        ids = self.commits.blame_lines(self.path, seconds)
        if ids is None:
            return None
        origins = {commit_id: self.origin(commit) for commit_id, commit in commits.items()}
        return [origins.get(commit_id, LineOrigin(UNKNOWN, commit_id)) for commit_id in ids]

    def tree_path(self, path: str) -> str:
        """Return the path below the work tree of a path that a change has."""
        tree = self.commits.tree if self.commits else None
        if path.startswith("/") or tree is None:
            return path.removeprefix("/")
        return repository.tree_prefix(tree, self._bank.roots.of(self.path).folder) + path

    def read_versions(
        self, changes: Iterable[Change], max_bytes: int
    ) -> Iterator[tuple[Change, bytes | None, bytes | None]]:
        """Yield changes with the note's bytes in the first parent and in the commit.

        None stands for a version that is missing or has more than `max_bytes`.
        """
        tree = self.commits.tree if self.commits else None
        if tree is None:
            return
        rows = []
        for change in changes:
            commit = change.commit
            parent = commit.parents[0] if commit.parents and change.status != "A" else ""
            before = f"{parent}:{self.tree_path(change.old)}" if parent else ""
            after = "" if change.status == "D" else f"{commit.id}:{self.tree_path(change.path)}"
            rows.append((change, before, after))
        ids = objects.read_blob_ids(tree, (name for _, *names in rows for name in names if name))
        contents = dict(objects.read_blobs(tree, set(ids.values()), max_bytes))
        for change, before, after in rows:
            yield change, contents.get(ids.get(before, "")), contents.get(ids.get(after, ""))

    def _read_head(self) -> bytes | None:
        """Return the bytes of the note in HEAD; None if git can't read them."""
        assert self.commits is not None  # noqa: S101
        if self.commits.tree is None:
            return None
        try:
            ids = [self.commits.blob(self.path)]
            return dict(objects.read_blobs(self.commits.tree, ids, _MOST_BYTES)).get(ids[0])
        except MemoryBankError:
            return None

    def _list_agent_writes(self) -> Sequence[tuple[float, str]]:
        """Return when agents changed the note on this machine, by its id and its paths."""
        if self._edited is None:
            self._edited = self._bank.edits.written_notes()
        if not self._edited:
            return ()
        if self._writes is None:
            row = self._bank.read(lambda view: open_index.note_at(view.manifest, self.path))
            key = row.known_as if row else self.path
            names = {self.path, key, *(change.old for change in self.changes)}
            names.intersection_update(self._edited)
            self._writes = self._bank.edits.write_times(names) if names else ()
        return self._writes

    def _list_recorded_agents(self, commit: Commit) -> str:
        """Return the agents that wrote on this machine between the commit before and this one."""
        ids = [change.commit.id for change in self.changes]
        writes = self._list_agent_writes()
        if commit.id not in ids or not writes:
            return ""
        earlier = self.changes[ids.index(commit.id) + 1 :]
        start = max((change.commit.made for change in earlier), default=0)
        end = max(commit.written, commit.made)
        return ", ".join(
            dict.fromkeys(agent for when, agent in writes if start <= int(when) <= end)
        )


def refresh_commits(bank: Bank, paths: Iterable[str], seconds: float = LIMIT) -> tuple[str, ...]:
    """Read new commits of the repositories of some notes; return what is not known, and why."""
    commits_of_notes = dict.fromkeys(filter(None, map(bank.commits, paths)))
    for commits in commits_of_notes:
        commits.refresh(again=seconds >= LIMIT, seconds=seconds)
        commits.refresh_requests()
    return tuple(dict.fromkeys(text for commits in commits_of_notes for text in commits.limits))


def least_trusted(tiers: Iterable[str]) -> str:
    """Return the least trusted of some tiers; `unknown` is the least of all, and for none."""
    return max(tiers, key=_ORDER.__getitem__, default=UNKNOWN)


def _list_span_tiers(
    bank: Bank, spans: Sequence[tuple[str, int, int, str]], seconds: float
) -> list[str]:
    """Return the tier of each span: a note's path, its first line, the line after its last, a hash.

    The hash is that of the file if it is known to be unchanged, else empty. The tier is empty
    outside git. After `seconds`, a note of several tiers has that of its least trusted commit.
    """
    end = time.monotonic() + seconds
    tiers_by_path: dict[str, tuple[str, list[LineOrigin] | None]] = {}
    edited = bank.edits.written_notes()
    span_tiers = []
    for path, start, stop, etag in spans:
        if path not in tiers_by_path:
            commits = bank.commits(path)
            tiers_by_path[path] = (
                ("", None)
                if commits is not None and commits.tree is None
                else _read_tier(bank, path, end, edited, etag)
            )
        note_tier, origins = tiers_by_path[path]
        tiers = [origin.trust for origin in (origins or [])[start - 1 : max(stop - 1, start)]]
        span_tiers.append(least_trusted(tiers) if tiers else note_tier)
    return span_tiers


def list_hit_tiers(bank: Bank, hits: Sequence[Hit]) -> list[str]:
    """Return the tiers of the sections of hits; empty outside git.

    An answer waits for them less than a second: a tier that is not known by then is `unknown`.
    """
    refresh_commits(bank, [hit.document.key for hit in hits], BADGE_SECONDS)
    spans = [
        (hit.document.key, hit.best.section.line, hit.best.section.end_line, hit.document.hash)
        for hit in hits
    ]
    return _list_span_tiers(bank, spans, BADGE_SECONDS)


def list_note_tiers(bank: Bank, paths: Sequence[str], seconds: float) -> list[str]:
    """Return the tiers of notes, empty outside git; the caller has called `refresh_commits`."""
    return _list_span_tiers(bank, [(path, 1, 1 << 40, "") for path in paths], seconds)


def _read_tier(
    bank: Bank, path: str, end: float, edited: Collection[str], etag: str
) -> tuple[str, list[LineOrigin] | None]:
    """Return the tier of a note, and the origins of its lines if they differ.

    The result is remembered for a file with a known hash, until the commits change. It is not if a
    human may have written the note and agents wrote notes on this machine: another of their writes
    may be recorded after its commit.
    """
    commits = bank.commits(path)
    remembered = commits.remembered if etag and commits else {}
    version = path, etag, bool(edited)
    if version in remembered:
        return cast("tuple[str, list[LineOrigin] | None]", remembered[version])
    try:
        data = bank.source.data(path, etag) if etag else None
        note = NoteTrust(bank, path, edited, data)
        possible = note.possible_tiers()
        seconds = min(end - time.monotonic(), authorship.SECONDS)
        origins = note.line_origins(seconds) if len(possible) > 1 else None
    except MemoryBankError:
        return UNKNOWN, None  # gone meanwhile
    tier = least_trusted([origin.trust for origin in origins] if origins else possible)
    if (origins or len(possible) == 1) and not (edited and HUMAN in possible):
        remembered[version] = tier, origins
    return tier, origins


def _name_agents(commit: Commit) -> str:
    people = [(commit.author, commit.mail), *commit.co_authors]
    names = [authorship.name_agent(mail, name) for name, mail in people]
    return ", ".join(dict.fromkeys(filter(None, names)))


def _list_reviewers(commit: Commit) -> list[str]:
    """Return the reviewers that a commit's trailers name, without its authors and agents."""
    authors = {commit.mail.casefold(), *(mail.casefold() for _, mail in commit.co_authors)}
    return [
        name or mail
        for name, mail in commit.reviewers
        if mail and mail.casefold() not in authors and not authorship.name_agent(mail, name)
    ]


def _split_lines(data: bytes) -> list[bytes]:
    """Return the lines of a file, with any line ends."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n").split(b"\n")


def _carry_origins(
    old: Sequence[bytes],
    origins: Sequence[LineOrigin],
    new: Sequence[bytes],
    new_origin: LineOrigin,
) -> list[LineOrigin]:
    """Return the origins of new lines: those of the equal old ones, else `new_origin`."""
    new_origins = [new_origin] * len(new)
    for run in align_runs(old, new) if len(origins) >= len(old) else ():
        if run.kind == "equal":
            new_origins[run.other_start : run.other_end] = origins[run.start : run.end]
    return new_origins
