"""Confirm that notes are still right, and make notes of observations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from memory_bank.bank import agent_memories
from memory_bank.bank.bank import Bank
from memory_bank.base import lazy_pattern
from memory_bank.base.errors import BadInput, NoteNotFound
from memory_bank.base.operation import Agent, IfMatch, Notes, Param, Tool, operation
from memory_bank.base.screen import Call
from memory_bank.code.code_at import NOW
from memory_bank.code.index.work_tree import find_work_tree
from memory_bank.git import objects
from memory_bank.memory import concepts, views
from memory_bank.memory.change import find_several, set_keys, write
from memory_bank.memory.create import RefusedDraft, remember_many
from memory_bank.memory.import_notes import FROM
from memory_bank.memory.records import Confirmation, Draft, Promoted, WrittenNote
from memory_bank.memory.remember import DEFAULT_TYPE, remember
from memory_bank.memory.why import COMMIT_ID, promote_commit
from memory_bank.notes import front_matter, okf
from memory_bank.notes.names import name_of
from memory_bank.notes.note import Meta
from memory_bank.notes.schema import normalise_tags
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows
from memory_bank.sessions import note_format, note_reading, session_edit
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.note_store import IndexedNotes
from memory_bank.sessions.note_text import escape_heading, escape_markdown
from memory_bank.sessions.records import (
    PROMOTED_TO,
    SUMMARY_PREFIX,
    SUMMARY_TEXTS,
    Observation,
    Session,
    Summary,
    check_observation_id,
)
from memory_bank.sessions.state import open_store
from memory_bank.trust.citations import CodeCitation, find_target_spans, list_citations
from memory_bank.trust.comparison import CodeComparison
from memory_bank.trust.records import MOVED, STALE, VERIFIED
from memory_bank.trust.stale import find_moved_citations


def _confirm_by_agent(
    bank: Bank, names: str | Sequence[str], *, if_match: str | None = None, agent: str | None = None
) -> Confirmation:
    name_list = [names] if isinstance(names, str) else names
    return confirm(bank, name_list, if_match=if_match, agent=agent)


@operation(
    "confirm",
    why="""
    Writes `verified_commit: COMMIT` into the front matter of notes, with the commit that is checked
    out: their text is right for the code of this commit. Links to code that moved or has another
    name get its new one; no other line changes. The citations of these notes are then stale only if
    the code changes again. In an Open Knowledge Format bundle, `verified` says who confirmed it
    and when, too. Commit the notes with the code.
    """,
    examples=(
        ("memory-bank confirm facts/queue", "a note that is still right"),
        ("memory-bank stale --json | jq -r '.citations[].path' | xargs memory-bank confirm", "all"),
    ),
    group="Review",
    view=views.view_confirmed,
    tool=Tool(
        "Say that stale notes, checked in the code, are right. If not, `edit_memory`.",
        "bank",
        name="confirm_memories",
        takes={"filename": "names", "if_match": "if_match"},
        repeatable=True,
        run=_confirm_by_agent,
    ),
)
def confirm(
    bank: Bank,
    names: Annotated[Notes, Param(only=str | Sequence[str], least=1, most=20)],
    *,
    if_match: IfMatch = None,
    agent: Agent = None,
) -> Confirmation:
    """Say that notes are right for the current code.

    Write `verified_commit` into notes: their text is right for the code of HEAD.

    Only that line is changed, and the targets of citations whose code moved. `agent` is as in
    `change.write`. The warning names cited code that is gone or has uncommitted changes, which the
    confirmation is not about. Raises NoteNotFound, NoteReadOnly and Conflict as `change.write`,
    NoRepository and BadInput if there is no commit.
    """
    bank.settings.check_enabled()
    bank.catch_up()
    tree = find_work_tree(bank.layout.project)
    head = objects.find_commit(tree, "HEAD")
    paths = find_several(bank, names, if_match)
    for path in paths:
        bank.roots.check_writable(path)
    notes = []
    for path in paths:
        moved = find_moved_citations(bank, _list_citations(bank, path), end=head)
        targets = {
            (citation.line, citation.target): citation.fix for citation in moved if citation.fix
        }
        keys: dict[str, object] = {VERIFIED: head}
        if bank.roots.bundle(path) is not None:
            by = concepts.name_actor(bank, "manual" if agent is None else "agent", agent or "")
            keys |= okf.add_review(bank.store.read(path).meta.extra, by, datetime.now(UTC))
        change = partial(_confirm_text, targets=targets, keys=keys)
        note = write(bank, path, change, if_match=if_match, agent=agent)
        warning = "; ".join(filter(None, (note.warning, *_warn_unconfirmed(bank, path, head))))
        new_targets = tuple(dict.fromkeys(targets.values()))
        notes.append(
            WrittenNote(path, note.etag, note.changed, warning or None, targets=new_targets)
        )
    bank.count_opened(paths)
    return Confirmation(head, tuple(notes))


def _confirm_text(
    text: str, targets: Mapping[tuple[int, str], str], keys: Mapping[str, object]
) -> str:
    """Return the text of a note with new targets of citations, and the keys that confirm it."""
    body = len(text) - len(front_matter.split(text).body)
    edits = {
        place: new
        for (line, old), new in targets.items()
        for place in find_target_spans(text, body, line, old)
    }
    for (start, end), new in sorted(edits.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return set_keys(text, keys)


def _list_citations(bank: Bank, path: str) -> list[CodeCitation]:
    tree = find_work_tree(bank.layout.project)

    def read(view: IndexView) -> list[CodeCitation]:
        numbers = document_rows.find_numbers(view.manifest, {path})
        return list_citations(view.manifest, bank, tree, numbers)

    return bank.read(read)


def _warn_unconfirmed(bank: Bank, path: str, head: str) -> Iterator[str]:
    """Yield which cited code differs from the commit in the work tree, and which is not there."""
    citations = _list_citations(bank, path)
    with CodeComparison(bank, head, end=NOW) as comparison:
        states = {
            citation.written: comparison.compare_state(citation, head) for citation in citations
        }
    changed = [name for name, state in states.items() if state in {*STALE, *MOVED}]
    missing = [name for name, state in states.items() if state == "unknown"]
    if changed:
        yield f"uncommitted changes of {', '.join(changed)} are not confirmed: commit them first"
    if missing:
        yield f"{', '.join(missing)} can't be found: write where it is now"


CREATED, EXISTING = "created", "existing"

_MEMORY = lazy_pattern(r"(?P<agent>[a-z][a-z-]+):(?P<path>.+)")

_SUMMARY_ID = lazy_pattern(rf"{SUMMARY_PREFIX}[0-9a-z]{{6,32}}")

_LINK = lazy_pattern(r"\[\[([^\]\n]+)\]\]")


def _promote_in_command(call: Call, bank: Bank, observation_id: str, **options: str) -> Promoted:
    """Promote what the command names, which may be an agent's own memory: pages show none."""
    del call
    match = _MEMORY.fullmatch(observation_id)
    if match is None:
        return promote(bank, observation_id, **options)
    return promote_memory(bank, match["agent"], match["path"], **options)


