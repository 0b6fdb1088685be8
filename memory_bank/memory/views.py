"""Describe answers about notes, for people and for agents."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import short_names
from memory_bank.bank.records import ShownNote
from memory_bank.base.hit_view import Place
from memory_bank.base.rendering import count, quote_path
from memory_bank.base.screen import FAILED, FOUND, NOTHING, Call, cut
from memory_bank.base.view import Entry, Lines, Table, View
from memory_bank.memory.records import (
    Confirmation,
    Imported,
    Listing,
    NoteImport,
    Promoted,
    SeveralShown,
    Stats,
    TrashedNote,
    WrittenNote,
)
from memory_bank.memory.retrieval.answers import format_age, name_authors, own_id
from memory_bank.notes.okf import StatedSource
from memory_bank.search.document_changes import SyncReport

DIGITS = 12
"""Digits of an abbreviated commit."""

_ETAG = 16
"""Digits of an abbreviated etag."""

_DAY = 10
"""Characters of the date in a timestamp."""

_USUAL = frozenset(["active", "accepted"])
"""Statuses that are not said, since most notes have one of them."""

_MOST = 12
"""Most tags and types that are counted one by one."""

_TO_THE_SECOND = 14
"""Digits of a version that usually tell it from all others of a note."""

_AMENDS = (
    "It may amend the older note may_amend: if it replaces that, append"
    " `- supersedes:: [[name]]` to it, else `- related_to:: [[name]]`."
)


def view_remembered(remembered: WrittenNote) -> View:
    """Tell which note has the content."""
    created = remembered.action == "created"
    about = {
        "path": remembered.path,
        "id": own_id(remembered.note_id, remembered.path),
        "etag": remembered.etag[:_ETAG],
        "type": remembered.type or "",
        "tags": " ".join(remembered.tags or ()),
        "by": remembered.source_type,
        "created_at": remembered.created_at,
        "same_as": Place(remembered.same_as or ""),
        "similar_to": Place(remembered.similar_to or ""),
        "may_amend": remembered.may_amend or "",
        "session": remembered.session_id or "",
    }
    advice = [
        "Another note, same_as, has the same content." if remembered.same_as else "",
        "Another note, similar_to, says nearly the same: read it, then merge or edit."
        if remembered.similar_to
        else "",
        _AMENDS if remembered.may_amend else "",
    ]
    entry = Entry(Place(remembered.path), about, verb="created" if created else "updated",
                  more=[f" (id {remembered.note_id})"])  # fmt: skip
    return View(
        "Created" if created else "A note had the same content; updated it",
        [entry],
        {"action": remembered.action},
        " ".join(filter(None, advice)),
        warning=remembered.warning,
    )


def view_written(note: WrittenNote, verb: str = "changed") -> View:
    """Tell whether a note was changed."""
    about = {"path": note.path, "etag": note.etag[:_ETAG], "may_amend": note.may_amend or ""}
    entry = Entry(Place(note.path), about, verb=verb if note.changed else "unchanged")
    return View(
        "Changed" if note.changed else "Nothing to change",
        [entry],
        advice=_AMENDS if note.may_amend else "",
        warning=note.warning,
    )


def view_archived(notes: Sequence[WrittenNote], *, undo: bool = False) -> View:
    """Tell which notes were archived, or are active again."""
    verb = "active again:" if undo else "archived"
    views = [view_written(note, verb) for note in notes]
    return View(
        parts=[part for view in views for part in view.parts],
        warning="; ".join(view.warning for view in views if view.warning) or None,
        document={"status": "active" if undo else "archived", "notes": notes},
    )


def view_renamed(renamed: WrittenNote) -> View:
    """Tell a note's new path, and the notes whose links were rewritten."""
    if renamed.path == renamed.old_path:
        entry = Entry(Place(renamed.path), {"path": renamed.path}, more=[" already has that name"])
        return View("Nothing to move", [entry])
    about = {"old_path": renamed.old_path, "path": renamed.path}
    entry = Entry(Place(renamed.old_path), about, verb="moved", more=[" to ", Place(renamed.path)])
    parts: list[Entry | Lines] = [entry, *_view_relinked(renamed)]
    return View("Moved", parts, warning=renamed.warning)


