"""Why a file or a line of it is so: commits, pull requests and notes; notes made of commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import open_history
from memory_bank.bank.records import ShownNote
from memory_bank.base import NamedTuple, lazy_pattern, with_schema_version
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import BadInput, Hint, NoteNotFound, StorageFailed
from memory_bank.base.hit_view import Place
from memory_bank.base.operation import LONGEST_NAME, Param, Tool, operation
from memory_bank.base.rendering import has_same_words
from memory_bank.base.screen import FOUND, NOTHING, Piece, cut
from memory_bank.base.setting_sections import BANK
from memory_bank.base.view import Block, Part, View
from memory_bank.code import lookup
from memory_bank.code.calls import ResolvedCall
from memory_bank.code.citing_notes import find_citing_notes
from memory_bank.code.commits import message_reason
from memory_bank.code.coupled import CoupledFile
from memory_bank.code.explain_symbol import list_depended_files, read_coupling
from memory_bank.code.guards import Guard
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.index.work_tree import find_work_tree
from memory_bank.code.views import (
    calls_table,
    coupled_table,
    notes_table,
    tests_table,
    view_definition,
)
from memory_bank.git import authorship, repository
from memory_bank.git.commits import Commit, CommitsAt
from memory_bank.memory.records import WrittenNote
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import INDEX, recall

_INDENT = "   "

_DAY = 10
"""Characters of the date in a timestamp."""

_MOST_REASON = 400
"""Most characters of the reason of a commit or note."""

_MOST_TOKENS = 450
"""Most estimated tokens for agents: dense code has twice as many."""


class Explanation(NamedTuple):
    """A commit or a note that is behind a file or a line."""

    kind: str
    """`commit` or `note`."""
    id: str
    """The commit's full id, or the note's path."""
    date: str
    title: str
    author: str
    reason: str
    """What the commit's message says besides its subject; of a note, the words of its link."""
    pull_request: int = 0
    """Its number, if the commit names one; 0 for none."""


@with_schema_version("1.0")
class Why(NamedTuple):
    """What is behind a file or a line, the newest first."""

    path: str
    """Below the work tree."""
    line: int
    """0 for the whole file."""
    behind: tuple[Explanation, ...]
    definition: SymbolRow | None = None
    """The innermost definition around the line; None if the file differs from HEAD."""
    rules: tuple[ShownNote, ...] = ()
    """Notes whose `applies_to` means the file."""
    tests: tuple[Guard, ...] = ()
    """Tests of the definition, else of the file."""
    called_by: tuple[ResolvedCall, ...] = ()
    """Calls of the definition."""
    coupled: tuple[CoupledFile, ...] = ()
    """Files that may change with the file, as `blast_radius` has them."""
    problem: str | None = None


def view_why(answer: Why, code: Codebase | None = None) -> View:
    """Describe what is behind a file or a line, the newest first."""
    definition = answer.definition
    first = view_definition(definition, code) if definition else Block([[_name_line(answer)]])
    lines = [line for behind in answer.behind for line in _yield_explanation(behind)]
    parts: list[Part] = [
        first,
        *calls_table("called by", answer.called_by, code),
        *coupled_table("may change with it", answer.coupled, code),
        *([Block(lines)] if lines else []),
        *notes_table(f"rules for {answer.path}", answer.rules),
        *tests_table(answer.tests, code),
    ]
    return View(
        "What is behind it, the newest first",
        parts,
        problem=answer.problem,
        code=FOUND if answer.behind or answer.rules or answer.tests else NOTHING,
        most_tokens=_MOST_TOKENS,
    )


def _name_line(answer: Why) -> str:
    return f"{answer.path}:{answer.line}" if answer.line else answer.path


