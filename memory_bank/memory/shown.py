"""Show notes, lists of notes and changes of notes on a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.bank import Bank
from memory_bank.base.rendering import count, named, same_words, visible
from memory_bank.base.screen import FOUND, NOTHING, Call, cells, cut, listed, place
from memory_bank.memory.records import (
    Confirmation,
    Imported,
    Listing,
    Merged,
    NoteImport,
    Promoted,
    Remembered,
    Renamed,
    SeveralShown,
    ShownNote,
    ShownSection,
    Stats,
    TrashedNote,
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


_TAGS = 12
_TO_THE_SECOND = 14
"""Digits of a version that usually tell it from all others of a note."""
_INDENT = "   "


_WORDS = {"test_guard": "test", "coupled_file": "coupled file"}
"""Kinds as a person calls them."""


def listing(call: Call, found: Listing, bank: Bank) -> int:
    """Show a line for each note."""
    call.answer(found, lambda found: _listing(call, found, bank))
    call.warn(bank.problem)
    call.notices(found.notices)
    if not found.notes and not call.json:
        call.remark("no notes")
    if found.more and not call.json:
        call.remark(f"there are more than {found.result_count}: use --limit")
    return FOUND if found.notes else NOTHING


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


def _names(call: Call, listing: Listing, bank: Bank) -> None:
    """Print date, name and title of each note on one line, of which only the title gives way.

    The name is the last part of the path, where no other note has it.
    """
    from memory_bank.bank.open_index import short_names

    console = call.console
    paths = [note.path for note in listing.notes]
    names = [named(one) for one in bank.read(lambda view: short_names(view.manifest, paths))]
    wide = min(max(map(cells, names), default=0), console.columns * 2 // 5)
    for name, note in zip(names, listing.notes, strict=True):
        changed = f"{max(note.created_at, note.updated_at)[:10]}{_GAP}"
        status = "" if note.status in _USUAL else f" ({note.status})"
        pad = " " * (wide - cells(name))
        left = console.columns - cells(f"{changed}{name}{pad}{status}") - len(_GAP)
        title = cut(visible(note.title), left) if left > 0 else ""
        tags = cut(" ".join(f"#{tag}" for tag in note.tags), left - cells(title) - len(_GAP))
        console.line(
            (changed, "dim"), (name, "place"), pad if title else "", _GAP if title else "",
            title, (status, "warn"), _GAP if tags else "", (tags, "tag"),
        )  # fmt: skip


def note(call: Call, found: ShownNote | ShownSection | SeveralShown) -> None:
    """Show a note or a section of it."""
    call.answer(found, lambda found: _note(call, found))
    if isinstance(found, ShownNote) and not call.json:
        for fault in found.faults:
            call.warn(f"{call.place(found.path, fault.line)}: {fault.reason}")


def _note(call: Call, found: ShownNote | ShownSection | SeveralShown) -> None:
    if isinstance(found, SeveralShown):
        for one in found.notes:
            _note(call, one)
    elif isinstance(found, ShownSection):
        _section(call, found)
    else:
        _whole(call, found)


def _whole(call: Call, note: ShownNote) -> None:
    console = call.console
    if not console.terminal:
        _source(call, note.content)
        return
    console.line((call.place(note.path, 1), "place"))
    about = [
        note.type,
        *(f"#{tag}" for tag in note.tags),
        note.created_at[:10],
        "" if note.status == "active" else note.status,
        f"id {note.note_id}" if note.note_id != note.path else "",
        count(note.backlinks_count, "backlink"),
        "included" if note.included else "",
        f"edited by {', '.join(note.edited_by)}" if note.edited_by else "",
    ]
    console.line((" · ".join(filter(None, about)), "tag"))
    if note.stale:
        console.line((f"stale: {note.stale}", "warn"))
    for claim in note.claims:
        console.line((claim, "dim"))
    for reason in note.touched:
        console.line((f"cited file changed: {reason}", "dim"))
    console.line()
    console.markdown(note.body)


def _section(call: Call, part: ShownSection) -> None:
    if not call.console.terminal:
        _source(call, part.content)
        return
    call.console.line((call.place(part.path, part.line), "place"))
    call.console.markdown(part.content)


def _source(call: Call, text: str) -> None:
    """Print a note's source; what is harmful in a terminal is escaped."""
    lines = visible(text.replace("\r\n", "\n"))
    call.console.write(lines if lines.endswith("\n") else f"{lines}\n")