def promote_memory(
    bank: Bank,
    agent: str,
    path: str,
    *,
    type: str = "",  # noqa: A002  (the field's word)
    name: str = "",
) -> Promoted:
    """Make a tracked note of a memory that an agent's program keeps; it names its origin.

    Raises BadInput for a memory that it does not have of this project, and what `remember` raises.
    """
    origin = f"{agent}:{path}"
    memory = agent_memories.find_memory(bank, agent, path)
    bank.catch_up()
    rows = bank.read(
        lambda view: document_rows.find_by_field(view.manifest, FROM, origin.casefold())
    )
    if rows:
        return Promoted(origin, rows[0].key, EXISTING, "")
    about = str(memory.meta.extra.get("description") or memory.meta.extra.get("name") or "")
    body = memory.text[len(memory.text) - len(front_matter.split(memory.text).body) :].strip()
    head = "" if body.startswith("# ") else f"# {escape_heading(about or memory.title)}\n\n"
    (note,) = remember_many(
        bank,
        [
            Draft(
                f"{head}{body}\n",
                Meta(
                    type=type or DEFAULT_TYPE,
                    source_type="agent",
                    source_agent=agent,
                    extra={FROM: origin},
                ),
                name,
            )
        ],
    )
    if isinstance(note, RefusedDraft):
        raise BadInput(f"{origin} can't become a note: {note.reason}", note.hint)
    return Promoted(origin, note.path, CREATED, "")


