"""Remember a content: write a new note, or update the one with the same content."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from memory_bank.bank import note_files
from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import SESSION
from memory_bank.bank.open_index import BY_HAND, NoteRow
from memory_bank.base.dates import format_iso
from memory_bank.base.errors import BadInput, Hint, NoteExists
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.operation import (
    LONGEST_NAME,
    Param,
    Tags,
    Text,
    Texts,
    Tool,
    operation,
    visible_name,
)
from memory_bank.base.screen import Call
from memory_bank.base.text import agent_name
from memory_bank.git import repository
from memory_bank.memory import amendments, concepts, edit, views
from memory_bank.memory.alike import find_duplicates, find_similar, is_local, link_duplicate
from memory_bank.memory.change import check_size, list_cited, set_keys
from memory_bank.memory.links import describe_dead_links
from memory_bank.memory.records import Draft, Reference, WrittenNote
from memory_bank.memory.relinking import Relinking, relink_taken
from memory_bank.notes import decision_records, front_matter, names
from memory_bank.notes.identity import content_hash, make_slug, note_id
from memory_bank.notes.note import Entity, Meta
from memory_bank.notes.schema import (
    check_tags,
    check_type,
    folder_for_type,
    read_entity,
    read_meta,
    spelled_key,
)
from memory_bank.sessions.redaction import hide_private
from memory_bank.trust.authors import join_warnings, name_writer, record_writes

DEFAULT_TYPE = "fact"

REFERENCES = ("entity_refs", "file_refs", "symbol_refs")

SOURCE_TYPES = ("manual", "agent", SESSION, "import")


CREATED, UPDATED = "created", "updated_existing"

_DECISION = "decision"

_NAME_WORDS = 5
"""Most words of a name that is made of a text."""

_NAME_LIMIT = 40
"""Most characters of such a name, the number and the start of the id included."""

_MOST_NAMES = 1000
"""Notes that may have one name before an error says so."""

_ID_DIGITS = 4
"""Digits of an id in a name: in 300 histories of two branches no two names are the same, see
`tests/benchmarks/merging.py`."""

_CITED = 60
"""Characters of a text that an error cites."""


def _remember_in_command(
    call: Call,
    bank: Bank,
    content: str | None = None,
    *,
    type: str = "",  # noqa: A002  (the field's word)
    **options: Any,  # noqa: ANN401  (those of remember)
) -> WrittenNote:
    """Read or edit the content after the other arguments were checked."""
    for reference in options.get("entity_refs", ()):
        parse_entity(reference)
    bank.settings.check_enabled()
    if options.get("source_type") == SESSION:
        type = type or SESSION  # noqa: A001  (the field's word)
    files = [_path_below(bank.layout.project, file) for file in options.pop("file_refs", ())]
    with call.read_or_edit_text(content) as text:
        return remember(bank, text, type=type, file_refs=files, **options)


def _path_below(project: Path, file: str) -> str:
    """Return a file's path relative to the project; unchanged if it is not in the project."""
    path = Path(file).absolute().resolve()
    if path.exists() and path.is_relative_to(project):
        return path.relative_to(project).as_posix()
    return file


