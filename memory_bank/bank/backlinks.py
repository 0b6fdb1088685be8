"""Links to a note or ghost, grouped by linking note."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, in_json
from memory_bank.base.documents import Link
from memory_bank.base.errors import Hint, NoteNotFound
from memory_bank.base.filenames import is_utf8
from memory_bank.base.text import join_link
from memory_bank.notes import names
from memory_bank.notes.link_targets import TargetNames, resolve_target
from memory_bank.search import snippets
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, filters, link_rows

GHOST = "ghost:"


@in_json("source", "row.line", "target", "row.type", "row.kind", "context", "problem")
class LinkShown(NamedTuple):
    """A link in an answer, with the words around it."""

    row: Link
    problem: str | None = None

    @property
    def source(self) -> str:
        """The path of its note."""
        return self.row.source_key

    @property
    def target(self) -> str:
        """A note's path, or `ghost:` and a name."""
        return self.row.dest_key or GHOST + self.row.ghost

    @property
    def context(self) -> str:
        """The link and about 100 characters on each side of it."""
        text = self.row.text or self.row.target or self.row.heading
        return join_link(self.row.before, f"[{text}]", self.row.after)


def find_node(bank: Bank, name: str) -> str:
    """Resolve a name to the path of a note, or to `ghost:` and the name of a ghost.

    A file of the project, and a name that can only be a file's or symbol's, is a ghost even if
    nothing links to it. Raises NoteNotFound for other names.
    """
    written = name.removeprefix(GHOST)
    file = names.file_link_name(written, bank.layout)
    if ".." in file.split("/"):
        file = posixpath.normpath(file)
    is_ghost = name.startswith(GHOST)
    if is_ghost:
        bank.catch_up()
    else:
        with suppress(NoteNotFound):
            position = bank.find(name, exactly=True)
            return GHOST + file if _is_other_file(bank, file, position) else position
    for form in filter(is_utf8, (written, file)):
        rows = bank.read(partial(_to_ghost, name=form))
        if rows:
            return GHOST + rows[0].ghost
    if names.may_be_file(file, bank.layout):
        return GHOST + file
    if is_ghost:
        raise NoteNotFound(f"nothing links to {name!r}", Hint.LIST_GHOSTS)
    return bank.find(name)


def list_linked_titles(bank: Bank, paths: Collection[str]) -> dict[str, dict[str, str]]:
    """Return, for each note, the titles of the notes to which it links, by the targets it names."""

    def ask(view: IndexView) -> dict[str, dict[str, str]]:
        rows = {path: open_index.note_at(view.manifest, path) for path in paths}
        links = {path: link_rows.read_outgoing(view.manifest, row.number) if row else []
                 for path, row in rows.items()}  # fmt: skip
        goals = {
            row.dest for note_links in links.values() for row in note_links if row.dest is not None
        }
        notes = document_rows.read_documents(view.manifest, goals)
        return {
            path: {row.target: notes[row.dest].title for row in note_links if row.dest in notes}
            for path, note_links in links.items()
        }

    return bank.read(ask)


def _is_other_file(bank: Bank, file: str, note: str) -> bool:
    """Tell whether a name that finds a note is the path of a file that notes link to.

    Names of notes have no case: `Makefile` finds makefile.md.
    """
    if file in {note, names.name_of(note)} or not bank.layout.project_has(file):
        return False
    return any(row.ghost == file for row in bank.read(partial(_to_ghost, name=file)))


def _to_ghost(view: IndexView, name: str) -> list[Link]:
    return link_rows.find_to_ghost(view.manifest, name)


def map_linked_notes(view: IndexView, node: str) -> dict[int, tuple[LinkShown, ...]]:
    """Map the numbers of the notes that link to a note or ghost to those links."""
    if node.startswith(GHOST):
        into = link_rows.find_to_ghost(view.manifest, node.removeprefix(GHOST))
    else:
        note = open_index.note_at(view.manifest, node)
        into = link_rows.read_incoming(view.manifest, note.number if note else -1)
    links_of: dict[int, list[LinkShown]] = {}
    for row in into:
        links_of.setdefault(row.source, []).append(LinkShown(row))
    return {number: tuple(dict.fromkeys(links)) for number, links in links_of.items()}


def resolve_links(
    bank: Bank, path: str, links: Sequence[Link]
) -> list[tuple[TargetNames, list[str]]]:
    """Return what each link in the note at `path` may mean: names, and the notes that have one."""
    targets = [
        resolve_target(
            link,
            path,
            bank.layout.prefix,
            included=bank.roots.is_included(path),
            in_project=bank.layout.project_has,
            bundle=bank.roots.bundle(path),
        )
        for link in links
    ]
    number = link_rows.name_number
    pairs = [(number(names_[0]), number("".join(names_[1:2]))) for names_, _ in targets]
    keys = bank.read(lambda view: link_rows.map_candidates(view.manifest, pairs))
    return [
        (target, keys[pair] if link.target else [path])
        for link, target, pair in zip(links, targets, pairs, strict=True)
    ]


def name_files(bank: Bank, condition: filters.Condition) -> filters.Condition:
    """Return a condition with its file names in the form that links use."""
    if condition.key != "links" or not isinstance(condition.value, str):
        return condition
    files = (names.file_link_name(file, bank.layout) for file in condition.value.split(","))
    return condition._replace(value=",".join(files))


def sort_by_words(links: Sequence[LinkShown], text: str) -> tuple[LinkShown, ...]:
    """Return links sorted by the number of the query's words around them, descending."""
    return tuple(sorted(links, key=lambda link: -snippets.count_words(text, link.context)))
