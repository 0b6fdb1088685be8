"""Names similar to an unknown one, for suggestions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile


def similar_names(
    name: str, known: Iterable[str], *, most: int = 3, least: float = 0.6
) -> list[str]:
    """Return the known names that are similar to a name, the most similar first, at most `most`.

    `least` is the similarity as in difflib, 0 to 1; letters in another order are always similar.
    """
    from difflib import get_close_matches  # start-up: few commands suggest

    wanted = name.casefold()
    spelled = {one.casefold(): one for one in known}
    swapped = [one for one in spelled if sorted(one) == sorted(wanted)]
    near = get_close_matches(wanted, list(spelled), n=most, cutoff=least)
    return [spelled[one] for one in dict.fromkeys([*swapped, *near])][:most]


def did_you_mean(names: Iterable[str]) -> str:
    """Return `; did you mean A or B?`; empty without names."""
    near = " or ".join(names)
    return f"; did you mean {near}?" if near else ""


def without_one_letter(name: str) -> set[str]:
    """Return a name, and all that are left of it without one of its characters."""
    return {name, *(name[:at] + name[at + 1 :] for at in range(len(name)))}


def differ_by_one_letter(one: str, other: str) -> bool:
    """Tell whether one letter is added, missing or another, or two stand in the other order.

    Digits, and letters alone between signs, count things: `part-a` and `part-b` are two names.
    """
    start = _same(one, other)
    end = _same(one[start:][::-1], other[start:][::-1])
    first, second = one[start : len(one) - end], other[start : len(other) - end]
    if len(first) > 1 or len(second) > 1:
        return len(first) == 2 and first.isalpha() and first == second[::-1]  # noqa: PLR2004
    if not (first + second).isalpha():
        return False
    beside = one[max(start - 1, 0) : start] + one[len(one) - end :][:1]
    return any(map(str.isalpha, beside))


def _same(one: str, other: str) -> int:
    """Return the number of characters with which both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