@operation(
    "remember",
    why="""
    Writes the text as a Markdown note, named after its type and its first words. The same text a
    second time makes no second note: its tags are added to the first.

    Without TEXT it is read from a pipe, or written in $VISUAL or $EDITOR; `-` always means stdin.
    Wikilinks in the text, `[[decisions/whoosh]]` or `supersedes:: [[…]]`, link it to other notes
    and to files; --file-ref, --symbol-ref and --entity add links outside the text.
    """,
    examples=(
        ('memory-bank remember "Retries need jitter" --tags http,lesson', "one line"),
        ("git log -1 --format=%B | memory-bank remember --type change", "from a pipe"),
        ("memory-bank remember --type decision --name decisions/queue", "in your editor"),
        ('memory-bank remember "…" --file-ref src/api.py --entity person:sarah', "with references"),
    ),
    group="Write",
    allow_secret=True,
    through=_remember_in_command,
    view=views.view_remembered,
    after=edit.ask_whether_amended,
    tool=Tool(
        """Save what you learned, and why, as a note that later sessions remember: one thing each.
        Recall first: to change what is known, edit that note.""",
        "store",
        takes=("content", "tags", "type", "file_refs", "symbol_refs", "entity_refs"),
        defaults={"type": "fact"},
        fixed={"source_type": "agent"},
        repeatable=True,
    ),
)
def remember(
    bank: Bank,
    content: Annotated[Text, Param(about="Markdown; [[note]] and [[src/file]] make links")],
    *,
    tags: Annotated[Tags, Param("Tags, separated by commas")] = (),
    type: Annotated[  # noqa: A002  (the field's word)
        str,
        Param(
            "decision, fact, plan, bugfix … or a word of your own",
            metavar="TYPE",
            complete="types",
            about="decision, fact, bugfix, plan …",
        ),
    ] = "",
    name: Annotated[str, Param("The note's name: folder/name", metavar="NAME")] = "",
    file_refs: Annotated[
        Sequence[str],
        Param(
            "A file that it is about; repeatable",
            flags="--file-ref",
            metavar="PATH",
            path="any",
            longest=LONGEST_NAME,
            most=1000,
        ),
    ] = (),
    symbol_refs: Annotated[
        Sequence[str],
        Param(
            "A symbol; repeatable",
            flags="--symbol-ref",
            metavar="NAME",
            longest=LONGEST_NAME,
            most=1000,
        ),
    ] = (),
    entity_refs: Annotated[
        Sequence[Reference],
        Param(
            "A person, ticket, clause …",
            flags="--entity",
            metavar="KIND:ID",
            only=Sequence[dict[str, str] | str],
            longest=LONGEST_NAME,
            most=1000,
            about="{kind, id} or person:sarah",
        ),
    ] = (),
    source_type: Annotated[
        str,
        Param(
            "Who wrote it: manual, agent, session (not in git), import",
            metavar="SOURCE",
            choices=SOURCE_TYPES,
            flags="--source",
        ),
    ] = "",
    source_agent: Annotated[
        str,
        Param(
            "The agent that writes it, if one does",
            metavar="NAME",
            flags="--agent",
            read=visible_name,
        ),
    ] = "",
    session_id: str = "",
) -> WrittenNote:
    """Write a text as a new note.

    Write a content as a new note, or update the note that has the same content.

    Contents are the same if their normalised texts are; then tags and references are merged, the
    access count is increased and the time of update is recorded outside the note. A note that git
    tracks and one that it ignores, such as a session's, are never merged: the answer names the
    other. If the text of another note is nearly the same, a new note is made and the answer names
    the other. A new note is named by `name`, by default by its type's folder and its
    first words: at most five, and 40 characters.
    A session's note has the id of its session, by default of the one that goes on.
    Raises BadInput for empty content or tags or an unknown source, NoteExists for a taken `name`.
    """
    source_type = source_type or ("agent" if source_agent else "manual")
    content = hide_private(content)
    check_content(bank, content, by_agent=source_type in {"agent", SESSION})
    check_source(source_type)
    draft = Draft(
        content,
        Meta(
            type=check_type(type) or DEFAULT_TYPE,
            tags=tuple(tags),
            source_type=source_type,
            source_agent=source_agent,
            entity_refs=tuple(map(parse_entity, entity_refs)),
            file_refs=tuple(file_refs),
            symbol_refs=tuple(symbol_refs),
        ),
        name,
    )
    bank.catch_up(meaning=False)
    draft = complete_draft(bank, draft)
    content = draft.content
    keys, session_path = dict[str, object](), ""
    if source_type == SESSION:
        from memory_bank.sessions import state  # start-up: it takes 17 ms

        session_id, session_path = state.current_session(bank, session_id)
    else:
        session_id = ""
    path = choose_path(bank, draft)
    with bank.lock, bank.store.writing(path):  # so that nobody writes the same meanwhile
        bank.catch_up(meaning=False)
        text_hash = content_hash(content)
        duplicates = find_duplicates(bank, text_hash, path)
        if source_type == SESSION:
            private = session_path != "" and is_local(bank, path)
            keys = state.session_keys(
                session_id, session_path, private=private, near=duplicates.near
            )
        if duplicates.near is not None:
            remembered, changed = merge_into(bank, duplicates.near, draft, keys)
            bank.catch_up(meaning=False)
        else:
            near = find_similar(
                bank, content, besides=duplicates.far.path if duplicates.far else None
            )
            draft = draft._replace(meta=draft.meta._replace(extra=keys))
            remembered = write_new(bank, draft, text_hash, duplicates.far)
            remembered = remembered._replace(similar_to=near)
            changed = True
        remembered = link_duplicate(bank, duplicates, remembered)._replace(
            session_id=session_id or None
        )
        writer = name_writer(source_type, source_agent)
        paths = [remembered.path, *(remembered.relinked or ())]
        unrecorded = record_writes(bank, paths, writer) if changed else None
        older = None
        if remembered.action == CREATED and source_type != SESSION:
            older = amendments.find_amended(bank, remembered.path)
            bank.count_opened(list_cited(content))
        dead = (
            describe_dead_links(bank, remembered.path, content)
            if remembered.action == CREATED
            else ""
        )
        warning = join_warnings(remembered.warning, unrecorded, dead)
        return remembered._replace(warning=warning, may_amend=older)


