"""Health check of a bank: its index, faults in notes, links and secrets."""

from __future__ import annotations

from typing import Annotated

from memory_bank.bank import hook_log
from memory_bank.bank.bank import Bank
from memory_bank.bank.embedder_choice import multilingual_hint
from memory_bank.bank.records import Finding, order
from memory_bank.base.detached import is_at_work
from memory_bank.base.errors import NoRepository
from memory_bank.base.file_watches import find_watch_problem
from memory_bank.base.operation import Param, Tool, operation
from memory_bank.base.paths import LEFT_ALONE
from memory_bank.base.screen import Call
from memory_bank.code.citing_notes import yield_unknown_symbols
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.work_tree import find_work_tree
from memory_bank.git import repository
from memory_bank.memory import overview
from memory_bank.memory.records import Stats
from memory_bank.review import views
from memory_bank.review.records import BankHealth, CodeHealth
from memory_bank.review.rules.base import RuleContext, findings
from memory_bank.search.document_changes import Progress, SyncReport
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows
from memory_bank.sessions.listing import former_state

_AT_WORK = "a process of low priority computed vectors when this was asked; it ends by itself"


def _check_in_command(
    call: Call,
    bank: Bank,
    progress: Progress | None,
    *,
    check: bool = False,
    fail_on: str | None = None,
    counts: Annotated[bool, Param("Only count notes, tags, types and links")] = False,
) -> BankHealth | Stats:
    if fail_on and not check:
        raise call.usage_error("--fail-on needs --check")
    if counts and check:
        raise call.usage_error("choose one: --check or --counts")
    if counts:
        return overview.stats(bank)
    return doctor(bank, progress)


@operation(
    "doctor",
    why="""
    Checks the index against the files and repairs it, then lists what you must repair: files that
    are not indexed, each with the reason; front matter with errors; broken links; ids that several
    notes have; secrets in notes, by kind and line. It changes no note.

    --counts only counts notes, their bytes, types and tags, and what may need attention: broken
    links, ghosts (link targets that are not notes), orphans (notes without links), files that are
    not indexed.
    """,
    examples=(
        ("memory-bank doctor", "list problems"),
        ("memory-bank doctor --check", "for CI: exit code 1 if there is an error"),
        ("memory-bank doctor --check --fail-on warning", "or a warning"),
        ("memory-bank doctor --json | jq .findings", "for a program"),
        ("memory-bank doctor --counts --json | jq .count", "how many notes"),
    ),
    group="Look after",
    through=_check_in_command,
    view=views.view_health,
    tool=Tool(
        "List files not indexed, faults, merge conflicts, broken links, missing files, duplicates.",
        "maintenance",
        name="check_memories",
        aside=True,
        reads=True,
        depth=2,
    ),
)
def doctor(bank: Bank, progress: Progress | None = None) -> BankHealth:
    """List what is wrong with a bank, and repair its index.

    Check and repair the indices, and list the problems that only a person can repair.
    """
    background = _AT_WORK if is_at_work(bank.layout.index) else None
    report = bank.sync(progress)
    return bank.read(lambda view: _check_health(view, bank, report, background))


def _check_health(
    view: IndexView, bank: Bank, report: SyncReport, background: str | None
) -> BankHealth:
    notes, _, _, passages = document_rows.count_totals(view.manifest)
    settings = bank.settings
    bank_findings = [
        finding
        for finding in findings(RuleContext(bank, view))
        if finding.severity != "info"
        or bank.roots.writable(finding.path)  # else nobody may mend it here
    ]
    code, unknown = _check_code(view, bank)
    return BankHealth(
        bank=str(bank.layout.root),
        notes=notes,
        passages=passages,
        findings=tuple(sorted((*bank_findings, *unknown), key=order)),
        repaired=tuple(report.repaired),
        waiting=report.waiting,
        problem=report.problem or None,
        index=str(bank.layout.index),
        background=background,
        left_alone=LEFT_ALONE if bank.layout.left_alone else None,
        polling=next(
            (
                why
                for watched in bank.watched()
                if watched.recursive and (why := find_watch_problem(watched.folder))
            ),
            None,
        ),
        git=repository.find_problem(bank.layout.root) or None,
        hooks=hook_log.describe_failures(str(bank.layout.root), str(bank.layout.state(bank.id)))
        or None,
        former_sessions=former_state(bank) or None,
        language=multilingual_hint(bank) or None,
        embedder=settings.memory.embedder,
        max_note_bytes=settings.memory.max_note_bytes,
        code=code,
        no_code=_explain_missing_code(bank),
    )


def _explain_missing_code(bank: Bank) -> str | None:
    try:
        find_work_tree(bank.layout.project)
    except NoRepository as error:
        return error.message
    return None


def _check_code(view: IndexView, bank: Bank) -> tuple[CodeHealth | None, tuple[Finding, ...]]:
    """Return the state of the code, and unknown symbols in notes, after reading what changed.

    Nothing if the code has not been indexed.
    """
    tree = repository.find_worktree(bank.layout.project)
    if tree is None or not bank.settings.code.enabled:
        return None, ()
    with Codebase(tree, bank.settings, place=bank.layout) as code:
        if not code.table.file.exists():
            return None, ()
        problem = code.refresh()
        refused = code.refused()
        files, symbols, tests = code.table.totals()
        health = CodeHealth(
            files=files,
            symbols=symbols,
            tests=tests,
            unindexed=refused,
            faults=code.table.problems(),
            problem=problem or None,
            history=code.history_notes(),
        )
        return health, tuple(yield_unknown_symbols(view, code.table))
