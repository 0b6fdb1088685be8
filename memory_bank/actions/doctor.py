"""Health check of a bank: its index, faults in notes, links and secrets."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_bank.actions import hook_log
from memory_bank.actions.citing_notes import unknown_symbols
from memory_bank.actions.former_state import former_state
from memory_bank.actions.linked_notes import LinkShown, shown
from memory_bank.bank import Bank, View
from memory_bank.codebase import Codebase
from memory_bank.index.report import Progress, SyncReport
from memory_bank.inotify import problem
from memory_bank.layout import LEFT_ALONE
from memory_bank.lint import broken_link, same_id, secret
from memory_bank.lint.base import Context, Finding, findings
from memory_bank.lint.secret import SecretPlace
from memory_bank.manifest import documents
from memory_bank.repo import git

_LISTED = frozenset({"unindexed", "fault", "broken-link", "odd-name", "same-id", "secret"})
"""Rules whose findings have a separate list, with more fields, in `Health`."""


@dataclass(frozen=True, slots=True)
class Unindexed:
    """A file that is not in the index, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FaultShown:
    """A fault in an indexed file."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Notes with the same id."""

    note_id: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeHealth:
    """The state of what is derived from the project's code."""

    files: int
    symbols: int
    tests: int
    unindexed: tuple[Unindexed, ...]
    """Files of code that are not indexed, and why."""
    faults: tuple[Unindexed, ...]
    """Files of code that were parsed only in part, and why."""
    unknown_symbols: tuple[Finding, ...]
    """References of notes to symbols that the code doesn't have, or has several of; allowed."""
    problem: str | None
    history: tuple[str, ...]
    """What is left out of the git history, and why: shallow and partial clones, bounds."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a bank."""

    healthy: bool = field(init=False)
    """Whether there is nothing to repair."""
    bank: str
    notes: int
    passages: int
    unindexed: tuple[Unindexed, ...]
    faults: tuple[FaultShown, ...]
    broken_links: tuple[LinkShown, ...]
    odd_names: tuple[Unindexed, ...]
    """Indexed notes whose names no new note may have, and why."""
    same_ids: tuple[Duplicates, ...]
    secrets: tuple[SecretPlace, ...]
    """Keys, tokens and passwords in notes."""
    findings: tuple[Finding, ...]
    """Findings of the rules without a separate list, the most severe first."""
    repaired: tuple[str, ...]
    """Interrupted or damaged parts that this check has repaired."""
    waiting: int
    """Passages without a vector."""
    problem: str | None
    index: str
    """The folder of the index: in the bank, or in the user's cache."""
    left_alone: str | None
    """Why the index is not in the bank: an index of unknown origin is there already."""
    polling: str | None
    """Why changes can't be watched, so that all files are polled."""
    git: str | None
    """Why git can't provide dates, if there is a repository."""
    hooks: str | None
    """What failed lately in hooks of agents' programs."""
    former_sessions: str | None
    """Where sessions are that this folder had under another id."""
    embedder: str
    max_note_bytes: int
    code: CodeHealth | None = None
    """None while nobody has asked for the code of this work tree."""

    @property
    def healed(self) -> tuple[str, ...]:
        """Return `repaired` by its former name, for this version."""
        return self.repaired

    def __post_init__(self) -> None:
        """Set `healthy`."""
        wrong = (
            self.unindexed,
            self.faults,
            self.broken_links,
            self.same_ids,
            self.secrets,
            self.waiting,
            [finding for finding in self.findings if finding.severity != "info"],
        )
        object.__setattr__(self, "healthy", not any((*wrong, self.problem)))


def doctor(bank: Bank, progress: Progress | None = None) -> Health:
    """Check and repair the indices, and list the problems that only a person can repair."""
    report = bank.sync(progress)
    return bank.read(lambda view: _health(view, bank, report))


def _health(view: View, bank: Bank, report: SyncReport) -> Health:
    notes, _, _, passages = documents.totals(view.manifest)
    settings = bank.settings
    context = Context(bank.layout, settings, bank.store, view.manifest)
    found = findings(context)

    def listed(rule: str) -> tuple[Unindexed, ...]:
        return tuple(Unindexed(one.path, one.message) for one in found if one.rule == rule)

    return Health(
        bank=str(bank.layout.root),
        notes=notes,
        passages=passages,
        unindexed=listed("unindexed"),
        faults=tuple(
            FaultShown(one.path, one.line, one.message) for one in found if one.rule == "fault"
        ),
        broken_links=tuple(shown(*link) for link in context.once(broken_link.broken)),
        odd_names=listed("odd-name"),
        same_ids=tuple(Duplicates(*row) for row in context.once(same_id.claimed)),
        secrets=context.once(secret.places),
        findings=tuple(one for one in found if one.rule not in _LISTED),
        repaired=tuple(report.repaired),
        waiting=report.waiting,
        problem=report.problem or None,
        index=str(bank.layout.index),
        left_alone=LEFT_ALONE if bank.layout.left_alone else None,
        polling=next(
            (why for one in bank.watched() if one.recursive and (why := problem(one.folder))), None
        ),
        git=git.problem(bank.layout.root) or None,
        hooks=hook_log.described(str(bank.layout.state(bank.id))) or None,
        former_sessions=former_state(bank) or None,
        embedder=settings.memory.embedder,
        max_note_bytes=settings.memory.max_note_bytes,
        code=_code(view, bank),
    )


def _code(view: View, bank: Bank) -> CodeHealth | None:
    """Return the state of the code if it has been indexed, after reading what changed."""
    tree = git.worktree(bank.layout.project)
    if tree is None or not bank.settings.code.enabled:
        return None
    with Codebase(tree, bank.settings, place=bank.layout) as code:
        if not code.table.file.exists():
            return None
        problem = code.refresh()
        refused = code.refused()
        files, symbols, tests = code.table.totals()
        return CodeHealth(
            files=files,
            symbols=symbols,
            tests=tests,
            unindexed=tuple(Unindexed(path, reason) for path, reason in refused.items()),
            faults=tuple(Unindexed(*row) for row in code.table.problems().items()),
            unknown_symbols=tuple(unknown_symbols(view, code.table)),
            problem=problem or None,
            history=code.history_notes(),
        )
