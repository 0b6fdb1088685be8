"""Write the notes of a bank as a bundle of the Open Knowledge Format."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from memory_bank.bank import open_index, written_files
from memory_bank.bank.backlinks import resolve_links
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.documents import Document, Link
from memory_bank.base.errors import BadInput, StorageFailed
from memory_bank.base.hit_view import Place
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.rendering import count
from memory_bank.base.screen import Piece
from memory_bank.base.view import Block, View
from memory_bank.git import repository
from memory_bank.memory.concepts import PLAIN, convert_wikilinks
from memory_bank.notes import front_matter, okf, parsing
from memory_bank.notes.links import relink
from memory_bank.notes.names import name_of
from memory_bank.notes.note import RELATIVE_KINDS, Note
from memory_bank.notes.secrets import secrets
from memory_bank.notes.sections import describe_note
from memory_bank.search import index
from memory_bank.search.manifest import document_rows, entries, link_rows
from memory_bank.trust import trust
from memory_bank.trust.trust import NoteTrust

VERSION = "0.2"
"""The version of the format that is written."""

_SESSION_LINE = lazy_pattern(r"^[ \t]*[-*+][ \t]+(?:learned_in|promoted_to)::[^\n]*(?:\n|\Z)")

_PRIVATE = lazy_pattern(r"<private>(?s:.*?)(?:</private>|\Z)")

_MACHINE_KEYS = frozenset(["session_id", "learned_in", "imported_from", "imported_hash"])
"""Keys that say what is private to a machine, or of a session."""

_OWN_KEYS = frozenset(["type", "title", "description", "status", "archived", "file_refs"])
"""Keys that are written anew."""

_ENDED = frozenset(["rejected", "superseded", "obsolete", "retired", "withdrawn", "archived"])

_STATUS = {
    **dict.fromkeys(["active", "accepted", "approved", "implemented"], ""),
    **dict.fromkeys(["proposed", "pending"], okf.DRAFT),
    **dict.fromkeys(_ENDED, okf.DEPRECATED),
}
"""What our statuses are in the format, whose own are as they are; most notes have none."""


class Exported(NamedTuple):
    """The bundle that was written."""

    folder: str
    notes: int
    """Number of concepts."""
    files: tuple[str, ...]
    """All that was written, lists and the log, too."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Notes that are private, or can't be read, and why."""
    old: tuple[str, ...] = ()
    """Files of an earlier bundle in the folder that this one does not have."""


topic(
    "export",
    "Write the notes in a format that other programs read",
    group="Share",
    why="""
    Writes all notes of the bank that git would track into another folder, converted.
    """,
    examples=(("memory-bank export okf ../knowledge", "as an Open Knowledge Format bundle"),),
)


def _view_exported(exported: Exported) -> View:
    """Tell how much was written, and what was left out."""
    lists = count(len(exported.files) - exported.notes, "list")
    lines: list[Sequence[Piece | Place]] = [
        [f"wrote {count(exported.notes, 'note')} and {lists} to ", (exported.folder, "place")]
    ]
    for path, reason in exported.left_out:
        lines.append(["left out: ", Place(path), f": {reason}"])
    old = [f"{path} is of an earlier bundle: remove it if nobody needs it" for path in exported.old]
    return View("", [Block(lines)], warning="; ".join(old) or None)


@operation(
    "export okf",
    why="""
    Writes the bank's notes into DIR as an Open Knowledge Format bundle, which other tools read and
    `memory-bank init --include DIR` reads back: with `type`, `title`, `description`, who wrote
    each and when, Markdown links, and an index.md in each folder. --log adds log.md with the
    commits of each note, the newest first.

    Left out is what is private: notes of sessions, notes that git ignores or that have a secret,
    what stands in <private>…</private>. Included files are not the bank's. The same notes give the
    same bytes. DIR is empty, or has such a bundle.
    """,
    examples=(
        ("memory-bank export okf ../knowledge", "all notes, as a bundle"),
        ("memory-bank export okf ../knowledge --log", "with what changed when"),
    ),
    view=_view_exported,
)
def export_okf(
    bank: Bank,
    folder: Annotated[str, Param(argument=True, metavar="DIR", path="folder")],
    *,
    log: Annotated[bool, Param("Write log.md, from git's history")] = False,
) -> Exported:
    """Write the notes as an Open Knowledge Format bundle.

    Raises BadInput for a folder that has something else, or is in the bank, StorageFailed.
    """
    place = Path(folder)
    had = _earlier(bank, place)
    bank.catch_up(insist=True)
    export = _Export(bank)
    files = {path: export.concept(row) for path, row in export.rows.items()}
    files |= {okf.index_of(name): export.index(name) for name in export.folders}
    if log:
        files["log.md"] = export.log()
    output = written_files.resolve_folder(place)
    try:
        for path, text in sorted(files.items()):
            with output.file(path, make=True) as file:
                written_files.put_file(file, text.encode())
    except OSError as error:
        raise StorageFailed(f"{place} can't be written: {error}", "name another place") from error
    old = tuple(sorted(had - files.keys()))
    return Exported(str(place), len(export.rows), tuple(sorted(files)), export.left_out, old)


