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


def note(call: Call, answer: ShownNote | ShownSection | SeveralShown) -> None:
    """Show a note or a section of it."""
    call.answer(answer, lambda answer: _note(call, answer))
    if isinstance(answer, ShownNote) and not call.json:
        for fault in answer.faults:
            call.warn(f"{call.place(answer.path, fault.line)}: {fault.reason}")


def _note(call: Call, answer: ShownNote | ShownSection | SeveralShown) -> None:
    if isinstance(answer, SeveralShown):
        for current_note in answer.notes:
            _note(call, current_note)
    elif isinstance(answer, ShownSection):
        _section(call, answer)
    else:
        _whole(call, answer)


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


def tags(call: Call, entries: Mapping[str, int]) -> int:
    """Show each tag and its number of notes."""
    rows = [(tag, str(number)) for tag, number in entries.items()]
    return listed(
        call, "tags", entries, lambda: call.console.table(("tag", "notes"), rows), "no tags"
    )


def stats(call: Call, found_stats: Stats, bank: Bank) -> None:
    """Show counts of a bank."""
    call.answer(found_stats, lambda found_stats: _stats(call, found_stats))
    call.warn(bank.problem)


def _stats(call: Call, found_stats: Stats) -> None:
    tags = [f"{tag} {number}" for tag, number in found_stats.tags.items()]
    more = f", and {len(tags) - _TAGS} more" if len(tags) > _TAGS else ""
    rows = [
        ("notes", f"{found_stats.count:,}"),
        ("archived", f"{found_stats.archived:,}"),
        ("size", found_stats.total_size),
        ("passages", f"{found_stats.passages:,}"),
        (
            "types",
            ", ".join(f"{name} {number}" for name, number in found_stats.types.items()) or "-",
        ),
        ("tags", (", ".join(tags[:_TAGS]) + more) or "-"),
        ("ghosts", f"{found_stats.ghosts:,}"),
        ("broken links", f"{found_stats.broken_links:,}"),
        ("orphans", f"{found_stats.orphans:,}"),
        ("not indexed", f"{found_stats.unindexed:,}"),
    ]
    call.console.table(("what", "how many"), rows)


def remembered(call: Call, done_remembered: Remembered, bank: Bank) -> None:
    """Show the note that has a content, and ask whether it amends an older one."""
    call.answer(done_remembered, lambda done_remembered: _remembered(call, done_remembered))
    _ask_whether_amended(call, bank, done_remembered.path, done_remembered.may_amend)


def _remembered(call: Call, done_remembered: Remembered) -> None:
    verb = "created" if done_remembered.action == "created" else "updated"
    call.console.line(
        f"{verb} ", (call.place(done_remembered.path), "place"), f" (id {done_remembered.note_id})"
    )
    if done_remembered.same_as:
        call.console.line("  same content: ", (call.place(done_remembered.same_as), "place"))
    if done_remembered.similar_to:
        call.console.line("  similar: ", (call.place(done_remembered.similar_to), "place"))
    call.warn(done_remembered.warning)


def written(call: Call, done_note: WrittenNote, bank: Bank) -> None:
    """Show whether a note was changed, and ask whether it amends an older one."""
    call.answer(done_note, lambda done_note: _written(call, done_note))
    _ask_whether_amended(call, bank, done_note.path, done_note.may_amend)


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


def _written(call: Call, done_note: WrittenNote, verb: str = "changed") -> None:
    """Print whether a note was changed, and any warning."""
    call.console.line(
        f"{verb if done_note.changed else 'unchanged'} ", (call.place(done_note.path), "place")
    )
    call.warn(done_note.warning)


def archived(call: Call, notes: Sequence[WrittenNote], *, undo: bool = False) -> None:
    """Show the notes that were archived, or are active again."""
    if call.json:
        call.document({"status": "active" if undo else "archived", "notes": notes})
    for note in () if call.json else notes:
        _written(call, note, "active again:" if undo else "archived")


def renamed(call: Call, done_renamed: Renamed) -> None:
    """Show the new name of a note, and the notes whose links were rewritten."""
    call.answer(done_renamed, lambda done_renamed: _renamed(call, done_renamed))


def _renamed(call: Call, done_renamed: Renamed) -> None:
    console = call.console
    if done_renamed.path == done_renamed.old_path:
        console.line((call.place(done_renamed.path), "place"), " already has that name")
        return
    console.line(
        "moved ",
        (call.place(done_renamed.old_path), "place"),
        " to ",
        (call.place(done_renamed.path), "place"),
    )
    for path in done_renamed.relinked:
        console.line("  links changed in ", (call.place(path), "place"))
    _broken(call, done_renamed.broken_links)
    call.warn(done_renamed.warning)