def _yield_explanation(behind: Explanation) -> Iterator[Sequence[Piece | Place]]:
    """Yield the lines on a commit or a note: where and when, its title, and its reason."""
    name: Piece | Place = Place(behind.id)
    if behind.kind == "commit":
        name = (f"commit {behind.id[:8]}", "place")
    request = f"  #{behind.pull_request}" if behind.pull_request else ""
    author = f" {behind.author}" if behind.author else ""
    yield [name, f" {behind.date[:_DAY]}{author}{request}"]
    yield [_INDENT, (behind.title, "bold")]
    if behind.reason and not has_same_words(behind.title, behind.reason):
        yield [_INDENT, cut(" ".join(behind.reason.split()), _MOST_REASON)]


_SECONDS = 20.0
"""Most seconds for reading the history."""

_UNREAD = "git can't say yet which commits there are"

_MOST_NOTES, _MOST_COUPLED = 20, 3
"""Most that one answer lists: its text fits 800 tokens (tests/benchmarks/one_answer.py)."""

COMMIT_ID = lazy_pattern(r"[0-9a-f]{7,64}")

_LINE = lazy_pattern(r"(.+):(\d{1,9})")


@operation(
    "why",
    why="""
    Lists the commits, their pull requests and the notes behind a file, or behind one line of it as
    of HEAD, the newest first, with the reasons that they give; with them the definition around the
    line, its callers, the rules for the file, the tests, and files that may change with it.
    `session promote` makes a note of a commit.
    """,
    examples=(
        ("memory-bank why src/queue.py", "all that is behind a file"),
        ("memory-bank why src/queue.py:42", "the commits that changed the line, and the notes"),
        ("memory-bank session promote 1a2b3c4", "keep a decision that a commit tells"),
    ),
    group="Code",
    view=view_why,
    tool=Tool(
        "Why a file or a line is so: commits, notes, rules, definition, callers, tests, coupling.",
        "review",
        name="explain_line",
        takes=("target",),
        reads=True,
    ),
)
def why(
    bank: Bank,
    target: Annotated[
        str,
        Param(
            argument=True,
            metavar="FILE[:LINE]",
            path="any",
            about="FILE or FILE:LINE",
            longest=LONGEST_NAME,
        ),
    ],
    limit: Annotated[int, Param("Most of each kind; default: 6", metavar="N")] = 6,
    code: Codebase | None = None,
) -> Why:
    """Show the commits and notes that say why a line is so.

    Return the commits, with their pull requests, and the notes behind `FILE` or `FILE:LINE`.

    For a line, they are the commits that changed it, as of HEAD. With `code`, the answer also has
    the definition around the line, its callers, the rules for the file, the tests of the definition
    or else the file, and files that may change with it. It has at most `limit` commits and notes
    together, and as many of each other kind. Raises NoRepository, BadInput for a file that no
    commit has, or a line that it doesn't have.
    """
    most = max(1, limit)
    bank.settings.check_enabled()
    tree = find_work_tree(bank.layout.project)
    path, line = _place_in_tree(bank.layout.project, tree, target)
    history = open_history(tree)
    try:
        head = repository.read_head_commit(tree)
        at = history.at(head, seconds=_SECONDS) if head else None
        if at is None:
            return Why(path, line, (), problem=_UNREAD)
        commits = _find_commits(tree, at, path, line, most)
        if tip := authorship.find_default_branch(tree):
            history.read_mainline(tip)
        behinds = [_describe_commit(commit, history.find_request(commit.id)) for commit in commits]
    finally:
        history.close()
    behinds += _linked_notes(bank, path)
    behinds.sort(key=lambda behind: behind.date, reverse=True)
    answer = Why(path, line, tuple(behinds[:most]))
    if code is None or not code.settings.code.enabled:
        return answer
    return _add_code(answer, bank, code, at.head, most)


def _add_code(answer: Why, bank: Bank, code: Codebase, head: str, most: int) -> Why:
    """Return an answer with the definition around its line, and what hangs on it or its file."""
    path = answer.path
    with code.lock:
        problem = code.refresh()
        content = code.tree.read(path)
        lines = authorship.blame_lines(code.root, head, path) if answer.line else None
        is_unchanged = content is not None and len(lines or ()) == len(content.data.splitlines())
        row = lookup.find_symbol_around(code.table, path, answer.line) if is_unchanged else None
        _, calls, guards = code.relations()
        tests = guards.of_symbol(row) if row else guards.of_file(path)
        callers = calls.callers(row)[0] if row else ()
        coupled = list_depended_files(read_coupling(code)[0], path)
    return answer._replace(
        definition=row,
        rules=find_citing_notes(code, bank, path).applying[:most],
        tests=tuple(tests[:most]),
        called_by=tuple(callers[:most]),
        coupled=tuple(coupled[:_MOST_COUPLED]),
        problem=problem or None,
    )