@operation(
    "session promote",
    why="""
    Sessions stay on this machine. This makes a note of one observation that others should know, in
    the folder of its type, with its facts, concepts as tags and files; both are linked. The summary
    of a session can become a note, too, and so can the message of a commit, as a decision unless
    --type says else, and what an agent's program remembers itself (recall --include agents). What
    was promoted before is not promoted again.
    """,
    examples=(
        ("memory-bank session promote obs-1a2b3c4d5e6f", "as a note of the observation's type"),
        ("memory-bank session promote obs-1a2b3c4d5e6f --type decision", "as a decision"),
        ("memory-bank session promote sum-1a2b3c4d5e6f", "the summary of a session"),
        ("memory-bank session promote 1a2b3c4", "the reason that a commit tells"),
        ("memory-bank session promote claude-code:testing.md", "what Claude Code remembers"),
    ),
    through=_promote_in_command,
    view=views.view_promoted,
)
def promote(
    bank: Bank,
    observation_id: Annotated[str, Param(argument=True, metavar="ID")],
    *,
    type: Annotated[str, Param("The type of the note", metavar="TYPE")] = "",  # noqa: A002  (the field's word)
    name: Annotated[str, Param("The path of the note", metavar="PATH")] = "",
) -> Promoted:
    """Make a tracked note of an observation, a summary or a commit.

    Make a note of an observation, by default of its type, or of a summary, and link both; or of the
    message of a commit, by default a decision, with the files that it changed.

    What was promoted before is not promoted again: the answer names its note. Raises BadInput for
    anything but the id of an observation, a summary or a commit, NoteNotFound for an unknown one,
    NoteExists for a taken `name`.
    """
    if COMMIT_ID.fullmatch(observation_id):
        remembered = promote_commit(bank, observation_id, type=type, path=name)
        action = CREATED if remembered.action == CREATED else EXISTING
        return Promoted(observation_id, remembered.path, action, "")
    block = _check_id(observation_id)
    compress_now(bank)
    path = IndexedNotes(bank).with_blocks([block]).get(block, "")
    with open_store(bank):
        session = note_reading.parse(path, bank.store.read_bytes(path)) if path else None
    observation = _find_observation(session, block) if session else None
    if observation is None or session is None:
        kind = "Summary" if block.startswith(SUMMARY_PREFIX) else "Observation"
        raise NoteNotFound(f"{kind} not found", "search lists observations with their ids")
    promoted = _find_promoted(bank, path, block)
    if promoted:
        return Promoted(block, promoted, EXISTING, path)
    draft = (
        _draft_of_observation(observation)
        if isinstance(observation, Observation)
        else _draft_of_summary(observation, session)
    )
    note = remember(
        bank,
        f"{draft.content}\n- learned_in:: [[{name_of(path)}#^{block}]]\n",
        type=type or draft.meta.type or DEFAULT_TYPE,
        name=name,
        tags=normalise_tags(draft.meta.tags),
        file_refs=tuple(dict.fromkeys(draft.meta.file_refs)),
        source_type="agent",
        source_agent=session.agent,
    )
    link = f"[[{name_of(note.path)}]]"
    bank.store.change(
        path, lambda text: session_edit.set_field(path, text, block, PROMOTED_TO, link)
    )
    bank.catch_up()
    return Promoted(block, note.path, CREATED, path)


def _check_id(observation_id: str) -> str:
    text = str(observation_id).strip().removeprefix("#").removeprefix("^")
    return text if _SUMMARY_ID.fullmatch(text) else check_observation_id(observation_id)


def _find_observation(session: Session, observation_id: str) -> Observation | Summary | None:
    """Return the observation or the summary of a session that has an id."""
    observations = (*session.observations, *([session.summary] if session.summary else ()))
    return next(
        (observation for observation in observations if observation.id == observation_id), None
    )


def _draft_of_observation(observation: Observation) -> Draft:
    parts = [f"# {escape_heading(observation.title)}"]
    if observation.subtitle:
        parts.append(escape_markdown(observation.subtitle))
    if observation.narrative:
        parts.append(escape_markdown(observation.narrative))
    if observation.facts:
        parts.append(
            "\n".join(f"- {escape_markdown(' '.join(fact.split()))}" for fact in observation.facts)
        )
    files = (*observation.files_modified, *observation.files_read)
    meta = Meta(type=observation.obs_type, tags=observation.concepts, file_refs=files)
    return Draft("\n\n".join(parts) + "\n", meta)


def _draft_of_summary(summary: Summary, session: Session) -> Draft:
    """Return a note with a section for each part of a summary."""
    parts = [f"# {escape_heading(note_format.session_title(session))}"]
    for name in SUMMARY_TEXTS:
        if text := getattr(summary, name):
            heading = name.replace("_", " ").capitalize()
            parts.append(f"## {heading}\n\n{escape_markdown(text)}")
    files = (*summary.files_edited, *summary.files_read)
    return Draft("\n\n".join(parts) + "\n", Meta(file_refs=files))


def _find_promoted(bank: Bank, place: str, observation_id: str) -> str:
    """Return the path of the note to which an observation was promoted; empty if there is none."""
    value = session_edit.read_field(place, bank.store.read(place).text, observation_id, PROMOTED_TO)
    match = _LINK.match(value)
    if match is None:
        return ""
    try:
        return bank.find(match[1].split("|")[0].split("#")[0], exactly=True)
    except NoteNotFound:
        return ""  # it was deleted since