def _broken(call: Call, links: Sequence[LinkShown] | None) -> None:
    """List the links in included files that a move has broken."""
    if links:
        call.warn("links to the old name stay in files of the project that are only included:")
    for link in links or ():
        call.stderr.line("  ", (call.place(link.source, link.line), "place"))


def merged(call: Call, done_merged: Merged) -> None:
    """Show a merged note and its sources."""
    call.answer(done_merged, lambda done_merged: _merged(call, done_merged))


def _merged(call: Call, done_merged: Merged) -> None:
    console = call.console
    for path in done_merged.merged:
        if path != done_merged.path:
            console.line("merged ", (call.place(path), "place"))
    console.line("into ", (call.place(done_merged.path), "place"), f" (id {done_merged.note_id})")
    for path in done_merged.relinked:
        console.line("  links changed in ", (call.place(path), "place"))
    _broken(call, done_merged.broken_links)
    call.warn(done_merged.warning)


def deleted(call: Call, notes: Sequence[TrashedNote]) -> None:
    """Show the notes that were moved to the trash."""
    if call.json:
        call.document({"deleted": notes})
    for trashed in () if call.json else notes:
        call.console.line("deleted ", (call.place(trashed.path), "place"))
        name = shlex.quote(trashed.path.removesuffix(".md"))
        call.console.line(("  to undo: ", "dim"), f"memory-bank trash restore {name}")


def trash(call: Call, notes: Sequence[TrashedNote], name: str = "") -> int:
    """Show deleted notes with the versions that `restore` takes."""
    rows = [
        (note.path.removesuffix(".md"), _when(note), _short(note, notes), note.first_line)
        for note in notes
    ]
    heads = ("name", "deleted", "version", "first line")
    nothing = f"there is no {name!r} in the trash" if name else "the trash is empty"
    return listed(call, "trash", notes, lambda: call.console.table(heads, rows), nothing)


def _when(note: TrashedNote) -> str:
    """Return when a note was deleted, in local time."""
    if not note.deleted_at:
        return "-"
    moment = datetime.fromisoformat(note.deleted_at)
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _short(note: TrashedNote, notes: Sequence[TrashedNote]) -> str:
    """Return the first digits of a version that no other version of the note starts with."""
    short = note.version[:_TO_THE_SECOND]
    same_notes = [
        other_note
        for other_note in notes
        if other_note.path == note.path and other_note.version.startswith(short)
    ]
    return short if len(same_notes) == 1 else note.version


def restored(call: Call, path: str, notes: Sequence[TrashedNote]) -> None:
    """Show the path of a restored note, and how many other versions are in the trash."""
    if call.json:
        call.document({"path": path})
        return
    call.console.line("restored ", (call.place(path), "place"))
    if notes:
        more = count(len(notes), "other version")
        listed = f"memory-bank trash list {shlex.quote(notes[0].path.removesuffix('.md'))}"
        call.remark(f"{more} in the trash: {listed}")


def confirmed(call: Call, confirmation: Confirmation) -> None:
    """Show the notes that were confirmed."""
    if call.json:
        call.document(confirmation)
    for note in () if call.json else confirmation.notes:
        verb = "confirmed" if note.changed else "unchanged"
        call.console.line(
            f"{verb} ", (call.place(note.path), "place"), f" as of {confirmation.commit[:12]}"
        )
        for target in note.targets:
            call.console.line("  moved code: wrote ", target)
        call.warn(note.warning)


def promoted(call: Call, done_promoted: Promoted) -> None:
    """Show the note that was made of an observation."""
    text = "created" if done_promoted.action == "created" else "was promoted before:"
    call.answer(
        done_promoted,
        lambda done_promoted: call.console.line(f"{text} {call.place(done_promoted.path)}"),
    )


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


def imported(call: Call, done_imported: Imported) -> int:
    """Show a line for each note that was imported, or why it was not."""
    call.answer(done_imported, lambda done_imported: _imported(call, done_imported))
    return FOUND if done_imported.notes else NOTHING


def _imported(call: Call, done_imported: Imported) -> None:
    for note in done_imported.notes:
        if note.action != "unchanged":
            _imported_note(call, note, dry_run=done_imported.dry_run)
    for where, reason in done_imported.unread:
        call.console.line("not read: ", (where, "place"), f": {reason}")
    parts = [
        f"{number} {action.replace('_', ' ')}" for action, number in done_imported.counts.items()
    ]
    if done_imported.unread:
        parts.append(f"{len(done_imported.unread)} not read")
    would = "would be: " if done_imported.dry_run else ""
    call.console.line(
        f"{count(len(done_imported.notes), 'note')}: {would}{', '.join(parts) or 'nothing'}"
    )


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
