"""List notes, show one note, and count tags."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import BY_HAND, NoteRow
from memory_bank.bank.records import ShownNote
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import Conflict, Hint, NoteNotFound, UnreadableNote
from memory_bank.base.operation import (
    LONGEST_NAME,
    Before,
    IncludeArchived,
    Param,
    Since,
    Tags,
    Tool,
    Type,
    operation,
)
from memory_bank.memory import views
from memory_bank.memory.records import Listing, Missing, SeveralShown
from memory_bank.notes import okf
from memory_bank.notes.names import name_of
from memory_bank.notes.note import find_section
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, filters, link_rows
from memory_bank.search.query import list_conditions, list_remarks, nothing_within
from memory_bank.trust.authors import list_editors
from memory_bank.trust.stale_cache import check_citations


@operation(
    "notes",
    why="""
    Lists notes by the time of their last change, the newest first, one per line: path, date of the
    change, type, title and tags; below it, what its `description` says. To find notes by their
    content, use recall.
    """,
    examples=(
        ("memory-bank notes --since 7d", "changed in the last seven days"),
        ("memory-bank notes --type decision --limit 100", "all decisions"),
        ("memory-bank notes --json | jq -r '.notes[].path'", "for a program"),
    ),
    group="Find",
    view=views.view_listing,
    tool=Tool(
        "List recent notes, without text. On a subject, `recall`.",
        "bank",
        name="recent_memories",
        takes=("limit", "tags", "type", "since", "before"),
        reads=True,
    ),
)
def list_notes(
    bank: Bank,
    limit: Annotated[int, Param("Most notes to list; default: 10", metavar="N")] = 10,
    *,
    since: Since = None,
    before: Before = None,
    tags: Annotated[Tags, Param("Only notes that have all these tags")] = (),
    type: Annotated[Type, Param("Only notes of this type")] = None,  # noqa: A002  (the field's word)
    include_archived: IncludeArchived = False,
) -> Listing:
    """List the notes that changed most recently.

    Return the most recently created or updated notes; filters as in `recall`.
    """
    conditions = list_conditions(tags=tags, types=type, since=since, before=before)
    most = max(limit, 1)
    bank.catch_up()

    with bank.lock:
        updates = bank.state.updates()

    def read(view: IndexView) -> tuple[list[NoteRow], tuple[str, ...]]:
        scope = filters.find_scope(
            view.manifest, conditions, hidden=include_archived, written=updates
        )
        rows = open_index.newest_notes(view.manifest, scope, most + 1, updates)
        nothing = () if rows else nothing_within(conditions)
        return rows, (*list_remarks(view.manifest, (), conditions), *nothing)

    rows, notices = bank.read(read)
    page = tuple(rows[:most])
    return Listing(len(page), page, notices, more=len(rows) > most or None)


def show(bank: Bank, name: str, *, count_access: bool = True) -> ShownNote:
    """Return a whole note; raise NoteNotFound, or UnreadableNote if it is not text.

    Unless `count_access` is false, it counts as opened, which makes it rank a little higher.
    """
    path = bank.find(name)
    note = bank.store.read(path)
    row = bank.read(lambda view: open_index.note_at(view.manifest, path))
    if row is None:
        raise NoteNotFound(f"{path} is not indexed", Hint.CHECK_BANK)
    backlinks = bank.read(lambda view: link_rows.read_incoming(view.manifest, row.number))
    successors = bank.read(lambda view: link_rows.map_superseded(view.manifest, [row.number]))
    with bank.lock:
        access = bank.state.accesses([row.known_as]).get(row.known_as)
        dated_row = document_rows.updated_by(row, bank.state.updates())
    if count_access:
        bank.count_opened([path])
    stale, touched = check_citations(bank, path)
    return ShownNote(
        note_id=dated_row.note_id,
        path=path,
        title=note.title,
        meta=note.meta._replace(source_type=note.meta.source_type or BY_HAND),
        edited_by=list_editors(bank, [row])[path],
        created_at=dated_row.created_at,
        updated_at=dated_row.updated_at,
        content=note.text,
        body=note.body_text,
        etag=note.etag,
        backlinks_count=len(backlinks),
        access_count=access.times if access else 0,
        last_accessed_at=seconds_to_iso(access.last) if access and access.times else "",
        opened_count=access.opened if access else 0,
        faults=note.faults,
        writable=note.writable and bank.roots.writable(path),
        included=bank.roots.is_included(path) or None,
        superseded_by=successors[row.number][1] if successors else None,
        stale=stale or okf.past_review(note.meta.extra, time.time()),
        touched=touched,
        claims=tuple(okf.yield_claims(note.meta.extra)),
        sources=okf.list_sources(note.meta.extra) or None,
    )


def show_section(bank: Bank, name: str, heading: str) -> ShownNote:
    """Return the section of one heading of a note, including the heading.

    The heading may be given by its path, `A > B`. Raises NoteNotFound, Conflict if several
    headings match.
    """
    path = bank.find(name)
    note = bank.store.read(path)
    section = find_section(note.body.sections, heading)
    bank.count_opened([path])
    return ShownNote(
        path=path,
        line=section.line,
        heading=" > ".join(section.headings),
        content=section.text,
        etag=note.etag,
        stale=check_citations(bank, path, range(section.line, section.end_line))[0],
    )


def show_several(bank: Bank, names: Sequence[str], heading: str = "") -> SeveralShown:
    """Return several notes, or a section of each, and the names for which there is none."""
    notes: list[ShownNote] = []
    missing = []
    for name in dict.fromkeys(names):
        try:
            notes.append(show_section(bank, name, heading) if heading else show(bank, name))
        except (Conflict, NoteNotFound, UnreadableNote) as error:
            missing.append(Missing(name, error.message))
    return SeveralShown(tuple(notes), tuple(missing))


@operation(
    "show",
    why="""
    A note's name is its path without .md, its file name alone if no other note has it, an alias,
    its title or its id.

    On a terminal the Markdown is rendered, below a line of metadata. A pipe gets the source,
    including front matter; characters that are harmful in a terminal (control characters, reversed
    text) are escaped, for example `\\x1b`.
    """,
    examples=(
        ("memory-bank show decisions/tantivy", "by its name"),
        ("memory-bank show tantivy --section Consequences", "one section"),
        ("memory-bank show tantivy --json | jq -r .etag", "its etag, for --if-match"),
    ),
    group="Find",
    view=views.view_notes,
    tool=Tool(
        "Read notes that you can name, with etag, or a section. To find them, `recall`.",
        "bank",
        name="read_memory",
        takes={"filename": "names", "section": "section"},
        reads=True,
        without=("body",),
    ),
)
def read_notes(
    bank: Bank,
    names: Annotated[
        str | Sequence[str],
        Param(
            argument=True, metavar="NAME", complete="notes", least=1, most=20, longest=LONGEST_NAME
        ),
    ],
    section: Annotated[
        str, Param("Show only the text under this heading; A > B", metavar="HEADING")
    ] = "",
) -> ShownNote | SeveralShown:
    """Show one note.

    For several names, show each; with a section, only what is under that heading.
    """
    if not isinstance(names, str):
        return show_several(bank, names, section)
    return show_section(bank, names, section) if section else show(bank, names)


def known_names(bank: Bank) -> list[str]:
    """Return the indexed names of notes without updating the index, for fast completion."""
    if not bank.layout.manifest.exists():
        return []
    notes = bank.read(lambda view: document_rows.all_keys(view.manifest))
    return [name_of(path) for _, path in notes]


@operation(
    "tags",
    why="""
    Lists every tag with its number of notes, the most used first, for example to find tags that
    mean the same.
    """,
    examples=(
        ("memory-bank tags", "all of them"),
        ("memory-bank recall index --tags search", "then use one"),
    ),
    group="Find",
    view=views.view_tags,
)
def tag_counts(bank: Bank) -> dict[str, int]:
    """List tags with their number of notes.

    The most used come first.
    """
    bank.catch_up()
    return bank.read(lambda view: document_rows.count_values(view.manifest, "tag"))
