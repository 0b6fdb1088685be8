"""Show notes, lists of notes and changes of notes on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.bank.bank import Bank
from memory_bank.base.rendering import count, named, same_words, visible
from memory_bank.base.screen import FOUND, NOTHING, Call, cells, cut, place
from memory_bank.base.view import write
from memory_bank.memory import views
from memory_bank.memory.records import (
    Listing,
    Remembered,
    Why,
    WrittenNote,
)
from memory_bank.memory.retrieval.ask_results import (
    UNANSWERED,
    Answer,
    CommitResult,
    NoteResult,
    Result,
    file_of,
    line_of,
)
from memory_bank.search.document_changes import SyncReport

if TYPE_CHECKING:  # start-up: lists of notes need no code
    from memory_bank.code.index.codebase import Codebase

_GAP = "  "


_TYPE = 11

_USUAL = frozenset(["active", "accepted"])
"""Statuses that are not said, since most notes have one of them."""


_INDENT = "   "


_WORDS = {"test_guard": "test", "coupled_file": "coupled file"}
"""Kinds as a person calls them."""


def listing(call: Call, found_listing: Listing, bank: Bank) -> int:
    """Show a line for each note."""
    call.answer(found_listing, lambda found_listing: _listing(call, found_listing, bank))
    call.warn(bank.problem)
    call.notices(found_listing.notices)
    if not found_listing.notes and not call.json:
        call.remark("no notes")
    if found_listing.more and not call.json:
        call.remark(f"there are more than {found_listing.result_count}: use --limit")
    return FOUND if found_listing.notes else NOTHING


def _listing(call: Call, listing: Listing, bank: Bank) -> None:
    """Print one line per note: for a person by its name, into a pipe by its place."""
    console = call.console
    if console.terminal:
        _names(call, listing, bank)
        return
    places = [call.place(note.path, 1) for note in listing.notes]
    wide = max(map(cells, places), default=0)
    for where, note in zip(places, listing.notes, strict=True):
        changed = max(note.created_at, note.updated_at)[:10]
        status = "" if note.status in _USUAL else f" ({note.status})"
        tags = " ".join(f"#{tag}" for tag in note.tags)
        console.line(
            (where, "place"), " " * (wide - cells(where)), _GAP, (changed, "dim"), _GAP,
            f"{note.type or '-':<{_TYPE}}", _GAP, note.title, (status, "warn"),
            _GAP if tags else "", (tags, "tag"),
        )  # fmt: skip
        if note.description:
            console.line(_INDENT, (visible(note.description), "dim"))


def _names(call: Call, listing: Listing, bank: Bank) -> None:
    """Print date, name and title of each note on one line, of which only the title gives way.

    The name is the last part of the path, where no other note has it.
    """
    from memory_bank.bank.open_index import short_names

    console = call.console
    paths = [note.path for note in listing.notes]
    names = [
        named(content) for content in bank.read(lambda view: short_names(view.manifest, paths))
    ]
    wide = min(max(map(cells, names), default=0), console.columns * 2 // 5)
    for name, note in zip(names, listing.notes, strict=True):
        changed = f"{max(note.created_at, note.updated_at)[:10]}{_GAP}"
        status = "" if note.status in _USUAL else f" ({note.status})"
        pad = " " * (wide - cells(name))
        columns = console.columns - cells(f"{changed}{name}{pad}{status}") - len(_GAP)
        title = cut(visible(note.title), columns) if columns > 0 else ""
        tags = cut(" ".join(f"#{tag}" for tag in note.tags), columns - cells(title) - len(_GAP))
        console.line(
            (changed, "dim"), (name, "place"), pad if title else "", _GAP if title else "",
            title, (status, "warn"), _GAP if tags else "", (tags, "tag"),
        )  # fmt: skip
        if note.description:
            words = cut(visible(note.description), console.columns - len(_INDENT))
            console.line(_INDENT, (words, "dim"))


def ask_whether_amended(call: Call, note: Remembered | WrittenNote, bank: Bank) -> None:
    """Say that a note may amend an older one; in a terminal, ask, and link them by the answer."""
    older = note.may_amend
    if older is None or call.json:
        return
    from memory_bank.memory import edit
    from memory_bank.notes.names import name_of

    link = f"[[{name_of(older)}]]"
    if not (call.interactive and call.console.terminal):
        call.remark(f"may amend {call.place(older)}: if so, add `supersedes:: {link}`")
        return
    replaced = call.agreed(f"Does it replace {call.place(older)}?")
    amended = edit.append(
        bank, note.path, f"- {'supersedes' if replaced else 'related_to'}:: {link}"
    )
    write(call, amended, views.view_written(amended))


def behind(call: Call, why: Why, code: Codebase | None) -> int:
    """Show the definition, a block for each commit and note behind it, and what hangs on it."""
    call.answer(why, lambda why: _behind(call, why, code))
    call.warn(why.problem)
    return FOUND if why.behind or why.rules or why.tests else NOTHING


_MOST_REASON = 400
"""Most characters of the reason of a commit or note."""


def _behind(call: Call, why: Why, code: Codebase | None) -> None:
    from memory_bank.code.shown import CodeAnswerView  # start-up: lists of notes read no Markdown

    view = CodeAnswerView(call, code.root) if code else None
    if view and why.definition:
        view.definition(why.definition)
        call.console.line()
    for number, current_behind in enumerate(why.behind):
        if number:
            call.console.line()
        name = (
            f"commit {current_behind.id[:8]}"
            if current_behind.kind == "commit"
            else call.place(current_behind.id)
        )
        request = f"  #{current_behind.pull_request}" if current_behind.pull_request else ""
        by = f" {current_behind.author}" if current_behind.author else ""
        call.console.line((name, "place"), f" {current_behind.date[:10]}{by}{request}")
        call.console.line(_INDENT, (current_behind.title, "bold"))
        if current_behind.reason and not same_words(current_behind.title, current_behind.reason):
            call.console.block(cut(current_behind.reason, _MOST_REASON), _INDENT)
    if view:
        view.calls("called by", why.called_by)
        view.notes(f"rules for {why.path}", why.rules)
        view.tests(why.tests)
        view.depended(why.coupled)


def answers(call: Call, answer: Answer, codebase: Codebase | None) -> int:
    """Show what answers a question: notes, docs, symbols, tests, coupled files."""
    root = codebase.root if codebase is not None else None
    call.answer(answer, lambda answer: _answers(call, answer, root))
    call.incomplete(answer.fallback_reason, answer.problem, mode=answer.mode_used)
    if not call.json and not answer.answered:
        call.remark(UNANSWERED if answer.results else "nothing found")
    return FOUND if answer.results else NOTHING


def _answers(call: Call, answer: Answer, root: Path | None) -> None:
    from memory_bank.code.records import plain_words

    console = call.console
    for number, entry in enumerate(answer.results, 1):
        if number > 1:
            console.line()
        kind = _WORDS.get(entry.kind, entry.kind)
        console.line(
            f"{number}  ", (_answer_place(call, entry, root), "place"), f"  {kind}  ",
            (f"{entry.relevance_score:.2f}", "dim"),
            (f"  {entry.created_at[:10]}" if isinstance(entry, NoteResult) else "", "tag"),
        )  # fmt: skip
        if entry.title and entry.title != file_of(entry):
            console.line(_INDENT, (entry.title, "bold"))
        if isinstance(entry, NoteResult) and entry.description:
            console.line(_INDENT, (cut(visible(entry.description), console.width), "dim"))
        if not same_words(entry.title or "", entry.snippet):
            console.block(" ".join(plain_words(entry.snippet).split()), _INDENT)


def _answer_place(call: Call, entry: Result, root: Path | None) -> str:
    """Return where a result is, as seen from the working directory."""
    if isinstance(entry, CommitResult):
        return file_of(entry)
    if isinstance(entry, NoteResult) or root is None:
        return call.place(file_of(entry), line_of(entry))
    return place(root / file_of(entry), line_of(entry) or None)


def synced(call: Call, report: SyncReport) -> None:
    """Show what was indexed."""
    parts = _counted(report, "note")
    if report.unindexed:
        parts.append(f"{count(report.unindexed, 'file')} can't be indexed, see doctor")
    call.console.line(", ".join(parts), (f" in {report.seconds:.1f} s", "dim"))
    if (code := report.code) and (code.indexed or code.embedded or code.removed or code.waiting):
        synced_code(call, code)
    call.show_repaired(report.repaired)


def synced_code(call: Call, report: SyncReport) -> None:
    """Show what was indexed of the code."""
    parts = ", ".join(_counted(report, "document"))
    call.console.line(("code: ", "bold"), parts, (f" in {report.seconds:.1f} s", "dim"))


def _counted(report: SyncReport, document: str) -> list[str]:
    parts = [f"indexed {count(report.indexed, document)}"]
    if report.embedded:
        parts.append(f"embedded {count(report.embedded, 'passage')}")
    if report.removed:
        parts.append(f"removed {count(report.removed, document)}")
    if report.waiting:
        parts.append(f"{count(report.waiting, 'passage')} without a vector")
    return parts


def differences(call: Call, differences: Sequence[str]) -> None:
    """Show how the index differs from a newly built one."""
    for difference in differences:
        call.console.line(difference)
    if differences:
        call.remark(
            f"{count(len(differences), 'difference')}: `memory-bank sync --rebuild` repairs it"
        )
    else:
        call.console.line("the index equals a newly built one")