def tags(call: Call, found: Mapping[str, int]) -> int:
    """Show each tag and its number of notes."""
    rows = [(tag, str(number)) for tag, number in found.items()]
    return listed(
        call, "tags", found, lambda: call.console.table(("tag", "notes"), rows), "no tags"
    )


def stats(call: Call, found: Stats, bank: Bank) -> None:
    """Show counts of a bank."""
    call.answer(found, lambda found: _stats(call, found))
    call.warn(bank.problem)


def _stats(call: Call, found: Stats) -> None:
    tags = [f"{tag} {number}" for tag, number in found.tags.items()]
    more = f", and {len(tags) - _TAGS} more" if len(tags) > _TAGS else ""
    rows = [
        ("notes", f"{found.count:,}"),
        ("archived", f"{found.archived:,}"),
        ("size", found.total_size),
        ("passages", f"{found.passages:,}"),
        ("types", ", ".join(f"{name} {number}" for name, number in found.types.items()) or "-"),
        ("tags", (", ".join(tags[:_TAGS]) + more) or "-"),
        ("ghosts", f"{found.ghosts:,}"),
        ("broken links", f"{found.broken_links:,}"),
        ("orphans", f"{found.orphans:,}"),
        ("not indexed", f"{found.unindexed:,}"),
    ]
    call.console.table(("what", "how many"), rows)


def remembered(call: Call, done: Remembered, bank: Bank) -> None:
    """Show the note that has a content, and ask whether it amends an older one."""
    call.answer(done, lambda done: _remembered(call, done))
    _ask_whether_amended(call, bank, done.path, done.may_amend)


def _remembered(call: Call, done: Remembered) -> None:
    verb = "created" if done.action == "created" else "updated"
    call.console.line(f"{verb} ", (call.place(done.path), "place"), f" (id {done.note_id})")
    if done.same_as:
        call.console.line("  same content: ", (call.place(done.same_as), "place"))
    if done.similar_to:
        call.console.line("  similar: ", (call.place(done.similar_to), "place"))
    call.warn(done.warning)


def written(call: Call, done: WrittenNote, bank: Bank) -> None:
    """Show whether a note was changed, and ask whether it amends an older one."""
    call.answer(done, lambda done: _written(call, done))
    _ask_whether_amended(call, bank, done.path, done.may_amend)


def _ask_whether_amended(call: Call, bank: Bank, path: str, older: str | None) -> None:
    """Say that a note may amend an older one; in a terminal, ask, and link them by the answer."""
    if older is None or call.json:
        return
    from memory_bank.memory import change
    from memory_bank.notes.names import name_of

    link = f"[[{name_of(older)}]]"
    if not (call.interactive and call.console.terminal):
        call.remark(f"may amend {call.place(older)}: if so, add `supersedes:: {link}`")
        return
    replaced = call.agreed(f"Does it replace {call.place(older)}?")
    relation = "supersedes" if replaced else "related_to"
    _written(
        call, change.write(bank, path, lambda text: change.appended(text, f"- {relation}:: {link}"))
    )


def _written(call: Call, done: WrittenNote, verb: str = "changed") -> None:
    """Print whether a note was changed, and any warning."""
    call.console.line(f"{verb if done.changed else 'unchanged'} ", (call.place(done.path), "place"))
    call.warn(done.warning)


def archived(call: Call, done: Sequence[WrittenNote], *, undo: bool = False) -> None:
    """Show the notes that were archived, or are active again."""
    if call.json:
        call.document({"status": "active" if undo else "archived", "notes": done})
    for note in () if call.json else done:
        _written(call, note, "active again:" if undo else "archived")


def renamed(call: Call, done: Renamed) -> None:
    """Show the new name of a note, and the notes whose links were rewritten."""
    call.answer(done, lambda done: _renamed(call, done))