def complete_draft(bank: Bank, draft: Draft) -> Draft:
    """Return a draft with tags and references in the form of front matter; raise BadInput.

    The index is up to date: in a bundle, wikilinks become Markdown links.
    """
    path, meta = choose_path(bank, draft), draft.meta
    return draft._replace(
        content=concepts.conform_text(bank, path, hide_private(draft.content)),
        meta=meta._replace(
            tags=tuple(check_tags(meta.tags)),
            source_type=meta.source_type or BY_HAND,
            entity_refs=tuple(map(parse_entity, meta.entity_refs)),
            file_refs=tuple(names.file_ref_path(file, bank.layout) for file in meta.file_refs),
        ),
    )


def _list_references(meta: Meta) -> dict[str, list[Any]]:
    """Return a note's references as front matter has them."""
    entities = [entity._asdict() for entity in meta.entity_refs]
    references = entities, list(meta.file_refs), list(meta.symbol_refs)
    return dict(zip(REFERENCES, references, strict=True))


def write_new(
    bank: Bank,
    draft: Draft,
    text_hash: str,
    duplicate: NoteRow | None,
    check_id: Callable[[str], None] = lambda _: None,
) -> WrittenNote:
    """Write a completed draft as a new note; the index is not updated.

    `duplicate` is another note with its content, and `check_id` refuses an id that the draft has.
    """
    created = draft.meta.created_at or datetime.now(UTC)
    if duplicate is not None and duplicate.known_as == note_id(draft.content, created):
        created += timedelta(seconds=1)  # an id is made of the content and the second
    new_id = note_id(draft.content, created)
    path = choose_path(bank, draft)
    text = compose_note(draft, new_id, created)
    text = concepts.conform_note(
        bank, path, text, draft.meta.source_type, draft.meta.source_agent, created
    )
    check_size(bank, text)
    meta, _ = read_meta(front_matter.read_metadata(front_matter.split(text))[0])
    if meta.id != new_id:
        check_id(meta.id)
    path, etag, relinking = create_note(bank, text, draft, key=meta.id or new_id)
    return WrittenNote(
        schema_version="1.0",
        note_id=meta.id,
        action=CREATED,
        content_hash=text_hash,
        tags=meta.tags,
        created_at=format_iso(meta.created_at or created),
        path=path,
        etag=etag,
        type=meta.type or draft.meta.type,
        source_type=meta.source_type or draft.meta.source_type,
        warning=join_warnings(
            note_files.warn_of_place(bank.layout, path, draft.meta.source_type), relinking.notice
        ),
        relinked=tuple(change.path for change in relinking.changes) or None,
    )


