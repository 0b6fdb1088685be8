"""Health check of a bank: its index, faults in notes, links and secrets."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_bank.bank import backlinks, hook_log
from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import Finding, Severity
from memory_bank.bank.open_index import View
from memory_bank.base.errors import NoRepository
from memory_bank.base.file_watches import problem
from memory_bank.base.operation import Tool, operation
from memory_bank.base.paths import LEFT_ALONE
from memory_bank.base.screen import Call
from memory_bank.code.citing_notes import unknown_symbols
from memory_bank.code.codebase import Codebase
from memory_bank.code.work_tree import work_tree_of
from memory_bank.git import repository
from memory_bank.review import shown, told
from memory_bank.review.rules import links, twins
from memory_bank.review.rules.base import RuleContext, findings
from memory_bank.search.index.document_changes import Progress, SyncReport
from memory_bank.search.manifest import document_rows
from memory_bank.sessions.forgotten import former_state

_LINKS = frozenset({"broken-link", "ambiguous-link"})

_FAULTS = frozenset({"fault", "bad-front-matter"})

_LISTED = _LINKS | _FAULTS | {"unindexed", "odd-name", "same-id", "secret"}
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
class SameIds:
    """Notes with the same id."""

    note_id: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SecretLocation:
    """The place of a secret, without its value."""

    path: str
    line: int
    kind: str
    hash: str
    """The hash to put into `secrets.allow`."""


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
class BankHealth:
    """The state of a bank."""

    healthy: bool = field(init=False)
    """Whether there is nothing to repair: no finding above `info`, and no problem of the index."""
    bank: str
    notes: int
    passages: int
    unindexed: tuple[Unindexed, ...]
    faults: tuple[FaultShown, ...]
    broken_links: tuple[LinkShown, ...]
    odd_names: tuple[Unindexed, ...]
    """Indexed notes whose names no new note may have, and why."""
    same_ids: tuple[SameIds, ...]
    secrets: tuple[SecretLocation, ...]
    """Keys, tokens and passwords in notes."""
    findings: tuple[Finding, ...]
    """Findings of the rules without a separate list, the most severe first."""
    worst: Severity | None
    """The highest severity of a finding; None without findings."""
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
    no_code: str | None = None
    """Why no code can be read: there is no repository, or it has no work tree."""

    @property
    def clear(self) -> bool:
        """Whether nothing is listed: no finding of any severity, and no remark."""
        told = (self.left_alone, self.polling, self.git, self.hooks, self.former_sessions)
        code = self.code
        of_code = code and (
            code.unindexed or code.faults or code.unknown_symbols or code.problem or code.history
        )
        return self.healthy and self.worst is None and not any(told) and not of_code

    def __post_init__(self) -> None:
        """Set `healthy`."""
        wrong = self.waiting or self.problem or self.worst not in {None, "info"}
        object.__setattr__(self, "healthy", not wrong)


def _checked(
    call: Call,
    bank: Bank,
    progress: Progress | None,
    *,
    check: bool = False,
    fail_on: str | None = None,
) -> BankHealth:
    if fail_on and not check:
        raise call.usage_error("--fail-on needs --check")
    return doctor(bank, progress)


@operation(
    "doctor",
    why="""
    Checks the index against the files and repairs it, then lists what you must repair: files that
    are not indexed, each with the reason; front matter with errors; broken links; ids that several
    notes have; secrets in notes, by kind and line. It changes no note.
    """,
    examples=(
        ("memory-bank doctor", "list problems"),
        ("memory-bank doctor --check", "for CI: exit code 1 if there is an error"),
        ("memory-bank doctor --check --fail-on warning", "or a warning"),
        ("memory-bank doctor --json | jq .unindexed", "for a program"),
    ),
    group="Look after",
    through=_checked,
    show=shown.health,
    tool=Tool(
        "List files not indexed, faults, merge conflicts, broken links, missing files, duplicates.",
        "maintenance",
        told.health,
        name="check_memories",
        aside=True,
        reads=True,
        depth=2,
    ),
)
def doctor(
    bank: Bank,
    progress: Progress | None = None,
) -> BankHealth:
    """List what is wrong with a bank, and repair its index.

    Check and repair the indices, and list the problems that only a person can repair.
    """
    report = bank.sync(progress)
    return bank.read(lambda view: _health(view, bank, report))


def _health(view: View, bank: Bank, report: SyncReport) -> BankHealth:
    notes, _, _, passages = document_rows.totals(view.manifest)
    settings = bank.settings
    context = RuleContext(bank.layout, settings, bank.store, view.manifest)
    found = findings(context)

    listed_ids = {one.path for one in found if one.rule == "same-id"}
    listed_links = {(one.path, one.line, one.message) for one in found if one.rule in _LINKS}

    def listed(rule: str) -> tuple[Unindexed, ...]:
        return tuple(Unindexed(one.path, one.message) for one in found if one.rule == rule)

    return BankHealth(
        bank=str(bank.layout.root),
        notes=notes,
        passages=passages,
        unindexed=listed("unindexed"),
        faults=tuple(
            FaultShown(one.path, one.line, one.message) for one in found if one.rule in _FAULTS
        ),
        broken_links=tuple(
            backlinks.shown(row, problem)
            for row, problem in context.once(links.broken)
            if (row.source_key, row.line, problem) in listed_links
        ),
        odd_names=listed("odd-name"),
        same_ids=tuple(
            SameIds(note_id, paths)
            for note_id, paths in context.once(twins.claimed)
            if listed_ids.intersection(paths)
        ),
        secrets=tuple(_secret(one) for one in found if one.rule == "secret"),
        findings=tuple(one for one in found if one.rule not in _LISTED),
        worst=found[0].severity if found else None,
        repaired=tuple(report.repaired),
        waiting=report.waiting,
        problem=report.problem or None,
        index=str(bank.layout.index),
        left_alone=LEFT_ALONE if bank.layout.left_alone else None,
        polling=next(
            (why for one in bank.watched() if one.recursive and (why := problem(one.folder))), None
        ),
        git=repository.problem(bank.layout.root) or None,
        hooks=hook_log.described(str(bank.layout.root), str(bank.layout.state(bank.id))) or None,
        former_sessions=former_state(bank) or None,
        embedder=settings.memory.embedder,
        max_note_bytes=settings.memory.max_note_bytes,
        code=_code(view, bank),
        no_code=_no_code(bank),
    )


def _secret(one: Finding) -> SecretLocation:
    found = one.hash or ""
    return SecretLocation(one.path, one.line, one.message.removesuffix(f" (hash {found})"), found)


def _no_code(bank: Bank) -> str | None:
    try:
        work_tree_of(bank.layout.project)
    except NoRepository as error:
        return error.message
    return None


def _code(view: View, bank: Bank) -> CodeHealth | None:
    """Return the state of the code if it has been indexed, after reading what changed."""
    tree = repository.worktree(bank.layout.project)
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
