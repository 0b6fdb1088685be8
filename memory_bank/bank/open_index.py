"""The index of a bank as questions find it: opened, reopened when replaced, and repaired."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from memory_bank.bank import note_files
from memory_bank.bank.bank_state import BankState
from memory_bank.base import in_json
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.documents import Document
from memory_bank.base.errors import BadName, Busy, Hint, NoteNotFound, StorageFailed, similar_names
from memory_bank.base.filenames import NOTE_SUFFIXES, is_utf8
from memory_bank.base.paths import LEFT_ALONE, Layout
from memory_bank.base.repairs import MANIFEST, Reports
from memory_bank.base.settings import Settings
from memory_bank.notes import okf
from memory_bank.notes.link_targets import path_names
from memory_bank.notes.names import (
    find_by_start,
    lookup_key,
    name_of,
    note_path,
    parse_record,
    strip_id_start,
)
from memory_bank.notes.note import Meta, read_data
from memory_bank.notes.roots import Roots
from memory_bank.notes.source import NotesSource
from memory_bank.search.document_changes import UNLIMITED, IndexLimits
from memory_bank.search.index import Index, IndexView, ReopenedIndex, discard_manifest, empty_index
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.search.retrievers.base import Access, Scope

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

Result = TypeVar("Result")

_MEMORY = Path("/dev/shm")  # noqa: S108  (a folder of a random name is made in it, for this user)
"""A file system in memory, which Linux has."""

BUSY = "another process is indexing: the latest changes may be missing"

_FULL = "the disk of the index is full: until there is space, it is in {}"


class OpenIndex(ReopenedIndex):
    """The index of the notes at a place; its files may go, be replaced or be damaged meanwhile.

    It may be used from several threads: one works at a time.
    """

    def __init__(
        self,
        place: Layout,
        settings: Settings,
        state: Callable[[], BankState],
        repairs: Reports,
        notices: Reports,
        roots: Roots | None = None,
        *,
        limits: IndexLimits = UNLIMITED,
    ) -> None:
        """Open nothing yet; tell `repairs` what was made again, `notices` what else to say.

        `roots` are the folders of the notes; by default, those of the bank at `place`. No more than
        `limits` allow is indexed.
        """
        super().__init__()
        self.layout = place
        self.roots = roots or note_files.build_roots(lambda: self.layout, settings)
        self.source = NotesSource(
            self.roots,
            max_bytes=settings.memory.max_note_bytes,
            in_project=place.project_has,
            most_bytes=limits.document_bytes,
        )
        self._limits = limits
        self.settings = settings
        self.state = state
        self._repairs = repairs
        self._notices = notices
        self._spare = False
        """Whether the index is elsewhere, since the disk of its own place is full."""
        self._memory: TemporaryDirectory[str] | None = None

    def read(self, ask: Callable[[IndexView], Result]) -> Result:
        """Query the index as `ReopenedIndex` does; if its disk is full, one that is elsewhere."""
        with self.lock:
            try:
                return super().read(ask)
            except StorageFailed as error:
                if self._spare or not _is_full(error):
                    raise
                for place in self._elsewhere():
                    self._drop()
                    self.layout, self._spare = place, True
                    with suppress(StorageFailed):
                        content = super().read(ask)
                        self._notices.add_once(_FULL.format(place.index))
                        return content
                self.close()
                raise

    def opened(self) -> IndexView:
        """Return the index, opened again when its files were deleted or replaced."""
        lost = replaced = False
        if self._view is not None and not self._view.index.current():
            lost = not self.layout.manifest.exists()
            replaced = not lost  # another process made it again
            self._drop()
        if self._view is None:
            self._make_folder()
            if lost:
                self._repairs.add(MANIFEST)
            index = Index(
                self.layout,
                self.source,
                self.settings,
                repaired=self._repairs.add,
                limits=self._limits,
            )
            self._view = IndexView(index, self.source, self.settings, self._accesses)
            if lost or replaced:
                with index.manifest.guarded():
                    try:
                        index.catch_up()
                    except Busy:
                        self._notices.add(BUSY)
        return self._view

    def include(self, settings: Settings) -> None:
        """Read the files that other settings include from now on."""
        with self.lock:
            if self.roots.included is not None:
                self.roots.included.close()
            place = self.layout
            self.roots.included = note_files.list_included(place, settings)

    def discard(self) -> None:
        """Remove the manifest, when no other process is in the middle of a batch."""
        self._drop()
        self._make_folder()
        discard_manifest(self.layout)

    def empty(self) -> None:
        """Remove all derived files, when no other process is in the middle of a batch."""
        with self.lock:
            self._drop()
            self._make_folder()
            empty_index(self.layout)

    def close(self) -> None:
        """Let go of all files; they are opened again when they are needed."""
        self._drop()
        self._spare = False
        if self._memory is not None:
            self._memory.cleanup()
            self._memory = None
        self.source.close()

    def rebuild(self) -> None:
        """Remove the manifest, and build the index again from the files."""
        self.discard()
        self._repairs.add(MANIFEST)
        self.opened().index.indexer.sync()

    def _accesses(self, names: Collection[str]) -> Mapping[str, Access]:
        return self.state().accesses(names)

    def _make_folder(self) -> None:
        """Make the folder of derived files, where it belongs now; say once if that is elsewhere."""
        if not self._spare:
            self.layout = self.layout.renewed()
        self.layout.make_index()
        if self.layout.first_left_alone():
            self._notices.add(LEFT_ALONE)

    def _elsewhere(self) -> Iterator[Layout]:
        """Yield other places for the index: the last one is in memory, until it is closed."""
        yield from self.layout.spare()
        if _MEMORY.is_dir():
            from tempfile import TemporaryDirectory  # start-up: few need it

            with suppress(OSError):
                self._memory = TemporaryDirectory(prefix="memory-bank-", dir=_MEMORY)
                yield Layout(self.layout.root, Path(self._memory.name, "index"))


def _is_full(error: BaseException) -> bool:
    """Tell whether an error is that of a full disk, by what caused it."""
    cause: BaseException | None = error
    while cause is not None:
        number = cause.errno if isinstance(cause, OSError) else 0
        message = str(cause)
        if (
            number in (errno.ENOSPC, errno.EDQUOT)
            or "No space left" in message
            or "is full" in message
        ):
            return True
        cause = cause.__cause__
    return False


# Rows of notes that are read at once: a list shows fewer.
_AT_A_TIME = 50

_NO_DATES: Mapping[str, float] = MappingProxyType({})

BY_HAND = "manual"
"""Source of a note without `source_type`: a person wrote it."""


@in_json(
    "note_id", "path", "title", "description", "type", "status", "tags", "created_at", "updated_at",
    "size",
)  # fmt: skip
class NoteRow(Document):
    """The manifest's row of a note; `data` has its front matter: file_refs, aliases and so on."""

    __slots__ = ()

    @property
    def note_id(self) -> str:
        """Its id; its path if it has none."""
        return self.known_as

    @property
    def path(self) -> str:
        """Its path in the bank."""
        return self.key

    @property
    def etag(self) -> str:
        """The hash of its file."""
        return self.hash

    @property
    def description(self) -> str | None:
        """What it is about, as its front matter says; None if it doesn't."""
        return okf.read_description(self.data.get("extra", {}))

    @property
    def type(self) -> str:
        """Its type; empty for none."""
        return str(self.data.get("type", ""))

    @property
    def status(self) -> str:
        """Its status."""
        return str(self.data.get("status", "active"))

    @property
    def meta(self) -> Meta:
        """Its front matter, as far as the index has it."""
        return read_data(self.data)

    @property
    def source_type(self) -> str:
        """Who wrote it; empty if it doesn't say."""
        return str(self.data.get("source_type", ""))

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags, sorted."""
        return tuple(sorted(self.data.get("tags", ())))

    @property
    def created_at(self) -> str:
        """When it was created, as ISO 8601."""
        return seconds_to_iso(self.created)

    @property
    def updated_at(self) -> str:
        """When it was changed last, as ISO 8601."""
        return seconds_to_iso(self.updated)


def note_of(row: Document) -> NoteRow:
    """Return a document as a note."""
    return NoteRow._make(row)


def note_at(manifest: Manifest, path: str) -> NoteRow | None:
    """Return the note at a path."""
    row = document_rows.document_at(manifest, path)
    return note_of(row) if row else None


def find_by_content(manifest: Manifest, content_hash: str) -> list[NoteRow]:
    """Return the notes with a content that are not archived, the oldest first."""
    return [note_of(row) for row in document_rows.find_by_content(manifest, content_hash)]


def newest_notes(
    manifest: Manifest, scope: Scope, limit: int, written: Mapping[str, float] = _NO_DATES
) -> list[NoteRow]:
    """Return the notes in scope that were created or updated last; see `documents.newest`."""
    return [note_of(row) for row in document_rows.find_newest(manifest, scope, limit, written)]


def yield_notes(manifest: Manifest, numbers: Sequence[int]) -> Iterator[NoteRow]:
    """Yield the notes of some numbers, in their order; few are read at a time."""
    for start in range(0, len(numbers), _AT_A_TIME):
        batch = numbers[start : start + _AT_A_TIME]
        rows = document_rows.read_documents(manifest, batch)
        yield from (note_of(rows[number]) for number in batch if number in rows)


def find_candidates(manifest: Manifest, name: str) -> list[str]:
    """Return the paths of the notes with a name: several if it is ambiguous."""
    if not is_utf8(name):
        return []
    try:
        exact = note_path(name)
    except BadName:
        exact = ""
    for path in (name, exact):  # first unchanged: existing files may have any name
        if path and link_rows.has_key(manifest, path):
            return [path]
    return link_rows.find_keys(manifest, lookup_key(name))


def short_names(manifest: Manifest, paths: Iterable[str]) -> list[str]:
    """Return names of notes: the last part of each path, unless other notes have it, too."""
    entries = []
    for path in paths:
        name = name_of(path)
        last = name.rpartition("/")[2]
        entries.append(last if find_candidates(manifest, last) == [path] else name)
    return entries


def find_nearly_named(manifest: Manifest, written: str) -> list[str]:
    """Return the notes that a part of a name means: those of the first kind of which there are any.

    They are the decision records with that number, the notes named so but for the start of their
    id, those whose name begins so, and those whose id does. A name with its suffix is a whole one.
    """
    name = lookup_key(written)
    folder, _, last = name.rpartition("/")
    number = parse_record(last, bare=True)
    words = link_rows.find_keys(manifest, number) if number else []
    if folder:
        words = [
            word
            for word in words
            if f"/{lookup_key(word)}".rpartition("/")[0].endswith(f"/{folder}")
        ]
    if words or not name:
        return words
    paths = [path for _, path in document_rows.all_keys(manifest)]
    for path in paths:
        whole = lookup_key(path)
        stem = strip_id_start(whole)
        if stem != whole and f"/{stem}".endswith(f"/{name}"):
            words.append(path)
    if words or written.strip().endswith(NOTE_SUFFIXES):
        return words
    return find_by_start(paths, name) or document_rows.keys_by_id_start(manifest, name)


def find_path(
    manifest: Manifest, forms: Sequence[str], *, exactly: bool = False
) -> str | NoteNotFound:
    """Return the path of the note that the first known form of a name means, or an error.

    If `exactly`, a note that nearly has the name is in the hint of the error only.
    """
    exact = (find_candidates(manifest, form) for form in forms)
    nearly = (find_nearly_named(manifest, form) for form in forms if is_utf8(form))
    paths = next(filter(None, exact if exactly else chain(exact, nearly)), [])
    if len(paths) == 1:
        return paths[0]
    if paths:
        message = f"{forms[0]!r} may mean {len(paths)} notes"
        return NoteNotFound(message, "say which: {paths}", paths=", ".join(paths[:8]))
    entry = map(name_of, next(filter(None, nearly), []))
    near = ", ".join(dict.fromkeys([*entry, *find_similar_names(manifest, forms[0])]))
    hint = "did you mean {near}?" if near else Hint.LIST_NOTES
    return NoteNotFound(f"there is no note {forms[0]!r}", hint, near=near)


def find_similar_names(manifest: Manifest, name: str) -> list[str]:
    """Return the names of notes that are similar to a name."""
    paths = {
        word: name_of(row.key)
        for row in document_rows.all_documents(manifest)
        for word, _ in path_names(row.key, row.data.get("aliases", ()))
    }
    searched = lookup_key(name)
    longer = sorted(word for word in paths if word.startswith(searched)) if searched else []
    near = [*longer[:3], *similar_names(searched, paths)]
    return list(dict.fromkeys(paths[word] for word in near))[:3]