def view_merged(merged: WrittenNote) -> View:
    """Tell the merged note and its sources."""
    about = {"path": merged.path, "id": merged.note_id, "etag": merged.etag[:_ETAG]}
    sources = [Place(path) for path in merged.merged if path != merged.path]
    entry = Entry(Place(merged.path), about, verb="into", more=[f" (id {merged.note_id})"])
    relinked = _view_relinked(merged)
    parts: list[Entry | Lines] = [Lines("merged", sources), entry, *relinked]
    return View("Merged; the sources are in the trash", parts, warning=merged.warning)


def _view_relinked(note: WrittenNote) -> list[Lines]:
    """Return the notes whose links were rewritten, and the links that a move has broken."""
    broken = [Place(link.source, link.row.line) for link in note.broken_links or ()]
    lists = [
        Lines("links changed in", [Place(path) for path in note.relinked or ()]),
        Lines("links to the old name stay in files of the project that are only included", broken),
    ]
    return [part for part in lists if part.lines]


def view_deleted(deleted: TrashedNote | Sequence[TrashedNote]) -> View:
    """Tell which notes were moved to the trash, and how to restore them."""
    notes = [deleted] if isinstance(deleted, TrashedNote) else deleted
    entries = [
        Entry(
            Place(note.path),
            {"path": note.path},
            verb="deleted",
            line=[f"  to undo: memory-bank trash restore {shlex.quote(_strip_suffix(note.path))}"],
        )
        for note in notes
    ]
    head = "Moved to the trash; restore_memory brings it back"
    return View(head, entries, document={"deleted": notes})


def view_trash(notes: Sequence[TrashedNote], name: str = "") -> View:
    """List deleted notes with the versions that `restore` takes."""
    rows = [
        (
            _strip_suffix(note.path),
            _format_deletion(note),
            _short_version(note, notes),
            note.first_line,
        )
        for note in notes
    ]
    nothing = f"there is no {name!r} in the trash" if name else "the trash is empty"
    return View(
        nothing,
        [Table(("name", "deleted", "version", "first line"), rows)] if rows else (),
        code=FOUND if rows else NOTHING,
        document={"result_count": len(notes), "trash": notes},
    )


def _strip_suffix(path: str) -> str:
    return path.removesuffix(".md")


def _format_deletion(note: TrashedNote) -> str:
    """Return when a note was deleted, in local time."""
    if not note.deleted_at:
        return "-"
    return f"{datetime.fromisoformat(note.deleted_at).astimezone():%Y-%m-%d %H:%M}"


def _short_version(note: TrashedNote, notes: Sequence[TrashedNote]) -> str:
    """Return the first digits of a version that no other version of the note starts with."""
    short = note.version[:_TO_THE_SECOND]
    versions = [version.version for version in notes if version.path == note.path]
    return short if sum(version.startswith(short) for version in versions) == 1 else note.version


def view_restored(note: WrittenNote, versions: Sequence[TrashedNote] = ()) -> View:
    """Tell the path of a restored note, and how many other versions are in the trash."""
    notices = []
    if versions:
        more = count(len(versions), "other version")
        listed = f"memory-bank trash list {shlex.quote(_strip_suffix(versions[0].path))}"
        notices = [f"{more} in the trash: {listed}"]
    entry = Entry(Place(note.path), {"path": note.path}, verb="restored")
    return View("Restored", [entry], notices=notices)


def view_confirmed(confirmation: Confirmation) -> View:
    """Tell which notes were confirmed, as of which commit."""
    commit = confirmation.commit[:DIGITS]
    entries = [
        Entry(
            Place(note.path),
            {"path": note.path, "wrote": ", ".join(note.targets or ())},
            verb="confirmed" if note.changed else "unchanged",
            more=[f" as of {commit}"],
            line=[f"  moved code: wrote {target}" for target in note.targets or ()],
        )
        for note in confirmation.notes
    ]
    warnings = "; ".join(note.warning for note in confirmation.notes if note.warning)
    head = f"{count(len(entries), 'note')} confirmed as of {commit}"
    return View(head, entries, problem=warnings or None)


def view_promoted(promoted: Promoted) -> View:
    """Tell the note that was made of an observation."""
    verb = "created" if promoted.action == "created" else "was promoted before:"
    return View("Promoted", [Entry(Place(promoted.path), {"path": promoted.path}, verb=verb)])


