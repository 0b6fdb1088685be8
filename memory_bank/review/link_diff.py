"""Compare the links of two versions of a note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memory_bank.notes.note import Link
from memory_bank.review.note_change import LinkChange


def gained(before: Sequence[Link], after: Sequence[Link]) -> tuple[LinkChange, ...]:
    """Return the links that the version after has and the one before hasn't, in their order.

    Exchange the arguments for the links that were lost. References of the front matter are left out
    unless they have a type: a change of its keys says them.
    """
    return tuple(_more(_shown(before), _shown(after)))


def _shown(links: Sequence[Link]) -> list[Link]:
    return [link for link in links if (link.kind, link.type) != ("reference", "mentions")]


def _more(before: Sequence[Link], after: Sequence[Link]) -> Iterator[LinkChange]:
    more = Counter(map(_meant, after)) - Counter(map(_meant, before))
    for link in after:
        target, kind = _meant(link)
        if times := more.pop((target, kind), 0):
            yield LinkChange(target, kind, link.line, times)


def _meant(link: Link) -> tuple[str, str]:
    place = f"#{link.heading}" if link.heading else f"^{link.block}" if link.block else ""
    return f"{link.target}{place}", link.type
