"""Find the notes whose cited code changed since they were last changed or confirmed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, NoRepository
from memory_bank.base.operation import Param, Tool, operation
from memory_bank.code.code_at import NOW
from memory_bank.code.index.work_tree import find_work_tree
from memory_bank.git import objects, repository
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows
from memory_bank.trust import views
from memory_bank.trust.citations import CodeCitation, list_citations
from memory_bank.trust.comparison import SHALLOW, CodeComparison
from memory_bank.trust.records import Citation, StaleReport, yield_overdue_notes


def _report_for_agents(
    bank: Bank, range_: str | None = None, *, worktree: bool = False
) -> StaleReport:
    """Return only the citations that an agent should look at."""
    report = stale(bank, range_, worktree=worktree)
    notices = (*report.notices, *filter(None, [report.elsewhere]))
    return report._replace(citations=report.listed, notices=notices)


@operation(
    "stale",
    why="""
    Lists the citations of code in notes that changed since the section was last changed, or the
    note was confirmed: with the commits that did it. A citation is stale if its file or symbol is
    gone, or if what the note names in it changed; --touched lists those where something else did.
    Code that was only moved or renamed is not stale: the link to write is shown. The layout, the
    comments and the place of code don't count. Notes that are past the date in their stale_after
    are listed, too. It asks git, and writes nothing. With BASE..HEAD,
    only citations of what these commits change. A stale citation is a warning: the exit code is 1
    with --fail-on warning. See docs/trust.md.
    """,
    examples=(
        ("memory-bank stale", "all notes, as of the last commit"),
        ("memory-bank stale --worktree", "with uncommitted changes of code"),
        ("memory-bank stale main..HEAD --fail-on warning", "for CI"),
        ("memory-bank stale --touched", "with files that changed elsewhere"),
        ("memory-bank stale --note facts/queue", "one note"),
        ("memory-bank stale --json | jq -r '.citations[].path'", "for a program"),
    ),
    group="Review",
    view=views.view_stale,
    tool=Tool(
        """List notes that cite code which changed since: confirm, edit or archive them.
        With revisions, only what cites code that these change.""",
        "review",
        name="stale_memories",
        takes={"revisions": "range_", "worktree": "worktree"},
        aside=True,
        reads=True,
        run=_report_for_agents,
    ),
)
def stale(
    bank: Bank,
    range_: Annotated[
        str | None, Param(argument=True, metavar="[BASE..HEAD]", longest=1000, about="BASE..HEAD")
    ] = None,
    *,
    names: Annotated[
        Sequence[str], Param("Only this note; repeatable", flags="--note", metavar="NAME")
    ] = (),
    worktree: Annotated[
        bool, Param("Count uncommitted changes of code, too", about="count uncommitted code")
    ] = False,
    notes: Bank | None = None,
) -> StaleReport:
    """List notes whose cited code changed.

    Return the citations of code, each with its state.

    `range_` is `BASE..HEAD` or BASE: then only citations of what the commits between them change,
    compared with where they part, or the note's later change. `names` restricts it to some notes.
    With `worktree`, uncommitted changes of code count; a range then has no HEAD. `notes` is the
    bank at the range's end, if that is not checked out. Raises NoRepository, BadInput,
    NoteNotFound.
    """
    bank.settings.check_enabled()
    if worktree and range_ and range_.partition("..")[2]:
        raise BadInput(f"the range {range_!r} has an end", "give only its start with worktree")
    bank.catch_up()
    paths = {bank.find(name) for name in names}
    overdue = () if range_ else bank.read(lambda view: tuple(yield_overdue_notes(view.manifest)))
    overdue = tuple(note for note in overdue if not paths or note.path in paths)
    try:
        tree = find_work_tree(bank.layout.project)
        base, head = _find_ends(tree, range_)
    except (BadInput, NoRepository):
        if not overdue:
            raise
        return StaleReport((), "", "", worktree, (), overdue)
    end = NOW if worktree else head
    citations = judge_citations(bank, base, head, end, notes or bank, names)
    shallow = (SHALLOW,) if repository.is_shallow(tree) else ()
    return StaleReport(citations, base, head, worktree, shallow, overdue)


def judge_citations(
    bank: Bank, base: str, head: str, end: str, notes: Bank, names: Sequence[str] = ()
) -> tuple[Citation, ...]:
    """Return the citations in notes, each with its state, as `stale` does.

    `base` is the commit where a range starts, empty to compare with the commits of the notes; `end`
    is the commit `head`, or NOW or STAGED for what is on top of it.
    """
    tree = find_work_tree(bank.layout.project)
    keys = {notes.find(name) for name in names}

    def list_cited(view: IndexView) -> list[CodeCitation]:
        numbers = _list_live_numbers(view, keys) if keys else None
        return list_citations(view.manifest, bank, tree, numbers)

    citations = notes.answer(list_cited)
    with CodeComparison(bank, head, end=end) as comparison:
        compared = comparison.compare_citations(citations, notes, base)
        return tuple(comparison.describe(citation) for citation in compared)


def find_moved_citations(
    bank: Bank, citations: Sequence[CodeCitation], *, end: str
) -> list[Citation]:
    """Return the citations among these whose code is now in another place, or has another name.

    Those whose place still exists are not compared. `end` is the commit checked out, or NOW.
    Raises NoRepository, StorageFailed.
    """
    tree = find_work_tree(bank.layout.project)
    head = repository.read_head_commit(tree)
    if not head or not citations:
        return []
    with CodeComparison(bank, head, end=end) as comparison:
        missing = [
            citation for citation in citations if not comparison.code.has(end, citation.place)
        ]
        compared = map(comparison.describe, comparison.compare_citations(missing, bank))
        return [citation for citation in compared if citation.fix]


def _list_live_numbers(view: IndexView, keys: Collection[str]) -> set[int]:
    """Return the numbers of the notes among some that are not archived."""
    rows = document_rows.read_documents(
        view.manifest, document_rows.find_numbers(view.manifest, keys)
    )
    return {row.number for row in rows.values() if not row.hidden}


def _find_ends(tree: Path, range_: str | None) -> tuple[str, str]:
    """Return the ends of a range as commits: the last common one of both sides, and the later."""
    if not range_:
        return "", repository.read_head_commit(tree) or objects.find_commit(tree, "HEAD")
    first, dots, last = range_.partition("..")
    last = last.removeprefix(".") if dots else ""
    base = objects.find_commit(tree, first or "HEAD")
    head = objects.find_commit(tree, last or "HEAD")
    merge_base = objects.find_merge_base(tree, base, head)
    if not merge_base:
        hint = "git fetch --unshallow" if repository.is_shallow(tree) else "name related commits"
        raise BadInput(f"{first or 'HEAD'} and {last or 'HEAD'} have no common commit", hint)
    return merge_base, head