def _renamed(call: Call, done: Renamed) -> None:
    console = call.console
    if done.path == done.old_path:
        console.line((call.place(done.path), "place"), " already has that name")
        return
    console.line(
        "moved ", (call.place(done.old_path), "place"), " to ", (call.place(done.path), "place")
    )
    for path in done.relinked:
        console.line("  links changed in ", (call.place(path), "place"))
    _broken(call, done.broken_links)
    call.warn(done.warning)


def _broken(call: Call, links: Sequence[LinkShown] | None) -> None:
    """List the links in included files that a move has broken."""
    if links:
        call.warn("links to the old name stay in files of the project that are only included:")
    for link in links or ():
        call.stderr.line("  ", (call.place(link.source, link.line), "place"))


def merged(call: Call, done: Merged) -> None:
    """Show a merged note and its sources."""
    call.answer(done, lambda done: _merged(call, done))


def _merged(call: Call, done: Merged) -> None:
    console = call.console
    for path in done.merged:
        if path != done.path:
            console.line("merged ", (call.place(path), "place"))
    console.line("into ", (call.place(done.path), "place"), f" (id {done.note_id})")
    for path in done.relinked:
        console.line("  links changed in ", (call.place(path), "place"))
    _broken(call, done.broken_links)
    call.warn(done.warning)


def deleted(call: Call, done: Sequence[TrashedNote]) -> None:
    """Show the notes that were moved to the trash."""
    if call.json:
        call.document({"deleted": done})
    for trashed in () if call.json else done:
        call.console.line("deleted ", (call.place(trashed.path), "place"))
        name = shlex.quote(trashed.path.removesuffix(".md"))
        call.console.line(("  to undo: ", "dim"), f"memory-bank trash restore {name}")


def trash(call: Call, found: Sequence[TrashedNote], name: str = "") -> int:
    """Show deleted notes with the versions that `restore` takes."""
    rows = [
        (note.path.removesuffix(".md"), _when(note), _short(note, found), note.first_line)
        for note in found
    ]
    heads = ("name", "deleted", "version", "first line")
    nothing = f"there is no {name!r} in the trash" if name else "the trash is empty"
    return listed(call, "trash", found, lambda: call.console.table(heads, rows), nothing)


def _when(note: TrashedNote) -> str:
    """Return when a note was deleted, in local time."""
    if not note.deleted_at:
        return "-"
    moment = datetime.fromisoformat(note.deleted_at)
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _short(note: TrashedNote, found: Sequence[TrashedNote]) -> str:
    """Return the first digits of a version that no other version of the note starts with."""
    short = note.version[:_TO_THE_SECOND]
    same = [other for other in found if other.path == note.path and other.version.startswith(short)]
    return short if len(same) == 1 else note.version


def restored(call: Call, path: str, others: Sequence[TrashedNote]) -> None:
    """Show the path of a restored note, and how many other versions are in the trash."""
    if call.json:
        call.document({"path": path})
        return
    call.console.line("restored ", (call.place(path), "place"))
    if others:
        more = count(len(others), "other version")
        listed = f"memory-bank trash list {shlex.quote(others[0].path.removesuffix('.md'))}"
        call.remark(f"{more} in the trash: {listed}")


def confirmed(call: Call, done: Confirmation) -> None:
    """Show the notes that were confirmed."""
    if call.json:
        call.document(done)
    for note in () if call.json else done.notes:
        verb = "confirmed" if note.changed else "unchanged"
        call.console.line(
            f"{verb} ", (call.place(note.path), "place"), f" as of {done.commit[:12]}"
        )
        for target in note.targets:
            call.console.line("  moved code: wrote ", target)
        call.warn(note.warning)


def promoted(call: Call, done: Promoted) -> None:
    """Show the note that was made of an observation."""
    what = "created" if done.action == "created" else "was promoted before:"
    call.answer(done, lambda done: call.console.line(f"{what} {call.place(done.path)}"))


def behind(call: Call, found: Why, code: Codebase | None) -> int:
    """Show the definition, a block for each commit and note behind it, and what hangs on it."""
    call.answer(found, lambda found: _behind(call, found, code))
    call.warn(found.problem)
    return FOUND if found.behind or found.rules or found.tests else NOTHING


_MOST_REASON = 400
"""Most characters of the reason of a commit or note."""