def _place_in_tree(project: Path, tree: Path, target: str) -> tuple[str, int]:
    """Return a file's path below the work tree, and a line or 0."""
    match = _LINE.fullmatch(target)
    name, line = (match[1], int(match[2])) if match else (target, 0)
    for start in (Path.cwd(), project, tree):
        file = (start / name).resolve()
        if file.is_relative_to(tree) and (file.exists() or start == tree):
            return file.relative_to(tree).as_posix(), line
    raise BadInput(f"{name!r} is not in the work tree", "name a file below it")


def _find_commits(tree: Path, at: CommitsAt, path: str, line: int, most: int) -> list[Commit]:
    changes = at.changes(path)
    if not changes:
        raise BadInput(f"no commit has {path!r}", "commit it first, or name another file")
    if not line:
        return list({change.commit.id: change.commit for change in changes}.values())
    lines = authorship.blame_lines(tree, at.head, path) or []
    if not 0 < line <= len(lines):
        raise BadInput(f"{path} has no line {line} in HEAD: it has {len(lines)}", "")
    names = authorship.list_line_commits(tree, at.head, path, line, most) or [lines[line - 1]]
    return list(filter(None, map(at.commit, names)))


def _describe_commit(commit: Commit, brought: tuple[int, str] | None) -> Explanation:
    """Return a commit with its reason and its pull request: that it names, else that merged it."""
    return Explanation(
        "commit",
        commit.id,
        seconds_to_iso(commit.written),
        commit.subject,
        commit.author,
        message_reason(commit),
        commit.request or (brought[0] if brought else 0),
    )


def _linked_notes(bank: Bank, path: str) -> Iterator[Explanation]:
    prefix = bank.layout.project.relative_to(find_work_tree(bank.layout.project))
    inside = Path(path)
    name = inside.relative_to(prefix) if inside.is_relative_to(prefix) else inside
    try:
        recalled = recall(
            bank, "", _MOST_NOTES, linked_to=name.as_posix(), detail=INDEX, count_access=False,
            scope=BANK,
        )  # fmt: skip
    except NoteNotFound:
        return
    for note in recalled.notes:
        text = "; ".join(link.context for link in note.links or ())
        yield Explanation(
            "note", note.path, note.created_at, note.title, note.meta.source_agent, text
        )


def promote_commit(bank: Bank, name: str, *, type: str = "decision", path: str = "") -> WrittenNote:  # noqa: A002  (the field's word)
    """Make a note of a commit's message, with its files; raise BadInput for an unknown commit."""
    bank.settings.check_enabled()
    tree = find_work_tree(bank.layout.project)
    history = open_history(tree)
    try:
        head = repository.read_head_commit(tree)
        at = history.at(head, seconds=_SECONDS) if head else None
        if head and at is None:
            raise StorageFailed(_UNREAD, Hint.TRY_AGAIN)
        commit = at.commit(name.lower()) if at else None
        if at is None or commit is None:
            raise BadInput(f"there is no commit {name!r}", "give seven or more digits of its id")
        files = [change.path for change in at.changes_of(commit.id) if change.status != "D"]
    finally:
        history.close()
    request = f", pull request #{commit.request}" if commit.request else ""
    day = seconds_to_iso(commit.written)[:10]
    text = (
        f"# {commit.subject}\n\n{message_reason(commit)}\n\n"
        f"Commit {commit.id[:12]} of {day} by {commit.author}{request}.\n"
    )
    return remember(bank, text, type=type or "decision", name=path, file_refs=files[:_MOST_NOTES])
