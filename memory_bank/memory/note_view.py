"""A note with its history and all that is known of it from the index."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Literal

from memory_bank.bank import open_index
from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.bank.records import ShownNote
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Document, Link, Section
from memory_bank.base.errors import FileNotFound, Hint, MemoryBankError, NoteNotFound
from memory_bank.base.filenames import is_utf8
from memory_bank.code.lookup import has_kind, path_below
from memory_bank.git import objects, repository
from memory_bank.git.commits import Change
from memory_bank.memory.show import show
from memory_bank.notes import front_matter, links, note_comparison
from memory_bank.notes.note import RELATIVE_KINDS
from memory_bank.notes.note_change import NoteChange
from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import read_stat
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.entries import OBSERVATION
from memory_bank.search.manifest.link_rows import read_incoming, read_outgoing
from memory_bank.sessions.records import PROMOTED_TO
from memory_bank.trust import provenance
from memory_bank.trust.citations import find_cited_place
from memory_bank.trust.records import VERIFIED, LoggedCommit
from memory_bank.trust.trust import NoteTrust

GoalKind = Literal["note", "file", "symbol", "name", "ghost"]

_MARKDOWN, _WIKI = "markdown", "wiki"

_REFERENCE = "reference"


class LinkedPlace(NamedTuple):
    """Where a link leads."""

    kind: GoalKind
    """`name` for a name with a kind, such as `person:ada`; `ghost` if there is neither a note nor a
    file of the name."""
    name: str
    """The path of a note, the name of anything else."""
    title: str = ""
    """A note's title."""
    heading: str = ""
    block: str = ""
    problem: str = ""
    file: str = ""
    """The path below the work tree of a file, or of a symbol's file; empty outside git."""
    picture: str = ""
    """The path of a picture below the work tree, or below the project outside git."""


class LinkTargets:
    """Where the links in the text of one note lead."""

    def __init__(self, places: Mapping[tuple[str, ...], LinkedPlace]) -> None:
        """Take the goals of links by their kind, target, heading and block."""
        self._places = places

    def wiki(self, inside: str) -> tuple[LinkedPlace | None, str]:
        """Return the goal of `[[inside]]`, None if it leads out of the bank, and its words."""
        written, _, alias = inside.partition("|")
        target, heading, block = links.wiki_parts(written.removesuffix("\\"))
        words = alias.strip() or written.removesuffix("\\").strip().lstrip("#^ ")
        return self._places.get((_WIKI, target, heading, block)), words

    def markdown(self, path: str, fragment: str) -> LinkedPlace | None:
        """Return the goal of `[words](path#fragment)`; None if it leads out of the bank.

        It may be written as a picture: `![words](path)`.
        """
        return self._places.get((_MARKDOWN, path, *links.split_fragment(fragment)))

    def reference(self, path: str) -> LinkedPlace | None:
        """Return the goal of a path in front matter; None if it leads out of the bank."""
        target, _, heading = path.partition("#")
        return self._places.get((_REFERENCE, target, heading, ""))


class NoteView(NamedTuple):
    """A note with its links and metadata."""

    note: ShownNote
    goals: LinkTargets
    keys: tuple[tuple[str, str], ...]
    """All of the front matter, as text."""
    verified: str
    """The commit at which it was confirmed; empty if it never was."""
    superseded_by: NoteRow | None
    supersedes: tuple[NoteRow, ...]
    backlinks: tuple[tuple[Document, tuple[LinkShown, ...]], ...]
    """Other notes, each with its links to this one; archived ones are last."""
    cites: tuple[LinkedPlace, ...]
    """Files, symbols, persons and things that the note names."""
    observations: tuple[tuple[str, str, LinkedPlace | None], ...]
    """The ids and titles of observations in the note of a session, and the notes made of them."""