def _behind(call: Call, found: Why, code: Codebase | None) -> None:
    from memory_bank.code.shown import CodeAnswerView  # start-up: lists of notes read no Markdown

    view = CodeAnswerView(call, code.root) if code else None
    if view and found.definition:
        view.definition(found.definition)
        call.console.line()
    for number, one in enumerate(found.behind):
        if number:
            call.console.line()
        name = f"commit {one.id[:8]}" if one.kind == "commit" else call.place(one.id)
        request = f"  #{one.pull_request}" if one.pull_request else ""
        by = f" {one.author}" if one.author else ""
        call.console.line((name, "place"), f" {one.date[:10]}{by}{request}")
        call.console.line(_INDENT, (one.title, "bold"))
        if one.reason and not same_words(one.title, one.reason):
            call.console.block(cut(one.reason, _MOST_REASON), _INDENT)
    if view:
        view.calls("called by", found.called_by)
        view.notes(f"rules for {found.path}", found.rules)
        view.tests(found.tests)
        view.depended(found.coupled)


def imported(call: Call, done: Imported) -> int:
    """Show a line for each note that was imported, or why it was not."""
    call.answer(done, lambda done: _imported(call, done))
    return FOUND if done.notes else NOTHING


def _imported(call: Call, done: Imported) -> None:
    for note in done.notes:
        if note.action != "unchanged":
            _imported_note(call, note, dry_run=done.dry_run)
    for where, reason in done.unread:
        call.console.line("not read: ", (where, "place"), f": {reason}")
    parts = [f"{number} {action.replace('_', ' ')}" for action, number in done.counts.items()]
    if done.unread:
        parts.append(f"{len(done.unread)} not read")
    would = "would be: " if done.dry_run else ""
    call.console.line(f"{count(len(done.notes), 'note')}: {would}{', '.join(parts) or 'nothing'}")


def _imported_note(call: Call, note: NoteImport, *, dry_run: bool) -> None:
    console = call.console
    verb = f"would be {note.action}:" if dry_run else note.action
    if note.action in {"created", "updated"}:
        console.line(f"{verb} ", (call.place(note.path) if note.path else note.key, "place"))
        if note.may_amend:
            console.line("  may amend: ", (call.place(note.may_amend), "place"))
    elif note.action == "same_content":
        console.line("not imported: ", (note.key, "place"), f": {note.path} has the same content")
    else:
        stays = f" ({call.place(note.path)} stays)" if note.path else ""
        console.line("not imported: ", (note.key, "place"), f": {note.reason}{stays}")


def answers(call: Call, found: Answer, codebase: Codebase | None) -> int:
    """Show what answers a question: notes, docs, symbols, tests, coupled files."""
    root = codebase.root if codebase is not None else None
    call.answer(found, lambda found: _answers(call, found, root))
    call.incomplete(found.fallback_reason, found.problem, mode=found.mode_used)
    if not call.json and not found.answered:
        call.remark(UNANSWERED if found.results else "nothing found")
    return FOUND if found.results else NOTHING


def _answers(call: Call, answer: Answer, root: Path | None) -> None:
    from memory_bank.code.records import plain_words

    console = call.console
    for number, one in enumerate(answer.results, 1):
        if number > 1:
            console.line()
        kind = _WORDS.get(one.kind, one.kind)
        console.line(
            f"{number}  ", (_answer_place(call, one, root), "place"), f"  {kind}  ",
            (f"{one.relevance_score:.2f}", "dim"),
            (f"  {one.created_at[:10]}" if isinstance(one, NoteResult) else "", "tag"),
        )  # fmt: skip
        if one.title and one.title != file_of(one):
            console.line(_INDENT, (one.title, "bold"))
        if not same_words(one.title or "", one.snippet):
            console.block(" ".join(plain_words(one.snippet).split()), _INDENT)


def _answer_place(call: Call, one: Result, root: Path | None) -> str:
    """Return where a result is, as seen from the working directory."""
    if isinstance(one, CommitResult):
        return file_of(one)
    if isinstance(one, NoteResult) or root is None:
        return call.place(file_of(one), line_of(one))
    return place(root / file_of(one), line_of(one) or None)


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
