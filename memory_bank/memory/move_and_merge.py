"""Rename and merge notes, and rewrite links to them."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from memory_bank.bank import note_files, open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base.errors import BadInput, Conflict, Hint
from memory_bank.base.operation import (
    LONGEST_NAME,
    Agent,
    Note,
    Notes,
    Param,
    Tags,
    Tool,
    operation,
    visible_name,
)
from memory_bank.base.screen import Call
from memory_bank.base.text import agent_name
from memory_bank.memory import views
from memory_bank.memory.concepts import conform_note, conform_text
from memory_bank.memory.records import WrittenNote
from memory_bank.memory.relinking import rebase_body, relink_moved
from memory_bank.notes import front_matter, names, okf, parsing
from memory_bank.notes.characters import decode
from memory_bank.notes.identity import note_id
from memory_bank.notes.schema import check_tags
from memory_bank.notes.storage import files
from memory_bank.notes.storage.journal import JournalEntry
from memory_bank.trust.author_keys import copy_author_keys
from memory_bank.trust.authors import join_warnings, name_writer, record_writes


def check_movable(bank: Bank, name: str) -> str:
    """Return the path of a note that may be moved or removed; raise NoteReadOnly, NoteNotFound."""
    path = bank.find(name, changing=True)
    bank.roots.check_writable(path)
    return path


@operation(
    "mv",
    why="""
    Moves the file and rewrites the links to it in all notes, all or nothing. A new name that ends
    in a slash is a folder.
    """,
    examples=(
        ("memory-bank mv whoosh decisions/2025-whoosh", "another name"),
        ("memory-bank mv ideas/cache archive/", "into a folder"),
    ),
    group="Organise",
    allow_secret=True,
    view=views.view_renamed,
    tool=Tool(
        "Move a note; links follow. Two on one subject: `merge_memories`.",
        "bank",
        name="rename_memory",
        takes={"filename": "name", "new_filename": "new_name"},
        destroys=True,
    ),
)
def rename(
    bank: Bank,
    name: Note,
    new_name: Annotated[str, Param(argument=True, metavar="NEW", longest=LONGEST_NAME)],
    *,
    agent: Agent = None,
) -> WrittenNote:
    """Rename a note, and rewrite links to it.

    Rename a note and rewrite the links to it, all or nothing.

    A new name that ends in a slash is a folder. Raises NoteNotFound, NoteExists, BadName.
    """
    bank.settings.check_enabled()
    old = check_movable(bank, name)
    new = choose_new_path(bank, old, new_name)
    if new == old:
        return WrittenNote(new, old_path=old, relinked=())
    with bank.lock, bank.store.writing(old):
        bank.roots.check_move(old, new)
        row = _read_current(bank, [old])[0]
        is_same = names.fold_path(new) == names.fold_path(old)
        if not is_same:
            bank.store.check_free(new)
        data = bank.store.read_bytes(old)
        changes, broken, *_ = relink_moved(bank, {old: new}, new, decode(data).text)
        own_change = next((change for change in changes if change.path == old), None)
        new_data = own_change.data if own_change and own_change.data is not None else data
        rest = [change for change in changes if change.path != old]
        removal = JournalEntry(old, None, row.etag)
        if is_same:  # the same file on a case-insensitive file system: remove before writing
            steps = [removal, JournalEntry(new, new_data, files.ABSENT)]
        else:
            steps = [JournalEntry(new, new_data, files.ABSENT), removal]
        failed = bank.store.apply([*steps, *rest], beside=old)
    with bank.lock:
        bank.state.rename(old, new)
    bank.catch_up()
    changed = [change.path for change in rest if change.path not in failed]
    unrecorded = record_writes(bank, [*changed, new] if own_change else changed, agent)
    return WrittenNote(
        new,
        old_path=old,
        relinked=tuple(changed),
        warning=join_warnings(
            note_files.warn_of_place(bank.layout, new, row.source_type),
            unrecorded,
            _warn_not_relinked(failed),
        ),
        broken_links=broken or None,
    )


def choose_new_path(bank: Bank, old: str, new_name: str) -> str:
    """Return the path that a name gives to a note, by its old one; raise BadName."""
    if new_name.endswith("/"):
        new_name += posixpath.basename(old)
    new = names.new_path(new_name, bank.layout)
    names.check_new(new)
    return new


def _warn_not_relinked(failed: Sequence[str]) -> str | None:
    return f"links to the old name stay in {', '.join(failed)}" if failed else None


def _merge_in_command(
    call: Call,
    bank: Bank,
    sources: Sequence[str],
    target: str,
    content: str | None = None,
    *,
    tags: Sequence[str] = (),
    source_agent: str = "",
) -> WrittenNote:
    """Read the text, or let a person edit those of the sources."""
    source = "agent" if source_agent else "manual"
    merge_into = partial(merge, bank, tags=tags, source_type=source, source_agent=source_agent)
    paths = list(dict.fromkeys(check_movable(bank, name) for name in sources))
    text = call.read_text(content)
    if text is not None:
        return merge_into(paths, target, text)
    moves = dict.fromkeys(paths, names.new_path(target, bank.layout))
    texts = (rebase_body(bank, path, moves) for path in paths)
    bodies = "\n".join(f"{text.strip()}\n" for text in texts)
    with call.edit_text("merged.md", bodies) as edited:
        return merge_into(paths, target, edited)


@operation(
    "merge",
    why="""
    Writes the target with the given text, moves the sources to the trash and redirects links to
    them to the target, all or nothing. The target gets the sources' tags and references. It may
    be one of the sources; its old text is then moved to the trash too.

    Without --text the text is read from a pipe, or edited in $VISUAL or $EDITOR, starting with
    the texts of all sources.
    """,
    examples=(
        ("memory-bank merge retry-1 retry-2 --into facts/retries", "in your editor"),
        ("memory-bank merge a b --into a --text '# One note'", "into one of them"),
        ("memory-bank merge a b --into c --tags http < c.md", "from a file"),
    ),
    group="Organise",
    allow_secret=True,
    through=_merge_in_command,
    view=views.view_merged,
    tool=Tool(
        "Merge notes on one subject; links follow. To change one: `update_memory`.",
        "bank",
        name="merge_memories",
        takes={"source_files": "sources", "target_file": "target", "summary_content": "content"},
        fixed={"source_type": "agent"},
        destroys=True,
    ),
)
def merge(
    bank: Bank,
    sources: Annotated[Notes, Param(metavar="SOURCE...", most=1000)],
    target: Annotated[
        str,
        Param(
            "The merged note",
            flags="--into",
            metavar="TARGET",
            complete="notes",
            longest=LONGEST_NAME,
        ),
    ],
    content: Annotated[
        str, Param("Its text; - reads stdin", metavar="TEXT", flags="--text", asked=True)
    ],
    *,
    tags: Annotated[Tags, Param("Tags besides those of the sources")] = (),
    source_type: str = "manual",
    source_agent: Annotated[
        str,
        Param(
            "The agent that makes the change", flags="--agent", metavar="NAME", read=visible_name
        ),
    ] = "",
) -> WrittenNote:
    """Merge several notes into one and redirect links to it.

    Merge several notes into one, all or nothing.

    `target` gets `content`; the sources are moved to the trash and links to them are redirected to
    the target. Unless the content has front matter, the target gets the sources' tags and
    references. The target may be one of the sources; otherwise its name must be free.
    """
    bank.settings.check_enabled()
    if not content.strip():
        raise BadInput("content must not be empty", Hint.GIVE_MERGED_TEXT)
    paths, goal = _merge_paths(bank, sources, target)
    with bank.lock, bank.store.writing(paths[0]):
        bank.roots.check_merge(paths, goal)
        rows = _read_current(bank, paths)
        if goal not in paths:
            bank.store.check_free(goal)
        goal_row = next((row for row in rows if row.path == goal), None)
        source = {"source_type": source_type, "source_agent": agent_name(source_agent)}
        merged_text = conform_text(bank, goal, content)
        text = _compose_merged(rows, goal_row, goal, merged_text, check_tags(tags), source)
        text = conform_note(bank, goal, text, source_type, source_agent, datetime.now(UTC))
        moves = dict.fromkeys(paths, goal)
        link_changes, broken, *_ = relink_moved(bank, moves, goal, text, gone=True)
        etags = {row.path: row.etag for row in rows}
        removals = [
            JournalEntry(path, None, etags[path], trash=True) for path in paths if path != goal
        ]
        changes = [change for change in link_changes if change.path not in etags]
        target_entry = JournalEntry(goal, parsing.encode_text(text), etags.get(goal, files.ABSENT))
        keep = goal if goal_row else ""  # its old text goes to the trash, too
        failed = bank.store.apply(
            [target_entry, *removals, *changes], caller_text=content, keep=keep, beside=paths[0]
        )
    bank.catch_up()
    note = parsing.parse(goal, text.encode())
    key, relinked = note.meta.id or goal, tuple(c.path for c in changes if c.path not in failed)
    unrecorded = record_writes(bank, [goal, *relinked], name_writer(source_type, source_agent))
    with bank.lock:
        bank.state.inherit_writes(
            key, {name for row in rows for name in (row.id, row.path) if name}
        )
        bank.state.add_update(key, time.time())
    return WrittenNote(
        path=goal,
        note_id=key,
        etag=note.etag,
        merged=tuple(paths),
        relinked=relinked,
        warning=join_warnings(
            note_files.warn_of_place(bank.layout, goal), unrecorded, _warn_not_relinked(failed)
        ),
        broken_links=broken or None,
    )


def _merge_paths(bank: Bank, sources: Sequence[str], target: str) -> tuple[list[str], str]:
    """Return the paths of the notes to merge, each once, and that of the target."""
    paths = list(dict.fromkeys(check_movable(bank, source) for source in sources))
    if not paths:
        raise BadInput("name at least one note to merge", "give the sources before the target")
    goal = names.new_path(target, bank.layout)
    if goal not in paths:
        names.check_new(goal)
    return paths, goal


def _read_current(bank: Bank, paths: Sequence[str]) -> list[NoteRow]:
    """Return the up-to-date manifest rows of notes; the caller holds the lock."""
    bank.catch_up(insist=True)
    rows = bank.read(lambda view: [open_index.note_at(view.manifest, path) for path in paths])
    present = [row for row in rows if row is not None]
    if len(present) != len(paths):
        raise Conflict("a note was changed or deleted meanwhile", Hint.LOOK_AND_REPEAT)
    return present


def _compose_merged(
    rows: Sequence[NoteRow],
    goal_row: NoteRow | None,
    path: str,
    content: str,
    tags: Sequence[str],
    source: Mapping[str, str],
) -> str:
    now = datetime.now(UTC)
    kinds = {row.type for row in rows}
    metadata = {
        "id": (goal_row.id if goal_row else "") or note_id(content, now),
        "type": kinds.pop() if len(kinds) == 1 else "",
        "tags": list(dict.fromkeys([*(tag for row in rows for tag in row.tags), *tags])),
        "created_at": datetime.fromtimestamp(goal_row.created, UTC) if goal_row else now,
        **{
            key: _unite([row.data.get(key, []) for row in rows])
            for key in ("entity_refs", "file_refs", "symbol_refs")
        },
        **okf.merge_keys({row.path: row.data.get("extra", {}) for row in rows}, path),
        **source,
    }
    if front_matter.split(content).format != "none":
        if name_writer(**source) is not None:
            content = copy_author_keys(content, metadata)
        return content if content.endswith("\n") else f"{content}\n"
    return front_matter.compose_text(
        {key: value for key, value in metadata.items() if value}, content
    )


def _unite(lists: Sequence[Sequence[object]]) -> list[object]:
    union: list[object] = []
    for items in lists:
        union += [item for item in items if item not in union]
    return union