def compose_note(draft: Draft, new_id: str, created: datetime) -> str:
    """Return the text of a new note; its id is `new_id` unless the draft has one.

    The draft's front matter is kept, and tags and aliases are added to it. Raises UnreadableNote
    for front matter that can't be parsed.
    """
    keys: dict[str, object] = {
        "id": draft.meta.id or new_id,
        "title": draft.meta.title,
        "type": draft.meta.type,
        "status": "" if draft.meta.status == Meta().status else draft.meta.status,
        "tags": list(draft.meta.tags),
        "aliases": list(draft.meta.aliases),
        "created_at": created,
        "updated_at": draft.meta.updated_at,
        "source_type": draft.meta.source_type,
        "source_agent": agent_name(draft.meta.source_agent),
        **_list_references(draft.meta),
    }
    keys = {key: value for key, value in keys.items() if value}
    metadata = keys | {key: value for key, value in draft.meta.extra.items() if key not in keys}
    if not draft.front_matter:
        return front_matter.compose_text(metadata, draft.content)
    text = draft.front_matter + draft.content
    raw, _ = front_matter.read_metadata(front_matter.split(text))
    meta = read_meta(raw)[0]
    changes = {key: value for key, value in metadata.items() if spelled_key(raw, key) not in raw}
    for key, old in (("tags", meta.tags), ("aliases", meta.aliases)):
        merged = list(dict.fromkeys([*old, *getattr(draft.meta, key)]))
        if len(merged) > len(old):
            changes[spelled_key(raw, key)] = merged
    text = front_matter.set_keys(text, changes)
    return text if text.endswith("\n") else f"{text}\n"


@operation(
    "",
    view=views.view_remembered,
    tool=Tool(
        "Note what matters only for this session; it stays out of git. Else `remember`.",
        "store",
        takes=("content", "file_refs", "symbol_refs", "tags", "session_id"),
        repeatable=True,
    ),
)
def session_note(
    bank: Bank,
    content: Annotated[str, Param()],
    *,
    tags: Tags = (),
    file_refs: Texts = (),
    symbol_refs: Texts = (),
    source_agent: str = "",
    session_id: Annotated[str, Param()] = "",
) -> WrittenNote:
    """Write a content as a note of a session, in `sessions/`, which git ignores.

    It has the id of the session and a link to its note. Without `session_id` it is the session that
    goes on: that of the environment, else the only open one of the project. Raises as `remember`
    does.
    """
    return remember(
        bank,
        content,
        tags=tags,
        type=SESSION,
        file_refs=file_refs,
        symbol_refs=symbol_refs,
        source_type=SESSION,
        source_agent=source_agent,
        session_id=session_id,
    )


def check_content(bank: Bank, content: str, *, by_agent: bool = False) -> None:
    """Raise BadInput for content that is empty or too large."""
    bank.settings.check_enabled()
    if not content.strip():
        raise BadInput("content must not be empty", Hint.GIVE_TEXT)
    check_size(bank, content, by_agent=by_agent)  # before any slow processing


def parse_entity(reference: Reference) -> Entity:
    """Read a reference to an entity, `KIND:ID` or `{kind, id}`; raise BadInput."""
    if isinstance(reference, Entity):
        return reference
    entity = read_entity(reference)
    if entity is None:
        raise BadInput(f"{str(reference)[:_CITED]!r} is not an entity", Hint.WRITE_ENTITY)
    return entity


def check_source(source_type: str) -> None:
    """Raise BadInput for an unknown source type."""
    if source_type not in SOURCE_TYPES:
        raise BadInput(
            f"{source_type!r} is not a source type", f"choose one of: {', '.join(SOURCE_TYPES)}"
        )