def _earlier(bank: Bank, place: Path) -> set[str]:
    """Return the files of the bundle in a folder; raise BadInput if it has something else."""
    if place.resolve().is_relative_to(bank.layout.root):
        raise BadInput(f"{place} is in the bank", "name a folder outside of it")
    if place.is_dir() and any(place.iterdir()) and not okf.is_declared(place.resolve(), ""):
        raise BadInput(f"{place} is not empty, and no bundle", "name a new folder")
    return {file.relative_to(place).as_posix() for file in place.rglob("*.md") if file.is_file()}


class _Export:
    """The notes of a bank, with the names and texts that they have in the bundle."""

    def __init__(self, bank: Bank) -> None:
        """Choose the notes of a bank whose index is up to date."""
        self._bank = bank
        rows = bank.read(lambda view: document_rows.all_documents(view.manifest))
        own = [row for row in rows if not bank.roots.is_included(row.key)]
        reasons = {row.key: reason for row in own if (reason := self._why_private(row.key, row))}
        self.left_out = tuple(
            (path, reason) for path, reason in sorted(reasons.items()) if reason != _SESSION
        )
        exported = [row for row in own if row.key not in reasons]
        self._paths = _free_paths([row.key for row in exported])
        notes = bank.read(
            lambda view: [open_index.note_at(view.manifest, row.key) for row in exported]
        )
        self.rows = {self._paths[note.path]: note for note in notes if note is not None}
        numbers = {row.number for row in exported}
        self._successors = bank.read(partial(_successors, numbers=numbers))
        trust.refresh_commits(bank, self._paths)

    @cached_property
    def _tracked(self) -> set[str] | None:
        root = self._bank.layout.root
        tree = repository.find_worktree(root)
        return repository.list_not_ignored(tree, root, ["."]) if tree is not None else None

    def _why_private(self, path: str, row: Document) -> str:
        """Return why a note is not exported; empty if it is."""
        if entries.is_of_session(row) or row.data.get("type") == "session":
            return _SESSION
        if self._tracked is not None and path not in self._tracked:
            return "git ignores it"
        note = self._note(path)
        return secrets.why_private(path, note.text, self._bank.settings.secrets.allow)

    def _note(self, path: str) -> Note:
        """Return a note without what it says to be private."""
        note = parsing.parse(path, self._bank.store.read_bytes(path))
        written = parsing.NoteText(path, note.text, note.size)
        text = _PRIVATE.sub(
            lambda match: match[0] if written.in_code(match.start()) else "", note.text
        )
        return note if text == note.text else parsing.parse(path, text.encode())

    @property
    def folders(self) -> list[str]:
        """All folders with concepts, and those above them; the root is empty."""
        folders = {""}
        for path in self.rows:
            while path := posixpath.dirname(path):
                folders.add(path)
        return sorted(folders)

    def concept(self, row: NoteRow) -> str:
        """Return the text of a note as a concept."""
        note = self._note(row.path)
        raw, _ = front_matter.read_metadata(front_matter.split(note.text))
        body = "".join(
            line
            for line in note.body_text.splitlines(keepends=True)
            if not _SESSION_LINE.match(line)
        )
        status = str(raw.get("status") or row.status).lower()
        status = _STATUS.get("archived" if row.status == "archived" else status, status)
        status = okf.DEPRECATED if row.path in self._successors else status
        successor = self._paths.get(self._successors.get(row.path, ""), "")
        keys = {
            "type": note.meta.type or "note",
            "title": note.title,
            "description": okf.read_description(note.meta.extra)
            or describe_note(body)
            or note.title,
            "status": status,
            "archived": row.status == "archived",
            "superseded_by": f"/{successor}" if successor else raw.get("superseded_by"),
            "generated": raw.get("generated") or self._generated(row),
            "sources": [
                *({"resource": f"/{file.lstrip('/')}"} for file in note.meta.file_refs),
                *okf.list_mappings(raw.get("sources")),
            ],
        }
        rest = {key: value for key, value in raw.items() if key not in _OWN_KEYS | _MACHINE_KEYS}
        present = {key: value for key, value in keys.items() if value}
        return front_matter.compose_text(
            present | {**rest, **present}, self._linked(row.path, body)
        )

    def _generated(self, row: NoteRow) -> dict[str, object]:
        """Return who wrote a note, by its keys, else by git, and when it was changed."""
        agent = str(row.data.get("source_agent", "")).replace(" ", "-")
        changes = NoteTrust(self._bank, row.path).changes
        author = changes[0].commit.author if changes else "unknown"
        return {
            "by": f"{agent}/unknown" if agent else f"human:{author}",
            "at": seconds_to_iso(max(row.updated, row.created)),
        }

    def _linked(self, path: str, body: str) -> str:
        """Return the text of a note with Markdown links to concepts, or to the project's files."""

        def rename(link: Link) -> str | None:
            if link.kind not in RELATIVE_KINDS or not link.target:
                return None
            (target, paths), *_ = resolve_links(self._bank, path, [link])
            address = self._address(link, paths[0] if len(paths) == 1 else "", target.ghost)
            return "" if address == PLAIN else address

        moved = relink(body, rename, 0)
        return convert_wikilinks(self._bank, path, moved, self._address)

    def _address(self, link: Link, goal: str, ghost: str) -> str | None:
        """Return the URL of a link: of a concept, else of a file of the project."""
        if not link.target:
            return ""
        if goal in self._paths:
            return f"/{self._paths[goal]}"
        if goal:
            outside = self._bank.roots.is_included(goal)
            return f"/{self._bank.roots.place(goal)}" if outside else PLAIN
        if ":" in ghost or ghost.startswith(("sessions/", "..")):
            return PLAIN if ghost.startswith("sessions/") else None
        if self._bank.layout.project_has(ghost):
            return f"/{ghost}"
        name = ghost.removeprefix(self._bank.roots.prefix)
        return f"/{name}" if posixpath.splitext(name)[1] else f"/{name}.md"

    def index(self, folder: str) -> str:
        """Return the list of a folder: its folders, then its concepts by type."""
        groups: dict[str, list[str]] = defaultdict(list)
        for name in self.folders:
            if name and posixpath.dirname(name) == folder:
                below = sum(path.startswith(f"{name}/") for path in self.rows)
                words = f"{posixpath.basename(name)}"
                groups[""].append(_entry(words, f"{words}/{okf.INDEX}", count(below, "concept")))
        for path, row in self.rows.items():
            if posixpath.dirname(path) == folder:
                note = self._note(row.path)
                body = note.body_text
                words = okf.read_description(note.meta.extra) or describe_note(body)
                entry = _entry(note.title, posixpath.basename(path), words)
                groups[note.meta.type or "note"].append(entry)
        head = f'---\nokf_version: "{VERSION}"\n---\n' if not folder else ""
        parts = [
            "\n".join([f"# {name or 'Folders'}", "", *sorted(lines), ""])
            for name, lines in sorted(groups.items())
        ]
        return head + "\n".join(parts)

    def log(self) -> str:
        """Return the list of what commits changed, by days, the newest first."""
        days: dict[str, set[str]] = defaultdict(set)
        for path, row in self.rows.items():
            for change in NoteTrust(self._bank, row.path).changes:
                verb = "Creation" if change.status == "A" else "Update"
                entry = f"* **{verb}**: [{_words(row.title)}](/{quote(path)}): "
                day = seconds_to_iso(change.commit.written)[:10]
                days[day].add(entry + _words(change.commit.subject))
        parts = [f"## {day}\n\n" + "\n".join(sorted(days[day])) for day in sorted(days)[::-1]]
        return "\n\n".join(["# Log", *parts]) + "\n"


_SESSION = "it is of a session"


def _successors(view: index.IndexView, numbers: set[int]) -> dict[str, str]:
    """Map the paths of superseded notes to those of their successors."""
    found = link_rows.map_superseded(view.manifest, numbers)
    rows = document_rows.read_documents(
        view.manifest, {*found, *(new for new, _ in found.values())}
    )
    return {rows[old].key: rows[new].key for old, (new, _) in found.items() if new in rows}


def _free_paths(paths: list[str]) -> Mapping[str, str]:
    """Map the paths of notes to those of concepts: no list, no log, and `.md` at the end."""
    names: dict[str, str] = {}
    for path in paths:
        stem, suffix = posixpath.splitext(path)
        name = path if suffix == ".md" else f"{stem}.md"
        while name.rpartition("/")[2] in okf.RESERVED or name in {*names.values()}:
            name = f"{name_of(name)}-note.md"
        names[path] = name
    return names


def _entry(title: str, url: str, words: str) -> str:
    line = f"* [{_words(title)}]({quote(url)})"
    return f"{line} - {words}" if words else line


def _words(text: str) -> str:
    """Return a text for the words of a link."""
    return " ".join(text.replace("[", "(").replace("]", ")").split())