def view_imported(imported: Imported) -> View:
    """Tell of each note that it was imported, or why it was not."""
    notes = [note for note in imported.notes if note.action != "unchanged"]
    parts = [_view_imported(note, dry_run=imported.dry_run) for note in notes]
    parts += [
        Entry(place, verb="not read:", more=[f": {reason}"]) for place, reason in imported.unread
    ]
    counts = [f"{number} {action.replace('_', ' ')}" for action, number in imported.counts.items()]
    counts += [f"{len(imported.unread)} not read"] if imported.unread else []
    would = "would be: " if imported.dry_run else ""
    total = f"{count(len(imported.notes), 'note')}: {would}{', '.join(counts) or 'nothing'}"
    return View(parts=[*parts, Entry(total)], code=FOUND if imported.notes else NOTHING)


def _view_imported(note: NoteImport, *, dry_run: bool) -> Entry:
    if note.action in {"created", "updated"}:
        verb = f"would be {note.action}:" if dry_run else note.action
        about = {"may_amend": Place(note.may_amend or "")}
        more = [f": {note.reason}"] if note.reason else []
        return Entry(Place(note.path) if note.path else note.key, about, verb=verb, more=more)
    if note.action == "same_content":
        reason: list[str | Place] = [f": {note.path} has the same content"]
    else:
        reason = [f": {note.reason}"]
        reason += [" (", Place(note.path), " stays)"] if note.path else []
    return Entry(note.key, verb="not imported:", more=reason)


def view_tags(counts: Mapping[str, int]) -> View:
    """List each tag with its number of notes."""
    rows = [(tag, str(number)) for tag, number in counts.items()]
    return View(
        "no tags",
        [Table(("tag", "notes"), rows)] if rows else (),
        code=FOUND if rows else NOTHING,
        document={"result_count": len(counts), "tags": counts},
    )


def view_stats(stats: Stats) -> View:
    """List the counts of a bank."""
    rows = [
        ("notes", f"{stats.count:,}"),
        ("archived", f"{stats.archived:,}"),
        ("size", stats.total_size),
        ("passages", f"{stats.passages:,}"),
        ("types", _format_counts(stats.types) or "-"),
        ("tags", _format_counts(stats.tags) or "-"),
        ("ghosts", f"{stats.ghosts:,}"),
        ("broken links", f"{stats.broken_links:,}"),
        ("orphans", f"{stats.orphans:,}"),
        ("not indexed", f"{stats.unindexed:,}"),
    ]
    return View(parts=[Table(("what", "how many"), rows)])


def _format_counts(counts: Mapping[str, int]) -> str:
    texts = [f"{name} {number}" for name, number in counts.items()]
    more = [f"and {len(texts) - _MOST} more"] if len(texts) > _MOST else []
    return ", ".join([*texts[:_MOST], *more])


def view_notes(notes: ShownNote | SeveralShown) -> View:
    """Describe notes or sections whole, and tell which names are no notes."""
    if isinstance(notes, SeveralShown):
        views = [view_notes(note) for note in notes.notes]
        parts = [part for view in views for part in view.parts]
        missing = [f"{missing.name}: {missing.reason}" for missing in notes.missing]
        return View(
            parts=[*parts, *([Lines("not read", missing)] if missing else [])],
            advice=" ".join(filter(None, dict.fromkeys(view.advice for view in views))),
            notices=[notice for view in views for notice in view.notices],
        )
    if notes.is_section:
        about: dict[str, object] = {"path": notes.path, "line": notes.line}
        about |= {"etag": notes.etag[:_ETAG], "stale": notes.stale}
        place = Place(notes.path, notes.line)
        return View(parts=[Entry(place, about, notes.content, markdown=notes.content)])
    return _view_note(notes)