def view_note(bank: Bank, name: str) -> NoteView:
    """Return a note with its links; raise NoteNotFound, or UnreadableNote if it is not text."""
    note = show(bank, name, count_access=False)
    raw, _ = front_matter.read_metadata(front_matter.split(note.content))
    has_observations = f"^{OBSERVATION}" in note.content  # parsing a long note again takes its time
    sections = bank.store.read(note.path).body.sections if has_observations else ()

    def ask(view: IndexView) -> NoteView:
        row = open_index.note_at(view.manifest, note.path)
        if row is None:
            raise NoteNotFound(f"{note.path} is not indexed", Hint.CHECK_BANK)
        out = read_outgoing(view.manifest, row.number)
        into = read_incoming(view.manifest, row.number)
        neighbours = {row.dest for row in out if row.dest is not None} | {
            row.source for row in into
        }
        titles = document_rows.read_documents(view.manifest, neighbours)
        pairs = _resolve_goals(bank, view, out, {n: row.title for n, row in titles.items()})
        goals = LinkTargets({_link_key(row): goal for row, goal in pairs})
        successors = link_rows.map_superseded(view.manifest, {row.number, *neighbours})
        successor = successors.get(row.number)
        return NoteView(
            note=note,
            goals=goals,
            keys=tuple((str(key), _format_value(value)) for key, value in raw.items()),
            verified=str(raw.get(VERIFIED) or "").strip(),
            superseded_by=_read_successor(view, successor[0]) if successor else None,
            supersedes=tuple(
                open_index.note_of(titles[old])
                for old, (new, _) in successors.items()
                if new == row.number and old in titles
            ),
            backlinks=tuple(_group_backlinks(into, titles)),
            cites=tuple(
                dict.fromkeys(
                    goal for row, goal in pairs if goal.kind != "note" and not row.ambiguous
                )
            ),
            observations=tuple(_yield_observations(sections, goals)),
        )

    return bank.read(ask)


def find_exactly(bank: Bank, name: str) -> str | None:
    """Return the path of the note with exactly a name; None if there is none."""
    try:
        return bank.find(name, exactly=True)
    except NoteNotFound:
        return None


def _resolve_goals(
    bank: Bank, view: IndexView, rows: Sequence[Link], titles: Mapping[int, str]
) -> list[tuple[Link, LinkedPlace]]:
    """Return links with their goals."""
    tree = repository.find_worktree(bank.layout.project)
    problems = link_rows.find_problems(view.manifest, rows)
    return [
        (row, _resolve_goal(bank, tree, row, titles)._replace(problem=problem))
        for row, problem in zip(rows, problems, strict=True)
    ]


def _resolve_goal(
    bank: Bank, tree: Path | None, row: Link, titles: Mapping[int, str]
) -> LinkedPlace:
    if row.dest is not None:
        title = titles.get(row.dest, "")
        return LinkedPlace("note", row.dest_key, title, row.heading, row.block)
    name = row.ghost or row.target
    if row.ambiguous:
        return LinkedPlace("ghost", name)
    base = tree or bank.layout.project
    place = find_cited_place(bank, base, row)
    if place is not None and not place.path:
        return LinkedPlace("symbol", name, heading=row.heading)
    path = place.path if place is not None else _project_path(bank, base, name)
    there = bool(path) and (base / path).exists()
    if not there and row.kind != _REFERENCE and (beside := _path_beside(bank, base, row)):
        path, there, place = beside, True, None
    kind: GoalKind = "file" if there else "name" if has_kind(name) else "ghost"
    if place is not None and there and place.name:
        kind = "symbol"
    is_file = there and (base / path).is_file()
    file = path if is_file and tree is not None else ""
    picture = path if is_file and picture_type(path) else ""
    return LinkedPlace(kind, name, heading=row.heading, block=row.block, file=file, picture=picture)


def _project_path(bank: Bank, base: Path, name: str) -> str:
    """Return the path of a Markdown file of the project, which is no cited place of code."""
    inside = is_utf8(name) and not name.startswith("/") and ".." not in name.split("/")
    file = bank.layout.project / name
    return file.relative_to(base).as_posix() if inside and file.is_relative_to(base) else ""


def _path_beside(bank: Bank, base: Path, row: Link) -> str:
    """Return the path of a file that a link names from the folder of its note; empty if none."""
    if bank.roots.is_private(row.source_key) or not is_utf8(row.target) or "\0" in row.target:
        return ""
    folder = (bank.layout.project / bank.roots.place(row.source_key)).parent
    file = Path(os.path.normpath(folder / row.target))
    inside = file.is_relative_to(base) and file.resolve().is_relative_to(base.resolve())
    return file.relative_to(base).as_posix() if inside and file.is_file() else ""


def _link_key(row: Link) -> tuple[str, ...]:
    kind = _MARKDOWN if row.kind in RELATIVE_KINDS else _WIKI
    return row.kind if row.kind == _REFERENCE else kind, row.target, row.heading, row.block


def _group_backlinks(
    rows: Sequence[Link], notes: Mapping[int, Document]
) -> list[tuple[Document, tuple[LinkShown, ...]]]:
    by_source: dict[int, dict[LinkShown, None]] = {}
    for row in rows:
        by_source.setdefault(row.source, {})[LinkShown(row)] = None
    backlinks = [
        (notes[number], tuple(links)) for number, links in by_source.items() if number in notes
    ]
    return sorted(backlinks, key=lambda backlink: (backlink[0].hidden, backlink[0].key))


