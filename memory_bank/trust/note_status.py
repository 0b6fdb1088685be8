"""Who wrote a note, and whether it still holds: its commits, its citations, its confirmation."""

from __future__ import annotations

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import BadInput, MemoryBankError, NoRepository
from memory_bank.git import objects, repository
from memory_bank.trust import provenance
from memory_bank.trust.provenance import FRONT_MATTER
from memory_bank.trust.records import BlamedSection, LineOrigin, NoteLog
from memory_bank.trust.stale import stale
from memory_bank.trust.stale_report import TOUCHED, Citation

# Newest commits of a note that are looked at.
_COMMITS = 200

_GHOST = "unknown"
"""The state of a citation whose target was never in the code."""


class ConfirmedCommit(NamedTuple):
    """The commit whose code a note was confirmed to describe."""

    commit: str
    """As the note has it, if the repository lacks it."""
    date: str
    """Empty if the repository lacks it."""


class NoteStatus(NamedTuple):
    """What git says of a note."""

    log: NoteLog
    """Its commits; without trust outside git, and for a note that is private to this machine."""
    sections: tuple[BlamedSection, ...]
    citations: tuple[Citation, ...]
    """The stale ones first."""
    confirmed: ConfirmedCommit | None
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
    log = provenance.log(bank, path, _COMMITS)
    limits = list(log.limits)
    sections: tuple[BlamedSection, ...] = ()
    citations: tuple[Citation, ...] = ()
    try:
        sections = provenance.blame(bank, path).sections
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
        log=log,
        sections=sections,
        citations=tuple(
            sorted(citations, key=lambda citation: (not citation.stale, not citation.moved))
        ),
        confirmed=_find_confirmed(bank, verified) if verified else None,
        limits=tuple(dict.fromkeys(limits)),
    )


def _find_confirmed(bank: Bank, verified: str) -> ConfirmedCommit:
    tree = repository.find_worktree(bank.layout.project)
    assert tree is not None  # noqa: S101  (the caller looked)
    try:
        revision = objects.find_revision(tree, verified)
    except MemoryBankError:
        return ConfirmedCommit(verified, "")
    return ConfirmedCommit(revision.commit, seconds_to_iso(revision.when))
