"""Repeatable import of notes from other programs."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, cast

from blake3 import blake3

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base import plugins
from memory_bank.base.documents import Link
from memory_bank.base.errors import BadInput, BadName, Hint, MemoryBankError
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.operation import Param, operation
from memory_bank.memory import amendments, views
from memory_bank.memory.alike import find_by_content
from memory_bank.memory.create import (
    REFUSALS,
    RefusedDraft,
    find_refusal,
    remember_many,
    report_refusal,
)
from memory_bank.memory.importers.base import ImportedNote, Importer
from memory_bank.memory.records import Draft, Imported, NoteImport, NotImported
from memory_bank.memory.remember import compose_note
from memory_bank.notes import front_matter, parsing
from memory_bank.notes.identity import content_hash, normalise
from memory_bank.notes.links import relink
from memory_bank.notes.names import fold_path, lookup_key, name_of, new_path, note_path
from memory_bank.notes.note import RELATIVE_KINDS
from memory_bank.notes.schema import spelled_keys
from memory_bank.search.manifest import document_rows

PACKAGE = "memory.importers"

CREATED, UPDATED, UNCHANGED = "created", "updated", "unchanged"

SAME_CONTENT, KEPT, REFUSED = "same_content", "kept", "refused"

FROM, HASH = "imported_from", "imported_hash"
"""Front-matter keys: the origin of an imported note, and a hash of the imported content."""

_OURS = frozenset([HASH, "id", "created_at"])
"""Keys that the hash excludes: the bank sets them if the source does not."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def list_kinds() -> list[str]:
    """List the kinds of sources, sorted."""
    return [name.replace("_", "-") for name in plugins.list_plugins(PACKAGE)]


def list_summaries() -> dict[str, str]:
    """Map each kind of source to the summary of its importer."""
    return {kind: _load(kind).SUMMARY for kind in list_kinds()}


@operation(
    "import",
    why="""
    Writes a note for each note of the source, with its dates, tags, folders and links; the source
    is not changed. Notes that can't be read are listed with the reason.

    Run it again whenever the source has changed: new notes are added, changed ones are updated,
    and nothing is imported twice. A note that you changed in the bank is never overwritten, but
    listed. The old text of an updated note is moved to the trash.
    """,
    examples=(
        ("memory-bank import markdown docs/adr --into decisions", "decision records"),
        ("memory-bank import markdown ~/vault --dry-run", "show what would be imported"),
        ("memory-bank import mcp-memory ~/.mcp/memory.jsonl", "the MCP memory server's graph"),
    ),
    group="Start",
    allow_secret=True,
    kinds=list_summaries,
    view=views.view_imported,
)
def import_notes(
    bank: Bank,
    kind: Annotated[str, Param(argument=True, metavar="KIND")],
    path: Annotated[str | Path, Param(argument=True, metavar="PATH", path="any", only=str)],
    *,
    into: Annotated[
        str | None,
        Param(
            "Write the notes below this folder; . is the bank's own",
            metavar="FOLDER",
            shown_default="the source's name",
        ),
    ] = None,
    dry_run: Annotated[bool, Param("Show what would be done, but write nothing")] = False,
) -> Imported:
    """Import notes from another program.

    Write the notes of a source below the folder `into`, by default one of the source's name (for a
    file, of its kind), and return the result of each.

    A note records its origin. When imported again, it is updated if the source changed and the
    note did not; its old text is moved to the trash. A note that changed in the bank is kept.
    With `dry_run` nothing is written. Raises BadInput for an unknown kind and for a path that is
    missing or of another kind, BadName for an invalid folder.
    """
    bank.settings.check_enabled()
    importer = _load(kind)
    folder = name_of(new_path(into, bank.layout)) if into and into != "." else ""
    try:
        source = _check_source(bank, kind, importer, Path(path))
        parts = list(importer.read(source))
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror}") from error
    entries = [part for part in parts if isinstance(part, ImportedNote)]
    origin = f"{kind}:{folder or source.name}/"
    run = _ImportRun(
        bank, origin, _choose_folder(kind, source) if into is None else folder, entries
    )
    with bank.lock, bank.store.writing():
        bank.catch_up(insist=True)
        run.plan()
        if not dry_run:
            run.write()
            bank.catch_up()
            run.find_amended()
    results = tuple(run.results[number] for number in range(len(entries)))
    actions = [result.action for result in results]
    return Imported(
        kind=kind,
        source=str(source),
        dry_run=dry_run,
        counts={action: actions.count(action) for action in dict.fromkeys(actions)},
        notes=results,
        unread=tuple(part for part in parts if isinstance(part, NotImported)),
    )


