"""Compare two states of a bank: the notes that differ, and what the change makes of them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import islice
from types import MappingProxyType

from memory_bank.bank.bank import Bank
from memory_bank.bank.revisions import bank_at, find_tree, notes_at
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.filenames import SETTINGS
from memory_bank.base.rendering import count
from memory_bank.git import objects, repository
from memory_bank.notes.note_comparison import (
    MAX_BYTES,
    UnreadFile,
    compare,
    hide_secrets,
)
from memory_bank.review.findings import (
    MAX_COMPARED,
    LinkComparison,
    limit_findings,
    list_rules,
    yield_findings,
)
from memory_bank.review.records import Review, Side, TokenChange
from memory_bank.review.revision_range import WORKTREE, ComparedBank, list_unshared

MOST_BYTES = 2_000_000
"""Bytes of all changed notes on both sides."""

MOST_SECTIONS = 8_000
"""Sections of them; a note has at least one."""

MOST_LINKS = 50_000
"""Links of them, and items in their front matter."""

_MOST_NAMED = 5_000
"""Notes beyond the limits that are named; others are counted."""

LIMITS = {"bytes": MOST_BYTES, "sections": MOST_SECTIONS, "links": MOST_LINKS}

_HEADING = lazy_pattern(rb"(?:^|[\r\n])[ \t>]*(?:#{1,6}[ \t\r\n]|=+[ \t]*[\r\n]|-+[ \t]*[\r\n])")

_LINK = lazy_pattern(rb"\[\[|\][(\[:]|<http")

_ITEM = lazy_pattern(rb",|\n[ \t]*-")

_FENCES = (b"---", b"+++")

_FRONT_MATTER = 100_000
"""Bytes of it that are parsed at most."""


_Cost = tuple[int, int, int]
"""What takes time to compare in a note: its bytes, sections and links, as in LIMITS."""


class UnreadNotes(NamedTuple):
    """The changed notes that a review does not read."""

    paths: frozenset[str] = frozenset()
    before: Mapping[str, UnreadFile] = MappingProxyType({})
    """The first of them at BASE, by path."""
    after: Mapping[str, UnreadFile] = MappingProxyType({})
    """The first of them at HEAD, by path."""


NOTHING = UnreadNotes()


def list_unread_notes(bank: Bank, base: Side, head: Side) -> UnreadNotes:
    """Return the changed notes beyond the limits, the largest first; none of the work tree.

    A note is left out on both sides, so that what a side lacks is no change.
    """
    if head.name == WORKTREE and head.commit is None:
        return NOTHING  # its notes are indexed already
    tree = find_tree(bank)
    old_ids, new_ids = (notes_at(bank, side.commit or side.name) for side in (base, head))
    ids_by_path = {
        path: tuple(side[path] for side in (old_ids, new_ids) if path in side)
        for path in {*old_ids, *new_ids}
        if old_ids.get(path) != new_ids.get(path)
    }
    sizes = objects.read_sizes(
        tree, (object_id for ids in ids_by_path.values() for object_id in ids)
    )
    costs = {
        path: [(sizes.get(object_id, 0), 1, 0) for object_id in ids]
        for path, ids in ids_by_path.items()
    }
    reasons = _find_beyond_limits(costs)  # before any is read
    sizes_to_read = {
        object_id: sizes.get(object_id, 0)
        for path in costs.keys() - reasons
        for object_id in ids_by_path[path]
    }
    costs_by_id = {
        object_id: _estimate_cost(data)
        for object_id, data in objects.sized_blobs(tree, sizes_to_read, MOST_BYTES)
    }
    costs = {
        path: [costs_by_id.get(object_id, (0, 1, 0)) for object_id in ids_by_path[path]]
        for path in costs.keys() - reasons
    }
    reasons |= _find_beyond_limits(costs)

    def describe_unread(side: Mapping[str, str]) -> dict[str, UnreadFile]:
        return {
            path: UnreadFile(sizes.get(side[path], 0), reason)
            for path, reason in islice(sorted(reasons.items()), _MOST_NAMED)
            if path in side
        }

    return UnreadNotes(frozenset(reasons), describe_unread(old_ids), describe_unread(new_ids))


def _find_beyond_limits(costs: Mapping[str, Sequence[_Cost]]) -> dict[str, str]:
    """Map the notes by which a limit is exceeded, adding the smallest first, to the reason."""
    sums = {path: _add_costs(path_costs) for path, path_costs in costs.items()}
    total = (0, 0, 0)
    reasons: dict[str, str] = {}
    for path in sorted(sums, key=lambda path: (sums[path], path)):
        next_total = _add_costs([total, sums[path]])
        exceeded = [
            unit for unit, number in zip(LIMITS, next_total, strict=True) if number > LIMITS[unit]
        ]
        if exceeded:
            most = f"{LIMITS[exceeded[0]]:,} {exceeded[0]}"
            reasons[path] = f"changes of more than {most}: not indexed, compared or checked"
        else:
            total = next_total
    return reasons


def _add_costs(costs: Sequence[_Cost]) -> _Cost:
    sizes, sections, links = map(sum, zip(*costs, strict=True))
    return sizes, sections, links


def _estimate_cost(data: bytes) -> _Cost:
    head = data[:_FRONT_MATTER] if data.startswith(_FENCES) else b""
    links = len(_LINK.findall(data)) + len(_ITEM.findall(head))
    return len(data), 1 + len(_HEADING.findall(data)), links


_OF_FINDINGS = ("lint", "schema", "secrets")
"""Sections of the settings that decide what is found."""


def compare_banks(
    bank: Bank,
    before: Bank,
    after: Bank,
    base: Side,
    head: Side,
    unread_notes: UnreadNotes = NOTHING,
) -> Review:
    """Return the review of two banks, the states of `bank` at two revisions without some notes."""
    catch_ups = [bank.catch_up() for bank in (before, after)]
    catch_ups += [*before.take_notices(), *after.take_notices()]
    link_comparison = _compare_links(bank, before, after, base, unread_notes)
    findings = limit_findings(yield_findings(bank, link_comparison, base, head))
    changes = tuple(link_comparison.changes.values())
    return Review(
        base=base,
        head=head,
        prefix=_find_tree_path(bank, bank.layout.prefix),
        changes=changes,
        findings=findings,
        rules=list_rules(findings),
        tokens=TokenChange(
            sum(change.tokens_before for change in changes),
            sum(change.tokens_after for change in changes),
        ),
        notices=(
            *dict.fromkeys(filter(None, catch_ups)),
            *_yield_notices(bank, link_comparison, unread_notes),
        ),
    )


def open_side(bank: Bank, side: Side, unread_notes: UnreadNotes) -> AbstractContextManager[Bank]:
    """Return the bank of a side of the review."""
    if side.name == WORKTREE and side.commit is None:
        return nullcontext(bank)
    name = side.commit or side.name
    return bank_at(bank, name, left_out=unread_notes.paths, by_meaning=False)


def _compare_links(
    bank: Bank, before: Bank, after: Bank, base: Side, unread_notes: UnreadNotes
) -> LinkComparison:
    old, new = ComparedBank(before), ComparedBank(after)
    if after is bank:
        added = set(new.versions) - set(old.versions)
        new = ComparedBank(after, list_unshared(bank, added))
    included = _list_newly_included(bank, old, new, base)
    differ = {
        path
        for path in {*old.versions, *new.versions} - included
        if old.versions.get(path) != new.versions.get(path)
    }
    old_data, new_data = (
        {
            path: _hide_large(bank, state.data(path))
            for path in sorted(differ)
            if path in state.versions
        }
        for state in (old, new)
    )

    if after is bank:
        converted = _list_converted(bank, old_data, new_data)
        old_data, new_data = (
            {path: data for path, data in side.items() if path not in converted}
            for side in (old_data, new_data)
        )

    def file_path(path: str) -> str:
        is_new = path in new.versions or path in unread_notes.after
        return posixpath.normpath((after if is_new else before).roots.place(path))

    @cache
    def file_of(path: str) -> str:
        return _find_tree_path(bank, file_path(path))

    changes = compare(
        {**old_data, **unread_notes.before}, {**new_data, **unread_notes.after}, file_of
    )
    return LinkComparison(
        before=old,
        after=new,
        changes={change.path: change for change in changes},
        place=file_path,
        file_of=file_of,
        has_file=lambda path: _has_file(after, path),
        present={change.path: change for change in changes if change.kind != "removed"},
        whole=not unread_notes.paths,
        renames={change.old_path: change.path for change in changes if change.old_path},
        included=included,
    )


def _list_converted(
    bank: Bank, old_data: Mapping[str, bytes], new_data: Mapping[str, bytes]
) -> frozenset[str]:
    """Return the notes of the work tree that differ by line ends only, which git converts."""
    tree = repository.find_worktree(bank.layout.root)
    files = {
        posixpath.normpath(_find_tree_path(bank, bank.roots.place(path))): path
        for path, data in new_data.items()
        if b"\r\n" in data and old_data.get(path) == data.replace(b"\r\n", b"\n")
    }
    if tree is None or not files:
        return frozenset()
    converted = repository.filter_converted(tree, list(files))
    return frozenset(files[file] for file in converted if file in files)


def _list_newly_included(
    bank: Bank, old: ComparedBank, new: ComparedBank, base: Side
) -> frozenset[str]:
    """Return the notes that HEAD includes and BASE does not, though it has the same files."""
    old_paths, new_paths = (state.bank.settings.memory.include for state in (old, new))
    tree = repository.find_worktree(bank.layout.root)
    if tree is None or base.commit is None or not set(new_paths) - set(old_paths):
        return frozenset()
    base_files = objects.list_files_at(tree, base.commit)
    files = {
        path: base_files.get(_find_tree_path(bank, path))
        for path in set(new.versions) - set(old.versions)
        if new.bank.roots.is_included(path)
    }
    texts = dict(objects.read_blobs(tree, {blob.id for blob in files.values() if blob}, MAX_BYTES))
    return frozenset(
        path for path, blob in files.items() if blob and texts.get(blob.id) == new.data(path)
    )


def _hide_large(bank: Bank, data: bytes) -> bytes:
    """Return the bytes of a note as a review may show them; what is too large is not shown."""
    if len(data) > MAX_BYTES:
        return data
    return hide_secrets(data, bank.settings.secrets.allow)


def _find_tree_path(bank: Bank, path: str) -> str:
    """Return the path below the work tree of a path below the project."""
    tree = repository.find_worktree(bank.layout.root)
    return f"{repository.tree_prefix(tree, bank.layout.project)}{path}" if tree else path


def _has_file(bank: Bank, path: str) -> bool:
    """Tell whether the project, or the bank, has a file or folder."""
    inside = path and not path.startswith(("/", "..")) and "\0" not in path
    places = (path, f"{bank.layout.origin.prefix}{path}")
    return bool(inside) and any(map(bank.layout.project_has, places))


def _yield_notices(
    bank: Bank, link_comparison: LinkComparison, unread_notes: UnreadNotes
) -> Iterator[str]:
    """Yield what was left out, and what decides about findings."""
    old, new = link_comparison.before.bank.settings, link_comparison.after.bank.settings
    if link_comparison.included:
        where = ", ".join(
            include for include in new.memory.include if include not in old.memory.include
        )
        files = count(len(link_comparison.included), "unchanged file")
        yield f"the settings include {where} now: {files} became notes, not listed here"
    changed = [name for name in _OF_FINDINGS if getattr(old, name) != getattr(new, name)]
    if changed:
        sections = ", ".join(f"[{name}]" for name in changed)
        file = _find_tree_path(bank, f"{bank.layout.prefix}{SETTINGS}")
        yield f"this change has other settings of findings, which hold here: {sections} of {file}"
    if any(not problem.ignored for problem in new.problems):
        yield "the settings of this change can't be read: those of today hold here"
    if number := len(unread_notes.paths):
        yield (
            f"{number:,} changed notes are beyond the limits of a review, and were not read; so new"
            " links to nothing and notes that lost their last link are not listed"
        )
    if len(link_comparison.present) > MAX_COMPARED:
        yield (
            f"similar notes were looked for of the first {MAX_COMPARED:,} of"
            f" {len(link_comparison.present):,} changed notes"
        )
