"""Rewrite links so that each still leads to the note that it meant, when notes move or come."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from memory_bank.bank import open_index
from memory_bank.bank.backlinks import LinkShown, resolve_links
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Link
from memory_bank.base.errors import UnreadableNote
from memory_bank.notes import front_matter, names, okf, parsing
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.link_targets import yield_names
from memory_bank.notes.links import relink
from memory_bank.notes.note import RELATIVE_KINDS
from memory_bank.notes.storage.journal import JournalEntry
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import link_rows
from memory_bank.search.manifest.link_rows import cut_list


class Relinking(NamedTuple):
    """The changes of links to notes that move, or whose names another note gets."""

    changes: tuple[JournalEntry, ...] = ()
    broken: tuple[LinkShown, ...] = ()
    """Links in included files, which are not rewritten."""
    text: str = ""
    """The text of the note that gets the names, in which its own links keep their meaning too."""
    notice: str = ""
    """Says which links could have meant a note by its new name too; empty if there are none."""


def relink_moved(
    bank: Bank, moves: Mapping[str, str], path: str, text: str, *, gone: bool = False
) -> Relinking:
    """Return the changes that rewrite the links to notes that move, and their own relative links.

    Links to other notes that could mean the moved note, with its `text` at `path`, are rewritten,
    too. If the moved notes are `gone`, so are the links to them by title.
    """
    lost = find_lost_links(bank, moves, path, text)

    def read(view: IndexView) -> list[Link]:
        return [
            row
            for read_links in (link_rows.read_incoming, link_rows.read_outgoing)
            for number in _find_numbers(view, moves)
            for row in read_links(view.manifest, number)
        ]

    relinking = _relink(bank, [*bank.read(read), *lost], moves, lost, gone=gone)
    changes = _relink_lists(bank, moves, gone=gone)
    return relinking._replace(changes=(*changes, *relinking.changes))


def relink_taken(bank: Bank, path: str, text: str, old_text: str | None = None) -> Relinking:
    """Return the changes by which other notes' links do not mean the note at `path` instead.

    Its new names are all of its names, except those that its `old_text` gave it.
    """
    lost = find_lost_links(bank, (), path, text, old_text)
    if not lost:
        return Relinking(text=text)
    own = [row for row in lost if row.source_key == path]
    relinking = _relink(bank, [row for row in lost if row not in own], {}, lost, gone=False)
    new_text = _keep_own_links(bank, path, text, own)
    rewritten = {path, *(change.path for change in relinking.changes)}
    if new_text == text:  # the change took its own links away
        lost = [row for row in lost if row not in own]
    meanings: dict[tuple[str, bool], list[Link]] = {}
    for row in lost:
        meanings.setdefault((row.dest_key, row.source_key in rewritten), []).append(row)
    notice = "; ".join(
        f"[[{rows[0].target}]] of {cut_list(list(dict.fromkeys(row.source_key for row in rows)))}"
        f" meant {goal}, {'as it now says' if is_rewritten else 'and may mean this note now'}"
        for (goal, is_rewritten), rows in meanings.items()
    )
    return relinking._replace(text=new_text, notice=notice)


def _keep_own_links(bank: Bank, path: str, text: str, own: Iterable[Link]) -> str:
    """Return the text of a note in which its `own` links have the whole name of their note."""
    targets = {row.target: row.dest_key for row in own}
    links = parsing.parse(path, parsing.encode_text(text)).body.links if targets else ()
    goals = {link_place(link): targets[link.target] for link in links if link.target in targets}
    return relink(text, make_retarget(bank, path, goals, {}, lost=own, gone=False))


def find_lost_links(
    bank: Bank, moved: Iterable[str], path: str, text: str, old_text: str | None = None
) -> list[Link]:
    """Return the links that the note with `text` at `path` would take from notes that stay.

    If it has `old_text` there until now, only those that its new names would take.
    """
    ranks = _rank_names(path, text)
    if old_text is not None:
        old_ranks = _rank_names(path, old_text)
        ranks = {name: rank for name, rank in ranks.items() if rank < old_ranks.get(name, rank + 1)}
        moved = (*moved, path)
    if not ranks:
        return []
    return bank.read(
        lambda view: link_rows.find_taken(view.manifest, ranks, _find_numbers(view, moved))
    )


def _rank_names(path: str, text: str) -> dict[str, int]:
    """Return the names of the note with `text` at `path`, with their best ranks."""
    ranks: dict[str, int] = {}
    for name, rank in yield_names(parsing.parse(path, parsing.encode_text(text))):
        ranks[name] = min(rank, ranks.get(name, rank))
    return ranks


def _find_numbers(view: IndexView, paths: Iterable[str]) -> list[int]:
    rows = (open_index.note_at(view.manifest, path) for path in paths)
    return [row.number for row in rows if row is not None]


def _relink(
    bank: Bank,
    rows: Iterable[Link],
    moves: Mapping[str, str],
    lost: Iterable[Link],
    *,
    gone: bool,
) -> Relinking:
    """Return the changes of some links; those in `lost` get the whole name of their note."""
    rows_by_source: dict[str, list[Link]] = {}
    for row in rows:
        rows_by_source.setdefault(row.source_key, []).append(row)
    changes: list[JournalEntry] = []
    broken: list[LinkShown] = []
    for source, links in rows_by_source.items():
        goals = {link_place(row): row.dest_key for row in links}
        new_target = make_retarget(bank, source, goals, moves, lost=lost, gone=gone)
        if bank.roots.is_included(source):
            broken += [LinkShown(row) for row in links if new_target(row) is not None]
            continue
        data = bank.store.read_bytes(source)
        try:
            new = parsing.edit_bytes(data, partial(relink, rename=new_target))
        except UnreadableNote as error:
            raise error.at(source) from error
        if new != data:
            changes.append(JournalEntry(source, new, hash_bytes(data)))
    return Relinking(tuple(changes), tuple(broken))


def rebase_body(bank: Bank, path: str, moves: Mapping[str, str]) -> str:
    """Return the text of a note below its front matter, with its links as if it had moved."""
    rows = bank.read(
        lambda view: [
            row
            for number in _find_numbers(view, [path])
            for row in link_rows.read_outgoing(view.manifest, number)
        ]
    )
    goals = {link_place(row): row.dest_key for row in rows}
    note = bank.store.read(path)
    text = relink(note.text, make_retarget(bank, path, goals, moves, gone=True), note.body_start)
    return front_matter.split(text).body


def _relink_lists(bank: Bank, moves: Mapping[str, str], *, gone: bool) -> Iterator[JournalEntry]:
    """Yield the changes of links in the lists and logs of bundles, which are no notes."""
    for path in bank.roots.bank.reserved:
        data = bank.store.read_bytes(path)
        links = parsing.parse(path, data).body.links
        meanings = zip(links, resolve_links(bank, path, links), strict=True)
        goals = {link_place(link): paths[0] for link, (_, paths) in meanings if len(paths) == 1}
        new = parsing.edit_bytes(
            data, partial(relink, rename=make_retarget(bank, path, goals, moves, gone=gone))
        )
        if new != data:
            yield JournalEntry(path, new, hash_bytes(data))


def make_retarget(
    bank: Bank,
    source: str,
    goals: Mapping[tuple[int, str], str],
    moves: Mapping[str, str],
    *,
    lost: Iterable[Link] = (),
    gone: bool,
) -> Callable[[Link], str | None]:
    """Return a function that gives the new target of each link of a note; None if it stays.

    `goals` maps links by `link_place` to the paths of notes; links in `lost` get the whole name.
    """
    home = moves.get(source, source)
    lost_meanings = {(row.target, row.dest_key) for row in lost}
    root = bank.roots.bundle(source) or ""

    def is_taken(short: str) -> bool:
        paths = bank.read(lambda view: open_index.find_candidates(view.manifest, short))
        return bool(set(paths) - set(moves))

    def place(path: str) -> str:
        new = path in moves.values()
        return bank.roots.prefix + path if new else bank.roots.place(path)

    def new_target(link: Link) -> str | None:
        goal = goals.get(link_place(link))
        if goal is None or not link.target:
            return None
        moved = moves.get(goal, goal)
        is_lost = moved == goal and (link.target, goal) in lost_meanings
        if moved == goal and home == source and not is_lost:
            return None
        base = _base_of(bank, link, source, goal)
        if base == _FOLDER:
            here, there = place(source), place(home)
            return _retarget_relative(link.target, here, there, place(moved) if moved else "")
        if base == _ROOT and moved != goal:
            return _retarget_rooted(link.target, root, goal, moved, place)
        if is_lost:
            return names.name_of(goal)
        return (
            None
            if moved == goal
            else _retarget_wikilink(link.target, goal, moved, is_taken, gone=gone)
        )

    return new_target


def link_place(link: Link) -> tuple[int, str]:
    """Return what tells a note's links apart: their line and target.

    The line of a link in front matter is not indexed.
    """
    return 0 if link.kind == "reference" else link.line, link.target


_FOLDER, _ROOT = "folder", "root"


def _base_of(bank: Bank, link: Link, source: str, goal: str) -> str:
    """Return where the path of a link starts: its note's folder, or a root; empty for a name."""
    target = link.target
    if target.startswith("/"):
        return _ROOT
    if link.kind in RELATIVE_KINDS or target.startswith(("./", "../")):
        return _FOLDER
    if link.kind != "reference" or not okf.is_path(target):
        return ""
    here = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if here == goal or (not goal and bank.layout.project_has(bank.roots.place(here))):
        return _FOLDER
    bundle = bank.roots.bundle(source)
    return _ROOT if bundle is not None and posixpath.join(bundle, target) == goal else ""