def _yield_observations(
    sections: Sequence[Section], goals: LinkTargets
) -> Iterator[tuple[str, str, LinkedPlace | None]]:
    for section in sections:
        if section.name.startswith(OBSERVATION) and section.headings:
            written = dict(section.fields).get(PROMOTED_TO, "")
            yield section.name, section.headings[-1], goals.wiki(written)[0] if written else None


def _read_successor(view: IndexView, number: int) -> NoteRow | None:
    row = document_rows.read_documents(view.manifest, {number}).get(number)
    return open_index.note_of(row) if row else None


def _format_value(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, default=str).strip('"')


PAGE = 20
"""Number of commits whose changes are compared at once."""

_MOST_BYTES = 1_000_000
"""Bytes of a version that is compared, as in `trust/provenance.py`."""


class NoteHistory(NamedTuple):
    """Some commits of a note, the newest first."""

    path: str
    versions: tuple[tuple[LoggedCommit | None, NoteChange | None], ...]
    """Commits, None for what is not committed, and what each changed, None if that is not known."""
    offset: int
    more: bool
    """Whether there are older ones."""
    removed: bool
    """Whether the note is no longer there."""
    limits: tuple[str, ...]


def read_history(bank: Bank, name: str, offset: int = 0, limit: int = PAGE) -> NoteHistory:
    """Return the commits that changed a note with their word diffs, after the newest `offset`.

    What is not committed comes before the first. A note that was removed has a history, too.
    Raises NoteNotFound.
    """
    start = max(offset, 0)
    log = provenance.log(bank, name, start + limit + 1)
    with bank.lock:
        note = NoteTrust(bank, log.path)
        changes = note.changes[start : start + limit]
        tree = note.commits.tree if note.commits else None
        compared = _compare_versions(note, changes)
        removed = not bank.store.exists(log.path)
        uncommitted = (
            _compare_with_head(tree, note)
            if log.uncommitted and not removed and not start
            else None
        )
    versions: list[tuple[LoggedCommit | None, NoteChange | None]] = [
        (commit, compared.get(commit.source.commit))
        for commit in log.commits[start : start + limit]
    ]
    if tree and log.uncommitted and not start:
        versions.insert(0, (None, uncommitted))
    more = len(log.commits) > start + limit
    return NoteHistory(log.path, tuple(versions), start, more, removed, log.limits)


def _compare_versions(note: NoteTrust, changes: Sequence[Change]) -> dict[str, NoteChange]:
    """Map commits to how each changed the note, against its first parent."""
    note_changes = {}
    for change, before, after in note.read_versions(changes, _MOST_BYTES):
        old, new = ({} if data is None else {change.path: data} for data in (before, after))
        if compared := note_comparison.compare(old, new, note.tree_path):
            note_changes[change.commit.id] = compared[0]
    return note_changes


def _compare_with_head(tree: Path | None, note: NoteTrust) -> NoteChange | None:
    """Return how the file differs from HEAD."""
    blob = note.commits.blob(note.path) if note.commits else ""
    before: dict[str, bytes] = {}
    try:
        if tree and blob:
            for _, data in objects.read_blobs(tree, [blob], _MOST_BYTES):
                before[note.path] = data
        changes = note_comparison.compare(before, {note.path: note.data}, lambda path: path)
    except MemoryBankError:
        return None
    return changes[0] if changes else None


_PICTURES = {
    "avif": "avif", "bmp": "bmp", "gif": "gif", "jpeg": "jpeg", "jpg": "jpeg", "png": "png",
    "svg": "svg+xml", "webp": "webp",
}  # fmt: skip
"""The suffixes of pictures, with what their media types have after `image/`."""

_LARGEST_PICTURE = 20_000_000
"""Bytes of a picture that is read."""


def picture_type(path: str) -> str:
    """Return the media type of a picture, by the name of its file; empty for another file."""
    name = _PICTURES.get(path.rpartition(".")[2].lower())
    return f"image/{name}" if name else ""


def read_picture(bank: Bank, path: str) -> bytes:
    """Return a picture of the work tree, or of the project outside git.

    It must be a file that git tracks, or would track, or one of the bank's folder. Raises BadInput
    for a path that leads out, FileNotFound for any other file.
    """
    tree = repository.find_worktree(bank.layout.project)
    base = tree or bank.layout.project
    path = path_below(base, path)
    file = base / path
    is_own = file.is_relative_to(bank.layout.root) and not any(
        part.startswith(".") for part in file.relative_to(bank.layout.root).parts
    )
    if picture_type(path) and (is_own or (tree and repository.list_trackable(tree, [file]))):
        stat = read_stat(base, path)
        if stat is not None and S_ISREG(stat.st_mode) and stat.st_size <= _LARGEST_PICTURE:
            data = files.read_in(base, path)
            if data is not None:
                return data
    raise FileNotFound(f"there is no picture {path}", Hint.CHECK_BANK)