def _view_note(note: ShownNote) -> View:
    status = note.meta.status if note.meta.status != "active" else ""
    about = {
        "path": note.path,
        "id": own_id(note.note_id, note.path),
        "etag": note.etag[:_ETAG],
        "type": note.meta.type,
        "tags": " ".join(note.meta.tags),
        "by": name_authors(note),
        "created_at": note.created_at,
        "updated_at": note.updated_at if note.updated_at != note.created_at else "",
        "age": format_age(note.created_at),
        "status": status,
        "backlinks": note.backlinks_count,
        "superseded_by": note.superseded_by or "",
        "stale": note.stale,
        "claims": "; ".join(note.claims),
    }
    line = [
        note.meta.type,
        *(f"#{tag}" for tag in note.meta.tags),
        note.created_at[:_DAY],
        status,
        f"id {about['id']}" if about["id"] else "",
        count(note.backlinks_count, "backlink"),
        "included" if note.included else "",
        f"edited by {', '.join(note.edited_by)}" if note.edited_by else "",
        f"superseded by {note.superseded_by}" if note.superseded_by else "",
        f"stale: {note.stale}" if note.stale else "",
        *note.claims,
        *map(_describe_source, note.sources or ()),
        *(f"cited file changed: {reason}" for reason in note.touched),
    ]
    reason = "it is only included from the project" if note.included else "it is not valid UTF-8"
    entry = Entry(Place(note.path, 1), about, note.content, line=line, markdown=note.body or " ")
    return View(
        parts=[entry],
        advice="" if note.writable else f"No tool can change this file: {reason}.",
        notices=[f"{note.path}:{fault.line}: {fault.reason}" for fault in note.faults],
    )


def _describe_source(source: StatedSource) -> str:
    """Return what a note describes or derives from: its name, address and description."""
    words = ", ".join(filter(None, dict.fromkeys((source.name, source.resource, source.about))))
    return f"{'describes' if source.is_subject else 'source'}: {words}"


def view_listing(listing: Listing, bank: Bank | None = None, call: Call | None = None) -> View:
    """List notes: for a person by their names, which are as short as they can be, else by path."""
    paths = [note.path for note in listing.notes]
    names = paths
    if call is not None and bank is not None:
        names = [call.place(path, 1) for path in paths]
        if call.console.terminal:
            short = map(quote_path, bank.read(lambda view: short_names(view.manifest, paths)))
            # the start of a name opens its note, and a long one would take the titles' room
            names = [cut(name, call.console.columns // 3) for name in short]
    rows = [
        (
            name, max(note.created_at, note.updated_at)[:_DAY], note.type or "-",
            f"{note.title}{'' if note.status in _USUAL else f' ({note.status})'}",
            " ".join(f"#{tag}" for tag in note.tags),
        )
        for name, note in zip(names, listing.notes, strict=True)
    ]  # fmt: skip
    headings = ("note", "changed", "type", "title", "tags")
    below = [note.description or "" for note in listing.notes]
    more = f"there are more than {listing.result_count}: use --limit"
    return View(
        f"{count(listing.result_count, 'note')}, the last changed first" if rows else "No notes",
        [Table(headings, rows, "title", below=below)] if rows else (),
        notices=listing.notices,
        problem=bank.problem if bank else None,
        remarks=[more] if listing.more else [],
        code=FOUND if rows else NOTHING,
    )


def view_sync(report: SyncReport) -> View:
    """Tell what was indexed, of notes and of code."""
    texts = [_view_indexed(report, "note")]
    problems: list[str | None] = [report.problem]
    if (code := report.code) is not None:
        if code.indexed or code.embedded or code.removed or code.waiting:
            texts.append(f"code: {_view_indexed(code, 'document')}")
        problems.append(f"code: {code.problem}" if code.problem else None)
    return View("; ".join(texts), problem="; ".join(filter(None, problems)) or None)


def _view_indexed(report: SyncReport, document: str) -> str:
    """Return what was indexed, in how many seconds."""
    counts = [
        f"indexed {count(report.indexed, document)}",
        f"embedded {count(report.embedded, 'passage')}" if report.embedded else "",
        f"removed {count(report.removed, document)}" if report.removed else "",
        f"{count(report.waiting, 'passage')} without a vector" if report.waiting else "",
        f"{count(report.unindexed, 'file')} can't be indexed, see doctor"
        if report.unindexed
        else "",
    ]
    return f"{', '.join(filter(None, counts))} in {report.seconds:.1f} s"


def view_differences(differences: Sequence[str]) -> View:
    """List how the index differs from a newly built one."""
    if not differences:
        return View("the index equals a newly built one")
    text = f"{count(len(differences), 'difference')}: `memory-bank sync --rebuild` repairs it"
    return View(parts=[Entry(line) for line in differences], remarks=[text], code=FAILED)
