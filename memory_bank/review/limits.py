"""Bound what a review reads: the bytes and the sections of all changed notes, on both sides.

Indexing, comparison and rules all take time and memory by what a change has. So what is beyond the
limits is found by git's list of files, before any of them begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.git import objects
from memory_bank.notes.compare.note_comparison import UnreadFile
from memory_bank.review.report import Side
from memory_bank.review.revision_range import WORKTREE

MOST_BYTES = 2_000_000
"""Bytes of all changed notes on both sides."""

MOST_SECTIONS = 8_000
"""Sections of them; a note has at least one."""

MOST_LINKS = 50_000
"""Links of them, and items in their front matter."""

_MOST_NAMED = 5_000
"""Notes beyond the limits that are named; others are counted."""

_LIMITS = {"bytes": MOST_BYTES, "sections": MOST_SECTIONS, "links": MOST_LINKS}

_HEADING = re.compile(rb"(?:^|[\r\n])[ \t>]*(?:#{1,6}[ \t\r\n]|=+[ \t]*[\r\n]|-+[ \t]*[\r\n])")

_LINK = re.compile(rb"\[\[|\][(\[:]|<http")

_ITEM = re.compile(rb",|\n[ \t]*-")

_FENCES = (b"---", b"+++")

_FRONT_MATTER = 100_000
"""Bytes of it that are parsed at most."""


class _Cost(NamedTuple):
    """What a note may have: rather too much than too little."""

    bytes: int
    sections: int = 1
    links: int = 0


class UnreadNotes(NamedTuple):
    """The changed notes that a review does not read."""

    paths: frozenset[str] = frozenset()
    before: Mapping[str, UnreadFile] = MappingProxyType({})
    """The first of them at BASE, by path."""
    after: Mapping[str, UnreadFile] = MappingProxyType({})
    """The first of them at HEAD, by path."""


NOTHING = UnreadNotes()


def left_out(bank: Bank, base: Side, head: Side) -> UnreadNotes:
    """Return the changed notes beyond the limits, the largest first; none of the work tree.

    A note is left out on both sides, so that what a side lacks is no change.
    """
    if head.name == WORKTREE and head.commit is None:
        return NOTHING  # its notes are indexed already
    from memory_bank.bank.revisions.revisions import (
        notes_at,  # start-up: git is asked for much
        tree_of,
    )

    tree = tree_of(bank)
    was, now = (notes_at(bank, one.commit or one.name) for one in (base, head))
    differ = {
        path: tuple(side[path] for side in (was, now) if path in side)
        for path in {*was, *now}
        if was.get(path) != now.get(path)
    }
    sizes = objects.sizes_of(tree, (one for ids in differ.values() for one in ids))
    costs = {path: [_Cost(sizes.get(one, 0)) for one in ids] for path, ids in differ.items()}
    reasons = _beyond(costs)  # before any is read
    wanted = {one: sizes.get(one, 0) for path in costs.keys() - reasons for one in differ[path]}
    read = {one: _cost(data) for one, data in objects.sized_blobs(tree, wanted, MOST_BYTES)}
    costs = {
        path: [read.get(one, _Cost(0)) for one in differ[path]] for path in costs.keys() - reasons
    }
    reasons |= _beyond(costs)

    def unread(side: Mapping[str, str]) -> dict[str, UnreadFile]:
        return {
            path: UnreadFile(sizes.get(side[path], 0), why)
            for path, why in islice(sorted(reasons.items()), _MOST_NAMED)
            if path in side
        }

    return UnreadNotes(frozenset(reasons), unread(was), unread(now))


def _beyond(costs: Mapping[str, Sequence[_Cost]]) -> dict[str, str]:
    """Map the notes with which a limit is reached, the smallest first, to the reason."""
    sums = {path: _Cost(*map(sum, zip(*some, strict=True))) for path, some in costs.items()}
    total = _Cost(0, 0)
    found: dict[str, str] = {}
    for path in sorted(sums, key=lambda path: (sums[path], path)):
        more = _Cost(*map(sum, zip(total, sums[path], strict=True)))
        over = [what for what, number in more._asdict().items() if number > _LIMITS[what]]
        if over:
            most = f"{_LIMITS[over[0]]:,} {over[0]}"
            found[path] = f"changes of more than {most}: not indexed, compared or checked"
        else:
            total = more
    return found


def _cost(data: bytes) -> _Cost:
    head = data[:_FRONT_MATTER] if data.startswith(_FENCES) else b""
    links = len(_LINK.findall(data)) + len(_ITEM.findall(head))
    return _Cost(len(data), 1 + len(_HEADING.findall(data)), links)