def _retarget_rooted(
    written: str, root: str, goal: str, moved: str, place: Callable[[str], str]
) -> str:
    """Return the new target of `/path`: from the bundle or the bank, else from the project."""
    inside = posixpath.normpath(posixpath.join(root, written.strip("/")))
    is_inside = goal in {inside, f"{inside}.md"}
    new = posixpath.relpath(moved, root or ".") if is_inside else place(moved)
    return f"/{new}" if written.startswith("/") else new


def _retarget_relative(written: str, source: str, home: str, goal: str) -> str | None:
    """Return a relative link's new target, seen from `home`; a ghost's file stays the same."""
    goal_place = goal or posixpath.normpath(posixpath.join(posixpath.dirname(source), written))
    new = posixpath.relpath(goal_place, posixpath.dirname(home) or ".")
    if written.startswith("./") and not new.startswith("."):
        new = f"./{new}"
    if written.endswith("/") and not goal:
        new += "/"
    return None if new == written else new


def _retarget_wikilink(
    written: str, old: str, new: str, is_taken: Callable[[str], bool], *, gone: bool
) -> str | None:
    """Return a wikilink's new target, as short as before if that is unambiguous.

    None if the link uses a title, alias or id, which the note keeps unless it is `gone`.
    """
    spoken = names.lookup_key(written)
    old_key = names.lookup_key(names.name_of(old))
    if not gone and spoken != old_key and not old_key.endswith(f"/{spoken}"):
        return None
    name = names.name_of(new)
    short = posixpath.basename(name)
    if "/" in written or is_taken(short):
        return name
    return None if names.lookup_key(short) == spoken else short