def _load(kind: str) -> Importer:
    """Load an importer; raise BadInput, listing all importers, for an unknown kind."""
    if kind not in list_kinds():
        text = ", ".join(list_kinds())
        raise BadInput(
            f"there is no importer called {kind!r}", "choose one of: {known}", known=text
        )
    return cast("Importer", plugins.load(PACKAGE, kind.replace("-", "_")))


def _check_source(bank: Bank, kind: str, importer: Importer, path: Path) -> Path:
    """Return a source's absolute path; raise BadInput if it can't be one."""
    source, root = path.expanduser().resolve(), bank.layout.root.resolve()
    if not source.exists():
        raise BadInput(f"{path} does not exist", "name the folder or file to import")
    hidden = source in root.parents and any(
        part.startswith(".") for part in root.relative_to(source).parts
    )
    if source == root or root in source.parents or (source in root.parents and not hidden):
        raise BadInput(f"{path} and the bank overlap", "name a source outside the bank")
    if not _is_detected(importer, source):
        # this kind has just said that the source is not its own
        kinds = [name for name in list_kinds() if _is_detected(_load(name), source)]
        hint = "choose one of: {others}" if kinds else Hint.LIST_IMPORTERS
        message = f"{path} is not a source that {kind} reads"
        raise BadInput(message, hint, others=", ".join(kinds))
    return source


def _choose_folder(kind: str, source: Path) -> str:
    """Return the folder for a source's notes: its name, or else the kind; none for one note."""
    if source.name.endswith(NOTE_SUFFIXES):
        return ""
    name = source.name.strip(".- ") if source.is_dir() else ""
    with suppress(BadName):
        return name_of(note_path(name))
    return kind


def _is_detected(importer: Importer, path: Path) -> bool:
    detect = getattr(importer, "detect", None)
    return detect is None or bool(detect(path))