def merge_into(
    bank: Bank, row: NoteRow, draft: Draft, keys: Mapping[str, object] = MappingProxyType({})
) -> tuple[WrittenNote, bool]:
    """Merge a draft's tags and references into a note; the index is not updated.

    `keys` are other keys to set. Return the note, and whether its file was written.
    """
    old_values: dict[str, list[Any]] = {"tags": list(row.tags)}
    old_values |= {key: list(row.data.get(key, ())) for key in REFERENCES}
    new_values = {"tags": draft.meta.tags, **_list_references(draft.meta)}
    merged = {
        key: [*old, *(value for value in new_values[key] if value not in old)]
        for key, old in old_values.items()
    }
    changes = {key: value for key, value in merged.items() if value != old_values[key]} | dict(keys)
    etag = bank.store.change(row.path, lambda text: set_keys(text, changes))
    now = time.time()
    bank.state.count_returned([row.known_as], now)
    bank.state.add_update(row.known_as, now)
    remembered = WrittenNote(
        schema_version="1.0",
        note_id=row.known_as,
        action=UPDATED,
        content_hash=row.content,
        tags=tuple(merged["tags"]),
        created_at=format_iso(datetime.fromtimestamp(row.created, UTC)),
        path=row.path,
        etag=etag,
        type=row.type,
        source_type=row.source_type or "manual",
        warning=note_files.warn_of_place(bank.layout, row.path, row.source_type),
    )
    return remembered, bool(changes)


def choose_path(bank: Bank, draft: Draft) -> str:
    """Return the preferred path of a new note."""
    if draft.name:
        return names.new_path(draft.name, bank.layout)
    return f"{folder_for_type(draft.meta.type)}/{_short_name(draft.content, _NAME_LIMIT)}.md"


def _short_name(content: str, limit: int) -> str:
    """Return the first words of a content as a file name, as many whole words as fit.

    A first word that does not fit is cut.
    """
    words = make_slug(_first_words(content), 2 * _NAME_LIMIT).split("-")[:_NAME_WORDS]
    while len(words) > 1 and len("-".join(words)) > limit:
        words.pop()
    return make_slug("-".join(words), limit)


def create_note(bank: Bank, text: str, draft: Draft, *, key: str) -> tuple[str, str, Relinking]:
    """Write a draft as a new note and return its path and etag; raise NoteExists for a taken name.

    Links that could mean the new note too are rewritten with the notes that they meant.

    Where git knows several branches, the name ends with the start of the note's id `key`: two
    branches that remember texts with the same first words then make two files. A decision gets the
    next number where those in its folder have numbers.
    """
    path = choose_path(bank, draft)
    written = draft.front_matter + draft.content
    if draft.name:
        return _create_at(bank, path, text, written)
    folder, _, words = names.name_of(path).rpartition("/")
    prefix = suffix = ""
    has_number = names.record_name(words) and words.startswith(("adr", "0"))
    if draft.meta.type == _DECISION and not has_number:
        decisions = (bank.layout.root / folder).glob(f"*{NOTE_SUFFIXES[0]}")
        prefix = decision_records.next_number(file.stem for file in decisions)
    tree = repository.find_worktree(bank.layout.root)
    if tree is not None and not is_local(bank, path) and repository.has_branches(tree):
        suffix = f"-{key[:_ID_DIGITS]}"
    words = _short_name(draft.content, _NAME_LIMIT - len(prefix) - len(suffix))
    stem = f"{folder}/{prefix}{words}{suffix}"
    for number in range(1, _MOST_NAMES):
        numbered = f"{stem}.md" if number == 1 else f"{stem}-{number}.md"
        try:
            return _create_at(bank, numbered, text, written)
        except NoteExists:
            continue
    raise NoteExists(f"{_MOST_NAMES} notes are named like {stem}.md", Hint.GIVE_NAME)


def _create_at(bank: Bank, path: str, text: str, caller_text: str) -> tuple[str, str, Relinking]:
    names.check_new(path)
    bank.store.check_free(path)
    relinking = relink_taken(bank, path, text)
    etag = bank.store.create(path, text, caller_text=caller_text, relinked=relinking.changes)
    return path, etag, relinking


def _first_words(content: str) -> str:
    """Return the first sentence of the first line with words, without Markdown marks."""
    lines = (line.strip().lstrip("#>*-+ \t") for line in content.splitlines())
    first = next((line for line in lines if any(char.isalnum() for char in line)), "")
    return first.split(". ")[0]
