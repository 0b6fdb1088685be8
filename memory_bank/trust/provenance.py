"""Tell who wrote a note, who reviewed it, and whether it still holds, by commit and section."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.errors import (
    BadInput,
    MemoryBankError,
    NoRepository,
    NoteNotFound,
    StorageFailed,
)
from memory_bank.base.operation import Note as NoteName
from memory_bank.base.operation import Param, Tool, operation
from memory_bank.git import objects, repository
from memory_bank.git.objects import Revision
from memory_bank.notes import parsing
from memory_bank.notes.names import link_name
from memory_bank.notes.note import Note
from memory_bank.trust import trust, views
from memory_bank.trust.records import (
    TOUCHED,
    BlamedLine,
    BlamedSection,
    Citation,
    LineOrigin,
    LoggedCommit,
    NoteBlame,
    NoteLog,
)
from memory_bank.trust.stale import stale
from memory_bank.trust.trust import UNCOMMITTED, NoteTrust

_MOST_BYTES = 1_000_000
"""Bytes of the largest former version of a note whose sections are compared."""

FRONT_MATTER = "front matter"
"""What stands for a heading before the first section."""

_MOST_VERSIONS = 200
"""Newest commits of a note whose sections are compared."""


def _list_for_agent(bank: Bank, name: str, limit: int) -> NoteLog:
    """Return at most 200 commits, since an agent reads them all."""
    return log(bank, name, min(max(limit, 1), _MOST_VERSIONS))


def _log_or_blame(
    bank: Bank,
    name: str,
    limit: int = 50,
    *,
    sections: Annotated[bool, Param("Show where each section comes from instead")] = False,
    by_line: Annotated[bool, Param("Show where each line comes from", flags="--lines")] = False,
) -> NoteLog | NoteBlame:
    """Return the commits of a note, or the origins of its sections and lines."""
    return blame(bank, name, by_line=by_line) if sections or by_line else log(bank, name, limit)


@operation(
    "log",
    why="""
    Lists the commits that changed a note, the newest first, under its former names too: who wrote
    each, with which agent, the pull request that brought it, whether it was reviewed, and the
    sections that it changed. All of it is from git and this machine's record, not from the note.

    With --sections, shows for each section of a note the commit of its least trusted line: its
    author, agent, pull request, and whether it was reviewed; with --lines for each line, too. Tiers
    of trust are reviewed, human, agent, uncommitted.
    """,
    examples=(
        ("memory-bank log decisions/tantivy", "who wrote it"),
        ("memory-bank log decisions/tantivy --sections", "who wrote each section"),
        ("memory-bank log tantivy --json | jq '.commits[].source.pull_request'", "for a program"),
    ),
    group="Review",
    through=_log_or_blame,
    view=views.view_origins,
    tool=Tool(
        "List the commits that changed a note: author, agent, pull request, reviewed, sections.",
        "review",
        name="log_memory",
        takes={"filename": "name", "limit": "limit"},
        defaults={"limit": 20},
        reads=True,
        run=_list_for_agent,
    ),
)
def log(
    bank: Bank,
    name: Annotated[NoteName, Param(about="path, title or id of a note")],
    limit: Annotated[int, Param("Most commits; default: 50", metavar="N")] = 50,
) -> NoteLog:
    """List the commits that changed a note.

    Return the commits that changed a note, also one that was removed; renames are followed.

    Raises NoteNotFound.
    """
    path, removed = _find_note_or_removed(bank, name)
    with bank.lock:
        limits = trust.refresh_commits(bank, [path])
        note = NoteTrust(bank, path)
        origins = None if removed else note.line_origins()
        changed = bool(note.commits.blob(path)) if removed and note.commits else not note.clean
        uncommitted = note.uncommitted_origin() if changed else None
        sections = _map_changed_sections(note, min(limit, _MOST_VERSIONS))
        commits = tuple(
            LoggedCommit(
                note.origin(change.commit), _KINDS.get(change.status, "merged"), change.path,
                change.old if change.old != change.path else None, sections.get(change.commit.id),
            )
            for change in note.changes[:limit]
        )  # fmt: skip
    if removed:
        tier = UNCOMMITTED if uncommitted else commits[0].source.trust
    else:
        tiers = [origin.trust for origin in origins] if origins else note.possible_tiers()
        tier = trust.least_trusted(tiers)
    agent = uncommitted.agent if uncommitted else ""
    return NoteLog(path, tier, uncommitted is not None, agent, commits, len(commits), limits)


@operation(
    "",
    view=views.view_origins,
    tool=Tool(
        "Show for each section (or line) of a note who wrote it, and whether it was reviewed.",
        "review",
        name="blame_memory",
        takes={"filename": "name", "lines": "by_line"},
        reads=True,
    ),
)
def blame(
    bank: Bank,
    name: Annotated[NoteName, Param(about="path, title or id of a note")],
    *,
    by_line: Annotated[bool, Param()] = False,
) -> NoteBlame:
    """Show where each section of a note comes from.

    Return the origin of each section of a note, and of each line with `by_line`.

    Raises NoteNotFound, UnreadableNote, StorageFailed if git does not answer in time.
    """
    path = bank.find(name)
    with bank.lock:
        limits = trust.refresh_commits(bank, [path])
        note = NoteTrust(bank, path)
        origins = note.line_origins()
        parsed = parsing.parse(path, note.data)
    if origins is None:
        raise StorageFailed(f"git can't say where the lines of {path} come from", "try `git blame`")
    sections = tuple(_blame_sections(parsed, origins))
    texts = parsed.text.splitlines() if by_line else []
    lines = tuple(
        BlamedLine(number, text, origin)
        for number, (text, origin) in enumerate(zip(texts, origins, strict=False), 1)
    )
    tier = trust.least_trusted(origin.trust for origin in origins)
    return NoteBlame(path, tier, sections, lines if by_line else None, limits)


def _find_note_or_removed(bank: Bank, name: str) -> tuple[str, bool]:
    """Return the path of a note, and whether it was removed; raise NoteNotFound."""
    try:
        return bank.find(name, exactly=True), False
    except NoteNotFound:
        path = link_name(name, bank.layout)
        with bank.lock:
            trust.refresh_commits(bank, [path])
            commits = bank.commits(path)
            candidates = (path, f"{path}.md") if commits else ()
            removed = next((form for form in candidates if commits and commits.changes(form)), None)
        return (removed, True) if removed else (bank.find(name), False)


_KINDS = {"A": "added", "M": "changed", "T": "changed", "D": "removed", "R": "renamed"}


def _blame_sections(note: Note, origins: list[LineOrigin]) -> list[BlamedSection]:
    sections = []
    first = note.body.sections[0].line if note.body.sections else len(origins) + 1
    spans = [(FRONT_MATTER, 1, first)] if first > 1 else []
    spans += [
        (" > ".join(section.headings), section.line, section.end_line)
        for section in note.body.sections
    ]
    for heading, start, stop in spans:
        line_origins = origins[start - 1 : max(stop - 1, start)]
        if line_origins:
            tier = trust.least_trusted(origin.trust for origin in line_origins)
            least_trusted = max(
                (origin for origin in line_origins if origin.trust == tier),
                key=lambda origin: origin.time,
            )
            commits = len({origin.commit for origin in line_origins})
            sections.append(BlamedSection(heading, start, stop, least_trusted, commits))
    return sections


def _map_changed_sections(note: NoteTrust, most: int) -> dict[str, tuple[str, ...]]:
    """Map the newest commits to the sections that each changed, against its first parent."""
    split = lru_cache(2)(_split_sections)  # a version is that after a commit, and before the next
    sections = {}
    for change, old, new in note.read_versions(note.changes[:most], _MOST_BYTES):
        before = {} if old is None else split(old)
        after = {} if new is None else split(new)
        headings = {**before, **after}
        sections[change.commit.id] = tuple(
            heading for heading in headings if before.get(heading) != after.get(heading)
        )
    return sections


def _split_sections(data: bytes) -> dict[str, str]:
    """Return the sections of a version of a note by their heading paths, and its front matter."""
    note = parsing.parse("note.md", data)
    front_matter = note.text[: note.body_start]
    sections = {FRONT_MATTER: front_matter} if front_matter.strip() else {}
    for section in note.body.sections:
        heading = " > ".join(section.headings)
        sections[heading] = sections.get(heading, "") + section.text.strip()
    return sections


# Newest commits of a note that are looked at.
_COMMITS = 200

_GHOST = "unknown"
"""The state of a citation whose target was never in the code."""


class NoteStatus(NamedTuple):
    """What git says of a note."""

    log: NoteLog
    """Its commits; without trust outside git, and for a note that is private to this machine."""
    sections: tuple[BlamedSection, ...]
    citations: tuple[Citation, ...]
    """The stale ones first."""
    confirmed: Revision | None
    """The commit whose code it was confirmed to describe; of time 0 if the repository lacks it."""
    limits: tuple[str, ...]
    """What is not known, and why."""

    @property
    def written(self) -> LineOrigin | None:
        """Its first commit."""
        return self.log.commits[-1].source if self.log.commits else None

    @property
    def changed(self) -> LineOrigin | None:
        """Its last commit, if that is another one."""
        return self.log.commits[0].source if len(self.log.commits) > 1 else None

    @property
    def stale(self) -> tuple[Citation, ...]:
        """The citations of code that is no longer as it was."""
        return tuple(citation for citation in self.citations if citation.stale)

    @property
    def touched(self) -> tuple[Citation, ...]:
        """The citations of files that changed, though not what the note names in them."""
        return tuple(citation for citation in self.citations if citation.state == TOUCHED)

    @property
    def compared(self) -> bool:
        """Whether any citation was compared with the code of a commit."""
        return any(citation.since for citation in self.citations)

    @property
    def moved(self) -> tuple[Citation, ...]:
        """The citations of code that is as it was, in another place."""
        return tuple(citation for citation in self.citations if citation.moved)

    @property
    def several(self) -> bool:
        """Whether the sections of its text come from more than one commit."""
        texts = [section for section in self.sections if section.heading != FRONT_MATTER]
        return len({section.source.commit for section in texts}) > 1


def read_note_status(bank: Bank, name: str, verified: str = "") -> NoteStatus:
    """Return what git says of a note; raise NoteNotFound.

    `verified` is the commit at which it was confirmed, as it says itself.
    """
    path = bank.find(name)
    tree = repository.find_worktree(bank.layout.project)
    if tree is None or bank.commits(path) is None:
        why = () if tree is None else ("this note is private to this machine, and not in git",)
        return NoteStatus(NoteLog(path, "", False, "", (), 0, ()), (), (), None, why)
    note_log = log(bank, path, _COMMITS)
    limits = list(note_log.limits)
    sections: tuple[BlamedSection, ...] = ()
    citations: tuple[Citation, ...] = ()
    try:
        sections = blame(bank, path).sections
    except MemoryBankError as error:
        limits.append(error.message)
    try:
        report = stale(bank, names=[path])
        citations = tuple(citation for citation in report.citations if citation.state != _GHOST)
        limits += report.notices
    except (NoRepository, BadInput):
        pass  # there are no commits yet: nothing can have changed since
    except MemoryBankError as error:
        limits.append(error.message)
    return NoteStatus(
        log=note_log,
        sections=sections,
        citations=tuple(
            sorted(citations, key=lambda citation: (not citation.stale, not citation.moved))
        ),
        confirmed=_find_confirmed(bank, verified) if verified else None,
        limits=tuple(dict.fromkeys(limits)),
    )


def _find_confirmed(bank: Bank, verified: str) -> Revision:
    tree = repository.find_worktree(bank.layout.project)
    assert tree is not None  # noqa: S101  (the caller looked)
    try:
        return objects.find_revision(tree, verified)
    except MemoryBankError:
        return objects.Revision(verified, verified, 0.0)