class _ImportRun:
    """One import: the plan and the result of each entry, by its number."""

    def __init__(self, bank: Bank, origin: str, folder: str, entries: list[ImportedNote]) -> None:
        self._bank = bank
        self._origin = origin
        self._folder = folder
        self._entries = entries
        self._names = {lookup_key(entry.draft.name) for entry in entries if entry.draft.name}
        self._new: list[tuple[int, Draft]] = []
        self._updates: list[tuple[int, NoteRow, Draft]] = []
        self._path_by_hash: dict[str, str] = {}
        self._planned_paths: set[str] = set()
        self.results: dict[int, NoteImport] = {}

    def plan(self) -> None:
        """Compare each entry with the bank; entries that need no write get their results."""
        rows = self._map_imported()
        keys: set[str] = set()
        for number, entry in enumerate(self._bank.counted("comparing notes", self._entries)):
            try:
                if entry.key in keys:
                    raise BadInput("the source contains it twice")
                keys.add(entry.key)
                draft, text_hash = self._prepare(entry)
                row = rows.get(str(draft.meta.extra[FROM]))
                if row is None:
                    self._plan_new(number, draft)
                else:
                    self._plan_old(number, draft, row, text_hash)
            except REFUSALS as error:
                self._set_result(number, REFUSED, reason=report_refusal(error).reason)

    def write(self) -> None:
        """Write the planned notes."""
        results = remember_many(self._bank, [draft for _, draft in self._new])
        for (number, _), result in zip(self._new, results, strict=True):
            if isinstance(result, RefusedDraft):
                self._set_result(number, REFUSED, reason=result.reason)
            else:
                self._set_result(number, CREATED, result.path, result.warning)
        for number, note, draft in self._bank.counted("updating notes", self._updates):
            try:
                self._update(note, draft)
            except REFUSALS as error:
                self._set_result(number, REFUSED, note.path, report_refusal(error).reason)

    def find_amended(self) -> None:
        """Name the older notes that the imported ones may amend."""
        with suppress(MemoryBankError):
            self._bank.catch_up()
        for number, result in self._bank.counted("finding older notes", [*self.results.items()]):
            if result.path and result.action in {CREATED, UPDATED}:
                older = amendments.find_amended_indexed(self._bank, result.path)
                self.results[number] = result._replace(may_amend=older)

    def _set_result(
        self, number: int, action: str, path: str | None = None, reason: str | None = None
    ) -> None:
        self.results[number] = NoteImport(self._entries[number].key, action, path, reason)

    def _map_imported(self) -> dict[str, NoteRow]:
        """Map origins to the imported notes; of copies, the first by path."""
        rows = self._bank.read(
            lambda view: [
                open_index.note_of(row) for row in document_rows.all_documents(view.manifest)
            ]
        )
        rows_by_origin: dict[str, NoteRow] = {}
        for row in sorted(rows, key=lambda row: row.path):
            origin = row.data.get("extra", {}).get(FROM)
            ours = isinstance(origin, str) and origin.startswith(self._origin)
            if ours and not self._bank.roots.is_included(row.path):
                rows_by_origin.setdefault(str(origin), row)
        return rows_by_origin

    def _prepare(self, entry: ImportedNote) -> tuple[Draft, str]:
        """Return an entry's note as it is to be written, and the hash of its text."""
        draft = entry.draft
        text = draft.front_matter + draft.content
        parsing.encode_text(entry.key + text)  # raises for text that can't be stored
        raw, _ = (
            front_matter.read_metadata(front_matter.split(text)) if draft.front_matter else ({}, ())
        )
        changes: dict[str, object] = {name: None for name in (FROM, HASH) if name in raw}
        changes |= dict.fromkeys(spelled_keys(raw, "source_type"), "import")
        if changes:
            text = front_matter.set_keys(text, changes)
        if self._folder and self._names:
            start = len(text) - len(front_matter.split(text).body) if draft.front_matter else 0
            text = relink(text, self._retarget, start)
        parts = front_matter.split(text) if draft.front_matter else None
        draft = draft._replace(
            front_matter=parts.opening + parts.block + parts.closing if parts else "",
            content=parts.body if parts else text,
            name="/".join(filter(None, (self._folder, draft.name))),
            meta=draft.meta._replace(
                source_type="import",
                extra={**draft.meta.extra, FROM: self._origin + entry.key},
            ),
        )
        text_hash = _hash_text(compose_note(draft, "", _EPOCH))
        meta = draft.meta._replace(extra={**draft.meta.extra, HASH: text_hash})
        return draft._replace(meta=meta), text_hash

    def _retarget(self, link: Link) -> str | None:
        """Return the new target of a wikilink with a path to a note of the source.

        A bare name is not changed, since it resolves without a path.
        """
        by_path = "/" in link.target or link.text
        if link.kind in RELATIVE_KINDS or not by_path or lookup_key(link.target) not in self._names:
            return None
        return f"{self._folder}/{link.target}"

    def _plan_new(self, number: int, draft: Draft) -> None:
        text_hash = content_hash(draft.content)
        duplicates = find_by_content(self._bank, text_hash)
        path = duplicates[0].path if duplicates else self._path_by_hash.get(text_hash)
        if path is not None:
            self._set_result(number, SAME_CONTENT, path)
            return
        if refusal := find_refusal(self._bank, draft):
            self._set_result(number, REFUSED, reason=refusal.reason)
            return
        path = new_path(draft.name, self._bank.layout) if draft.name else None
        if path and fold_path(path) in self._planned_paths:
            self._set_result(
                number, REFUSED, reason=f"another note of the source is named {path!r}"
            )
            return
        if path:
            self._planned_paths.add(fold_path(path))
        self._path_by_hash[text_hash] = path or self._entries[number].key
        self._new.append((number, draft))
        self._set_result(number, CREATED, path)

    def _plan_old(self, number: int, draft: Draft, row: NoteRow, text_hash: str) -> None:
        recorded = str(row.data.get("extra", {}).get(HASH, ""))
        current = "" if recorded == text_hash else _hash_text(self._bank.store.read(row.path).text)
        if text_hash in {recorded, current}:
            self._set_result(number, UNCHANGED, row.path)
        elif current != recorded:
            self._set_result(
                number, KEPT, row.path, "it changed both in the source and in the bank"
            )
        else:
            self._updates.append((number, row, draft))
            self._set_result(number, UPDATED, row.path)

    def _update(self, note: NoteRow, draft: Draft) -> None:
        """Replace a note that did not change in the bank; its id and its date stay."""
        store = self._bank.store
        current = store.read(note.path)
        created = current.meta.created_at or draft.meta.created_at or datetime.now(UTC)
        text = compose_note(draft, current.meta.id, created)
        store.keep(note.path)
        store.change(note.path, lambda _: text, current.etag, caller_text=draft.content)
        self._bank.state.add_update(note.known_as, time.time())


def _hash_text(text: str) -> str:
    """Return a hash of a note's front-matter values and normalised body."""
    parts = front_matter.split(text)
    raw, _ = front_matter.read_metadata(parts)
    imported = {name: value for name, value in raw.items() if name not in _OURS}
    values = json.dumps(imported, sort_keys=True, default=str)
    return blake3(f"{values}\0{normalise(parts.body)}".encode(errors="replace")).hexdigest(8)
